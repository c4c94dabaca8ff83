//! Reads transcripts in parallel and stores them with one writer.

mod file;
pub(in crate::app::digest) mod parts;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use rayon::prelude::*;

use self::parts::Part;
use crate::app::digest::report::Report;
use crate::config::{Config, pause};
use crate::store::forget::OwnRecords;
use crate::store::ingest::{IngestBatch, KnownFile};
use crate::store::{Reader, Writer};
use crate::sys::failpoints;
use crate::sys::messages::Ui;
use crate::sys::progress::Progress;
use crate::sys::projects::Projects;
use crate::sys::{data_folder, shutdown, threads};
use transcripts::privacy::Sanitizer;
use transcripts::session::{Millis, Record, RecordKey};
use transcripts::source::delta::Checkpoint;
use transcripts::source::discover::TranscriptFile;
use transcripts::source::look_into_all;

/// Input bytes per transaction.
const TRANSACTION_BYTES: u64 = 8 << 20;
/// Batches per transaction: of a small file, what is held until then is many times its bytes.
const TRANSACTION_BATCHES: usize = 1000;
/// Capacity of the channel between readers and writer; together with the size of a batch, and of what is handed over, it bounds memory.
const CHANNEL_CAPACITY: usize = 8;
/// Small files are read and handed over together, up to so many bytes. To wake a thread takes about as long as to read one of them, and so more
/// are read ahead while the writer stores some.
const TOGETHER_BYTES: u64 = 256 << 10;
/// So many at most: of some agents a session's size is not known before it is read.
const TOGETHER_FILES: usize = 64;

/// A file with new content, and where to continue.
pub(crate) struct PendingFile {
    file: Arc<TranscriptFile>,
    /// As it was when it was last read.
    known: Option<Box<KnownFile>>,
    /// Of the file only this part is read, from its beginning.
    part: Option<Part>,
}

impl PendingFile {
    pub(crate) fn bytes(&self) -> u64 {
        if let Some(part) = &self.part {
            return part.end;
        }
        let size = self.file.size;
        self.checkpoint().map_or(size, |checkpoint| checkpoint.unread_of(size))
    }

    fn checkpoint(&self) -> Option<&Checkpoint> {
        self.known.as_ref().map(|known| &known.checkpoint)
    }

    /// Privacy state of the conversation at the checkpoint, needed to read on from there.
    fn conversation(&self) -> &str {
        self.known.as_ref().map_or("", |known| &known.conversation)
    }
}

/// Files that changed since they were last read, largest first, so that no thread is left with a large one at the end.
pub(crate) fn pending_files(mut changed: Vec<(TranscriptFile, Option<Box<KnownFile>>)>) -> Vec<PendingFile> {
    look_into_all(changed.iter_mut().map(|(file, _)| file));
    let of = |(file, known)| PendingFile { file: Arc::new(file), known, part: None };
    let mut pending: Vec<PendingFile> = changed.into_iter().map(of).collect();
    pending.sort_by_key(|p| std::cmp::Reverse(p.bytes()));
    pending
}

/// Whole files, as if they had never been read.
pub(crate) fn unread_files(files: Vec<TranscriptFile>) -> Vec<PendingFile> {
    pending_files(files.into_iter().map(|file| (file, None)).collect())
}

/// Reads files in parallel and stores them with one writer.
pub(crate) struct TranscriptReader<'a> {
    config: &'a Config,
    sanitizer: &'a Sanitizer,
    projects: &'a Projects,
    jobs: Option<usize>,
    now: Millis,
    ui: &'a Ui,
    /// Held while a long line is parsed.
    long: Mutex<()>,
    /// Records of sessions that are shut out, each with the start of its session.
    left_out: HashMap<RecordKey, Millis>,
    /// Working folder of our own child, as configured and with links resolved; the child sees the latter.
    own_dirs: Vec<PathBuf>,
    /// Files that were not read, as they may be from an excluded project.
    withheld: AtomicU64,
}

impl<'a> TranscriptReader<'a> {
    pub(crate) fn new(
        config: &'a Config,
        sanitizer: &'a Sanitizer,
        projects: &'a Projects,
        jobs: Option<usize>,
        now: Millis,
        ui: &'a Ui,
    ) -> Self {
        let mut own_dirs = vec![config.child_dir()];
        own_dirs.extend(config.data_dir.canonicalize().map(|dir| dir.join(data_folder::CHILD)));
        let (long, withheld) = (Mutex::new(()), AtomicU64::default());
        Self { config, sanitizer, projects, jobs, now, ui, long, left_out: HashMap::new(), own_dirs, withheld }
    }

