//! Delta reading: lines come once and whole, whatever the cuts at which a file was looked at while it grew.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};

use recall::testing::source::delta::{Checkpoint, LineReader, RawLine, TranscriptLines, open, tail_hash};

/// Where lines are too long to be read.
const MAX_LINE: usize = 200;

pub fn check(data: &[u8]) {
    let Some((count, rest)) = data.split_first() else { return };
    let (cuts, text) = rest.split_at(rest.len().min(usize::from(*count % 8)));
    let whole = lines(text, 0);
    tiles(text, &whole);
    let (mut at, mut grown, mut pieced) = (0, 0, Vec::new());
    for cut in cuts.iter().map(|cut| usize::from(*cut)) {
        grown = (grown + cut).min(text.len());
        // A tail may be half a line: it is left for the next time.
        let read = lines(&text[at..grown], at as u64).into_iter().filter(|(.., line)| line.as_ref().is_none_or(|l| !l.is_tail));
        pieced.extend(read);
        at = pieced.last().map_or(0, |(_, to, _)| *to as usize);
    }
    pieced.extend(lines(&text[at..], at as u64));
    assert_eq!(pieced, whole, "in pieces and in one go");
    if *count >= 248 {
        in_a_file(text, cuts.first().map_or(0, |cut| usize::from(*cut)).min(text.len()));
    }
}

/// From where to where, and the line; `None` for one that is too long.
type Read3 = (u64, u64, Option<Line>);

#[derive(Debug, Clone, PartialEq)]
struct Line {
    bytes: Vec<u8>,
    is_tail: bool,
}

fn lines(bytes: &[u8], offset: u64) -> Vec<Read3> {
    collect(LineReader::new(bytes, offset).with_max_line(MAX_LINE))
}

/// The lines of a file; none is made here.
fn of_file(lines: TranscriptLines) -> LineReader<impl Read> {
    match lines {
        TranscriptLines::Read(lines) => lines,
        TranscriptLines::Made(_) => panic!("a file is read"),
    }
}

fn collect(mut lines: LineReader<impl Read>) -> Vec<Read3> {
    let mut all = Vec::new();
    while let Some((from, to, piece)) = lines.next_line().expect("nothing fails to be read") {
        let line = match piece {
            RawLine::Complete(bytes) => Some(Line { bytes: bytes.to_vec(), is_tail: false }),
            RawLine::Tail(bytes) => Some(Line { bytes: bytes.to_vec(), is_tail: true }),
            RawLine::TooLong { .. } => None,
        };
        // A line that is too long already and has no end yet is left for the next time.
        if from < to {
            all.push((from, to, line));
        }
    }
    all
}

/// The pieces lie side by side, hold what the text holds, and only the last may be without its end.
fn tiles(text: &[u8], pieces: &[Read3]) {
    let mut at = 0;
    for (from, to, line) in pieces {
        assert_eq!(*from, at, "no byte is passed over");
        let bytes = &text[*from as usize..*to as usize];
        match line {
            Some(Line { bytes: line, is_tail: true }) => assert_eq!((line.as_slice(), *to), (bytes, text.len() as u64)),
            Some(line) => assert_eq!(line.bytes, bytes.strip_suffix(b"\r\n").unwrap_or(&bytes[..bytes.len() - 1])),
            None => assert!(bytes.len() > MAX_LINE && bytes.ends_with(b"\n")),
        }
        at = *to;
    }
    let rest = &text[at as usize..];
    assert!(rest.is_empty() || rest.len() > MAX_LINE && !rest.contains(&b'\n'), "{} bytes were lost", rest.len());
}

/// The same through a file that grows, and one that was replaced.
fn in_a_file(text: &[u8], cut: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.jsonl");
    std::fs::write(&path, &text[..cut]).expect("a file");
    let first = open(&path, None).expect("it opens");
    let (head_len, head_hash) = (first.head_len, first.head_hash);
    let read = collect(of_file(first.lines));
    let offset = read.iter().filter(|(.., line)| line.as_ref().is_none_or(|line| !line.is_tail)).map(|(_, to, _)| *to).max();
    let offset = offset.unwrap_or(0);
    let tail = tail_hash(&File::open(&path).expect("it opens"), offset).expect("a hash");
    let checkpoint = Checkpoint { head_len, head_hash, offset, tail_hash: tail };
    OpenOptions::new().append(true).open(&path).expect("it opens").write_all(&text[cut..]).expect("it grows");
    let second = open(&path, Some(&checkpoint)).expect("it opens");
    assert!(!second.replaced);
    let rest = collect(of_file(second.lines));
    assert_eq!(rest, collect(LineReader::new(&text[offset as usize..], offset)));
    if offset > 0 {
        let mut other = text.to_vec();
        other[0] ^= 1;
        std::fs::write(&path, &other).expect("another file");
        let third = open(&path, Some(&checkpoint)).expect("it opens");
        assert!(third.replaced, "another file of this name is read from its start");
        assert_eq!(collect(of_file(third.lines)).first().map_or(0, |(from, ..)| *from), 0);
    }
}
