//! Where a value begins and ends, quoted at any depth of escaping, or bare.

use std::ops::Range;

use super::bytes::{self, BLANK, ByteSet, backslashes_before, byte_at, byte_before};
use super::line_wrap::{LineBreak, line_break};

/// The most bytes of a value.
pub(crate) const MAX_BYTES: usize = 4096;
/// The most bytes of a value inside text that has been searched already.
pub(crate) const MAX_NESTED_BYTES: usize = 256;

const QUOTES: ByteSet = ByteSet::of("\"'`");

/// A quotation mark with the number of backslashes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quote {
    pub mark: u8,
    pub backslashes: usize,
}

/// The quote at `place`, and the offset behind it.
pub(crate) fn quote_at(text: &[u8], offset: usize) -> Option<(Quote, usize)> {
    let sign_at = bytes::run_end(text, offset, ByteSet::of("\\"), 63);
    let sign = byte_at(text, sign_at);
    QUOTES.has(sign).then_some((Quote { mark: sign, backslashes: sign_at - offset }, sign_at + 1))
}

/// The opening quote of the value at `place`, and the start of its content: behind string prefixes (`b"`, `@"`), and triple quotes.
pub(crate) fn opening_quote(text: &[u8], offset: usize) -> Option<(Quote, usize)> {
    let letters = bytes::run_end(text, offset, ByteSet::of("bBrRfFuUL@$"), 2);
    let (quote, inside) = quote_at(text, letters).filter(|(quote, _)| letters == offset || quote.backslashes == 0)?;
    let is_triple = byte_at(text, inside) == quote.mark && byte_at(text, inside + 1) == quote.mark;
    Some((quote, if is_triple { inside + 2 } else { inside }))
}

/// The end of the content of a quote. A newline inside is a wrapped line if no space follows before the closing quote.
pub(crate) fn quoted_end(text: &[u8], start: usize, quote: Quote, max_bytes: usize) -> Option<usize> {
    let limit = start + max_bytes;
    let mut offset = start;
    let mut lines = 0;
    while offset < limit {
        let ends = |b: u8| b == quote.mark || b == b'\n' || lines > 0 && b == b' ';
        let (stop, found) = bytes::find_byte(text, offset, limit - offset, ends);
        if !found || byte_at(text, stop) == b' ' {
            return None;
        }
        if byte_at(text, stop) == b'\n' {
            lines += 1;
            if lines > 40 {
                return None;
            }
            offset = line_break(text, stop).map_or(stop + 1, |(_, next)| next);
            continue;
        }
        let slashes = backslashes_before(text, stop);
        if slashes <= quote.backslashes || (slashes - quote.backslashes).is_multiple_of(2 * (quote.backslashes + 1)) {
            return Some(stop - slashes.min(quote.backslashes));
        }
        offset = stop + 1;
    }
    None
}

/// What ends a bare value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueEnd {
    /// White space and quotes.
    Whitespace,
    /// The punctuation of code, queries and lists, too.
    Punctuation,
}

/// The bare value from `start`. A backslash at the end of a line joins the next one.
pub(crate) fn bare_value(text: &[u8], start: usize, ends_at: ValueEnd, max_bytes: usize) -> Range<usize> {
    const SIGNS: ByteSet = ByteSet::of(",;)}]<>&|");
    let ends = |b: u8| b <= b' ' || b == b'\\' || QUOTES.has(b) || ends_at == ValueEnd::Punctuation && SIGNS.has(b);
    let mut end = start;
    loop {
        end = bytes::find_byte(text, end, (start + max_bytes).saturating_sub(end), ends).0;
        match line_break(text, end) {
            Some((LineBreak::Joined, next)) if end > start && next < start + max_bytes && byte_at(text, next) > b' ' => end = next,
            _ if is_literal_backslash(text, end) && end < start + max_bytes => end += 1,
            _ => break,
        }
    }
    // Drops the punctuation that ends a sentence.
    let is_word = text[start..end].iter().all(|b| b.is_ascii_alphabetic() || *b == b'!');
    if (matches!(byte_before(text, end), b'.' | b',' | b';' | b':') || byte_before(text, end) == b'!' && is_word)
        && end > start + 1
        && byte_at(text, end) <= b' '
        && ends_at == ValueEnd::Punctuation
    {
        end -= 1;
    }
    start..end
}

/// A backslash that is part of the value: it escapes neither a newline nor a quote nor another backslash.
fn is_literal_backslash(text: &[u8], offset: usize) -> bool {
    byte_at(text, offset) == b'\\' && byte_at(text, offset + 1) > b' ' && !b"nrtu\\\"'`".contains(&byte_at(text, offset + 1))
}

/// The offset behind blanks and at most one newline with the indentation of the next line.
pub(crate) fn skip_space(text: &[u8], offset: usize) -> usize {
    let here = bytes::run_end(text, offset, BLANK, 32);
    match line_break(text, here) {
        Some((_, next)) => next,
        None => here,
    }
}
