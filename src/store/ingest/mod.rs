//! Stores what transcripts gained, together with their checkpoints, in one transaction.

mod echoes;
mod private;
pub(crate) mod source_facts;
mod writer;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use anyhow::Result;
use rusqlite::{OptionalExtension, params};

pub(super) use self::echoes::remove_echoes;
use self::writer::IngestWriter;
use super::{Reader, Writer};
use crate::store::chunk::{RecordIndex, StoredKeys};
use crate::store::projects::ensure_project;
use crate::sys::projects::Projects;
use transcripts::client::Client;
use transcripts::privacy::{AgentStart, PrivateBoundary};
use transcripts::session::{Item, Millis, Record, RecordKey};
use transcripts::source::delta::Checkpoint;
use transcripts::source::discover::TranscriptFile;
use transcripts::undone_prompts::PromptLink;

/// By how much offsets of a replaced file are shifted back, in bytes: more than any file is long.
const OFFSET_SHIFT: i64 = 1 << 40;

/// The result of one read of a file; a large file is read in several.
#[derive(Debug)]
pub(crate) struct IngestBatch {
    pub(crate) file: Arc<TranscriptFile>,
    /// The file was replaced: discard the offsets of its bad lines.
    pub(crate) replaced: bool,
    pub(crate) checkpoint: Checkpoint,
    /// The file was read to its end, so its size and stamp can be trusted for telling whether it changed.
    pub(crate) complete: bool,
    /// Parser state at the end of this batch, for the records that follow.
    pub(crate) conversation: String,
    pub(crate) rows: Vec<(u64, Record)>,
    /// Text fenced off as private in these records, in their order.
    pub(crate) fenced: Vec<FencedText>,
    /// Prompts, each with its session.
    pub(crate) asked: Vec<(String, PromptLink)>,
    /// Of made lines that were read from the first to the last: whether the user went back, and has said nothing since.
    pub(crate) went_back: Option<Option<PromptLink>>,
    /// Records with a title that was not given in their own session.
    pub(crate) brought: Vec<(String, RecordKey)>,
    /// Records of private turns; nothing of them is stored.
    pub(crate) private_rows: Vec<RecordKey>,
    pub(crate) boundaries: Vec<PrivateBoundary>,
    /// The start of the subagent whose file this is.
    pub(crate) agent: Option<AgentStart>,
    /// Cost of each session by model, as the client reports it; `None` where the client no longer reports one.
    pub(crate) client_costs: BTreeMap<String, Option<BTreeMap<String, f64>>>,
    /// The first timestamp of each session, in the order of the lines.
    pub(crate) starts: BTreeMap<String, Millis>,
    /// Sessions that have records in an excluded project.
    pub(crate) excluded: BTreeSet<String>,
    /// The folders that the records of each session name, excluded ones among them, and when each was first named; 0 where that is not known.
    pub(crate) folders: BTreeMap<String, BTreeMap<String, Millis>>,
    /// The part of an excluded session that is kept, read again for it: no checkpoint goes with it.
    pub(crate) is_part: bool,
    pub(crate) bad: Vec<(u64, &'static str)>,
    pub(crate) unknown: BTreeMap<String, u64>,
    pub(crate) bytes: u64,
    /// When the file last grew, capped at the current time.
    pub(crate) grew_at: Millis,
}

/// Text the user fenced off as private in a record. Only hashes from which it cannot be read are stored.
#[derive(Debug)]
pub(crate) struct FencedText {
    pub(crate) session: String,
    pub(crate) offset: u64,
    text: String,
    /// What the record says outside the fence, and its directory and branch.
    public: String,
}

impl FencedText {
    /// Takes the fenced text out of a record.
    pub(crate) fn of(row: &mut Record, offset: u64) -> Self {
        let said = row.items.iter().flat_map(Item::texts).chain(row.cwd.as_deref()).chain(row.branch.as_deref());
        let public = said.collect::<Vec<_>>().join("\n");
        Self { session: row.session.clone(), offset, text: std::mem::take(&mut row.fenced), public }
    }
}

/// A file as the index knows it.
#[derive(Debug, Clone)]
pub(crate) struct KnownFile {
    pub(crate) size: u64,
    /// Stamp of the last read that reached its end. Stored in the column `mtime_ns`, where earlier programs keep the modification time: a
    /// value of the other kind only causes one more read.
    pub(crate) stamp: i64,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) conversation: String,
}

