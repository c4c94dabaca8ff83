//! A telling name with a value behind it: `KEY=value`, `"password": "…"`, `--token …`, `password => '…'`, `<password>…</password>`.

use std::ops::Range;

use super::harmless::{is_code, is_dotted_name, is_id, is_label, is_place, is_placeholder, is_variable_name};
use super::judge::{is_made_up, is_name, is_number, is_plain_word, is_prose_end, is_told, is_word, is_wordy_technical};
use super::names::{Promise, promise};
use super::random::{has_digit, has_letter, humps, is_gibberish, is_random, is_scrambled, is_wordy};
use super::sign::{Kind, Sign, sign_after};
use super::value;
use super::value::{Ender, LONGEST, LONGEST_WITHIN, Quote, opening, quote_at};
use super::walk::{self, BLANK, Set, URL64, WORD, at, before};

/// The longest name, on either side of the keyword.
const LONGEST_NAME: usize = 64;
const SHORTEST: usize = 4;

/// How far names and the values behind them have been looked at.
#[derive(Debug, Default)]
pub struct Seen {
    names: usize,
    values: usize,
}

/// The secret behind the name in which a keyword was seen.
pub fn find(text: &[u8], hit: Range<usize>, seen: &mut Seen) -> Option<(&'static str, Range<usize>)> {
    if hit.start < seen.names {
        return None;
    }
    let mut end = walk::run(text, hit.end, URL64, LONGEST_NAME);
    seen.names = end;
    while end > hit.end && before(text, end) == b'-' {
        end -= 1;
    }
    let start = name_start(text, hit.start);
    if let Some(secret) = default_of_variable(text, start..end) {
        return Some(secret);
    }
    let sign = sign_after(text, end)?;
    // Of a key alone only somebody who speaks says that it is one.
    let spoken = || (sign.kind == Kind::Is && text[start..end].eq_ignore_ascii_case(b"key")).then_some(Promise::Auth);
    let promise = promise(&text[start..end]).or_else(spoken)?;
    let longest = if sign.value < seen.values { LONGEST_WITHIN } else { LONGEST };
    let mut name = Name { text, start, end, promise, longest, seen: 0 };
    let secret = name.secret(sign);
    seen.values = seen.values.max(name.seen);
    let secret = secret?;
    Some((promise.rule(), secret))
}

/// `variable "db_password" { … default = "…" }`, as Terraform has it.
fn default_of_variable(text: &[u8], name: Range<usize>) -> Option<(&'static str, Range<usize>)> {
    let quote = walk::back(text, name.start, Set::of("\"\\"), 8);
    let (_, after) = quote_at(text, name.end).filter(|_| text[..quote].ends_with(b"variable "))?;
    let open = walk::run(text, after, BLANK, 8);
    let reach = text.get(open..text.len().min(open + 300)).filter(|reach| reach.starts_with(b"{"))?;
    let reach = &reach[..memchr::memchr(b'}', reach).unwrap_or(reach.len())];
    walk::count(reach.len());
    let end = open + memchr::memmem::find(reach, b"default")? + b"default".len();
    let promise = promise(&text[name.clone()])?;
    let sign = sign_after(text, end).filter(|sign| sign.kind == Kind::Equals)?;
    let (quote, start) = opening(text, sign.value)?;
    let range = start..value::quoted_end(text, start, quote, LONGEST_WITHIN)?;
    let name = Name { text, start: name.start, end: name.end, promise, longest: LONGEST_WITHIN, seen: 0 };
    name.is_literal(&text[range.clone()]).then_some((promise.rule(), range))
}

fn name_start(text: &[u8], hit: usize) -> usize {
    let mut start = walk::back(text, hit, URL64, LONGEST_NAME);
    // The `n` of `\n` is no letter of the name.
    if before(text, start) == b'\\' && start < hit && b"nrt".contains(&at(text, start)) {
        start += 1;
    }
    walk::run(text, start, Set::of("-"), LONGEST_NAME).min(hit)
}

