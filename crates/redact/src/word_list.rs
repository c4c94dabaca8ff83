//! Lists of words that are asked about often: most words are known to be in none by their first letter and their length.

/// Words in small letters, none longer than 31.
#[derive(Debug)]
pub(crate) struct WordList {
    list: &'static [&'static str],
    /// For each first letter, by its five bits, a bit for every length there is.
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

    /// Is it one of them, in any case?
    pub(crate) fn has(&self, word: &[u8]) -> bool {
        let Some(first) = word.first().filter(|_| word.len() < 32) else { return false };
        self.lengths[usize::from(first & 31)] >> word.len() & 1 == 1
            && self.list.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
    }

    /// All of them.
    pub(crate) fn each(&self) -> impl Iterator<Item = &'static str> {
        self.list.iter().copied()
    }
}
