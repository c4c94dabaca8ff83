//! A secret in the sentence of the name that tells it, with other words between: `Password for the database: …`, `use … as the
//! password`, `process.env.TOKEN ?? "…"`; and on the line behind the name's.

use std::ops::Range;

use super::bytes::{self, ByteSet, at, before};
use super::candidate::{is_harmless, is_secret};
use super::harmless::is_place;
use super::line_wrap::{decoration, line_break};
use super::randomness::{humps, is_of_words};
use super::secret_names::{Promise, takes_back};
use super::value::{opening, quote_at, quoted_end};

/// How far a sentence is followed, and for how many words.
pub(crate) const REACH: usize = 140;
const MOST_WORDS: usize = 14;
/// The longest word.
const LONGEST: usize = 512;
/// What parts words; also all that is no ASCII.
const BETWEEN: ByteSet = ByteSet::of(" \t\"'`()[]{}<>,;|");
/// Verbs and their like that lead from a name to its value.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "is", "are", "was", "be", "ist", "lautet", "est", "es", "er", "sein", "becomes", "now", "equals", "sera", "este", "jest", "lyder", "je", "heter",
    "son", "suivant", "namely", "reads",
];

/// A word of a line.
struct Word {
    range: Range<usize>,
    /// A quote, a sign or a verb leads to it.
    introduced: bool,
    quoted: bool,
}

/// The secret that other words part from its name. A name that promises little counts where it is spoken: `Datadog key`, `pw`.
pub(crate) fn find(text: &[u8], name: Range<usize>, promise: Promise, is_label: bool) -> Option<Range<usize>> {
    let word = &text[name.clone()];
    let is_login =
        ["credentials", "creds"].iter().any(|w| word.eq_ignore_ascii_case(w.as_bytes())) && b": ".contains(&at(text, name.end));
    let is_pass = is_login || word.eq_ignore_ascii_case(b"pw") && at(text, name.end) != b'.';
    let last = before(text, name.start);
    let is_word = !last.is_ascii_alphanumeric() && !b"/+\\".contains(&last);
    if promise == Promise::Auth && !is_label && !is_pass || !is_word || !is_name(word) {
        return None;
    }
    let promise = if is_pass { Promise::Password } else { promise };
    after(text, name.end, promise)
        .or_else(|| below(text, name.end, promise))
        .or_else(|| tagged(text, &name, promise))
        .or_else(|| before_name(text, name.start, promise))
}

/// The secret in a sentence behind a name in any language, or on the line below.
pub(crate) fn told(text: &[u8], end: usize, promise: Promise) -> Option<Range<usize>> {
    // The rest of the word: `lösenordet`.
    let end = bytes::run(text, end, ByteSet::of("a-z"), 4);
    after(text, end, promise).or_else(|| below(text, end, promise))
}

/// A name as people and programs write it, and no piece of something encoded.
fn is_name(word: &[u8]) -> bool {
    let letters = word.iter().rposition(|b| !b.is_ascii_digit()).map_or(0, |n| n + 1);
    let is_short = word.len() <= 24 && !word[..letters].iter().any(|b| b.is_ascii_digit());
    is_short || word.len() <= 64 && is_of_words(word)
}

/// The secret behind a name that ends at `end`, on its line.
pub(crate) fn after(text: &[u8], end: usize, promise: Promise) -> Option<Range<usize>> {
    let stop = line_end(text, end);
    let line = &text[end..stop];
    bytes::count(line.len());
    let is_lively = line.iter().any(u8::is_ascii_digit) || humps(line) > 2;
    if !is_lively || takes_back(next_name(line)) {
        return None;
    }
    let is_code = is_code_behind(line);
    // The quote that ends the name opens nothing.
    let place = quote_at(text, end).filter(|_| is_code).map_or(end, |(_, after)| after);
    let mut line = Line { text, place, stop, verb: false, is_code };
    let most = if promise.is_strong() || is_code { MOST_WORDS } else { MOST_WORDS / 2 };
    for n in 0..most {
        let word = line.next()?;
        let value = &text[word.range.clone()];
        let is_call = at(text, word.range.end) == b'(';
        // A key may stand right behind its name.
        let introduced = word.introduced || n == 0 && (!promise.is_strong() || !is_named_in_english(text, end));
        // In code a literal is one, in a sentence a word.
        if (word.quoted || !is_code) && !is_call && is_secret(value, promise, introduced) {
            return Some(word.range);
        }
        let goes_on = is_code || word.quoted || is_spoken(value) || is_place(value) || is_masked(value);
        if !goes_on || ends_sentence(text, word.range.end) {
            return None;
        }
    }
    None
}

/// Names of other languages stand in no code: what is right behind them is what they name.
fn is_named_in_english(text: &[u8], end: usize) -> bool {
    before(text, end).is_ascii()
}

/// `****Qx7P`, or a small number: what a sentence goes on behind.
fn is_masked(value: &[u8]) -> bool {
    memchr::memmem::find(value, b"***").is_some() || value.len() <= 4 && value.iter().all(u8::is_ascii_digit)
}

