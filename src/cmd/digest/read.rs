//! Reading transcripts: many at a time, stored by one writer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use rayon::prelude::*;

use super::report::Report;
use crate::config::Config;
use crate::delta::{self, Cursor, Piece};
use crate::fault;
use crate::privacy::{Conversation, Gate, Passed, opens_private};
use crate::session::{Millis, Row};
use crate::source::claude_code::{self, Line};
use crate::source::discover::Found;
use crate::source::project::Projects;
use crate::stop;
use crate::store::Store;
use crate::store::ingest::{Batch, KnownFile};
use crate::ui::Ui;

/// Input of one transaction, in bytes.
const TRANSACTION: u64 = 8 << 20;
/// Input of one batch: what a reader holds before it hands it over.
const BATCH: u64 = 1 << 20;
/// Batches between the readers and the writer; with `BATCH` it bounds the memory.
const WAITING: usize = 8;

/// A file that has something new, and where to go on.
pub struct Pending {
    file: Arc<Found>,
    cursor: Option<Cursor>,
    /// What the rows before the cursor say about those after it.
    conversation: String,
}

impl Pending {
    pub fn bytes(&self) -> u64 {
        let from = self.cursor.as_ref().map_or(0, |c| c.offset);
        if self.file.size >= from { self.file.size - from } else { self.file.size }
    }
}

/// A line beyond this is read while no other thread reads one: of what it says there are several copies for a while.
const LONG: usize = 1 << 20;

/// Files that changed since the last look, as that saw them, largest first so that no thread is left with one at the end.
pub fn pending(changed: Vec<(Found, Option<KnownFile>)>) -> Vec<Pending> {
    let of = |(file, seen): (Found, Option<KnownFile>)| {
        let (cursor, conversation) = seen.map(|k| (k.cursor, k.conversation)).unzip();
        Pending { file: Arc::new(file), cursor, conversation: conversation.unwrap_or_default() }
    };
    let mut pending: Vec<Pending> = changed.into_iter().map(of).collect();
    pending.sort_by_key(|p| std::cmp::Reverse(p.bytes()));
    pending
}

/// Reads files in parallel and stores them from one writer.
pub struct Reader<'a> {
    config: &'a Config,
    gate: &'a Gate,
    projects: &'a Projects,
    jobs: Option<usize>,
    now: Millis,
    ui: &'a Ui,
    /// Held by who reads a long line.
    long: Mutex<()>,
    /// Where our own child works, as it is named and as it is reached: it sees the latter.
    own_dirs: Vec<PathBuf>,
}

impl<'a> Reader<'a> {
    pub fn new(config: &'a Config, gate: &'a Gate, projects: &'a Projects, jobs: Option<usize>, now: Millis, ui: &'a Ui) -> Self {
        let mut own_dirs = vec![config.child_dir()];
        own_dirs.extend(config.data_dir.canonicalize().map(|dir| dir.join("child")));
        Self { config, gate, projects, jobs, now, ui, long: Mutex::new(()), own_dirs }
    }

