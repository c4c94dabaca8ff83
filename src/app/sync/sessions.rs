//! What machines tell of sessions: what came of them, never their transcripts.
//!
//! ## Invariants
//! A machine tells of the sessions whose transcripts it read, and of no others. What it hears passes the sanitizer and today's policy before
//! it is stored, and never takes the place of what was read here.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;
use sync::{Machine, Record, RecordId};

use super::names::MAX_NAME_CHARS;
use super::projects::{KnownProjects, PlacedProjects, ToldProject, path_here};
use crate::config::Config;
use crate::model::session_head::SessionHead;
use crate::store::origin::Origin;
use crate::store::transfer::Exported;
use crate::store::{Memory, Writer};
use crate::sys::projects::Projects;
use transcripts::privacy::Sanitizer;
use transcripts::session::Millis;

/// The kind of these records.
pub(super) const SESSION: &str = "session";

/// The body of a record.
#[derive(Debug, Serialize, Deserialize)]
struct ToldSession {
    project: ToldProject,
    session: Exported,
}

/// How much of a hash is a version: enough that no change goes unnoticed, and not more, as every machine keeps all of them.
const VERSION_BITS: u32 = 40;

/// The sessions that this machine tells of, with the version of each: of what is told of it, so that no two texts ever have one version, also
/// where an exchange was killed and nobody knows which of them was told.
pub(super) fn told_here(memory: &Memory) -> Result<BTreeMap<RecordId, u64>> {
    let told = |head: SessionHead| {
        let version = memory.told_hash(&head)? >> (u64::BITS - VERSION_BITS);
        Ok((RecordId { kind: SESSION.to_owned(), id: head.id }, version))
    };
    // Of those in which nobody said anything, nothing is shown here either.
    let of_nobody = memory.sessions_of_nobody()?;
    memory.sessions_from_here()?.into_iter().filter(|head| !of_nobody.contains(&head.pk)).map(told).collect()
}

/// The record of a session.
pub(super) fn record(
    id: &RecordId,
    version: u64,
    (memory, sanitizer): (&Memory, &Sanitizer),
    projects: &KnownProjects,
) -> Result<Record> {
    let pk = memory.session_pk(&id.id)?.context("the session is gone from the index")?;
    let head = memory.session_head(pk)?;
    let mut session = memory.export_what_came(&head)?;
    session.pass(sanitizer);
    let body = ToldSession { project: projects.told(&session.project), session };
    Ok(Record { id: id.clone(), version, body: Some(to_raw_value(&body)?) })
}

/// Takes what other machines tell of sessions.
pub(super) struct SessionTaker<'a> {
    pub(super) config: &'a Config,
    pub(super) sanitizer: &'a Sanitizer,
    pub(super) known: &'a KnownProjects,
    pub(super) here: Projects,
    pub(super) oldest: Option<Millis>,
}

/// What became of what a machine tells of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TakenSession {
    Stored,
    /// It is stored, and ends earlier than what this machine told before: another machine's may be the better one now.
    Shorter,
    Not,
}

impl SessionTaker<'_> {
    /// Stores what a machine tells of a session.
    ///
    /// # Errors
    /// When it is not what a machine tells of that session, or it cannot be stored.
    pub(super) fn take(
        &self,
        machine: &Machine,
        record: &Record,
        store: &mut Writer,
        placed: &mut PlacedProjects,
    ) -> Result<TakenSession> {
        let body = record.body.as_ref().context("the record is malformed: it has no body")?;
        let told: ToldSession = serde_json::from_str(body.get()).context("the record is malformed")?;
        let ToldSession { project, mut session } = told;
        ensure!(session.session == record.id.id, "it is of another session");
        // Never more than what came of it.
        session.sources.iter_mut().for_each(|source| source.rows.clear());
        (session.titles, session.asked) = Default::default();
        (session.closed_by_user, session.closers, session.wrong) = Default::default();
        session.dirty = false;
        ensure!(session.told.is_some(), "the record is malformed: it has no digest");
        self.place(&mut session, &project, machine, placed);
        session.pass(self.sanitizer);
        session.origin = Some(Origin {
            machine: machine.id.clone(),
            name: self.sanitizer.clean(text::clean::shorten(&machine.name, MAX_NAME_CHARS)),
            version: record.version,
        });
        if self.is_unwanted(&session, store)? || !is_better(&session, store)? {
            return Ok(TakenSession::Not);
        }
        let before = match store.session_pk(&session.session)? {
            Some(pk) if store.origin_of(pk)?.is_some() => store.session_head(pk)?.last_at,
            _ => None,
        };
        let is_shorter = last_at(&session) < before;
        Ok(match store.take_from_afar(session)? {
            true if is_shorter => TakenSession::Shorter,
            true => TakenSession::Stored,
            false => TakenSession::Not,
        })
    }

    /// Puts the paths of another machine into those of this one, where its project is here.
    fn place(&self, session: &mut Exported, told: &ToldProject, machine: &Machine, placed: &mut PlacedProjects) {
        let here = self.known.here(told, placed);
        let moved = (told.key.as_str(), here.as_str());
        for source in &mut session.sources {
            source.cwd = source.cwd.take().map(|cwd| path_here(&cwd, moved));
            // A file of that name here is another one.
            source.file = format!("{}:{}", machine.id, source.file);
        }
        session.folders.iter_mut().for_each(|folder| *folder = path_here(folder, moved));
        session.project = here;
    }

    /// Was it forgotten here, is it too old, or does the config exclude it?
    fn is_unwanted(&self, session: &Exported, store: &Writer) -> Result<bool> {
        let last = last_at(session).unwrap_or(session.grew_at);
        let mut folders = session.sources.iter().filter_map(|source| source.cwd.as_ref()).chain(&session.folders);
        Ok(store.is_shut_out(&session.session)?
            || store.is_excluded(&session.session)?
            || self.oldest.is_some_and(|oldest| last < oldest)
            || self.config.excludes_folder(&session.project, &self.here)
            || folders.any(|folder| self.config.excludes_folder(folder, &self.here)))
    }
}

/// Several machines may tell of one session that was copied between them: the one that read most of it counts. Does this one count more than
/// the one that is stored?
fn is_better(session: &Exported, store: &Writer) -> Result<bool> {
    let Some(pk) = store.session_pk(&session.session)? else { return Ok(true) };
    let (Some(stored), Some(new)) = (store.origin_of(pk)?, &session.origin) else { return Ok(true) };
    if stored.machine == new.machine {
        return Ok(true);
    }
    let stored_last = store.session_head(pk)?.last_at;
    Ok((last_at(session), &new.machine) > (stored_last, &stored.machine))
}

/// Is it one that this machine neither read itself nor has from another one?
pub(super) fn is_wanted(session: &str, store: &Writer) -> Result<bool> {
    store.session_pk(session)?.map_or(Ok(true), |pk| store.is_empty_session(pk))
}

fn last_at(session: &Exported) -> Option<Millis> {
    session.sources.iter().filter_map(|source| source.last_at).max()
}

/// Is what this machine tells of a session what is stored of it?
pub(super) fn is_from(machine: &Machine, session: &str, store: &Writer) -> Result<bool> {
    let Some(pk) = store.session_pk(session)? else { return Ok(false) };
    Ok(store.origin_of(pk)?.is_some_and(|origin| origin.machine == machine.id))
}

/// Removes what another machine told of a session.
pub(super) fn remove(session: &str, store: &mut Writer) -> Result<()> {
    store.session_pk(session)?.map_or(Ok(()), |pk| store.remove_from_afar(pk))
}
