//! Which line of a failed command's output states the error.

use super::signature::signature;
use text::clean::{one_line, shorten};
use transcripts::shell::{Rank, rank};

/// Lines are stored cut to so many characters.
const MAX_LINE_CHARS: usize = 400;
/// The most lines of one command, and of those that say less.
const MAX_LINES: usize = 3;
const MAX_ASIDE: usize = 3;

/// Lines of the client itself: the command did not run, or not to its end.
const OF_CLIENT: &[&str] = &[
    "this command requires approval", "this bash command", "the user doesn't want", "[request interrupted", "blocked:",
    "working directory \"", "permission for this action", "command timed out", "was blocked", "for security, claude",
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
        let lower = line.to_lowercase();
        if OF_CLIENT.iter().any(|start| lower.contains(start)) {
            return Vec::new();
        }
        // Of a line that was cut off the whole may be known.
        let beginning = line.strip_suffix('…').map(str::trim_end);
        if beginning.is_some_and(|beginning| found.iter().any(|(_, known, _)| known.starts_with(beginning))) {
            continue;
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
