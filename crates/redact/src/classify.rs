//! Tells apart what an unquoted value can be: an identifier, a number, a technical term, or a password.

use super::bytes::{self, WORD};
use super::candidate::{is_harmless, is_password};
use super::harmless::{is_code, is_identifier, is_placeholder};
use super::randomness::{has_digit, has_letter, is_gibberish, is_mixed, is_readable};

/// A hexadecimal literal of code: `0x04,`.
pub(crate) fn is_numeric_literal(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"0x").unwrap_or(b"").trim_ascii();
    let end = digits.iter().position(|b| !b.is_ascii_hexdigit()).unwrap_or(digits.len());
    end > 0 && end <= 16 && digits[end..].iter().all(|b| b",;)u_".contains(b))
}

pub(crate) fn is_plain_word(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    value.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
}

pub(crate) fn may_end_value(next: u8) -> bool {
    next.is_ascii_alphabetic() || matches!(next, b'.' | b'(' | b'|' | b'/' | b'"' | b'\'' | b'`')
}

/// An identifier of a program, but no random letters.
pub(crate) fn is_readable_identifier(value: &[u8]) -> bool {
    is_identifier(value) && !is_gibberish(value)
}

/// Letters, digits and `_` that could be a name.
pub(crate) fn is_readable_word(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    value.iter().all(|b| WORD.has(*b)) && !is_gibberish(value)
}

/// A quoted value in prose that is a password and not the name of a field.
pub(crate) fn is_quoted_secret(value: &[u8]) -> bool {
    value.len() >= 6 && has_digit(value) && has_letter(value) && !is_identifier(value) || is_invented(value)
}

/// A value that nobody writes in prose except as a password.
pub(crate) fn is_invented(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let has_sign = value.iter().any(|b| b"!@#$%^&*+=~".contains(b));
    value.len() >= 8
        && !is_code(value)
        && (is_gibberish(value) || has_sign && is_mixed(value) || is_password(value) && !is_harmless(value))
}

/// Technical terms with a number, and placeholders: `v2`, `2fa`, `SHA256`.
pub(crate) fn is_technical_term(value: &[u8]) -> bool {
    is_readable(value) && value.len() <= 5 || is_placeholder(value)
}
