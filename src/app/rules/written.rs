//! What the files say already that Claude Code reads in a project: its CLAUDE.md, its rules, and the client's own memory of it.
//!
//! recall only compares with them here: nothing of them is passed on, and none is ever written.

use std::fs;
use std::path::{Path, PathBuf};

use crate::analyze::rules::{RuleWords, statements_of};
use crate::app::session_start::client_memory::ClientMemory;
use crate::inputs::client_memory::read_inside;

/// How many files of rules are read.
const MAX_RULE_FILES: usize = 20;

/// The statements of these files of the project `key`. A file that is missing or unreadable says nothing.
pub(super) fn statements(key: &str, memory: &ClientMemory) -> Vec<RuleWords> {
    let texts = files(Path::new(key)).into_iter().filter_map(|file| read_inside(Path::new(key), &file));
    texts.flat_map(|text| statements_of(&text)).chain(memory.rules()).collect()
}

fn files(root: &Path) -> Vec<PathBuf> {
    let folder = fs::read_dir(root.join(".claude/rules")).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut rules: Vec<PathBuf> = folder.filter(|file| file.extension().is_some_and(|ending| ending == "md")).collect();
    rules.sort();
    rules.truncate(MAX_RULE_FILES);
    [root.join("CLAUDE.md"), root.join(".claude/CLAUDE.md")].into_iter().chain(rules).collect()
}