pub struct Name<'t> {
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
            if sign.kind == Kind::Blank && self.is_prose() && !is_told(&self.text[range.clone()]) {
                return None;
            }
            return self.is_literal(&self.text[range.clone()]).then_some(range);
        }
        match sign.kind {
            Kind::Comma | Kind::Quoted => None,
            Kind::Tag => {
                let end = walk::until(self.text, sign.value, 512, |b| matches!(b, b'<' | b'\n')).0;
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
            Kind::Quoted => self.promise.is_strong(),
            // The first two arguments of a call, not two of a list.
            Kind::Comma => before(self.text, walk::back(self.text, self.start, Set::of("'\"\\ "), 8)) == b'(',
            // A test's outcome.
            Kind::Colon => self.name() != b"PASS",
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

    /// A value that certainly is one: quoted, or the text of a tag.
    fn is_literal(&self, value: &[u8]) -> bool {
        if value.len() < SHORTEST || is_placeholder(value) || is_place(value) || is_variable_name(value) || is_dotted_name(value) {
            return false;
        }
        if value[0] <= b' ' || memchr::memchr(b'\n', value).is_some_and(|_| !is_random(value)) {
            return false;
        }
        if self.promise.is_strong() { !is_label(value) && !self.repeats(value) } else { self.is_made(value) }
    }

    /// `password: "newPassword"`: the value is but another name.
    fn repeats(&self, value: &[u8]) -> bool {
        value.iter().all(|b| WORD.has(*b) || *b == b'-') && !has_digit(value) && promise(value).is_some() && !is_gibberish(value)
    }

    /// Does the value look made by a machine?
    fn is_made(&self, value: &[u8]) -> bool {
        if value.len() < 8 || value.iter().any(|b| *b <= b' ') || is_place(value) || is_code(value) || is_variable_name(value) {
            return false;
        }
        if !(has_digit(value) && has_letter(value)) {
            return is_scrambled(value);
        }
        match self.promise {
            Promise::Auth if self.is_pass() => is_made_up(value),
            Promise::Auth => is_random(value) && !is_id(value),
            _ => !is_wordy(value) || value.iter().all(u8::is_ascii_alphanumeric),
        }
    }

    /// `AUTH password` or `AUTH user password`, as Redis has it.
    fn of_redis(&self, start: usize) -> Option<Range<usize>> {
        let first = value::bare(self.text, start, Ender::Sign, LONGEST_WITHIN);
        let second = value::bare(self.text, walk::run(self.text, first.end, BLANK, 4), Ender::Sign, LONGEST_WITHIN);
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
        if is_code(full) && !(self.is_loud() && sign.is_tight && is_random(full)) || self.is_reference(full) {
            return None;
        }
        let short = self.bare(sign.value, Ender::Sign);
        let goes_on = matches!(full.last(), Some(b',' | b';' | b'{' | b'('));
        let range = if self.is_on_its_own(sign) && !goes_on { whole } else { short };
        let range = if sign.kind == Kind::Colon || sign.kind == Kind::Blank { self.behind_scheme_word(range) } else { range };
        let value = &self.text[range.clone()];
        if value.len() < SHORTEST || is_placeholder(value) || is_place(value) || is_variable_name(value) || is_dotted_name(value) {
            return None;
        }
        let fits = if self.promise.is_strong() { self.is_bare_password(sign, &range) } else { self.is_bare_key(sign, value) };
        fits.then_some(range)
    }

    fn behind_scheme_word(&self, range: Range<usize>) -> Range<usize> {
        let is_scheme =
            ["bearer", "basic", "token", "bot"].iter().any(|s| self.text[range.clone()].eq_ignore_ascii_case(s.as_bytes()));
        if !is_scheme {
            return range;
        }
        value::bare(self.text, walk::run(self.text, range.end, BLANK, 8), Ender::Sign, LONGEST_WITHIN)
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
            && (self.is_loud() || self.is_on_its_own(sign) || self.is_flag() || self.is_in_list() || self.is_of_pairs())
    }

    fn is_bare_password(&self, sign: Sign, range: &Range<usize>) -> bool {
        let value = &self.text[range.clone()];
        let next = at(self.text, walk::run(self.text, range.end, BLANK, 8));
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
            Kind::Colon if is_strange => {
                let ends = ends_line || is_prose_end(next) || next == b',' && !is_word(value);
                ends && !is_name(value) && !is_wordy_technical(value)
            }
            Kind::Colon => ends_line && self.is_on_its_own(sign) && value.len() >= 8 && is_plain_word(value) && !is_label(value),
            Kind::Table => is_strange && value.len() >= 6,
            _ => (is_random(value) || is_gibberish(value)) && !is_name(value),
        }
    }

    fn is_bare_key(&self, sign: Sign, value: &[u8]) -> bool {
        let is_plain = self.is_assigned_plainly(sign) || self.is_flag() || sign.kind == Kind::Colon && self.is_on_its_own(sign);
        if is_plain {
            self.is_made(value)
        } else {
            is_random(value) && self.is_made(value) && (has_digit(value) || is_gibberish(value))
        }
    }
}
