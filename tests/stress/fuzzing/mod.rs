//! The promises of `bodies` over the inputs that fuzzing found worth keeping, and over inputs near them.
//!
//! `fixtures/fuzz/` has an archive for each check, and a file for each input with a name: whatever once broke a promise lies there, too.

mod bodies;

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use bodies::Check;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::support::{files_below, invisible};

/// What means something to one of the readers.
const TOKENS: [&[u8]; 40] = [
    b"\"", b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r\n", b"\0", b"\xff", b"\xe2\x82", b"\x1b[31m", b"\x1b]0;", b"`",
    b"``", b"<", b"</", b"<private>", b"</private>", b"<system-reminder>", b"\n## Notes\n", b"---\n", b"\\ud800", b"\\u0000",
    b"\xef\xbb\xbf", b"\xe2\x80\xae", b"null", b"true", b"-1", b"1e400", b"9223372036854775807", b"-9223372036854775808",
    b"18446744073709551615", b"4294967295", b" AND ", b"\"hooks\":", b"password=", b"[REDACTED:",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/fuzz")
}

/// The inputs of a target by name, in the order of their names.
fn kept(target: &str) -> Vec<(String, Vec<u8>)> {
    let archive = folder().join(format!("{target}.tar.zst"));
    let packed = fs::read(&archive).unwrap_or_else(|e| panic!("{}: {e}", archive.display()));
    let mut all = files_of(&zstd::decode_all(&packed[..]).expect("a zstd frame"));
    for file in files_below(&folder().join(target)) {
        let name = file.file_name().and_then(|name| name.to_str()).expect("UTF-8").to_owned();
        all.push((name, fs::read(&file).expect("an input")));
    }
    all.sort();
    all
}

/// The files of a tar archive in the ustar format, as `fuzz/inputs` packs them: each a block of 512 bytes that tells its name and size,
/// then its bytes, filled up to whole blocks. An empty name ends it.
fn files_of(mut tar: &[u8]) -> Vec<(String, Vec<u8>)> {
    const BLOCK: usize = 512;
    let mut all = Vec::new();
    while let Some((head, rest)) = tar.split_at_checked(BLOCK).filter(|(head, _)| head[0] != 0) {
        let text = |field: &[u8]| String::from_utf8_lossy(field).trim_end_matches(['\0', ' ']).to_owned();
        assert_eq!((&head[257..262], head[156]), (&b"ustar"[..], b'0'), "a plain file");
        let size = usize::from_str_radix(&text(&head[124..136]), 8).expect("a size");
        all.push((text(&head[..100]), rest[..size].to_vec()));
        tar = &rest[size.next_multiple_of(BLOCK)..];
    }
    all
}

fn check_of(target: &str) -> Check {
    bodies::ALL.into_iter().find(|(name, _)| *name == target).map(|(_, check)| check).expect("a target of this name")
}

fn all_kept_hold(target: &str) {
    let (check, kept) = (check_of(target), kept(target));
    assert!(kept.len() > 2, "there are {} inputs of {target}", kept.len());
    let broken: Vec<_> = kept.iter().filter(|(_, data)| catch_unwind(|| check(data)).is_err()).map(|(name, _)| name).collect();
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

fn edited(kept: &[(String, Vec<u8>)], from: Index, edits: &[Edit]) -> Vec<u8> {
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
                #![proptest_config(ProptestConfig { cases: crate::support::size::cases(128), failure_persistence: None, ..ProptestConfig::default() })]

                #[test]
                fn holds_near_what_fuzzing_kept(from in any::<Index>(), edits in edits()) {
                    thread_local!(static KEPT: Vec<(String, Vec<u8>)> = kept(stringify!($target)));
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
    let archives = fs::read_dir(folder()).expect("fixtures/fuzz").map(|entry| entry.expect("an entry").file_name());
    let names: BTreeSet<String> = archives.map(|name| name.into_string().expect("a name")).collect();
    assert_eq!(here, names.iter().map(|name| name.trim_end_matches(".tar.zst")).collect());
}

#[test]
fn an_archive_of_inputs_is_read_as_tar_reads_it() {
    let block = |name: &str, size: &str| {
        let mut head = [0; 512];
        head[..name.len()].copy_from_slice(name.as_bytes());
        head[124..124 + size.len()].copy_from_slice(size.as_bytes());
        head[156] = b'0';
        head[257..262].copy_from_slice(b"ustar");
        head.to_vec()
    };
    let filled = |bytes: &[u8]| [bytes, &vec![0; 512 - bytes.len()]].concat();
    let tar = [
        block("a", "00000000003\0"),
        filled(b"one"),
        block("b", "00000000000\0"),
        block("c", "00000001000\0"),
        vec![7; 512],
        vec![0; 1024],
    ];
    let files = [("a".to_owned(), b"one".to_vec()), ("b".to_owned(), Vec::new()), ("c".to_owned(), vec![7; 512])];
    assert_eq!(files_of(&tar.concat()), files);
}
