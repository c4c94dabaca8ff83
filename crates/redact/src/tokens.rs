//! Finds tokens by the formats that providers publish: a beginning that gives them away, and what has to follow.
//!
//! A format is compared with the text where its key was seen, from left to right without going back, and no further than its longest token.

use std::borrow::Cow;
use std::ops::Range;

use super::bytes::{self, DIGIT, WORD, byte_at, byte_before};
use super::harmless::is_sample;
use super::line_wrap::{LineBreak, line_break, line_width_before, unwrap_lines};
use super::randomness::{distinct_bytes, entropy, has_digit, is_gibberish, is_mixed, is_random, is_scrambled};
use super::rule::Need;
use super::syntax::{ByteSet, Part, Token};

/// From this width on a line is taken for one that was wrapped.
const WRAP_WIDTH_BYTES: usize = 60;
/// The most lines a token is followed over.
const MAX_LINE_BREAKS: usize = 24;

impl Token {
    /// The token whose key begins at `hit`, and how far the text was looked at.
    pub(crate) fn find(&self, text: &[u8], hit: usize) -> (Option<Range<usize>>, usize) {
        let key_end = hit + self.key.len();
        if !text[hit..].starts_with(self.key.as_bytes()) {
            return (None, hit);
        }
        let Some(start) = self.token_start(text, hit) else { return (None, hit) };
        let (range, looked, broken) = self.read(text, start, key_end, MAX_LINE_BREAKS);
        // What the next line holds may be something else: the token is whole without it.
        let alone = || self.read(text, start, key_end, 0).0.filter(|_| broken);
        (range.or_else(alone), looked)
    }

    /// The token, how far the text was looked at, and whether lines were joined for it.
    fn read(&self, text: &[u8], start: usize, key_end: usize, breaks: usize) -> (Option<Range<usize>>, usize, bool) {
        let mut reader = TokenReader { text, end: key_end, broken: false, narrow: None, first: None, breaks };
        for part in &*self.parts {
            if !reader.take(part) {
                return (None, reader.searched_to(reader.end), reader.broken);
            }
        }
        let end = reader.close();
        let body_at = if self.lead.is_some() { start } else { key_end };
        let body = if reader.broken { unwrap_lines(&text[body_at..end]) } else { Cow::Borrowed(&text[body_at..end]) };
        let fits = reader.fits(&self.parts, end) && self.is_plausible(&body);
        let from = if self.keeps_key { key_end } else { start };
        (fits.then_some(from..end), if fits { end } else { reader.searched_to(end) }, reader.broken)
    }

    fn token_start(&self, text: &[u8], hit: usize) -> Option<usize> {
        let start = match self.lead {
            None => hit,
            Some((set, len)) => Some(bytes::run_start(text, hit, set, len)).filter(|s| hit - s == len)?,
        };
        let is_free = self.keeps_key || !WORD.has(self.byte_before_token(text, start)) || is_token_boundary(text, start);
        is_free.then_some(start)
    }

    fn byte_before_token(&self, text: &[u8], start: usize) -> u8 {
        if self.lead.is_none() && !WORD.has(byte_at(text, start)) { 0 } else { byte_before(text, start) }
    }

    fn is_plausible(&self, body: &[u8]) -> bool {
        let lively = body.len() < 16 || (distinct_bytes(body) >= 6 && entropy(body) > 2.0);
        self.needs.is_met(body) && lively && !is_sample(body)
    }
}

impl Need {
    /// Has the secret what is needed?
    pub(crate) fn is_met(self, secret: &[u8]) -> bool {
        match self {
            Self::None => true,
            Self::Digit => has_digit(secret),
            Self::Mixed => (is_mixed(secret) || is_gibberish(secret)) && is_random(secret),
            Self::Random => is_random(secret),
        }
    }
}

/// Does a token begin here although a letter stands before? It is the end of `\n`, of `%3D`, of a terminal's colour, or
/// a tool's name is made of parts.
pub(crate) fn is_token_boundary(text: &[u8], start: usize) -> bool {
    match byte_before(text, start) {
        b'n' | b'r' | b't' if byte_before(text, start - 1) == b'\\' => true,
        b'm' => {
            let digits = bytes::run_start(text, start - 1, ByteSet::of("0-9;"), 16);
            byte_before(text, digits) == b'['
        }
        b'_' => byte_before(text, start - 1) == b'_',
        c if c.is_ascii_hexdigit() => start > 2 && text[start - 3] == b'%' && text[start - 2].is_ascii_hexdigit(),
        _ => false,
    }
}

