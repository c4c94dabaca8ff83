//! JSON strings and numbers, eight bytes at a time where possible.

/// Measures the string that `json` begins with: its length with both quotes, and whether it is written without escapes. `None` if
/// there is no valid string.
#[inline]
pub(crate) fn string(json: &[u8]) -> Option<(usize, bool)> {
    let mut rest = json.strip_prefix(b"\"")?;
    let mut is_plain = true;
    loop {
        rest = from_special_byte(rest);
        match rest.first()? {
            b'"' => return Some((json.len() - rest.len() + 1, is_plain)),
            b'\\' => rest = after_escape(rest)?,
            _ => return None,
        }
        is_plain = false;
    }
}

/// What follows the escape that `json` begins with.
#[inline]
fn after_escape(json: &[u8]) -> Option<&[u8]> {
    match json.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(&json[2..]),
        b'u' if json.get(2..6)?.iter().all(u8::is_ascii_hexdigit) => Some(&json[6..]),
        _ => None,
    }
}

/// The rest of the bytes from the next quote, backslash or control character on; empty if there is none.
#[inline]
fn from_special_byte(bytes: &[u8]) -> &[u8] {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    let mut rest = bytes;
    while let Some((eight, behind)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*eight);
        // A byte that is none of these has no high bit left; a borrow only reaches bytes after one that is.
        let quotes = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
        let slashes = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
        let controls = word.wrapping_sub(ONES * 0x20);
        let signs = (quotes | slashes | controls) & !word & HIGHS;
        if signs != 0 {
            return &rest[signs.trailing_zeros() as usize / 8..];
        }
        rest = behind;
    }
    let at = rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20));
    &rest[at.unwrap_or(rest.len())..]
}

/// The length of the number that `json` begins with; `None` if there is none.
pub(crate) fn number(json: &[u8]) -> Option<usize> {
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
