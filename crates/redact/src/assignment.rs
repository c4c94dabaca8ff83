//! Finds the value of a name that suggests a secret: `KEY=value`, `"password": "…"`, `--token …`, `password => '…'`,
//! `<password>…</password>`.

use std::ops::Range;

use super::accounts;
use super::bytes::{self, BLANK, ByteSet, URL64, WORD, byte_at, byte_before};
use super::candidate::{
    is_chosen_word, is_dotted_words, is_harmless, is_made_up, is_password, is_phrase as is_phrase_of_words, is_random_symbols,
    is_secret, is_serial_number,
};
use super::classify::{
    is_invented, is_numeric_literal, is_plain_word, is_quoted_secret, is_readable_identifier, is_readable_word, is_technical_term,
    may_end_value,
};
use super::columns;
use super::harmless::{has_label_word, is_code, is_dotted_name, is_id, is_label, is_path_or_url, is_placeholder, is_variable_name};
use super::kubernetes;
use super::line_wrap::unwrap_lines;
use super::lists;
use super::marks::Finding;
use super::randomness::{camel_humps, has_digit, has_letter, is_gibberish, is_mostly_words, is_random, is_readable, is_scrambled};
use super::secret_names::{SecretKind, is_harmless_key, is_of_a_program, kind_of_key, kind_of_name};
use super::sentence;
use super::separator::{Separator, SeparatorKind, separator_after};
use super::stated;
use super::typed::{Place, is_typed, names_term};
use super::value;
use super::value::{MAX_BYTES, MAX_NESTED_BYTES, Quote, ValueEnd, opening_quote, quote_at};

/// The most bytes of a name on either side of the keyword.
const MAX_NAME_BYTES: usize = 64;
const MIN_BYTES: usize = 4;
/// Of how many names close to each other the sentence behind them is searched.
const MAX_SENTENCES: usize = 4;

/// How far the text has been searched, so that no stretch is searched once per name.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    names: usize,
    values: usize,
    tables: columns::Progress,
    /// The end of the last sentence that was searched, and for how many names.
    sentences: usize,
    sentence_names: usize,
    manifests: kubernetes::Progress,
    /// How far lists under a name in the plural have been searched.
    lists: usize,
}

impl Progress {
    /// Adds the passwords below the head of a column. `name` is a word for a password in any language.
    pub(crate) fn add_cells(&mut self, text: &[u8], name: &Range<usize>, found: &mut Vec<Range<usize>>) {
        self.tables.below(text, name, SecretKind::Password, found);
    }

    /// Whether the sentence behind this name may be searched. Limits the names close to each other, so that the work stays linear.
    fn may_follow_sentence(&mut self, name: &Range<usize>) -> bool {
        if name.end >= self.sentences {
            (self.sentences, self.sentence_names) = (name.end + sentence::REACH_BYTES, 0);
        }
        self.sentence_names += 1;
        self.sentence_names <= MAX_SENTENCES
    }
}

/// Adds the secrets of the name that contains the keyword at `hit`.
pub(crate) fn find(text: &[u8], hit: Range<usize>, progress: &mut Progress, found: &mut Vec<Finding>) {
    if hit.start < progress.names {
        return;
    }
    let mut end = bytes::run_end(text, hit.end, URL64, MAX_NAME_BYTES);
    progress.names = end;
    while end > hit.end && byte_before(text, end) == b'-' {
        end -= 1;
    }
    let name = name_start(text, hit.start)..end;
    let mut ranges = Vec::new();
    if kubernetes::is_kind_of_secret(text, &name) {
        progress.manifests.add_values(text, &name, &mut ranges);
    }
    if let Some(secret_kind) = lists::values(text, &name, &mut progress.lists, &mut ranges) {
        found.extend(ranges.drain(..).map(|range| Finding { rule: secret_kind.rule_id().into(), range }));
    }
    let rule = match terraform_default(text, name.clone()).or_else(|| secret_of_name(text, name, progress, &mut ranges)) {
        Some((rule, range)) => {
            ranges.push(range);
            rule
        }
        None => "secret",
    };
    found.extend(ranges.into_iter().map(|range| Finding { rule: rule.into(), range }));
}

