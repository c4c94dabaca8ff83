//! Passwords passed to a function by position: `auth=("user", "…")`, `login("user", "…")`, `new PDO(dsn, "user", "…")`.

use std::ops::Range;

use super::bytes::{self, ByteSet, byte_at};
use super::candidate::{is_app_password, is_harmless, is_password, is_secret};
use super::secret_names::SecretKind;
use super::value::{opening_quote, quoted_end};

/// Calls that take a user and a password.
#[rustfmt::skip]
pub(crate) const TAKERS: [&str; 27] = [
    "auth=(", "auth = (", "basicauth(", "basic_auth(", "basicauthentication(", "networkcredential(", "passwordcredential(",
    "passwordcredentials(", "passwordauthentication(", "passwordauthenticationtoken(", "getconnection(", "new pdo(", "mysqli_connect(",
    "mysqli(", "pg_connect(", "login(", "login_as(", "log_in(", "signin(", "sign_in(", "authenticate(", ").type(", "plainauth(", "credentials(", "connect(", "credential(", "wallet(",
];
/// The most arguments and bytes of a call that are read.
const MAX_ARGUMENTS: usize = 6;
const MAX_BYTES: usize = 300;

/// Adds the quoted arguments that look like passwords, from `start`, right behind the `(`.
pub(crate) fn find(text: &[u8], start: usize, found: &mut Vec<Range<usize>>) {
    let mut offset = start;
    for n in 0..MAX_ARGUMENTS {
        let Some(range) = quoted(text, offset, text.len().min(start + MAX_BYTES)) else { return };
        let value = &text[range.clone()];
        offset = bytes::run_end(text, range.end, ByteSet::of("\\"), 8) + 1;
        // The first argument is a user or an address, so it needs stronger evidence.
        let is_chosen = n > 0 && is_secret(value, SecretKind::Password, true);
        if is_password(value) && !is_harmless(value) || is_app_password(value) || is_chosen {
            found.push(range);
        }
        if matches!(byte_at(text, offset), b')' | b';') && byte_at(text, offset + 1) != b',' {
            return;
        }
    }
}

/// The content of the next quotes before the statement ends.
fn quoted(text: &[u8], offset: usize, stop: usize) -> Option<Range<usize>> {
    let (next, found) = bytes::find_byte(text, offset, stop.saturating_sub(offset), |b| b"\"'`;\n".contains(&b));
    if !found || matches!(byte_at(text, next), b';' | b'\n') {
        return None;
    }
    let slashes = bytes::run_start(text, next, ByteSet::of("\\"), 8);
    let (quote, inside) = opening_quote(text, slashes.max(offset))?;
    Some(inside..quoted_end(text, inside, quote, MAX_BYTES)?)
}