    pub fn run(&self, pending: &[Pending], store: &mut Store, report: &mut Report) -> Result<()> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.jobs.unwrap_or(0)).build().context("cannot start threads")?;
        let bar = self.ui.bytes(pending.iter().map(Pending::bytes).sum());
        let (send, receive) = sync_channel::<Result<Batch>>(WAITING);
        let stored = std::thread::scope(|scope| {
            let bar = &bar;
            scope.spawn(move || {
                // What a subagent did in a private turn is known once its conversation has been read.
                for agents in [false, true] {
                    let of_kind = pending.par_iter().with_max_len(1).filter(|p| p.file.place.agent.is_some() == agents);
                    pool.install(|| of_kind.for_each_with(send.clone(), |send, one| self.read(one, send, bar)));
                }
            });
            // Ends when the last reader hangs up; on an error the channel closes and the readers end with it.
            self.write(receive.into_iter(), store, report)
        });
        bar.finish_and_clear();
        stored
    }

    fn write(&self, batches: impl Iterator<Item = Result<Batch>>, store: &mut Store, report: &mut Report) -> Result<()> {
        let mut held: Vec<Batch> = Vec::new();
        let mut bytes = 0;
        for batch in batches {
            let batch = match batch {
                Ok(batch) => batch,
                Err(e) => {
                    self.ui.warn(&format!("{e:#}"));
                    continue;
                }
            };
            if bytes + batch.bytes > TRANSACTION {
                self.commit(&mut held, store, report)?;
                bytes = 0;
            }
            bytes += batch.bytes;
            held.push(batch);
            fault::point("batch read");
        }
        self.commit(&mut held, store, report)
    }

    fn commit(&self, held: &mut Vec<Batch>, store: &mut Store, report: &mut Report) -> Result<()> {
        if held.is_empty() {
            return Ok(());
        }
        for batch in held.iter() {
            for (offset, why) in &batch.bad {
                let path = batch.file.path.display();
                self.ui.warn(&format!("{path}: the line at byte {offset} is {why}, skipped"));
            }
        }
        let done = store.ingest(held, self.projects).context("cannot store what was read")?;
        fault::point("batches stored");
        report.ingested(&done);
        report.bytes_read += held.iter().map(|b| b.bytes).sum::<u64>();
        report.files_read += held.iter().filter(|b| b.complete).count() as u64;
        held.clear();
        Ok(())
    }

    fn read(&self, pending: &Pending, send: &SyncSender<Result<Batch>>, bar: &ProgressBar) {
        if stop::asked() {
            return;
        }
        let path = &pending.file.path;
        let read = self.read_file(pending, send, bar).with_context(|| format!("cannot read {}", path.display()));
        if let Err(e) = read {
            let _ = send.send(Err(e));
        }
    }

    fn read_file(&self, pending: &Pending, send: &SyncSender<Result<Batch>>, bar: &ProgressBar) -> Result<()> {
        let mut delta = delta::open(&pending.file.path, pending.cursor.as_ref())?;
        let known = pending.cursor.as_ref().filter(|_| !delta.replaced).map_or(0, |c| c.offset);
        let tail_hash = delta::tail_hash(&delta.probe, known)?;
        let cursor = Cursor { head_len: delta.head_len, head_hash: delta.head_hash, offset: known, tail_hash };
        let mut reading = Reading {
            batch: Batch { replaced: delta.replaced, ..self.empty(pending, cursor) },
            lines: claude_code::Lines::of(&pending.file.place, self.gate),
            conversation: if known == 0 { Conversation::default() } else { Conversation::restore(&pending.conversation) },
            folder: Folder::default(),
        };
        while let Some((from, to, piece)) = delta.lines.next_piece()? {
            match piece {
                Piece::Line(line) => self.take(&mut reading, from, line),
                // Half a line waits; a whole one that only lacks its newline does not.
                Piece::Tail(line) if !claude_code::is_whole(line) => break,
                Piece::Tail(line) => self.take(&mut reading, from, line),
                Piece::TooLong { private } => {
                    if private {
                        reading.conversation.lost_something_private();
                    }
                    reading.batch.bad.push((from, "longer than 16 MiB"));
                }
            }
            let Reading { batch, conversation, .. } = &mut reading;
            batch.cursor.offset = to;
            batch.bytes += to - from;
            if batch.bytes >= BATCH {
                bar.inc(batch.bytes);
                batch.cursor.tail_hash = delta::tail_hash(&delta.probe, to)?;
                batch.conversation = conversation.stored();
                let next = self.empty(pending, batch.cursor.clone());
                if send.send(Ok(std::mem::replace(batch, next))).is_err() || stop::asked() {
                    return Ok(());
                }
            }
        }
        let Reading { mut batch, conversation, .. } = reading;
        bar.inc(batch.bytes);
        batch.complete = true;
        batch.conversation = conversation.stored();
        batch.cursor.tail_hash = delta::tail_hash(&delta.probe, batch.cursor.offset)?;
        let _ = send.send(Ok(batch));
        Ok(())
    }

    fn empty(&self, pending: &Pending, cursor: Cursor) -> Batch {
        Batch {
            file: pending.file.clone(),
            replaced: false,
            cursor,
            complete: false,
            conversation: String::new(),
            rows: Vec::new(),
            private_rows: Vec::new(),
            boundaries: Vec::new(),
            agent: None,
            starts: BTreeMap::new(),
            excluded: BTreeSet::new(),
            bad: Vec::new(),
            unknown: BTreeMap::new(),
            bytes: 0,
            grew_at: pending.file.mtime().min(self.now),
        }
    }

    fn take(&self, reading: &mut Reading<'_>, offset: u64, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let alone = (line.len() > LONG).then(|| self.long.lock());
        let read = reading.lines.read(line);
        drop(alone);
        let batch = &mut reading.batch;
        match read {
            Line::Row(row) => match self.whose(&mut reading.folder, row.cwd.as_deref()) {
                Whose::Own => {}
                Whose::Excluded => _ = batch.excluded.insert(row.session),
                Whose::Users => {
                    if let (Some(at), None) = (row.at, &row.agent) {
                        began(batch, &row.session, at);
                    }
                    self.keep(batch, &mut reading.conversation, offset, *row);
                }
            },
            Line::Stamp { session, at } => began(batch, &session, at),
            Line::Nothing => {}
            Line::Unknown(name) => *batch.unknown.entry(name).or_default() += 1,
            Line::Bad(why) => {
                if opens_private(&String::from_utf8_lossy(line)) {
                    reading.conversation.lost_something_private();
                }
                batch.bad.push((offset, why));
            }
        }
    }

    /// Puts into the batch what the conversation lets through of a row.
    fn keep(&self, batch: &mut Batch, conversation: &mut Conversation, offset: u64, mut row: Row) {
        let (passed, boundary) = conversation.pass(&mut row, self.gate);
        batch.boundaries.extend(boundary);
        // In the oldest layouts subagents of all turns share the session's file: they go by the turn they stand in.
        batch.agent = conversation.agent().filter(|_| batch.file.place.agent.is_some()).cloned();
        if passed == Passed::Private {
            batch.private_rows.push(row.key);
        } else if !row.items.is_empty() || row.usage.is_some() {
            batch.rows.push((offset, row));
        }
    }

    /// Whose folder a row is from. The rows of a file are from few, one after the other.
    fn whose(&self, last: &mut Folder, cwd: Option<&str>) -> Whose {
        let Some(cwd) = cwd else { return Whose::Users };
        if last.cwd != cwd {
            let whose = if self.own_dirs.iter().any(|dir| Path::new(cwd).starts_with(dir)) {
                Whose::Own
            } else if self.config.excludes_folder(cwd, self.projects) {
                Whose::Excluded
            } else {
                Whose::Users
            };
            *last = Folder { cwd: cwd.to_owned(), whose };
        }
        last.whose
    }
}

/// What is known while a file is read.
struct Reading<'p> {
    batch: Batch,
    lines: claude_code::Lines<'p>,
    conversation: Conversation,
    folder: Folder,
}

/// The folder that a row was from, and whose that is.
#[derive(Default)]
struct Folder {
    cwd: String,
    whose: Whose,
}

#[derive(Clone, Copy, Default)]
enum Whose {
    #[default]
    Users,
    /// Of our own child: taking its sessions in would be digesting ourselves.
    Own,
    Excluded,
}

/// Something was said in a session at this time; the first counts.
fn began(batch: &mut Batch, session: &str, at: Millis) {
    if !batch.starts.contains_key(session) {
        batch.starts.insert(session.to_owned(), at);
    }
}
