//! Finds output lines that state the result of a test run, a build, a commit or a push.
//!
//! Most bytes of a transcript are outputs, and few of them hold such a line, so the encoded JSON is checked before it is decoded.

use crate::privacy::may_be_tag;
use crate::shell::{self, without_signs};
use crate::source::json::Raw;
use text::byte_finder::{Block, ByteFinder, ByteKind, Bytes, bits};
use text::clean::is_invisible;

const VERDICT_STARTS: [&str; 13] = [
    "test result:", "ok  \t", "fail\t", "failed (", "ok (", "--- fail", "build succeeded", "build failed", "compiled successfully",
    "all checks passed", "no issues found", "failed to compile", "would reformat",
];
const RESULT_WORDS: [&str; 11] =
    ["passed", "failed", "failing", "passing", "errors", "error", "warnings", "issues", "problems", "tests", "skipped"];

/// Does an output line state the result of a test run, a build, a commit or a push?
pub(super) fn is_verdict(line: &str) -> bool {
    let line = line.trim();
    // Printed by Python's unittest on success.
    line == "OK" || (4..=400).contains(&line.len()) && reads_like_verdict(line)
}

/// May a line be a verdict once it is sanitized, which makes it shorter?
pub(super) fn may_be_verdict(line: &str) -> bool {
    let line = line.trim();
    line == "OK" || reads_like_verdict(line)
}

fn reads_like_verdict(line: &str) -> bool {
    is_commit(line) || starts_like_verdict(line) || counts_results(line)
}

fn starts_like_verdict(line: &str) -> bool {
    // The first letters of what follows: most lines begin with none of them.
    if !line.bytes().next().is_some_and(|first| b"tof-bcanwph".contains(&first.to_ascii_lowercase())) {
        return false;
    }
    VERDICT_STARTS.iter().any(|start| starts_ignoring_case(line, start))
        || matches!(line, "FAILED" | "PASSED" | "failed" | "passed")
        || starts_ignoring_case(line, "ok ") && line.contains('/')
        || line.starts_with("http") && line.contains("/pull/")
}

/// Ignoring case.
fn starts_ignoring_case(text: &str, with: &str) -> bool {
    let (text, with) = (text.as_bytes(), with.as_bytes());
    text.first().map(u8::to_ascii_lowercase) == with.first().map(u8::to_ascii_lowercase)
        && text.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with))
}

/// `12 passed`, `3 errors`: a number before a word for results.
fn counts_results(line: &str) -> bool {
    let is_result = |rest: &str| {
        let word = rest.trim_start();
        word.len() < rest.len() && begins_with_result(word)
    };
    let bytes = line.as_bytes();
    let ends_number = |at: usize| bytes[at - 1].is_ascii_digit() && !bytes[at].is_ascii_graphic();
    (1..bytes.len()).any(|at| ends_number(at) && is_result(&line[at..]))
}

fn begins_with_result(text: &str) -> bool {
    // The first letters of these words: most numbers stand before others.
    let first = text.bytes().next().map(|first| first.to_ascii_lowercase());
    matches!(first, Some(b'p' | b'f' | b'e' | b'w' | b'i' | b't' | b's'))
        && RESULT_WORDS.iter().any(|result| starts_ignoring_case(text, result))
}

