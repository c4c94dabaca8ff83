//! Failed commands, and what happened before the same command passed.

use crate::analyze::signal::{has_failed, is_check, is_commit, may_fail};
use crate::model::session::{Entry, Item, RecordKey, Session, ToolUse, Touch};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FailedCommand {
    pub(crate) row: RecordKey,
    pub(crate) command: String,
    pub(crate) brief: String,
    /// How many times it failed before it passed or was abandoned.
    pub(crate) times: usize,
    pub(crate) fix: Option<FailureFix>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FailureFix {
    /// The run that passed.
    pub(crate) row: RecordKey,
    /// Files changed between the first failure and that run.
    pub(crate) files: Vec<String>,
    /// The last successful command in between that may have had an effect.
    pub(crate) command: Option<String>,
}

impl FailedCommand {
    /// How the command failed: the exit code, names of failing tests, and at most `most` characters of the output, marked as a quotation.
    /// Empty if nothing is known.
    pub(crate) fn describe(&self, most: usize) -> String {
        let (code, output) = exit_code(&self.brief);
        let mut parts: Vec<String> = code.map(|code| format!("exit code {code}")).into_iter().collect();
        let names = failing_tests(output);
        if !names.is_empty() {
            let more = names.len().saturating_sub(MAX_NAMES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            parts.push(format!("{}{more}", names[..names.len().min(MAX_NAMES)].join(", ")));
        }
        if !output.is_empty() {
            parts.push(format!("output {}", quoted(output, most)));
        }
        parts.join(", ")
    }
}

/// The most failing tests named per run.
const MAX_NAMES: usize = 3;
/// The longest test name, in bytes.
const MAX_NAME_BYTES: usize = 120;

/// Splits an outcome into exit code and output.
fn exit_code(brief: &str) -> (Option<i32>, &str) {
    let parsed = || {
        let rest = brief.strip_prefix("exit code ")?;
        let (code, output) = rest.split_once(" | ").unwrap_or((rest, ""));
        Some((code.parse().ok()?, output))
    };
    parsed().map_or((None, brief), |(code, output)| (Some(code), output))
}

/// Program output in quotation marks; nothing in it can close them.
fn quoted(output: &str, most: usize) -> String {
    format!("“{}”", crate::text::clean::shorten(output, most).replace(['“', '”', '„', '"', '`'], "'"))
}

/// Names of failing tests in the output of cargo, Go, pytest, unittest and runners that report files. Only words that look like names
/// count, not words of a sentence.
fn failing_tests(output: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in output.split(" | ") {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = match words.as_slice() {
            ["test", name, "...", "FAILED", ..] => name,
            ["---", "FAIL:", name, ..] | ["FAIL:" | "ERROR:" | "FAILED" | "FAIL" | "✗" | "✕" | "×", name, ..] => name,
            ["thread", name, rest @ ..] if rest.contains(&"panicked") => name.trim_matches('\''),
            _ => continue,
        };
        if is_test_name(name) && !names.iter().any(|known| known == name) {
            names.push((*name).to_owned());
        }
    }
    names
}

fn is_test_name(word: &str) -> bool {
    let plain = word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_:./-[]".contains(&b));
    let joined = word.contains('_') || word.contains("::") || word.contains('/') || word.contains('.') || word.starts_with("Test");
    plain
        && joined
        && word.len() <= MAX_NAME_BYTES
        && word.ends_with(|c: char| c.is_ascii_alphanumeric() || c == ']')
        && word.len() > 3
}

impl FailureFix {
    /// What was done before the command passed: the changed files, else the last command that may explain it. `None` if neither is known.
    pub(crate) fn told(&self, most: usize) -> Option<String> {
        if self.files.is_empty() {
            return self.command.as_ref().map(|command| format!("`{}`", crate::text::clean::shorten(command, 100)));
        }
        let more = self.files.len().saturating_sub(most);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Some(format!("changes to {}{more}", self.files[..self.files.len().min(most)].join(", ")))
    }
}

/// Failed commands, each once, in the order of first failure. Commands for which failing is normal are left out.
pub(crate) fn failures(session: &Session) -> Vec<FailedCommand> {
    let signatures: Vec<Option<String>> = session.entries.iter().map(command_signature).collect();
    let mut found: Vec<(String, FailedCommand)> = Vec::new();
    for (at, entry) in session.entries.iter().enumerate() {
        let Some((tool, outcome)) = command_outcome(entry) else { continue };
        if !has_failed(outcome) {
            continue;
        }
        let signature = signatures[at].clone().unwrap_or_default();
        if may_fail(&tool.line) {
            continue;
        }
        if let Some((_, open)) = found
            .iter_mut()
            .find(|(known, f)| *known == signature && f.fix.as_ref().is_none_or(|fix| comes_after(session, fix.row, at)))
        {
            open.times += 1;
            continue;
        }
        let failure = FailedCommand {
            row: entry.key,
            command: tool.line.clone(),
            brief: outcome.brief.clone(),
            times: 1,
            fix: fix_after(session, &signatures, at),
        };
        found.push((signature, failure));
    }
    found.into_iter().map(|(_, failure)| failure).collect()
}

fn command_outcome(entry: &Entry) -> Option<(&ToolUse, &crate::model::session::Outcome)> {
    match (&entry.item, &entry.outcome) {
        (Item::Tool(tool), Some(outcome)) if tool.name == "Bash" => Some((tool, outcome)),
        _ => None,
    }
}

fn comes_after(session: &Session, row: RecordKey, at: usize) -> bool {
    session.entries.iter().skip(at).any(|e| e.key == row)
}

fn fix_after(session: &Session, signatures: &[Option<String>], failed_at: usize) -> Option<FailureFix> {
    let mut files: Vec<String> = Vec::new();
    let mut command = None;
    for (at, entry) in session.entries.iter().enumerate().skip(failed_at + 1) {
        let Item::Tool(tool) = &entry.item else { continue };
        if let Some(file) = tool.file.as_ref().filter(|f| f.how > Touch::Read && entry.outcome.as_ref().is_none_or(|o| o.ok)) {
            let path = session.relative(&file.path).to_owned();
            if !files.contains(&path) {
                files.push(path);
            }
        }
        let same_check = signatures[at].is_some() && signatures[at] == signatures[failed_at];
        let passed = same_check && !entry.outcome.as_ref().is_some_and(has_failed);
        if passed {
            return Some(FailureFix { row: entry.key, files, command });
        }
        if tool.name == "Bash" && !same_check && may_be_fix(tool, entry.outcome.as_ref()) {
            command = Some(tool.line.clone());
        }
    }
    None
}

/// May this command be the reason why the check passes? It must have had an effect and succeeded.
fn may_be_fix(tool: &ToolUse, outcome: Option<&crate::model::session::Outcome>) -> bool {
    !may_fail(&tool.line) && !is_check(tool) && !is_commit(tool) && !outcome.is_some_and(has_failed)
}

/// The signature of a shell command; other tools have none.
fn command_signature(entry: &Entry) -> Option<String> {
    match &entry.item {
        Item::Tool(tool) if tool.name == "Bash" => Some(signature(&tool.line)),
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

    #[test]
    fn an_output_is_told_by_its_exit_code_its_tests_and_in_marks() {
        let failure = |brief: &str| FailedCommand {
            row: RecordKey([1; 16]),
            command: "make".into(),
            brief: brief.into(),
            times: 1,
            fix: None,
        };
        for (brief, told) in [
            ("", ""),
            ("exit code 2", "exit code 2"),
            (
                "exit code 101 | test cart::sums ... FAILED | test result: FAILED. 1 passed; 1 failed",
                "exit code 101, cart::sums, output “test cart::sums ... FAILED | test result: FAILED. 1 passed; 1 failed”",
            ),
            ("--- FAIL: TestPage (0.01s)", "TestPage, output “--- FAIL: TestPage (0.01s)”"),
            (
                "FAILED tests/test_a.py::test_b - ValueError",
                "tests/test_a.py::test_b, output “FAILED tests/test_a.py::test_b - ValueError”",
            ),
            ("FAILED: Decision: say ”yes” to `all`", "output “FAILED: Decision: say 'yes' to 'all'”"),
            ("exit code: none | FAIL: Decision: always", "output “exit code: none | FAIL: Decision: always”"),
        ] {
            assert_eq!(failure(brief).describe(200), told);
        }
        let many = "test a::a ... FAILED | test a::b ... FAILED | test a::c ... FAILED | test a::d ... FAILED";
        assert!(failure(many).describe(10).starts_with("a::a, a::b, a::c and 1 more, output “"));
    }

    #[test]
    fn the_same_check_is_known_through_folders_flags_and_pipes() {
        assert_eq!(signature("cd /a/b && RUST_LOG=1 cargo test --all 2>&1 | tail -20"), "cargo test");
        assert_eq!(signature("cargo test"), "cargo test");
        assert_ne!(signature("cargo build"), signature("cargo test"));
        assert_eq!(signature("uv run pytest -q"), "pytest");
    }
}
