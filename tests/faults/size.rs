//! How much is tried.

use std::env;

/// The measure of all these tests in a plain run of them: about twice as many kills, as many power failures and errors.
const PLAIN: usize = 25;

/// A test's part of all kills, in hundredths.
pub fn part(hundredths: usize) -> usize {
    let all = env::var("RECALL_KILLS").map_or(PLAIN, |n| n.parse().expect("RECALL_KILLS is a number"));
    (all * hundredths / 100).max(1)
}

/// Is it a sample that is tried?
pub fn is_plain() -> bool {
    env::var_os("RECALL_KILLS").is_none()
}

/// `most` of these, evenly spread, the first and the last among them.
pub fn spread<T: Clone>(all: &[T], most: usize) -> Vec<T> {
    if all.len() <= most {
        return all.to_vec();
    }
    (0..most).map(|i| all[if most == 1 { all.len() / 2 } else { i * (all.len() - 1) / (most - 1) }].clone()).collect()
}

/// Numbers that look random and are the same for the same seed.
pub struct Dice(u64);

impl Dice {
    /// By `RECALL_SEED`, else another one every time; it is printed either way.
    pub fn new(what: &str) -> Self {
        let random = || std::process::id() as u64 ^ std::time::UNIX_EPOCH.elapsed().map_or(0, |t| t.as_nanos() as u64);
        let seed = env::var("RECALL_SEED").map_or_else(|_| random(), |n| n.parse().expect("RECALL_SEED is a number"));
        println!("{what}: RECALL_SEED={seed}");
        Self(seed | 1)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) % end
    }
}