/// `[branch abc1234] message`, as git prints after a commit.
fn is_commit(line: &str) -> bool {
    let Some((head, _)) = line.strip_prefix('[').and_then(|l| l.split_once("] ")) else { return false };
    head.rsplit(' ').next().is_some_and(|hash| (7..=40).contains(&hash.len()) && hash.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// May a line of this JSON string be a verdict once it is decoded and sanitized? Errs on the side of yes: for unusual escapes, and
/// where removing something would join its surroundings. The length of a line does not matter, as sanitizing shortens it.
pub(super) fn may_hold_verdict(string: Raw<'_>) -> bool {
    string.written().tells(is_in_quoted::<false>)
}

/// The same, or may a line tell how a check ended?
pub(super) fn may_hold_result(string: Raw<'_>) -> bool {
    string.written().tells(|quoted| holds_found(quoted) || is_in_quoted::<true>(quoted))
}

/// `Found 4`
fn holds_found(quoted: &str) -> bool {
    const FOUND: &str = "Found";
    memchr::memmem::find_iter(quoted.as_bytes(), FOUND).any(|at| !quoted.as_bytes()[at + FOUND.len()].is_ascii_alphanumeric())
}

fn is_in_quoted<const OR_RESULT: bool>(quoted: &str) -> bool {
    let text = before_reminder(&quoted[1..quoted.len() - 1]);
    let bytes = text.as_bytes();
    let mut specials = ByteFinder::<Special<OR_RESULT>>::new(bytes);
    let mut at = 0;
    let may_begin = |line: &str| may_begin_verdict(line) || OR_RESULT && may_begin_result(line);
    let mut doubt = may_begin(text);
    while !doubt && let Some(found) = specials.next(at) {
        let rest = &text[found..];
        at = found + 1;
        match bytes[found] {
            b'0'..=b'9' => {
                doubt = may_be_result(&rest[1..]) || OR_RESULT && !begins_with_letter(&rest[1..]) && may_be_counted(&rest[1..]);
            }
            b'<' => doubt = may_be_tag(&rest[1..]),
            b'\\' => {
                at += 1;
                match bytes.get(found + 1) {
                    Some(b'n') => doubt = may_begin(&rest[2..]),
                    Some(b't' | b'"' | b'\\' | b'/') => {}
                    _ => doubt = true,
                }
            }
            _ => {
                let c = rest.chars().next().unwrap_or_default();
                doubt = c.is_control() || is_invisible(c);
                at = found + c.len_utf8();
            }
        }
    }
    doubt
}

/// The text without what the client added at its end for the model, which the sanitizer removes as a whole. Nothing in that may go by itself, or be
/// spelled as an escape: it may then end earlier.
fn before_reminder(json: &str) -> &str {
    const OPENS: &str = "<system-reminder>";
    const CLOSES: &str = "</system-reminder>";
    let parts = json.trim_end_matches("\\n").strip_suffix(CLOSES).and_then(|rest| rest.rsplit_once(OPENS));
    parts.filter(|(_, added)| !added.contains(CLOSES) && is_plain(added)).map_or(json, |(before, _)| before)
}

/// Of ASCII, with no other escapes than those of line ends, tabs, quotes and backslashes.
fn is_plain(json: &str) -> bool {
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        let plain = byte < 0x7f && (byte != b'\\' || matches!(bytes.next(), Some(b'n' | b't' | b'"' | b'\\')));
        if !plain {
            return false;
        }
    }
    true
}

/// The text after leading white space, JSON escapes included.
fn after_space(json: &str) -> &str {
    let mut rest = json;
    loop {
        let bytes = rest.as_bytes();
        rest = match (bytes.first(), bytes.get(1)) {
            (Some(b' '), _) => &rest[1..],
            (Some(b'\\'), Some(b't' | b'n')) => &rest[2..],
            (Some(0x80..), _) if rest.starts_with(char::is_whitespace) => rest.trim_start(),
            _ => return rest,
        };
    }
}

/// May a verdict begin at this start of a line?
fn may_begin_verdict(json: &str) -> bool {
    let line = after_space(json);
    match line.bytes().next().map(|b| b.to_ascii_lowercase()) {
        Some(b'[') => is_commit(line.split_once("\\n").map_or(line, |(line, _)| line)),
        // Searches beyond this line: what looks like its end may be an escaped backslash and a letter.
        Some(b'h') => starts_ignoring_case(line, "http") && line.contains("pull"),
        Some(first @ (b't' | b'o' | b'f' | b'-' | b'b' | b'c' | b'a' | b'n' | b'w' | b'p')) => {
            let may_start = |with: &str| with.as_bytes()[0] == first && starts_ignoring_case(line, with.trim_end());
            VERDICT_STARTS.into_iter().chain(["failed", "passed"]).any(may_start)
        }
        _ => false,
    }
}

/// Is a number followed by white space and a word for results?
fn may_be_result(json: &str) -> bool {
    let word = after_space(json);
    word.len() < json.len() && begins_with_result(word)
}

/// May this start of a line tell how a check ended?
fn may_begin_result(json: &str) -> bool {
    let mut line = json;
    loop {
        let rest = without_signs(after_space(line));
        if rest.len() == line.len() {
            return shell::may_begin_result(line);
        }
        line = rest;
    }
}

/// Is a number followed by a word that a check counts, behind anything but letters and digits?
fn may_be_counted(json: &str) -> bool {
    let mut rest = json;
    while let Some(c) = rest.chars().next() {
        rest = match (c, rest.as_bytes().get(1)) {
            ('\\', Some(b't' | b'"' | b'\\' | b'/')) => &rest[2..],
            ('\\', next) => return next != Some(&b'n'),
            _ if c.is_alphanumeric() => return shell::may_be_counted(rest),
            _ => &rest[c.len_utf8()..],
        };
    }
    false
}

fn begins_with_letter(json: &str) -> bool {
    json.bytes().next().is_some_and(|next| next.is_ascii_alphanumeric())
}

/// Escapes, `<`, bytes beyond ASCII, and digits before white space; where signs may stand between a number and its word, before anything but a
/// letter or a digit. The last byte of a block counts if it is a digit.
struct Special<const SIGNS_BETWEEN: bool>;

impl<const SIGNS_BETWEEN: bool> ByteKind for Special<SIGNS_BETWEEN> {
    #[inline]
    fn bits_in(block: &Block) -> u64 {
        let special = bits(block, |bytes| bytes.are(b'\\') | bytes.are(b'<') | bytes.are_within(0x7f, 0xff));
        let digits = bits(block, |bytes| bytes.are_within(b'0', b'9'));
        let letters = |bytes: Bytes| bytes.are_within(b'0', b'9') | bytes.are_within(b'A', b'Z') | bytes.are_within(b'a', b'z');
        let ends = match SIGNS_BETWEEN {
            true => !bits(block, letters),
            false => special | bits(block, |bytes| bytes.are(b' ')),
        };
        special | digits & (ends >> 1 | 1 << 63)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_tell(json: &str) -> bool {
        may_hold_verdict(Raw::of(json).expect("a string of JSON"))
    }

    #[test]
    fn what_may_tell_a_result_is_seen_as_it_stands() {
        for telling in [
            r#""ok""#,
            r#"" \n\tFAILED""#,
            r#""x\n12 passed""#,
            r#""x 12\n\tErrors""#,
            "\"12\u{a0}failing\"",
            "\"x 12\u{2003} \u{3000}failing\"",
            r#""a\\\nhttp://x\\new/pull/1""#,
            r#""https:\/\/x\/pull\/1""#,
            r#""a\n[main abc1234] x""#,
            r#""[a \"b\" 0123456789] x""#,
            r#""a\r\n""#,
            r#""\u001b[0m""#,
            r#""a < \/ Private>b""#,
            r#""a<\n\/system-reminder>b""#,
            r#""a<system-reminder>b<\/system-reminder>1 passed</system-reminder>""#,
            r#""a<system-reminder>b</system\u200b-reminder>1 passed</system-reminder>""#,
            r#""<system-reminder>b</system-reminder>\\n""#,
            r#""1 passed<system-reminder>b</system-reminder>""#,
            r#""a<private><system-reminder>b</system-reminder>""#,
            r#""  \n  --- fail""#,
            r#""in an unusual way: \u2192""#,
        ] {
            assert!(may_tell(telling), "{telling}");
        }
        for mute in [
            r#""""#,
            r#""12passed 3 x""#,
            r#""x failed""#,
            r#""a\\nfailed""#,
            r#""a\\rb \\d+ C:\\ux""#,
            r#""http://x\nsee above""#,
            r#""[main abc123] x""#,
            r#""a\n\n<system-reminder>\n12 passed \"x\" <private>\n</system-reminder>\n\n""#,
            r#""a <b> </pre> < x é → 日本 ✓ 12→x „x“ 12… \u{a0}x""#,
        ] {
            assert!(!may_tell(&mute.replace("\\u{a0}", "\u{a0}")), "{mute}");
        }
    }

    #[test]
    fn whatever_goes_raises_doubt_wherever_it_stands() {
        for c in '\x7f'..=char::MAX {
            let goes = c.is_control() || is_invisible(c);
            let before = c as usize % 64;
            assert_eq!(may_tell(&format!("\"{}{c}x\"", "y".repeat(before))), goes, "{c:?} behind {before}");
        }
    }

    #[test]
    fn a_number_is_seen_wherever_it_stands() {
        for before in 0..96 {
            for after in [0, 1, 32, 64] {
                let (y, z) = ("y".repeat(before), "z".repeat(after));
                assert!(may_tell(&format!("\"{y}1 tests{z}\"")), "{before} {after}");
                assert!(!may_tell(&format!("\"{y}1 test{z}\"")), "{before} {after}");
            }
        }
    }
}
