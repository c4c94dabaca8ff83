//! Lists under a name in the plural: `passwords:` with `- …` or `user: …` on the lines below, `tokens = ["…"]`, `{"apiKeys": {"a": "…"}}`.

use std::ops::Range;

use super::bytes::{self, BLANK, ByteSet, byte_at};
use super::candidate::is_secret;
use super::line_wrap::after_newline;
use super::secret_names::{SecretKind, kind_of_name};
use super::value::{ValueEnd, bare_value, opening_quote, quote_at, quoted_end};

/// The most elements of a list, and bytes of one of them.
const MAX_ELEMENTS: usize = 24;
const MAX_BYTES: usize = 256;

/// Adds the secrets below the name that ends at `name.end`, from `to` on, which moves behind what was read.
pub(crate) fn values(text: &[u8], name: &Range<usize>, to: &mut usize, found: &mut Vec<Range<usize>>) -> Option<SecretKind> {
    let singular = text[name.clone()].strip_suffix(b"s").filter(|_| name.end >= *to)?;
    let closed = quote_at(text, name.end).map_or(name.end, |(_, after)| after);
    let sign = bytes::run_end(text, closed, BLANK, 8);
    if !matches!(byte_at(text, sign), b':' | b'=') {
        return None;
    }
    let start = bytes::run_end(text, sign + 1, BLANK, 8);
    // Most names in the plural count something.
    if !matches!(byte_at(text, start), b'[' | b'{' | b'\n' | b'\r') {
        return None;
    }
    let secret_kind = kind_of_name(singular).filter(|kind| *kind != SecretKind::Auth)?;
    let before = found.len();
    *to = match byte_at(text, start) {
        b'[' | b'{' => in_brackets(text, start + 1, secret_kind, found),
        _ => on_lines(text, start, secret_kind, found),
    };
    (found.len() > before).then_some(secret_kind)
}

/// The quoted elements up to the closing bracket; behind the names of a map only what follows a `:`.
fn in_brackets(text: &[u8], start: usize, secret_kind: SecretKind, found: &mut Vec<Range<usize>>) -> usize {
    let mut offset = start;
    for _ in 0..MAX_ELEMENTS {
        offset = bytes::run_end(text, offset, ByteSet::of(" \t\r\n,"), 40);
        let Some((quote, inside)) = opening_quote(text, offset) else { break };
        let Some(end) = quoted_end(text, inside, quote, MAX_BYTES) else { return inside };
        offset = end + 1 + quote.backslashes;
        let colon = bytes::run_end(text, offset, BLANK, 8);
        if byte_at(text, colon) == b':' {
            offset = colon + 1;
        } else {
            found.extend(Some(inside..end).filter(|range| is_secret(&text[range.clone()], secret_kind, true)));
        }
    }
    offset
}

/// The elements on the lines below: `- …` and `name: …`, as far as they are indented or begin with `-`.
fn on_lines(text: &[u8], start: usize, secret_kind: SecretKind, found: &mut Vec<Range<usize>>) -> usize {
    let mut line = start;
    for _ in 0..MAX_ELEMENTS {
        let Some(next) = after_newline(text, line) else { break };
        let content = bytes::run_end(text, next, BLANK, 40);
        let name = bytes::run_end(text, content, ByteSet::of("a-zA-Z0-9_.@\"'-"), 80);
        let value = match byte_at(text, content) {
            b'-' if byte_at(text, content + 1) == b' ' => content + 2,
            _ if content > next && name > content && byte_at(text, name) == b':' => bytes::run_end(text, name + 1, BLANK, 8),
            _ => break,
        };
        let range = match opening_quote(text, value) {
            Some((quote, inside)) => inside..quoted_end(text, inside, quote, MAX_BYTES).unwrap_or(inside),
            None => bare_value(text, value, ValueEnd::Whitespace, MAX_BYTES),
        };
        line = range.end + usize::from(range.end > range.start && quote_at(text, range.end).is_some());
        found.extend(Some(range).filter(|range| is_secret(&text[range.clone()], secret_kind, true)));
    }
    line
}
