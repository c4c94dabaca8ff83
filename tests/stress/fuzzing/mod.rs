//! The promises of `bodies` over the inputs that fuzzing found worth keeping, and over inputs near them.
//!
//! `fixtures/fuzz/` has a folder for each check; whatever once broke a promise lies there, too.

mod bodies;

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use bodies::Check;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::support::invisible;

/// What means something to one of the readers.
const TOKENS: [&[u8]; 40] = [
    b"\"", b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r\n", b"\0", b"\xff", b"\xe2\x82", b"\x1b[31m", b"\x1b]0;", b"`",
    b"``", b"<", b"</", b"<private>", b"</private>", b"<system-reminder>", b"\n## Notes\n", b"---\n", b"\\ud800", b"\\u0000",
    b"\xef\xbb\xbf", b"\xe2\x80\xae", b"null", b"true", b"-1", b"1e400", b"9223372036854775807", b"-9223372036854775808",
    b"18446744073709551615", b"4294967295", b" AND ", b"\"hooks\":", b"password=", b"[REDACTED:",
];

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/fuzz").join(target)
}

/// The inputs of a target, in the order of their names.
fn kept(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder(target)).unwrap_or_else(|e| panic!("{}: {e}", folder(target).display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read(path).expect("an input"))).collect()
}

fn check_of(target: &str) -> Check {
    bodies::ALL.into_iter().find(|(name, _)| *name == target).map(|(_, check)| check).expect("a target of this name")
}

fn all_kept_hold(target: &str) {
    let (check, kept) = (check_of(target), kept(target));
    assert!(kept.len() > 2, "there are {} inputs in {}", kept.len(), folder(target).display());
    let broken: Vec<_> = kept.iter().filter(|(_, data)| catch_unwind(|| check(data)).is_err()).map(|(path, _)| path).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

/// A change of an input: where, what kind of change, and with what.
type Edit = (Index, u8, Vec<u8>, Index);

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let with = prop_oneof![
        4 => select(TOKENS.to_vec()).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 1..6),
        1 => "\\PC{1,6}".prop_map(String::into_bytes),
    ];
    proptest::collection::vec((any::<Index>(), 0u8..4, with, any::<Index>()), 1..6)
}

fn edited(kept: &[(PathBuf, Vec<u8>)], from: Index, edits: &[Edit]) -> Vec<u8> {
    let mut data = kept[from.index(kept.len())].1.clone();
    for (at, kind, with, other) in edits {
        let at = at.index(data.len() + 1);
        let end = (at + with.len()).min(data.len());
        match kind {
            0 => drop(data.splice(at..at, with.iter().copied())),
            1 => drop(data.splice(at..end, with.iter().copied())),
            2 => drop(data.drain(at..end)),
            _ => {
                let other = &kept[other.index(kept.len())].1;
                data.truncate(at);
                data.extend(other.iter().skip(at));
            }
        }
    }
    data
}

macro_rules! targets {
    ($($target:ident)*) => {
        const TARGETS: &[&str] = &[$(stringify!($target)),*];
        $(mod $target {
            use super::*;

            #[test]
            fn holds_for_what_fuzzing_kept() {
                all_kept_hold(stringify!($target));
            }

            proptest! {
                #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

                #[test]
                fn holds_near_what_fuzzing_kept(from in any::<Index>(), edits in edits()) {
                    thread_local!(static KEPT: Vec<(PathBuf, Vec<u8>)> = kept(stringify!($target)));
                    KEPT.with(|kept| check_of(stringify!($target))(&edited(kept, from, &edits)));
                }
            }
        })*
    };
}

targets!(clean config delta page payload private query reply rows settings transfer);

#[test]
fn every_check_is_a_fuzz_target_and_is_run_here() {
    let here: BTreeSet<&str> = TARGETS.iter().copied().collect();
    assert_eq!(here, bodies::ALL.iter().map(|(name, _)| *name).collect());
    let manifest: toml::Table =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/Cargo.toml")).expect("fuzz/").parse().expect("TOML");
    let bins = manifest["bin"].as_array().expect("targets").iter().map(|bin| bin["name"].as_str().expect("a name"));
    assert_eq!(here, bins.collect());
    let folders = fs::read_dir(folder("")).expect("fixtures/fuzz").map(|entry| entry.expect("an entry").file_name());
    assert_eq!(
        here,
        folders.map(|name| name.into_string().expect("a name")).collect::<Vec<_>>().iter().map(String::as_str).collect()
    );
}