/// Returns the rule and the secret of a name, after a separator or in a sentence. If the name heads a column, the cells below are added to
/// `cells`.
fn secret_of_name(
    text: &[u8],
    name: Range<usize>,
    progress: &mut Progress,
    cells: &mut Vec<Range<usize>>,
) -> Option<(&'static str, Range<usize>)> {
    let name = whole_name(text, name);
    let word = &text[name.clone()];
    if let Some(secret) = terraform_output(text, name.clone()) {
        return Some(secret);
    }
    if let Some(range) = accounts::named(text, &name) {
        return Some(("password", range));
    }
    if let Some(range) = sentence::before_arrow(text, &name) {
        return Some(("password", range));
    }
    let label = kind_of_spoken_key(text, name.clone());
    let separator = separator_after(text, name.end);
    // `key` alone is a secret's name only in prose: `the key is …`.
    let is_key = |separator: &Separator| {
        separator.kind == SeparatorKind::Is && word.eq_ignore_ascii_case(b"key") && !names_harmless_key(text, name.start)
    };
    if let Some(range) = separator.and_then(|separator| wireless_key(text, &name, separator)) {
        return Some(("password", range));
    }
    let alone = || separator.filter(is_key).map(|_| SecretKind::Auth);
    // `--key …`
    let flagged = || (word.eq_ignore_ascii_case(b"key") && text[..name.start].ends_with(b" --")).then_some(SecretKind::Auth);
    let secret_kind = kind_of_name(word).or(label).or_else(alone).or_else(flagged)?;
    let by_separator = separator.and_then(|separator| {
        let max_bytes = if separator.value < progress.values { MAX_NESTED_BYTES } else { MAX_BYTES };
        let mut name = Name { text, start: name.start, end: name.end, secret_kind, max_bytes, searched: 0 };
        let secret = name.secret(separator);
        progress.values = progress.values.max(name.searched);
        secret
    });
    if by_separator.is_none() {
        let is_pass = ["pass", "pw"].iter().any(|w| word.eq_ignore_ascii_case(w.as_bytes()));
        let secret_kind = if is_pass { SecretKind::Password } else { secret_kind };
        if secret_kind != SecretKind::Auth {
            progress.tables.below(text, &name, secret_kind, cells);
        }
    }
    let secret = by_separator.or_else(|| {
        progress.may_follow_sentence(&name).then(|| sentence::find(text, name, secret_kind, label.is_some())).flatten()
    })?;
    Some((secret_kind.rule_id(), secret))
}

/// The made-up value of a `key` on a line that speaks of a wireless network, where a key is a password.
fn wireless_key(text: &[u8], name: &Range<usize>, separator: Separator) -> Option<Range<usize>> {
    if !text[name.clone()].eq_ignore_ascii_case(b"key") {
        return None;
    }
    let range = match opening_quote(text, separator.value) {
        Some((quote, start)) => start..value::quoted_end(text, start, quote, MAX_NESTED_BYTES)?,
        None => value::bare_value(text, separator.value, ValueEnd::Punctuation, MAX_NESTED_BYTES),
    };
    let is_password = is_made_up(&text[range.clone()]) || is_password(&text[range.clone()]);
    let head = &text[name.start.saturating_sub(MAX_NAME_BYTES)..name.start];
    let is_network =
        |w: &[u8]| ["wifi", "wi-f", "wlan", "wpa2", "ssid", "w-la"].iter().any(|n| w.eq_ignore_ascii_case(n.as_bytes()));
    bytes::count_steps(head.len());
    (is_password && head.windows(4).any(is_network)).then_some(range)
}

/// `pass phrase` is one name.
fn whole_name(text: &[u8], name: Range<usize>) -> Range<usize> {
    let rest = text.get(name.end..name.end + 7).unwrap_or(b"");
    let is_phrase = text[name.clone()].eq_ignore_ascii_case(b"pass") && rest.eq_ignore_ascii_case(b" phrase");
    if is_phrase { name.start..name.end + 7 } else { name }
}

/// The kind of a key by the word before it: `Datadog API key`, but not `cache key`.
fn kind_of_spoken_key(text: &[u8], name: Range<usize>) -> Option<SecretKind> {
    let word = &text[name.clone()];
    let is_short = ["key", "pat", "psk"].iter().any(|short| word.eq_ignore_ascii_case(short.as_bytes()));
    if !is_short || byte_before(text, name.start) != b' ' {
        return None;
    }
    let word = bytes::run_start(text, name.start - 1, URL64, 24);
    (word + 2 < name.start).then(|| kind_of_key(&text[word..name.start - 1])).flatten()
}

/// `the primary key` and its like hold no secret.
fn names_harmless_key(text: &[u8], start: usize) -> bool {
    let end = start.saturating_sub(1);
    let word = bytes::run_start(text, end, URL64, 24);
    is_harmless_key(&text[word..end])
}

