//! How much is tried, and with which numbers. A plain run of the tests is small; a variable makes it as large as one likes.

use std::env;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

/// The number that a variable says, or the plain one. What is no number is an error: who mistypes it would take a small run for a large.
pub fn number<N: FromStr<Err: Display>>(name: &str, plain: N) -> N {
    let Some(text) = env::var_os(name) else { return plain };
    let text = text.to_str().unwrap_or_else(|| panic!("{name} is no text: {text:?}"));
    text.parse().unwrap_or_else(|e| panic!("{name}={text}: {e}"))
}

/// A number in letters, so that no word is the beginning of another.
pub fn letters(n: usize) -> String {
    n.to_string().bytes().map(|digit| (b'a' + digit - b'0') as char).collect()
}

/// Where the random choices of a run begin: `RECALL_SEED`, else 1, so that every plain run makes the same ones. `random` draws another
/// seed for each run. Whoever uses it prints it, for when a test fails.
pub fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    let random = || u64::from(std::process::id()) ^ UNIX_EPOCH.elapsed().map_or(0, |t| t.as_nanos() as u64);
    *SEED
        .get_or_init(|| if env::var_os("RECALL_SEED").is_some_and(|v| v == "random") { random() } else { number("RECALL_SEED", 1) })
}

/// How many cases a property is tried with: PROPTEST_CASES, or the plain number.
pub fn cases(plain: u32) -> u32 {
    number("PROPTEST_CASES", plain)
}

/// The same where each case starts the program: RECALL_WHOLE=1 asks for all of them.
pub fn runs(plain: u32, whole: u32) -> u32 {
    cases(if is_whole() { whole } else { plain })
}

/// Is everything to be tried with everything else (RECALL_WHOLE=1), and not only each thing once?
pub fn is_whole() -> bool {
    number::<u8>("RECALL_WHOLE", 0) != 0
}

/// Numbers of the first and of the second kind that are tried together: all pairs where everything is to be tried, else each number once at
/// least.
pub fn pairs(first: usize, second: usize) -> Vec<(usize, usize)> {
    if is_whole() {
        return (0..first).flat_map(|a| (0..second).map(move |b| (a, b))).collect();
    }
    // Another order in each round, so that none of the fewer goes with every second of the many.
    let by_turns = |n: usize, all: usize| (n + n / all) % all;
    if first < second {
        (0..second).map(|n| (by_turns(n, first), n)).collect()
    } else {
        (0..first).map(|n| (n, by_turns(n, second))).collect()
    }
}

/// Numbers that look random and are the same for the same seed. After Vigna's splitmix64.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 where nothing is.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }
}
