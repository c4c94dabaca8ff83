//! Finds tokens by the formats of `formats.toml`.
//!
//! A format is compared with the text where its key was found, from left to right without backtracking, and no further than its longest
//! token.

use std::borrow::Cow;
use std::ops::Range;

use super::bytes::{self, DIGIT, WORD, byte_at, byte_before};
use super::harmless::is_sample;
use super::line_wrap::{LineBreak, line_break, line_width_before, unwrap_lines};
use super::randomness::{distinct_bytes, entropy, has_digit, is_gibberish, is_mixed, is_random, is_scrambled};
use super::rule::Need;
use super::syntax::{ByteSet, Part, Token};

/// A line of at least this width may have been wrapped.
const WRAP_WIDTH_BYTES: usize = 60;
/// The most line breaks within a token.
const MAX_LINE_BREAKS: usize = 24;

impl Token {
    /// The token whose key is at `hit`, and how far the text was searched.
    pub(crate) fn find(&self, text: &[u8], hit: usize) -> (Option<Range<usize>>, usize) {
        let key_end = hit + self.key.len();
        if !text[hit..].starts_with(self.key.as_bytes()) {
            return (None, hit);
        }
        let Some(start) = self.token_start(text, hit) else { return (None, hit) };
        let (range, looked, broken) = self.read(text, start, key_end, MAX_LINE_BREAKS);
        // The next line may hold something else: then the token is complete without it.
        let alone = || self.read(text, start, key_end, 0).0.filter(|_| broken);
        (range.or_else(alone), looked)
    }

    /// The token, how far the text was searched, and whether it continues over a line break. Follows at most `breaks` of these.
    fn read(&self, text: &[u8], start: usize, key_end: usize, breaks: usize) -> (Option<Range<usize>>, usize, bool) {
        let mut reader = TokenReader { text, end: key_end, broken: false, narrow: None, first: None, breaks };
        for part in &*self.parts {
            if !reader.take(part) {
                return (None, reader.searched_to(reader.end), reader.broken);
            }
        }
        let end = reader.close(key_end);
        let body_at = if self.lead.is_some() { start } else { key_end };
        let body = if reader.broken { unwrap_lines(&text[body_at..end]) } else { Cow::Borrowed(&text[body_at..end]) };
        let fits = (end > key_end || self.parts.is_empty()) && reader.fits(&self.parts, end) && self.is_plausible(&body);
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
        let is_varied = body.len() < 16 || (distinct_bytes(body) >= 6 && entropy(body) > 2.0);
        self.needs.is_met(body) && is_varied && !is_sample(body)
    }
}

impl Need {
    /// Whether the secret has what is needed.
    pub(crate) fn is_met(self, secret: &[u8]) -> bool {
        match self {
            Self::None => true,
            Self::Digit => has_digit(secret),
            Self::Mixed => (is_mixed(secret) || is_gibberish(secret)) && is_random(secret),
            Self::Random => is_random(secret),
        }
    }
}

/// Whether a token may begin at `start` although a letter or digit stands before it: the end of `
/// `, of `%3D`, of a terminal's colour code, or of a name such as `mcp__`.
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
    /// The length so far and the minimum of a run that continues over a break of a short line: only the exact length makes it a token.
    narrow: Option<(usize, usize)>,
    /// The end of the first line, if there is a line break.
    first: Option<usize>,
    /// How many line breaks it may continue over.
    breaks: usize,
}

impl TokenReader<'_> {
    fn take(&mut self, part: &Part) -> bool {
        match part {
            Part::Literal(literal) => {
                let follows = |offset: usize| self.text[offset..].starts_with(literal.as_bytes());
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

    /// How far the search counts when nothing was found: the next line may have a token of its own, behind the beginning of one.
    fn searched_to(&self, end: usize) -> usize {
        self.first.unwrap_or(end)
    }

    /// The start of the next line's text, if the line that ends here looks wrapped.
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
            let continues = if len < min { end > next } else { continues(kind, is_wide, &self.text[next..end]) };
            if !continues {
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

    /// The end of the token, without a final `.` or `-`, but not before the end of its key.
    fn close(&mut self, key_end: usize) -> usize {
        while self.end > key_end && matches!(byte_before(self.text, self.end), b'.' | b'-') {
            bytes::count_steps(1);
            self.end -= 1;
        }
        self.end
    }

    /// Whether the last run was taken whole, and is long enough without the punctuation at its end.
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

/// Whether a token that could end here continues after the line break with `more`.
fn continues(kind: LineBreak, is_wide: bool, more: &[u8]) -> bool {
    !more.is_empty() && (kind == LineBreak::Joined || (is_wide && more.len() >= 3 && is_token_tail(more)))
}

/// Whether this is the rest of a token rather than a word.
fn is_token_tail(piece: &[u8]) -> bool {
    let digits = piece.iter().filter(|b| DIGIT.has(**b)).count();
    let has_letters = digits < piece.len();
    (digits > 0 && has_letters && !piece.starts_with(b"-")) || is_random(piece) || is_scrambled(piece)
}
