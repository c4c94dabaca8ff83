//! The value behind a name: where it begins and ends, quoted at any depth of escaping or bare.

use std::ops::Range;

use super::bytes::{self, BLANK, ByteSet, at, before, slashes_before};
use super::line_wrap::{Break, line_break};

/// The longest value.
pub(crate) const LONGEST: usize = 4096;
/// The longest that is looked at within what was looked at already.
pub(crate) const LONGEST_WITHIN: usize = 256;

const QUOTES: ByteSet = ByteSet::of("\"'`");

/// A quote with the backslashes that stand before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quote {
    pub sign: u8,
    pub slashes: usize,
}

/// A quote that stands here, and the place behind it.
pub(crate) fn quote_at(text: &[u8], place: usize) -> Option<(Quote, usize)> {
    let sign_at = bytes::run(text, place, ByteSet::of("\\"), 63);
    let sign = at(text, sign_at);
    QUOTES.has(sign).then_some((Quote { sign, slashes: sign_at - place }, sign_at + 1))
}

/// The opening quote of a value here: also behind the letters that some languages put before it, and three of a kind.
pub(crate) fn opening(text: &[u8], place: usize) -> Option<(Quote, usize)> {
    let letters = bytes::run(text, place, ByteSet::of("bBrRfFuUL@$"), 2);
    let (quote, inside) = quote_at(text, letters).filter(|(quote, _)| letters == place || quote.slashes == 0)?;
    let is_triple = at(text, inside) == quote.sign && at(text, inside + 1) == quote.sign;
    Some((quote, if is_triple { inside + 2 } else { inside }))
}

/// The end of what begins behind this quote. A line end within is taken for a wrapped line when no blank follows before the quote.
pub(crate) fn quoted_end(text: &[u8], start: usize, quote: Quote, longest: usize) -> Option<usize> {
    let limit = start + longest;
    let mut place = start;
    let mut lines = 0;
    while place < limit {
        let ends = |b: u8| b == quote.sign || b == b'\n' || lines > 0 && b == b' ';
        let (stop, found) = bytes::until(text, place, limit - place, ends);
        if !found || at(text, stop) == b' ' {
            return None;
        }
        if at(text, stop) == b'\n' {
            lines += 1;
            if lines > 40 {
                return None;
            }
            place = line_break(text, stop).map_or(stop + 1, |(_, next)| next);
            continue;
        }
        let slashes = slashes_before(text, stop);
        if slashes <= quote.slashes || (slashes - quote.slashes).is_multiple_of(2 * (quote.slashes + 1)) {
            return Some(stop - slashes.min(quote.slashes));
        }
        place = stop + 1;
    }
    None
}

/// What ends a bare value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ender {
    /// White space and quotes.
    Blank,
    /// The signs of a program, a query or a list as well.
    Sign,
}

/// A bare value from here. Lines that a shell's backslash joins are one.
pub(crate) fn bare(text: &[u8], start: usize, ender: Ender, longest: usize) -> Range<usize> {
    const SIGNS: ByteSet = ByteSet::of(",;)}]<>&|");
    let ends = |b: u8| b <= b' ' || b == b'\\' || QUOTES.has(b) || ender == Ender::Sign && SIGNS.has(b);
    let mut end = start;
    loop {
        end = bytes::until(text, end, (start + longest).saturating_sub(end), ends).0;
        match line_break(text, end) {
            Some((Break::Joined, next)) if end > start && next < start + longest && at(text, next) > b' ' => end = next,
            _ if is_plain_slash(text, end) && end < start + longest => end += 1,
            _ => break,
        }
    }
    // A password may end with the sign that ends a sentence.
    let is_word = text[start..end].iter().all(|b| b.is_ascii_alphabetic() || *b == b'!');
    if (matches!(before(text, end), b'.' | b',' | b';' | b':') || before(text, end) == b'!' && is_word)
        && end > start + 1
        && at(text, end) <= b' '
        && ender == Ender::Sign
    {
        end -= 1;
    }
    start..end
}

/// A backslash that is a character of the value: neither written for a line end, nor for a quote, nor for another backslash.
fn is_plain_slash(text: &[u8], place: usize) -> bool {
    at(text, place) == b'\\' && at(text, place + 1) > b' ' && !b"nrtu\\\"'`".contains(&at(text, place + 1))
}

/// Behind blanks, and one line end with the next line's indentation.
pub(crate) fn skip_space(text: &[u8], place: usize) -> usize {
    let here = bytes::run(text, place, BLANK, 32);
    match line_break(text, here) {
        Some((_, next)) => next,
        None => here,
    }
}
