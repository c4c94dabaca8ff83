//! Commands that failed, and what came before the same command passed.

use crate::session::{Entry, Item, RowKey, Session, ToolUse, Touch};
use crate::signal::{has_failed, is_check, is_commit, may_fail};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub row: RowKey,
    pub command: String,
    pub brief: String,
    /// How often it failed in a row before it passed or was given up.
    pub times: usize,
    pub fix: Option<Fix>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The run that passed.
    pub row: RowKey,
    /// Files changed between the first failure and it.
    pub files: Vec<String>,
    /// The last command between them that did something and went well.
    pub command: Option<String>,
}

impl Failure {
    /// How it failed, without taking over what the output says: the exit code, the failing tests by name, and the rest in at most `most`
    /// characters, in quotation marks, as output. Empty where nothing is known.
    pub fn how(&self, most: usize) -> String {
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

/// Failing tests that are named of one run.
const MAX_NAMES: usize = 3;
/// The longest name of a test, in bytes.
const MAX_NAME: usize = 120;

/// The exit code that stands before an output, and the output.
fn exit_code(brief: &str) -> (Option<i32>, &str) {
    let parsed = || {
        let rest = brief.strip_prefix("exit code ")?;
        let (code, output) = rest.split_once(" | ").unwrap_or((rest, ""));
        Some((code.parse().ok()?, output))
    };
    parsed().map_or((None, brief), |(code, output)| (Some(code), output))
}

/// What a program printed, in marks that nothing in it can end.
fn quoted(output: &str, most: usize) -> String {
    format!("“{}”", crate::clean::shorten(output, most).replace(['“', '”', '„', '"', '`'], "'"))
}

/// The tests that an output names as failed: cargo's, Go's, pytest's, unittest's and those of files. Only what can be a name: a word
/// that no sentence holds.
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
    plain && joined && word.len() <= MAX_NAME && word.ends_with(|c: char| c.is_ascii_alphanumeric() || c == ']') && word.len() > 3
}

impl Fix {
    /// What was done before the check passed, in a few words: the files changed, else the last command that could explain it.
    pub fn told(&self, most: usize) -> Option<String> {
        if self.files.is_empty() {
            return self.command.as_ref().map(|command| format!("`{}`", crate::clean::shorten(command, 100)));
        }
        let more = self.files.len().saturating_sub(most);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Some(format!("changes to {}{more}", self.files[..self.files.len().min(most)].join(", ")))
    }
}

/// Failed commands in the order of their first failure, each once. Commands that only look do not count.
pub fn failures(session: &Session) -> Vec<Failure> {
    let signatures: Vec<Option<String>> = session.entries.iter().map(command_signature).collect();
    let mut found: Vec<(String, Failure)> = Vec::new();
    for (at, entry) in session.entries.iter().enumerate() {
        let Some((tool, outcome)) = command(entry) else { continue };
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
        let failure = Failure {
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

fn command(entry: &Entry) -> Option<(&ToolUse, &crate::session::Outcome)> {
    match (&entry.item, &entry.outcome) {
        (Item::Tool(tool), Some(outcome)) if tool.name == "Bash" => Some((tool, outcome)),
        _ => None,
    }
}

fn comes_after(session: &Session, row: RowKey, at: usize) -> bool {
    session.entries.iter().skip(at).any(|e| e.key == row)
}

fn fix_after(session: &Session, signatures: &[Option<String>], failed_at: usize) -> Option<Fix> {
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
            return Some(Fix { row: entry.key, files, command });
        }
        if tool.name == "Bash" && !same_check && could_cure(tool, entry.outcome.as_ref()) {
            command = Some(tool.line.clone());
        }
    }
    None
}

/// Could a command be why a check passes: did it do something, and go well?
fn could_cure(tool: &ToolUse, outcome: Option<&crate::session::Outcome>) -> bool {
    !may_fail(&tool.line) && !is_check(tool) && !is_commit(tool) && !outcome.is_some_and(has_failed)
}

/// The signature of a command; other tools have none.
fn command_signature(entry: &Entry) -> Option<String> {
    match &entry.item {
        Item::Tool(tool) if tool.name == "Bash" => Some(signature(&tool.line)),
        _ => None,
    }
}

/// What makes two commands the same check: the program and its first argument, without folders, variables, pipes and redirections.
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
        let failure =
            |brief: &str| Failure { row: RowKey([1; 16]), command: "make".into(), brief: brief.into(), times: 1, fix: None };
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
            assert_eq!(failure(brief).how(200), told);
        }
        let many = "test a::a ... FAILED | test a::b ... FAILED | test a::c ... FAILED | test a::d ... FAILED";
        assert!(failure(many).how(10).starts_with("a::a, a::b, a::c and 1 more, output “"));
    }

    #[test]
    fn the_same_check_is_known_through_folders_flags_and_pipes() {
        assert_eq!(signature("cd /a/b && RUST_LOG=1 cargo test --all 2>&1 | tail -20"), "cargo test");
        assert_eq!(signature("cargo test"), "cargo test");
        assert_ne!(signature("cargo build"), signature("cargo test"));
        assert_eq!(signature("uv run pytest -q"), "pytest");
    }
}
