//! A telling name with a value behind it: `KEY=value`, `"password": "…"`, `--token …`, `password => '…'`, `<password>…</password>`.

use std::ops::Range;

use super::bytes::{self, BLANK, ByteSet, URL64, WORD, at, before};
use super::candidate::{is_harmless, is_noise, is_password, is_secret, is_serial};
use super::classify::{is_made_up, is_name, is_number, is_plain_word, is_prose_end, is_told, is_word, is_wordy_technical};
use super::columns;
use super::harmless::{has_label, is_code, is_dotted_name, is_id, is_label, is_place, is_placeholder, is_variable_name};
use super::kubernetes;
use super::line_wrap::joined;
use super::marks::Finding;
use super::randomness::{has_digit, has_letter, humps, is_gibberish, is_of_words, is_random, is_scrambled, is_wordy};
use super::secret_names::{Promise, is_open_key, key_of, promise};
use super::sentence;
use super::separator::{Kind, Sign, sign_after};
use super::value;
use super::value::{Ender, LONGEST, LONGEST_WITHIN, Quote, opening, quote_at};

/// The longest name, on either side of the keyword.
const LONGEST_NAME: usize = 64;
const SHORTEST: usize = 4;
/// From how many names that stand close together sentences are followed.
const MOST_TOLD: usize = 4;

/// How far names and the values behind them have been looked at.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    names: usize,
    values: usize,
    /// How far tables were looked at.
    rows: usize,
    /// How far sentences were followed, and from how many names.
    told: usize,
    names_told: usize,
}

impl Seen {
    /// May a sentence be followed from this name? From some of those that stand close together: so no text takes more than its length.
    fn may_tell(&mut self, name: &Range<usize>) -> bool {
        if name.end >= self.told {
            (self.told, self.names_told) = (name.end + sentence::REACH, 0);
        }
        self.names_told += 1;
        self.names_told <= MOST_TOLD
    }
}

/// Adds the secrets of the name in which a keyword was seen.
pub(crate) fn find(text: &[u8], hit: Range<usize>, seen: &mut Seen, found: &mut Vec<Finding>) {
    if hit.start < seen.names {
        return;
    }
    let mut end = bytes::run(text, hit.end, URL64, LONGEST_NAME);
    seen.names = end;
    while end > hit.end && before(text, end) == b'-' {
        end -= 1;
    }
    let name = name_start(text, hit.start)..end;
    let mut ranges = Vec::new();
    if kubernetes::is_kind(text, &name) {
        kubernetes::values(text, &name, &mut ranges);
    }
    let rule = match default_of_variable(text, name.clone()).or_else(|| beside(text, name, seen, &mut ranges)) {
        Some((rule, range)) => {
            ranges.push(range);
            rule
        }
        None => "secret",
    };
    found.extend(ranges.into_iter().map(|range| Finding { rule: rule.into(), range }));
}

/// The secret behind a name, whether a sign leads to it or words; those of a table whose column it names are added.
fn beside(text: &[u8], name: Range<usize>, seen: &mut Seen, cells: &mut Vec<Range<usize>>) -> Option<(&'static str, Range<usize>)> {
    let name = whole(text, name);
    let word = &text[name.clone()];
    if let Some(secret) = value_of_object(text, name.clone()) {
        return Some(secret);
    }
    let label = spoken(text, name.clone());
    let sign = sign_after(text, name.end);
    // Of a key alone only somebody who speaks says that it is one.
    let is_key = |sign: &Sign| sign.kind == Kind::Is && word.eq_ignore_ascii_case(b"key") && !is_open(text, name.start);
    let alone = || sign.filter(is_key).map(|_| Promise::Auth);
    // `--key …`
    let flagged = || (word.eq_ignore_ascii_case(b"key") && text[..name.start].ends_with(b" --")).then_some(Promise::Auth);
    let promise = promise(word).or(label).or_else(alone).or_else(flagged)?;
    let by_sign = sign.and_then(|sign| {
        let longest = if sign.value < seen.values { LONGEST_WITHIN } else { LONGEST };
        let mut name = Name { text, start: name.start, end: name.end, promise, longest, seen: 0 };
        let secret = name.secret(sign);
        seen.values = seen.values.max(name.seen);
        secret
    });
    if by_sign.is_none() {
        let is_pass = ["pass", "pw"].iter().any(|w| word.eq_ignore_ascii_case(w.as_bytes()));
        let promise = if is_pass { Promise::Password } else { promise };
        if promise != Promise::Auth {
            columns::below(text, &name, promise, &mut seen.rows, cells);
        }
    }
    let secret =
        by_sign.or_else(|| seen.may_tell(&name).then(|| sentence::find(text, name, promise, label.is_some())).flatten())?;
    Some((promise.rule(), secret))
}

