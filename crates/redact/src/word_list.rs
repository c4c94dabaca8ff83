//! Lists of words with a quick check by first letter and length, which rejects most words.

/// Lower-case words of at most 31 bytes.
#[derive(Debug)]
pub(crate) struct WordList {
    list: &'static [&'static str],
    /// For each first letter, by its low five bits: a bit for each length that occurs.
    lengths: [u32; 32],
}

impl WordList {
    pub(crate) const fn of(list: &'static [&'static str]) -> Self {
        let mut lengths = [0; 32];
        let mut n = 0;
        while n < list.len() {
            let word = list[n].as_bytes();
            lengths[(word[0] & 31) as usize] |= 1 << word.len();
            n += 1;
        }
        Self { list, lengths }
    }

    /// Whether the word is in the list, in any case.
    pub(crate) fn has(&self, word: &[u8]) -> bool {
        let Some(first) = word.first().filter(|_| word.len() < 32) else { return false };
        self.lengths[usize::from(first & 31)] >> word.len() & 1 == 1
            && self.list.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
    }

    /// All words.
    pub(crate) fn each(&self) -> impl Iterator<Item = &'static str> {
        self.list.iter().copied()
    }
}
