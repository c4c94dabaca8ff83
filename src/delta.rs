//! Bytes from a cursor to the end of a file, line by line: the only file that seeks.
//!
//! A transcript only grows, as a rule. A cursor is the fingerprint of the file's head and the offset just past the last line that
//! was stored; where the head or the stored end differs or the file is shorter, somebody replaced it and it is read again from the start.
//! Of what lies between only samples are looked at: a few bytes that somebody changes in the middle may go unseen.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};
use rustix::fs::OFlags;

/// How much of a file's start identifies it, in bytes: past the first row, which holds the session's id.
const HEAD: u64 = 4096;
/// The longest line that is read, in bytes. Longer ones (107 MB was reported) hold images or dumps.
pub const MAX_LINE: usize = 16 << 20;
const CHUNK: usize = 256 << 10;
/// More than the start of a tag is long, in bytes.
const OVERLAP: usize = 256;
/// Between the head and the tail of what is stored so many places are looked at as well, of this length in bytes: where much of
/// the middle alone was replaced, one of them tells. A change that falls between two of them is not seen.
const SAMPLES: u64 = 15;
const SAMPLE: usize = 512;

/// Where something private is opened, with each letter and space as it is or in one of JSON's escapes. `None` never comes: the pattern is
/// fixed.
static PRIVATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let spelled = |b: u8| format!(r"(?:{}|\\u00(?:{b:02x}|{:02x}))", b as char, b.to_ascii_uppercase());
    let name: String = b"private".map(spelled).concat();
    let tag = format!(r"(?:<|\\u003c)(?:\s|\\[nrtf]|\\u00(?:20|09|0a|0c|0d))*{name}");
    RegexBuilder::new(&tag).case_insensitive(true).unicode(false).build().ok()
});

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub head_len: u64,
    pub head_hash: [u8; 32],
    pub offset: u64,
    /// Of the bytes right before the offset, and of some between there and the head: a file that was rewritten differs there, as
    /// a rule.
    pub tail_hash: [u8; 32],
}

/// A file opened where its cursor stands.
pub struct Delta {
    pub lines: Lines<File>,
    /// The same file, for looking back.
    pub probe: File,
    /// The cursor's place no longer means anything: what the file held is gone.
    pub replaced: bool,
    pub head_len: u64,
    pub head_hash: [u8; 32],
    /// Bytes read to identify the file.
    pub head_read: u64,
}

/// Opens `path` and seeks to the first byte that is not stored yet.
pub fn open(path: &Path, cursor: Option<&Cursor>) -> io::Result<Delta> {
    let mut file = regular(path)?;
    let meta = file.metadata()?;
    let mut head = Vec::with_capacity(HEAD as usize);
    (&mut file).take(HEAD).read_to_end(&mut head)?;
    let probe = file.try_clone()?;
    let same = |c: &&Cursor| {
        let known = head.get(..c.head_len as usize);
        meta.len() >= c.offset
            && known.is_some_and(|bytes| hash(bytes) == c.head_hash)
            && (tail_hash(&probe, c.offset).is_ok_and(|hash| hash == c.tail_hash)
                // A cursor from before there were samples.
                || tail(&probe, c.offset).is_ok_and(|tail| hash(&tail) == c.tail_hash))
    };
    let start = cursor.filter(same).map_or(0, |c| c.offset);
    file.seek(SeekFrom::Start(start))?;
    Ok(Delta {
        replaced: cursor.is_some_and(|c| c.offset > 0) && start == 0,
        head_len: head.len() as u64,
        head_hash: hash(&head),
        head_read: head.len() as u64,
        lines: Lines::new(file, start),
        probe,
    })
}

/// Opens a regular file. What has taken its place since it was found (a pipe, a device) is refused, and nobody waits for it.
pub fn regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}

/// The whole lines among the last `most` bytes of a file, with what may be half a line at its end.
pub fn last_lines(path: &Path, most: u64) -> io::Result<Lines<File>> {
    let mut file = regular(path)?;
    let start = file.metadata()?.len().saturating_sub(most);
    // From the byte before: where a line begins right at `start`, only its predecessor's newline is skipped.
    file.seek(SeekFrom::Start(start.saturating_sub(1)))?;
    let mut lines = Lines::new(file, start.saturating_sub(1));
    if start > 0 {
        lines.next_piece()?;
    }
    Ok(lines)
}

/// Is something private opened in a file before its last `most` bytes? Looks back no further than `back` bytes; in a longer file it may.
pub fn holds_private_before(path: &Path, most: u64, back: u64) -> io::Result<bool> {
    let file = regular(path)?;
    let end = file.metadata()?.len().saturating_sub(most);
    if end > back {
        return Ok(true);
    }
    let mut chunk = vec![0; CHUNK];
    let mut at = 0;
    while at < end {
        let len = (end - at).min(CHUNK as u64) as usize;
        file.read_exact_at(&mut chunk[..len], at)?;
        if opens_private(&chunk[..len]) {
            return Ok(true);
        }
        // A tag may lie over the edge of two chunks.
        at += if len > OVERLAP && at + (len as u64) < end { len - OVERLAP } else { len } as u64;
    }
    Ok(false)
}

