//! Whether a value looks generated, or is made of words, versions and names.

use super::bytes;

/// Shannon entropy, in bits per byte.
pub(crate) fn entropy(value: &[u8]) -> f32 {
    bytes::count_steps(value.len());
    let mut counts = [0u32; 256];
    value.iter().for_each(|b| counts[usize::from(*b)] += 1);
    let len = value.len() as f32;
    counts.iter().filter(|n| **n > 0).map(|n| *n as f32 / len).map(|p| -p * p.log2()).sum()
}

/// The number of different bytes.
pub(crate) fn distinct_bytes(value: &[u8]) -> u32 {
    bytes::count_steps(value.len());
    let mut seen = [0u64; 4];
    value.iter().for_each(|b| seen[usize::from(b >> 6)] |= 1 << (b & 63));
    seen.iter().map(|bits| bits.count_ones()).sum()
}

pub(crate) fn has_digit(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    value.iter().any(u8::is_ascii_digit)
}

pub(crate) fn has_letter(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    value.iter().any(u8::is_ascii_alphabetic)
}

/// Upper-case and lower-case letters and digits.
pub(crate) fn is_mixed(value: &[u8]) -> bool {
    has_digit(value) && value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase)
}

/// Words, numbers and versions with separators: `claude-3-5-sonnet`, `v1.2.3`, `user_7`, `2026-01-31`.
pub(crate) fn is_readable(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let is_padded = value.len() >= 12 && value.ends_with(b"=") && is_mixed(value);
    if is_padded || value.len() >= 16 && has_digit(value) && camel_humps(value) * 5 > value.len() {
        return false;
    }
    value.split(|b| !b.is_ascii_alphanumeric() && *b < 128).all(is_readable_piece)
}

/// A word, a short number, or a word with a short number before or behind it.
fn is_readable_piece(piece: &[u8]) -> bool {
    let digits = piece.iter().filter(|b| b.is_ascii_digit()).count();
    if digits == 0 {
        return !is_scrambled(piece);
    }
    let turns = piece.windows(2).filter(|w| w[0].is_ascii_digit() != w[1].is_ascii_digit()).count();
    (digits == piece.len() && digits <= 8)
        || (turns <= 1 && digits <= 4 && piece.len() <= 24 && !is_scrambled(piece))
        || (turns == 2 && piece.len() <= 6)
}

/// Letters that change case as in no name, or that have few vowels.
pub(crate) fn is_scrambled(letters: &[u8]) -> bool {
    bytes::count_steps(letters.len());
    if is_gibberish(letters) {
        return true;
    }
    if letters.len() < 12 {
        return false;
    }
    let alone = letters.windows(3).filter(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase() && w[2].is_ascii_uppercase());
    let vowels = letters.iter().filter(|b| b"aeiouyAEIOUY".contains(b)).count();
    alone.count() > 2 || vowels * 6 < letters.len()
}

/// For each letter of the alphabet the letters that often follow it in the words of programs and their texts.
const LETTER_FOLLOWERS: [&str; 26] = [
    "abcdefgiklmnprstuvwxy", "abcdeijloprsuy", "acdefghiklmnoprstuv", "abcdefilmnoprstu", "abcdefgilmnopqrstuvwxy",
    "acdefilmnoprstu", "aeghilnorstu", "aeilorstu", "abcdefglmnoprstvxz", "aeosu", "aeis", "acdefiklopstuy", "abdeilmopstu",
    "abcdefgiklmnoprstuv", "abcdfgiklmnoprstuvwx", "acdefghilmnoprstuy", "u", "abcdefgiklmnoprstuvy", "abcdefghiklmnopqrstuwy",
    "abcdefhilmnoprstuwy", "abcdefgilmnprst", "aceimops", "aeinors", "ceipt", "mnpst", "aei",
];

/// The same, a bit for each following letter.
const COMMON_PAIRS: [u32; 26] = {
    let mut pairs = [0; 26];
    let mut first = 0;
    while first < 26 {
        let letters = LETTER_FOLLOWERS[first].as_bytes();
        let mut n = 0;
        while n < letters.len() {
            pairs[first] |= 1 << (letters[n] - b'a');
            n += 1;
        }
        first += 1;
    }
    pairs
};

/// Letters of both cases that no name has, however it joins words: unusual pairs, pieces of one or two letters, stretches of capitals and
/// digits.
pub(crate) fn is_gibberish(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    // A word of another language may have one capital, at its beginning.
    let has_both = value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
    let is_counted = value.windows(2).any(|w| w[0].is_ascii_digit() && w[1].is_ascii_alphabetic());
    if value.len() < 8 || !has_both || camel_humps(value) == 0 && !is_counted || !value.is_ascii() {
        return false;
    }
    let mut odd = 0;
    let mut start = 0;
    for at in 1..=value.len() {
        if at == value.len() || starts_piece(value, at) {
            let piece = &value[start..at];
            odd += oddness(piece);
            start = at;
        }
    }
    odd >= 4 && odd * 4 >= value.len()
}

/// Whether at least 55 % of the letters belong to words, and at most a third of all are digits: `V1VolumeProjection`.
pub(crate) fn is_mostly_words(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let letters = value.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let mut in_words = 0;
    let mut start = 0;
    for at in 1..=value.len() {
        if at == value.len() || starts_piece(value, at) {
            let piece = &value[start..at];
            let is_word = piece.len() >= 4 && piece[1].is_ascii_lowercase() && oddness(piece) * 5 <= piece.len();
            in_words += if is_word { piece.len() } else { 0 };
            start = at;
        }
    }
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    in_words * 20 >= letters * 11 && digits * 3 <= value.len()
}

/// Whether another word of a name begins at `at`.
fn starts_piece(value: &[u8], at: usize) -> bool {
    let (last, here) = (value[at - 1], value[at]);
    let is_last_capital = value.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    last.is_ascii_alphabetic() != here.is_ascii_alphabetic()
        || here.is_ascii_uppercase() && (last.is_ascii_lowercase() || last.is_ascii_uppercase() && is_last_capital)
}

/// How unlike a word a piece of a name is: the number of oddities.
fn oddness(piece: &[u8]) -> usize {
    if !piece[0].is_ascii_alphabetic() {
        return usize::from(piece[0].is_ascii_digit());
    }
    let letter = |b: u8| usize::from((b | 32) - b'a');
    let rare = piece.windows(2).filter(|w| COMMON_PAIRS[letter(w[0])] >> letter(w[1]) & 1 == 0).count();
    let is_acronym = piece.len() > 1 && piece.iter().all(u8::is_ascii_uppercase);
    if is_acronym && piece.len() > 2 {
        1 + rare.min((piece.len() / 3).max(1))
    } else {
        rare + usize::from(piece.len() <= 2) + usize::from(is_acronym)
    }
}

/// The number of capitals behind lower-case letters, as in camel case.
pub(crate) fn camel_humps(value: &[u8]) -> usize {
    bytes::count_steps(value.len());
    value.windows(2).filter(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase()).count()
}

/// Sixteen bytes or more in no order: generated.
pub(crate) fn is_random(value: &[u8]) -> bool {
    if value.len() < 16 || distinct_bytes(value) < 8 || is_readable(value) {
        return false;
    }
    let is_hex = value.iter().all(|b| b.is_ascii_hexdigit());
    entropy(value) >= if is_hex { 2.8 } else { 3.2 }
}

/// `8-4-4-4-12` hexadecimal digits.
pub(crate) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(n, b)| if matches!(n, 8 | 13 | 18 | 23) { *b == b'-' } else { b.is_ascii_hexdigit() })
}
