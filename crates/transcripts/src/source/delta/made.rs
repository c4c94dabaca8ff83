//! Lines that are made of what a client keeps in another form than a file of lines: rows of a database, a document that is written whole.

use std::io;

use super::lines::{LineReader, MAX_LINE_BYTES, RawLine};
use super::{TranscriptBytes, opens_private};

/// The lines of a transcript: those of a file, or made ones.
pub enum TranscriptLines {
    Read(LineReader<TranscriptBytes>),
    Made(MadeLines),
}

/// Made lines, one after the other. All of them are made anew whenever a transcript changed: rows are known by their keys.
pub struct MadeLines {
    from: Box<dyn Iterator<Item = io::Result<MadeLine>> + Send>,
    held: Vec<u8>,
}

/// A line that was made.
pub struct MadeLine {
    /// What stands in for an offset: it rises from line to line, and is the same whenever the line is made.
    pub at: u64,
    pub text: String,
}

/// 2020-01-01: no client that has made lines is older.
const FIRST_AT: i64 = 1_577_836_800_000;

/// Numbers lines by their times, in the order in which they come.
#[derive(Debug, Default)]
pub struct LineNumbers {
    next: u64,
}

impl LineNumbers {
    /// The number of a line from this time, in milliseconds. Lines without one, and those of the same moment, follow the one before.
    pub fn of(&mut self, at: Option<i64>) -> u64 {
        let by_time = at.map_or(0, |at| u64::try_from(at.saturating_sub(FIRST_AT)).unwrap_or(0));
        let number = by_time.max(self.next);
        self.next = number + 1;
        number
    }
}

impl MadeLines {
    pub fn new(from: impl Iterator<Item = io::Result<MadeLine>> + Send + 'static) -> Self {
        Self { from: Box::new(from), held: Vec::new() }
    }
}

impl TranscriptLines {
    /// The next line with its offset and the offset just past it. A tail comes last, and only once.
    pub fn next_line(&mut self) -> io::Result<Option<(u64, u64, RawLine<'_>)>> {
        match self {
            Self::Read(lines) => lines.next_line(),
            Self::Made(lines) => {
                let Some(line) = lines.from.next().transpose()? else { return Ok(None) };
                lines.held = line.text.into_bytes();
                let too_long = lines.held.len() > MAX_LINE_BYTES;
                let piece = match too_long {
                    true => RawLine::TooLong { private: opens_private(&lines.held) },
                    false => RawLine::Complete(&lines.held),
                };
                Ok(Some((line.at, line.at + 1, piece)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise_whatever_the_times() {
        let mut numbers = LineNumbers::default();
        let at = |seconds: i64| Some(FIRST_AT + seconds * 1000);
        let all: Vec<u64> = [at(1), at(1), None, at(9), at(2), Some(-5), at(10)].into_iter().map(|at| numbers.of(at)).collect();
        assert_eq!(all, [1000, 1001, 1002, 9000, 9001, 9002, 10_000]);
    }
}
