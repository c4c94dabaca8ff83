//! What records say besides their content: where and when each part of a session took place.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use rusqlite::{OptionalExtension, Row, params};

use super::writer::IngestWriter;
use crate::store::chunk;
use crate::store::codec::list;
use crate::store::load::move_to_end;
use crate::store::projects::ensure_project;
use transcripts::privacy::echo::PrivateWords;
use transcripts::session::{Millis, Record};

/// What the records of a source say, or what is stored of it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct SourceFacts {
    first_at: Option<Millis>,
    last_at: Option<Millis>,
    pub(crate) cwd: Option<String>,
    /// Each once, the last one that a record names at the end.
    branches: Vec<String>,
    versions: Vec<String>,
}

impl SourceFacts {
    /// Adds a record. Names that repeat private words are left out.
    pub(crate) fn add(&mut self, row: &Record, words: &PrivateWords) {
        if let Some(at) = row.at {
            self.span(at, at);
        }
        if self.cwd.is_none() {
            self.cwd.clone_from(&row.cwd);
        }
        for (list, value) in [(&mut self.branches, &row.branch), (&mut self.versions, &row.version)] {
            if let Some(value) = value
                && list.last() != Some(value)
                && !words.are_in(value)
            {
                move_to_end(list, value);
            }
        }
    }

    /// Adds what later records of the same source say.
    fn extend(&mut self, later: &Self) {
        if let (Some(first), Some(last)) = (later.first_at, later.last_at) {
            self.span(first, last);
        }
        if self.cwd.is_none() {
            self.cwd.clone_from(&later.cwd);
        }
        later.branches.iter().for_each(|branch| move_to_end(&mut self.branches, branch));
        later.versions.iter().for_each(|version| move_to_end(&mut self.versions, version));
    }

    fn span(&mut self, first: Millis, last: Millis) {
        self.first_at = Some(self.first_at.map_or(first, |known| known.min(first)));
        self.last_at = self.last_at.max(Some(last));
    }
}

impl IngestWriter<'_, '_> {
    /// Writes the collected facts on where and when each part of a session took place.
    pub(crate) fn flush_notes(&mut self) -> Result<()> {
        let all = std::mem::take(&mut self.notes);
        let mut active: BTreeMap<i64, Option<Millis>> = BTreeMap::new();
        for ((session, _), facts) in &all {
            let last = active.entry(*session).or_default();
            *last = facts.last_at.max(*last);
        }
        let before = active.keys().map(|session| Ok((*session, self.first_cwd(*session)?))).collect::<Result<Vec<_>>>()?;
        all.iter().try_for_each(|((session, source), facts)| self.store_facts(*session, *source, facts))?;
        // A file may tell when a session began of which it brings nothing else.
        for id in std::mem::take(&mut self.begun) {
            if let Some(session) = self.stored_session(id)? {
                active.entry(session).or_default();
            }
        }
        active.into_iter().try_for_each(|(session, last)| self.settle_times(session, last))?;
        before.iter().try_for_each(|(session, cwd)| self.settle_project(*session, cwd.as_deref()))
    }

    /// Adds what records say of a source to what is stored of it.
    fn store_facts(&self, session: i64, source: i64, facts: &SourceFacts) -> Result<()> {
        let sql = "SELECT first_at, last_at, cwd, branches, versions FROM source WHERE pk = ?1";
        let stored = |r: &Row<'_>| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?));
        let (first_at, last_at, cwd, branches, versions): (_, _, _, String, String) =
            self.tx.prepare_cached(sql)?.query_row([source], stored)?;
        let before = SourceFacts { first_at, last_at, cwd, branches: list(&branches)?, versions: list(&versions)? };
        let mut all = before.clone();
        all.extend(facts);
        if all == before {
            return Ok(());
        }
        let sql = "UPDATE source SET first_at = ?2, last_at = ?3, cwd = ?4, branches = ?5, versions = ?6 WHERE pk = ?1";
        let [branches, versions] = [&all.branches, &all.versions].map(serde_json::to_string);
        self.tx.prepare_cached(sql)?.execute(params![source, all.first_at, all.last_at, all.cwd, branches?, versions?])?;
        match all.cwd.filter(|_| before.cwd.is_none()) {
            Some(cwd) => self.take_over_folder(session, source, &cwd),
            None => Ok(()),
        }
    }

    /// A source names the folder from now on. Whatever was read first, the tables end the same.
    fn take_over_folder(&self, session: i64, source: i64, folder: &str) -> Result<()> {
        const OF_FOLDER: &str = "folder = ?2 AND session = (SELECT id FROM session WHERE pk = ?1)";
        let sql = format!("SELECT since FROM session_folder WHERE {OF_FOLDER}");
        let known: Option<Millis> = self.tx.prepare_cached(&sql)?.query_row(params![session, folder], |r| r.get(0)).optional()?;
        let Some(since) = known else { return Ok(()) };
        self.tx.prepare_cached("UPDATE source SET since = ?2 WHERE pk = ?1 AND since > ?2")?.execute([source, since])?;
        let sql = format!(
            "DELETE FROM session_folder WHERE {OF_FOLDER} AND NOT EXISTS (SELECT 1 FROM excluded_session e WHERE e.id = session)"
        );
        self.tx.prepare_cached(&sql)?.execute(params![session, folder])?;
        Ok(())
    }

