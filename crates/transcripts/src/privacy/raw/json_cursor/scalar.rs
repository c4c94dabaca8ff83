//! What ends the plain part of a JSON string, escapes, and numbers.

use text::byte_finder::{Block, ByteKind, bits};

/// Quotes, backslashes and control characters.
pub struct SignsInStrings;

impl ByteKind for SignsInStrings {
    #[inline]
    fn bits_in(block: &Block) -> u64 {
        bits(block, |bytes| bytes.are(b'"') | bytes.are(b'\\') | bytes.are_within(0, 0x1f))
    }
}

/// The length of the escape that `json` begins with; `None` if there is none.
#[inline]
pub fn escape(json: &[u8]) -> Option<usize> {
    match json.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' if json.get(2..6)?.iter().all(u8::is_ascii_hexdigit) => Some(6),
        _ => None,
    }
}

/// The length of the number that `json` begins with; `None` if there is none.
pub fn number(json: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        let mut end = from;
        while json.get(end).is_some_and(u8::is_ascii_digit) {
            end += 1;
        }
        (end > from).then_some(end)
    };
    let first = usize::from(json.first() == Some(&b'-'));
    let mut end = digits(first)?;
    if json[first] == b'0' && end > first + 1 {
        return None;
    }
    if json.get(end) == Some(&b'.') {
        end = digits(end + 1)?;
    }
    if matches!(json.get(end), Some(b'e' | b'E')) {
        end = digits(end + 1 + usize::from(matches!(json.get(end + 1), Some(b'+' | b'-'))))?;
    }
    Some(end)
}