impl KnownFile {
    /// Is the file unchanged since it was last read?
    pub(crate) fn is_as_seen(&self, file: &TranscriptFile) -> bool {
        file.is_as_seen(self.size, self.stamp)
    }
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Ingested {
    pub(crate) rows_new: u64,
    pub(crate) rows_bad: u64,
    pub(crate) rows_unknown: u64,
    /// Sessions that were not known before, by client.
    pub(crate) sessions_new: BTreeMap<Client, u64>,
}

/// The columns of a [`KnownFile`].
const KNOWN_FILE_COLUMNS: &str = "size, mtime_ns, head_len, head_hash, offset, tail_hash, state";

fn read_known_file(r: &rusqlite::Row<'_>) -> rusqlite::Result<KnownFile> {
    let checkpoint = Checkpoint {
        head_len: r.get::<_, i64>(2)? as u64,
        head_hash: r.get(3)?,
        offset: r.get::<_, i64>(4)? as u64,
        tail_hash: r.get(5)?,
    };
    Ok(KnownFile { size: r.get::<_, i64>(0)? as u64, stamp: r.get(1)?, checkpoint, conversation: r.get(6)? })
}

impl Reader {
    pub(crate) fn known_files(&self) -> Result<HashMap<String, KnownFile>> {
        let mut query = self.db.prepare(&format!("SELECT {KNOWN_FILE_COLUMNS}, path FROM file"))?;
        let rows = query.query_map([], |r| Ok((r.get(7)?, read_known_file(r)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The files that changed since they were last read, sorted by the bytes of their paths, with their previous state. In most runs
    /// nearly all files are unchanged; for those only size and stamp are compared, looked up by stamp because two files seldom share one.
    pub(crate) fn changed_files(&self, found: Vec<TranscriptFile>) -> Result<Vec<(TranscriptFile, Option<Box<KnownFile>>)>> {
        self.in_snapshot(|| self.changed_among(found))
    }

    fn changed_among(&self, found: Vec<TranscriptFile>) -> Result<Vec<(TranscriptFile, Option<Box<KnownFile>>)>> {
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
                if file.is_as_seen(r.get::<_, i64>(1)? as u64, stamp) && file.stored_path() == r.get_ref(0)?.as_str()? {
                    changed[at] = false;
                }
            }
        }
        let mut found: Vec<_> = found.into_iter().zip(changed).filter_map(|(file, changed)| changed.then_some(file)).collect();
        found.sort_unstable_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        let mut query = self.db.prepare(&format!("SELECT {KNOWN_FILE_COLUMNS} FROM file WHERE path = ?1"))?;
        let mut changed = Vec::with_capacity(found.len());
        for file in found {
            let known = query.query_row([file.stored_path()], read_known_file).optional()?;
            changed.push((file, known.map(Box::new)));
        }
        Ok(changed)
    }
}

impl Writer {
    /// Stores batches in one transaction.
    pub(crate) fn ingest(&mut self, batches: &[IngestBatch], projects: &Projects) -> Result<Ingested> {
        // Taken out, so that a failed transaction leaves no stale cache: the next one rebuilds it.
        let known = self.ingest_caches.take();
        let tx = self.reader.db.transaction()?;
        let known = known.map_or_else(|| RecordIndex::load(&tx).map(|all| (all, StoredKeys::default())), Ok)?;
        let mut writer = IngestWriter::new(&tx, projects, known)?;
        for batch in batches {
            writer.batch(batch)?;
        }
        writer.flush_items()?;
        writer.flush_notes()?;
        writer.flush_folders()?;
        writer.drop_private_agents()?;
        writer.clean_stored_echoes()?;
        writer.mark_dirty()?;
        let done = writer.done.clone();
        let known = writer.into_caches();
        tx.commit()?;
        self.ingest_caches = Some(known);
        Ok(done)
    }

    /// Drops the caches that speed up successive transactions.
    pub(crate) fn ingested(&mut self) {
        self.ingest_caches = None;
    }

    /// Records the end of a session, if the session is known, and not of one that went on where it is left out. Its page, if there is one, must
    /// show the reason.
    pub(crate) fn end_session(&self, id: &str, at: Millis, reason: &str) -> Result<()> {
        let sql = "UPDATE session SET ended_at = ?2, end_reason = ?3,
                 page_dirty = page_dirty OR end_reason IS NOT ?3 AND EXISTS (SELECT 1 FROM page WHERE session = session.pk)
             WHERE id = ?1 AND coalesce(ended_at, 0) <= ?2 AND NOT EXISTS (SELECT 1 FROM excluded_session e WHERE e.id = session.id)";
        self.db.prepare_cached(sql)?.execute(params![id, at, reason])?;
        Ok(())
    }

    /// Moves the sessions of project roots that were moved or renamed to the new project.
    pub(crate) fn move_projects(&mut self, projects: &Projects) -> Result<()> {
        let tx = self.reader.db.transaction()?;
        let all: Vec<(i64, String)> = tx
            .prepare("SELECT pk, key FROM project")?
            .query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for (pk, key) in all {
            let moved = projects.moved_to(&key);
            if moved != key {
                let to = ensure_project(&tx, &moved)?;
                tx.execute("UPDATE session SET project = ?2, dirty = 1 WHERE project = ?1", [pk, to])?;
                super::notes::move_notes(&tx, pk, to)?;
                super::memory_files::move_files(&tx, pk, to)?;
                tx.execute("DELETE FROM project WHERE pk = ?1", [pk])?;
            }
        }
        tx.commit()?;
        Ok(())
    }
}
