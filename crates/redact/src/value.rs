//! The value behind a name: where it begins and ends, quoted at any depth of escaping or bare.

use std::ops::Range;

use super::bytes::{self, BLANK, ByteSet, backslashes_before, byte_at, byte_before};
use super::line_wrap::{LineBreak, line_break};

/// The longest value.
pub(crate) const MAX_BYTES: usize = 4096;
/// The longest that is looked at within what was looked at already.
pub(crate) const MAX_NESTED_BYTES: usize = 256;

const QUOTES: ByteSet = ByteSet::of("\"'`");

/// A quote with the backslashes that stand before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quote {
    pub mark: u8,
    pub backslashes: usize,
}

/// A quote that stands here, and the place behind it.
pub(crate) fn quote_at(text: &[u8], place: usize) -> Option<(Quote, usize)> {
    let sign_at = bytes::run_end(text, place, ByteSet::of("\\"), 63);
    let sign = byte_at(text, sign_at);
    QUOTES.has(sign).then_some((Quote { mark: sign, backslashes: sign_at - place }, sign_at + 1))
}

/// The opening quote of a value here: also behind the letters that some languages put before it, and three of a kind.
pub(crate) fn opening_quote(text: &[u8], place: usize) -> Option<(Quote, usize)> {
    let letters = bytes::run_end(text, place, ByteSet::of("bBrRfFuUL@$"), 2);
    let (quote, inside) = quote_at(text, letters).filter(|(quote, _)| letters == place || quote.backslashes == 0)?;
    let is_triple = byte_at(text, inside) == quote.mark && byte_at(text, inside + 1) == quote.mark;
    Some((quote, if is_triple { inside + 2 } else { inside }))
}

/// The end of what begins behind this quote. A line end within is taken for a wrapped line when no blank follows before the quote.
pub(crate) fn quoted_end(text: &[u8], start: usize, quote: Quote, longest: usize) -> Option<usize> {
    let limit = start + longest;
    let mut place = start;
    let mut lines = 0;
    while place < limit {
        let ends = |b: u8| b == quote.mark || b == b'\n' || lines > 0 && b == b' ';
        let (stop, found) = bytes::find_byte(text, place, limit - place, ends);
        if !found || byte_at(text, stop) == b' ' {
            return None;
        }
        if byte_at(text, stop) == b'\n' {
            lines += 1;
            if lines > 40 {
                return None;
            }
            place = line_break(text, stop).map_or(stop + 1, |(_, next)| next);
            continue;
        }
        let slashes = backslashes_before(text, stop);
        if slashes <= quote.backslashes || (slashes - quote.backslashes).is_multiple_of(2 * (quote.backslashes + 1)) {
            return Some(stop - slashes.min(quote.backslashes));
        }
        place = stop + 1;
    }
    None
}

/// What ends a bare value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueEnd {
    /// White space and quotes.
    Whitespace,
    /// The signs of a program, a query or a list as well.
    Punctuation,
}

/// A bare value from here. Lines that a shell's backslash joins are one.
pub(crate) fn bare_value(text: &[u8], start: usize, end_of: ValueEnd, longest: usize) -> Range<usize> {
    const SIGNS: ByteSet = ByteSet::of(",;)}]<>&|");
    let ends = |b: u8| b <= b' ' || b == b'\\' || QUOTES.has(b) || end_of == ValueEnd::Punctuation && SIGNS.has(b);
    let mut end = start;
    loop {
        end = bytes::find_byte(text, end, (start + longest).saturating_sub(end), ends).0;
        match line_break(text, end) {
            Some((LineBreak::Joined, next)) if end > start && next < start + longest && byte_at(text, next) > b' ' => end = next,
            _ if is_literal_backslash(text, end) && end < start + longest => end += 1,
            _ => break,
        }
    }
    // A password may end with the sign that ends a sentence.
    let is_word = text[start..end].iter().all(|b| b.is_ascii_alphabetic() || *b == b'!');
    if (matches!(byte_before(text, end), b'.' | b',' | b';' | b':') || byte_before(text, end) == b'!' && is_word)
        && end > start + 1
        && byte_at(text, end) <= b' '
        && end_of == ValueEnd::Punctuation
    {
        end -= 1;
    }
    start..end
}

/// A backslash that is a character of the value: neither written for a line end, nor for a quote, nor for another backslash.
fn is_literal_backslash(text: &[u8], place: usize) -> bool {
    byte_at(text, place) == b'\\' && byte_at(text, place + 1) > b' ' && !b"nrtu\\\"'`".contains(&byte_at(text, place + 1))
}

/// Behind blanks, and one line end with the next line's indentation.
pub(crate) fn skip_space(text: &[u8], place: usize) -> usize {
    let here = bytes::run_end(text, place, BLANK, 32);
    match line_break(text, here) {
        Some((_, next)) => next,
        None => here,
    }
}
