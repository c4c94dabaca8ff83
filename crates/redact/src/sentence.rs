//! Finds a secret in the sentence of its name, with words between: `Password for the database: …`, `use … as the password`,
//! `process.env.TOKEN ?? "…"`; and on the line after the name.

use std::ops::Range;

use super::bytes::{self, ByteSet, byte_at, byte_before};
use super::candidate::{has_two_numbers, is_chosen_word, is_given, is_harmless, is_joined, is_made_up, is_phrase, is_secret};
use super::harmless::{is_code, is_path_or_url, is_placeholder};
use super::line_wrap::{line_break, skip_line_prefix};
use super::randomness::{camel_humps, is_mixed, is_mostly_words};
use super::secret_names::{SecretKind, is_negating};
use super::stated;
use super::value::{opening_quote, quote_at, quoted_end};

/// How far a sentence is searched, in bytes and in words.
pub(crate) const REACH_BYTES: usize = 140;
const MAX_WORDS: usize = 14;
/// The most bytes of a word.
const MAX_BYTES: usize = 512;
/// What separates words, besides all non-ASCII characters.
const WORD_SEPARATORS: ByteSet = ByteSet::of(" \t\"'`()[]{}<>,;|");
/// Verbs and other words that lead from a name to its value.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "is", "are", "was", "be", "ist", "lautet", "est", "es", "er", "sein", "becomes", "now", "equals", "sera", "este", "jest", "lyder", "je", "heter",
    "r", "son", "suivant", "namely", "reads", "to", "auf", "still", "/", "jetzt", "nun", "ahora", "maintenant", "agora", "ora", "olarak",
];
/// Of these, forms of "to be": what follows them directly is the value; `r` is the rest of `är`. And words that may stand between.
const BEING: [&str; 11] = ["is", "ist", "lautet", "est", "es", "er", "r", "je", "jest", "to", "heter"];
const NOW: [&str; 9] = ["now", "still", "jetzt", "nun", "ahora", "maintenant", "agora", "ora", "adesso"];
/// Signs and words that are not ASCII and say the same.
const EQUATING: [&str; 10] = ["—", "–", "：", "é", "è", "是", "为", "為", "は", "="];
/// Words that lead to what a secret is for.
const PREPOSITIONS: [&str; 11] = ["for", "of", "von", "pour", "de", "para", "per", "di", "voor", "del", "by"];
/// Words that lead from a user to the password.
const LOGIN_LEADS: [&str; 12] = ["with", "using", "/", "password", "pw", "mit", "avec", "con", "com", "passwort", "and", "met"];
/// What announces a user and a password.
pub(crate) const LOGINS: [&str; 9] = [
    "log in as ", "login as ", "login with ", "logged in as ", "sign in as ", "log in with ", "melde dich als ", "login als ",
    "inicia sesión como ",
];

/// A word of a sentence.
struct SentenceWord {
    range: Range<usize>,
    /// A quote, a separator or a verb leads to it.
    introduced: bool,
    quoted: bool,
}

/// The secret that other words separate from its name. Names of the kind `Auth` count only where prose uses them: `Datadog key`, `pw`.
pub(crate) fn find(text: &[u8], name: Range<usize>, secret_kind: SecretKind, is_label: bool) -> Option<Range<usize>> {
    let word = &text[name.clone()];
    let is_login = ["credentials", "creds"].iter().any(|w| word.eq_ignore_ascii_case(w.as_bytes()))
        && b": ".contains(&byte_at(text, name.end));
    let is_pass = is_login || word.eq_ignore_ascii_case(b"pw") && byte_at(text, name.end) != b'.';
    let last = byte_before(text, name.start);
    let is_word = !last.is_ascii_alphanumeric() && !b"/+\\".contains(&last);
    if secret_kind == SecretKind::Auth && !is_label && !is_pass || !is_word || !is_name(word) {
        return None;
    }
    let secret_kind = if is_pass { SecretKind::Password } else { secret_kind };
    let is_german = ["passwort", "kennwort"].iter().any(|w| word.eq_ignore_ascii_case(w.as_bytes()));
    // `la password`, `il token`
    let is_foreign = is_german || text[..name.start].ends_with(b"la ") || text[..name.start].ends_with(b"il ");
    read_on(text, name.end, secret_kind, is_foreign)
        .or_else(|| behind_with(text, &name).filter(|_| secret_kind == SecretKind::Password))
        .or_else(|| on_next_line(text, name.end, secret_kind))
        .or_else(|| in_next_element(text, &name, secret_kind))
        .or_else(|| before_name(text, name.start, secret_kind))
        .or_else(|| before_foreign(text, &name).filter(|_| is_foreign && secret_kind == SecretKind::Password))
}

