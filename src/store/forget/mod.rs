//! Forgetting: removes records and whole sessions for good, with everything derived from them.
//!
//! ## Invariants
//! What is removed is overwritten (`secure_delete`, and FTS5's own). The keys of forgotten records and the ids of forgotten sessions are
//! kept, so that they do not come back from a transcript that still exists; no text is kept.

mod find;
pub(crate) mod removal;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use anyhow::Result;
use rusqlite::{Transaction, params};

use super::{Reader, Writer, load, memory_files, notes};
use crate::store::chunk::{self, RecordIndex};
use crate::store::erasure;
use crate::store::pages::IS_EMPTY;
use crate::store::session_row;
use text::phrase::PhraseMatcher;
use transcripts::session::{Millis, RecordKey};

/// A fact for each session that is shut out and whose records' keys are forbidden: with its id, the stamp of its files.
const COPIES_FACT: &str = "copies:";

/// The records that a session wrote itself, of which nothing is stored.
#[derive(Debug, Default)]
pub(crate) struct OwnRecords {
    /// The time of its first line.
    pub(crate) start: Option<Millis>,
    /// In the order of its files.
    pub(crate) keys: Vec<RecordKey>,
    /// All of its files were read to their ends.
    pub(crate) is_whole: bool,
}

impl OwnRecords {
    /// By so many of the first ones it is known which other sessions hold some.
    const LOOKED_AT: usize = 16;
}

/// What is to be removed, by session number.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct RemovalPlan {
    /// Sessions to remove as a whole.
    pub(crate) whole: BTreeSet<i64>,
    /// Records to remove from sessions that stay.
    pub(crate) rows: BTreeMap<i64, BTreeSet<RecordKey>>,
    /// Sessions that stay but lose their digest: because they lose a record, or because the digest itself contains the text.
    pub(crate) digests: BTreeSet<i64>,
    /// Superseded digests, with their sessions.
    pub(crate) replaced: BTreeMap<i64, i64>,
    /// Remembered notes, by number.
    pub(crate) notes: BTreeSet<i64>,
    /// Memory files of Claude's, by number.
    pub(crate) memory_files: BTreeSet<i64>,
}

impl RemovalPlan {
    pub(crate) fn is_empty(&self) -> bool {
        self.sessions().is_empty() && self.notes.is_empty() && self.memory_files.is_empty()
    }

    /// All sessions that lose something.
    pub(crate) fn sessions(&self) -> BTreeSet<i64> {
        self.whole.iter().chain(self.rows.keys()).chain(&self.digests).chain(self.replaced.values()).copied().collect()
    }
}

/// Size of a removal.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RemovalSize {
    pub(crate) rows: usize,
    pub(crate) digests: usize,
    /// Pages that are rewritten or deleted.
    pub(crate) pages: usize,
}

/// Whether a forgotten session stays forgotten when it continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permanence {
    /// Nothing of it is ever ingested again.
    ForGood,
    /// New records of it are ingested.
    UntilResumed,
    /// Nothing of it is ingested while the config excludes a folder that it was in: those are kept.
    WhileExcluded,
}