/// Does a program go on behind the name? A sentence has a blank there, or the sign of a label.
fn is_code_behind(line: &[u8]) -> bool {
    let closers = line.iter().take_while(|b| b"*`\"')]".contains(b)).count();
    let rest = &line[closers..];
    let next = rest.get(1).copied().unwrap_or(b' ');
    let is_values = rest.get(..7).is_some_and(|head| head.eq_ignore_ascii_case(b" values"));
    let is_equation = is_values
        || matches!(rest.trim_ascii_start().first(), Some(b'=' | b'{'))
        || rest.starts_with(b" !=")
        || rest.starts_with(b" ?");
    match rest.first() {
        None => false,
        Some(b' ' | b'\t') => is_equation,
        Some(b':') => next != b' ' || closers > 0 && line[0] == b'"',
        Some(byte) => byte.is_ascii(),
    }
}

/// The secret before a name that begins at `start`, in its sentence: `use … for the API key`, `… is the password`.
pub(crate) fn before_name(text: &[u8], start: usize, promise: Promise) -> Option<Range<usize>> {
    if before(text, start) != b' ' {
        return None;
    }
    let limit = start.saturating_sub(REACH);
    let head = &text[limit..start];
    bytes::count(head.len());
    let mut end = head.len();
    let mut link: &[u8] = b"";
    for _ in 0..8 {
        let word_end = head[..end].iter().rposition(|b| !BETWEEN.has(*b) && *b < 0x80)? + 1;
        let from = head[..word_end].iter().rposition(|b| BETWEEN.has(*b) || *b <= b' ' || *b >= 0x80)? + 1;
        if head[word_end..end].contains(&b'\n') {
            return None;
        }
        let word = &head[from..word_end];
        let is_link =
            ["is", "as", "for", "in", "was", "ist", "als", "est", "comme", "es", "como"].iter().any(|w| link == w.as_bytes());
        let used = is_used(&head[..from]);
        if is_link && is_secret(word, promise, used) && (used || !word.iter().all(u8::is_ascii_hexdigit)) {
            return Some(limit + from..limit + word_end);
        }
        if !is_spoken(word) || word.ends_with(b".") || head[from - 1] == b'\n' {
            return None;
        }
        (link, end) = (word, from);
    }
    None
}

/// Is somebody told to take what follows? Without that a hash may be a commit's.
fn is_used(head: &[u8]) -> bool {
    let last = head.trim_ascii_end().rsplit(|b| *b <= b' ').next().unwrap_or(b"");
    let last = last.strip_suffix(b"`").unwrap_or(last);
    ["use", "using", "with", "put", "set", "take", "enter", "nimm", "utilise", "usa"]
        .iter()
        .any(|w| last.eq_ignore_ascii_case(w.as_bytes()))
}

/// `<dt>Password</dt> <dd>…</dd>`, and of two columns the other one: `api_token;…`.
fn tagged(text: &[u8], name: &Range<usize>, promise: Promise) -> Option<Range<usize>> {
    let range = match at(text, name.end) {
        b'<' if at(text, name.end + 1) == b'/' => {
            let closed = bytes::until(text, name.end, 24, |b| b == b'>').0 + 1;
            let open = bytes::run(text, closed, ByteSet::of(" \t\r\n"), 40);
            let start = bytes::until(text, open, 24, |b| b == b'>').0 + 1;
            let end = bytes::until(text, start, LONGEST, |b| b <= b' ' || b == b'<').0;
            (at(text, open) == b'<' && text[end..].starts_with(b"</")).then_some(start..end)?
        }
        b';' | b',' | b'\t' if matches!(before(text, name.start), 0 | b'\n') => alone(text, name.end + 1)?,
        _ => return None,
    };
    is_secret(text.get(range.clone())?, promise, true).then_some(range)
}

/// The value alone on the line behind a label.
pub(crate) fn below(text: &[u8], end: usize, promise: Promise) -> Option<Range<usize>> {
    let name_end = if text[end..].starts_with(b".txt") { end + 4 } else { end };
    let label_end = bytes::run(text, name_end, ByteSet::of(":*?.)]\"'` \t=({>|+%-"), 12);
    let stop = line_end(text, end);
    let label_end = if before(text, stop) == b':' { stop } else { label_end };
    let (_, mut start) = line_break(text, label_end)?;
    // A line below a head, or an empty one.
    let rule = bytes::run(text, start, ByteSet::of("=-"), 80);
    if let Some((_, next)) = line_break(text, rule) {
        start = next;
    }
    alone(text, start).filter(|range| is_secret(&text[range.clone()], promise, true))
}

