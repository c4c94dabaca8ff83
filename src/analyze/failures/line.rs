//! Which line of a failed command's output states the error.

use super::signature::signature;
use crate::text::clean::{one_line, shorten};

/// What a line is, the greater the more it says about the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Names a group of tests that failed.
    Group,
    /// Names a test that failed.
    Test,
    /// Says that something is missing, refused or wrong.
    Complaint,
    /// Says by its form that it is an error: `KeyError: 'x'`, `fatal: …`.
    Named,
}

/// Outputs are stored with lines that are cut to so many characters.
const MAX_LINE_CHARS: usize = 180;
/// The most lines of one command, and of those that say less.
const MAX_LINES: usize = 3;
const MAX_ASIDE: usize = 3;

const NAMED: &[&str] = &["error:", "error[", "error ts", "fatal:", "fatal error:", "panic:", "npm err!", "error -", "thread '"];
const COMPLAINTS: &[&str] = &[
    "command not found", "not found", "no such ", "permission denied", "cannot ", "can't ", "could not ", "couldn't ", "undefined",
    "unable to ", "connection refused", "timed out", "already in use", "already used", "is missing", "missing ", "invalid ",
    "unexpected ", "refused", "rejected", "access denied", "mismatch", "does not exist", "no module named", "failed to ",
    "not allowed", "is not a function", "is not defined", "is a directory", "no matches found", "returned an error",
];
/// Lines of the client itself: the command did not run, or not to its end.
const OF_CLIENT: &[&str] = &[
    "this command requires approval", "this bash command", "the user doesn't want", "[request interrupted", "blocked:",
    "working directory \"", "permission for this action", "command timed out", "was blocked", "for security, claude",
];
/// Lines about others.
const ASIDE: &[&str] = &[
    "traceback (most recent", "hint:", "warn", "could not compile", "aborting due to", "during handling of", "test session starts",
    "the above exception", "note:", "help:",
];

/// A line of a failed command's output that states an error.
pub(super) struct ErrorLine<'l> {
    pub(super) line: &'l str,
    pub(super) signature: String,
    /// Another line says more about the error.
    pub(super) aside: bool,
}

/// The lines of a failed command's output that state the error, best first, and a few that say less.
pub(super) fn error_lines<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<ErrorLine<'l>> {
    let mut found: Vec<(Rank, &str, String)> = Vec::new();
    for line in lines.map(|line| line.trim().trim_end_matches(" |…")) {
        if OF_CLIENT.iter().any(|start| line.to_lowercase().contains(start)) {
            return Vec::new();
        }
        if let Some((rank, signature)) = rank(line).and_then(|rank| Some((rank, signature(line)?)))
            && found.iter().all(|(_, _, known)| *known != signature)
        {
            found.push((rank, line, signature));
        }
    }
    let best = found.iter().map(|(rank, ..)| *rank).max();
    found.sort_by_key(|(rank, ..)| std::cmp::Reverse(*rank));
    let told = found.into_iter().map(|(rank, line, signature)| ErrorLine { line, signature, aside: Some(rank) != best });
    let (best, aside): (Vec<_>, Vec<_>) = told.partition(|line| !line.aside);
    best.into_iter().take(MAX_LINES).chain(aside.into_iter().take(MAX_ASIDE)).collect()
}

/// The signature of a line that somebody pasted, if it states an error.
pub(crate) fn error_signature(line: &str) -> Option<String> {
    let line = shorten(&one_line(line), MAX_LINE_CHARS);
    rank(&line).and_then(|_| signature(&line))
}

fn rank(line: &str) -> Option<Rank> {
    let lower = line.to_lowercase();
    let bare = lower.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '-');
    let is_code = line.ends_with([':', '{', ';', '\\']) || line.contains(['│', '┃', '·']);
    if is_code || ASIDE.iter().any(|start| bare.contains(start)) || line.contains("PASSED") || is_total(bare) {
        return None;
    }
    if NAMED.iter().any(|start| bare.starts_with(start)) || has_position_and_error(bare) || names_exception(line) {
        return Some(Rank::Named);
    }
    if bare.starts_with("fail ") && bare.contains(['/', '.']) {
        return Some(Rank::Group);
    }
    if tells_failed_test(line) {
        return Some(Rank::Test);
    }
    let complains = COMPLAINTS.iter().any(|part| lower.contains(part)) || begins_with_position(bare);
    complains.then_some(Rank::Complaint)
}

