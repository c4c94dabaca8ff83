//! Seed phrases of wallets without a word that announces them: twelve to twenty-four words in a row, all of the list of BIP 39.
//!
//! ## Cost
//!
//! All words of the list would be found in nearly every sentence. The keywords are the 900 words whose first four letters are the rarest in
//! sources and prose; of a thousand phrases, one has none of them.

use std::ops::Range;

use super::bytes::{self, BLANK, ByteSet, DIGIT, byte_before};
use super::line_wrap::line_break;

/// The least and most words. Words before or behind a phrase may be in the list by chance.
const MIN_WORDS: usize = 12;
const MAX_WORDS: usize = 26;
const LETTERS: ByteSet = ByteSet::of("a-z");
/// The longest word, and the least different words: phrases that everybody uses for tests repeat theirs.
const MAX_LETTERS: usize = 8;
const MIN_DISTINCT: usize = 9;

/// The list in its order, each word as the number that its bytes are.
static WORDS: [u64; 2048] = {
    let list = include_str!("bip39.txt").as_bytes();
    let mut words = [0; 2048];
    let (mut n, mut at, mut word, mut len) = (0, 0, 0u64, 0);
    while at < list.len() {
        if list[at] == b'\n' {
            words[n] = word << (8 * (MAX_LETTERS - len));
            (n, word, len) = (n + 1, 0, 0);
        } else {
            (word, len) = (word << 8 | list[at] as u64, len + 1);
        }
        at += 1;
    }
    assert!(n == 2048);
    words
};

/// A bit for each hash of a word of the list. Rejects nearly all other words at once.
static FILTER: [u64; 1 << (HASH_BITS - 6)] = {
    let mut filter = [0; 1 << (HASH_BITS - 6)];
    let mut n = 0;
    while n < WORDS.len() {
        let hash = hash(WORDS[n]);
        filter[hash >> 6] |= 1 << (hash & 63);
        n += 1;
    }
    filter
};
const HASH_BITS: u32 = 15;

const fn hash(word: u64) -> usize {
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - HASH_BITS)) as usize
}

/// The word as a number, if it is in the list.
fn number(word: &[u8]) -> Option<u64> {
    if !(3..=MAX_LETTERS).contains(&word.len()) {
        return None;
    }
    let number = word.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)) << (8 * (MAX_LETTERS - word.len()));
    let hash = hash(number);
    bytes::count_steps(11);
    (FILTER[hash >> 6] >> (hash & 63) & 1 == 1 && WORDS.binary_search(&number).is_ok()).then_some(number)
}

/// The words of the list that are looked for.
pub(crate) fn keywords() -> impl Iterator<Item = &'static str> {
    include_str!("bip39_rare.txt").lines()
}

/// The phrase that the word at `hit` is in. `to` is how far rows of words have been read.
pub(crate) fn find(text: &[u8], hit: Range<usize>, to: &mut usize) -> Option<Range<usize>> {
    let is_word = LETTERS.has(text[hit.start]) && (!LETTERS.has(byte_before(text, hit.start)) || is_behind_escape(text, hit.start));
    if hit.start < *to || !is_word || word_from(text, hit.start).is_none() {
        return None;
    }
    let first = first_of(text, hit.start, *to);
    let (range, is_phrase) = phrase(text, first);
    *to = range.end;
    is_phrase.then_some(range)
}

/// Whether the `n` of an escaped newline stands before `start`.
fn is_behind_escape(text: &[u8], start: usize) -> bool {
    text[..start].ends_with(b"\\n")
}

/// The `n` of an escaped newline is not part of the word.
fn behind_escape(text: &[u8], start: usize) -> usize {
    start + usize::from(byte_before(text, start) == b'\\' && text.get(start) == Some(&b'n'))
}

