//! A project at a glance: what was decided in it and stands, what replaced what, and which projects there are.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;

use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::model::digest::statement_id;
use crate::model::note::{EVERYWHERE, NoteKind};
use crate::model::section::Section;
use crate::model::session_head::SessionHead;
use crate::model::stored_digest::StoredDigest;
use crate::store::Memory;
use crate::store::came_since::CameSince;
use text::clean::{one_line, without_controls};
use transcripts::session::{Millis, Project};

/// Decisions are looked for in so many of the newest sessions, and so many are told.
const MAX_SESSIONS: usize = 60;
const MAX_DECISIONS: usize = 30;

/// A project with sessions or notes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct KnownProject {
    pub(crate) key: String,
    /// The name of its folder.
    pub(crate) name: String,
    pub(crate) sessions: usize,
    /// When it was last worked in.
    pub(crate) last_at: Option<Millis>,
}

impl KnownProject {
    fn new(project: Project) -> Self {
        Self { name: project.name().to_owned(), key: project.key, sessions: 0, last_at: None }
    }

    fn add(&mut self, head: &SessionHead) {
        self.sessions += 1;
        self.last_at = self.last_at.max(head.last_active());
    }
}

/// The projects that may be seen, the one worked in last first.
///
/// # Errors
/// If the index cannot be read.
pub(crate) fn known_projects(memory: &OpenMemory) -> Result<Vec<KnownProject>> {
    let store = &memory.0;
    // There are notes of projects without sessions.
    let all = store.projects()?.into_iter().map(|(_, project)| project).filter(|project| project.key != EVERYWHERE);
    let mut of_key: BTreeMap<String, KnownProject> = all.map(|project| (project.key.clone(), KnownProject::new(project))).collect();
    for head in store.session_heads()? {
        if let Some(known) = of_key.get_mut(&head.project.key) {
            known.add(&head);
        }
    }
    let mut all: Vec<KnownProject> = of_key.into_values().collect();
    all.sort_by(|a, b| (b.last_at, &a.key).cmp(&(a.last_at, &b.key)));
    Ok(all)
}

/// A project with its sessions, in the order in which they began.
pub(crate) struct ProjectSessions {
    pub(crate) project: KnownProject,
    pub(crate) heads: Vec<SessionHead>,
}

/// The first project that may be seen and whose key is meant.
///
/// # Errors
/// If the index cannot be read.
pub(crate) fn find_project(memory: &OpenMemory, is_meant: impl Fn(&str) -> bool) -> Result<Option<ProjectSessions>> {
    let store = &memory.0;
    let mut all = store.projects()?.into_iter();
    let Some((pk, project)) = all.find(|(_, project)| project.key != EVERYWHERE && is_meant(&project.key)) else { return Ok(None) };
    let heads = store.session_heads_in(pk)?;
    let mut project = KnownProject::new(project);
    heads.iter().for_each(|head| project.add(head));
    Ok(Some(ProjectSessions { project, heads }))
}

/// Something that was decided and stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct StandingDecision {
    pub(crate) id: String,
    pub(crate) text: String,
    /// The whole id of the session or of the note that says it.
    pub(crate) said_in: String,
    pub(crate) is_note: bool,
    /// In words: whose words these are.
    pub(crate) by: String,
    pub(crate) at: Millis,
}

/// The decisions and conventions of a project that nothing said later replaces: notes first, then statements of digests by a model, newest first.
///
/// # Errors
/// If the index cannot be read.
pub(crate) fn standing_decisions(memory: &OpenMemory, config: &Config, of: &ProjectSessions) -> Result<Vec<StandingDecision>> {
    let store = &memory.0;
    let mut all = of_notes(store, &of.project.key)?;
    let mut heads: Vec<&SessionHead> = of.heads.iter().collect();
    heads.sort_by_key(|head| std::cmp::Reverse(head.last_active()));
    let since = CameSince::new(store);
    for head in heads.into_iter().take(MAX_SESSIONS) {
        let Some(stored) = store.digest_of(head.pk)?.filter(StoredDigest::is_by_model) else { continue };
        for claim in stored.digest.told_in(Section::Decisions) {
            let is_new = !all.iter().any(|known| known.text == claim.text);
            if is_new && since.of_session(head, [claim.text.as_str()])?.is_empty() {
                all.push(StandingDecision {
                    id: statement_id(&head.id, Section::Decisions, &claim.text),
                    text: one_line(&without_controls(&claim.text)),
                    said_in: head.id.clone(),
                    is_note: false,
                    by: format!("the digest of a session, {}", config.local_time(head.last_active(), "%Y-%m-%d")),
                    at: head.last_active().unwrap_or_default(),
                });
            }
        }
    }
    all.truncate(MAX_DECISIONS);
    Ok(all)
}

fn of_notes(store: &Memory, key: &str) -> Result<Vec<StandingDecision>> {
    let rules = [NoteKind::Convention, NoteKind::Decision].map(NoteKind::name);
    let since = CameSince::new(store);
    let mut all = Vec::new();
    for note in store.notes_for(key)? {
        if rules.contains(&note.kind.as_str())
            && note.project == (Project { key: key.to_owned() })
            && since.of_note(&note)?.is_empty()
        {
            all.push(StandingDecision {
                text: one_line(&without_controls(&note.text)),
                said_in: note.id.clone(),
                is_note: true,
                by: note.origin(),
                at: note.at,
                id: note.id,
            });
        }
    }
    all.sort_by_key(|one| std::cmp::Reverse(one.at));
    Ok(all)
}
