//! Which lines of an output state an error, and how much each says about it.

use text::clean::{one_line, shorten};

/// What a line is, the greater the more it says about the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// Names a group of tests that failed.
    Group,
    /// Names a test that failed.
    Test,
    /// Says that something is missing, refused or wrong.
    Complaint,
    /// Says by its form that it is an error: `KeyError: 'x'`, `fatal: …`.
    Named,
}

/// No longer line says what went wrong, in bytes; and how much of it is kept, in characters.
const MAX_LINE_BYTES: usize = 1_000;
const MAX_LINE_CHARS: usize = 400;
/// The most lines of an output that are kept.
const MAX_LINES: usize = 5;

const NAMED: &[&str] =
    &["error:", "error[", "error ts", "fatal:", "fatal error:", "panic:", "npm err!", "error -", "error]", "thread '"];
const COMPLAINTS: &[&str] = &[
    "command not found", "not found", "no such ", "permission denied", "cannot ", "can't ", "could not ", "couldn't ", "undefined",
    "unable to ", "connection refused", "timed out", "already in use", "already used", "is missing", "missing ", "invalid ",
    "unexpected ", "refused", "rejected", "access denied", "mismatch", "does not exist", "no module named", "failed to ",
    "not allowed", "is not a function", "is not defined", "is a directory", "no matches found", "returned an error", " failed",
    "already ", "unresolved ",
];
/// Lines about others.
const ASIDE: &[&str] = &[
    "traceback (most recent", "hint:", "warn", "could not compile", "aborting due to", "during handling of", "test session starts",
    "the above exception", "note:", "help:",
];

/// The most lines that one error goes on.
const MAX_MORE_LINES: usize = 3;

/// The lines of a failed command's output that say most about what was wrong, in order. What goes on in the next lines is one with it.
pub(super) fn wrong_lines(output: &str) -> Vec<String> {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let mut found: Vec<(Rank, usize, String)> = Vec::new();
    for at in (0..lines.len()).filter(|at| lines[*at].len() < MAX_LINE_BYTES) {
        let whole = whole(&lines[at..]);
        if let Some(rank) = rank(&whole)
            && found.iter().all(|(.., known)| *known != whole)
        {
            found.push((rank, at, whole));
        }
    }
    found.sort_by_key(|(rank, at, _)| (std::cmp::Reverse(*rank), *at));
    found.truncate(MAX_LINES);
    found.sort_by_key(|(_, at, _)| *at);
    found.into_iter().map(|(.., line)| line).collect()
}

/// The first of some lines with what it says in the next ones, if it announces that: `thread 'x' panicked at src/a.rs:1:2:` with the message below.
/// A text that is set in goes on in lines that are set in.
pub fn whole(lines: &[&str]) -> String {
    let mut whole = lines.first().map(|line| one_line(line.trim())).unwrap_or_default();
    // Both may begin with the level of a log.
    let level = whole.split(' ').next().filter(|word| word.starts_with('[')).unwrap_or_default().to_owned();
    for (n, next) in lines.iter().enumerate().skip(1).take(MAX_MORE_LINES) {
        let announces = whole.ends_with(':') && rank_of_part(&whole).is_some_and(|rank| rank == Rank::Named);
        let goes_on = n > 1 && !whole.ends_with('.') && [lines[n - 1], next].iter().all(|line| line.starts_with(' '));
        if next.len() >= MAX_LINE_BYTES || !(announces || goes_on) {
            break;
        }
        let next = next.trim();
        let next = if level.is_empty() { next } else { next.strip_prefix(&level).unwrap_or(next) };
        whole = format!("{whole} {}", one_line(next.trim()));
    }
    shorten(&whole, MAX_LINE_CHARS)
}

/// How much a line says about an error; `None` if it states none.
pub fn rank(line: &str) -> Option<Rank> {
    if line.ends_with(':') { None } else { rank_of_part(line) }
}

