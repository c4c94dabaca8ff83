//! Splits a stream into lines, holding one at a time. The work is linear in the bytes read, however long a line is.
//!
//! Concurrent writers may leave two records without a newline between them: each is returned as a line of its own.

use std::cell::Cell;
use std::io::{self, Read};
use std::mem;
use std::ops::Range;

use super::READ_BYTES;
use super::private::{OVERLAP_BYTES, opens_private};
use crate::source::json;

/// Longest line that is read, in bytes. Longer ones (107 MB was reported) hold images or dumps.
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// How much is read at first, in bytes.
const FIRST_READ_BYTES: usize = 16 << 10;

/// More records than this on one line are no accident: the rest is returned as one piece. This also bounds how often the rest of a
/// line is scanned.
const MAX_RECORDS_PER_LINE: usize = 16;

thread_local! {
    /// The buffer of the last stream that this thread has read, of at most twice [`READ_BYTES`]: most files are small, and a new buffer for each
    /// is filled with zeros first, and copied as it grows.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Splits a stream into lines, holding one at a time.
pub struct LineReader<R> {
    from: R,
    buffer: Vec<u8>,
    /// How many bytes of the buffer are filled.
    filled: usize,
    /// Where the next line starts in the buffer, and up to where the buffer is known to hold no newline.
    start: usize,
    scanned: usize,
    /// The file offset of `start`.
    offset: u64,
    max_line: usize,
    ended: bool,
    /// Records of the line at `start` that were returned already.
    glued: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub enum RawLine<'b> {
    /// A complete line, without its newline.
    Complete(&'b [u8]),
    /// What follows the last newline: possibly half a line.
    Tail(&'b [u8]),
    /// A line over the limit, skipped. At the end of the file it may still grow: its end offset is then that of its start.
    TooLong {
        /// A private block is opened in it.
        private: bool,
    },
}

impl<R: Read> LineReader<R> {
    pub fn new(from: R, offset: u64) -> Self {
        let buffer = SPARE.take();
        Self { from, buffer, filled: 0, start: 0, scanned: 0, offset, max_line: MAX_LINE_BYTES, ended: false, glued: 0 }
    }

    /// Skips lines longer than this, in bytes, instead of those over [`MAX_LINE_BYTES`].
    #[cfg(any(test, feature = "testing"))]
    pub fn with_max_line(mut self, max_line: usize) -> Self {
        self.max_line = max_line;
        self
    }

    /// Returns the next piece with its offset and the offset just past it. The tail comes last, and only once.
    pub fn next_line(&mut self) -> io::Result<Option<(u64, u64, RawLine<'_>)>> {
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.scanned..self.filled]) {
                let end = self.scanned + at;
                let (offset, mut line) = (self.offset, self.start..end);
                match self.second_record(&line) {
                    Some(second) => {
                        self.advance(second);
                        line.end = second;
                    }
                    None => self.advance(end + 1),
                }
                if line.len() > self.max_line {
                    return Ok(Some((offset, self.offset, RawLine::TooLong { private: opens_private(&self.buffer[line]) })));
                }
                return Ok(Some((offset, self.offset, RawLine::Complete(trim_cr(&self.buffer[line])))));
            }
            self.scanned = self.filled;
            if self.filled - self.start > self.max_line {
                return self.skip_line();
            }
            if self.ended || !self.fill()? {
                self.ended = true;
                let (offset, tail) = (self.offset, self.start..self.filled);
                if let Some(second) = self.second_record(&tail) {
                    self.advance(second);
                    return Ok(Some((offset, self.offset, RawLine::Complete(&self.buffer[tail.start..second]))));
                }
                self.advance(tail.end);
                let some = !tail.is_empty();
                return Ok(some.then(|| (offset, self.offset, RawLine::Tail(&self.buffer[tail]))));
            }
        }
    }

    /// Where in the buffer a second record begins on a line that is not too long.
    fn second_record(&mut self, line: &Range<usize>) -> Option<usize> {
        let may_be = self.glued < MAX_RECORDS_PER_LINE && line.len() <= self.max_line;
        let second = may_be.then(|| json::second_object(&self.buffer[line.clone()])).flatten();
        self.glued = if second.is_some() { self.glued + 1 } else { 0 };
        second.map(|second| line.start + second)
    }

    fn advance(&mut self, to: usize) {
        self.offset += (to - self.start) as u64;
        self.start = to;
        self.scanned = to;
    }

    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.filled -= self.start;
        self.scanned -= self.start;
        self.start = 0;
        // The memory of a long line is released before the next read.
        if self.buffer.len() > 4 * READ_BYTES && self.filled < READ_BYTES {
            self.buffer.truncate(READ_BYTES);
            self.buffer.shrink_to_fit();
        }
        // Most files are small. Doubling keeps the work linear for a line of any length; the buffer never grows beyond the longest allowed
        // line.
        let least = (2 * self.buffer.len()).clamp(FIRST_READ_BYTES, READ_BYTES);
        let want = self.filled.min(self.max_line.saturating_sub(self.filled)).max(least);
        let room = self.filled + want;
        if self.buffer.len() < room {
            self.buffer.reserve_exact(room - self.buffer.len());
            self.buffer.resize(room, 0);
        }
        let got = loop {
            match self.from.read(&mut self.buffer[self.filled..self.filled + want]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.filled += got;
        Ok(got > 0)
    }

    /// Skips the rest of an over-long line, chunk by chunk.
    fn skip_line(&mut self) -> io::Result<Option<(u64, u64, RawLine<'_>)>> {
        let offset = self.offset;
        let mut private = false;
        loop {
            let end = self.filled;
            private |= opens_private(&self.buffer[self.start..end]);
            // A tag may span two chunks.
            self.advance(end.saturating_sub(OVERLAP_BYTES).max(self.start));
            self.scanned = end;
            if !self.fill()? {
                self.ended = true;
                self.advance(self.filled);
                return Ok(Some((offset, offset, RawLine::TooLong { private })));
            }
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.scanned..self.filled]) {
                let end = self.scanned + at;
                private |= opens_private(&self.buffer[self.start..end]);
                self.advance(end + 1);
                return Ok(Some((offset, self.offset, RawLine::TooLong { private })));
            }
        }
    }
}

impl<R> Drop for LineReader<R> {
    fn drop(&mut self) {
        if self.buffer.len() <= 2 * READ_BYTES {
            SPARE.set(mem::take(&mut self.buffer));
        }
    }
}

fn trim_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