    /// Writes in which folders sessions went on and since when, once their sources are known to name the first ones.
    pub(crate) fn flush_folders(&mut self) -> Result<()> {
        // By the session's number: with a `SELECT` in it, SQLite makes a table of the rows that it changes.
        let sql = "UPDATE source SET since = ?3 WHERE session = ?1 AND cwd = ?2 AND since > ?3";
        let mut named = self.tx.prepare_cached(sql)?;
        let sql = "INSERT INTO session_folder(session, folder, since) SELECT ?1, ?2, ?3
             WHERE NOT EXISTS (SELECT 1 FROM source f JOIN session s ON s.pk = f.session WHERE s.id = ?1 AND f.cwd = ?2)
             ON CONFLICT DO UPDATE SET since = excluded.since WHERE since > excluded.since";
        let mut insert = self.tx.prepare_cached(sql)?;
        for ((session, folder), since) in std::mem::take(&mut self.folders) {
            let is_named = self
                .stored_session(session)?
                .map(|pk| named.execute(params![pk, folder, since]))
                .transpose()?
                .is_some_and(|rows| rows > 0);
            if !is_named {
                insert.execute(params![session, folder, since])?;
            }
        }
        Ok(())
    }

    /// A session was active last at this time at least, and began when the first of its files says.
    fn settle_times(&self, session: i64, active: Option<Millis>) -> Result<()> {
        let sql = "SELECT started_at, last_at, (SELECT min(at) FROM start WHERE session = s.id) FROM session s WHERE pk = ?1";
        let times = |r: &Row<'_>| Ok((r.get(0)?, r.get(1)?, r.get(2)?));
        let (started, last, first): (Option<Millis>, Option<Millis>, Option<Millis>) =
            self.tx.prepare_cached(sql)?.query_row([session], times)?;
        if (started, last) != (first, last.max(active)) {
            let sql = "UPDATE session SET started_at = ?2, last_at = ?3 WHERE pk = ?1";
            self.tx.prepare_cached(sql)?.execute(params![session, first, last.max(active)])?;
        }
        // Another beginning may change which session owns shared records. One that gained records is marked for that, and so are its forks.
        if started == first || self.touched.contains(&session) {
            return Ok(());
        }
        let sql = "UPDATE session SET dirty = 1, unindexed = 1 WHERE pk = ?1 AND NOT (dirty = 1 AND unindexed)
             AND EXISTS (SELECT 1 FROM bundle WHERE session = ?1 AND items > 0)";
        self.tx.prepare_cached(sql)?.execute([session])?;
        let sql = "UPDATE session SET dirty = 1, unindexed = 1 WHERE pk = ?1 AND NOT (dirty = 1 AND unindexed)";
        for fork in chunk::forks_of(self.tx, session)? {
            self.tx.prepare_cached(sql)?.execute([fork])?;
        }
        Ok(())
    }

    /// The working directory in which a session began, as its sources say; none of a session that this transaction added.
    fn first_cwd(&self, session: i64) -> Result<Option<String>> {
        if self.added.contains(&session) { Ok(None) } else { Ok(self.first_place(session)?.cwd) }
    }

    /// Where a session took place at first, as its sources say.
    fn first_place(&self, session: i64) -> Result<Place> {
        let sql = "SELECT cwd, file, (SELECT project FROM session WHERE pk = ?1) FROM source
             WHERE session = ?1 ORDER BY cwd IS NULL, agent <> '', first_at, file";
        let place = |r: &Row<'_>| Ok(Place { cwd: r.get(0)?, file: r.get(1)?, project: r.get(2)? });
        Ok(self.tx.prepare_cached(sql)?.query_row([session], place)?)
    }

    /// Assigns a session to the project of its first known working directory. Until one is known, the name of the folder of its first
    /// transcript stands for the project.
    fn settle_project(&self, session: i64, before: Option<&str>) -> Result<()> {
        let place = self.first_place(session)?;
        let key = match &place.cwd {
            // Whoever moved it meanwhile is right.
            Some(cwd) if before == Some(cwd) => return Ok(()),
            Some(cwd) => self.projects.key_of(cwd),
            None => self.projects.moved_to(&folder_key(&place.file)),
        };
        let project = ensure_project(self.tx, &key)?;
        if project != place.project {
            let sql = "UPDATE session SET project = ?2, dirty = 1, unindexed = 1 WHERE pk = ?1";
            self.tx.prepare_cached(sql)?.execute([session, project])?;
        }
        Ok(())
    }
}

/// The source that says where a session took place: its working directory if it names one, and its file. And the project that the session
/// has.
#[derive(Debug)]
struct Place {
    cwd: Option<String>,
    file: String,
    project: i64,
}

/// The name of a transcript's folder below `projects`.
pub(super) fn folder_key(path: &str) -> String {
    let below = |dir: &&Path| dir.parent().and_then(Path::file_name).is_some_and(|name| name == "projects");
    let folder = Path::new(path).ancestors().skip(1).find(below).and_then(Path::file_name);
    folder.unwrap_or_else(|| "transcripts".as_ref()).to_string_lossy().into_owned()
}
