//! Everything that leaves `recall`: what it stores, what it says, what it gives to the model; and whether a secret is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::secrets::places::Planted;
use crate::support::data_folder::{Held, columns, files, terms};
use crate::support::stand_in::Call;
use crate::support::{Ran, World};

/// No stretch of a secret of this length may be anywhere: what is cut in half is not redacted.
const WINDOW: usize = 12;
/// Terms of the index shorter than this may be anybody's.
const TERM: usize = 7;

/// Which secrets leaked, by their place in the list, and into what.
pub type Leaks = BTreeMap<usize, BTreeSet<String>>;

/// What a run said.
pub fn said(name: &str, ran: &Ran) -> [Held; 2] {
    [(format!("{name}: stdout"), ran.out.clone().into_bytes()), (format!("{name}: stderr"), ran.err.clone().into_bytes())]
}

/// What the model was given.
pub fn given(calls: &[Call]) -> Vec<Held> {
    let of = |call: &Call| {
        let variables: Vec<String> = call.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        [
            ("the model's stdin".to_owned(), call.stdin.clone().into_bytes()),
            ("the model's arguments".to_owned(), call.arguments.join("\n").into_bytes()),
            ("the model's environment".to_owned(), variables.join("\n").into_bytes()),
        ]
    };
    calls.iter().flat_map(of).collect()
}

/// What is kept.
pub fn kept(world: &World) -> Vec<Held> {
    let mut all = columns(world);
    all.extend(files(world));
    all.push(("terms of the index".to_owned(), terms(world).join("\n").into_bytes()));
    all
}

/// Runs `recall` while a reader holds the log of changes open, so that all that was ever written stays in it, and takes what lies in
/// the data folder when all is done but the tidying up.
pub fn watched(world: &World, args: &[&str]) -> (Ran, Vec<Held>) {
    let first = world.recall(["digest", "--ingest-only"]);
    assert_eq!(first.code, 0, "{first:#?}");
    let runs = world.count("SELECT count(*) FROM run");
    let reader = world.database();
    reader.execute_batch("BEGIN; SELECT count(*) FROM session").expect("a reader");
    std::thread::scope(|scope| {
        let run = scope.spawn(|| world.recall(args));
        while !run.is_finished() && world.count("SELECT count(*) FROM run") == runs {
            std::thread::sleep(Duration::from_millis(10));
        }
        let held = files(world);
        reader.execute_batch("ROLLBACK").expect("the end of the reader");
        let log = held.iter().find(|(name, _)| name == "recall.db-wal").map_or(0, |(_, bytes)| bytes.len());
        assert!(log > 100_000, "the log of changes has {log} bytes: it was cut off");
        let held = held.into_iter().map(|(name, bytes)| (format!("{name} (during the run)"), bytes)).collect();
        (run.join().expect("recall ran"), held)
    })
}

/// Looks for every stretch of every secret in everything.
pub fn leaks(planted: &[Planted], sinks: &[Held]) -> Leaks {
    let mut owners = Vec::new();
    let mut windows: Vec<String> = Vec::new();
    for (at, one) in planted.iter().enumerate() {
        for window in one.parts.iter().flat_map(|part| windows_of(part)) {
            owners.push(at);
            windows.push(window);
        }
    }
    // The index folds letters, and whoever reads them can unfold them.
    let finder = AhoCorasick::builder().ascii_case_insensitive(true).match_kind(MatchKind::Standard).build(&windows);
    let finder = finder.expect("a finder");
    let mut leaks = Leaks::new();
    for (name, bytes) in sinks {
        for found in finder.find_overlapping_iter(bytes) {
            leaks.entry(owners[found.pattern().as_usize()]).or_default().insert(name.clone());
        }
    }
    for (at, one) in planted.iter().enumerate() {
        if one.parts.iter().any(|part| has_term(part, sinks)) {
            leaks.entry(at).or_default().insert("terms of the index".to_owned());
        }
    }
    leaks
}

/// The stretches of a secret that are looked for.
pub fn windows_of(part: &str) -> Vec<String> {
    if part.len() <= WINDOW {
        return vec![part.to_owned()];
    }
    (0..=part.len() - WINDOW).map(|at| part[at..at + WINDOW].to_owned()).collect()
}

/// Is a term of the index a piece of it? The index cuts at signs, folds letters and takes endings off.
fn has_term(part: &str, sinks: &[Held]) -> bool {
    let lower = part.to_lowercase();
    // Words that people put into a password are anybody's.
    let pieces: Vec<&str> = lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|p| p.len() > TERM && p.bytes().any(|b| b.is_ascii_digit()))
        .collect();
    let terms = sinks.iter().filter(|(name, _)| name == "terms of the index");
    !pieces.is_empty()
        && terms
            .flat_map(|(_, bytes)| bytes.split(|b| *b == b'\n'))
            .filter_map(|term| std::str::from_utf8(term).ok())
            .any(|term| term.len() >= TERM && pieces.iter().any(|piece| piece.starts_with(term)))
}
