//! What came since of words that are still told: what they left open was closed, or a later statement overtakes them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use anyhow::Result;

use super::Reader;
use crate::analyze::distinct::normalized;
use crate::analyze::lives::still_says;
use crate::model::note::Note;
use crate::model::session::Millis;
use crate::model::session_head::SessionHead;
use crate::model::since_then::{SinceThen, standing};

/// Asked by whoever tells words of sessions and notes. Each project is read once, however many of its sessions are told.
pub(crate) struct CameSince<'a> {
    store: &'a Reader,
    by_project: RefCell<HashMap<String, Rc<[SinceThen]>>>,
}

impl<'a> CameSince<'a> {
    pub(crate) fn new(store: &'a Reader) -> Self {
        Self { store, by_project: RefCell::default() }
    }

    /// What came after a session of what its replies, or other texts of it, still say.
    pub(crate) fn of_session<'t>(&self, head: &SessionHead, texts: impl IntoIterator<Item = &'t str>) -> Result<Vec<SinceThen>> {
        self.of((&head.project.key, &head.id), head.last_at, texts)
    }

    /// What overtakes a note.
    pub(crate) fn of_note(&self, note: &Note) -> Result<Vec<SinceThen>> {
        self.of((&note.project.key, &note.id), Some(note.at), [note.text.as_str()])
    }

    /// What came after `last_at` of texts that a session or a note says: it goes by the key of its project and its whole id.
    pub(crate) fn of<'t>(
        &self,
        (project, id): (&str, &str),
        last_at: Option<Millis>,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Result<Vec<SinceThen>> {
        let texts: Vec<&str> = texts.into_iter().collect();
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        Ok(still_told(&self.in_project(project)?, id, last_at, &texts))
    }

    /// What was closed and overtaken in a project, in no order.
    fn in_project(&self, project: &str) -> Result<Rc<[SinceThen]>> {
        if let Some(known) = self.by_project.borrow().get(project) {
            return Ok(known.clone());
        }
        let closed = self.store.project_closings(project)?.into_iter().map(SinceThen::Closed);
        let overtaken = standing(self.store.overtaken_in(project)?).into_iter().map(SinceThen::Overtaken);
        let all: Rc<[SinceThen]> = closed.chain(overtaken).collect();
        self.by_project.borrow_mut().insert(project.to_owned(), all.clone());
        Ok(all)
    }
}

/// What came after the last words of a session or a note, with this id, of what texts of it still say: in order, each once.
fn still_told(all: &[SinceThen], place: &str, last_at: Option<Millis>, texts: &[&str]) -> Vec<SinceThen> {
    let is_later = |one: &SinceThen| match one {
        // Whatever it said afterwards, these words of it were overtaken.
        SinceThen::Overtaken(overtaken) if overtaken.earlier.by.place() == place => true,
        one => one.at() > last_at,
    };
    let is_told = |one: &SinceThen| {
        let words = normalized(one.words());
        let stands = |text: &str| !words.is_empty() && matches!(one, SinceThen::Overtaken(_)) && normalized(text).contains(&words);
        texts.iter().any(|text| still_says(text, one.words()) || stands(text))
    };
    let mut told: Vec<SinceThen> = all.iter().filter(|one| is_later(one) && is_told(one)).cloned().collect();
    told.sort_by(|a, b| (a.at(), a.words()).cmp(&(b.at(), b.words())));
    told.dedup_by(|a, b| {
        a.words() == b.words() || matches!((a, b), (SinceThen::Overtaken(a), SinceThen::Overtaken(b)) if a.later == b.later)
    });
    told
}
