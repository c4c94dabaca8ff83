//! The end of a transcript, read as it stands: for what no digest has seen yet.

use std::io;
use std::path::Path;

use crate::delta::{self, Piece};
use crate::rows::session_of;
use crate::session::{Millis, Row, Session};
use crate::source::claude_code::{Line, Place, read_line};

/// The session `id` as far as the last `most` bytes of a transcript tell of it.
pub fn session(transcript: &Path, id: &str, most: u64, key_of: impl Fn(&str) -> String) -> io::Result<Session> {
    Ok(session_of(id, rows(transcript, id, most)?, key_of))
}

/// The time of the last row that somebody said or did something in.
pub fn last_at(transcript: &Path, id: &str, most: u64) -> io::Result<Option<Millis>> {
    Ok(rows(transcript, id, most)?.into_iter().filter_map(|row| row.at).max())
}

fn rows(transcript: &Path, id: &str, most: u64) -> io::Result<Vec<Row>> {
    let place = Place { session: id.to_owned(), agent: None };
    let mut lines = delta::last_lines(transcript, most)?;
    let mut rows = Vec::new();
    while let Some((_, _, piece)) = lines.next_piece()? {
        if let Piece::Line(line) | Piece::Tail(line) = piece
            && let Line::Row(row) = read_line(line, &place)
        {
            rows.push(*row);
        }
    }
    Ok(rows)
}
