//! Looks for the keywords: made in a few microseconds, because a session's start waits for it, and read past at the speed of an automaton.
//!
//! An automaton of four hundred words takes milliseconds to make and, being large, reads no faster over real transcripts.
//! The first three bytes of every word, five bits of each, lead to the words that begin so.

use std::ops::Range;

const BITS: usize = 5;
const SIZE: usize = 1 << (3 * BITS);

#[derive(Debug)]
pub struct Table {
    words: Vec<Box<str>>,
    /// By the first three letters: the place in `links` of the first word that begins so; 0 is none.
    heads: Vec<u32>,
    links: Vec<Link>,
    /// A bit for each of `heads` that leads to a word: few enough to stay at hand while a text is read.
    begun: Vec<u64>,
}

#[derive(Debug, Default)]
struct Link {
    /// A word's number.
    word: u32,
    /// A bit for its fourth letter, all of them for one that has none: most that begin alike differ there.
    fourth: u32,
    /// The place of the next word that begins alike.
    next: u32,
}

impl Table {
    /// From words of two bytes or more, in any case.
    pub fn new(words: &[&str]) -> Self {
        let mut table = Self {
            heads: vec![0; SIZE],
            links: vec![Link::default()],
            begun: vec![0; SIZE / 64],
            words: words.iter().map(|word| (*word).into()).collect(),
        };
        // The last first, so that words are seen in their order.
        for (number, word) in words.iter().map(|word| word.as_bytes()).enumerate().rev() {
            let start = fold(word[0]) << (2 * BITS) | fold(word[1]) << BITS;
            let thirds = word.get(2).map_or(0..1 << BITS, |third| fold(*third)..fold(*third) + 1);
            for third in thirds {
                let head = &mut table.heads[start | third];
                let fourth = word.get(3).map_or(u32::MAX, |fourth| 1 << fold(*fourth));
                table.links.push(Link { word: number as u32, fourth, next: *head });
                *head = (table.links.len() - 1) as u32;
                table.begun[(start | third) / 64] |= 1 << ((start | third) % 64);
            }
        }
        table
    }

    /// Calls `seen` with the number and the place of every word in the text, by their beginnings.
    pub fn each(&self, text: &[u8], mut seen: impl FnMut(usize, Range<usize>)) {
        let mut letters = 0;
        for (at, byte) in text.iter().enumerate() {
            letters = (letters << BITS | fold(*byte)) & (SIZE - 1);
            if self.begun[letters / 64] >> (letters % 64) & 1 == 1 && at >= 2 {
                self.look(text, letters, at - 2, &mut seen);
            }
        }
        // Words of two letters may stand at the end.
        if text.len() >= 2 {
            self.look(text, letters << BITS & (SIZE - 1), text.len() - 2, &mut seen);
        }
    }

    fn look(&self, text: &[u8], letters: usize, start: usize, seen: &mut impl FnMut(usize, Range<usize>)) {
        let fourth = text.get(start + 3).map_or(u32::MAX, |fourth| 1 << fold(*fourth));
        let mut place = self.heads[letters];
        while place != 0 {
            let link = &self.links[place as usize];
            place = link.next;
            if link.fourth & fourth == 0 {
                continue;
            }
            let word = self.words[link.word as usize].as_bytes();
            if text.get(start..start + word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word)) {
                seen(link.word as usize, start..start + word.len());
            }
        }
    }
}

/// The five bits that both cases of a letter share.
fn fold(byte: u8) -> usize {
    usize::from(byte) & ((1 << BITS) - 1)
}