/// The number and the end of the word of the list that begins at `start`.
fn word_from(text: &[u8], start: usize) -> Option<(u64, usize)> {
    let end = bytes::find_byte(text, start, MAX_LETTERS + 1, |b| !b.is_ascii_lowercase()).0;
    let next = text.get(end).copied().unwrap_or(0);
    let is_free = !next.is_ascii_alphanumeric() && !matches!(next, b'_' | b'-' | b'(' | b'\'' | b'/');
    let is_free = is_free || next == b'\'' && text.get(end + 1).is_none_or(|b| !b.is_ascii_alphabetic());
    number(&text[start..end]).filter(|_| is_free).map(|number| (number, end))
}

/// The first word of the row that the word at `start` is in, not before `to`.
fn first_of(text: &[u8], start: usize, to: usize) -> usize {
    let mut first = start;
    for _ in 0..MAX_WORDS {
        let gap = gap_before(text, first);
        let word = behind_escape(text, bytes::run_start(text, gap, LETTERS, MAX_LETTERS + 1));
        let is_next = word < gap && gap < first && word >= to && next_start(text, gap) == Some(first);
        if !is_next || word_from(text, word).is_none_or(|(_, end)| end != gap) {
            break;
        }
        first = word;
    }
    first
}

/// The end of the word before the one at `start`.
fn gap_before(text: &[u8], start: usize) -> usize {
    const SIGNS: ByteSet = ByteSet::of(" \t\r\n,\"'0-9.)>|\\");
    let gap = bytes::run_start(text, start, SIGNS, 12);
    if byte_before(text, gap) == b'n' && gap >= 2 && text[gap - 2] == b'\\' {
        bytes::run_start(text, gap - 1, SIGNS, 12)
    } else {
        gap
    }
}

/// The row of words from `start`, and whether it is a phrase: long enough, not too long, and neither an alphabetical list nor a test's.
fn phrase(text: &[u8], start: usize) -> (Range<usize>, bool) {
    let (mut row, mut count) = ([0; MAX_WORDS], 0);
    let (mut offset, mut end) = (start, start);
    while let Some((number, word_end)) = word_from(text, offset) {
        if let Some(word) = row.get_mut(count) {
            *word = number;
        }
        (count, end) = (count + 1, word_end);
        let Some(next) = next_start(text, word_end) else { break };
        offset = next;
    }
    let words = &mut row[..count.min(MAX_WORDS)];
    let sorted = words.windows(2).filter(|pair| pair[0] <= pair[1]).count();
    words.sort_unstable();
    let distinct = words.chunk_by(|a, b| a == b).count();
    let is_free = !matches!(byte_before(text, start), b'.' | b'/' | b'_' | b'-' | b'@' | b'$');
    let is_phrase = (MIN_WORDS..=MAX_WORDS).contains(&count) && distinct >= MIN_DISTINCT && sorted + 2 < count;
    (start..end.max(start + 1), is_phrase && is_free)
}

/// The start of the next word: behind a space, a comma or a newline, and perhaps a number.
fn next_start(text: &[u8], end: usize) -> Option<usize> {
    let mut offset = bytes::run_end(text, end, ByteSet::of(" \t,\"'|"), 6);
    if let Some((_, next)) = line_break(text, offset) {
        offset = next;
    }
    let number = bytes::run_end(text, offset, DIGIT, 2);
    let sign = bytes::run_end(text, number, ByteSet::of(".):"), 1);
    if number > offset {
        offset = bytes::run_end(text, sign, BLANK, 4);
    }
    let offset = bytes::run_end(text, offset, ByteSet::of("\"'"), 1);
    (offset > end).then_some(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(WORDS.is_sorted());
        assert!(number(b"zoo").is_some() && number(b"abandon").is_some() && number(b"the").is_none());
    }

    #[test]
    fn the_keywords_are_words_of_the_list() {
        assert!(keywords().is_sorted() && keywords().count() == 900);
        assert_eq!(keywords().find(|word| number(word.as_bytes()).is_none()), None);
    }
}
