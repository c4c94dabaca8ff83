use super::lines::MAX_LINE_BYTES;
use super::*;
use proptest::prelude::*;

/// Returns its bytes in reads of the given sizes.
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
    let mut lines = LineReader::new(from, 0).with_max_line(max_line);
    let mut all = Vec::new();
    while let Some((from, to, piece)) = lines.next_line().unwrap() {
        let shown = match piece {
            RawLine::Complete(l) => format!("line {}", String::from_utf8_lossy(l)),
            RawLine::Tail(l) => format!("tail {}", String::from_utf8_lossy(l)),
            RawLine::TooLong { private: true } => "too long, private".into(),
            RawLine::TooLong { private: false } => "too long".into(),
        };
        all.push((from, to, shown));
    }
    all
}

#[test]
fn of_a_stream_that_was_read_before_nothing_is_left() {
    let long = "x".repeat(100_000);
    for text in [format!("{long}\n{long}\n{long}"), "a\nb".to_owned(), String::new(), format!("{long}\n"), "c".to_owned()] {
        let mut expected: Vec<String> = text.split_inclusive('\n').map(|line| format!("line {}", line.trim_end())).collect();
        if let Some(last) = expected.last_mut().filter(|_| !text.ends_with('\n')) {
            *last = last.replacen("line", "tail", 1);
        }
        let read: Vec<String> = pieces(text.as_bytes(), MAX_LINE_BYTES).into_iter().map(|(.., piece)| piece).collect();
        assert!(read == expected, "of {} bytes", text.len());
    }
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
    for tag in ["<private>", "\\u003cPrivate", "< \\nprivate ", "<\\u0070r\\u0049vate>", "\\u003C\\u0020\\f\\u000Apriv\\u0041te>"] {
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

/// Creates a file with this text, and a checkpoint at its end.
fn read_to_its_end(path: &Path, text: &[u8]) -> Checkpoint {
    std::fs::write(path, text).unwrap();
    let delta = open(path, None).unwrap();
    let offset = text.len() as u64;
    let tail_hash = tail_hash(delta.probe.as_ref().unwrap(), offset).unwrap();
    Checkpoint { head_len: delta.head_len, head_hash: delta.head_hash, offset, tail_hash }
}

#[test]
fn a_file_whose_middle_alone_was_replaced_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    for size in [8_300, 9_000, 20_000, 100_000, 3 << 20] {
        let text = vec![b'a'; size];
        let checkpoint = read_to_its_end(&path, &text);
        assert!(!open(&path, Some(&checkpoint)).unwrap().replaced, "{size}: it is the same");
        let mut other = text.clone();
        other[HEAD_BYTES as usize..size - HEAD_BYTES as usize].fill(b'b');
        std::fs::write(&path, other).unwrap();
        assert!(open(&path, Some(&checkpoint)).unwrap().replaced, "{size}");
    }
}

#[test]
fn the_checkpoint_of_a_short_file_is_that_of_its_bytes_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    for len in [0, 1, 100, HEAD_BYTES - 1, HEAD_BYTES, HEAD_BYTES + 1, 3 * HEAD_BYTES] {
        std::fs::write(&path, vec![b'x'; len as usize]).unwrap();
        let file = File::open(&path).unwrap();
        let opened = open(&path, None).unwrap();
        assert_eq!(opened.checkpoint_at(len).unwrap().tail_hash, tail_hash(&file, len).unwrap(), "{len}");
    }
}

#[test]
fn a_cursor_from_before_there_were_samples_still_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    let text = vec![b'a'; 1 << 20];
    let checkpoint = read_to_its_end(&path, &text);
    let older = Checkpoint { tail_hash: hash(&text[text.len() - HEAD_BYTES as usize..]), ..checkpoint };
    assert!(!open(&path, Some(&older)).unwrap().replaced);
}

#[test]
fn rows_on_one_line_come_one_by_one() {
    let text = "{\"a\":1}{\"b\":2}{\"c\":3}\r\n{\"d\":\"}{\"}\n{\"e\":5}{\"f\":";
    for reads in [vec![], vec![1; 100], vec![500]] {
        let found = pieces(Dribble(text.as_bytes(), reads), 100);
        let shown: Vec<_> = found.iter().map(|(a, b, p)| (*a, *b, p.as_str())).collect();
        let expected = [
            (0, 7, "line {\"a\":1}"),
            (7, 14, "line {\"b\":2}"),
            (14, 23, "line {\"c\":3}"),
            (23, 34, "line {\"d\":\"}{\"}"),
            (34, 41, "line {\"e\":5}"),
            (41, 46, "tail {\"f\":"),
        ];
        assert_eq!(shown, expected, "the half of one waits");
    }
}

#[test]
fn a_line_of_very_many_rows_is_not_gone_through_for_each() {
    let text = format!("{}\nb\n", "{\"a\":1}".repeat(500_000));
    let found = pieces(text.as_bytes(), MAX_LINE_BYTES);
    assert_eq!(found.len(), 18, "sixteen, the rest of the line, and the next");
    assert_eq!(found[17].2, "line b");
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