/// Whether a value is more than a word: digits with letters, symbols, or letters in random order.
fn is_conspicuous(value: &[u8]) -> bool {
    has_digit(value) && has_letter(value)
        || value.iter().any(|b| b"!@#$%^&*+=~".contains(b))
        || is_scrambled(value)
        || is_gibberish(value)
}

/// Several words, one of which names a secret: `secret-error-sentinel`.
fn is_about_secrets(value: &[u8]) -> bool {
    let mut words = value.split(|b| b"-_".contains(b));
    let is_name = value.iter().all(|b| b.is_ascii_lowercase() || b"-_".contains(b)) && words.clone().count() > 2;
    is_name && words.any(|word| kind_of_name(word).is_some())
}

/// A digit before a letter: `Psk32Bytes`.
fn has_inner_number(value: &[u8]) -> bool {
    value.windows(2).any(|w| w[0].is_ascii_digit() && w[1].is_ascii_alphabetic())
}

/// Lower-case words separated by spaces: a label.
fn is_lowercase_words(value: &[u8]) -> bool {
    value.contains(&b' ') && value.iter().all(|b| b.is_ascii_lowercase() || *b == b' ')
}

/// `ClientSecret`, as types and enum variants are written.
fn is_name_of_type(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_uppercase) && camel_humps(name) > 0
}

/// The default of a Terraform variable: `variable "db_password" { … default = "…" }`; also the value of an `output`.
fn terraform_default(text: &[u8], name: Range<usize>) -> Option<(&'static str, Range<usize>)> {
    let quote = bytes::run_start(text, name.start, ByteSet::of("\"\\"), 8);
    let (_, after) =
        quote_at(text, name.end).filter(|_| text[..quote].ends_with(b"variable ") || text[..quote].ends_with(b"output "))?;
    let open = bytes::run_end(text, after, BLANK, 8);
    let reach = text.get(open..text.len().min(open + 300)).filter(|reach| reach.starts_with(b"{"))?;
    let reach = &reach[..bytes::find_sign(b'}', reach).unwrap_or(reach.len())];
    let word = if text[..quote].ends_with(b"output ") { &b"value"[..] } else { b"default" };
    let end = open + bytes::find(reach, word)? + word.len();
    let secret_kind = kind_of_name(&text[name.clone()])?;
    let separator = separator_after(text, end).filter(|separator| separator.kind == SeparatorKind::Equals)?;
    let (quote, start) = opening_quote(text, separator.value)?;
    let range = start..value::quoted_end(text, start, quote, MAX_NESTED_BYTES)?;
    let name = Name { text, start: name.start, end: name.end, secret_kind, max_bytes: MAX_NESTED_BYTES, searched: 0 };
    name.is_literal(&text[range.clone()]).then_some((secret_kind.rule_id(), range))
}

/// Terraform's output as JSON: `"db_password": { "sensitive": true, "value": "…" }`.
fn terraform_output(text: &[u8], name: Range<usize>) -> Option<(&'static str, Range<usize>)> {
    let (_, after) = quote_at(text, name.end)?;
    let open = bytes::run_end(text, after, ByteSet::of(": "), 8);
    let reach = text.get(open..text.len().min(open + 300)).filter(|reach| reach.starts_with(b"{"))?;
    let reach = &reach[..bytes::find_sign(b'}', reach).unwrap_or(reach.len())];
    let offset = open + bytes::find(reach, b"value")?;
    let separator = separator_after(text, offset + b"value".len()).filter(|separator| separator.kind == SeparatorKind::Colon)?;
    let (quote, start) = opening_quote(text, separator.value)?;
    let range = start..value::quoted_end(text, start, quote, MAX_NESTED_BYTES)?;
    let secret_kind = kind_of_name(&text[name])?;
    is_secret(&text[range.clone()], secret_kind, true).then_some((secret_kind.rule_id(), range))
}

fn name_start(text: &[u8], hit: usize) -> usize {
    let mut start = bytes::run_start(text, hit, URL64, MAX_NAME_BYTES);
    // The `n` of an escaped newline is not part of the name.
    if byte_before(text, start) == b'\\' && start < hit && b"nrt".contains(&byte_at(text, start)) {
        start += 1;
    }
    bytes::run_end(text, start, ByteSet::of("-"), MAX_NAME_BYTES).min(hit)
}

pub(crate) struct Name<'t> {
    pub text: &'t [u8],
    pub start: usize,
    pub end: usize,
    secret_kind: SecretKind,
    /// The most bytes of a value.
    max_bytes: usize,
    /// How far values have been searched.
    searched: usize,
}

