//! JSON strings and numbers, many bytes at a time where possible.

/// How many words of eight bytes are looked at one by one: most strings end in these.
const WORDS_AT_FIRST: usize = 8;
/// How many bytes are tested at once behind them.
const BLOCK_BYTES: usize = 32;

/// Measures the string that `json` begins with: its length with both quotes, and whether it is written without escapes. `None` if
/// there is no valid string.
#[inline]
pub fn string(json: &[u8]) -> Option<(usize, bool)> {
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

/// Each byte of a word.
const ONES: u64 = u64::MAX / 255;
/// The high bit of each.
const HIGHS: u64 = ONES << 7;

/// The rest of the bytes from the next quote, backslash or control character on; empty if there is none.
#[inline]
fn from_special_byte(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    loop {
        for _ in 0..WORDS_AT_FIRST {
            let Some((eight, behind)) = rest.split_first_chunk() else {
                let at = rest.iter().position(|b| !is_plain(*b));
                return &rest[at.unwrap_or(rest.len())..];
            };
            let word = u64::from_le_bytes(*eight);
            let signs = (where_equal(word, b'"') | where_equal(word, b'\\') | word.wrapping_sub(ONES * 0x20)) & !word & HIGHS;
            if signs != 0 {
                return &rest[first_of(signs)..];
            }
            rest = behind;
        }
        while let Some((block, behind)) = rest.split_first_chunk::<BLOCK_BYTES>() {
            // No branch per byte, so that the compiler vectorizes the loop.
            if !block.iter().fold(true, |all, b| all & is_plain(*b)) {
                break;
            }
            rest = behind;
        }
    }
}

fn is_plain(byte: u8) -> bool {
    (byte >= 0x20) & (byte != b'"') & (byte != b'\\')
}

/// Sets the high bit of the first byte that is this ASCII sign. Of other bytes it may set that of those behind it, and of those beyond ASCII.
#[inline]
fn where_equal(word: u64, sign: u8) -> u64 {
    (word ^ (ONES * u64::from(sign))).wrapping_sub(ONES)
}

/// The offset of the first byte whose high bit is set.
#[inline]
fn first_of(signs: u64) -> usize {
    signs.trailing_zeros() as usize / 8
}

/// The offset of the next backslash. Most are near, and a call of memchr costs as much as a few words.
#[inline]
pub fn backslash(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    for _ in 0..WORDS_AT_FIRST {
        let Some((eight, behind)) = rest.split_first_chunk() else { break };
        let word = u64::from_le_bytes(*eight);
        let signs = where_equal(word, b'\\') & !word & HIGHS;
        if signs != 0 {
            return Some(bytes.len() - rest.len() + first_of(signs));
        }
        rest = behind;
    }
    memchr::memchr(b'\\', rest).map(|at| bytes.len() - rest.len() + at)
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