fn opens_private(bytes: &[u8]) -> bool {
    PRIVATE.as_ref().is_none_or(|tag| tag.is_match(bytes))
}

/// A hash of the last bytes before `offset`, and of some between them and the head.
pub fn tail_hash(file: &File, offset: u64) -> io::Result<[u8; 32]> {
    let mut seen = tail(file, offset)?;
    let middle = offset.saturating_sub(2 * HEAD);
    let mut sample = vec![0; (middle.div_ceil(SAMPLES) as usize).min(SAMPLE)];
    for n in (0..SAMPLES).filter(|_| middle > SAMPLES) {
        file.read_exact_at(&mut sample, HEAD + middle / SAMPLES * n)?;
        seen.extend_from_slice(&sample);
    }
    Ok(hash(&seen))
}

fn tail(file: &File, offset: u64) -> io::Result<Vec<u8>> {
    let from = offset.saturating_sub(HEAD);
    let mut tail = vec![0; (offset - from) as usize];
    file.read_exact_at(&mut tail, from)?;
    Ok(tail)
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    *blake3::hash(bytes).as_bytes()
}

/// Splits a stream into lines, holding one at a time.
pub struct Lines<R> {
    from: R,
    buffer: Vec<u8>,
    /// How much of the buffer holds what was read.
    filled: usize,
    /// Where the next line starts in the buffer, and how far the buffer is known to hold no newline.
    start: usize,
    scanned: usize,
    /// The place of `start` in the file.
    offset: u64,
    max_line: usize,
    ended: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'b> {
    /// A line with its newline, which the slice leaves out.
    Line(&'b [u8]),
    /// What follows the last newline: perhaps half a line.
    Tail(&'b [u8]),
    /// A line over the limit, skipped. At the end of the file it may go on: the offset past it is that of its start then.
    TooLong {
        /// Something private is opened in it.
        private: bool,
    },
}

impl<R: Read> Lines<R> {
    pub fn new(from: R, offset: u64) -> Self {
        Self { from, buffer: Vec::new(), filled: 0, start: 0, scanned: 0, offset, max_line: MAX_LINE, ended: false }
    }

    /// Skips lines that are longer than this, in bytes, instead of those longer than [`MAX_LINE`].
    pub fn at_most(self, max_line: usize) -> Self {
        Self { max_line, ..self }
    }

    /// The next piece with its offset and the offset just past it. The tail comes last, and only once.
    pub fn next_piece(&mut self) -> io::Result<Option<(u64, u64, Piece<'_>)>> {
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.scanned..self.filled]) {
                let end = self.scanned + at;
                let (offset, line) = (self.offset, self.start..end);
                self.advance(end + 1);
                if line.len() > self.max_line {
                    return Ok(Some((offset, self.offset, Piece::TooLong { private: opens_private(&self.buffer[line]) })));
                }
                return Ok(Some((offset, self.offset, Piece::Line(trim_cr(&self.buffer[line])))));
            }
            self.scanned = self.filled;
            if self.filled - self.start > self.max_line {
                return self.skip_line();
            }
            if self.ended || !self.fill()? {
                self.ended = true;
                let (offset, tail) = (self.offset, self.start..self.filled);
                self.advance(tail.end);
                let some = !tail.is_empty();
                return Ok(some.then(|| (offset, self.offset, Piece::Tail(&self.buffer[tail]))));
            }
        }
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
        // What held a long line is given back before the next one is read.
        if self.buffer.len() > 4 * CHUNK && self.filled < CHUNK {
            self.buffer.truncate(CHUNK);
            self.buffer.shrink_to_fit();
        }
        // Doubling keeps the work linear for a line of any length; beyond the longest one there is no room.
        let want = self.filled.min(self.max_line.saturating_sub(self.filled)).max(CHUNK);
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

    /// Drops the rest of an over-long line in chunks.
    fn skip_line(&mut self) -> io::Result<Option<(u64, u64, Piece<'_>)>> {
        let offset = self.offset;
        let mut private = false;
        loop {
            let end = self.filled;
            private |= opens_private(&self.buffer[self.start..end]);
            // A tag may lie over the edge of two chunks.
            self.advance(end.saturating_sub(OVERLAP).max(self.start));
            self.scanned = end;
            if !self.fill()? {
                self.ended = true;
                self.advance(self.filled);
                return Ok(Some((offset, offset, Piece::TooLong { private })));
            }
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.scanned..self.filled]) {
                let end = self.scanned + at;
                private |= opens_private(&self.buffer[self.start..end]);
                self.advance(end + 1);
                return Ok(Some((offset, self.offset, Piece::TooLong { private })));
            }
        }
    }
}

