//! Baselines that do the least a program over transcripts can do: this program itself, called with a word and a folder.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rayon::prelude::*;
use serde::Deserialize;
use walkdir::WalkDir;

#[derive(Deserialize)]
struct Row<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
}

/// Runs the baseline named `word`; false if there is none.
pub fn run(word: &str, folder: &Path) -> bool {
    match word {
        "walk" => walk(folder),
        "tally" => tally(folder),
        _ => return false,
    }
    true
}

/// One `stat` per file.
fn walk(folder: &Path) {
    let files = WalkDir::new(folder).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    let (count, bytes) = files.fold((0, 0), |(count, bytes), entry| (count + 1, bytes + entry.metadata().map_or(0, |m| m.len())));
    println!("{count} files, {bytes} bytes");
}

/// Counts the records of each type, on all cores.
fn tally(folder: &Path) {
    let files: Vec<_> = WalkDir::new(folder).into_iter().flatten().filter(|entry| entry.file_type().is_file()).collect();
    let of_file = |entry: &walkdir::DirEntry| {
        let bytes = fs::read(entry.path()).unwrap_or_default();
        let mut rows = BTreeMap::<String, u64>::new();
        for line in bytes.split(|b| *b == b'\n') {
            if let Ok(row) = serde_json::from_slice::<Row<'_>>(line) {
                *rows.entry(row.kind.unwrap_or_default().into_owned()).or_default() += 1;
            }
        }
        rows
    };
    let rows = files.par_iter().map(of_file).reduce(BTreeMap::new, |mut all, some| {
        for (kind, count) in some {
            *all.entry(kind).or_default() += count;
        }
        all
    });
    println!("{rows:?}");
}
