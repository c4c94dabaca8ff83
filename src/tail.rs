//! The end of a transcript, read as it stands: for what no digest has seen yet.

use std::io;
use std::path::Path;

use crate::delta::{self, Piece};
use crate::privacy::{Conversation, Gate, Passed};
use crate::rows::session_of;
use crate::session::{Item, Millis, Row, RowKey, Session, Title};
use crate::source::claude_code::{Line, Place, read_line};

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
) -> io::Result<Session> {
    let mut conversation = conversation_before(transcript, most)?;
    let mut rows = rows(transcript, id, most, gate)?;
    rows.retain_mut(|row| conversation.pass(row, gate).0 == Passed::Kept && !is_forgotten(row.key));
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
    Ok(rows(transcript, id, most, &Gate::for_times())?.into_iter().filter_map(|row| row.at).max())
}

/// Where something private stands before the end, or may stand, what goes on from there is not told.
fn conversation_before(transcript: &Path, most: u64) -> io::Result<Conversation> {
    let private = delta::holds_private_before(transcript, most, LOOKED_BACK)?;
    Ok(if private { Conversation::after_something_private() } else { Conversation::default() })
}

fn rows(transcript: &Path, id: &str, most: u64, gate: &Gate) -> io::Result<Vec<Row>> {
    let place = Place { session: id.to_owned(), agent: None };
    let mut lines = delta::last_lines(transcript, most)?;
    let mut rows = Vec::new();
    while let Some((_, _, piece)) = lines.next_piece()? {
        if let Piece::Line(line) | Piece::Tail(line) = piece
            && let Line::Row(row) = read_line(line, &place, gate)
        {
            rows.push(*row);
        }
    }
    Ok(rows)
}