impl Name<'_> {
    fn secret(&mut self, separator: Separator) -> Option<Range<usize>> {
        if !self.allows(separator.kind) {
            return None;
        }
        if let Some((quote, start)) = opening_quote(self.text, separator.value) {
            if separator.closing_quote.is_none() && self.is_inside(quote) || b"),;:]}".contains(&byte_at(self.text, start)) {
                return None;
            }
            let range = start..self.quoted_end(start, quote).unwrap_or_else(|| self.bare_value(start, ValueEnd::Whitespace).end);
            let range = self.skip_auth_scheme(range);
            let value = &self.text[range.clone()];
            if separator.kind == SeparatorKind::Comma && !self.is_variable() && !is_conspicuous(value) {
                return None;
            }
            if separator.kind == SeparatorKind::Blank && self.is_prose() && !is_quoted_secret(value)
                || separator.kind == SeparatorKind::Call && !is_password(value)
            {
                return None;
            }
            let fits = self.is_literal(value) || self.is_typed_literal(separator, value);
            return fits.then_some(range);
        }
        match separator.kind {
            SeparatorKind::Comma | SeparatorKind::Quoted | SeparatorKind::Call => None,
            SeparatorKind::Tag => {
                let end = bytes::find_byte(self.text, separator.value, 512, |b| matches!(b, b'<' | b'\n')).0;
                let is_closed = self.text[end..].starts_with(b"</");
                let fits = |value: &[u8]| self.is_literal(value) || self.is_typed_literal(separator, value);
                Some(separator.value..end).filter(|range| is_closed && fits(&self.text[range.clone()]))
            }
            _ => self.bare_secret(separator),
        }
    }

    fn bare_value(&mut self, start: usize, value_end: ValueEnd) -> Range<usize> {
        let range = value::bare_value(self.text, start, value_end, self.max_bytes);
        self.searched = self.searched.max(range.end);
        range
    }

    fn quoted_end(&mut self, start: usize, quote: Quote) -> Option<usize> {
        let end = value::quoted_end(self.text, start, quote, self.max_bytes);
        self.searched = self.searched.max(end.unwrap_or(start + self.max_bytes));
        end
    }

    /// Whether a value may follow this name after this kind of separator.
    fn allows(&self, kind: SeparatorKind) -> bool {
        match kind {
            // `<password>…`, `<property name="db.password">…`
            SeparatorKind::Tag => {
                byte_before(self.text, self.start) == b'<'
                    || byte_at(self.text, self.end) == b'"' && self.line_head().ends_with(b".")
            }
            SeparatorKind::Blank => {
                self.is_row()
                    || self.is_flag()
                    || self.is_netrc_entry()
                    || self.is_declared()
                    || self.is_in_prose()
                    || self.name() == b"AUTH"
            }
            SeparatorKind::Quoted => {
                self.secret_kind.accepts_plain_words() || self.line_head().trim_ascii_start().starts_with(b"#define")
            }
            // Only the first two arguments of a call, not two elements of a list.
            SeparatorKind::Comma => {
                byte_before(self.text, bytes::run_start(self.text, self.start, ByteSet::of("'\"\\ "), 8)) == b'('
            }
            // `PASS:` is the outcome of a test, `:name:` part of a resource's name.
            SeparatorKind::Colon => self.name() != b"PASS" && byte_before(self.text, self.start) != b':',
            _ => true,
        }
    }

    /// The value without a leading `Bearer ` or other scheme.
    fn skip_auth_scheme(&self, range: Range<usize>) -> Range<usize> {
        let value = &self.text[range.clone()];
        for scheme in ["bearer ", "basic ", "token ", "bot ", "apikey ", "ssws "] {
            if value.get(..scheme.len()).is_some_and(|v| v.eq_ignore_ascii_case(scheme.as_bytes())) {
                return range.start + scheme.len()..range.end;
            }
        }
        range
    }

    /// `DB_PASSWORD`, but not the name of a header.
    fn is_variable(&self) -> bool {
        self.is_uppercase() && !self.name().contains(&b'-')
    }

    /// Whether a delimited value (quoted, or the text of a tag) is the secret.
    fn is_literal(&self, value: &[u8]) -> bool {
        if is_random_symbols(value) {
            return true;
        }
        if value.len() < MIN_BYTES
            || is_placeholder(value)
            || is_path_or_url(value)
            || is_variable_name(value)
            || is_dotted_name(value) && !(self.secret_kind == SecretKind::Password && is_dotted_words(value))
        {
            return false;
        }
        if value[0] <= b' ' || bytes::find_sign(b'\n', value).is_some_and(|_| !is_random(value)) {
            return false;
        }
        if self.secret_kind == SecretKind::Secret && (is_lowercase_words(value) || is_about_secrets(value))
            || is_name_of_type(self.name()) && self.is_match_arm(value)
        {
            return false;
        }
        if self.is_pass() && is_secret(value, SecretKind::Password, true) {
            return true;
        }
        if self.secret_kind.accepts_plain_words() {
            !is_label(value) && !self.is_another_name(value)
        } else {
            self.is_generated(value)
        }
    }

    /// `password: "newPassword"`: the value is only another name.
    fn is_another_name(&self, value: &[u8]) -> bool {
        let is_named = value.iter().all(|b| WORD.has(*b) || *b == b'-') && kind_of_name(value).is_some();
        is_named && (!has_digit(value) && !is_gibberish(value) || has_inner_number(value) && is_mostly_words(value))
    }

    /// b"c hs traffic"`: an arm of a match, => `ClientSecret => b"c hs traffic"`: a match arm, where the name is not a variable.
    fn is_match_arm(&self, value: &[u8]) -> bool {
        let separator = &self.text[self.end..bytes::run_end(self.text, self.end, ByteSet::of(" =>"), 8)];
        bytes::find(separator, b"=>").is_some() && !has_digit(value)
    }

    /// Whether the value looks generated.
    fn is_generated(&self, value: &[u8]) -> bool {
        if value.iter().all(|b| WORD.has(*b)) && is_mostly_words(value) {
            return false;
        }
        if value.len() < 8 || value.iter().any(|b| *b <= b' ') || is_path_or_url(value) || is_code(value) || is_variable_name(value)
        {
            return false;
        }
        if !(has_digit(value) && has_letter(value)) {
            return is_scrambled(value);
        }
        match self.secret_kind {
            SecretKind::Auth if self.is_pass() => is_invented(value),
            _ if is_serial_number(value) => true,
            SecretKind::Auth => is_random(value) && !is_id(value),
            _ => !is_readable(value) || value.iter().all(u8::is_ascii_alphanumeric),
        }
    }

    /// Whether a delimited value is what a person typed for this key or token.
    fn is_typed_literal(&self, separator: Separator, value: &[u8]) -> bool {
        let place = match separator.kind {
            SeparatorKind::Equals if self.is_uppercase() && separator.is_tight && self.starts_line(separator) => Place::Variable,
            SeparatorKind::Colon if self.is_uppercase() && separator.closing_quote.is_some() => Place::Variable,
            SeparatorKind::Tag => Place::Setting,
            SeparatorKind::Colon if separator.closing_quote.is_some() || self.starts_line(separator) => Place::Setting,
            SeparatorKind::Equals | SeparatorKind::Colon => Place::Code,
            SeparatorKind::Blank | SeparatorKind::Quoted if self.is_flag() => Place::Setting,
            _ => return false,
        };
        has_digit(value) && self.may_be_typed(place) && is_typed(value, place)
    }

    /// Whether a bare value that ends at `end` is what a person typed for this key or token.
    fn is_typed_bare(&self, separator: Separator, value: &[u8], end: usize) -> bool {
        let next = byte_at(self.text, end);
        let ends = next <= b' '
            || matches!(next, b'"' | b'\'' | b'`' | b'\\')
            || next == b'&' && self.is_in_list()
            || next == b';' && self.starts_line(separator);
        let place = match separator.kind {
            SeparatorKind::Equals if self.is_uppercase() && self.is_assigned_plainly(separator) => Place::Variable,
            SeparatorKind::Equals if self.is_assigned_plainly(separator) => Place::Setting,
            SeparatorKind::Colon if self.starts_line(separator) && self.is_variable() => Place::Variable,
            SeparatorKind::Colon if self.starts_line(separator) || self.is_quoted_pair() => Place::Label,
            // `name: API_KEY` and `value: …`
            SeparatorKind::Colon if byte_at(self.text, self.end) != b':' => Place::Label,
            SeparatorKind::Blank if self.is_flag() || self.is_declared() => Place::Setting,
            _ => return false,
        };
        // Words without a number are names, too, unless they are all that a variable's line holds.
        let is_all = separator.kind == SeparatorKind::Equals && self.starts_line(separator);
        ends && (has_digit(value) || is_all) && self.may_be_typed(place) && is_typed(value, place)
    }

    /// Whether people type the value of this name. Of the weaker names, they do so for a variable that is a key.
    fn may_be_typed(&self, place: Place) -> bool {
        match self.secret_kind {
            SecretKind::Token | SecretKind::Key => !is_of_a_program(self.name()),
            SecretKind::Auth => place == Place::Variable && self.name().ends_with(b"KEY"),
            SecretKind::Password | SecretKind::Secret => false,
        }
    }

    /// Redis: `AUTH password` or `AUTH user password`.
    fn redis_auth(&self, start: usize) -> Option<Range<usize>> {
        let first = value::bare_value(self.text, start, ValueEnd::Punctuation, MAX_NESTED_BYTES);
        let second =
            value::bare_value(self.text, bytes::run_end(self.text, first.end, BLANK, 4), ValueEnd::Punctuation, MAX_NESTED_BYTES);
        [first, second]
            .into_iter()
            .find(|range| is_invented(&self.text[range.clone()]) && !is_placeholder(&self.text[range.clone()]))
    }

    /// ODBC: `;PWD={…}`, in which `}}` stands for a brace. A name there is filled in by a program.
    fn braced(&self, separator: Separator) -> Option<Range<usize>> {
        const BYTES: ByteSet = ByteSet::of("!-!#-|~");
        if !self.is_in_list() || separator.kind != SeparatorKind::Equals || byte_at(self.text, separator.value) != b'{' {
            return None;
        }
        let start = separator.value + 1;
        let mut end = bytes::run_end(self.text, start, BYTES, MAX_NESTED_BYTES);
        while self.text[end..].starts_with(b"}}") && end - start < MAX_NESTED_BYTES {
            end = bytes::run_end(self.text, end + 2, BYTES, MAX_NESTED_BYTES);
        }
        let value = &self.text[start..end];
        let is_unusual = has_digit(value) && has_letter(value) || value.iter().any(|b| b";}!@#$%^&*+~".contains(b));
        let is_name = is_readable_word(value) || is_code(value) || value.contains(&b'{');
        (byte_at(self.text, end) == b'}' && value.len() >= 6 && is_unusual && !is_name).then_some(start..end)
    }

    fn bare_secret(&mut self, separator: Separator) -> Option<Range<usize>> {
        if separator.kind == SeparatorKind::Blank && self.name() == b"AUTH" {
            return self.redis_auth(separator.value);
        }
        if let Some(range) = self.braced(separator) {
            return Some(range);
        }
        let whole = self.bare_value(separator.value, ValueEnd::Whitespace);
        let full = &self.text[whole.clone()];
        if full.len() >= self.max_bytes {
            return None;
        }
        if is_random_symbols(full) {
            return Some(whole);
        }
        if let Some(words) = self.passphrase_words(separator) {
            return Some(words);
        }
        let read = if self.is_in_list() { &self.text[self.bare_value(separator.value, ValueEnd::Punctuation)] } else { full };
        let is_code =
            is_code(read) && !(self.is_uppercase() && separator.is_tight && is_random(full)) && !self.is_made_up_password(read);
        if is_code || self.is_reference(full) {
            return None;
        }
        let short = self.bare_value(separator.value, ValueEnd::Punctuation);
        let continues = matches!(full.last(), Some(b',' | b';' | b'{' | b'('));
        let range = if self.starts_line(separator) && !continues { whole } else { short };
        let range = if separator.kind == SeparatorKind::Colon || separator.kind == SeparatorKind::Blank {
            self.after_scheme_word(range)
        } else {
            range
        };
        // Lines joined by a backslash are one value.
        let joined = unwrap_lines(&self.text[range.clone()]);
        let value = &*joined;
        if value.len() < MIN_BYTES
            || is_placeholder(value)
            || is_path_or_url(value)
            || is_variable_name(value)
            || is_dotted_name(value) && !self.is_made_up_password(value)
        {
            return None;
        }
        let fits = if self.secret_kind.accepts_plain_words() {
            self.is_bare_password(separator, value, range.end)
        } else {
            self.is_bare_key(separator, value) || self.is_typed_bare(separator, value, range.end)
        };
        fits.then_some(range)
    }

    /// Whether a value that reads like a name is what a person made up for a password.
    fn is_made_up_password(&self, value: &[u8]) -> bool {
        self.secret_kind == SecretKind::Password && (is_made_up(value) || self.is_in_list() && is_dotted_words(value))
    }

    /// `passphrase: four small words`: three to twelve words up to the end of the line, none of them a label's.
    fn passphrase_words(&self, separator: Separator) -> Option<Range<usize>> {
        if separator.kind == SeparatorKind::Is && self.name().eq_ignore_ascii_case(b"passphrase") {
            return self.spoken_phrase(separator.value);
        }
        let is_phrase = self.name().to_ascii_lowercase().ends_with(b"passphrase")
            && matches!(separator.kind, SeparatorKind::Colon | SeparatorKind::Equals);
        let end = bytes::run_end(self.text, separator.value, ByteSet::of("a-z0-9 "), if is_phrase { 120 } else { 0 });
        let words = self.text[separator.value..end].trim_ascii_end();
        if is_phrase && is_phrase_of_words(words) && matches!(byte_at(self.text, end), 0 | b'\n' | b'\r') {
            return Some(separator.value..separator.value + words.len());
        }
        let count = words.split(|b| *b == b' ').filter(|w| (3..=12).contains(&w.len())).count();
        let is_all = matches!(byte_at(self.text, end), 0 | b'\n' | b'\r') && (3..=12).contains(&count) && !has_label_word(words);
        (is_all && words.split(|b| *b == b' ').count() == count).then(|| separator.value..separator.value + words.len())
    }

    /// `the passphrase is four Small words 41, …`: words in any language and a number, up to the end of the part of the sentence.
    fn spoken_phrase(&self, start: usize) -> Option<Range<usize>> {
        const COUNTED: [&str; 15] = [
            "since", "until", "version", "section", "chapter", "line", "page", "step", "least", "rule", "about", "over", "under",
            "every", "than",
        ];
        let (end, found) = bytes::find_byte(self.text, start, 80, |b| b"\n,.;!?)\"".contains(&b));
        let value = &self.text[start..end];
        let words = || value.split(|b| *b == b' ');
        let is_word = |word: &[u8]| word.len() > 2 && word.iter().all(|b| b.is_ascii_alphabetic() || *b >= 0x80);
        let last = words().next_back().is_some_and(|word| (1..=4).contains(&word.len()) && word.iter().all(u8::is_ascii_digit));
        // `changed every release since 2024`
        let is_told = |word: &[u8]| word.ends_with(b"ed") || COUNTED.iter().any(|w| word.eq_ignore_ascii_case(w.as_bytes()));
        let count = words().count();
        let is_phrase = last
            && !words().any(is_told)
            && (4..=8).contains(&count)
            && words().take(count - 1).all(is_word)
            && !has_label_word(value);
        (is_phrase && (found || end == self.text.len())).then_some(start..end)
    }

    fn after_scheme_word(&self, range: Range<usize>) -> Range<usize> {
        let is_scheme =
            ["bearer", "basic", "token", "bot"].iter().any(|s| self.text[range.clone()].eq_ignore_ascii_case(s.as_bytes()));
        if !is_scheme {
            return range;
        }
        value::bare_value(self.text, bytes::run_end(self.text, range.end, BLANK, 8), ValueEnd::Punctuation, MAX_NESTED_BYTES)
    }

    /// Placeholders, and values that begin like an expression: `$NAME`, `$(…)`, `[…`, `&x`, `0x1f`.
    fn is_reference(&self, value: &[u8]) -> bool {
        is_placeholder(value)
            || matches!(value.first(), Some(b'(' | b'{' | b'[' | b'!' | b'&' | b'<' | b'=' | b'*'))
            || is_numeric_literal(value)
    }

    /// `NAME=value` as in an environment file, a shell command or a query, where a value needs no quotes.
    fn is_assigned_plainly(&self, separator: Separator) -> bool {
        separator.kind == SeparatorKind::Equals
            && separator.is_tight
            && (self.is_uppercase()
                || self.starts_line(separator)
                || self.is_flag()
                || self.is_in_list()
                || self.follows_pair()
                || self.is_quoted_pair()
                || self.is_mount_option()
                || self.is_option())
    }

    fn is_bare_password(&self, separator: Separator, value: &[u8], end: usize) -> bool {
        let next = byte_at(self.text, bytes::run_end(self.text, end, BLANK, 8));
        let ends_line = matches!(next, 0 | b'\n' | b'\r' | b'#' | b'\\');
        let is_unusual =
            has_digit(value) && has_letter(value) || value.iter().any(|b| b"!@#$%^&*+=~".contains(b)) || is_scrambled(value);
        if separator.kind == SeparatorKind::Equals
            && separator.is_tight
            && (is_made_up(value) || self.is_said(end) && (stated::is_numbered(value) || self.is_password_of_words(value)))
        {
            return true;
        }
        match separator.kind {
            SeparatorKind::Equals if self.is_assigned_plainly(separator) => {
                let is_listed = self.is_mount_option() && is_unusual;
                let is_bare = is_listed || self.is_uppercase() || self.is_in_list() || self.follows_pair();
                !self.is_another_name(value) && (is_bare || is_unusual || is_plain_word(value))
            }
            // A settings file with spaces around `=`.
            SeparatorKind::Equals if self.starts_line(separator) => is_unusual && ends_line && !is_readable_identifier(value),
            SeparatorKind::Blank if self.is_netrc_entry() => true,
            SeparatorKind::Blank if self.is_row() => is_unusual && ends_line && value.len() >= 8 && !is_readable_identifier(value),
            SeparatorKind::Blank if self.is_prose() => is_invented(value) || is_made_up(value) || is_chosen_word(value),
            SeparatorKind::Blank if camel_humps(value) > 0 && value.len() >= 10 => !self.is_another_name(value) && !is_code(value),
            SeparatorKind::Is if self.is_password_of_words(value) => {
                self.ends_statement(end) && !stated::is_supposed(self.line_head())
            }
            SeparatorKind::Is | SeparatorKind::Blank => {
                // `base64-encoded`
                let is_term = value.contains(&b'-') && names_term(&value.to_ascii_lowercase());
                is_unusual && value.len() >= 6 && !is_term && !is_technical_term(value) && !is_code(value)
            }
            SeparatorKind::Colon if ends_line && self.starts_line(separator) && self.is_labelled(value) => true,
            SeparatorKind::Colon if is_unusual && !self.is_another_name(value) => {
                let is_default = next == b'}' && bytes::find(self.line_head(), b"${").is_some();
                let is_listed = next == b',' && !is_readable_word(value) || b"),;".contains(&next) && is_made_up(value);
                let ends = ends_line || is_default || may_end_value(next) || is_listed;
                ends && !is_readable_identifier(value) && !is_technical_term(value)
            }
            SeparatorKind::Colon if self.secret_kind == SecretKind::Secret => false,
            SeparatorKind::Colon => {
                let is_message = is_label(value) || stated::is_said_of_passwords(value);
                ends_line && self.starts_line(separator) && value.len() >= 8 && is_plain_word(value) && !is_message
            }
            SeparatorKind::Table => is_unusual && value.len() >= 6,
            _ => (is_random(value) || is_gibberish(value)) && !is_readable_identifier(value),
        }
    }

    /// `use password=… please`, `` `password=…` ``: whether a pair that ends at `end` stands alone in a sentence or in its quotes, and not among
    /// the arguments of a call.
    fn is_said(&self, end: usize) -> bool {
        let ends = match byte_at(self.text, end) {
            b',' => !self.line_head().contains(&b'('),
            next => next <= b' ' || b"`.!?".contains(&next),
        };
        ends && b" `".contains(&byte_before(self.text, self.start))
    }

    /// `correcthorse`, stated for a password. Other secrets are also other things: `the secret is teamwork`.
    fn is_password_of_words(&self, value: &[u8]) -> bool {
        self.secret_kind == SecretKind::Password && stated::is_word(value)
    }

    /// Whether a part of a sentence ends at `end`.
    fn ends_statement(&self, end: usize) -> bool {
        matches!(byte_at(self.text, end), 0 | b'\n' | b'\r' | b',' | b'.' | b'!' | b';' | b')')
    }

    /// `Passwort: Sonnenblume7`. Behind a name in small letters a capital begins a type.
    fn is_labelled(&self, value: &[u8]) -> bool {
        let may_be_type = value[0].is_ascii_uppercase() && !self.name()[0].is_ascii_uppercase();
        self.secret_kind == SecretKind::Password && value.len() >= 8 && stated::is_numbered(value) && !may_be_type
    }

    fn is_bare_key(&self, separator: Separator, value: &[u8]) -> bool {
        let is_plain = self.is_assigned_plainly(separator)
            || self.is_flag()
            || self.is_pass() && self.starts_line(separator)
            || separator.kind == SeparatorKind::Colon && self.starts_line(separator);
        if is_plain {
            self.is_generated(value) || self.is_pass() && self.is_mount_option() && is_made_up(value)
        } else {
            is_random(value) && self.is_generated(value) && (has_digit(value) || is_gibberish(value))
                || separator.kind == SeparatorKind::Equals && separator.is_tight && self.is_credentials() && is_made_up(value)
                || separator.kind == SeparatorKind::Is && value.len() > 9 && is_password(value) && !is_harmless(value)
        }
    }
}