fn trim_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Hands out what it holds in reads of the given sizes.
    struct Dribble<'a>(&'a [u8], Vec<usize>);

    impl Read for Dribble<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = self.1.pop().unwrap_or(7).clamp(1, into.len()).min(self.0.len());
            into[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn pieces(from: impl Read, max_line: usize) -> Vec<(u64, u64, String)> {
        let mut lines = Lines::new(from, 0).at_most(max_line);
        let mut all = Vec::new();
        while let Some((from, to, piece)) = lines.next_piece().unwrap() {
            let shown = match piece {
                Piece::Line(l) => format!("line {}", String::from_utf8_lossy(l)),
                Piece::Tail(l) => format!("tail {}", String::from_utf8_lossy(l)),
                Piece::TooLong { private: true } => "too long, private".into(),
                Piece::TooLong { private: false } => "too long".into(),
            };
            all.push((from, to, shown));
        }
        all
    }

    #[test]
    fn an_overlong_line_is_located_and_what_follows_is_read() {
        let text = format!("a\n{}\nb\r\nc", "x".repeat(1000));
        let found = pieces(Dribble(text.as_bytes(), vec![]), 100);
        let shown: Vec<_> = found.iter().map(|(a, b, p)| (*a, *b, p.as_str())).collect();
        assert_eq!(shown, [(0, 2, "line a"), (2, 1003, "too long"), (1003, 1006, "line b"), (1006, 1007, "tail c")]);
    }

    #[test]
    fn an_overlong_line_without_an_end_is_told_and_waits() {
        let text = format!("a\n{}", "x".repeat(1000));
        let found = pieces(Dribble(text.as_bytes(), vec![]), 100);
        assert_eq!(found, [(0, 2, "line a".into()), (2, 2, "too long".into())]);
    }

    #[test]
    fn what_is_opened_as_private_in_an_overlong_line_is_seen_wherever_it_stands() {
        for tag in
            ["<private>", "\\u003cPrivate", "< \\nprivate ", "<\\u0070r\\u0049vate>", "\\u003C\\u0020\\f\\u000Apriv\\u0041te>"]
        {
            for before in (0..1300).step_by(137) {
                for (reads, end) in [(vec![], "\n"), (vec![700; 9], "\n"), (vec![], "")] {
                    let text = format!("{}{tag}{}{end}b\n", "x".repeat(before), "y".repeat(1300 - before));
                    let found = pieces(Dribble(text.as_bytes(), reads), 100);
                    assert!(found[0].2 == "too long, private", "{tag} at {before}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn a_pipe_that_has_taken_a_files_place_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let refused: [io::Result<()>; 3] =
            [open(&path, None).map(drop), last_lines(&path, 100).map(drop), holds_private_before(&path, 0, 100).map(drop)];
        for refused in refused {
            assert_eq!(refused.unwrap_err().to_string(), "not a regular file");
        }
        assert!(open(Path::new("/dev/zero"), None).is_err() && open(folder.path(), None).is_err());
    }

    /// A file of this text, and a cursor at its end.
    fn read_to_its_end(path: &Path, text: &[u8]) -> Cursor {
        std::fs::write(path, text).unwrap();
        let delta = open(path, None).unwrap();
        let offset = text.len() as u64;
        let tail_hash = tail_hash(&delta.probe, offset).unwrap();
        Cursor { head_len: delta.head_len, head_hash: delta.head_hash, offset, tail_hash }
    }

    #[test]
    fn a_file_whose_middle_alone_was_replaced_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        for size in [8_300, 9_000, 20_000, 100_000, 3 << 20] {
            let text = vec![b'a'; size];
            let cursor = read_to_its_end(&path, &text);
            assert!(!open(&path, Some(&cursor)).unwrap().replaced, "{size}: it is the same");
            let mut other = text.clone();
            other[HEAD as usize..size - HEAD as usize].fill(b'b');
            std::fs::write(&path, other).unwrap();
            assert!(open(&path, Some(&cursor)).unwrap().replaced, "{size}");
        }
    }

    #[test]
    fn a_cursor_from_before_there_were_samples_still_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let text = vec![b'a'; 1 << 20];
        let cursor = read_to_its_end(&path, &text);
        let older = Cursor { tail_hash: hash(&text[text.len() - HEAD as usize..]), ..cursor };
        assert!(!open(&path, Some(&older)).unwrap().replaced);
    }

    proptest! {
        #[test]
        fn pieces_are_the_lines_whatever_the_reads(text in "[ab\n]{0,300}", reads in prop::collection::vec(1usize..40, 0..60)) {
            let found = pieces(Dribble(text.as_bytes(), reads), 1 << 20);
            let mut expected = Vec::new();
            let mut at = 0;
            for part in text.split_inclusive('\n') {
                let kind = if part.ends_with('\n') { "line" } else { "tail" };
                expected.push((at, at + part.len() as u64, format!("{kind} {}", part.trim_end_matches('\n'))));
                at += part.len() as u64;
            }
            prop_assert_eq!(found, expected);
        }
    }
}
