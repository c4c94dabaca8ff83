//! What can happen to the file of an index.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use crate::damage::scene::Scene;
use crate::support::size::Dice;

pub const PAGE: u64 = 4096;

/// How a damage shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// To whoever opens the index.
    AtOnce,
    /// To whoever reads what was hit.
    Later,
    /// It is of no consequence.
    Never,
}

pub struct Damage {
    pub name: &'static str,
    pub shows: Shows,
    pub inflict: fn(&Scene),
}

pub const ALL: [Damage; 15] = [
    Damage { name: "empty", shows: Shows::AtOnce, inflict: |s| cut(s, |_| 0) },
    Damage { name: "gone", shows: Shows::AtOnce, inflict: |s| fs::remove_file(s.index()).expect("the index") },
    Damage { name: "cut in half", shows: Shows::AtOnce, inflict: |s| cut(s, |len| len / 2) },
    Damage { name: "cut within the first page", shows: Shows::AtOnce, inflict: |s| cut(s, |_| 1000) },
    Damage { name: "random bytes", shows: Shows::AtOnce, inflict: |s| fs::write(s.index(), noise(100_000)).expect("noise") },
    Damage { name: "a text", shows: Shows::AtOnce, inflict: |s| fs::write(s.index(), "no database\n").expect("a text") },
    Damage { name: "a garbled header", shows: Shows::AtOnce, inflict: |s| over(&s.index(), 0, &noise(100)) },
    Damage { name: "a zeroed first page", shows: Shows::AtOnce, inflict: |s| over(&s.index(), 0, &[0; PAGE as usize]) },
    Damage { name: "no form", shows: Shows::AtOnce, inflict: |s| over(&s.index(), 60, &[0; 4]) },
    Damage { name: "a form that may not be written", shows: Shows::AtOnce, inflict: |s| over(&s.index(), 18, &[7]) },
    Damage { name: "tables of an unknown form", shows: Shows::AtOnce, inflict: |s| over(&s.index(), 44, &[9; 4]) },
    Damage { name: "another encoding", shows: Shows::AtOnce, inflict: |s| over(&s.index(), 59, &[2]) },
    Damage {
        name: "a table that is gone",
        shows: Shows::AtOnce,
        inflict: |s| {
            rusqlite::Connection::open(s.index()).and_then(|db| db.execute_batch("DROP TABLE spend")).expect("no table");
        },
    },
    Damage {
        name: "the sessions' page zeroed",
        shows: Shows::Later,
        inflict: |s| over(&s.index(), root_of(s, "session"), &[0; PAGE as usize]),
    },
    Damage {
        name: "a garbled log",
        shows: Shows::Never,
        inflict: |s| fs::write(s.world.data_dir().join("recall.db-wal"), noise(50_000)).expect("a log"),
    },
];

/// Where the page lies with which a table begins.
pub fn root_of(scene: &Scene, table: &str) -> u64 {
    let sql = format!("SELECT rootpage FROM sqlite_master WHERE name = '{table}'");
    (scene.world.count(&sql) as u64 - 1) * PAGE
}

pub fn cut(scene: &Scene, to: impl FnOnce(u64) -> u64) {
    let file = fs::File::options().write(true).open(scene.index()).expect("the index");
    let len = file.metadata().expect("its length").len();
    file.set_len(to(len)).expect("a shorter index");
}

pub fn over(file: &Path, at: u64, bytes: &[u8]) {
    let mut file = fs::File::options().write(true).open(file).expect("the index");
    file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(bytes)).expect("other bytes");
}

/// Bytes without any meaning, always the same.
pub fn noise(len: usize) -> Vec<u8> {
    let mut dice = Dice(0x5eed);
    (0..len).map(|_| dice.next() as u8).collect()
}
