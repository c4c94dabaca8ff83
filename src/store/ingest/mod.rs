//! Storing what transcripts gained, together with the cursors, in one transaction.

mod echoes;
mod notes;
mod private;
mod writer;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use anyhow::Result;
use rusqlite::{OptionalExtension, Transaction, params};

pub(super) use self::echoes::{all_words_of, hush_session, words_of};
pub(super) use self::notes::note_last;
use self::writer::Writer;
use super::Store;
use super::bundle::{Known, Whereabouts};
use crate::chain::Asked;
use crate::delta::Cursor;
use crate::privacy::{Began, Boundary};
use crate::session::{Item, Millis, Row, RowKey};
use crate::source::discover::Found;
use crate::source::project::Projects;

/// More than any file is long.
const GENERATION: i64 = 1 << 40;

/// What one read of a file brought; a large file comes in several.
#[derive(Debug)]
pub struct Batch {
    pub file: Arc<Found>,
    /// The file was replaced: forget where its bad lines were.
    pub replaced: bool,
    pub cursor: Cursor,
    /// The file was read to its end, so its size and time are as good as its content.
    pub complete: bool,
    /// What the rows up to here say about the next ones.
    pub conversation: String,
    pub rows: Vec<(u64, Row)>,
    /// What was fenced off in its rows, in their order.
    pub fenced: Vec<Fenced>,
    /// Prompts, with the session of each.
    pub asked: Vec<(String, Asked)>,
    /// Rows with a title that was not given in their session.
    pub brought: Vec<(String, RowKey)>,
    /// Rows of private turns, of which nothing is kept.
    pub private_rows: Vec<RowKey>,
    pub boundaries: Vec<Boundary>,
    /// The subagent whose file this is.
    pub agent: Option<Began>,
    /// What the client reckons that sessions cost, by model; `None` where that is not known (any more).
    pub client_costs: BTreeMap<String, Option<BTreeMap<String, f64>>>,
    /// The first time that is told for each session, in the order of the lines.
    pub starts: BTreeMap<String, Millis>,
    /// Sessions that have rows in an excluded project.
    pub excluded: BTreeSet<String>,
    pub bad: Vec<(u64, &'static str)>,
    pub unknown: BTreeMap<String, u64>,
    pub bytes: u64,
    /// When the file last grew; never in the future, whatever its time says.
    pub grew_at: Millis,
}

/// What the user fenced off in a row. Only what cannot be told from it is stored.
#[derive(Debug)]
pub struct Fenced {
    pub session: String,
    pub offset: u64,
    text: String,
    /// What the row says beside it, and where it was said.
    public: String,
}

impl Fenced {
    /// Takes it out of a row.
    pub fn of(row: &mut Row, offset: u64) -> Self {
        let said = row.items.iter().flat_map(Item::texts).chain(row.cwd.as_deref()).chain(row.branch.as_deref());
        let public = said.collect::<Vec<_>>().join("\n");
        Self { session: row.session.clone(), offset, text: std::mem::take(&mut row.fenced), public }
    }
}

/// A file as the index knows it.
#[derive(Debug, Clone)]
pub struct KnownFile {
    pub size: u64,
    /// Of the last look that read it to its end. In the column `mtime_ns`, where older programs have the file's time: for them and for
    /// us, another value only means another look.
    pub stamp: i64,
    pub cursor: Cursor,
    pub conversation: String,
}

impl KnownFile {
    /// Is the file as it was at the last look?
    pub fn is_as_seen(&self, file: &Found) -> bool {
        file.is_as_seen(self.size, self.stamp)
    }
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Ingested {
    pub rows_new: u64,
    pub rows_bad: u64,
    pub rows_unknown: u64,
    pub sessions_new: u64,
}

/// The columns of a [`KnownFile`].
const KNOWN: &str = "size, mtime_ns, head_len, head_hash, offset, tail_hash, state";

fn known(r: &rusqlite::Row<'_>) -> rusqlite::Result<KnownFile> {
    let cursor = Cursor {
        head_len: r.get::<_, i64>(2)? as u64,
        head_hash: r.get(3)?,
        offset: r.get::<_, i64>(4)? as u64,
        tail_hash: r.get(5)?,
    };
    Ok(KnownFile { size: r.get::<_, i64>(0)? as u64, stamp: r.get(1)?, cursor, conversation: r.get(6)? })
}

impl Store {
    pub fn known_files(&self) -> Result<HashMap<String, KnownFile>> {
        let mut query = self.db.prepare(&format!("SELECT {KNOWN}, path FROM file"))?;
        let rows = query.query_map([], |r| Ok((r.get(7)?, known(r)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The files that are not as they were at the last look, in order, and how they were then. Of the others, which are nearly all in most
    /// runs, nothing is taken out of the index but what that look saw, and they are found by their stamps: two files seldom share one.
    pub fn changed_files(&self, found: Vec<Found>) -> Result<Vec<(Found, Option<KnownFile>)>> {
        let mut changed = vec![true; found.len()];
        let mut by_stamp: Vec<_> = found.iter().enumerate().map(|(at, file)| (file.stamp, at)).collect();
        by_stamp.sort_unstable();
        let mut query = self.db.prepare("SELECT path, size, mtime_ns FROM file")?;
        let mut rows = query.query([])?;
        while let Some(r) = rows.next()? {
            let stamp: i64 = r.get(2)?;
            let first = by_stamp.partition_point(|(of_file, _)| *of_file < stamp);
            for &(_, at) in by_stamp[first..].iter().take_while(|(of_file, _)| *of_file == stamp) {
                let file = &found[at];
                if file.is_as_seen(r.get::<_, i64>(1)? as u64, stamp) && file.known_as() == r.get_ref(0)?.as_str()? {
                    changed[at] = false;
                }
            }
        }
        let mut found: Vec<_> = found.into_iter().zip(changed).filter_map(|(file, changed)| changed.then_some(file)).collect();
        found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut query = self.db.prepare(&format!("SELECT {KNOWN} FROM file WHERE path = ?1"))?;
        let changed = found.into_iter().map(|file| {
            let known = query.query_row([file.known_as()], known).optional()?;
            Ok((file, known))
        });
        changed.collect()
    }

    /// Stores batches in one transaction.
    pub fn ingest(&mut self, batches: &[Batch], projects: &Projects) -> Result<Ingested> {
        // Not there any more when this fails: then it is learned anew.
        let known = self.known.take();
        let tx = self.db.transaction()?;
        let known = known.map_or_else(|| Whereabouts::load(&tx).map(|all| (all, Known::default())), Ok)?;
        let mut writer = Writer::new(&tx, projects, known)?;
        for batch in batches {
            writer.batch(batch)?;
        }
        writer.flush_rows()?;
        writer.flush_notes()?;
        writer.drop_private_agents()?;
        writer.hush_what_is_stored()?;
        writer.mark_dirty()?;
        let done = writer.done.clone();
        let known = writer.known();
        tx.commit()?;
        self.known = Some(known);
        Ok(done)
    }

    /// Forgets what made the next transaction of many faster: there is none.
    pub fn ingested(&mut self) {
        self.known = None;
    }

    /// Marks sessions as ended, where they are known. A page that is there is to say how.
    pub fn end_session(&self, id: &str, at: Millis, reason: &str) -> Result<()> {
        let sql = "UPDATE session SET ended_at = ?2, end_reason = ?3,
                 page_dirty = page_dirty OR end_reason IS NOT ?3 AND EXISTS (SELECT 1 FROM page WHERE session = session.pk)
             WHERE id = ?1 AND coalesce(ended_at, 0) <= ?2";
        self.db.prepare_cached(sql)?.execute(params![id, at, reason])?;
        Ok(())
    }

    /// Gives sessions of roots that moved since to the project under its new name.
    pub fn move_projects(&mut self, projects: &Projects) -> Result<()> {
        let tx = self.db.transaction()?;
        let all: Vec<(i64, String)> = tx
            .prepare("SELECT pk, key FROM project")?
            .query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for (pk, key) in all {
            let moved = projects.moved_to(&key);
            if moved != key {
                let to = project_pk(&tx, &moved)?;
                tx.execute("UPDATE session SET project = ?2, dirty = 1 WHERE project = ?1", [pk, to])?;
                super::notes::move_notes(&tx, pk, to)?;
                tx.execute("DELETE FROM project WHERE pk = ?1", [pk])?;
            }
        }
        tx.commit()?;
        Ok(())
    }
}

pub(super) fn project_pk(tx: &Transaction<'_>, key: &str) -> Result<i64> {
    tx.prepare_cached("INSERT INTO project(key) VALUES (?1) ON CONFLICT DO NOTHING")?.execute([key])?;
    Ok(tx.prepare_cached("SELECT pk FROM project WHERE key = ?1")?.query_row([key], |r| r.get(0))?)
}
