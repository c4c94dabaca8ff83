//! The end of a transcript, read as it stands: for what no digest has seen yet.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use crate::chain::{Asked, undone};
use crate::delta::{self, Piece};
use crate::privacy::echo::{Hushed, distinctive, hashes};
use crate::privacy::{Conversation, Gate, Passed};
use crate::rows::session_of;
use crate::session::{Item, Millis, Row, RowKey, Session, Title};
use crate::source::claude_code::{Line, Link, Place, read_line};

/// How much before the end is searched for something private that may still go on in it, in bytes.
const LOOKED_BACK: u64 = 8 << 20;

/// The session `id` as far as the last `most` bytes of a transcript tell of it, without the rows that are not to be known.
pub fn session(
    transcript: &Path,
    id: &str,
    most: u64,
    gate: &Gate,
    key_of: impl Fn(&str) -> String,
    is_forgotten: impl Fn(RowKey) -> bool,
    mut hushed: Hushed,
) -> io::Result<Session> {
    let mut conversation = conversation_before(transcript, most)?;
    let mut all = rows(transcript, id, most, gate)?;
    let before = if conversation == Conversation::default() { Vec::new() } else { fenced_before(transcript, id, most, gate)? };
    all.hush(&before, &mut hushed);
    let mut undone = all.undone().into_iter();
    // What was taken back was said all the same: summaries may tell of what was private in it.
    all.rows.retain_mut(|row| {
        let (kept, undone) = (conversation.pass(row, gate).0 == Passed::Kept, undone.next() == Some(true));
        kept && !undone && !is_forgotten(row.key)
    });
    let mut rows = all.rows;
    for row in &mut rows {
        row.items.retain(|item| !title_keys(item).is_some_and(|keys| keys.into_iter().any(&is_forgotten)));
    }
    Ok(session_of(id, rows, key_of))
}

/// The keys by which a title is forgotten that a summary row gave to a conversation.
pub(crate) fn title_keys(item: &Item) -> Option<[RowKey; 2]> {
    let Item::Title(Title { text, leaf: Some(leaf), .. }) = item else { return None };
    Some([*leaf, RowKey::of_title(*leaf, text)])
}

/// The time of the last row that somebody said or did something in.
pub fn last_at(transcript: &Path, id: &str, most: u64) -> io::Result<Option<Millis>> {
    Ok(rows(transcript, id, most, &Gate::for_times())?.rows.into_iter().filter_map(|row| row.at).max())
}

/// Where something private stands before the end, or may stand, what goes on from there is not told.
fn conversation_before(transcript: &Path, most: u64) -> io::Result<Conversation> {
    let private = delta::holds_private_before(transcript, most, LOOKED_BACK)?;
    Ok(if private { Conversation::after_something_private() } else { Conversation::default() })
}

/// Rows in their order, and which of them are prompts: `offset` is the place in the list.
#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    asked: Vec<Asked>,
}

/// What was fenced off in rows before the last `most` bytes, as far as is looked back.
fn fenced_before(transcript: &Path, id: &str, most: u64, gate: &Gate) -> io::Result<Vec<String>> {
    let place = Place { session: id.to_owned(), agent: None };
    let until = transcript.metadata()?.len().saturating_sub(most);
    let mut lines = delta::last_lines(transcript, most.saturating_add(LOOKED_BACK))?;
    let mut fenced = Vec::new();
    while let Some((from, _, piece)) = lines.next_piece()? {
        if from >= until {
            break;
        }
        if let Piece::Line(line) = piece
            && delta::opens_private(line)
            && let Line::Row(row) = read_line(line, &place, gate)
        {
            fenced.push(row.fenced);
        }
    }
    Ok(fenced)
}

impl Rows {
    /// Takes out what repeats private words: those that the index knows, and those of rows that no digest has seen.
    fn hush(&mut self, before: &[String], hushed: &mut Hushed) {
        for fenced in before.iter().chain(self.rows.iter().map(|row| &row.fenced)).filter(|fenced| !fenced.is_empty()) {
            hushed.add("", hashes("", distinctive(fenced).iter().map(String::as_str)));
        }
        for row in self.rows.iter_mut().filter(|_| !hushed.is_empty()) {
            row.items = row.items.iter().filter_map(|item| hushed.clean_item(item).map(Cow::into_owned)).collect();
        }
    }

    /// For each row whether the user took it back, as far as the rows tell.
    fn undone(&self) -> Vec<bool> {
        let undone = undone(&self.asked);
        let is_undone = |at: usize| {
            let behind = self.asked.partition_point(|one| one.offset <= at as i64);
            behind.checked_sub(1).is_some_and(|turn| undone[turn])
        };
        (0..self.rows.len()).map(is_undone).collect()
    }
}

fn rows(transcript: &Path, id: &str, most: u64, gate: &Gate) -> io::Result<Rows> {
    let place = Place { session: id.to_owned(), agent: None };
    let mut lines = delta::last_lines(transcript, most)?;
    let (mut all, mut chain) = (Rows::default(), Conversation::default());
    while let Some((_, _, piece)) = lines.next_piece()? {
        let (Piece::Line(line) | Piece::Tail(line)) = piece else { continue };
        match read_line(line, &place, gate) {
            Line::Row(mut row) => {
                all.asked.extend(chain.place(&mut row, all.rows.len() as u64));
                all.rows.push(*row);
            }
            Line::Link(Link { key, parent }) => chain.saw(key, parent),
            _ => {}
        }
    }
    Ok(all)
}
