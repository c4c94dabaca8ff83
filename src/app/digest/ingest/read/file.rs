//! Reads one file from its checkpoint to its end, in batches. Each batch carries the checkpoint from which another run would
//! continue.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::Ordering;

use anyhow::Result;

use super::{Outgoing, PendingFile, TranscriptReader};
use crate::store::ingest::{FencedText, IngestBatch};
use crate::sys::progress::Progress;
use crate::sys::shutdown;
use transcripts::privacy::{ConversationState, Disposition, opens_private};
use transcripts::session::{Evidence, Item, Millis, Record};
use transcripts::source::delta::{Checkpoint, OpenTranscript, RawLine, TranscriptLines};
use transcripts::source::{self, LineParser, ParentLink, ParsedLine, is_complete, parser_of};
use transcripts::undone_prompts::PromptLink;

/// Input bytes per batch: what a reader holds before handing it over.
const BATCH_BYTES: u64 = 1 << 20;
/// Lines longer than this are parsed one at a time across all threads, since parsing holds several copies of their content.
const LONG_LINE_BYTES: usize = 1 << 20;

impl TranscriptReader<'_> {
    pub(super) fn read_file(&self, pending: &PendingFile, out: &mut Outgoing, bar: &Progress) -> Result<()> {
        if self.config.may_exclude(&pending.file, self.projects) {
            self.withheld.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        let mut delta = source::open(&pending.file.place, &pending.file.path, pending.checkpoint())?;
        let mut reading = self.begin(pending, &delta);
        while let Some((from, to, piece)) = delta.lines.next_line()? {
            if pending.part.as_ref().is_some_and(|part| from >= part.end) {
                break;
            }
            // Offsets of made lines count none of their bytes.
            let held = match piece {
                RawLine::Complete(line) | RawLine::Tail(line) => line.len() as u64,
                RawLine::TooLong { .. } => 0,
            };
            match piece {
                RawLine::Complete(line) => self.take(&mut reading, from, line),
                // A partial line is left for the next run; a complete one that only lacks its newline is not.
                RawLine::Tail(line) if !is_complete(line) => break,
                RawLine::Tail(line) => self.take(&mut reading, from, line),
                RawLine::TooLong { private } => {
                    if private {
                        reading.conversation.note_malformed_private();
                    }
                    reading.batch.bad.push((from, "longer than 16 MiB"));
                }
            }
            let ReadState { batch, conversation, lines, read_to, .. } = &mut reading;
            *read_to = to;
            batch.bytes += held.max(to - from);
            if batch.bytes >= BATCH_BYTES {
                bar.advance(batch.bytes);
                batch.checkpoint = delta.checkpoint_at(to)?;
                conversation.note_parser(lines.state());
                batch.conversation = conversation.stored();
                let next = self.empty(pending);
                pending.part.iter().for_each(|part| part.narrow(batch));
                if !out.put(std::mem::replace(batch, next)) || shutdown::requested() {
                    return Ok(());
                }
            }
        }
        let ReadState { mut batch, mut conversation, lines, read_to, went_back, .. } = reading;
        bar.advance(batch.bytes);
        batch.complete = true;
        let is_whole = matches!(delta.lines, TranscriptLines::Made(_)) && pending.part.is_none();
        batch.went_back = is_whole.then_some(went_back);
        conversation.note_parser(lines.state());
        batch.conversation = conversation.stored();
        batch.checkpoint = delta.checkpoint_at(read_to)?;
        pending.part.iter().for_each(|part| part.narrow(&mut batch));
        out.put(batch);
        Ok(())
    }

    /// State before the first line is read.
    fn begin<'p>(&'p self, pending: &'p PendingFile, delta: &OpenTranscript) -> ReadState<'p> {
        let conversation = match delta.start {
            0 if delta.replaced => ConversationState::for_replaced_file(pending.conversation()),
            0 => ConversationState::default(),
            _ => ConversationState::restore(pending.conversation()),
        };
        ReadState {
            batch: IngestBatch { replaced: delta.replaced, ..self.empty(pending) },
            lines: parser_of(&pending.file.place, self.sanitizer, &conversation.parser()),
            conversation,
            read_to: delta.start,
            folder: LastFolder::default(),
            went_back: None,
        }
    }

    /// A batch with nothing in it, whose checkpoint is known when it is full.
    fn empty(&self, pending: &PendingFile) -> IngestBatch {
        IngestBatch {
            file: pending.file.clone(),
            replaced: false,
            checkpoint: Checkpoint::default(),
            complete: false,
            conversation: String::new(),
            rows: Vec::new(),
            asked: Vec::new(),
            went_back: None,
            fenced: Vec::new(),
            brought: Vec::new(),
            private_rows: Vec::new(),
            boundaries: Vec::new(),
            agent: None,
            client_costs: BTreeMap::new(),
            starts: BTreeMap::new(),
            excluded: BTreeSet::new(),
            folders: BTreeMap::new(),
            is_part: false,
            bad: Vec::new(),
            unknown: BTreeMap::new(),
            bytes: 0,
            grew_at: pending.file.mtime().min(self.now),
        }
    }

    fn take(&self, reading: &mut ReadState<'_>, offset: u64, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let alone = (line.len() > LONG_LINE_BYTES).then(|| self.long.lock());
        let read = reading.lines.read(line);
        drop(alone);
        let batch = &mut reading.batch;
        match read {
            ParsedLine::Record(row) => match self.whose(&mut reading.folder, row.cwd.as_deref()) {
                FolderOwner::Own => {}
                FolderOwner::Excluded => {
                    note_folder(batch, &row);
                    batch.excluded.insert(row.session);
                }
                FolderOwner::User => {
                    note_folder(batch, &row);
                    if let (Some(at), None) = (row.at, &row.agent) {
                        note_start(batch, &row.session, at);
                    }
                    if row.usage.is_some() && row.agent.is_none() {
                        invalidate_client_cost(batch, &row.session);
                    }
                    self.keep(batch, &mut reading.conversation, offset, *row);
                }
            },
            ParsedLine::SessionStart { session, at } => note_start(batch, &session, at),
            ParsedLine::Link(ParentLink { key, parent }) => reading.conversation.note_parent(key, parent),
            ParsedLine::WentBack(behind) => reading.went_back = Some(reading.conversation.went_back(behind, offset)),
            ParsedLine::Cost { session, by_model } => _ = batch.client_costs.insert(session, by_model),
            ParsedLine::Empty => {}
            ParsedLine::Unknown(name) => *batch.unknown.entry(name).or_default() += 1,
            ParsedLine::Malformed(why) => {
                if opens_private(&String::from_utf8_lossy(line)) {
                    reading.conversation.note_malformed_private();
                }
                batch.bad.push((offset, why));
            }
        }
    }

    /// Adds to the batch what the conversation's privacy rules let through of a record.
    fn keep(&self, batch: &mut IngestBatch, conversation: &mut ConversationState, offset: u64, mut row: Record) {
        // Rows of the queue name no folder, and what is queued before the first prompt is that prompt.
        if is_of_queue(&row) && !conversation.has_begun() {
            return;
        }
        if !row.fenced.is_empty() {
            batch.fenced.push(FencedText::of(&mut row, offset));
        }
        let items = row.items.len();
        batch.asked.extend(conversation.place(&mut row, offset).map(|asked| (row.session.clone(), asked)));
        if row.items.len() < items {
            batch.brought.push((row.session.clone(), row.key));
        }
        let (passed, boundary) = conversation.pass(&mut row, self.sanitizer);
        batch.boundaries.extend(boundary);
        // In the oldest layouts the subagents of all turns share the session's file; each belongs to the turn around it.
        batch.agent = conversation.agent().filter(|_| batch.file.place.agent.is_some()).cloned();
        if passed == Disposition::Private {
            batch.private_rows.push(row.key);
        } else if !row.items.is_empty() || row.usage.is_some() {
            batch.rows.push((offset, row));
        }
    }

    /// Whose folder a record comes from. Caches the last answer, because consecutive records mostly share their folder.
    pub(super) fn whose(&self, last: &mut LastFolder, cwd: Option<&str>) -> FolderOwner {
        let Some(cwd) = cwd else { return FolderOwner::User };
        if last.cwd != cwd {
            let whose = if self.own_dirs.iter().any(|dir| Path::new(cwd).starts_with(dir)) {
                FolderOwner::Own
            } else if self.config.excludes_folder(cwd, self.projects) {
                FolderOwner::Excluded
            } else {
                FolderOwner::User
            };
            *last = LastFolder { cwd: cwd.to_owned(), whose };
        }
        last.whose
    }
}

