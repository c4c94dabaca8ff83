//! Passwords passed to a function by position: `auth=("user", "…")`, `login("user", "…")`, `new PDO(dsn, "user", "…")`.

use std::ops::Range;

use super::bytes::{self, ByteSet, byte_at};
use super::candidate::{is_app_password, is_harmless, is_made_up, is_password, is_secret};
use super::harmless::{is_id, is_path_or_url, is_placeholder, is_variable_name};
use super::randomness::{has_digit, is_mixed, is_random};
use super::secret_names::{SecretKind, kind_of_name};
use super::value::{opening_quote, quoted_end};

/// Calls that take a user and a password.
#[rustfmt::skip]
pub(crate) const TAKERS: [&str; 32] = [
    "auth=(", "auth = (", "basicauth(", "basic_auth(", "basicauthentication(", "networkcredential(", "passwordcredential(",
    "passwordcredentials(", ".auth(", "te_user(", "sequelize(", "teuser(", "superuser(", "passwordauthentication(", "passwordauthenticationtoken(", "getconnection(", "new pdo(", "mysqli_connect(",
    "mysqli(", "pg_connect(", "login(", "login_as(", "log_in(", "signin(", "sign_in(", "authenticate(", ").type(", "plainauth(", "credentials(", "connect(", "credential(", "wallet(",
];
/// Calls whose password is the argument with this number, counted from 0.
#[rustfmt::skip]
pub(crate) const CONNECTS: [(&str, usize); 38] = [
    ("mysqli_connect(", 2), ("mysqli_real_connect(", 3), ("new mysqli(", 2), ("mysql_connect(", 2), ("mysql_real_connect(", 3), ("new pdo(", 2),
    ("odbc_connect(", 2), ("sqlsrv_connect(", 2), ("oci_connect(", 1), ("oci_pconnect(", 1), ("pymysql.connect(", 2), ("mysqldb.connect(", 2),
    ("mysql.connect(", 2), ("mysql.connector.connect(", 2), ("oracledb.connect(", 1), ("cx_oracle.connect(", 1), ("pyodbc.connect(", 2),
    ("getconnection(", 2), ("dbi->connect(", 2), ("ftp_login(", 2), ("ldap_bind(", 2), ("imap_open(", 2), ("ssh2_auth_password(", 2),
    ("simple_bind_s(", 1), ("simple_bind(", 1), ("authtokens.basic(", 1), ("passwordauthentication(", 1), ("networkcredential(", 1),
    ("new sequelize(", 2), ("usernamepasswordcredential(", 1), ("usernamepasswordcredentials(", 1), ("usernamepasswordauthenticationtoken(", 1),
    ("plainauthenticator(", 1), ("plaintextauthprovider(", 1), ("r2dbc.connect(", 2), ("drda.connect(", 2), ("firebird.connect(", 2), ("fdb.connect(", 2),
];
/// Calls that take a key, or what a key is made of. Some lack their beginning, which is frequent in texts: `create…`, `from…`.
#[rustfmt::skip]
pub(crate) const KEY_TAKERS: [&str; 30] = [
    "fernet(", "totp(", "hotp(", "hmac(", "cipheriv(",  "hmac.new(", "aes.new(", "chacha20.new(", "jwt.sign(",
    "jwt.verify(", "jwt.encode(", "jwt.decode(", "secretbox(", "signingkey(", "secretkeyspec(", "hmacshakeyfor(", "aesgcm(", "om_key(",
    "msecretkey(", "aes.encrypt(", "aes.decrypt(",  "openssl_encrypt(", "bcrypt.hash(", "bcrypt.compare(", "cookieparser(", "scryptsync(", "pbkdf2(", "pbkdf2sync(", "hashpw(", "checkpw(",
];
/// Calls that fill in a field.
pub(crate) const FIELDS: [&str; 6] = [".fill(", ".type(", "send_keys(", "sendkeys(", "setvalue(", "fill_in("];
/// How far before the call the name of its field may be.
const FIELD_BYTES: usize = 80;
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