/// `src/a.py:3:1 - error: …`, `a.ts(3,1): error TS2307: …`
fn has_position_and_error(line: &str) -> bool {
    [": error", "- error", " error[", " error: "].iter().any(|part| line.contains(part))
}

/// `pkg/a.go:30:8: …`, by a compiler; tests log with a line alone.
fn begins_with_position(line: &str) -> bool {
    let Some(word) = line.split(' ').next().and_then(|word| word.strip_suffix(':')) else { return false };
    let mut parts = word.split(':');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    parts.next().is_some_and(|file| file.contains('.')) && parts.clone().count() == 2 && parts.all(is_number)
}

/// `KeyError: 'x'`, `[TypeError: …]`, `pkg.core.ValidationError: …`
fn names_exception(line: &str) -> bool {
    line.split_whitespace().take(3).any(|word| {
        let Some(name) = word.trim_start_matches(['[', '(', '>']).strip_suffix(':') else { return false };
        let last = name.rsplit(['.', ':']).next().unwrap_or_default();
        let named = ["Error", "Exception"].iter().any(|end| last.len() > end.len() && last.ends_with(end));
        named && last.starts_with(|c: char| c.is_ascii_uppercase())
    })
}

fn tells_failed_test(line: &str) -> bool {
    let bare = line.trim_start_matches(['=', ' ']);
    bare.starts_with("--- FAIL: ")
        || bare.starts_with("FAILED ")
        || line.contains("::") && (line.contains(" FAILED") || line.contains(" ERROR"))
        || line.starts_with("test ") && line.ends_with("... FAILED")
}

/// `1 failed, 26 passed`, `17 errors, 0 warnings`, `Found 2 errors.`
fn is_total(line: &str) -> bool {
    const COUNTED: [&str; 10] =
        ["failed", "passed", "errors", "error", "warnings", "warning", "problems", "issues", "tests", "deselected"];
    let bare = line.strip_prefix("found ").unwrap_or(line);
    let mut words = bare.split_whitespace();
    let number = words.next().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()));
    number && words.next().is_some_and(|word| COUNTED.contains(&word.trim_end_matches([',', '.', ';', ':'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(brief: &str) -> Vec<&str> {
        error_lines(brief.split(" | ")).into_iter().filter(|line| !line.aside).map(|line| line.line).collect()
    }

    #[test]
    fn the_line_that_states_the_error_is_chosen_and_no_total() {
        for (brief, expected) in [
            (
                "exit code 1 | /a/c.py:184:17 - error: Type of \"x\" is unknown | /a/c.py:186:72 - error: Argument type is unknown | 2 errors, 0 warnings",
                vec!["/a/c.py:184:17 - error: Type of \"x\" is unknown", "/a/c.py:186:72 - error: Argument type is unknown"],
            ),
            (
                "exit code 1 | Traceback (most recent call last): | ModuleNotFoundError: No module named 'extract'",
                vec!["ModuleNotFoundError: No module named 'extract'"],
            ),
            (
                "test/t.py::T::test_a FAILED [ 33%] | test/t.py::T::test_b PASSED [ 66%] | ==== 1 failed, 5 passed in 2s ====",
                vec!["test/t.py::T::test_a FAILED [ 33%]"],
            ),
            ("> Build error occurred | [TypeError: generate is not a function]", vec!["[TypeError: generate is not a function]"]),
            ("exit code 127 | /bin/bash: line 1: pytest: command not found", vec!["/bin/bash: line 1: pytest: command not found"]),
            (
                "exit code 1 | pkg/a.go:108:17: undefined: pktline.NewEncoder",
                vec!["pkg/a.go:108:17: undefined: pktline.NewEncoder"],
            ),
            ("ERROR: file or directory not found: test/cache.py", vec!["ERROR: file or directory not found: test/cache.py"]),
            (
                "error[call-non-callable]: Object of type `X` is not callable | 427 | except PermissionError:",
                vec!["error[call-non-callable]: Object of type `X` is not callable"],
            ),
            ("exit code 1 | Found 1 error.", vec![]),
            ("This command requires approval", vec![]),
            ("please add transformer.js too first", vec![]),
            ("80 │ - ····destroySession(session.id).catch((error)·=>·{ | Found 2 errors.", vec![]),
            ("Error", vec![]),
        ] {
            assert_eq!(chosen(brief), expected, "{brief}");
        }
    }
}
