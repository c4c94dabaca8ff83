//! What records say besides their content: where and when each part of a session took place.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use rusqlite::{Row, Transaction, params};

use super::writer::IngestWriter;
use crate::store::chunk;
use crate::store::load::move_to_end;
use crate::store::projects::ensure_project;
use crate::store::session_row;
use transcripts::privacy::echo::PrivateWords;
use transcripts::session::{Millis, Record};

#[derive(Debug, Default)]
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
            self.first_at = Some(self.first_at.map_or(at, |first| first.min(at)));
            self.last_at = Some(self.last_at.map_or(at, |last| last.max(at)));
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
}

/// Records that a session was active at a time.
pub(crate) fn record_activity(tx: &Transaction<'_>, session: i64, at: Millis) -> Result<()> {
    let sql = "UPDATE session SET last_at = ?2 WHERE pk = ?1 AND coalesce(last_at, ?2 - 1) < ?2";
    tx.prepare_cached(sql)?.execute([session, at])?;
    Ok(())
}

impl IngestWriter<'_, '_> {
    /// Writes the collected facts on where and when each part of a session took place.
    pub(crate) fn flush_notes(&mut self) -> Result<()> {
        let all = std::mem::take(&mut self.notes);
        let mut sessions: BTreeSet<i64> = all.keys().map(|(session, _)| *session).collect();
        let before = sessions.iter().map(|session| Ok((*session, self.first_place(*session)?))).collect::<Result<Vec<_>>>()?;
        for ((session, source), notes) in all {
            let times = "UPDATE source SET first_at = min(coalesce(first_at, ?2), ?2), last_at = max(coalesce(last_at, ?3), ?3) WHERE pk = ?1";
            if let (Some(first), Some(last)) = (notes.first_at, notes.last_at) {
                self.tx.prepare_cached(times)?.execute([source, first, last])?;
                record_activity(self.tx, session, last)?;
            }
            if let Some(cwd) = &notes.cwd {
                let sql = "UPDATE source SET cwd = ?2 WHERE pk = ?1 AND cwd IS NULL";
                if self.tx.prepare_cached(sql)?.execute(params![source, cwd])? > 0 {
                    self.take_over_folder(session, source, cwd)?;
                }
            }
            self.add_to_list("branches", source, &notes.branches)?;
            self.add_to_list("versions", source, &notes.versions)?;
        }
        // A file may tell when a session began of which it brings nothing else.
        for id in std::mem::take(&mut self.begun) {
            sessions.extend(session_row::find(self.tx, id)?);
        }
        sessions.into_iter().try_for_each(|session| self.settle_start(session))?;
        before.iter().try_for_each(|(session, place)| self.settle_project(*session, place))
    }

    /// A source names the folder from now on. Whatever was read first, the tables end the same.
    fn take_over_folder(&self, session: i64, source: i64, folder: &str) -> Result<()> {
        let known = "(SELECT since FROM session_folder WHERE folder = ?3 AND session = (SELECT id FROM session WHERE pk = ?1))";
        let sql = format!("UPDATE source SET since = {known} WHERE pk = ?2 AND since > {known}");
        self.tx.prepare_cached(&sql)?.execute(params![session, source, folder])?;
        let sql = "DELETE FROM session_folder WHERE folder = ?2 AND session = (SELECT id FROM session WHERE pk = ?1)
             AND NOT EXISTS (SELECT 1 FROM excluded_session e WHERE e.id = session)";
        self.tx.prepare_cached(sql)?.execute(params![session, folder])?;
        Ok(())
    }

    /// Writes in which folders sessions went on and since when, once their sources are known to name the first ones.
    pub(crate) fn flush_folders(&mut self) -> Result<()> {
        let sql = "UPDATE source SET since = ?3 WHERE session = (SELECT pk FROM session WHERE id = ?1) AND cwd = ?2 AND since > ?3";
        let mut named = self.tx.prepare_cached(sql)?;
        let sql = "INSERT INTO session_folder(session, folder, since) SELECT ?1, ?2, ?3
             WHERE NOT EXISTS (SELECT 1 FROM source f JOIN session s ON s.pk = f.session WHERE s.id = ?1 AND f.cwd = ?2)
             ON CONFLICT DO UPDATE SET since = excluded.since WHERE since > excluded.since";
        let mut insert = self.tx.prepare_cached(sql)?;
        for ((session, folder), since) in std::mem::take(&mut self.folders) {
            named.execute(params![session, folder, since])?;
            insert.execute(params![session, folder, since])?;
        }
        Ok(())
    }

