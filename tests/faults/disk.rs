//! The disk is full, goes bad, cannot be written any more: at every call, once or from then on.

use std::collections::BTreeMap;
use std::path::Path;

use crate::library::Fault;
use crate::made::{first_run, later_run};
use crate::scene::{Ended, Scene, State};
use crate::size::{part, spread};

/// With what is said of each, by the system or by SQLite.
const ERRORS: [(i32, &str, &[&str]); 5] = [
    (28, "ENOSPC", &["No space left", "disk is full"]),
    (5, "EIO", &["Input/output error", "disk I/O error", "unable to open"]),
    (30, "EROFS", &["Read-only file system", "readonly database", "disk I/O error", "unable to open"]),
    (24, "EMFILE", &["Too many open files", "unable to open", "disk I/O error"]),
    (122, "EDQUOT", &["quota exceeded", "disk I/O error", "unable to open"]),
];

fn all(calls: usize) -> Vec<Fault> {
    let of =
        |at: usize| ERRORS.iter().flat_map(move |(errno, ..)| [false, true].map(|stays| Fault::Error { at, errno: *errno, stays }));
    (1..=calls).flat_map(of).collect()
}

/// How often a run ended with which code.
type Codes = BTreeMap<i32, usize>;

/// The run ends as one that meets such a disk must, and the next makes up for it.
fn tries(scene: &Scene, most: usize) -> Codes {
    let wanted = scene.undisturbed();
    scene.reset();
    let blobs = tempfile::tempdir().expect("a temporary folder");
    let calls = scene.recorded(blobs.path()).len();
    let mut codes = Codes::new();
    for fault in spread(&all(calls), most) {
        scene.reset();
        let how = format!("{fault:?} of {calls}");
        let ended = scene.disturbed(fault);
        ends_well(&ended, fault, scene.world.root(), &how);
        *codes.entry(ended.ran.code).or_default() += 1;
        keeps_what_was_there(scene, &how);
        scene.finish(&how);
        if let Some(difference) = scene.state().differs_from(&wanted) {
            panic!("{how}: {difference}\n{ended:#?}");
        }
    }
    println!("{:?}: {codes:?} by exit code", scene.args);
    codes
}

fn ends_well(ended: &Ended, fault: Fault, root: &Path, how: &str) {
    let Fault::Error { errno, .. } = fault else { panic!("no error") };
    let Ended { killed, ran } = ended;
    assert!(!killed && (0..=2).contains(&ran.code), "{how}: {ended:#?}");
    assert!(!ran.err.contains("panicked"), "{how}: {ended:#?}");
    if ran.code == 2 {
        let (_, name, words) = ERRORS.iter().find(|(e, ..)| *e == errno).expect("an error");
        assert!(words.iter().any(|word| ran.err.contains(word)), "{how}: {name} is not said\n{ended:#?}");
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
    for (scene, _) in [first_run("extract"), later_run("extract"), later_run("claude")] {
        let codes = tries(&scene, part(15));
        assert!(codes.contains_key(&2), "{codes:?}");
    }
}