/// `pass phrase` and `pass code` are one name.
fn whole(text: &[u8], name: Range<usize>) -> Range<usize> {
    let rest = text.get(name.end..name.end + 7).unwrap_or(b"");
    let is_phrase = text[name.clone()].eq_ignore_ascii_case(b"pass") && rest.eq_ignore_ascii_case(b" phrase");
    if is_phrase { name.start..name.end + 7 } else { name }
}

/// What a key promises by the word before it: `Datadog API key`, and no `cache key`.
fn spoken(text: &[u8], name: Range<usize>) -> Option<Promise> {
    let word = &text[name.clone()];
    let is_short = ["key", "pat", "psk"].iter().any(|short| word.eq_ignore_ascii_case(short.as_bytes()));
    if !is_short || before(text, name.start) != b' ' {
        return None;
    }
    let word = bytes::back(text, name.start - 1, URL64, 24);
    (word + 2 < name.start).then(|| key_of(&text[word..name.start - 1])).flatten()
}

/// `the primary key`: what everybody may know.
fn is_open(text: &[u8], start: usize) -> bool {
    let end = start.saturating_sub(1);
    let word = bytes::back(text, end, URL64, 24);
    is_open_key(&text[word..end])
}

/// More than a word: numbers, signs, or letters without order.
fn is_lively(value: &[u8]) -> bool {
    has_digit(value) && has_letter(value)
        || value.iter().any(|b| b"!@#$%^&*+=~".contains(b))
        || is_scrambled(value)
        || is_gibberish(value)
}

/// Words that speak of a secret: `secret-error-sentinel`.
fn is_about_secrets(value: &[u8]) -> bool {
    let mut words = value.split(|b| b"-_".contains(b));
    let is_name = value.iter().all(|b| b.is_ascii_lowercase() || b"-_".contains(b)) && words.clone().count() > 2;
    is_name && words.any(|word| promise(word).is_some())
}

/// A number within a name: `Psk32Bytes`.
fn is_counted(value: &[u8]) -> bool {
    value.windows(2).any(|w| w[0].is_ascii_digit() && w[1].is_ascii_alphabetic())
}

/// Small words with blanks between: a label, and of what is called a secret none.
fn is_words(value: &[u8]) -> bool {
    value.contains(&b' ') && value.iter().all(|b| b.is_ascii_lowercase() || *b == b' ')
}

/// `ClientSecret`: as types and their variants are written.
fn is_name_of_type(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_uppercase) && humps(name) > 0
}

/// `variable "db_password" { … default = "…" }`, as Terraform has it.
fn default_of_variable(text: &[u8], name: Range<usize>) -> Option<(&'static str, Range<usize>)> {
    let quote = bytes::back(text, name.start, ByteSet::of("\"\\"), 8);
    let (_, after) =
        quote_at(text, name.end).filter(|_| text[..quote].ends_with(b"variable ") || text[..quote].ends_with(b"output "))?;
    let open = bytes::run(text, after, BLANK, 8);
    let reach = text.get(open..text.len().min(open + 300)).filter(|reach| reach.starts_with(b"{"))?;
    let reach = &reach[..memchr::memchr(b'}', reach).unwrap_or(reach.len())];
    bytes::count(reach.len());
    let word = if text[..quote].ends_with(b"output ") { &b"value"[..] } else { b"default" };
    let end = open + memchr::memmem::find(reach, word)? + word.len();
    let promise = promise(&text[name.clone()])?;
    let sign = sign_after(text, end).filter(|sign| sign.kind == Kind::Equals)?;
    let (quote, start) = opening(text, sign.value)?;
    let range = start..value::quoted_end(text, start, quote, LONGEST_WITHIN)?;
    let name = Name { text, start: name.start, end: name.end, promise, longest: LONGEST_WITHIN, seen: 0 };
    name.is_literal(&text[range.clone()]).then_some((promise.rule(), range))
}