/// The same of a line that may go on.
fn rank_of_part(line: &str) -> Option<Rank> {
    let lower = line.to_lowercase();
    let bare = lower.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '-');
    let is_code = line.ends_with(['{', ';', '\\']) || line.contains(['│', '┃', '·']) || begins_as_code(line);
    if is_code || ASIDE.iter().any(|start| bare.contains(start)) || line.contains("PASSED") || is_total(bare) {
        return None;
    }
    if NAMED.iter().any(|start| bare.starts_with(start))
        || has_position_and_error(bare)
        || names_exception(line)
        || begins_with_error(line)
    {
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

/// A line of code that is quoted, with its number or without, a comment, or the heading of a test.
fn begins_as_code(line: &str) -> bool {
    const CODE: &[&str] = &[
        "#", "//", "\"\"\"", "return ", "assert ", "raise ", "except ", "except:", "if ", "def ", "func ", "let ", "const ",
        "import ", "from ", "=== ", "___",
    ];
    let bare = line.trim_start_matches(['>', ' ']);
    let behind_number = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = behind_number.len() < bare.len() && behind_number.trim_start().starts_with('|');
    is_numbered || CODE.iter().any(|start| bare.starts_with(start))
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
    line.split_whitespace().take(6).any(|word| {
        let Some(name) = word.trim_start_matches(['[', '(', '>']).strip_suffix(':') else { return false };
        // `Net::SSH::AuthenticationFailed`
        if let Some((_, last)) = name.rsplit_once("::")
            && last.starts_with(|c: char| c.is_ascii_uppercase())
            && last.contains(|c: char| c.is_ascii_lowercase())
        {
            return true;
        }
        let last = name.rsplit(['.', ':']).next().unwrap_or_default();
        let named = ["Error", "Exception"].iter().any(|end| last.len() > end.len() && last.ends_with(end));
        named && last.starts_with(|c: char| c.is_ascii_uppercase())
    })
}

/// `CMake Error at …`, `Error response from daemon: …`
fn begins_with_error(line: &str) -> bool {
    let word = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    line.split_whitespace().take(2).any(|first| matches!(word(first).as_str(), "error" | "fatal"))
}

fn tells_failed_test(line: &str) -> bool {
    let bare = line.trim_start_matches(['=', ' ']);
    let is_marked = |word: &str| matches!(word.trim_matches(|c: char| !c.is_alphanumeric()), "FAIL" | "FAILED");
    bare.starts_with("--- FAIL: ")
        || ["***Exception", "***Failed", "***Timeout"].iter().any(|mark| line.contains(mark))
        || line.split_whitespace().any(is_marked)
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

    #[test]
    fn an_error_that_goes_on_in_the_next_line_is_one() {
        for (output, expected) in [
            (
                "running 1 test\nthread 'tests::reads' panicked at src/a.rs:1:2:\ncalled `Option::unwrap()` on a `None` value\nnote: run with",
                vec!["thread 'tests::reads' panicked at src/a.rs:1:2: called `Option::unwrap()` on a `None` value"],
            ),
            (
                "[error] Deduplicate found different contents in the following:\n[error]   META-INF/module-info.class",
                vec![
                    "[error] Deduplicate found different contents in the following: META-INF/module-info.class",
                    "[error] META-INF/module-info.class",
                ],
            ),
            (
                "CMake Error at CMakeLists.txt:21 (find_package):\n  By not providing FindX.cmake\n  this project asks.\n  So.\n-- Done",
                vec!["CMake Error at CMakeLists.txt:21 (find_package): By not providing FindX.cmake this project asks."],
            ),
            (
                "PendingMigrationError:\n  To resolve this, run:\n\n      bin/migrate\nYou",
                vec!["PendingMigrationError: To resolve this, run: bin/migrate"],
            ),
            ("Files:\n  a.rs", vec![]),
            ("427 |   except PermissionError:\n428 |  # ignored", vec![]),
            ("    assert \"Error:\" in captured.err\n=== RUN TestRejectedError\n# it is missing here", vec![]),
        ] {
            assert_eq!(wrong_lines(output), expected, "{output}");
        }
    }

    #[test]
    fn those_that_say_most_stay_wherever_they_stand() {
        let many = "FAIL src/map/tiles.test.ts\n● Test suite failed to run\nJest encountered an unexpected token\n".repeat(3);
        let kept = wrong_lines(&format!("{many}SyntaxError: Cannot use import statement outside a module"));
        assert_eq!(kept.last().map(String::as_str), Some("SyntaxError: Cannot use import statement outside a module"), "{kept:?}");
        for line in [
            "Net::SSH::AuthenticationFailed: Authentication failed for user x",
            "Error response from daemon: driver failed",
            "Exception in thread \"main\" org.apache.spark.SparkException: A master URL must be set",
            "[ERROR] HolidaysTest.count:14 expected: <1>",
        ] {
            assert_eq!(rank(line), Some(Rank::Named), "{line}");
        }
        assert_eq!(rank("1/1 Test #19: border_mesh ....***Exception: SegFault"), Some(Rank::Test));
        assert_eq!(rank("smoke: upload FAIL (413)"), Some(Rank::Test));
    }
}