/// `with the password velvetOtter93`
fn behind_with(text: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let head = text[..name.start].strip_suffix(b"the ").unwrap_or(&text[..name.start]);
    let is_given = [&b"with "[..], b"using ", b"use "].iter().any(|word| head.ends_with(word)) && byte_at(text, name.end) == b' ';
    let start = name.end + 1;
    let end = bytes::find_byte(text, start, 40, |b| b <= b' ' || b",;)".contains(&b)).0;
    (is_given && end > start && is_joined(&text[start..end])).then_some(start..end)
}

/// `Kelp$Anchor41 <- that's the password`: the word before an arrow, alone on its line but for what is said about it. `name` is a word for a
/// password.
pub(crate) fn before_arrow(text: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    const SAID: [&str; 10] = ["that", "thats", "that's", "this", "is", "the", "your", "my", "our", "new"];
    let is_name =
        ["pass", "pw", "pwd", "password", "passphrase"].iter().any(|w| text[name.clone()].eq_ignore_ascii_case(w.as_bytes()));
    if !is_name || byte_before(text, name.start) != b' ' {
        return None;
    }
    let from = name.start.saturating_sub(REACH_BYTES / 2);
    let head = &text[from..name.start];
    let line = from + bytes::rfind_sign(b'\n', head).map_or(0, |n| n + 1);
    let head = &text[line..name.start];
    let (at, len) = ["<--", "<-", "←"].iter().find_map(|arrow| bytes::find(head, arrow.as_bytes()).map(|n| (n, arrow.len())))?;
    let mut said = head[at + len..].split(|b| *b == b' ').filter(|word| !word.is_empty());
    let is_said = said.clone().count() <= 5 && said.next().is_some_and(|word| is_one_of(word, &SAID));
    let start = line + head.iter().take_while(|b| b" `\"'*".contains(b)).count();
    let end = bytes::run_start(text, line + at, ByteSet::of(" `\"'*"), 4).max(start);
    let is_whole = line == 0 || byte_before(text, line) == b'\n';
    (is_said && is_whole && is_given(&text[start..end])).then_some(start..end)
}

/// The secret behind a name in any language, in its sentence or on the next line.
pub(crate) fn find_in_any_language(text: &[u8], end: usize, secret_kind: SecretKind) -> Option<Range<usize>> {
    // The rest of an inflected word: `lösenordet`.
    let end = bytes::run_end(text, end, ByteSet::of("a-z"), 4);
    read_on(text, end, secret_kind, true).or_else(|| on_next_line(text, end, secret_kind))
}

/// A name as people and programs write it, not a piece of encoded data.
fn is_name(word: &[u8]) -> bool {
    let letters = word.iter().rposition(|b| !b.is_ascii_digit()).map_or(0, |n| n + 1);
    let is_short = word.len() <= 24 && !word[..letters].iter().any(|b| b.is_ascii_digit());
    is_short || word.len() <= 64 && is_mostly_words(word)
}