/// The argument with this number of the call whose `(` is right before `start`, whatever word it is.
pub(crate) fn connect(text: &[u8], start: usize, number: usize) -> Option<Range<usize>> {
    let (mut offset, mut commas, mut depth) = (start, 0, 0);
    for _ in 0..MAX_ARGUMENTS {
        let range = next_quoted(text, offset, text.len().min(start + MAX_BYTES), b"\"'`;")?;
        bytes::count_steps(range.start - offset);
        let gap = &text[offset..range.start];
        for byte in gap {
            match byte {
                b'(' => depth += 1,
                b')' if depth == 0 => return None,
                b')' => depth -= 1,
                b',' if depth == 0 => commas += 1,
                _ => {}
            }
        }
        // `connect(user='…')`
        let is_named = gap.iter().rev().find(|b| !b" \"'`\\".contains(b)) == Some(&b'=');
        if commas > number || is_named {
            return None;
        }
        let value = &text[range.clone()];
        if commas == number {
            let is_variable = is_variable_name(value) || kind_of_name(value).is_some() && !has_digit(value);
            let is_literal = value.len() >= 4 && !is_placeholder(value) && !is_path_or_url(value) && !is_variable;
            return (is_literal && depth == 0 && !value.contains(&b' ')).then_some(range);
        }
        offset = bytes::run_end(text, range.end, ByteSet::of("\\"), 8) + 1;
    }
    None
}

/// The first quoted argument that looks like a key, or like a password where a word is one, from `start`, right behind the `(`.
pub(crate) fn key(text: &[u8], start: usize) -> Option<Range<usize>> {
    let mut offset = start;
    for _ in 0..MAX_ARGUMENTS {
        let range = quoted(text, offset, text.len().min(start + MAX_BYTES))?;
        let value = &text[range.clone()];
        let bare = value.strip_prefix(b"0x").unwrap_or(value);
        let is_hex = bare.len() >= 32 && bare.iter().all(u8::is_ascii_hexdigit) && is_random(bare);
        let is_base32 = value.len() >= 16 && value.iter().all(|b| ByteSet::of("A-Z2-7=").has(*b)) && has_digit(value);
        let is_chosen = is_password(value) && !is_harmless(value) || is_made_up(value) || is_mixed(value) && is_random(value);
        if (is_hex || is_base32 || is_chosen) && !is_placeholder(value) && !is_path_or_url(value) && !is_id(value) {
            return Some(range);
        }
        offset = bytes::run_end(text, range.end, ByteSet::of("\\"), 8) + 1;
        if byte_at(text, offset) == b')' && matches!(byte_at(text, offset + 1), b'.' | b';' | b'\n' | 0) {
            return None;
        }
    }
    None
}

/// The password that the call at `hit` fills into a field whose name stands before it or in its first argument.
pub(crate) fn field(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let stop = text.len().min(hit.end + MAX_BYTES);
    let first = quoted(text, hit.end, stop)?;
    let next = first.end + 1;
    let has_more = byte_at(text, bytes::run_end(text, next, ByteSet::of("\"'\\"), 8)) == b',';
    let range = if has_more { quoted(text, next, stop)? } else { first };
    let value = &text[range.clone()];
    // `…{enter}` presses a key.
    let len = value.iter().position(|b| *b == b'{').filter(|_| value.ends_with(b"}")).unwrap_or(value.len());
    let range = range.start..range.start + len;
    if !is_secret(&text[range.clone()], SecretKind::Password, true) {
        return None;
    }
    let head = &text[hit.start.saturating_sub(FIELD_BYTES)..range.start];
    let line = &head[bytes::rfind_sign(b'\n', head).map_or(0, |n| n + 1)..].to_ascii_lowercase();
    ["pass", "pwd", "#pw", "kennwort"].iter().any(|name| bytes::find(line, name.as_bytes()).is_some()).then_some(range)
}

/// The content of the next quotes before the statement ends.
fn quoted(text: &[u8], offset: usize, stop: usize) -> Option<Range<usize>> {
    next_quoted(text, offset, stop, b"\"'`;\n")
}

/// The content of the next quotes, if one of these quotation marks comes before another one of these bytes.
fn next_quoted(text: &[u8], offset: usize, stop: usize, ends: &[u8]) -> Option<Range<usize>> {
    let (next, found) = bytes::find_byte(text, offset, stop.saturating_sub(offset), |b| ends.contains(&b));
    if !found || matches!(byte_at(text, next), b';' | b'\n') {
        return None;
    }
    let slashes = bytes::run_start(text, next, ByteSet::of("\\"), 8);
    let (quote, inside) = opening_quote(text, slashes.max(offset))?;
    Some(inside..quoted_end(text, inside, quote, MAX_BYTES)?)
}
