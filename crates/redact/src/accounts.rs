//! Passwords beside the account that they are for: `root@10.0.0.7 pass …`, `log in (me@x.y / …)`, `log in at https://x.y as admin with …`, the
//! `PASS` behind a `USER`.

use std::ops::Range;

use super::bytes::{self, ByteSet, byte_at, byte_before};
use super::candidate::{is_chosen_word, is_given, is_harmless, is_joined, is_made_up, is_password};
use super::randomness::has_digit;

/// Words that announce an account.
#[rustfmt::skip]
pub(crate) const LOGINS: [&str; 20] = [
    "login", "log in", "log into", "logged in", "sign in", "signin", "credentials", "creds ", "creds:", "account", "superuser", "test user",
    "zugang", "melde dich", "meld dich", "anmelden", "connecte", "identifiants", "entra con", "inicia sesi",
];
/// How far the account may be behind such a word, and before a password.
const REACH_BYTES: usize = 120;
const HEAD_BYTES: usize = 64;
const USER: ByteSet = ByteSet::of("a-zA-Z0-9_.@+-");
/// Quotation marks and what emphasizes.
const MARKS: &[u8] = b"\"'`*";

/// The password behind the name at `name`, which follows the account: `root@10.0.0.7 pass …`, `user root, pw: …`.
pub(crate) fn named(text: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let is_name = ["pass", "pw", "pwd", "passwd", "password", "passwort", "kennwort"]
        .iter()
        .any(|word| text[name.clone()].eq_ignore_ascii_case(word.as_bytes()));
    let sign = bytes::run_end(text, name.end, ByteSet::of(":= "), 3);
    if !is_name || sign == name.end || !b" (,/\n".contains(&byte_before(text, name.start)) {
        return None;
    }
    let range = word_at(text, sign)?;
    let head = &text[name.start.saturating_sub(HEAD_BYTES)..name.start];
    let head = &head[bytes::rfind_sign(b'\n', head).map_or(0, |n| n + 1)..];
    let is_dialog = text[name.clone()] == *b"PASS" && follows_user(text, name.start);
    let value = &text[range.clone()];
    // `user tests pass phase2`
    let is_signed = text[name.end..sign].iter().any(|b| *b != b' ');
    let fits = is_dialog || account_before(head).is_some_and(|is_address| is_address || is_signed || is_chosen(value));
    (is_given(value) && fits).then_some(range)
}

/// Whether a line with `USER` precedes the `PASS` at `name`, as in FTP and POP3.
fn follows_user(text: &[u8], name: usize) -> bool {
    let head = &text[name.saturating_sub(2 * REACH_BYTES)..name];
    let line = bytes::rfind_sign(b'\n', head);
    line.is_some_and(|n| head.len() - n < 32 && bytes::find(&head[..n], b"USER ").is_some())
}

/// Whether the last words before a password are an account, and if so, whether it is an address: `root@host` and not `user root`.
fn account_before(head: &[u8]) -> Option<bool> {
    let is_sign = |b: &u8| b.is_ascii_whitespace() || b" (,/;:&".contains(b) || MARKS.contains(b);
    let words = || head.split(is_sign).rev().filter(|word| !word.is_empty());
    bytes::count_steps(2 * head.len());
    let mut words = words().skip_while(|word| ["and", "und", "with", "mit", "y", "et"].iter().any(|w| *word == w.as_bytes()));
    let (last, before) = (words.next()?, words.next().unwrap_or(b""));
    let is_address = last.iter().filter(|b| **b == b'.').count() == 3 && last.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    let is_user = ["user", "username", "login", "benutzer", "usuario", "utilisateur", "account", "ssh"]
        .iter()
        .any(|word| before.eq_ignore_ascii_case(word.as_bytes()));
    let is_address = is_address || is_at_host(last);
    (is_address || is_user && last.iter().all(|b| USER.has(*b))).then_some(is_address)
}

/// `root@10.0.0.7`, `me@x.y`
fn is_at_host(word: &[u8]) -> bool {
    let sign = word.iter().position(|b| *b == b'@');
    sign.is_some_and(|n| n > 0 && n + 1 < word.len() && word.iter().all(|b| USER.has(*b)))
}