/// The secret on the same line behind a name that ends at `end`. Names in other languages do not occur in code, so what follows them directly is
/// their value.
fn read_on(text: &[u8], end: usize, secret_kind: SecretKind, is_foreign: bool) -> Option<Range<usize>> {
    let stop = line_end(text, end);
    let line = &text[end..stop];
    bytes::count_steps(line.len());
    if let Some(range) = rest_of_line(text, end..stop).filter(|_| secret_kind == SecretKind::Password) {
        return Some(range);
    }
    let may_hold_secret = line.iter().any(u8::is_ascii_digit) || camel_humps(line) > 2;
    if !may_hold_secret || is_negating(next_word(line)) {
        return None;
    }
    let is_code = is_code_after(line);
    // The quote that closes the name does not open a value.
    let offset = quote_at(text, end).filter(|_| is_code).map_or(end, |(_, after)| after);
    let mut line = SentenceReader { text, offset, stop, verb: false, is_code };
    let most = if secret_kind.accepts_plain_words() || is_code { MAX_WORDS } else { MAX_WORDS / 2 };
    let mut is_for = false;
    let mut lead = Lead::new(text, end..stop);
    for n in 0..most {
        let word = line.next()?;
        let value = &text[word.range.clone()];
        let is_stated = lead.states(text, &word.range) && secret_kind == SecretKind::Password && !is_code;
        let is_call = byte_at(text, word.range.end) == b'(';
        // A key may follow its name without a separator.
        let introduced = word.introduced || n == 0 && (!secret_kind.accepts_plain_words() || is_foreign);
        // In code only a literal can be the secret, in prose any word.
        let introduced = introduced && !(is_for && (is_made_up(value) || is_joined(value)));
        is_for = is_one_of(value, &PREPOSITIONS);
        let is_chosen = introduced
            && !is_code
            && secret_kind == SecretKind::Password
            && n < 8
            && (is_chosen_word(value) || is_joined(value) || is_foreign && n == 0 && is_quoted_alone(text, &word.range));
        let fits = || is_chosen || is_stated && stated::is_numbered(value) || is_secret(value, secret_kind, introduced);
        if (word.quoted || !is_code) && !is_call && fits() {
            return Some(word.range);
        }
        let continues = is_code || word.quoted || is_prose_word(value) || is_path_or_url(value) || is_masked(value);
        if !continues || ends_sentence(text, word.range.end) {
            return None;
        }
    }
    None
}

/// What leads from a name to the word that is read: `ist`, `is now`, `for root is`, `—`.
struct Lead {
    /// Where the last word ends.
    end: usize,
    is_first: bool,
    /// The name is followed by what the secret is for.
    is_for: bool,
    /// A form of "to be" is the last word, right behind the name or behind what the secret is for.
    is_being: bool,
}

impl Lead {
    fn new(text: &[u8], line: Range<usize>) -> Self {
        let rest = &text[line.clone()];
        let is_for = is_one_of(next_word(rest), &PREPOSITIONS) || rest.starts_with(" für ".as_bytes());
        Self { end: line.start, is_first: true, is_for, is_being: false }
    }

    /// Whether it says that the word is the secret. Then goes on to the next one.
    fn states(&mut self, text: &[u8], word: &Range<usize>) -> bool {
        let between = text[self.end..word.start.max(self.end)].trim_ascii();
        let between = between.strip_prefix(b":").unwrap_or(between).trim_ascii();
        let between = between.strip_suffix(b"`").or_else(|| between.strip_suffix(b"\"")).unwrap_or(between).trim_ascii();
        let is_equated = EQUATING.iter().any(|sign| between == sign.as_bytes());
        let states = self.is_being && (between.is_empty() || is_equated) || self.is_first && is_equated;
        let value = &text[word.clone()];
        let may_be = self.is_first || self.is_for;
        self.is_being = may_be && is_one_of(value, &BEING) || self.is_being && is_one_of(value, &NOW);
        (self.end, self.is_first) = (word.end, false);
        states
    }
}

