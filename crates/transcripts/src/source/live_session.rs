//! Reads the end of a live session's transcript: what no digest has covered yet.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use crate::assemble::session_from_records;
use crate::client::Client;
use crate::privacy::echo::{PrivateWords, distinctive, hashes};
use crate::privacy::{ConversationState, Disposition, Sanitizer};
use crate::session::{Item, Millis, ParserState, Record, RecordKey, Session, Title};
use crate::source::delta;
use crate::source::delta::RawLine;
use crate::source::{ParentLink, ParsedLine, TranscriptIdentity, parser_of, source_of};
use crate::undone_prompts::{PromptLink, undone};

/// How far before that end to search for a private block that may still be open, in bytes.
const LOOKBACK_BYTES: u64 = 8 << 20;
/// Bytes of a conversation's start that are searched for a reply.
const HEAD_BYTES: u64 = 256 << 10;

/// Builds the session `id` from the last `most` bytes of a transcript, without private, forgotten and undone records.
pub fn session(
    transcript: &Path,
    id: &str,
    most: u64,
    sanitizer: &Sanitizer,
    key_of: impl Fn(&str) -> String,
    is_forgotten: impl Fn(RecordKey) -> bool,
    mut private_words: PrivateWords,
) -> io::Result<Session> {
    let mut conversation = conversation_before(transcript, most)?;
    let mut all = read_records(transcript, id, most, sanitizer)?;
    let before = if conversation == ConversationState::default() {
        Vec::new()
    } else {
        private_text_before(transcript, id, most, sanitizer)?
    };
    all.clean_echoes(&before, &mut private_words);
    let mut undone = all.undone().into_iter();
    // An undone prompt was still said: later summaries may repeat what was private in it, so it goes through the conversation
    // first.
    all.rows.retain_mut(|row| {
        let (kept, undone) = (conversation.pass(row, sanitizer).0 == Disposition::Kept, undone.next() == Some(true));
        kept && !undone && !is_forgotten(row.key)
    });
    let mut rows = all.rows;
    for row in &mut rows {
        row.items.retain(|item| !title_keys(item).is_some_and(|keys| keys.into_iter().any(&is_forgotten)));
    }
    Ok(session_from_records(id, rows, key_of))
}

/// The keys under which a title from a `summary` line may have been forgotten: that of the leaf, and that of the title itself.
pub fn title_keys(item: &Item) -> Option<[RecordKey; 2]> {
    let Item::Title(Title { text, leaf: Some(leaf), .. }) = item else { return None };
    Some([*leaf, RecordKey::of_title(*leaf, text)])
}

/// Does the conversation hold a reply near its beginning? Without one it has only just begun. False if it cannot be read.
pub fn begins_with_reply(client: Client, transcript: &Path) -> bool {
    delta::head_of(transcript, HEAD_BYTES).is_ok_and(|head| source_of(client).holds_reply(&head))
}

/// The time of the last record in which something was said or done.
pub fn last_at(transcript: &Path, id: &str, most: u64) -> io::Result<Option<Millis>> {
    Ok(read_records(transcript, id, most, &Sanitizer::without_redaction())?.rows.into_iter().filter_map(|row| row.at).max())
}

/// Where a private turn is open before the end, or may be, what continues it is withheld.
fn conversation_before(transcript: &Path, most: u64) -> io::Result<ConversationState> {
    let private = delta::holds_private_before(transcript, most, LOOKBACK_BYTES)?;
    Ok(if private { ConversationState::after_something_private() } else { ConversationState::default() })
}

/// Records in order, and which of them are prompts. `Asked::offset` is an index into `rows`.
#[derive(Default)]
struct LiveRecords {
    rows: Vec<Record>,
    asked: Vec<PromptLink>,
}

/// The private text in lines before the last `most` bytes, at most [`LOOKBACK_BYTES`] bytes back.
fn private_text_before(transcript: &Path, id: &str, most: u64, sanitizer: &Sanitizer) -> io::Result<Vec<String>> {
    let place = TranscriptIdentity { client: Client::ClaudeCode, session: id.to_owned(), agent: None, cwd: None };
    let until = transcript.metadata()?.len().saturating_sub(most);
    let mut lines = delta::last_lines(transcript, most.saturating_add(LOOKBACK_BYTES))?;
    let mut fenced = Vec::new();
    while let Some((from, _, piece)) = lines.next_line()? {
        if from >= until {
            break;
        }
        if let RawLine::Complete(line) = piece
            && delta::opens_private(line)
            && let ParsedLine::Record(row) = parser_of(&place, sanitizer, &ParserState::default()).read(line)
        {
            fenced.push(row.fenced);
        }
    }
    Ok(fenced)
}

impl LiveRecords {
    /// Removes what repeats private words: those the index knows, and those from lines that are not digested yet.
    fn clean_echoes(&mut self, before: &[String], private_words: &mut PrivateWords) {
        for fenced in before.iter().chain(self.rows.iter().map(|row| &row.fenced)).filter(|fenced| !fenced.is_empty()) {
            private_words.add("", hashes("", distinctive(fenced).iter().map(String::as_str)));
        }
        for row in self.rows.iter_mut().filter(|_| !private_words.is_empty()) {
            row.items = row.items.iter().filter_map(|item| private_words.clean_item(item).map(Cow::into_owned)).collect();
            // A branch that repeats them has no name, as in the index.
            row.branch = row.branch.take().filter(|branch| !private_words.are_in(branch));
        }
    }

    /// For each record, whether the user took it back, as far as these records tell.
    fn undone(&self) -> Vec<bool> {
        let undone = undone(&self.asked);
        let is_undone = |at: usize| {
            let behind = self.asked.partition_point(|one| one.offset <= at as i64);
            behind.checked_sub(1).is_some_and(|turn| undone[turn])
        };
        (0..self.rows.len()).map(is_undone).collect()
    }
}

fn read_records(transcript: &Path, id: &str, most: u64, sanitizer: &Sanitizer) -> io::Result<LiveRecords> {
    let place = TranscriptIdentity { client: Client::ClaudeCode, session: id.to_owned(), agent: None, cwd: None };
    let mut lines = delta::last_lines(transcript, most)?;
    let (mut all, mut chain) = (LiveRecords::default(), ConversationState::default());
    let mut parser = parser_of(&place, sanitizer, &ParserState::default());
    while let Some((_, _, piece)) = lines.next_line()? {
        let (RawLine::Complete(line) | RawLine::Tail(line)) = piece else { continue };
        match parser.read(line) {
            ParsedLine::Record(mut row) => {
                all.asked.extend(chain.place(&mut row, all.rows.len() as u64));
                all.rows.push(*row);
            }
            ParsedLine::Link(ParentLink { key, parent }) => chain.note_parent(key, parent),
            _ => {}
        }
    }
    Ok(all)
}