/// `"db_password": { "sensitive": true, "value": "…" }`, as Terraform prints it.
fn value_of_object(text: &[u8], name: Range<usize>) -> Option<(&'static str, Range<usize>)> {
    let (_, after) = quote_at(text, name.end)?;
    let open = bytes::run(text, after, ByteSet::of(": "), 8);
    let reach = text.get(open..text.len().min(open + 300)).filter(|reach| reach.starts_with(b"{"))?;
    let reach = &reach[..memchr::memchr(b'}', reach).unwrap_or(reach.len())];
    bytes::count(reach.len());
    let place = open + memchr::memmem::find(reach, b"value")?;
    let sign = sign_after(text, place + b"value".len()).filter(|sign| sign.kind == Kind::Colon)?;
    let (quote, start) = opening(text, sign.value)?;
    let range = start..value::quoted_end(text, start, quote, LONGEST_WITHIN)?;
    let promise = promise(&text[name])?;
    is_secret(&text[range.clone()], promise, true).then_some((promise.rule(), range))
}

fn name_start(text: &[u8], hit: usize) -> usize {
    let mut start = bytes::back(text, hit, URL64, LONGEST_NAME);
    // The `n` of `\n` is no letter of the name.
    if before(text, start) == b'\\' && start < hit && b"nrt".contains(&at(text, start)) {
        start += 1;
    }
    bytes::run(text, start, ByteSet::of("-"), LONGEST_NAME).min(hit)
}

pub(crate) struct Name<'t> {
    pub text: &'t [u8],
    pub start: usize,
    pub end: usize,
    promise: Promise,
    /// The longest value looked at.
    longest: usize,
    /// How far it was looked at.
    seen: usize,
}

