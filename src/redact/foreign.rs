//! A password that is told in other languages: `Mot de passe : …`, `密码:…`.

use std::ops::Range;

use super::harmless::{is_code, is_place, is_placeholder};
use super::names::promise;
use super::random::{has_digit, has_letter, humps, is_gibberish};
use super::value::{Ender, bare, opening, quote_at, quoted_end};
use super::walk::{self, BLANK, at};

/// How a password is called, and in capitals where these are no ASCII.
pub const NAMES: [&str; 14] = [
    "mot de passe", "contraseña", "senha", "пароль", "Пароль", "密码", "密碼", "口令", "パスワード", "비밀번호", "wachtwoord",
    "lösenord", "hasło", "şifre",
];
const LONGEST: usize = 128;

/// The password behind the name that ends here.
pub fn find(text: &[u8], end: usize) -> Option<Range<usize>> {
    let closed = quote_at(text, end).map_or(end, |(_, after)| after);
    let sign = walk::run(text, skip_nbsp(text, closed), BLANK, 4);
    let after = match at(text, sign) {
        b':' | b'=' => sign + 1,
        _ if text[sign..].starts_with("：".as_bytes()) => sign + "：".len(),
        _ => return None,
    };
    let start = walk::run(text, skip_nbsp(text, after), BLANK, 4);
    let range = match opening(text, start) {
        Some((quote, inside)) => inside..quoted_end(text, inside, quote, LONGEST)?,
        None => bare(text, start, Ender::Sign, LONGEST),
    };
    // What is no ASCII goes on with the sentence.
    let len = text[range.clone()].iter().take_while(|b| (b'!'..0x7f).contains(*b)).count();
    let value = &text[range.start..range.start + len];
    let is_strange = has_digit(value) && has_letter(value) || is_gibberish(value) || humps(value) > 1 && promise(value).is_none();
    let is_secret = len >= 6 && is_strange && !is_placeholder(value) && !is_place(value) && !is_code(value);
    is_secret.then_some(range.start..range.start + len)
}

fn skip_nbsp(text: &[u8], place: usize) -> usize {
    if text[place..].starts_with("\u{a0}".as_bytes()) { place + 2 } else { place }
}
