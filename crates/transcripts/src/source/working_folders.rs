//! Folders in which sessions took place, according to their transcripts, including projects of which nothing is stored.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::source_of;
use crate::client::Client;

/// How far into a transcript to look for its folder, in bytes: the first lines of new clients are long and name none.
const SEARCHED_BYTES: u64 = 4 << 20;
/// How many transcripts of a folder to try: the first that names its folder is enough.
const TRANSCRIPTS_TRIED: usize = 3;

/// The first folder that a transcript names, if any.
pub fn folder_of(transcript: &Path) -> Option<PathBuf> {
    let mut lines = BufReader::new(fs::File::open(transcript).ok()?.take(SEARCHED_BYTES));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).ok()? > 0 {
        let row: Value = serde_json::from_slice(&line).unwrap_or_default();
        let named = Client::ALL.into_iter().find_map(|client| source_of(client).folder_in(&row));
        if let Some(cwd) = named.filter(|cwd| cwd.starts_with('/')) {
            return Some(PathBuf::from(cwd));
        }
        line.clear();
    }
    None
}

/// The working folder behind each folder in which the client keeps transcripts. Unreadable ones are skipped.
pub fn folders(claude_dirs: &[PathBuf]) -> BTreeSet<String> {
    let projects = claude_dirs.iter().flat_map(|dir| entries(&dir.join("projects")));
    let told = projects.filter_map(|project| {
        let transcripts =
            entries(&project).into_iter().filter(|file| file.extension().is_some_and(|end| end == "jsonl") && file.is_file());
        transcripts.take(TRANSCRIPTS_TRIED).find_map(|transcript| folder_of(&transcript))
    });
    told.map(|folder| folder.to_string_lossy().into_owned()).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    all.sort();
    all
}