/// A word that is all of its line.
pub(crate) fn alone(text: &[u8], line: usize) -> Option<Range<usize>> {
    let start = bytes::run(text, decoration(text, line).max(line), ByteSet::of("\"'` \t-"), 12);
    let returned = bytes::run(text, start + 7, ByteSet::of("\"'`"), 3);
    let start = if text[start..].starts_with(b"return ") { returned } else { start };
    let end = bytes::until(text, start, 512, |b| b <= b' ' || b >= 0x80).0;
    let closed = bytes::back(text, end, ByteSet::of("\"'`,"), 3).max(start);
    let rest = bytes::run(text, end, ByteSet::of(" \t\r"), 8);
    (closed > start && matches!(at(text, rest), 0 | b'\n' | b'\\')).then_some(start..closed)
}

/// The word that is all of a table's cell.
pub(crate) fn alone_in(text: &[u8], cell: Range<usize>) -> Option<Range<usize>> {
    let start = bytes::run(text, cell.start, ByteSet::of("\"'` \t"), 80).min(cell.end);
    let closed = bytes::back(text, cell.end, ByteSet::of("\"'` \t\r"), 80).max(start);
    (closed > start && !text[start..closed].contains(&b' ')).then_some(start..closed)
}

fn line_end(text: &[u8], from: usize) -> usize {
    let (stop, _) = bytes::until(text, from, REACH, |b| b == b'\n');
    stop
}

/// The word behind a name, as `hash` in `password hash: …`.
fn next_name(line: &[u8]) -> &[u8] {
    let start = line.iter().take_while(|b| matches!(b, b' ' | b'_' | b'-')).count();
    let len = line[start..].iter().take_while(|b| b.is_ascii_alphabetic()).count();
    &line[start..start + len]
}

/// A word of a sentence: letters, perhaps with an apostrophe or the sign of a label behind it.
fn is_spoken(word: &[u8]) -> bool {
    let word = word.strip_suffix(b":").unwrap_or(word);
    word.iter().all(|b| b.is_ascii_alphabetic() || b"'-*?=>@._:\\/".contains(b)) && !is_harmless_code(word)
}

fn is_harmless_code(word: &[u8]) -> bool {
    word.len() > 2 && word.contains(&b'.') && !word.ends_with(b".") && is_harmless(word)
}

fn ends_sentence(text: &[u8], end: usize) -> bool {
    let sign = if before(text, end) == b'.' { end - 1 } else { end };
    at(text, sign) == b'.' && !at(text, sign + 1).is_ascii_alphanumeric()
}

struct Line<'t> {
    text: &'t [u8],
    place: usize,
    stop: usize,
    verb: bool,
    is_code: bool,
}

impl Line<'_> {
    /// The next word, or what stands in quotes.
    fn next(&mut self) -> Option<Word> {
        let text = self.text;
        let mut signs = self.verb;
        let mut place = self.place;
        while place < self.stop {
            let byte = text[place];
            // A sentence is over where a string or a block ends.
            if !self.is_code && (b"{};".contains(&byte) || byte == b',' && b"\"'".contains(&before(text, place))) {
                return None;
            }
            if let Some(word) = self.quoted(place) {
                return Some(word);
            }
            let is_sign = b"=:".contains(&byte) && at(text, place + 1) != b'-';
            if byte >= 0x80 || BETWEEN.has(byte) || is_sign {
                signs |= byte >= 0x80 || b"=:(`\"'".contains(&byte);
                place += 1;
            } else {
                break;
            }
        }
        if place >= self.stop {
            return None;
        }
        Some(self.word(place, signs))
    }

    /// What stands in the quotes that open here, if it is a word.
    fn quoted(&mut self, place: usize) -> Option<Word> {
        let text = self.text;
        let may_open = place == self.place || !text[place].is_ascii_alphabetic();
        let (quote, inside) = opening(text, place).filter(|_| may_open)?;
        let end = quoted_end(text, inside, quote, REACH)?;
        let is_word = end > inside && !text[inside..end].contains(&b' ');
        is_word.then(|| {
            self.place = end + 1 + quote.slashes;
            Word { range: inside..end, introduced: true, quoted: true }
        })
    }

    fn word(&mut self, start: usize, signs: bool) -> Word {
        let text = self.text;
        let ends = |b: u8| b >= 0x80 || BETWEEN.has(b) || b <= b' ';
        let end = bytes::until(text, start, LONGEST, ends).0;
        self.place = end;
        let word = &text[start..end];
        // `NAME:-value`, `user=value`
        let inner = memchr::memmem::rfind(word, b":-").map_or(0, |n| n + 2);
        let name = word.iter().take_while(|b| b.is_ascii_alphabetic() || **b == b'_').count();
        let pair = if name > 1 && word[name..].starts_with(b"=") && name + 2 < word.len() { name + 1 } else { 0 };
        let from = start + inner.max(pair);
        let trimmed = bytes::back(text, end, ByteSet::of(".:"), 3).max(from);
        let is_default = inner > 0;
        self.verb =
            VERBS.iter().any(|verb| word.eq_ignore_ascii_case(verb.as_bytes())) || word.ends_with(b":") || word.ends_with(b"=");
        Word { range: from..trimmed, introduced: signs || from > start, quoted: is_default }
    }
}
