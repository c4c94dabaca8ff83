//! Killed at every step, and started again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::faults::interposer::{Fault, When};
use crate::faults::paid_calls::Paid;
use crate::faults::report::{Tried, add};
use crate::faults::sample::{Sample, part};
use crate::faults::scene::{Scene, State};
use crate::faults::sessions::{first_run, later_run};
use crate::support::size::is_whole;

/// A scene that is killed again and again, with what it is to come to.
pub struct Trials {
    pub scene: Scene,
    wanted: State,
    paid: Option<Paid>,
    /// All that has to be asked.
    questions: BTreeSet<String>,
    kills: usize,
    /// Calls that were made again: of those that had been answered when the kill came, and of those that were under way.
    again_answered: usize,
    again_under_way: usize,
}

impl Trials {
    pub fn of((scene, paid): (Scene, Option<Paid>)) -> Self {
        let wanted = scene.undisturbed();
        let questions = paid.as_ref().map(|paid| paid.asked().into_keys().collect()).unwrap_or_default();
        Self { scene, wanted, paid, questions, kills: 0, again_answered: 0, again_under_way: 0 }
    }

    fn begin(&self) {
        self.scene.reset();
        if let Some(paid) = &self.paid {
            paid.reset();
        }
    }

    /// Kills a run and lets the next one finish.
    fn try_one(&mut self, how: &str, kill: impl FnOnce(&Scene) -> bool) {
        self.begin();
        let killed = kill(&self.scene);
        self.kills += usize::from(killed);
        self.finish(how);
    }

    /// What is left undone is done, to the same end; no answer that is stored is asked for again.
    fn finish(&mut self, how: &str) {
        let before = self.paid.as_ref().map(|paid| (paid.asked(), paid.answered(), paid.stored(&self.scene)));
        self.scene.finish(how);
        if let Some(difference) = self.scene.differs_from(&self.wanted) {
            panic!("{how}: {difference}");
        }
        self.scene.holds_nothing_forgotten(how);
        let (Some(paid), Some((asked, answered, stored))) = (&self.paid, before) else { return };
        // What a child has read of its question when it is left alone may be a part: no session is known by that.
        for (sum, times) in paid.asked().into_iter().filter(|(sum, _)| self.questions.contains(sum)) {
            let more = times - asked.get(&sum).copied().unwrap_or_default();
            assert!(more == 0 || !stored.contains(&sum), "{how}: {sum} was paid for again, and its answer had been stored");
            if more > 0 && answered.contains_key(&sum) {
                self.again_answered += 1;
            } else if more > 0 && asked.contains_key(&sum) {
                self.again_under_way += 1;
            }
            // What was spent is never told as less than it was.
            let noted = paid.sums_reserved(&self.scene, &sum);
            assert!(noted >= times, "{how}: {noted} sums reserved for {sum}, which was asked for {times} times");
        }
    }

    /// Counts what was tried since the last time.
    pub fn report(&mut self) {
        let [kills, paid_again, asked_again] =
            [&mut self.kills, &mut self.again_answered, &mut self.again_under_way].map(std::mem::take);
        add(&self.scene.name, Tried { kills, paid_again, asked_again, ..Tried::default() });
        assert!(kills > 0);
    }

    pub fn at_calls(&mut self, most: usize, sample: &mut Sample) {
        self.begin();
        let blobs = tempfile::tempdir().expect("a temporary folder");
        let calls = self.scene.recorded(blobs.path()).len();
        self.scene.finish("recorded");
        assert_eq!(self.scene.differs_from(&self.wanted), None, "the same again");
        let moments = [When::Before, When::Half, When::After];
        let all: Vec<Fault> = (1..=calls).flat_map(|n| moments.map(|when| Fault::Kill(n, when))).collect();
        for fault in sample.of(&all, most) {
            self.try_one(&format!("{fault:?} of {calls}"), |scene| scene.disturbed(fault).killed);
        }
    }

    pub fn at_points(&mut self, most: usize, sample: &mut Sample) {
        let points = self.scene.points();
        self.at_these(sample.of(&passed(&points), most));
    }

    /// At each point at least once, but for those that are passed over.
    fn at_every_point(&mut self, but: &BTreeMap<String, usize>, most: usize, sample: &mut Sample) {
        let mut points = self.scene.points();
        points.retain(|name, _| !but.contains_key(name));
        let each = most.max(points.len()) / points.len().max(1);
        for (name, times) in points {
            self.at_these(sample.of(&passed(&[(name, times)].into()), each));
        }
    }

    fn at_these(&mut self, points: Vec<String>) {
        for at in points {
            self.try_one(&at, |scene| scene.with("RECALL_KILL_AT", &at).killed);
        }
    }

    /// Killed from outside, one to four times in a row.
    fn at_random(&mut self, most: usize, sample: &mut Sample) {
        let started = std::time::Instant::now();
        self.begin();
        self.scene.finish("a run to see how long it takes");
        let lasts = started.elapsed().as_micros() as usize;
        let until = self.kills + most;
        while self.kills < until {
            self.begin();
            let mut how = String::new();
            for _ in 0..1 + sample.below(4) {
                let wait = sample.below(lasts);
                how += &format!("after {wait} µs; ");
                let mut run = self.scene.spawned();
                std::thread::sleep(Duration::from_micros(wait as u64));
                run.kill().expect("kill -9");
                let ended = run.wait().expect("it is gone");
                self.kills += usize::from(ended.code().is_none());
            }
            self.finish(&how);
        }
    }
}

/// The points, with the number of the time.
fn passed(points: &BTreeMap<String, usize>) -> Vec<String> {
    points.iter().flat_map(|(name, times)| (1..=*times).map(move |n| format!("{name}:{n}"))).collect()
}

#[test]
fn a_run_that_is_killed_at_any_call_of_the_system_is_made_up_for() {
    let mut trials = Trials::of(first_run("extract"));
    trials.at_calls(part(20), &mut Sample::new("killed at calls of the system"));
    trials.report();
}

#[test]
fn a_run_that_is_killed_at_any_named_point_is_made_up_for() {
    let mut trials = Trials::of(first_run("extract"));
    trials.at_every_point(&BTreeMap::new(), part(10), &mut Sample::new("killed at named points"));
    trials.report();
}

#[test]
fn an_answer_that_is_stored_is_never_paid_for_again_wherever_the_run_is_killed() {
    let mut sample = Sample::new("killed with a model");
    let mut trials = Trials::of(first_run("claude"));
    // What is passed without a model as well is tried there.
    let (alone, _) = first_run("extract");
    let but = if is_whole() { BTreeMap::new() } else { alone.points() };
    trials.at_every_point(&but, part(10), &mut sample);
    trials.at_calls(part(20), &mut sample);
    trials.report();
}

#[test]
fn runs_that_are_killed_at_random_in_a_row_are_made_up_for() {
    let mut sample = Sample::new("killed at random");
    for summarizer in ["extract", "claude"] {
        let mut trials = Trials::of(first_run(summarizer));
        trials.at_random(part(10), &mut sample);
        trials.report();
    }
}

#[test]
fn a_later_run_that_is_killed_is_made_up_for() {
    let mut sample = Sample::new("a later run, killed");
    for summarizer in ["extract", "claude"] {
        let mut trials = Trials::of(later_run(summarizer));
        trials.at_points(part(10), &mut sample);
        trials.at_calls(part(10), &mut sample);
        trials.report();
    }
}
