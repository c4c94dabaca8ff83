//! How much is tried, and which of all there is to try.

use std::ops::Range;

use crate::faults::report::UnderWay;
use crate::support::size::{Dice, number, seed};

/// The measure of all these tests in a plain run of them: about twice as many kills, as many power failures and errors.
const PLAIN: usize = 12;

/// A test's part of all kills, in hundredths.
pub fn part(hundredths: usize) -> usize {
    let all = number("RECALL_KILLS", PLAIN);
    (all * hundredths / 100).max(1)
}

/// What one test tries: it looks chosen at random and is the same for the same seed.
pub struct Sample {
    dice: Dice,
    turns: usize,
    _under_way: UnderWay,
}

impl Sample {
    /// The seed is printed, for when the test fails.
    pub fn new(what: &str) -> Self {
        println!("{what}: RECALL_SEED={}", seed());
        Self::of_seed(seed())
    }

    fn of_seed(seed: u64) -> Self {
        let mut sample = Self { dice: Dice(seed), turns: 0, _under_way: UnderWay::begin() };
        sample.turns = sample.below(1000);
        sample
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.dice.below(end as u64) as usize
    }

    /// The next of these, over and over.
    pub fn by_turns<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        self.turns += 1;
        &all[self.turns % all.len()]
    }

    /// One of these.
    pub fn one<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    /// `most` of these: one of each of as many equal parts, so that all of it is met and every run meets something else.
    pub fn of<T: Clone>(&mut self, all: &[T], most: usize) -> Vec<T> {
        parts(all.len(), most).map(|part| self.one(&all[part])).collect()
    }
}

/// So many things in `most` parts of the same size, and in no more than there are things.
pub fn parts(all: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let most = most.min(all);
    (0..most).map(move |n| n * all / most..(n + 1) * all / most)
}

#[test]
fn a_sample_is_of_every_part_the_same_for_a_seed_and_another_for_another() {
    let all: Vec<usize> = (0..100).collect();
    let of = |seed| Sample::of_seed(seed).of(&all, 10);
    let samples: Vec<_> = (0..20).map(of).collect();
    for sample in &samples {
        assert!(sample.iter().enumerate().all(|(n, one)| one / 10 == n), "{sample:?}");
    }
    assert_eq!(of(7), samples[7]);
    assert!(samples.iter().any(|sample| sample != &samples[0]));
    assert_eq!(Sample::of_seed(1).of(&all, 1000), all);
}