impl Reader {
    /// Ids of sessions of which nothing is ingested any more.
    pub(crate) fn forgotten_sessions(&self) -> Result<HashSet<String>> {
        let mut query = self.db.prepare("SELECT id FROM forgotten_session")?;
        Ok(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    /// Sessions that are shut out and the keys of whose records are forbidden, each with the stamp of its files when they were read for that.
    pub(crate) fn forbidden_copies(&self) -> Result<HashMap<String, i64>> {
        let mut query = self.db.prepare("SELECT substr(name, length(?1) + 1), value FROM fact WHERE name GLOB ?1 || '*'")?;
        let stamps = query.query_map([COPIES_FACT], |r| Ok((r.get(0)?, r.get::<_, String>(1)?.parse().unwrap_or_default())))?;
        Ok(stamps.collect::<rusqlite::Result<_>>()?)
    }

    pub(crate) fn is_shut_out(&self, session: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM forgotten_session WHERE id = ?1)";
        Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0))?)
    }

    pub(crate) fn is_forgotten_row(&self, key: RecordKey) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM forgotten_row WHERE key = ?1)";
        Ok(self.db.prepare_cached(sql)?.query_row([key.0], |r| r.get(0))?)
    }

    /// The size of a removal.
    pub(crate) fn removal_size(&self, doomed: &RemovalPlan) -> Result<RemovalSize> {
        let one = |sql: &str, session: i64| -> Result<i64> { Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0))?) };
        let mut extent = RemovalSize { rows: doomed.rows.values().map(BTreeSet::len).sum(), ..RemovalSize::default() };
        let mut days = BTreeSet::new();
        for session in doomed.sessions() {
            if doomed.whole.contains(&session) {
                extent.rows += self.rows_of(session)?;
            }
            extent.digests += match doomed.whole.contains(&session) || doomed.digests.contains(&session) {
                true => one("SELECT count(*) FROM digest WHERE session = ?1", session)? as usize,
                false => doomed.replaced.values().filter(|of| **of == session).count(),
            };
            let pages = self.pages_of(session)?;
            extent.pages += pages.len();
            days.extend(pages.into_iter().map(|page| page.day));
            days.extend(self.later_days_of(session)?);
        }
        extent.pages += days.len();
        Ok(extent)
    }

    /// Number of records of a session in the index.
    pub(crate) fn rows_of(&self, session: i64) -> Result<usize> {
        let keys: BTreeSet<RecordKey> = chunk::items_of(&self.db, session)?.iter().map(|kept| kept.line.key).collect();
        Ok(keys.len())
    }

    /// Names of the tables that still contain the text.
    pub(crate) fn tables_containing(&self, phrase: &PhraseMatcher) -> Result<Vec<String>> {
        find::tables_with(&self.db, phrase)
    }

    /// Sessions last active before a time.
    pub(crate) fn inactive_since(&self, moment: Millis) -> Result<BTreeSet<i64>> {
        // Some transcripts have no timestamps; then the time the file last grew counts.
        let mut query = self.db.prepare("SELECT pk FROM session WHERE coalesce(last_at, grew_at) < ?1")?;
        Ok(query.query_map([moment], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }
}

impl Writer {
    /// Forbids ingesting a session, known or not.
    pub(crate) fn shut_out(&self, session: &str) -> Result<()> {
        // A backup copy would not know of it.
        erasure::before_deletion(&self.db)?;
        self.db.execute("INSERT INTO forgotten_session VALUES (?1) ON CONFLICT DO NOTHING", [session])?;
        self.db.execute("DELETE FROM session_folder WHERE session = ?1", [session])?;
        Ok(())
    }

    /// Forbids ingesting these records of a session from forks of it that are made later; its files have this stamp. What a stored session holds
    /// that began as early is that one's: transcripts of older clients begin with what they copied.
    pub(crate) fn forbid_copies(&mut self, session: &str, own: &OwnRecords, stamp: i64) -> Result<()> {
        let tx = self.reader.db.transaction()?;
        let mut whereabouts = RecordIndex::load(&tx)?;
        let mut earlier = BTreeSet::new();
        for key in own.keys.iter().take(OwnRecords::LOOKED_AT) {
            earlier.extend(whereabouts.sessions_with(&tx, *key)?);
        }
        let mut forbidden: BTreeSet<RecordKey> = own.keys.iter().copied().collect();
        for other in earlier {
            if own.start.is_none_or(|start| load::head_of(&tx, other).is_ok_and(|head| head.started_at <= start)) {
                chunk::items_of(&tx, other)?.iter().for_each(|kept| _ = forbidden.remove(&kept.line.key));
            }
        }
        removal::forbid_records(&tx, &forbidden, Permanence::UntilResumed)?;
        let sql = "INSERT INTO fact VALUES (?1 || ?2, ?3) ON CONFLICT DO UPDATE SET value = ?3";
        tx.prepare_cached(sql)?.execute(params![COPIES_FACT, session, stamp.to_string()])?;
        tx.commit()?;
        Ok(())
    }

    /// Removes what is planned, in one transaction. Afterwards pages are out of date; once they are rewritten, `drop_empty_sessions` finishes
    /// the removal.
    pub(crate) fn take_out(&mut self, doomed: &RemovalPlan, lasting: Permanence) -> Result<()> {
        let heads: Vec<_> = doomed.whole.iter().map(|pk| self.session_head(*pk)).collect::<Result<_>>()?;
        let notes: Vec<_> = doomed.notes.iter().map(|pk| self.note(*pk)).collect::<Result<_>>()?;
        let files: Vec<_> = doomed.memory_files.iter().map(|pk| self.memory_file(*pk)).collect::<Result<_>>()?;
        let tx = self.reader.db.transaction()?;
        for head in &heads {
            crate::store::forget::removal::remove_session(&tx, head, lasting)?;
        }
        if !heads.is_empty() {
            // Titles for unknown conversations: they cannot be attributed to a session, so they go too.
            crate::store::forget::removal::remove_unattributed_titles(&tx)?;
        }
        for (session, keys) in &doomed.rows {
            crate::store::forget::removal::remove_records(&tx, *session, keys)?;
            crate::store::forget::removal::forbid_records(&tx, keys, lasting)?;
        }
        for session in &doomed.digests {
            crate::store::forget::removal::remove_derived(&tx, *session)?;
        }
        for note in &notes {
            notes::remove(&tx, note)?;
        }
        for file in &files {
            memory_files::remove(&tx, file, lasting == Permanence::ForGood)?;
        }
        for digest in doomed.replaced.keys() {
            crate::store::forget::erasure::mark_erase_due(&tx)?;
            tx.execute("DELETE FROM digest WHERE pk = ?1", [digest])?;
        }
        tx.commit()?;
        Ok(())
    }

    /// Removes a text from places that belong to no record and no digest.
    pub(crate) fn remove_text(&mut self, phrase: &PhraseMatcher) -> Result<()> {
        let tx = self.reader.db.transaction()?;
        crate::store::forget::removal::remove_titles(&tx, phrase)?;
        crate::store::forget::removal::remove_leftovers(&tx, phrase)?;
        notes::remove_author_names(&tx, phrase)?;
        crate::store::forget::erasure::mark_erase_due(&tx)?;
        tx.commit()?;
        Ok(())
    }

    /// Finishes `take_out`: deletes sessions of which nothing is left, once their pages are gone, and projects without sessions or
    /// notes.
    pub(crate) fn drop_empty_sessions(&mut self) -> Result<()> {
        let unused = "NOT EXISTS (SELECT 1 FROM session WHERE project = project.pk) AND NOT EXISTS (SELECT 1 FROM note WHERE project = project.pk) AND NOT EXISTS (SELECT 1 FROM memory_file WHERE project = project.pk)";
        // Usually there is nothing to do. This check takes no write lock and looks only at sessions whose pages were due.
        let any = format!(
            "SELECT EXISTS (SELECT 1 FROM session WHERE page_dirty AND {IS_EMPTY}) OR EXISTS (SELECT 1 FROM project WHERE {unused})"
        );
        if !self.db.query_row(&any, [], |r| r.get(0))? {
            return Ok(());
        }
        let tx = self.reader.db.transaction()?;
        let with_page = "EXISTS (SELECT 1 FROM page WHERE session = session.pk)";
        // A page that could not be deleted is tried again.
        tx.execute(&format!("UPDATE session SET page_dirty = 1 WHERE {IS_EMPTY} AND {with_page}"), [])?;
        let empty: Vec<i64> = tx
            .prepare(&format!("SELECT pk FROM session WHERE {IS_EMPTY} AND NOT {with_page}"))?
            .query_map([], |r| r.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        empty.iter().try_for_each(|pk| session_row::remove(&tx, *pk))?;
        tx.execute(&format!("DELETE FROM project WHERE {unused}"), [])?;
        if !empty.is_empty() {
            crate::store::forget::erasure::mark_erase_due(&tx)?;
        }
        tx.commit()?;
        Ok(())
    }
}

/// Lifts what was forgotten of a session, because it is wanted again. Private records stay out.
pub(super) fn readmit(tx: &Transaction<'_>, session: &str, keys: impl Iterator<Item = RecordKey>) -> Result<()> {
    tx.prepare_cached("DELETE FROM forgotten_session WHERE id = ?1")?.execute([session])?;
    tx.prepare_cached("DELETE FROM fact WHERE name = ?1 || ?2")?.execute([COPIES_FACT, session])?;
    let mut row = tx.prepare_cached("DELETE FROM forgotten_row WHERE key = ?1 AND NOT private")?;
    for key in keys {
        row.execute(params![key.0])?;
    }
    Ok(())
}

/// The folder of a transcript without the session's own id in it: the part that people named.
pub(crate) fn folder_of(path: &str, session: &str) -> String {
    Path::new(path).parent().map_or_else(String::new, |dir| dir.to_string_lossy().replace(session, ""))
}
