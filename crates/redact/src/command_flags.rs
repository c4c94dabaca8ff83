//! Passwords on a command line that no name announces: `curl -u user:password`, `mysql -psecret`. The commands are in `formats.toml`.

use std::ops::Range;

use super::bytes::{self, BLANK, ByteSet, URL64, byte_at, byte_before};
use super::candidate::{is_dotted_words, is_secret};
use super::harmless::{is_path_or_url, is_placeholder};
use super::marks::Finding;
use super::randomness::has_digit;
use super::secret_names::SecretKind;
use super::syntax::{Command, Flag, FlagValue};
use super::tokens::is_token_boundary;
use super::value::{ValueEnd, bare_value, opening_quote, quoted_end};

const MAX_BYTES: usize = 600;
/// The most words that are searched for one that looks like a password.
const MAX_WORDS: usize = 8;

impl Command {
    /// Adds the secrets of the command line whose name stands at `hit`, and returns the end of that line.
    pub(crate) fn find(&self, text: &[u8], hit: Range<usize>, found: &mut Vec<Finding>) -> usize {
        let is_within = URL64.has(byte_before(text, hit.start)) && byte_before(text, hit.start) != b'n';
        if is_within && !is_token_boundary(text, hit.start) || !matches!(byte_at(text, hit.end), b' ' | b'\t' | b'.' | b'\\') {
            return hit.start;
        }
        let mut offset = hit.end;
        let end = line_end(text, offset);
        let first = bytes::run_end(text, offset, BLANK, MAX_BYTES);
        while offset < end {
            offset = bytes::run_end(text, offset, BLANK, MAX_BYTES);
            let may_follow = |flag: &&Flag| offset == first || !flag.name.is_empty() || flag.value == FlagValue::Pairs;
            for flag in self.flags.iter().filter(may_follow) {
                let range = flag.secret(text, offset).filter(|range| range.start < end && flag.needs.is_met(&text[range.clone()]));
                found.extend(range.map(|range| Finding { rule: flag.rule.clone(), range }));
            }
            offset = bytes::find_byte(text, offset + 1, end.saturating_sub(offset + 1), |b| b == b' ').0;
        }
        end
    }
}

/// The end of a command: the end of its line, unless a backslash joins the next one, or a `|` or `;`.
fn line_end(text: &[u8], start: usize) -> usize {
    let mut offset = start;
    let limit = text.len().min(start + MAX_BYTES);
    loop {
        let (stop, found) = bytes::find_byte(text, offset, limit - offset, |b| matches!(b, b'\n' | b'|' | b';'));
        if !found || byte_at(text, stop) != b'\n' || byte_before(text, stop) != b'\\' {
            return stop;
        }
        offset = stop + 1;
    }
}

impl Flag {
    /// The secret behind this flag, if the flag is at `place`.
    fn secret(&self, text: &[u8], offset: usize) -> Option<Range<usize>> {
        let (flag, form) = (&*self.name, &self.value);
        let after = text[offset..].starts_with(flag.as_bytes()).then_some(offset + flag.len())?;
        let start = match form {
            FlagValue::Glued => after,
            FlagValue::Last => after_names(text, after)?,
            FlagValue::After(count) => after_words(text, after, *count),
            FlagValue::Any => return any(text, after),
            _ => bytes::run_end(text, after, ByteSet::of(" \t="), 4),
        };
        if start == after && *form != FlagValue::Glued && !flag.is_empty() && !matches!(form, FlagValue::Pair(b':')) {
            return None;
        }
        let range = match opening_quote(text, start) {
            Some((quote, inside)) => inside..quoted_end(text, inside, quote, MAX_BYTES)?,
            None if *form == FlagValue::Quoted => return None,
            None => bare_value(text, start, ValueEnd::Whitespace, MAX_BYTES),
        };
        let range = match form {
            FlagValue::Quoted if byte_before(text, range.start) != b'\'' && !has_digit(&text[range.clone()]) => return None,
            FlagValue::Last if byte_at(text, range.start) == b'-' => return None,
            FlagValue::Pair(b'/') => oracle_password(text, range)?,
            FlagValue::Pairs => range.start + text[range.clone()].iter().position(|b| *b == b'=')? + 1..range.end,
            FlagValue::Pair(sign) => range.start + text[range.clone()].iter().position(|b| b == sign)? + 1..range.end,
            _ => range,
        };
        let value = &text[range.clone()];
        let is_flag = value.starts_with(b"-") || *form == FlagValue::Glued && value.len() < 3;
        let is_port = value.iter().all(u8::is_ascii_digit) && value.len() < 6;
        let is_generated = !matches!(form, FlagValue::Pair(b'=' | b'/') | FlagValue::Pairs) || has_digit(value) && value.len() >= 8;
        let is_secret =
            value.len() >= 3 && !is_flag && !is_port && is_generated && !is_placeholder(value) && !is_path_or_url(value);
        (is_secret && !value.starts_with(b"$")).then_some(range)
    }
}

/// `scott/password@db`, `userid=scott/"password"`
fn oracle_password(text: &[u8], range: Range<usize>) -> Option<Range<usize>> {
    let slash = range.start + text[range.clone()].iter().position(|b| *b == b'/')?;
    let start = bytes::run_end(text, slash + 1, ByteSet::of("\"'\\"), 2);
    let stop = bytes::find_byte(text, start, 128, |b| b <= b' ' || b"\"'@\\".contains(&b)).0;
    (slash > range.start && stop > start && !text[start..stop].contains(&b'/')).then_some(start..stop)
}

/// The offset behind `count` words and the blanks after them.
fn after_words(text: &[u8], start: usize, count: usize) -> usize {
    (0..count).fold(bytes::run_end(text, start, BLANK, 8), |offset, _| {
        bytes::run_end(text, bytes::find_byte(text, offset, 200, |b| b <= b' ').0, BLANK, 8)
    })
}

/// The first word of the line that looks like a password.
fn any(text: &[u8], start: usize) -> Option<Range<usize>> {
    let end = line_end(text, start);
    let mut offset = start;
    for _ in 0..MAX_WORDS {
        offset = bytes::run_end(text, offset, ByteSet::of(" \t="), 8);
        if offset >= end {
            return None;
        }
        let range = match opening_quote(text, offset) {
            Some((quote, inside)) => inside..quoted_end(text, inside, quote, MAX_BYTES)?,
            None => bare_value(text, offset, ValueEnd::Whitespace, MAX_BYTES),
        };
        let value = &text[range.clone()];
        let is_name = value.starts_with(b"/") || value.starts_with(b"-");
        if !is_name && (is_secret(value, SecretKind::Password, true) || is_dotted_words(value)) {
            return Some(range);
        }
        offset = range.end.max(offset) + 1;
    }
    None
}

/// Where the password of `-b file user` or `-nb user` begins. `letters` is the offset of the flag's letters.
fn after_names(text: &[u8], letters: usize) -> Option<usize> {
    let end = bytes::run_end(text, letters, ByteSet::of("a-zA-Z"), 8);
    let names = if text[letters..end].contains(&b'n') { 1 } else { 2 };
    let mut offset = text[letters..end].contains(&b'b').then_some(end)?;
    for _ in 0..names {
        let start = bytes::run_end(text, offset, BLANK, 8);
        offset = bytes::find_byte(text, start, 200, |b| b <= b' ').0;
    }
    Some(bytes::run_end(text, offset, BLANK, 8))
}