struct TokenReader<'t> {
    text: &'t [u8],
    end: usize,
    broken: bool,
    /// The least length of a run that goes on behind a line end that nothing but the exact length speaks for.
    narrow: Option<(usize, usize)>,
    /// Where the first line of a broken one ends.
    first: Option<usize>,
    /// How many line ends it may go over.
    breaks: usize,
}

impl TokenReader<'_> {
    fn take(&mut self, part: &Part) -> bool {
        match part {
            Part::Literal(literal) => {
                let follows = |place: usize| self.text[place..].starts_with(literal.as_bytes());
                let wrapped = || self.wrapped_end().filter(|_| self.breaks > 0).unwrap_or(self.end);
                let next = if follows(self.end) { self.end } else { wrapped() };
                let fits = follows(next);
                if fits {
                    if next > self.end {
                        self.broken = true;
                        self.first.get_or_insert(self.end);
                    }
                    self.end = next + literal.len();
                }
                fits
            }
            Part::Run { set, min, max } => self.run(*set, *min, *max),
        }
    }

    /// How far nothing more can begin where nothing was found: on the next line a token of its own may, behind the beginning of one.
    fn searched_to(&self, end: usize) -> usize {
        self.first.unwrap_or(end)
    }

    /// The next line's text, when the line that ends here looks wrapped.
    fn wrapped_end(&self) -> Option<usize> {
        let (kind, next) = line_break(self.text, self.end)?;
        (kind == LineBreak::Joined || line_width_before(self.text, self.end, WRAP_WIDTH_BYTES) >= WRAP_WIDTH_BYTES).then_some(next)
    }

    fn run(&mut self, set: ByteSet, min: usize, max: usize) -> bool {
        let first = bytes::run_end(self.text, self.end, set, max);
        let mut len = first - self.end;
        self.end = first;
        for _ in 0..self.breaks {
            let Some((kind, next)) = line_break(self.text, self.end).filter(|_| len < max) else { break };
            let end = bytes::run_end(self.text, next, set, max - len);
            let is_wide = kind == LineBreak::Joined || line_width_before(self.text, self.end, WRAP_WIDTH_BYTES) >= WRAP_WIDTH_BYTES;
            let goes_on = if len < min { end > next } else { goes_on(kind, is_wide, &self.text[next..end]) };
            if !goes_on {
                break;
            }
            len += end - next;
            if !is_wide {
                self.narrow = Some((len, min));
            }
            self.first.get_or_insert(self.end);
            (self.end, self.broken) = (end, true);
        }
        len >= min && self.narrow.is_none_or(|(_, min)| len == min)
    }

    /// The token's end, without the sign that ends a sentence.
    fn close(&mut self) -> usize {
        while matches!(byte_before(self.text, self.end), b'.' | b'-') {
            self.end -= 1;
        }
        self.end
    }

    /// Is it the whole of the run, and long enough without the signs at its end?
    fn fits(&self, parts: &[Part], end: usize) -> bool {
        match parts.last() {
            Some(Part::Run { set, min, .. }) => {
                let start = bytes::run_start(self.text, end, *set, *min);
                !set.has(byte_at(self.text, end)) && (self.broken || end - start >= *min)
                    || matches!(byte_at(self.text, end), b'.' | b'-')
            }
            _ => true,
        }
    }
}

/// Does a token that could end here go on behind the line end, with this?
fn goes_on(kind: LineBreak, is_wide: bool, more: &[u8]) -> bool {
    !more.is_empty() && (kind == LineBreak::Joined || (is_wide && more.len() >= 3 && is_token_tail(more)))
}

/// The rest of a token on a line of its own, and no word.
fn is_token_tail(piece: &[u8]) -> bool {
    let digits = piece.iter().filter(|b| DIGIT.has(**b)).count();
    let has_letters = digits < piece.len();
    (digits > 0 && has_letters && !piece.starts_with(b"-")) || is_random(piece) || is_scrambled(piece)
}