/// The password of the account behind the word at `hit`.
pub(crate) fn login(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    if byte_before(text, hit.start).is_ascii_alphanumeric() {
        return None;
    }
    let stop = bytes::find_byte(text, hit.end, REACH_BYTES, |b| b == b'\n').0;
    let line = hit.end..stop;
    pair(text, line.clone(), b" / ").or_else(|| behind_address(text, line.clone())).or_else(|| behind_with(text, line))
}

/// `me@x.y / …`, `admin / …`
fn pair(text: &[u8], line: Range<usize>, sign: &[u8]) -> Option<Range<usize>> {
    let at = line.start + bytes::find(&text[line.clone()], sign)?;
    let user = user_before(text, at);
    let range = word_at(text, at + sign.len())?;
    let value = &text[range.clone()];
    let is_user = || (2..=32).contains(&user.len()) && !follows_article(text, user.start) && has_digit(value) && is_chosen(value);
    let fits = if is_at_host(&text[user.clone()]) { is_given(value) } else { is_user() };
    fits.then_some(range)
}

/// `the box`: no user.
fn follows_article(text: &[u8], word: usize) -> bool {
    ["the ", "a ", "this ", "der ", "die ", "das ", "dem ", "la ", "el ", "le "]
        .iter()
        .any(|w| text[..word].ends_with(w.as_bytes()))
}

/// `me@x.y:…`, `me@x.y and …`
fn behind_address(text: &[u8], line: Range<usize>) -> Option<Range<usize>> {
    let at = line.start + bytes::find_sign(b'@', &text[line.clone()])?;
    let user = bytes::run_start(text, at, USER, 64)..bytes::run_end(text, at, USER, 64);
    let closed = bytes::run_end(text, user.end, ByteSet::of("\"'`*"), 3);
    let rest = &text[closed..text.len().min(closed + 8)];
    let len = [&b":"[..], b"/", b" and ", b" with ", b" und ", b" mit ", b" et ", b" y "]
        .iter()
        .find(|sign| rest.starts_with(sign))?
        .len();
    let range = word_at(text, closed + len)?;
    let value = &text[range.clone()];
    let is_tight = len == 1 && !value.starts_with(b"/");
    (is_at_host(&text[user]) && (is_tight && is_given(value) || is_chosen(value) || is_quoted(text, &range) && is_given(value)))
        .then_some(range)
}

/// `… as admin with …`, at the end of which the user must not be the name of a thing.
fn behind_with(text: &[u8], line: Range<usize>) -> Option<Range<usize>> {
    const SIGNS: [&[u8]; 5] = [b" with ", b" mit ", b" using ", b" avec ", b" con "];
    let part = &text[line.clone()];
    let (at, len) = SIGNS.iter().find_map(|sign| bytes::find(part, sign).map(|n| (line.start + n, sign.len())))?;
    let user = user_before(text, at);
    let lead = &text[line.start..user.start.max(line.start)];
    let lead = lead.iter().rposition(|b| !MARKS.contains(b)).map_or(&b""[..], |n| &lead[..=n]);
    let is_named = [&b" as "[..], b" als ", b" user ", b" comme ", b" como "].iter().any(|word| lead.ends_with(word));
    let range = word_at(text, at + len)?;
    let value = &text[range.clone()];
    (is_named && (is_chosen(value) || is_quoted(text, &range) && is_given(value))).then_some(range)
}

/// Whether a person made a value up for a password, in a sentence.
fn is_chosen(value: &[u8]) -> bool {
    is_made_up(value) || is_joined(value) || is_chosen_word(value) || is_password(value) && !is_harmless(value)
}

fn is_quoted(text: &[u8], range: &Range<usize>) -> bool {
    MARKS.contains(&byte_before(text, range.start)) && MARKS.contains(&byte_at(text, range.end))
}

/// The word that ends at `end`, without what encloses it.
fn user_before(text: &[u8], end: usize) -> Range<usize> {
    let end = bytes::run_start(text, end, ByteSet::of("\"'`*"), 3);
    bytes::run_start(text, end, USER, 64)..end
}

/// The word at `offset`, without what encloses it and what ends the sentence.
fn word_at(text: &[u8], offset: usize) -> Option<Range<usize>> {
    let start = bytes::run_end(text, offset, ByteSet::of("\"'`* "), 4);
    let end = bytes::find_byte(text, start, HEAD_BYTES, |b| b <= b' ' || b >= 0x80 || b"\"'`),;<".contains(&b)).0;
    let end = bytes::run_start(text, end, ByteSet::of(".:*"), 4).max(start);
    (end > start).then_some(start..end)
}
