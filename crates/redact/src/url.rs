//! Passwords in URLs and connection strings: `scheme://user:password@host`, `scheme://token@host`, `user:password@tcp(host)`.

use std::ops::Range;

use super::bytes::{self, ALNUM, ByteSet, byte_at, byte_before};
use super::harmless::is_placeholder;
use super::randomness::is_random;

pub(crate) const KEY: &str = "://";
/// What follows the password in a Go data source name.
pub(crate) const DSN: [&str; 2] = ["@tcp(", "@unix("];
const MAX_BYTES: usize = 512;

/// The password, or a user that is a token, behind the `://` at `hit`.
pub(crate) fn find(text: &[u8], hit: usize) -> Option<Range<usize>> {
    if !ALNUM.has(byte_before(text, hit)) {
        return None;
    }
    let start = hit + KEY.len();
    let at_sign = userinfo_end(text, start)?;
    let info = &text[start..at_sign];
    bytes::count_steps(info.len());
    let Some(colon) = info.iter().position(|b| *b == b':') else {
        let is_token = info.len() >= 16 && is_random(info) && !is_placeholder(info);
        return is_token.then_some(start..at_sign);
    };
    let password = &info[colon + 1..];
    // A port, and a path with an `@` in it.
    let is_port = password.iter().position(|b| *b == b'/').is_some_and(|n| password[..n].iter().all(u8::is_ascii_digit));
    let is_scoped = password.contains(&b'/') && info[..colon].contains(&b'.');
    (!is_port && !is_scoped && is_password(password)).then_some(start + colon + 1..at_sign)
}

/// The offset of the `@` that ends the user information: the last one of the authority, or, where a password was not encoded, of what
/// follows its `/`. A `#` or `?` ends the authority of a URL without a password, and may be part of one.
fn userinfo_end(text: &[u8], start: usize) -> Option<usize> {
    let ends = |b: u8| b <= b' ' || matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\');
    let stop = bytes::find_byte(text, start, MAX_BYTES, ends).0;
    let whole = &text[start..stop];
    // The next URL ends this one, so that the search stays linear.
    let whole = &whole[..bytes::find(whole, KEY.as_bytes()).unwrap_or(whole.len())];
    bytes::count_steps(whole.len());
    let slash = whole.iter().position(|b| *b == b'/').unwrap_or(whole.len());
    let narrow = whole[..slash].iter().position(|b| matches!(b, b'?' | b'#')).unwrap_or(slash);
    let colon = whole[..narrow].iter().position(|b| *b == b':');
    // A port, and a query behind it.
    let is_port = colon.is_some_and(|n| n + 1 < narrow && whole[n + 1..narrow].iter().all(u8::is_ascii_digit));
    let authority = if colon.is_some() && !is_port { slash } else { narrow };
    if let Some(last) = whole[..authority].iter().rposition(|b| *b == b'@') {
        return Some(start + last);
    }
    let has_user = colon.is_some() && !whole[..narrow].contains(&b'@');
    let last = whole.iter().rposition(|b| *b == b'@').filter(|_| has_user)?;
    Some(start + last)
}

fn is_password(password: &[u8]) -> bool {
    !password.is_empty() && !is_placeholder(password) && !password.starts_with(b"$") && !password.starts_with(b"<")
}

/// Oracle: `jdbc:oracle:thin:user/password@host`.
pub(crate) const ORACLE: &str = ":thin:";

/// The password behind the `:thin:` that ends at `start`.
pub(crate) fn oracle(text: &[u8], start: usize) -> Option<Range<usize>> {
    let user = bytes::run_end(text, start, ByteSet::of("a-zA-Z0-9_.$#-"), 64);
    let (end, found) = bytes::find_byte(text, user, 128, |b| b <= b' ' || matches!(b, b'@' | b'"' | b'\''));
    let is_pair = user > start && byte_at(text, user) == b'/' && found && byte_at(text, end) == b'@';
    (is_pair && is_password(&text[user + 1..end])).then_some(user + 1..end)
}

/// The password before the `@tcp(` at `hit`.
pub(crate) fn dsn(text: &[u8], hit: usize) -> Option<Range<usize>> {
    const USED: ByteSet = ByteSet::of("!#-&(-.0-~");
    let start = bytes::run_start(text, hit, USED, 160);
    let colon = text[start..hit].iter().position(|b| *b == b':')?;
    let range = start + colon + 1..hit;
    is_password(&text[range.clone()]).then_some(range).filter(|_| byte_at(text, start) != b':')
}

/// `://` percent-encoded once and twice, with `:` and `@` encoded alike.
pub(crate) const ENCODED: [(&str, &str, &str); 2] = [("%3a%2f%2f", "%3a", "%40"), ("%253a%252f%252f", "%253a", "%2540")];

/// The password of the encoded URL whose `://` is at `hit`.
pub(crate) fn encoded(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let key = &text[hit.clone()];
    let (_, colon, at_sign) = ENCODED.iter().find(|(sign, ..)| key.eq_ignore_ascii_case(sign.as_bytes()))?;
    let end = bytes::run_end(text, hit.end, ByteSet::of("a-zA-Z0-9%._~!*-"), 240);
    let find = |from: usize, sign: &str| {
        bytes::count_steps(end - from);
        let found = text[from..end].windows(sign.len()).position(|w| w.eq_ignore_ascii_case(sign.as_bytes()));
        found.map(|n| from + n)
    };
    let last = find(hit.end, at_sign)?;
    let start = find(hit.end, colon).filter(|start| *start < last)? + colon.len();
    let value = &text[start..last];
    let is_path = value.windows(3).any(|w| w.eq_ignore_ascii_case(b"%2f"));
    (is_password(value) && !is_path).then_some(start..last)
}