impl Name<'_> {
    fn secret(&mut self, sign: Sign) -> Option<Range<usize>> {
        if !self.may_follow(sign.kind) {
            return None;
        }
        if let Some((quote, start)) = opening(self.text, sign.value) {
            if sign.closes.is_none() && self.is_inside(quote) || b"),;:]}".contains(&at(self.text, start)) {
                return None;
            }
            let range = start..self.quoted_end(start, quote).unwrap_or_else(|| self.bare(start, Ender::Blank).end);
            let range = self.behind_scheme(range);
            let value = &self.text[range.clone()];
            if sign.kind == Kind::Comma && !self.is_variable() && !is_lively(value) {
                return None;
            }
            if sign.kind == Kind::Blank && self.is_prose() && !is_told(value) || sign.kind == Kind::Call && !is_password(value) {
                return None;
            }
            return self.is_literal(&self.text[range.clone()]).then_some(range);
        }
        match sign.kind {
            Kind::Comma | Kind::Quoted | Kind::Call => None,
            Kind::Tag => {
                let end = bytes::until(self.text, sign.value, 512, |b| matches!(b, b'<' | b'\n')).0;
                let is_closed = self.text[end..].starts_with(b"</");
                Some(sign.value..end).filter(|range| is_closed && self.is_literal(&self.text[range.clone()]))
            }
            _ => self.bare_secret(sign),
        }
    }

    fn bare(&mut self, start: usize, ender: Ender) -> Range<usize> {
        let range = value::bare(self.text, start, ender, self.longest);
        self.seen = self.seen.max(range.end);
        range
    }

    fn quoted_end(&mut self, start: usize, quote: Quote) -> Option<usize> {
        let end = value::quoted_end(self.text, start, quote, self.longest);
        self.seen = self.seen.max(end.unwrap_or(start + self.longest));
        end
    }

    /// Is this way to give a value one for this name?
    fn may_follow(&self, kind: Kind) -> bool {
        match kind {
            Kind::Tag => before(self.text, self.start) == b'<',
            Kind::Blank => self.is_flag() || self.is_login() || self.is_declared() || self.is_said() || self.name() == b"AUTH",
            Kind::Quoted => self.promise.is_strong() || self.line_head().trim_ascii_start().starts_with(b"#define"),
            // The first two arguments of a call, not two of a list.
            Kind::Comma => before(self.text, bytes::back(self.text, self.start, ByteSet::of("'\"\\ "), 8)) == b'(',
            // A test's outcome; a part of a resource's name.
            Kind::Colon => self.name() != b"PASS" && before(self.text, self.start) != b':',
            _ => true,
        }
    }

    /// Behind `Bearer ` and its like.
    fn behind_scheme(&self, range: Range<usize>) -> Range<usize> {
        let value = &self.text[range.clone()];
        for scheme in ["bearer ", "basic ", "token ", "bot ", "apikey ", "ssws "] {
            if value.get(..scheme.len()).is_some_and(|v| v.eq_ignore_ascii_case(scheme.as_bytes())) {
                return range.start + scheme.len()..range.end;
            }
        }
        range
    }

    /// `DB_PASSWORD`, and no header's name.
    fn is_variable(&self) -> bool {
        self.is_loud() && !self.name().contains(&b'-')
    }

    /// A value that certainly is one: quoted, or the text of a tag.
    fn is_literal(&self, value: &[u8]) -> bool {
        if is_noise(value) {
            return true;
        }
        if value.len() < SHORTEST || is_placeholder(value) || is_place(value) || is_variable_name(value) || is_dotted_name(value) {
            return false;
        }
        if value[0] <= b' ' || memchr::memchr(b'\n', value).is_some_and(|_| !is_random(value)) {
            return false;
        }
        if self.promise == Promise::Secret && (is_words(value) || is_about_secrets(value))
            || is_name_of_type(self.name()) && self.points(value)
        {
            return false;
        }
        if self.is_pass() && is_secret(value, Promise::Password, true) {
            return true;
        }
        if self.promise.is_strong() { !is_label(value) && !self.repeats(value) } else { self.is_made(value) }
    }

    /// `password: "newPassword"`: the value is but another name.
    fn repeats(&self, value: &[u8]) -> bool {
        let is_named = value.iter().all(|b| WORD.has(*b) || *b == b'-') && promise(value).is_some();
        is_named && (!has_digit(value) && !is_gibberish(value) || is_counted(value) && is_of_words(value))
    }

    /// `ClientSecret => b"c hs traffic"`: an arm of a match, whose name is no variable's.
    fn points(&self, value: &[u8]) -> bool {
        let sign = &self.text[self.end..bytes::run(self.text, self.end, ByteSet::of(" =>"), 8)];
        memchr::memmem::find(sign, b"=>").is_some() && !has_digit(value)
    }

    /// Does the value look made by a machine?
    fn is_made(&self, value: &[u8]) -> bool {
        if value.iter().all(|b| WORD.has(*b)) && is_of_words(value) {
            return false;
        }
        if value.len() < 8 || value.iter().any(|b| *b <= b' ') || is_place(value) || is_code(value) || is_variable_name(value) {
            return false;
        }
        if !(has_digit(value) && has_letter(value)) {
            return is_scrambled(value);
        }
        match self.promise {
            Promise::Auth if self.is_pass() => is_made_up(value),
            _ if is_serial(value) => true,
            Promise::Auth => is_random(value) && !is_id(value),
            _ => !is_wordy(value) || value.iter().all(u8::is_ascii_alphanumeric),
        }
    }

    /// `AUTH password` or `AUTH user password`, as Redis has it.
    fn of_redis(&self, start: usize) -> Option<Range<usize>> {
        let first = value::bare(self.text, start, Ender::Sign, LONGEST_WITHIN);
        let second = value::bare(self.text, bytes::run(self.text, first.end, BLANK, 4), Ender::Sign, LONGEST_WITHIN);
        [first, second]
            .into_iter()
            .find(|range| is_made_up(&self.text[range.clone()]) && !is_placeholder(&self.text[range.clone()]))
    }

    fn bare_secret(&mut self, sign: Sign) -> Option<Range<usize>> {
        if sign.kind == Kind::Blank && self.name() == b"AUTH" {
            return self.of_redis(sign.value);
        }
        let whole = self.bare(sign.value, Ender::Blank);
        let full = &self.text[whole.clone()];
        if full.len() >= self.longest {
            return None;
        }
        if is_noise(full) {
            return Some(whole);
        }
        if let Some(words) = self.spoken_phrase(sign) {
            return Some(words);
        }
        let seen = if self.is_in_list() { &self.text[self.bare(sign.value, Ender::Sign)] } else { full };
        if is_code(seen) && !(self.is_loud() && sign.is_tight && is_random(full)) || self.is_reference(full) {
            return None;
        }
        let short = self.bare(sign.value, Ender::Sign);
        let goes_on = matches!(full.last(), Some(b',' | b';' | b'{' | b'('));
        let range = if self.is_on_its_own(sign) && !goes_on { whole } else { short };
        let range = if sign.kind == Kind::Colon || sign.kind == Kind::Blank { self.behind_scheme_word(range) } else { range };
        // Lines that a backslash joins are one value.
        let joined = joined(&self.text[range.clone()]);
        let value = &*joined;
        if value.len() < SHORTEST || is_placeholder(value) || is_place(value) || is_variable_name(value) || is_dotted_name(value) {
            return None;
        }
        let fits =
            if self.promise.is_strong() { self.is_bare_password(sign, value, range.end) } else { self.is_bare_key(sign, value) };
        fits.then_some(range)
    }

    /// `passphrase: four small words`: to the end of the line, and no sentence.
    fn spoken_phrase(&self, sign: Sign) -> Option<Range<usize>> {
        let is_phrase =
            self.name().to_ascii_lowercase().ends_with(b"passphrase") && matches!(sign.kind, Kind::Colon | Kind::Equals);
        let end = bytes::run(self.text, sign.value, ByteSet::of("a-z "), if is_phrase { 120 } else { 0 });
        let words = self.text[sign.value..end].trim_ascii_end();
        let count = words.split(|b| *b == b' ').filter(|w| (3..=12).contains(&w.len())).count();
        let is_all = matches!(at(self.text, end), 0 | b'\n' | b'\r') && (3..=12).contains(&count) && !has_label(words);
        (is_all && words.split(|b| *b == b' ').count() == count).then(|| sign.value..sign.value + words.len())
    }

    fn behind_scheme_word(&self, range: Range<usize>) -> Range<usize> {
        let is_scheme =
            ["bearer", "basic", "token", "bot"].iter().any(|s| self.text[range.clone()].eq_ignore_ascii_case(s.as_bytes()));
        if !is_scheme {
            return range;
        }
        value::bare(self.text, bytes::run(self.text, range.end, BLANK, 8), Ender::Sign, LONGEST_WITHIN)
    }

    /// `$NAME`, `$(…)`, `@name`, `process.env.NAME`: what a program puts in.
    fn is_reference(&self, value: &[u8]) -> bool {
        is_placeholder(value)
            || matches!(value.first(), Some(b'(' | b'{' | b'[' | b'!' | b'&' | b'<' | b'=' | b'*'))
            || is_number(value)
    }

    /// `NAME=value` as in an environment file, a shell or a query, where a value needs no quotes.
    fn is_assigned_plainly(&self, sign: Sign) -> bool {
        sign.kind == Kind::Equals
            && sign.is_tight
            && (self.is_loud()
                || self.is_on_its_own(sign)
                || self.is_flag()
                || self.is_in_list()
                || self.is_of_pairs()
                || self.is_quoted_pair()
                || self.is_option())
    }

    fn is_bare_password(&self, sign: Sign, value: &[u8], end: usize) -> bool {
        let next = at(self.text, bytes::run(self.text, end, BLANK, 8));
        let ends_line = matches!(next, 0 | b'\n' | b'\r' | b'#' | b'\\');
        let is_strange =
            has_digit(value) && has_letter(value) || value.iter().any(|b| b"!@#$%^&*+=~".contains(b)) || is_scrambled(value);
        match sign.kind {
            Kind::Equals if self.is_assigned_plainly(sign) => {
                let is_bare = self.is_loud() || self.is_in_list() || self.is_of_pairs();
                !self.repeats(value) && (is_bare || is_strange || is_plain_word(value))
            }
            // Prose needs more than a word before it is taken for a password.
            // A file of settings with blanks around its signs.
            Kind::Equals if self.is_on_its_own(sign) => is_strange && ends_line && !is_name(value),
            Kind::Blank if self.is_login() => true,
            Kind::Blank if self.is_prose() => is_made_up(value),
            Kind::Blank if humps(value) > 0 && value.len() >= 10 => !self.repeats(value) && !is_code(value),
            Kind::Is | Kind::Blank => is_strange && value.len() >= 6 && !is_wordy_technical(value) && !is_code(value),
            Kind::Colon if is_strange && !self.repeats(value) => {
                let is_default = next == b'}' && memchr::memmem::find(self.line_head(), b"${").is_some();
                let ends = ends_line || is_default || is_prose_end(next) || next == b',' && !is_word(value);
                ends && !is_name(value) && !is_wordy_technical(value)
            }
            Kind::Colon if self.promise == Promise::Secret => false,
            Kind::Colon => ends_line && self.is_on_its_own(sign) && value.len() >= 8 && is_plain_word(value) && !is_label(value),
            Kind::Table => is_strange && value.len() >= 6,
            _ => (is_random(value) || is_gibberish(value)) && !is_name(value),
        }
    }

    fn is_bare_key(&self, sign: Sign, value: &[u8]) -> bool {
        let is_plain = self.is_assigned_plainly(sign)
            || self.is_flag()
            || self.is_pass() && self.is_on_its_own(sign)
            || sign.kind == Kind::Colon && self.is_on_its_own(sign);
        if is_plain {
            self.is_made(value)
        } else {
            is_random(value) && self.is_made(value) && (has_digit(value) || is_gibberish(value))
                || sign.kind == Kind::Is && value.len() > 9 && is_password(value) && !is_harmless(value)
        }
    }
}
