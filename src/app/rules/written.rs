//! What the files say already that Claude Code reads in a project: its CLAUDE.md, its rules, and the client's own memory of it.
//!
//! recall only compares with them: nothing of them is stored or passed on, and none is ever written.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::analyze::rules::{RuleWords, statements_of};
use crate::app::session_start::client_memory::memory_texts;
use crate::config::Config;
use crate::source::delta::open_regular;

/// How much of a file is read, in bytes, and of how many files of rules.
const MAX_BYTES: u64 = 40_000;
const MAX_RULE_FILES: usize = 20;

/// The statements of these files, for the project `key` and who works in `cwd`. A file that is missing or unreadable says nothing.
pub(super) fn statements(config: &Config, key: &str, cwd: &str) -> Vec<RuleWords> {
    let texts = files(Path::new(key)).into_iter().filter_map(|file| read_inside(Path::new(key), &file));
    texts.chain(memory_texts(config, key, cwd)).flat_map(|text| statements_of(&text)).collect()
}

fn files(root: &Path) -> Vec<PathBuf> {
    let folder = fs::read_dir(root.join(".claude/rules")).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut rules: Vec<PathBuf> = folder.filter(|file| file.extension().is_some_and(|ending| ending == "md")).collect();
    rules.sort();
    rules.truncate(MAX_RULE_FILES);
    [root.join("CLAUDE.md"), root.join(".claude/CLAUDE.md")].into_iter().chain(rules).collect()
}

/// The beginning of a file below a folder. A link that leads out of the folder is not followed.
pub(super) fn read_inside(root: &Path, file: &Path) -> Option<String> {
    let (root, file) = (root.canonicalize().ok()?, file.canonicalize().ok()?);
    if !file.starts_with(&root) {
        return None;
    }
    let mut bytes = Vec::new();
    open_regular(&file).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
