//! Secrets named in other languages: `Mot de passe : …`, `das Kennwort lautet …`, `密码:…`.

use std::ops::Range;

use super::bytes::{self, BLANK, byte_at, byte_before};
use super::candidate::is_made_up;
use super::harmless::{is_code, is_path_or_url, is_placeholder};
use super::randomness::{camel_humps, has_digit, has_letter, is_gibberish};
use super::secret_names::{SecretKind, kind_of_name};
use super::sentence;
use super::value::{ValueEnd, bare_value, opening_quote, quote_at, quoted_end};

/// Words for a password; in several cases where they are not ASCII.
#[rustfmt::skip]
pub(crate) const NAMES: [&str; 49] = [
    "mot de passe", "contraseña", "senha", "пароль", "Пароль", "ПАРОЛЬ", "密码", "密碼", "口令", "パスワード", "비밀번호", "wachtwoord", "lösenord",
    "hasło", "Hasło", "şifre", "Şifre", "parola", "adgangskode", "passord", "salasana", "heslo", "jelszó", "lozinka", "geslo",
    "mật khẩu", "kata sandi", "รหัสผ่าน", "كلمة المرور", "كلمة السر", "סיסמה", "סיסמא", "रहस्य", "पासवर्ड", "暗証番号", "合言葉", "비번", "암호", "κωδικός",
    "zugangscode", "zugangsdaten", "identifiants", "credenciales", "clave", "palavra-passe", "код доступа", "slaptažodis", "mdp", "contrasena",
];
/// Words for a key or a token.
#[rustfmt::skip]
pub(crate) const KEYS: [&str; 20] = [
    "schlüssel", "clé", "密钥", "密鑰", "令牌", "秘钥", "キーは", "apiキー", "api キー", "トークン", "シークレット", "秘密鍵", "토큰", "ключ", "токен",
    "jeton", "chave", "llave", "chiave", "sleutel",
];
const MAX_BYTES: usize = 128;

/// The password behind the word at `hit`.
pub(crate) fn find(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    // The hit is the end of a longer word, unless the letter before is that of an escaped newline.
    let is_written = hit.start > 1 && text[hit.start - 2] == b'\\';
    if byte_before(text, hit.start).is_ascii_alphabetic() && text[hit.start].is_ascii() && !is_written {
        return None;
    }
    signed(text, hit.end)
        .or_else(|| sentence::find_in_any_language(text, hit.end, SecretKind::Password))
        .or_else(|| sentence::before_foreign(text, &hit))
}

/// The key behind the word at `hit`, which may be the end of a longer word.
pub(crate) fn key(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    sentence::find_in_any_language(text, hit.end, SecretKind::Token)
}

/// The password behind `:` or `=`.
fn signed(text: &[u8], end: usize) -> Option<Range<usize>> {
    let closed = quote_at(text, end).map_or(end, |(_, after)| after);
    let sign = bytes::run_end(text, skip_nbsp(text, closed), BLANK, 4);
    let after = match byte_at(text, sign) {
        b':' | b'=' => sign + 1,
        _ if text[sign..].starts_with("：".as_bytes()) => sign + "：".len(),
        _ => return None,
    };
    let start = bytes::run_end(text, skip_nbsp(text, after), BLANK, 4);
    let range = match opening_quote(text, start) {
        Some((quote, inside)) => inside..quoted_end(text, inside, quote, MAX_BYTES)?,
        None => bare_value(text, start, ValueEnd::Punctuation, MAX_BYTES),
    };
    // Non-ASCII text belongs to the sentence, unless it is part of what was made up.
    let len = text[range.clone()].iter().take_while(|b| (b'!'..0x7f).contains(*b)).count();
    let value = &text[range.start..range.start + len];
    let is_unusual =
        has_digit(value) && has_letter(value) || is_gibberish(value) || camel_humps(value) > 1 && kind_of_name(value).is_none();
    let is_secret = len >= 6
        && is_unusual
        && !is_placeholder(value)
        && !is_path_or_url(value)
        && (!is_code(value) || has_numbered_piece(value));
    if is_secret || is_made_up(value) {
        return Some(range.start..range.start + len);
    }
    let is_cut = len < range.len() && byte_before(text, range.start + len).is_ascii_alphanumeric();
    (is_cut && is_made_up(&text[range.clone()])).then_some(range)
}

/// `czajnik.83Q`: no name of code has a part that begins with a number.
fn has_numbered_piece(value: &[u8]) -> bool {
    let is_plain = value.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'.');
    let is_numbered = |piece: &[u8]| piece.len() > 1 && piece[0].is_ascii_digit() && has_letter(piece);
    is_plain && value[0].is_ascii_alphabetic() && value.split(|b| *b == b'.').skip(1).any(is_numbered)
}

fn skip_nbsp(text: &[u8], offset: usize) -> usize {
    if text[offset..].starts_with("\u{a0}".as_bytes()) { offset + 2 } else { offset }
}
