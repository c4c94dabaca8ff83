//! Seed phrases of wallets, and recovery codes of accounts.

use std::ops::Range;

use super::bytes::{self, BLANK, ByteSet, LOWER, byte_at, byte_before};
use super::line_wrap::{line_break, skip_line_prefix};

/// Words that announce a seed phrase.
pub(crate) const SEEDS: [&str; 9] =
    ["mnemonic", "seed", "recovery phrase", "backup phrase", "secret phrase", "wallet", "12 words", "24 words", "words down"];
pub(crate) const CODES: [&str; 8] = [
    "recovery code", "recovery_code", "recoverycode", "backup code", "backup_code", "backupcode", "scratch code",
    "wiederherstellungscode",
];
/// How far away the first word may be, and the least words that are taken: one less than the twelve of the shortest phrases.
const REACH_BYTES: usize = 48;
const MIN_WORDS: usize = 11;
const MAX_WORDS: usize = 26;
/// The most codes of a list: services give ten or sixteen.
const MAX_CODES: usize = 20;
const SEPARATORS: ByteSet = ByteSet::of(" \t,\"'`|");

/// The words behind the keyword at `hit`, as one range.
pub(crate) fn seed(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let end = hit.end;
    if byte_before(text, hit.start).is_ascii_alphanumeric() && !text[..hit.start].ends_with(b"\\n") {
        return None;
    }
    let stop = text.len().min(end + REACH_BYTES);
    let mut start = end;
    while start < stop {
        let word = bytes::run_end(text, start, ByteSet::of("a-z"), 12);
        let range = (3..=8).contains(&(word - start)).then(|| words(text, start)).flatten();
        if range.is_some() {
            return range;
        }
        start = next_start(text, word.max(start + 1), stop);
    }
    None
}

/// The start of the next run of lower-case letters.
fn next_start(text: &[u8], from: usize, stop: usize) -> usize {
    bytes::find_byte(text, from, stop.saturating_sub(from), |b| b.is_ascii_lowercase()).0
}

/// The list of words from `start`: three to eight lower-case letters each, none that joins sentences.
fn words(text: &[u8], start: usize) -> Option<Range<usize>> {
    const JOINING: [&[u8]; 12] =
        [b"the", b"and", b"for", b"are", b"was", b"your", b"not", b"but", b"from", b"which", b"has", b"into"];
    let (mut count, mut end, mut offset) = (0, start, start);
    while count < MAX_WORDS {
        let word = bytes::run_end(text, offset, ByteSet::of("a-z"), 12);
        if !(3..=8).contains(&(word - offset)) || JOINING.contains(&&text[offset..word]) {
            break;
        }
        (count, end) = (count + 1, word);
        let Some(next) = skip_separator(text, word) else { break };
        offset = next;
    }
    (count >= MIN_WORDS).then_some(start..end)
}

/// The offset behind blanks, commas and quotes, or a newline and a number.
fn skip_separator(text: &[u8], end: usize) -> Option<usize> {
    let mut offset = bytes::run_end(text, end, SEPARATORS, 6);
    if let Some((_, next)) = line_break(text, offset) {
        offset = next;
    }
    let number = bytes::run_end(text, offset, ByteSet::of("0-9"), 2);
    let dot = bytes::run_end(text, number, ByteSet::of(".):"), 1);
    let offset = if number > offset && dot > number { bytes::run_end(text, dot, BLANK, 4) } else { offset };
    let offset = bytes::run_end(text, offset, ByteSet::of("\"' -"), 4);
    (offset > end).then_some(offset)
}

/// The codes behind the keyword that ends at `end`, as one range.
pub(crate) fn codes(text: &[u8], end: usize) -> Option<Range<usize>> {
    const SIGNS: ByteSet = ByteSet::of(" \t,\"'`:=[]{}()*|s-");
    let mut offset = end;
    let mut range: Option<Range<usize>> = None;
    for _ in 0..MAX_CODES {
        let start = skip(text, offset, SIGNS);
        let code = bytes::run_end(text, start, ByteSet::of("a-zA-Z0-9-"), 40);
        let Some(code) = is_code(&text[start..code]).then_some(code).or_else(|| end_of_two(text, start..code)) else { break };
        range = Some(range.map_or(start, |r| r.start)..code);
        offset = code;
    }
    range
}

/// `3396 8283`: the end of the second of two groups that end the line.
fn end_of_two(text: &[u8], group: Range<usize>) -> Option<usize> {
    let len = group.len();
    let end = bytes::run_end(text, group.end + 1, LOWER, len + 1);
    let is_pair = (4..=6).contains(&len) && byte_at(text, group.end) == b' ' && end == group.end + 1 + len;
    let is_plain = || text[group.clone()].iter().all(|b| LOWER.has(*b));
    let digits = || text[group.start..end].iter().filter(|b| b.is_ascii_digit()).count();
    (is_pair && b"\n\r\\,\0".contains(&byte_at(text, end)) && is_plain() && digits() > 1).then_some(end)
}

/// The offset behind `signs` and up to two newlines.
fn skip(text: &[u8], offset: usize, signs: ByteSet) -> usize {
    let mut offset = bytes::run_end(text, offset, signs, 16);
    for _ in 0..2 {
        let Some((_, next)) = line_break(text, offset) else { break };
        offset = bytes::run_end(text, skip_line_prefix(text, next).max(next), signs, 16);
    }
    let number = bytes::run_end(text, offset, ByteSet::of("0-9"), 2);
    let dot = bytes::run_end(text, number, ByteSet::of(".)"), 1);
    if number > offset && dot > number && byte_at(text, dot) == b' ' { dot + 1 } else { offset }
}

/// `k3x9a-8dj2q`, `84629173`, `abcd-efgh`
fn is_code(code: &[u8]) -> bool {
    let digits = code.iter().filter(|b| b.is_ascii_digit()).count();
    let is_plain = code.iter().all(|b| LOWER.has(*b) || b.is_ascii_uppercase() || *b == b'-');
    (6..=40).contains(&code.len())
        && is_plain
        && digits >= if code.contains(&b'-') { 1 } else { 2 }
        && !code.starts_with(b"-")
        && !code.ends_with(b"-")
        && !is_date(code)
}

fn is_date(code: &[u8]) -> bool {
    code.len() == 10 && code[4] == b'-' && code[7] == b'-'
}
