//! What was tried, counted over all tests of a run and told when none of them is under way any more: the last table has it all.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default, Clone, Copy)]
pub struct Tried {
    pub kills: usize,
    pub power_failures: usize,
    pub errors: usize,
    /// Answers that had come and were not stored yet, and had to be paid for again.
    pub paid_again: usize,
    /// Calls that were made again because they were under way.
    pub asked_again: usize,
}

impl std::ops::AddAssign for Tried {
    fn add_assign(&mut self, more: Self) {
        self.kills += more.kills;
        self.power_failures += more.power_failures;
        self.errors += more.errors;
        self.paid_again += more.paid_again;
        self.asked_again += more.asked_again;
    }
}

struct Tally {
    under_way: usize,
    scenes: BTreeMap<String, Tried>,
}

static TALLY: Mutex<Tally> = Mutex::new(Tally { under_way: 0, scenes: BTreeMap::new() });

/// A test that failed may have held it.
fn tally() -> MutexGuard<'static, Tally> {
    TALLY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// So much was tried in a scene, and all was made up for.
pub fn add(scene: &str, tried: Tried) {
    *tally().scenes.entry(scene.to_owned()).or_default() += tried;
}

/// A test, for as long as it runs.
pub struct UnderWay;

impl UnderWay {
    pub fn begin() -> Self {
        tally().under_way += 1;
        Self
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut tally = tally();
        tally.under_way -= 1;
        if tally.under_way == 0 && !tally.scenes.is_empty() {
            println!("{}", table(&tally.scenes));
        }
    }
}

fn table(scenes: &BTreeMap<String, Tried>) -> String {
    let row = |name: &str, tried: &Tried| {
        let Tried { kills, power_failures, errors, paid_again, asked_again } = tried;
        format!("{name:<28} {kills:>7} {power_failures:>15} {errors:>8} {paid_again:>12} {asked_again:>26}")
    };
    let mut all = Tried::default();
    scenes.values().for_each(|tried| all += *tried);
    let head = "tried so far                   kills  power failures   errors   paid twice   asked twice, no answer yet";
    let rows = scenes.iter().map(|(name, tried)| row(name, tried));
    [head.to_owned()].into_iter().chain(rows).chain([row("all", &all)]).collect::<Vec<_>>().join("\n")
}