    pub(crate) fn run(&self, pending: &[PendingFile], store: &mut Writer, report: &mut Report) -> Result<()> {
        self.read_all(pending, |batches| self.write(batches, store, report))?;
        report.files_withheld += self.withheld.swap(0, Ordering::Relaxed);
        Ok(())
    }

    /// The records that sessions of which nothing is stored wrote themselves, by session. A fork of one holds copies with the same keys; what such
    /// a session itself copied, when it began as a fork, is from before its first line.
    pub(crate) fn own_records(&self, shut_out: &[PendingFile]) -> Result<BTreeMap<String, OwnRecords>> {
        if shut_out.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut unread: HashMap<String, usize> = HashMap::new();
        shut_out.iter().for_each(|one| *unread.entry(one.file.place.session.clone()).or_default() += 1);
        self.read_all(shut_out, |batches| {
            let mut own: BTreeMap<String, OwnRecords> = BTreeMap::new();
            let mut times: HashMap<RecordKey, Millis> = HashMap::new();
            for batch in batches {
                let Some(batch) = batch.map_err(|e| self.ui.warn(&format!("{e:#}"))).ok() else { continue };
                let session = &batch.file.place.session;
                let of_session = own.entry(session.clone()).or_default();
                if let Some(at) = batch.starts.get(session) {
                    of_session.start = Some(of_session.start.map_or(*at, |start| start.min(*at)));
                }
                for (_, row) in batch.rows.iter().filter(|(_, row)| row.session == *session) {
                    of_session.keys.push(row.key);
                    times.extend(row.at.map(|at| (row.key, at)));
                }
                if let Some(files) = unread.get_mut(session).filter(|_| batch.complete) {
                    *files -= 1;
                }
            }
            for (session, records) in &mut own {
                let is_own = |key: &RecordKey| times.get(key).zip(records.start).is_none_or(|(at, start)| *at >= start);
                records.keys.retain(is_own);
                records.is_whole = unread.get(session) == Some(&0);
            }
            Ok(own)
        })
    }

    /// Leaves the records of these sessions out of what is stored of those that began later.
    pub(crate) fn leave_out(&mut self, own: &BTreeMap<String, OwnRecords>) {
        for (records, start) in own.values().filter_map(|records| Some((records, records.start?))) {
            self.left_out.extend(records.keys.iter().map(|key| (*key, start)));
        }
    }

    /// Takes copies out of a batch. `starts`: when the sessions of batches before it began.
    fn without_copies(&self, batch: &mut IngestBatch, store: &Reader, starts: &mut HashMap<String, Millis>) -> Result<()> {
        if self.left_out.is_empty() {
            return Ok(());
        }
        for (session, at) in &batch.starts {
            if !starts.contains_key(session) {
                let known = store.session_pk(session)?.map(|pk| store.session_head(pk)).transpose()?;
                starts.insert(session.clone(), known.map_or(*at, |head| head.started_at.min(*at)));
            }
        }
        let is_copy =
            |row: &Record| self.left_out.get(&row.key).zip(starts.get(&row.session)).is_some_and(|(of_other, own)| own > of_other);
        batch.rows.retain(|(_, row)| !is_copy(row));
        Ok(())
    }

    fn read_all<T>(
        &self,
        pending: &[PendingFile],
        take: impl FnOnce(&mut dyn Iterator<Item = Result<IngestBatch>>) -> Result<T>,
    ) -> Result<T> {
        let pool = threads::pool(self.jobs).context("cannot read transcripts")?;
        let bar = Progress::of_bytes("reading", pending.iter().map(PendingFile::bytes).sum());
        let (send, receive) = sync_channel(CHANNEL_CAPACITY);
        let taken = pool.in_place_scope(|scope| {
            let bar = &bar;
            scope.spawn(move |_| {
                // Main transcripts first: only they tell which work of subagents belongs to a private turn.
                for agents in [false, true] {
                    let of_kind = pending.iter().filter(|p| p.file.place.agent.is_some() == agents).collect();
                    together(of_kind).par_iter().with_max_len(1).for_each_with(send.clone(), |send, some| {
                        let mut out = Outgoing::new(send);
                        some.iter().for_each(|one| self.read(one, &mut out, bar));
                        out.hand_over();
                    });
                }
            });
            // Ends when the last reader hangs up. An error closes the channel, which ends the readers.
            take(&mut receive.into_iter().flatten())
        });
        drop(bar);
        taken
    }

