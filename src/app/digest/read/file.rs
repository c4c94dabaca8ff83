//! Reads one file from its checkpoint to its end, in batches. Each batch carries the checkpoint from which another run would
//! continue.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::mpsc::SyncSender;

use anyhow::Result;
use indicatif::ProgressBar;

use super::{Pending, Reader};
use crate::model::session::{Millis, Row};
use crate::privacy::{Conversation, Passed, opens_private};
use crate::source::claude_code::{self, Line, Link};
use crate::source::delta;
use crate::source::delta::{Cursor, Delta, Piece};
use crate::store::ingest::{Batch, Fenced};
use crate::sys::shutdown;

/// Input bytes per batch: what a reader holds before handing it over.
const BATCH: u64 = 1 << 20;
/// Lines longer than this are parsed one at a time across all threads, since parsing holds several copies of their content.
const LONG: usize = 1 << 20;

impl Reader<'_> {
    pub(super) fn read_file(&self, pending: &Pending, send: &SyncSender<Result<Batch>>, bar: &ProgressBar) -> Result<()> {
        let mut delta = delta::open(&pending.file.path, pending.cursor.as_ref())?;
        let mut reading = self.begin(pending, &delta)?;
        while let Some((from, to, piece)) = delta.lines.next_piece()? {
            match piece {
                Piece::Line(line) => self.take(&mut reading, from, line),
                // A partial line is left for the next run; a complete one that only lacks its newline is not.
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
                if send.send(Ok(std::mem::replace(batch, next))).is_err() || shutdown::asked() {
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

    /// State before the first line is read.
    fn begin<'p>(&'p self, pending: &'p Pending, delta: &Delta) -> io::Result<Reading<'p>> {
        let known = pending.cursor.as_ref().filter(|_| !delta.replaced).map_or(0, |c| c.offset);
        let tail_hash = delta::tail_hash(&delta.probe, known)?;
        let cursor = Cursor { head_len: delta.head_len, head_hash: delta.head_hash, offset: known, tail_hash };
        Ok(Reading {
            batch: Batch { replaced: delta.replaced, ..self.empty(pending, cursor) },
            lines: claude_code::Lines::of(&pending.file.place, self.gate),
            conversation: match known {
                0 if delta.replaced => Conversation::goes_on_from(&pending.conversation),
                0 => Conversation::default(),
                _ => Conversation::restore(&pending.conversation),
            },
            folder: Folder::default(),
        })
    }

    fn empty(&self, pending: &Pending, cursor: Cursor) -> Batch {
        Batch {
            file: pending.file.clone(),
            replaced: false,
            cursor,
            complete: false,
            conversation: String::new(),
            rows: Vec::new(),
            asked: Vec::new(),
            fenced: Vec::new(),
            brought: Vec::new(),
            private_rows: Vec::new(),
            boundaries: Vec::new(),
            agent: None,
            client_costs: BTreeMap::new(),
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
                    if row.usage.is_some() && row.agent.is_none() {
                        goes_on(batch, &row.session);
                    }
                    self.keep(batch, &mut reading.conversation, offset, *row);
                }
            },
            Line::Stamp { session, at } => began(batch, &session, at),
            Line::Link(Link { key, parent }) => reading.conversation.saw(key, parent),
            Line::Cost { session, by_model } => _ = batch.client_costs.insert(session, by_model),
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

    /// Adds to the batch what the conversation's privacy rules let through of a record.
    fn keep(&self, batch: &mut Batch, conversation: &mut Conversation, offset: u64, mut row: Row) {
        if !row.fenced.is_empty() {
            batch.fenced.push(Fenced::of(&mut row, offset));
        }
        let items = row.items.len();
        batch.asked.extend(conversation.place(&mut row, offset).map(|asked| (row.session.clone(), asked)));
        if row.items.len() < items {
            batch.brought.push((row.session.clone(), row.key));
        }
        let (passed, boundary) = conversation.pass(&mut row, self.gate);
        batch.boundaries.extend(boundary);
        // In the oldest layouts the subagents of all turns share the session's file; each belongs to the turn around it.
        batch.agent = conversation.agent().filter(|_| batch.file.place.agent.is_some()).cloned();
        if passed == Passed::Private {
            batch.private_rows.push(row.key);
        } else if !row.items.is_empty() || row.usage.is_some() {
            batch.rows.push((offset, row));
        }
    }

    /// Whose folder a record comes from. Caches the last answer, because consecutive records mostly share their folder.
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

/// State while a file is read.
struct Reading<'p> {
    batch: Batch,
    lines: claude_code::Lines<'p>,
    conversation: Conversation,
    folder: Folder,
}

/// The folder of the last record, and whose it is.
#[derive(Default)]
struct Folder {
    cwd: String,
    whose: Whose,
}

#[derive(Clone, Copy, Default)]
enum Whose {
    #[default]
    Users,
    /// From our own summarizer child: ingesting its sessions would digest our own prompts.
    Own,
    Excluded,
}

/// Notes that something was said in a session at this time. The first time of a batch counts.
fn began(batch: &mut Batch, session: &str, at: Millis) {
    if !batch.starts.contains_key(session) {
        batch.starts.insert(session.to_owned(), at);
    }
}

/// A message of the session: a total that the client stated before no longer covers all of it.
fn goes_on(batch: &mut Batch, session: &str) {
    match batch.client_costs.get_mut(session) {
        Some(before) => *before = None,
        None => _ = batch.client_costs.insert(session.to_owned(), None),
    }
}
