//! What was done before a command that had failed passed. Pure.

use std::collections::{BTreeMap, HashMap};

use crate::analyze::signal::{has_failed, is_check, is_commit, may_fail};
use crate::model::session::{Entry, Item, Outcome, RecordKey, Session, ToolUse, Touch};
use crate::text::clean::shorten;

/// The most changed files that are named.
const MAX_FILES: usize = 3;
const MAX_COMMAND_CHARS: usize = 100;

/// What was done between a command's first failure and the run that passed, by the record of that failure: the changed files, else the last
/// command that may explain it. Commands that passed again without either, that did not pass, or that may fail at any time are left out.
pub(super) fn cures(session: &Session) -> BTreeMap<RecordKey, String> {
    let signatures: Vec<Option<String>> = session.entries.iter().map(|entry| Some(signature(&command(entry)?.line))).collect();
    let mut cures = BTreeMap::new();
    // Where each command that failed passed next, if it did.
    let mut passed: HashMap<&str, Option<usize>> = HashMap::new();
    for (at, entry) in session.entries.iter().enumerate() {
        let (Some(tool), Some(signature)) = (command(entry), signatures[at].as_deref()) else { continue };
        let failed = entry.outcome.as_ref().is_some_and(has_failed) && !may_fail(&tool.line);
        let is_known = || passed.get(signature).is_some_and(|passed| passed.is_none_or(|passed| passed > at));
        if failed && !is_known() {
            let next = next_pass(session, &signatures, at);
            passed.insert(signature, next);
            cures.extend(next.and_then(|next| cure(session, &signatures, at..next)).map(|cure| (entry.key, cure)));
        }
    }
    cures
}

fn next_pass(session: &Session, signatures: &[Option<String>], failed: usize) -> Option<usize> {
    let passes =
        |at: &usize| signatures[*at] == signatures[failed] && !session.entries[*at].outcome.as_ref().is_some_and(has_failed);
    (failed + 1..session.entries.len()).find(passes)
}

/// What was done behind the failure that begins the range.
fn cure(session: &Session, signatures: &[Option<String>], range: std::ops::Range<usize>) -> Option<String> {
    let mut files: Vec<&str> = Vec::new();
    let mut last = None;
    for at in range.start + 1..range.end {
        let entry = &session.entries[at];
        let Item::Tool(tool) = &entry.item else { continue };
        if let Some(file) = tool.file.as_ref().filter(|file| file.how > Touch::Read && entry.outcome.as_ref().is_none_or(|o| o.ok))
        {
            let path = session.relative(&file.path);
            if !files.contains(&path) {
                files.push(path);
            }
        }
        let other = signatures[at].is_some() && signatures[at] != signatures[range.start];
        if other && may_be_cure(tool, entry.outcome.as_ref()) {
            last = Some(&tool.line);
        }
    }
    if files.is_empty() {
        return last.map(|line| format!("`{}`", shorten(line, MAX_COMMAND_CHARS)));
    }
    let more = files.len().saturating_sub(MAX_FILES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("changes to {}{more}", files[..files.len().min(MAX_FILES)].join(", ")))
}

/// May this command be the reason why another passes? It must have had an effect and succeeded.
fn may_be_cure(tool: &ToolUse, outcome: Option<&Outcome>) -> bool {
    !may_fail(&tool.line) && !is_check(tool) && !is_commit(tool) && !outcome.is_some_and(has_failed)
}

/// A command of the shell.
fn command(entry: &Entry) -> Option<&ToolUse> {
    match &entry.item {
        Item::Tool(tool) if tool.is_shell() => Some(tool),
        _ => None,
    }
}

/// Identifies commands that run the same check: the program and its first argument, without folders, variables, pipes and redirections.
fn signature(line: &str) -> String {
    let step = line
        .split("&&")
        .map(str::trim)
        .find(|s| !s.starts_with("cd ") && !s.starts_with("export ") && !s.is_empty())
        .unwrap_or(line);
    let alone = step.split(['|', '>', ';', '<']).next().unwrap_or(step);
    let words = alone.split_whitespace().filter(|w| !is_assignment(w) && !w.starts_with('-') && !w.ends_with('&'));
    words
        .filter(|w| {
            !matches!(*w, "timeout" | "time" | "sudo" | "env" | "npx" | "uv" | "run" | "pnpm" | "yarn" | "npm")
                && w.parse::<u32>().is_err()
        })
        .take(2)
        .collect::<Vec<_>>()
        .join(" ")
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::condense::tests::{bash, edit, entry, session};

    /// The cures of a session of such items, by the number of their record.
    fn cured(items: Vec<(Item, Option<Outcome>)>) -> Vec<(u8, String)> {
        let mut session = session(Vec::new());
        session.entries = items.into_iter().enumerate().map(|(at, (item, outcome))| Entry { outcome, ..entry(at, item) }).collect();
        cures(&session).into_iter().map(|(key, cure)| (key.0[0], cure)).collect()
    }

    #[test]
    fn a_failure_is_told_with_the_changes_or_the_command_before_it_passed() {
        let (fails, passes) = (|| bash("cargo test cart", "1 failed", false), || bash("cargo test cart", "", true));
        let edits = |path: &str| (edit(path), None);
        let refused = |path: &str| (edit(path), Some(Outcome { tool: String::new(), ok: false, brief: String::new() }));
        let starts = || bash("docker compose up -d", "", true);
        let told = |at: u8, cure: &str| vec![(at, cure.to_owned())];
        for (items, cures) in [
            (vec![fails(), edits("/r/a.rs"), edits("/r/a.rs"), starts(), passes()], told(0, "changes to a.rs")),
            (vec![fails(), edits("/r/a.rs")], vec![]),
            (
                vec![fails(), refused("/r/a.rs"), starts(), bash("git status", "", true), passes()],
                told(0, "`docker compose up -d`"),
            ),
            (vec![fails(), bash("docker compose up -d", "", false), passes()], vec![]),
            (vec![fails(), edits("/r/a.rs"), fails(), edits("/r/b.rs"), passes()], told(0, "changes to a.rs, b.rs")),
            (vec![passes(), edits("/r/a.rs"), passes()], vec![]),
            (vec![bash("grep -rn cart src", "exit code 1", false), edits("/r/a.rs"), bash("grep -rn cart src", "", true)], vec![]),
        ] {
            assert_eq!(cured(items.clone()), cures, "{items:?}");
        }
        let files = ["/r/a", "/r/b", "/r/c", "/r/d"].map(edits);
        let many = [fails()].into_iter().chain(files).chain([passes()]).collect();
        assert_eq!(cured(many), told(0, "changes to a, b, c and 1 more"));
        let twice = vec![fails(), edits("/r/a.rs"), passes(), fails(), starts(), passes()];
        let both = vec![(0, "changes to a.rs".to_owned()), (3, "`docker compose up -d`".to_owned())];
        assert_eq!(cured(twice), both, "what passed and fails again has a cure of its own");
    }

    #[test]
    fn the_same_check_is_known_through_folders_flags_and_pipes() {
        assert_eq!(signature("cd /a/b && RUST_LOG=1 cargo test --all 2>&1 | tail -20"), "cargo test");
        assert_eq!(signature("cargo test"), "cargo test");
        assert_ne!(signature("cargo build"), signature("cargo test"));
        assert_eq!(signature("uv run pytest -q"), "pytest");
    }
}
