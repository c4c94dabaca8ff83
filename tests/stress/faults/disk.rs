//! The disk is full, goes bad, cannot be written any more: at every call, once or from then on.

use std::collections::BTreeSet;
use std::path::Path;

use crate::faults::interposer::{Call, Fault};
use crate::faults::paid_calls::Paid;
use crate::faults::report::{Tried, add};
use crate::faults::sample::{Sample, part, parts};
use crate::faults::scene::{Ended, Scene, State};
use crate::faults::sessions::{first_run, later_run};

const ENOSPC: i32 = 28;
const EMFILE: i32 = 24;
const EDQUOT: i32 = 122;

/// With what the system says of each.
const ERRORS: [(i32, &str); 5] = [
    (ENOSPC, "No space left on device"),
    (5, "Input/output error"),
    (30, "Read-only file system"),
    (EMFILE, "Too many open files"),
    (EDQUOT, "quota exceeded"),
];

/// In the words of SQLite, which tells no error of the system from another.
const OF_SQLITE: [&str; 4] = ["disk is full", "disk I/O error", "readonly database", "unable to open database file"];

/// Can a call end so? No disk is too full to open a file that is there, and no file is opened by writing one.
fn can_end_so(call: &Call, errno: i32) -> bool {
    match errno {
        ENOSPC | EDQUOT => {
            ["create", "write", "allocate", "sync", "rename", "link", "symlink", "mkdir"].contains(&call.what.as_str())
        }
        EMFILE => ["create", "open"].contains(&call.what.as_str()),
        _ => true,
    }
}

fn all(calls: &[Call]) -> Vec<Fault> {
    let of = |call: &Call, errno: i32| {
        let at = call.number;
        let faults = [false, true].map(|stays| Fault::Error { at, errno, stays });
        faults.into_iter().filter(|_| can_end_so(call, errno)).collect::<Vec<_>>()
    };
    calls.iter().flat_map(|call| ERRORS.iter().flat_map(move |(errno, _)| of(call, *errno))).collect()
}

/// One of each of `most` equal parts of a run, and every error in its turn.
pub fn some(calls: &[Call], most: usize, sample: &mut Sample) -> Vec<Fault> {
    let all = all(calls);
    let one = |part: std::ops::Range<usize>| {
        let (wanted, _) = *sample.by_turns(&ERRORS);
        let part = &all[part];
        let of_it: Vec<_> =
            part.iter().filter(|fault| matches!(fault, Fault::Error { errno, .. } if *errno == wanted)).copied().collect();
        sample.one(if of_it.is_empty() { part } else { &of_it })
    };
    parts(all.len(), most).map(one).collect()
}

/// Calls of the model side by side, by default.
const PARALLEL_CALLS: usize = 2;

/// The errors that a run met.
type Met = BTreeSet<i32>;

/// The run ends as one that meets such a disk must, and the next makes up for it.
pub fn tries(scene: &Scene, paid: Option<&Paid>, most: usize, sample: &mut Sample) -> Met {
    let wanted = scene.undisturbed();
    scene.reset();
    let blobs = tempfile::tempdir().expect("a temporary folder");
    let calls = scene.recorded(blobs.path());
    let (mut met, mut tried) = (Met::new(), Tried::default());
    for fault in some(&calls, most, sample) {
        scene.reset();
        paid.inspect(|paid| paid.reset());
        let how = format!("{fault:?} of {}", calls.len());
        let ended = scene.disturbed(fault);
        ends_well(&ended, fault, scene.world.root(), &how);
        if let Fault::Error { errno, .. } = fault
            && ended.failed > 0
        {
            met.insert(errno);
            tried.errors += 1;
        }
        keeps_what_was_there(scene, &how);
        if ended.ran.code == 0 {
            // How the last run ended is noted where that can be noted; a lock whose file cannot be removed holds nobody.
            let (now, wanted) = (scene.state(), &wanted);
            let [now, wanted] = [&now, wanted].map(|state| state.without_file("last-run.json").without_file("data/install.lock"));
            let difference = if scene.then.is_empty() { now.differs_from(&wanted) } else { None };
            assert_eq!(difference, None, "{how}: it said that all was done\n{ended:#?}");
        }
        scene.finish(&how);
        // Where the model was given up meanwhile, a digest without it stood in for a while, and its id is known for ever.
        let state = |of: &State| if paid.is_some() { of.without("former_digest: ") } else { of.clone() };
        if let Some(difference) = scene.differs(&wanted, state) {
            panic!("{how}: {difference}\n{ended:#?}");
        }
        // Those under way when the disk failed.
        let again: usize = paid.map_or(0, |paid| paid.asked().values().map(|times| times - 1).sum());
        assert!(again <= PARALLEL_CALLS, "{how}: {again} answers paid for again\n{ended:#?}");
        tried.paid_again += again;
    }
    assert!(tried.errors > 0, "{}: nothing failed", scene.name);
    add(&scene.name, tried);
    met
}

pub fn ends_well(ended: &Ended, fault: Fault, root: &Path, how: &str) {
    let Fault::Error { errno, .. } = fault else { panic!("no error") };
    let Ended { killed, ran, .. } = ended;
    assert!(!killed && (0..=2).contains(&ran.code), "{how}: {ended:#?}");
    assert!(!ran.err.contains("panicked"), "{how}: {ended:#?}");
    if ran.code == 2 {
        let of_system = ERRORS.iter().filter(|(e, _)| *e == errno).map(|(_, words)| *words);
        assert!(of_system.chain(OF_SQLITE).any(|words| ran.err.contains(words)), "{how}: it is not said what\n{ended:#?}");
        assert!(ran.err.contains(&root.display().to_string()), "{how}: it is not said where\n{ended:#?}");
    }
}

/// Nothing that the index held is gone.
fn keeps_what_was_there(scene: &Scene, how: &str) {
    if scene.start_has_index() && scene.args[0] == "digest" {
        let (before, now) = (scene.at_start().contents(), scene.state().contents());
        let gone: Vec<_> = before.difference(&now).collect();
        assert!(gone.is_empty(), "{how}: {gone:#?}");
    }
}

#[test]
fn a_digest_on_a_failing_disk_loses_nothing_and_the_next_makes_up_for_it() {
    let mut sample = Sample::new("a digest on a failing disk");
    let mut met = Met::new();
    for (scene, paid) in [first_run("extract"), later_run("extract"), first_run("claude"), later_run("claude")] {
        met.extend(tries(&scene, paid.as_ref(), part(10).max(2), &mut sample));
    }
    assert_eq!(met, ERRORS.iter().map(|(errno, _)| *errno).collect(), "every error was met");
}