    fn write(&self, batches: &mut dyn Iterator<Item = Result<IngestBatch>>, store: &mut Writer, report: &mut Report) -> Result<()> {
        let mut held: Vec<IngestBatch> = Vec::new();
        let mut bytes = 0;
        let mut starts = HashMap::new();
        for batch in batches {
            let batch = match batch {
                Ok(mut batch) => {
                    self.without_copies(&mut batch, store, &mut starts)?;
                    batch
                }
                Err(e) => {
                    self.ui.warn(&format!("{e:#}"));
                    continue;
                }
            };
            if bytes + batch.bytes > TRANSACTION_BYTES || held.len() >= TRANSACTION_BATCHES {
                self.commit(&mut held, store, report)?;
                bytes = 0;
            }
            bytes += batch.bytes;
            held.push(batch);
            failpoints::point("batch read");
        }
        self.commit(&mut held, store, report)
    }

    fn commit(&self, held: &mut Vec<IngestBatch>, store: &mut Writer, report: &mut Report) -> Result<()> {
        // A session that is off was noted before it wrote a line. The next run shuts out what was noted since this one looked.
        let off: HashSet<String> = pause::noted_sessions(&self.config.data_dir).into_iter().map(|(_, session)| session).collect();
        held.retain(|batch| !off.contains(&batch.file.place.session));
        if held.is_empty() {
            return Ok(());
        }
        for batch in held.iter() {
            let path = batch.file.path.display();
            match batch.bad.as_slice() {
                [] => {}
                [(offset, why)] => self.ui.warn(&format!("{path}: the line at byte {offset} is {why}, skipped")),
                [(offset, why), ..] => {
                    let all = batch.bad.len();
                    self.ui.warn(&format!("{path}: {all} lines skipped; the first, at byte {offset}, is {why}"));
                }
            }
        }
        let done = store.ingest(held, self.projects).context("cannot store what was read")?;
        failpoints::point("batches stored");
        report.ingested(&done);
        report.bytes_read += held.iter().map(|b| b.bytes).sum::<u64>();
        report.files_read += held.iter().filter(|b| b.complete).count() as u64;
        held.clear();
        Ok(())
    }

    fn read(&self, pending: &PendingFile, out: &mut Outgoing, bar: &Progress) {
        if shutdown::requested() {
            return;
        }
        let path = &pending.file.path;
        let read = self.read_file(pending, out, bar).with_context(|| format!("cannot read {}", path.display()));
        if let Err(e) = read {
            out.held.push(Err(e));
        }
    }
}

/// Files, in their order, in groups that are read by one thread each: a large one alone.
fn together(files: Vec<&PendingFile>) -> Vec<Vec<&PendingFile>> {
    let mut groups: Vec<Vec<&PendingFile>> = Vec::new();
    let mut bytes = 0;
    for file in files {
        match groups.last_mut() {
            Some(group) if group.len() < TOGETHER_FILES && bytes + file.bytes() <= TOGETHER_BYTES => group.push(file),
            _ => {
                groups.push(vec![file]);
                bytes = 0;
            }
        }
        bytes += file.bytes();
    }
    groups
}

type Batches = Vec<Result<IngestBatch>>;

/// What a thread has read and not yet handed over to the writer.
struct Outgoing<'s> {
    send: &'s SyncSender<Batches>,
    held: Batches,
    bytes: u64,
}

impl<'s> Outgoing<'s> {
    fn new(send: &'s SyncSender<Batches>) -> Self {
        Self { send, held: Vec::new(), bytes: 0 }
    }

    /// Adds a batch. Returns false if the writer has ended.
    fn put(&mut self, batch: IngestBatch) -> bool {
        self.bytes += batch.bytes;
        self.held.push(Ok(batch));
        self.bytes < TOGETHER_BYTES || self.hand_over()
    }

    fn hand_over(&mut self) -> bool {
        self.bytes = 0;
        let held = std::mem::take(&mut self.held);
        held.is_empty() || self.send.send(held).is_ok()
    }
}
