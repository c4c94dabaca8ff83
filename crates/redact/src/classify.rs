//! How a bare value reads: as a name of a program's, as a number, or as what nobody would write but for a password.

use super::bytes::WORD;
use super::candidate::{is_harmless, is_password};
use super::harmless::{is_code, is_identifier, is_placeholder};
use super::randomness::{has_digit, has_letter, is_gibberish, is_mixed, is_readable};

/// `0x04,`, `1_000;`: a number of a program.
pub(crate) fn is_numeric_literal(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"0x").unwrap_or(b"").trim_ascii();
    let end = digits.iter().position(|b| !b.is_ascii_hexdigit()).unwrap_or(digits.len());
    end > 0 && end <= 16 && digits[end..].iter().all(|b| b",;)u_".contains(b))
}

pub(crate) fn is_plain_word(value: &[u8]) -> bool {
    value.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
}

pub(crate) fn may_end_value(next: u8) -> bool {
    next.is_ascii_alphabetic() || matches!(next, b'.' | b'(' | b'|' | b'/' | b'"' | b'\'' | b'`')
}

/// A name of a program's, and no letters without order.
pub(crate) fn is_readable_identifier(value: &[u8]) -> bool {
    is_identifier(value) && !is_gibberish(value)
}

/// Letters and digits as a name could have them.
pub(crate) fn is_readable_word(value: &[u8]) -> bool {
    value.iter().all(|b| WORD.has(*b)) && !is_gibberish(value)
}

/// What a sentence has in quotes behind the word, and no name of a field's.
pub(crate) fn is_quoted_secret(value: &[u8]) -> bool {
    value.len() >= 6 && has_digit(value) && has_letter(value) && !is_identifier(value) || is_invented(value)
}

/// What nobody would write in a sentence but a password.
pub(crate) fn is_invented(value: &[u8]) -> bool {
    let has_sign = value.iter().any(|b| b"!@#$%^&*+=~".contains(b));
    value.len() >= 8
        && !is_code(value)
        && (is_gibberish(value) || has_sign && is_mixed(value) || is_password(value) && !is_harmless(value))
}

/// `SHA256`, `base64`, `v2`, `oauth2`, `2fa`: technology with a number.
pub(crate) fn is_technical_term(value: &[u8]) -> bool {
    is_readable(value) && value.len() <= 5 || is_placeholder(value)
}