/// `… generated for root: q>8Lm/tBx)4w`: the last word of the line, behind a colon, with a sign where words have none.
fn rest_of_line(text: &[u8], line: Range<usize>) -> Option<Range<usize>> {
    let is_whole = matches!(byte_at(text, line.end), 0 | b'\n');
    let line = line.start..line.start + text[line.clone()].trim_ascii_end().len();
    let start = line.start + bytes::rfind(&text[line.clone()], b" ")? + 1;
    let value = &text[start..line.end];
    let is_mixed = is_mixed(value) && value.iter().any(|b| b"<>()[]{},;|".contains(b));
    let fits = is_whole
        && byte_before(text, start - 1) == b':'
        && (8..=40).contains(&value.len())
        && is_mixed
        && !b"'\"`(".contains(&value[0]);
    (fits && !is_code(value) && !is_placeholder(value) && !value.ends_with(b";")).then_some(start..line.end)
}

/// 「Hotaru8mGx2」, or without quotes if it has numbers in two places.
fn is_quoted_alone(text: &[u8], range: &Range<usize>) -> bool {
    let value = &text[range.clone()];
    let is_quoted = ["「", "『", "“", "‘", "«", "\"", "'", "`"].iter().any(|quote| text[..range.start].ends_with(quote.as_bytes()));
    (is_quoted || has_two_numbers(value)) && is_given(value)
}

/// The secret before a name in another language at `start`: `… es la contraseña`, `… şifresi`, `「…」がパスワード`.
pub(crate) fn before_foreign(text: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    const LINKS: [&str; 9] = ["es", "est", "é", "è", "jest", "to", "—", "-", "är"];
    let from = name.start.saturating_sub(REACH_BYTES / 2);
    let head = &text[from..name.start];
    bytes::count_steps(head.len());
    let head = &head[bytes::rfind_sign(b'\n', head).map_or(0, |n| n + 1)..];
    let mut rest = head.trim_ascii_end();
    if let Some(before) = rest.strip_suffix("が".as_bytes()) {
        rest = before;
    } else if !text[name.clone()].ends_with("ifre".as_bytes()) && text[name.clone()] != *b"parola" {
        let mut linked = false;
        for _ in 0..2 {
            let start = rest.iter().rposition(|b| *b == b' ')? + 1;
            linked = LINKS.iter().any(|link| rest[start..] == *link.as_bytes());
            let is_article = rest.len() - start <= 3;
            rest = if linked || is_article { rest[..start].trim_ascii_end() } else { return None };
            if linked {
                break;
            }
        }
        rest = linked.then_some(rest)?;
    } else if rest.len() == head.len() {
        return None;
    }
    let closed =
        ["」", "』", "”", "»", "`", "\"", "'"].iter().find_map(|quote| rest.strip_suffix(quote.as_bytes())).unwrap_or(rest);
    let len = closed.iter().rev().take_while(|b| (b'!'..0x7f).contains(*b) && !b"\"'`(,".contains(b)).count();
    let value = &closed[closed.len() - len..];
    let end = name.start - head.len() + closed.len();
    let is_free = is_made_up(value) || is_joined(value) || is_chosen_word(value);
    (is_free || closed.len() < rest.len() && is_given(value)).then_some(end - len..end)
}

/// `****Qx7P`, or a small number: the sentence continues.
fn is_masked(value: &[u8]) -> bool {
    bytes::find(value, b"***").is_some() || value.len() <= 4 && value.iter().all(u8::is_ascii_digit)
}