    fn settle_start(&self, session: i64) -> Result<()> {
        let sql = "SELECT min(at) FROM start WHERE session = (SELECT id FROM session WHERE pk = ?1)";
        let first: Option<Millis> = self.tx.prepare_cached(sql)?.query_row([session], |r| r.get(0))?;
        let sql = "UPDATE session SET started_at = ?2 WHERE pk = ?1 AND started_at IS NOT ?2";
        if self.tx.prepare_cached(sql)?.execute(params![session, first])? > 0 {
            // This may change which session owns shared records.
            let sql = "UPDATE session SET dirty = 1, unindexed = 1 WHERE pk = ?1 AND NOT (dirty = 1 AND unindexed)
                 AND EXISTS (SELECT 1 FROM bundle WHERE session = ?1 AND items > 0)";
            self.tx.prepare_cached(sql)?.execute([session])?;
            let sql = "UPDATE session SET dirty = 1, unindexed = 1 WHERE pk = ?1 AND NOT (dirty = 1 AND unindexed)";
            for fork in chunk::forks_of(self.tx, session)? {
                self.tx.prepare_cached(sql)?.execute([fork])?;
            }
        }
        Ok(())
    }

    fn add_to_list(&self, column: &str, source: i64, values: &[String]) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        let sql = format!("SELECT {column} FROM source WHERE pk = ?1");
        let before: String = self.tx.prepare_cached(&sql)?.query_row([source], |r| r.get(0))?;
        let mut all: Vec<String> = serde_json::from_str(&before)?;
        values.iter().for_each(|value| move_to_end(&mut all, value));
        let after = serde_json::to_string(&all)?;
        if after != before {
            self.tx.prepare_cached(&format!("UPDATE source SET {column} = ?2 WHERE pk = ?1"))?.execute(params![source, after])?;
        }
        Ok(())
    }

    /// Where a session took place at first, as its sources say.
    fn first_place(&self, session: i64) -> Result<Place> {
        let sql = "SELECT cwd, file FROM source WHERE session = ?1 ORDER BY cwd IS NULL, agent <> '', first_at, file";
        let place = |r: &Row<'_>| Ok(Place { cwd: r.get(0)?, file: r.get(1)? });
        Ok(self.tx.prepare_cached(sql)?.query_row([session], place)?)
    }

    /// Assigns a session to the project of its first known working directory. Until one is known, the name of the folder of its first
    /// transcript stands for the project.
    fn settle_project(&self, session: i64, before: &Place) -> Result<()> {
        let place = self.first_place(session)?;
        let key = match &place.cwd {
            // Whoever moved it meanwhile is right.
            Some(_) if place.cwd == before.cwd => return Ok(()),
            Some(cwd) => self.projects.key_of(cwd),
            None => self.projects.moved_to(&folder_key(&place.file)),
        };
        let sql = "UPDATE session SET project = ?2, dirty = 1, unindexed = 1 WHERE pk = ?1 AND project <> ?2";
        self.tx.prepare_cached(sql)?.execute(params![session, ensure_project(self.tx, &key)?])?;
        Ok(())
    }
}

/// The source that says where a session took place: its working directory if it names one, and its file.
#[derive(Debug)]
struct Place {
    cwd: Option<String>,
    file: String,
}

/// The name of a transcript's folder below `projects`.
pub(super) fn folder_key(path: &str) -> String {
    let below = |dir: &&Path| dir.parent().and_then(Path::file_name).is_some_and(|name| name == "projects");
    let folder = Path::new(path).ancestors().skip(1).find(below).and_then(Path::file_name);
    folder.unwrap_or_else(|| "transcripts".as_ref()).to_string_lossy().into_owned()
}
