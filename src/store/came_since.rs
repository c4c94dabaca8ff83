//! What came since of words that are still told: what they left open was closed, a later statement overtakes them, or what they name is gone.

use std::cell::{LazyCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use anyhow::Result;

use super::Reader;
use crate::analyze::distinct::normalized;
use crate::analyze::lives::SaidSentences;
use crate::model::note::Note;
use crate::model::observation::Observation;
use crate::model::session_head::SessionHead;
use crate::model::since_then::{SinceThen, standing};
use text::tokenize::distinctive_words;
use transcripts::session::Millis;

/// The most changed files that are told.
const MAX_CHANGED: usize = 3;

/// Asked by whoever tells words of sessions and notes. Each project is read once, however many of its sessions are told.
pub(crate) struct CameSince<'a> {
    store: &'a Reader,
    by_project: RefCell<HashMap<String, Rc<ProjectNews>>>,
}

/// What came in a project.
struct ProjectNews {
    /// Closings, and what is overtaken, in no order.
    since_then: Vec<News>,
    /// What git showed of what a session or a note names, by its id.
    observed: HashMap<String, Vec<Observation>>,
}

/// One thing that came, with the words by which it is looked for in what is still said: each session asks for all of them.
struct News {
    one: SinceThen,
    distinctive: BTreeSet<String>,
    /// Of what is overtaken, as it was said.
    normal: String,
}

impl News {
    fn of(one: SinceThen) -> Self {
        let normal = if matches!(one, SinceThen::Overtaken(_)) { normalized(one.words()) } else { String::new() };
        Self { distinctive: distinctive_words(one.words()), normal, one }
    }
}

impl<'a> CameSince<'a> {
    pub(crate) fn new(store: &'a Reader) -> Self {
        Self { store, by_project: RefCell::default() }
    }

    /// What came after a session of what its replies, or other texts of it, still say.
    pub(crate) fn of_session<'t>(&self, head: &SessionHead, texts: impl IntoIterator<Item = &'t str>) -> Result<Vec<SinceThen>> {
        self.of((&head.project.key, &head.id), head.last_at, texts)
    }

    /// The same for who opens the session alone: also which of the files that its texts name were changed by commits, most often first.
    pub(crate) fn of_opened<'t>(&self, head: &SessionHead, texts: impl IntoIterator<Item = &'t str>) -> Result<Vec<SinceThen>> {
        let texts: Vec<&str> = texts.into_iter().collect();
        let news = self.in_project(&head.project.key)?;
        let changed = news.observed_of(&head.id, &texts).filter(|one| !one.is_end()).take(MAX_CHANGED);
        let changed: Vec<SinceThen> = changed.cloned().map(SinceThen::Observed).collect();
        Ok(changed.into_iter().chain(self.of_session(head, texts)?).collect())
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
        let news = self.in_project(project)?;
        let mut all = still_told(&news.since_then, id, last_at, &texts);
        all.extend(news.observed_of(id, &texts).filter(|one| one.is_end()).cloned().map(SinceThen::Observed));
        Ok(all)
    }

    fn in_project(&self, project: &str) -> Result<Rc<ProjectNews>> {
        if let Some(known) = self.by_project.borrow().get(project) {
            return Ok(known.clone());
        }
        let closed = self.store.project_closings(project)?.into_iter().map(SinceThen::Closed);
        let overtaken = standing(self.store.overtaken_in(project)?).into_iter().map(SinceThen::Overtaken);
        let observed = self.store.observed_in(project)?;
        let all = Rc::new(ProjectNews { since_then: closed.chain(overtaken).map(News::of).collect(), observed });
        self.by_project.borrow_mut().insert(project.to_owned(), all.clone());
        Ok(all)
    }
}

impl ProjectNews {
    /// That of a session or a note of which a text still holds the name.
    fn observed_of(&self, id: &str, texts: &[&str]) -> impl Iterator<Item = &Observation> {
        let all = self.observed.get(id).into_iter().flatten();
        all.filter(|one| texts.iter().any(|text| names(text, &one.name)))
    }
}

/// Does a text hold this name of a file, a branch or a reference, and no longer one?
fn names(text: &str, name: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(|c: char| goes_on(c) || c == '/')
            && !text[at + name.len()..].starts_with(|c: char| goes_on(c) || c == '/')
    })
}

/// What came after the last words of a session or a note, with this id, of what texts of it still say: in order, each once.
fn still_told(all: &[News], place: &str, last_at: Option<Millis>, texts: &[&str]) -> Vec<SinceThen> {
    let is_later = |one: &SinceThen| match one {
        // Whatever it said afterwards, these words of it were overtaken.
        SinceThen::Overtaken(overtaken) if overtaken.earlier.by.place() == place => true,
        one => one.at() > last_at,
    };
    let sentences = LazyCell::new(|| SaidSentences::of(texts.iter().copied()));
    let normal = LazyCell::new(|| texts.iter().map(|text| normalized(text)).collect::<Vec<_>>());
    let is_told = |news: &&News| {
        let stands = || !news.normal.is_empty() && normal.iter().any(|text| text.contains(&news.normal));
        is_later(&news.one) && (sentences.say(&news.distinctive) || stands())
    };
    let mut told: Vec<SinceThen> = all.iter().filter(is_told).map(|news| news.one.clone()).collect();
    told.sort_by(|a, b| (a.at(), a.words()).cmp(&(b.at(), b.words())));
    told.dedup_by(|a, b| {
        a.words() == b.words() || matches!((a, b), (SinceThen::Overtaken(a), SinceThen::Overtaken(b)) if a.later == b.later)
    });
    told
}
