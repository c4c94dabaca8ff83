//! Finds all keywords of a text in one pass.
//!
//! ## Cost
//!
//! A hash table by the first three bytes of a keyword, five bits of each. It is built in a fraction of a millisecond; an automaton of as
//! many words takes milliseconds, which the start of a session would wait for, and reads real transcripts no faster, because it is large.

use std::ops::Range;

use super::bytes;

const BITS: usize = 5;
const SIZE: usize = 1 << (3 * BITS);

#[derive(Debug)]
pub(crate) struct Prefilter {
    words: Vec<Box<str>>,
    /// By the first three letters: the index in `links` of the first word with this beginning; 0 is none.
    heads: Vec<u32>,
    links: Vec<Link>,
    /// By the first three letters: a bit for each fourth letter of the words with this beginning.
    fourths: Box<[u32; SIZE]>,
    /// The same of their fifth letters.
    fifths: Box<[u32; SIZE]>,
}

#[derive(Debug, Default)]
struct Link {
    /// The index of the word.
    word: u32,
    /// The bit of its fourth letter, or all bits if it has none. Most words with the same beginning differ there.
    fourth: u32,
    /// The same of its fifth letter.
    fifth: u32,
    /// The index in `links` of the next word with the same beginning.
    next: u32,
}

impl Prefilter {
    /// Takes words of two or more bytes, which match in any case.
    pub(crate) fn new(words: &[&str]) -> Self {
        let mut prefilter = Self {
            heads: vec![0; SIZE],
            links: vec![Link::default()],
            fourths: Box::new([0; SIZE]),
            fifths: Box::new([0; SIZE]),
            words: words.iter().map(|word| (*word).into()).collect(),
        };
        // In reverse, so that words with the same start are reported in their order.
        for (number, word) in words.iter().map(|word| word.as_bytes()).enumerate().rev() {
            let start = low_bits(word[0]) << (2 * BITS) | low_bits(word[1]) << BITS;
            let thirds = word.get(2).map_or(0..1 << BITS, |third| low_bits(*third)..low_bits(*third) + 1);
            for third in thirds {
                let head = &mut prefilter.heads[start | third];
                let [fourth, fifth] = [3, 4].map(|at| letter_bit(word, at));
                prefilter.links.push(Link { word: number as u32, fourth, fifth, next: *head });
                *head = (prefilter.links.len() - 1) as u32;
                prefilter.fourths[start | third] |= fourth;
                prefilter.fifths[start | third] |= fifth;
            }
        }
        prefilter
    }

    /// Calls `on_match` with the index and range of every word in the text, ordered by start.
    pub(crate) fn for_each_match(&self, text: &[u8], mut on_match: impl FnMut(usize, Range<usize>)) {
        bytes::count_steps(text.len());
        let (mut letters, mut from) = (0, 0);
        while let Some((at, three)) = self.next_candidate(&text[from..], letters) {
            // The first three letters must be in the text.
            if let Some(start) = (from + at).checked_sub(3) {
                self.check(text, three, start, &mut on_match);
            }
            letters = (three << BITS | low_bits(text[from + at])) & (SIZE - 1);
            from += at + 1;
        }
        // At the end of the text there may be words of two or three letters.
        for len in [3, 2] {
            let Some(start) = text.len().checked_sub(len) else { continue };
            let letters = text[start..].iter().fold(0, |letters, byte| letters << BITS | low_bits(*byte));
            self.check(text, letters << (BITS * (3 - len)), start, &mut on_match);
        }
    }

    /// The offset of the first byte that can be the fourth of a word, and the three letters before it. `letters` are those before `text`.
    /// Every byte of a text passes here, so nothing else is done in this loop, and it takes four bytes at a time.
    #[inline(never)]
    fn next_candidate(&self, text: &[u8], mut letters: usize) -> Option<(usize, usize)> {
        let fourths = &*self.fourths;
        let is_fourth = |four: usize| fourths[four >> BITS & (SIZE - 1)] >> (four & ((1 << BITS) - 1)) & 1 == 1;
        let (chunks, rest) = text.as_chunks::<4>();
        for (n, chunk) in chunks.iter().enumerate() {
            let all = chunk.iter().fold(letters, |all, byte| all << BITS | low_bits(*byte));
            for at in 0..4 {
                let four = all >> (BITS * (3 - at));
                if is_fourth(four) {
                    return Some((4 * n + at, four >> BITS & (SIZE - 1)));
                }
            }
            letters = all & (SIZE - 1);
        }
        for (at, byte) in rest.iter().enumerate() {
            let four = letters << BITS | low_bits(*byte);
            if is_fourth(four) {
                return Some((4 * chunks.len() + at, letters));
            }
            letters = four & (SIZE - 1);
        }
        None
    }

    #[inline(never)]
    fn check(&self, text: &[u8], letters: usize, start: usize, on_match: &mut impl FnMut(usize, Range<usize>)) {
        let (fourth, fifth) = (letter_bit(text, start + 3), letter_bit(text, start + 4));
        if self.fifths[letters] & fifth == 0 {
            return;
        }
        let mut offset = self.heads[letters];
        while offset != 0 {
            bytes::count_steps(1);
            let link = &self.links[offset as usize];
            offset = link.next;
            if link.fourth & fourth == 0 || link.fifth & fifth == 0 {
                continue;
            }
            let word = self.words[link.word as usize].as_bytes();
            if text.get(start..start + word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word)) {
                on_match(link.word as usize, start..start + word.len());
            }
        }
    }
}

/// The bit of the letter at this offset; all bits beyond the end.
fn letter_bit(text: &[u8], at: usize) -> u32 {
    text.get(at).map_or(u32::MAX, |letter| 1 << low_bits(*letter))
}

/// The five bits that both cases of a letter share.
fn low_bits(byte: u8) -> usize {
    usize::from(byte) & ((1 << BITS) - 1)
}
