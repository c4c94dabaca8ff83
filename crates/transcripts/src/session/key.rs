//! Keys of records, and short ids made from hashes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The identity of a transcript record, the same in every copy of it.
///
/// The record's UUID if it has one; otherwise a hash of its session and its name, or of its session and the bytes of its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordKey(pub [u8; 16]);

impl RecordKey {
    /// The key of a record whose `uuid` field is `text`. If that is no UUID, it only names a record within its session.
    pub(crate) fn from_uuid(session: &str, text: &str) -> Self {
        match parse_uuid(text) {
            Some(bytes) => Self(bytes),
            None => Self::hashed(&[b"uuid", session.as_bytes(), text.as_bytes()]),
        }
    }

    /// The key that is displayed so.
    pub fn read(text: &str) -> Option<Self> {
        parse_uuid(text).map(Self)
    }

    /// The key of a record without a UUID.
    pub fn from_line(session: &str, line: &[u8]) -> Self {
        Self::hashed(&[b"line", session.as_bytes(), line])
    }

    /// The key of a record that is known by its number among the rows of a session.
    pub(crate) fn from_row(session: &str, number: u64, bytes: &[u8]) -> Self {
        Self::hashed(&[b"row", session.as_bytes(), &number.to_le_bytes(), bytes])
    }

    /// The key under which the title of a `summary` line is forgotten: such a line leaves no other trace.
    pub fn of_title(leaf: RecordKey, title: &str) -> Self {
        Self::hashed(&[b"title", &leaf.0, title.as_bytes()])
    }

    /// The key under which a memory file of Claude's is forgotten.
    pub fn of_memory_file(path: &str) -> Self {
        Self::hashed(&[b"memory file", path.as_bytes()])
    }

    fn hashed(parts: &[&[u8]]) -> Self {
        let mut key = [0; 16];
        key.copy_from_slice(&hash_parts(parts)[..16]);
        Self(key)
    }
}

impl fmt::Display for RecordKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            if matches!(i, 4 | 6 | 8 | 10) {
                out.write_str("-")?;
            }
            write!(out, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl Serialize for RecordKey {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RecordKey {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        RecordKey::read(&text).ok_or_else(|| serde::de::Error::custom("a record key is 32 hex digits"))
    }
}

fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    if text.len() > 36 {
        return None;
    }
    let (mut value, mut count, mut all) = (0u128, 0, 0);
    for byte in text.bytes().filter(|b| *b != b'-') {
        let digit = DIGITS[usize::from(byte)];
        value = value << 4 | u128::from(digit);
        all |= digit;
        count += 1;
    }
    (count == 32 && all < NO_DIGIT).then(|| value.to_be_bytes())
}

/// The value of a byte as a hexadecimal digit, for every byte.
const DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        let digit = b"0123456789abcdef"[value];
        digits[digit as usize] = value as u8;
        digits[digit.to_ascii_uppercase() as usize] = value as u8;
        value += 1;
    }
    digits
};
/// Above the values of all digits.
const NO_DIGIT: u8 = 0x80;

/// Hashes parts so that another split of the same bytes has another hash.
pub fn hash_parts(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

/// A short, stable, readable id: `prefix` and eight hex digits of a hash over `parts`.
pub fn short_id(prefix: &str, parts: &[&str]) -> String {
    let bytes: Vec<&[u8]> = parts.iter().map(|p| p.as_bytes()).collect();
    let hash = hash_parts(&bytes);
    format!("{prefix}{}", hex(&hash[..4]))
}

/// The words of a request that may be ids that we gave.
pub fn ids_in(request: &str) -> Vec<String> {
    let words = request.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter(|word| is_id(word)).map(str::to_owned).collect()
}

/// May it be the id of a session, or the beginning of one, or of a note, a rule or an open item?
fn is_id(word: &str) -> bool {
    let digits = word.strip_prefix(['m', 'n', 'o', 'r', 'u']).unwrap_or(word);
    (6..=36).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// Bytes in hexadecimal digits, two for each.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A [`short_id`] that is not taken; tries further ones until it finds one. Among some ten thousand ids, two clash now and then.
pub fn unused_id<E>(prefix: &str, parts: &[&str], mut taken: impl FnMut(&str) -> Result<bool, E>) -> Result<String, E> {
    let mut parts = parts.to_vec();
    loop {
        let id = short_id(prefix, &parts);
        if !taken(&id)? {
            return Ok(id);
        }
        parts.push("+");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_uuid_is_read_as_its_digits(text in "([0-9a-fA-F]{8}-){0,2}[0-9a-f]{28,34}|[0-9a-fA-F-]{30,38}|[0-9a-f]{31}\\PC|\\PC{0,40}") {
            let digits: Option<Vec<u32>> = text.chars().filter(|c| *c != '-').map(|c| c.to_digit(16)).collect();
            let digits = digits.filter(|digits| digits.len() == 32 && text.len() <= 36);
            let bytes = digits.map(|digits| digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect::<Vec<_>>());
            prop_assert_eq!(parse_uuid(&text).map(Vec::from), bytes);
        }
    }

    #[test]
    fn ids_of_sessions_notes_rules_and_open_items_are_looked_up() {
        let asked = "m763131ea r12345678 o0a0b0c0d 0a000004 src/main.rs message";
        assert_eq!(ids_in(asked), ["m763131ea", "r12345678", "o0a0b0c0d", "0a000004"]);
    }
}