/// Whether code follows the name. In prose, a space or a label's colon does.
fn is_code_after(line: &[u8]) -> bool {
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
pub(crate) fn before_name(text: &[u8], start: usize, secret_kind: SecretKind) -> Option<Range<usize>> {
    if byte_before(text, start) != b' ' {
        return None;
    }
    let limit = start.saturating_sub(REACH_BYTES);
    let head = &text[limit..start];
    bytes::count_steps(head.len());
    if let Some(phrase) = phrase_before(text, limit..start).filter(|_| secret_kind == SecretKind::Password) {
        return Some(phrase);
    }
    let mut end = head.len();
    let mut word_after: &[u8] = b"";
    for _ in 0..8 {
        let word_end = head[..end].iter().rposition(|b| !WORD_SEPARATORS.has(*b) && *b < 0x80)? + 1;
        let before = head[..word_end].iter().rposition(|b| WORD_SEPARATORS.has(*b) || *b <= b' ' || *b >= 0x80);
        // A text may begin with the secret.
        let from = before.map(|n| n + 1).or_else(|| (limit == 0).then_some(0))?;
        if head[word_end..end].contains(&b'\n') {
            return None;
        }
        let word = &head[from..word_end];
        let is_linked =
            ["is", "as", "for", "in", "was", "ist", "als", "est", "comme", "es", "como"].iter().any(|w| word_after == w.as_bytes());
        let used = follows_use_verb(&head[..from]);
        let is_named = ["is", "ist", "est", "es", "was", "war"].iter().any(|w| word_after == w.as_bytes());
        let is_chosen = || secret_kind == SecretKind::Password && (is_made_up(word) || is_joined(word));
        if is_named && is_chosen() && !is_negating(next_word(line_rest(text, start))) {
            return Some(limit + from..limit + word_end);
        }
        if is_linked && is_secret(word, secret_kind, used) && (used || !word.iter().all(u8::is_ascii_hexdigit)) {
            return Some(limit + from..limit + word_end);
        }
        if !is_prose_word(word) || word.ends_with(b".") || byte_before(head, from) == b'\n' {
            return None;
        }
        (word_after, end) = (word, from);
    }
    None
}

/// What stands on the line behind the word at `start`, as far as it matters.
fn line_rest(text: &[u8], start: usize) -> &[u8] {
    let end = bytes::find_byte(text, start, 40, |b| b <= b' ').0;
    &text[end..text.len().min(end + 24)]
}

/// `use four small words 7 as the passphrase`: the words between, one of them a number.
fn phrase_before(text: &[u8], head: Range<usize>) -> Option<Range<usize>> {
    let line = head.start + bytes::rfind_sign(b'\n', &text[head.clone()]).map_or(0, |n| n + 1);
    let words = text[line..head.end].trim_ascii_end();
    let words = ["the", "a", "my", "its", "your"].iter().find_map(|word| words.strip_suffix(word.as_bytes())).unwrap_or(words);
    let words = ["as", "for", "als"].iter().find_map(|word| words.trim_ascii_end().strip_suffix(word.as_bytes()))?;
    let start = bytes::rfind(words, b"use ").filter(|n| *n == 0 || words[n - 1] <= b' ')? + b"use ".len();
    let phrase = words[start..].trim_ascii();
    is_phrase(phrase).then(|| line + start..line + start + phrase.len())
}

/// The password behind `log in as …`: the word behind `with`, `/` and their like.
pub(crate) fn after_login(text: &[u8], end: usize) -> Option<Range<usize>> {
    let stop = line_end(text, end);
    let mut line = SentenceReader { text, offset: end, stop, verb: false, is_code: false };
    let mut leads = text[..end].trim_ascii_end().ends_with(b"with");
    for _ in 0..MAX_WORDS / 2 {
        let word = line.next()?;
        let value = &text[word.range.clone()];
        if leads && is_secret(value, SecretKind::Password, true) {
            return Some(word.range);
        }
        leads = is_one_of(value, &LOGIN_LEADS) || leads && is_prose_word(value);
        if ends_sentence(text, word.range.end) {
            return None;
        }
    }
    None
}

fn is_one_of(word: &[u8], list: &[&str]) -> bool {
    list.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Whether an instruction to use something precedes. Without one, a hash may be a commit.
fn follows_use_verb(head: &[u8]) -> bool {
    let last = head.trim_ascii_end().rsplit(|b| *b <= b' ').next().unwrap_or(b"");
    let last = last.strip_suffix(b"`").unwrap_or(last);
    ["use", "using", "with", "put", "set", "take", "enter", "nimm", "utilise", "usa"]
        .iter()
        .any(|w| last.eq_ignore_ascii_case(w.as_bytes()))
}

/// `<dt>Password</dt> <dd>…</dd>`, and the other one of two columns: `api_token;…`.
fn in_next_element(text: &[u8], name: &Range<usize>, secret_kind: SecretKind) -> Option<Range<usize>> {
    let range = match byte_at(text, name.end) {
        b'<' if byte_at(text, name.end + 1) == b'/' => {
            let closed = bytes::find_byte(text, name.end, 24, |b| b == b'>').0 + 1;
            let open = bytes::run_end(text, closed, ByteSet::of(" \t\r\n"), 40);
            let start = bytes::find_byte(text, open, 24, |b| b == b'>').0 + 1;
            let end = bytes::find_byte(text, start, MAX_BYTES, |b| b <= b' ' || b == b'<').0;
            (byte_at(text, open) == b'<' && text[end..].starts_with(b"</")).then_some(start..end)?
        }
        b';' | b',' | b'\t' if matches!(byte_before(text, name.start), 0 | b'\n') => only_word_of_line(text, name.end + 1)?,
        _ => return None,
    };
    is_secret(text.get(range.clone())?, secret_kind, true).then_some(range)
}

/// The value that is alone on the line after a label.
pub(crate) fn on_next_line(text: &[u8], end: usize, secret_kind: SecretKind) -> Option<Range<usize>> {
    let name_end = if text[end..].starts_with(b".txt") { end + 4 } else { end };
    let label_end = bytes::run_end(text, name_end, ByteSet::of(":*?.)]\"'` \t=({>|+%-"), 12);
    let stop = line_end(text, end);
    let label_end = if byte_before(text, stop) == b':' { stop } else { label_end };
    let (_, mut start) = line_break(text, label_end)?;
    // Skips the rule below a heading, or an empty line.
    let rule = bytes::run_end(text, start, ByteSet::of("=-"), 80);
    if let Some((_, next)) = line_break(text, rule) {
        start = next;
    }
    only_word_of_line(text, start).filter(|range| is_secret(&text[range.clone()], secret_kind, true))
}

/// The word that is alone on its line.
pub(crate) fn only_word_of_line(text: &[u8], line: usize) -> Option<Range<usize>> {
    let start = bytes::run_end(text, skip_line_prefix(text, line).max(line), ByteSet::of("\"'` \t-"), 12);
    let returned = bytes::run_end(text, start + 7, ByteSet::of("\"'`"), 3);
    let start = if text[start..].starts_with(b"return ") { returned } else { start };
    let end = bytes::find_byte(text, start, 512, |b| b <= b' ' || b >= 0x80).0;
    let closed = bytes::run_start(text, end, ByteSet::of("\"'`,"), 3).max(start);
    let rest = bytes::run_end(text, end, ByteSet::of(" \t\r"), 8);
    (closed > start && matches!(byte_at(text, rest), 0 | b'\n' | b'\\')).then_some(start..closed)
}

/// The word that is alone in a table cell.
pub(crate) fn only_word_of_cell(text: &[u8], cell: Range<usize>) -> Option<Range<usize>> {
    let start = bytes::run_end(text, cell.start, ByteSet::of("\"'` \t"), 80).min(cell.end);
    let closed = bytes::run_start(text, cell.end, ByteSet::of("\"'` \t\r"), 80).max(start);
    (closed > start && !text[start..closed].contains(&b' ')).then_some(start..closed)
}

fn line_end(text: &[u8], from: usize) -> usize {
    let (stop, _) = bytes::find_byte(text, from, REACH_BYTES, |b| b == b'\n');
    stop
}

/// `trace_id`, `commit`: what stands behind it is no secret, whatever precedes.
fn is_name_of_id(name: &[u8]) -> bool {
    let last = name.rsplit(|b| *b == b'_').next().unwrap_or(name);
    is_one_of(last, &["id", "sha", "hash", "digest", "checksum", "commit", "rev", "etag"]) || name.ends_with(b"Id")
}

/// The word behind a name: `hash` in `password hash: …`.
fn next_word(line: &[u8]) -> &[u8] {
    let start = line.iter().take_while(|b| matches!(b, b' ' | b'_' | b'-')).count();
    let len = line[start..].iter().take_while(|b| b.is_ascii_alphabetic()).count();
    &line[start..start + len]
}

/// A word of prose: letters and the punctuation that occurs in words.
fn is_prose_word(word: &[u8]) -> bool {
    let word = word.strip_suffix(b":").unwrap_or(word);
    word.iter().all(|b| b.is_ascii_alphabetic() || b"'-*?=>@._:\\/".contains(b)) && !is_harmless_code(word)
}

fn is_harmless_code(word: &[u8]) -> bool {
    word.len() > 2 && word.contains(&b'.') && !word.ends_with(b".") && is_harmless(word)
}

fn ends_sentence(text: &[u8], end: usize) -> bool {
    let sign = if byte_before(text, end) == b'.' { end - 1 } else { end };
    byte_at(text, sign) == b'.' && !byte_at(text, sign + 1).is_ascii_alphanumeric()
}

struct SentenceReader<'t> {
    text: &'t [u8],
    offset: usize,
    stop: usize,
    verb: bool,
    is_code: bool,
}

impl SentenceReader<'_> {
    /// The next word, or quoted word.
    fn next(&mut self) -> Option<SentenceWord> {
        let text = self.text;
        let mut signs = self.verb;
        let mut offset = self.offset;
        while offset < self.stop {
            let byte = text[offset];
            // The end of a string or a block ends the sentence.
            if !self.is_code && (b"{};".contains(&byte) || byte == b',' && b"\"'".contains(&byte_before(text, offset))) {
                return None;
            }
            if let Some(word) = self.quoted(offset) {
                return Some(word);
            }
            let is_sign = b"=:".contains(&byte) && byte_at(text, offset + 1) != b'-';
            if byte >= 0x80 || WORD_SEPARATORS.has(byte) || is_sign {
                signs |= byte >= 0x80 || b"=:(`\"'".contains(&byte);
                offset += 1;
            } else {
                break;
            }
        }
        if offset >= self.stop {
            return None;
        }
        Some(self.word(offset, signs))
    }

    /// The content of the quotes that open at `place`, if it is one word.
    fn quoted(&mut self, offset: usize) -> Option<SentenceWord> {
        let text = self.text;
        let may_open = offset == self.offset || !text[offset].is_ascii_alphabetic();
        let (quote, inside) = opening_quote(text, offset).filter(|_| may_open)?;
        let end = quoted_end(text, inside, quote, REACH_BYTES)?;
        let is_word = end > inside && (!text[inside..end].contains(&b' ') || is_phrase(&text[inside..end]));
        is_word.then(|| {
            self.offset = end + 1 + quote.backslashes;
            SentenceWord { range: inside..end, introduced: true, quoted: true }
        })
    }

    fn word(&mut self, start: usize, signs: bool) -> SentenceWord {
        let text = self.text;
        let ends = |b: u8| b >= 0x80 || WORD_SEPARATORS.has(b) || b <= b' ';
        let end = bytes::find_byte(text, start, MAX_BYTES, ends).0;
        self.offset = end;
        let word = &text[start..end];
        // `NAME:-value`, `user=value`
        let inner = bytes::rfind(word, b":-").map_or(0, |n| n + 2);
        let name = word.iter().take_while(|b| b.is_ascii_alphabetic() || **b == b'_').count();
        let pair = if name > 1 && word[name..].starts_with(b"=") && name + 2 < word.len() { name + 1 } else { 0 };
        // `admin:…`, `admin/…`
        let is_login = name > 1 && b":/".contains(&byte_at(word, name)) && is_made_up(&word[name + 1..]);
        let pair = if is_login { name + 1 } else { pair };
        let from = start + inner.max(pair);
        let trimmed = bytes::run_start(text, end, ByteSet::of(".:"), 3).max(from);
        let is_default = inner > 0;
        let names_id = pair > 0 && is_name_of_id(&word[..name]);
        self.verb =
            VERBS.iter().any(|verb| word.eq_ignore_ascii_case(verb.as_bytes())) || word.ends_with(b":") || word.ends_with(b"=");
        SentenceWord {
            range: if names_id { start..trimmed } else { from..trimmed },
            introduced: signs || from > start,
            quoted: is_default,
        }
    }
}
