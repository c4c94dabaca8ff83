//! HTTP headers: `Authorization: …`, `Cookie: …`, and `Bearer …` anywhere.

use std::ops::Range;

use super::bytes::{self, BLANK, ByteSet, WORD, byte_at, byte_before};
use super::harmless::{is_code, is_path_or_url, is_placeholder};
use super::line_wrap::{LineBreak, line_break};
use super::randomness::{has_digit, is_random};
use super::value::quote_at;

pub(crate) const AUTHORIZATION: &str = "authorization";
pub(crate) const COOKIE: &str = "cookie";
pub(crate) const BEARER: &str = "bearer ";
pub(crate) const BASIC: &str = "basic ";
/// The most bytes of a value, and of a value inside another one.
const MAX_BYTES: usize = 4096;
const MAX_NESTED_BYTES: usize = 256;

/// The most bytes to read from `start`. `seen` is how far values have been read.
fn longest(seen: usize, start: usize) -> usize {
    if start < seen { MAX_NESTED_BYTES } else { MAX_BYTES }
}

/// The start of a header's value: behind the name's closing quote, the separator, blanks and the value's quote.
fn value_start(text: &[u8], name_end: usize) -> Option<usize> {
    let skip_quote = |offset: usize| quote_at(text, offset).map_or(offset, |(_, after)| after);
    let closed = skip_quote(name_end);
    let mut offset = bytes::run_end(text, closed, ByteSet::of("] \t"), 8);
    if !(matches!(byte_at(text, offset), b':' | b'=') || byte_at(text, offset) == b',' && closed > name_end) {
        return None;
    }
    offset = bytes::run_end(text, offset + 1, ByteSet::of("=> \t"), 8);
    offset = skip_quote(offset);
    Some(bytes::run_end(text, offset, BLANK, 8))
}

/// The credentials of an `Authorization` header whose name ends at `name_end`.
pub(crate) fn authorization(text: &[u8], name_end: usize, seen: &mut usize) -> Option<Range<usize>> {
    let start = value_start(text, name_end)?;
    let longest = longest(*seen, start);
    let scheme = bytes::run_end(text, start, ByteSet::of("a-zA-Z0-9-"), 24);
    let after = bytes::run_end(text, scheme, BLANK, 4);
    let from = if after > scheme && scheme > start { after } else { start };
    let range = from..credential_end(text, from, longest);
    *seen = range.end.max(*seen);
    let value = &text[range.clone()];
    if text[start..scheme].starts_with(b"AWS4") {
        return signature(text, after);
    }
    let has_scheme = range.start == after;
    let known = ["basic", "bearer", "token", "digest", "bot", "apikey", "negotiate", "ntlm", "ssws", "key", "hawk", "dpop"];
    let is_known = has_scheme && known.iter().any(|k| text[start..scheme].eq_ignore_ascii_case(k.as_bytes()));
    let is_generated =
        is_known && value.len() >= 6 && (has_digit(value) || value.ends_with(b"=") || value.len() >= 16) || is_random(value);
    (is_generated && is_credential(value)).then_some(range)
}

fn is_credential(value: &[u8]) -> bool {
    !is_placeholder(value) && !is_code(value) && !is_path_or_url(value)
}

/// The `Signature=…` of an AWS header.
fn signature(text: &[u8], start: usize) -> Option<Range<usize>> {
    let reach = &text[start..text.len().min(start + 600)];
    let from = start + bytes::find(reach, b"Signature=")? + 10;
    let end = bytes::run_end(text, from, super::bytes::ANY_HEX, 64);
    (end - from >= 32).then_some(from..end)
}

fn credential_end(text: &[u8], start: usize, longest: usize) -> usize {
    const ENDS: ByteSet = ByteSet::of("\"'`<>,;)}]\\|");
    let end = bytes::find_byte(text, start, longest, |b| b <= b' ' || ENDS.has(b)).0;
    match line_break(text, end) {
        Some((LineBreak::Joined, next)) if end > start => bytes::find_byte(text, next, longest, |b| b <= b' ' || ENDS.has(b)).0,
        _ => end,
    }
}

/// The credentials behind the `Bearer ` or `Basic ` at `hit`.
pub(crate) fn scheme(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    if WORD.has(byte_before(text, hit.start)) && byte_before(text, hit.start) != b'n' {
        return None;
    }
    let range = hit.end..credential_end(text, hit.end, MAX_BYTES);
    let value = &text[range.clone()];
    let is_basic = byte_at(text, hit.start) | 32 == b'b' && byte_at(text, hit.start + 1) | 32 == b'a';
    let fits = if is_basic { is_pair(value) } else { is_random(value) && has_digit(value) };
    (fits && is_credential(value)).then_some(range)
}

/// Whether this is `user:password` in base64.
pub(crate) fn is_pair(value: &[u8]) -> bool {
    if value.len() < 8 || value.len() > 512 {
        return false;
    }
    let pair = super::jwt::decode(value);
    pair.contains(&b':') && pair.iter().all(|b| (b' '..0x7f).contains(b)) && pair.len() * 4 / 3 + 4 >= value.len()
}

/// The cookies of a header whose name is at `hit`: all of `Cookie`, the value of `Set-Cookie`.
pub(crate) fn cookies(text: &[u8], hit: Range<usize>, seen: &mut usize) -> Option<Range<usize>> {
    let start = value_start(text, hit.end)?;
    let is_set = text[..hit.start].ends_with(b"-") || text[..hit.start].ends_with(b"_");
    let ends = |b: u8| b < b' ' || matches!(b, b'"' | b'\'' | b'`' | b'\\' | b'<') || is_set && matches!(b, b';' | b',');
    let end = bytes::find_byte(text, start, longest(*seen, start), ends).0;
    *seen = end.max(*seen);
    let value = &text[start..end];
    let name = bytes::run_end(text, start, ByteSet::of("a-zA-Z0-9_.$-"), 80);
    let content = name + 1..end;
    let is_pair = name > start && byte_at(text, name) == b'=' && content.len() >= 4 && byte_at(text, content.start) > b' ';
    let first = text.get(content.clone())?.split(|b| matches!(b, b';' | b' ')).next().unwrap_or(b"");
    let is_plausible = is_pair && !is_placeholder(first) && !is_code(first) && first.len() >= 4;
    if !is_plausible || value.starts_with(b"=") {
        return None;
    }
    Some(if is_set { content } else { start..end })
}