/// Is it a message on its way through the queue, and nothing else?
fn is_of_queue(row: &Record) -> bool {
    !row.items.is_empty() && row.items.iter().all(|item| matches!(item, Item::Evidence(Evidence::Queue(_))))
}

/// State while a file is read.
struct ReadState<'p> {
    batch: IngestBatch,
    lines: Box<dyn LineParser + 'p>,
    conversation: ConversationState,
    /// Where the last line that was read ends.
    read_to: u64,
    folder: LastFolder,
    /// The user went back, and has said nothing since.
    went_back: Option<PromptLink>,
}

/// The folder of the last record, and whose it is.
#[derive(Default)]
pub(super) struct LastFolder {
    cwd: String,
    whose: FolderOwner,
}

#[derive(Clone, Copy, Default)]
pub(super) enum FolderOwner {
    #[default]
    User,
    /// From our own summarizer child: ingesting its sessions would digest our own prompts.
    Own,
    Excluded,
}

/// Notes that something was said in a session at this time. The first time of a batch counts.
fn note_start(batch: &mut IngestBatch, session: &str, at: Millis) {
    if !batch.starts.contains_key(session) {
        batch.starts.insert(session.to_owned(), at);
    }
}

/// Notes the folder of a record, and the earliest time there: a record that names none may be from before all others.
fn note_folder(batch: &mut IngestBatch, row: &Record) {
    let Some(cwd) = &row.cwd else { return };
    let at = row.at.unwrap_or(0);
    match batch.folders.get_mut(&row.session).and_then(|folders| folders.get_mut(cwd)) {
        Some(since) => *since = at.min(*since),
        None => _ = batch.folders.entry(row.session.clone()).or_default().insert(cwd.clone(), at),
    }
}

/// A message of the session: a total that the client stated before no longer covers all of it.
fn invalidate_client_cost(batch: &mut IngestBatch, session: &str) {
    match batch.client_costs.get_mut(session) {
        Some(before) => *before = None,
        None => _ = batch.client_costs.insert(session.to_owned(), None),
    }
}
