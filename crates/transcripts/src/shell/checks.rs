//! By which words checks of the work are known: tests, lints, type checks, builds. One table.

use CheckKind::{Builds, Lints, Tests, Types};

/// What a check is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckKind {
    Tests,
    Lints,
    Types,
    Builds,
}

/// As a program: the first words behind it of which one makes it a check; none where it always is one. A word that ends in `*` stands for
/// all that begin so, one that begins with `*` for all that hold it.
type Behind = Option<&'static [&'static str]>;
const ALWAYS: Behind = Some(&[]);
/// No program, or none that is known to check.
const WORD: Behind = None;

/// Is a command rated as a check if one of its first words begins so? For commands of which no steps are stored.
type Rated = bool;
const RATED: Rated = true;
const UNRATED: Rated = false;

/// A word, what it is as a program, what a command may check that holds it anywhere in its line, and how commands are rated by it.
type CheckWord = (&'static str, Behind, &'static [CheckKind], Rated);

const CHECKS: &[CheckWord] = &[
    ("test", WORD, &[Tests, Builds], RATED),
    ("spec", WORD, &[Tests], UNRATED),
    ("run check", WORD, &[Tests, Lints, Types], UNRATED),
    ("make check", WORD, &[Tests, Lints], UNRATED),
    ("verify", WORD, &[Tests, Lints], RATED),
    ("lint", WORD, &[Lints], RATED),
    ("clippy", WORD, &[Lints, Types, Builds], RATED),
    ("credo", WORD, &[Lints], UNRATED),
    ("ty check", WORD, &[Types], UNRATED),
    ("type", WORD, &[Types], UNRATED),
    ("cargo check", WORD, &[Types, Builds], UNRATED),
    ("build", WORD, &[Types, Builds], RATED),
    ("vet", WORD, &[Types, Builds], RATED),
    ("compile", WORD, &[Builds], RATED),
    ("package", WORD, &[Builds], UNRATED),
    ("install", WORD, &[Builds], UNRATED),
    ("check", WORD, &[], RATED),
    ("fmt", WORD, &[], RATED),
    ("validate", WORD, &[], RATED),
    ("cargo", Some(&["test", "nextest", "clippy", "build", "check", "t", "b", "c", "miri", "deny"]), &[], UNRATED),
    ("go", Some(&["test", "vet", "build"]), &[], UNRATED),
    ("npm", Some(SCRIPTS), &[], UNRATED),
    ("pnpm", Some(SCRIPTS), &[], UNRATED),
    ("yarn", Some(SCRIPTS), &[], UNRATED),
    ("bun", Some(SCRIPTS), &[], UNRATED),
    ("deno", Some(&["test", "check", "lint"]), &[], UNRATED),
    ("pytest", ALWAYS, &[], RATED),
    ("py.test", ALWAYS, &[], UNRATED),
    ("unittest", ALWAYS, &[], RATED),
    ("tox", ALWAYS, &[Tests], RATED),
    ("nox", ALWAYS, &[Tests], UNRATED),
    ("ruff", Some(&["check", "--check"]), &[Lints], RATED),
    ("mypy", ALWAYS, &[Types], RATED),
    ("pyright", ALWAYS, &[Types], UNRATED),
    ("ty", Some(&["check"]), &[], RATED),
    ("flake8", ALWAYS, &[Lints], UNRATED),
    ("pylint", ALWAYS, &[], UNRATED),
    ("black", Some(&["--check"]), &[], UNRATED),
    ("isort", Some(&["--check*"]), &[], UNRATED),
    ("eslint", ALWAYS, &[], RATED),
    ("biome", Some(&["check", "ci", "lint"]), &[Lints], UNRATED),
    ("prettier", Some(&["--check", "-c"]), &[], UNRATED),
    ("tsc", ALWAYS, &[Types, Builds], RATED),
    ("vue-tsc", ALWAYS, &[], UNRATED),
    ("svelte-check", ALWAYS, &[], UNRATED),
    ("jest", ALWAYS, &[Tests], UNRATED),
    ("vitest", ALWAYS, &[Tests], UNRATED),
    ("mocha", ALWAYS, &[Tests], UNRATED),
    ("ava", ALWAYS, &[], UNRATED),
    ("playwright", Some(&["test"]), &[Tests], UNRATED),
    ("cypress", Some(&["run"]), &[], UNRATED),
    ("mix", Some(&["test", "credo", "dialyzer", "compile", "--check-formatted"]), &[], UNRATED),
    ("make", Some(TARGETS), &[], RATED),
    ("gmake", Some(TARGETS), &[], UNRATED),
    ("just", Some(TARGETS), &[], UNRATED),
    ("mise", Some(TARGETS), &[], UNRATED),
    ("task", Some(TARGETS), &[], UNRATED),
    ("rake", Some(TARGETS), &[], UNRATED),
    ("golangci-lint", Some(&["run"]), &[], UNRATED),
    ("staticcheck", ALWAYS, &[], UNRATED),
    ("knip", ALWAYS, &[], UNRATED),
    ("gradle", Some(TARGETS), &[], UNRATED),
    ("gradlew", Some(TARGETS), &[], UNRATED),
    ("mvn", Some(&["test", "verify", "package", "compile", "install"]), &[], UNRATED),
    ("mvnw", Some(&["test", "verify", "package", "compile", "install"]), &[], UNRATED),
    ("dotnet", Some(&["test", "build"]), &[], UNRATED),
    ("rspec", ALWAYS, &[], UNRATED),
    ("rubocop", ALWAYS, &[Lints], UNRATED),
    ("phpunit", ALWAYS, &[], UNRATED),
    ("phpstan", ALWAYS, &[], UNRATED),
    ("swift", Some(&["test", "build"]), &[], UNRATED),
    ("xcodebuild", Some(&["test", "build"]), &[], UNRATED),
    ("bazel", Some(&["test", "build"]), &[], UNRATED),
    ("zig", Some(&["test", "build"]), &[], UNRATED),
    ("ctest", ALWAYS, &[], UNRATED),
    ("cmake", Some(&["--build"]), &[], UNRATED),
    ("shellcheck", ALWAYS, &[], UNRATED),
    ("actionlint", ALWAYS, &[], UNRATED),
    ("terraform", Some(&["validate", "plan"]), &[], UNRATED),
    ("tofu", Some(&["validate", "plan"]), &[], UNRATED),
];
/// Names of scripts that packages of JavaScript give their checks.
const SCRIPTS: &[&str] = &["*test", "*lint", "*check", "*tsc", "*build", "t", "vitest", "jest", "eslint"];
/// Targets of which a makefile's name says that they check.
const TARGETS: &[&str] = &["*test", "*lint", "*check", "*verify", "*types", "*spec", "*build"];
/// How many words behind a program are looked at.
const LOOKED_AT: usize = 4;

/// Does a step check the work? `words` begin with the program, without what runs it.
pub(super) fn is_check(words: &[String]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let name = program.rsplit('/').next().unwrap_or_default();
    let Some(wanted) = words_behind(name) else { return false };
    wanted.is_empty() && !rest.iter().any(|word| matches!(word.as_str(), "--version" | "-V" | "--help" | "-h"))
        || rest.iter().take(LOOKED_AT).any(|word| wanted.iter().any(|known| fits(known, word)))
}

/// The words that make a program a check; `None` for what is no program that checks.
fn words_behind(program: &str) -> Behind {
    CHECKS.iter().find(|(word, behind, ..)| *word == program && behind.is_some()).and_then(|(_, behind, ..)| *behind)
}

/// Does a program check whatever stands behind it, so that no word there is a subcommand?
pub(super) fn always_checks(program: &str) -> bool {
    words_behind(program).is_some_and(<[&str]>::is_empty)
}

/// Is the word the name of a program that this table knows, and that people call so?
pub(super) fn is_known_program(word: &str) -> bool {
    words_behind(word).is_some() || is_package_runner(word)
}

/// Is a command with this word among its first ones rated as a check?
pub fn is_rated_by(word: &str) -> bool {
    CHECKS.iter().any(|(known, _, _, rated)| *rated && word.starts_with(known))
}

/// May a command line, in lower case, be a check of this kind?
pub fn may_check(line: &str, kind: CheckKind) -> bool {
    CHECKS.iter().any(|(word, _, kinds, _)| kinds.contains(&kind) && line.contains(word))
}

fn fits(known: &str, word: &str) -> bool {
    match (known.strip_prefix('*'), known.strip_suffix('*')) {
        (Some(part), _) => word.contains(part),
        (_, Some(start)) => word.starts_with(start),
        _ => word == known,
    }
}

/// Programs that run the program behind their options, with how many words of their own.
const RUNNERS: &[(&str, usize)] = &[
    ("sudo", 0),
    ("time", 0),
    ("command", 0),
    ("exec", 0),
    ("env", 0),
    ("nohup", 0),
    ("npx", 0),
    ("bunx", 0),
    ("uvx", 0),
    ("timeout", 1),
    ("nice", 0),
    ("xvfb-run", 0),
    ("then", 0),
    ("do", 0),
    ("else", 0),
    ("if", 0),
    ("while", 0),
    ("!", 0),
    ("{", 0),
    ("stdbuf", 0),
];
/// The same, where a second word makes them one.
const RUNNERS_BY_WORD: &[(&str, &[&str])] = &[
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["dlx", "exec"]),
    ("npm", &["exec"]),
    ("uv", &["run"]),
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("bundle", &["exec"]),
    ("python", &["-m"]),
    ("python3", &["-m"]),
    ("rye", &["run"]),
    ("mise", &["exec", "x"]),
];

/// The words from the program on that is run in the end: without assignments, and without what only runs others.
pub fn from_program(words: &[String]) -> &[String] {
    let mut rest = words;
    loop {
        let Some((first, behind)) = rest.split_first() else { return rest };
        let name = first.rsplit('/').next().unwrap_or_default();
        let runs_by_word = RUNNERS_BY_WORD
            .iter()
            .any(|(known, by)| *known == name && behind.first().is_some_and(|second| by.contains(&second.as_str())));
        if is_assignment(first) {
            rest = behind;
        } else if runs_by_word {
            // Options of these take words that look like programs: the first check is meant.
            let names_check = |word: &String| words_behind(word).is_some();
            let check = behind.iter().take(1 + LOOKED_AT).position(names_check);
            rest = check.map_or_else(|| without_options(&behind[1..]), |at| &behind[at..]);
        } else if name == "command" && behind.first().is_some_and(|word| matches!(word.as_str(), "-v" | "-V")) {
            return rest;
        } else if let Some((_, own)) = RUNNERS.iter().find(|(known, _)| *known == name) {
            let behind = without_options(behind);
            rest = &behind[(*own).min(behind.len())..];
        } else {
            return rest;
        }
    }
}

/// Does the word start programs of a project's packages?
pub(super) fn is_package_runner(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    matches!(name, "npx" | "bunx" | "uvx") || RUNNERS_BY_WORD.iter().any(|(known, _)| *known == name)
}

/// `NAME=value`
pub fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
}

fn without_options(words: &[String]) -> &[String] {
    let from = words.iter().position(|word| !word.starts_with('-')).unwrap_or(words.len());
    &words[from..]
}

/// Options by which a check runs nothing.
const ONLY_LISTS: &[&str] = &[
    "--collect-only", "--co", "--markers", "--fixtures", "--list", "--listTests", "--no-run", "--help", "--version", "-h",
    "--dry-run",
];
/// Does a check only tell what it would run?
pub fn only_lists(line: &str) -> bool {
    line.split(' ').any(|word| ONLY_LISTS.contains(&word))
}

/// How lines begin that tell how a check ended.
const RESULT_STARTS: [&str; 18] = [
    "ok ", "ok\t", "FAIL", "PASS", "--- FAIL", "test result:", "All checks passed", "All tests passed", "No issues found",
    "Success: no issues", "error:", "error[", "error TS", "BUILD ", "Tests:", "Test Suites:", "Compiled successfully",
    "Failed to compile",
];

/// Does an output line tell how a check ended?
pub(super) fn is_result(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || is_sign(c));
    // `FAILURES` is a heading.
    let starts = begins_with_any(line, &RESULT_STARTS) && !line.starts_with("FAILURES");
    starts || line == "OK" || counts(line)
}

/// What may stand before a result, beside white space.
fn is_sign(c: char) -> bool {
    matches!(c, '=' | '✓' | '✔' | '✗' | '✖' | '×' | '-')
}

/// A line without the signs before its result.
pub(crate) fn without_signs(line: &str) -> &str {
    line.trim_start_matches(is_sign)
}

/// May a line that begins so tell how a check ended, once its white space is decoded, and behind other signs than counts? Errs on the side of
/// yes.
pub(crate) fn may_begin_result(line: &str) -> bool {
    let first = line.bytes().next();
    let begins = |start: &&str| start.bytes().next() == first && line.starts_with(start.trim_end());
    RESULT_STARTS.iter().any(begins) || line.starts_with("OK")
}

/// Compares the first byte first: few share it.
pub(super) fn begins_with_any(line: &str, starts: &[&str]) -> bool {
    let first = line.bytes().next();
    starts.iter().any(|start| start.bytes().next() == first && line.starts_with(start))
}

const COUNTED: [&str; 20] = [
    "passed", "failed", "passing", "failing", "test", "tests", "failure", "failures", "error", "errors", "issue", "issues",
    "warning", "warnings", "problem", "problems", "skipped", "doctests", "examples", "assertions",
];

/// May a text begin with a word that checks count? Errs on the side of yes.
pub(crate) fn may_be_counted(text: &str) -> bool {
    begins_with_any(text, &COUNTED)
}

/// `12 passed`, `3 errors`, `Found 4`, `Tests  7 passed`.
fn counts(line: &str) -> bool {
    if !may_count(line) {
        return false;
    }
    let mut words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut before: Option<&str> = None;
    for word in words.by_ref() {
        let is_number = |word: &str| word.bytes().all(|b| b.is_ascii_digit());
        if before.is_some_and(is_number) && COUNTED.contains(&word) || before == Some("Found") && is_number(word) {
            return true;
        }
        before = Some(word);
    }
    false
}

/// Is there a number before what may be a word for results, or behind `Found`? Most lines have none, and need not be split into words.
fn may_count(line: &str) -> bool {
    let bytes = line.as_bytes();
    let ends_number = |at: usize| bytes[at].is_ascii_digit() && bytes.get(at + 1).is_none_or(|b| !b.is_ascii_alphanumeric());
    let mut has_number = false;
    let counts = (0..bytes.len()).filter(|at| ends_number(*at)).any(|at| {
        has_number = true;
        let behind = line[at + 1..].trim_start_matches(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric());
        // Beyond ASCII there are letters and signs.
        behind.bytes().next().is_some_and(|first| !first.is_ascii()) || may_be_counted(behind)
    });
    counts || has_number && line.contains("Found")
}

/// Does a line that [`is_result`] tell a failure?
pub fn tells_failure(line: &str) -> bool {
    names_failure(&without_none(&line.to_lowercase()))
}

/// Does such a line prove that a check passed: does it say so, or count no failures?
pub fn proves_passing(line: &str) -> bool {
    const PASSED: [&str; 9] = ["ok", "pass", "passed", "passing", "compiled", "success", "successful", "successfully", "succeeded"];
    let lower = line.to_lowercase();
    let rest = without_none(&lower);
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    !names_failure(&rest) && (words.any(|word| PASSED.contains(&word)) || rest.len() < lower.len())
}

fn names_failure(lower: &str) -> bool {
    ["fail", "error", "problem", "✗", "✖"].iter().any(|word| lower.contains(word))
}

/// A line in lower case without the words that say that nothing failed.
fn without_none(lower: &str) -> String {
    let none = [
        "0 failed", "0 failures", "0 errors", "0 error", "no issues", "no problems", "0 failing", "0 problems", "0 issues",
        "0 tests failed",
    ];
    none.iter().fold(without_zeros(lower), |text, none| if text.contains(none) { without(&text, none) } else { text })
}

/// Does a line count tests or problems that failed?
pub fn counts_failures(line: &str) -> bool {
    tells_failure(line) && counts(line)
}

/// A text in lower case without the words that count nothing by a number behind them: `failed 0`, `Errors: 0`.
fn without_zeros(text: &str) -> String {
    const COUNTED: [&str; 4] = ["failed", "failures", "errors", "problems"];
    let number = |word: &&str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    let words: Vec<&str> = text.split(' ').collect();
    let bare = |at: usize| words.get(at).map(|word| word.trim_end_matches([',', '.', ';', ')']));
    let counts_before = |at: usize| at > 0 && number(&words[at - 1]);
    let is_none = |at: usize| {
        let word = words[at].trim_start_matches('(').trim_end_matches([':', '=']);
        COUNTED.contains(&word) && bare(at + 1) == Some("0") && !counts_before(at)
    };
    (0..words.len()).filter(|at| !is_none(*at)).map(|at| words[at]).collect::<Vec<_>>().join(" ")
}

/// A text without these words; `10 failed` does not hold `0 failed`.
fn without(text: &str, words: &str) -> String {
    let mut rest = String::with_capacity(text.len());
    for part in text.split_inclusive(words) {
        let before = part.strip_suffix(words).filter(|before| !before.ends_with(|c: char| c.is_ascii_digit()));
        rest.push_str(before.unwrap_or(part));
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<String> {
        command.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn checks_are_known_behind_what_runs_them() {
        for check in [
            "cargo test", "cargo +nightly test -p x", "RUST_LOG=1 cargo clippy", "timeout 60 go test ./...", "npx tsc --noEmit",
            "npm run test:unit", "pnpm exec vitest run", "uv run --group dev pytest -q", "python3 -m pytest tests",
            ".venv/bin/pytest", "make check", "./gradlew test", "pnpm lint", "sudo -E make test", "mise exec -- go test ./...",
            "ruff check .", "python -m unittest", "ruff format --check .", "make fmt-check",
        ] {
            assert!(is_check(from_program(&words(check))), "{check}");
        }
        for other in [
            "cargo run", "npm install", "ls tests", "git commit", "make install", "go mod tidy", "pytest --version",
            "cargo add test-case", "echo cargo test", "ruff format .", "mix format", "make fmt",
        ] {
            assert!(!is_check(from_program(&words(other))), "{other}");
        }
    }

    #[test]
    fn results_are_told_by_counts_and_by_how_a_line_begins() {
        for line in [
            "test result: ok. 5 passed; 0 failed", "===== 3 failed, 2 passed in 1.2s =====", "ok  \tgithub.com/x/y\t0.3s",
            "Found 2 errors.", "✖ 4 problems (4 errors, 0 warnings)", "Tests:       1 failed, 7 passed", "All checks passed!",
            "error[E0425]: cannot find", "OK", "12 passing (3s)",
        ] {
            assert!(is_result(line), "{line}");
        }
        for line in ["", "running 5 tests in", "src/test.rs", "compiling", "5 files changed", "okay then"] {
            assert!(!is_result(line) || line.starts_with("running"), "{line}");
        }
        assert!(
            tells_failure("2 failed, 0 errors")
                && !tells_failure("Tests: succeeded 26, failed 0, canceled 0")
                && !tells_failure("Tests run: 58, Failures: 0, Errors: 0")
                && tells_failure("Tests run: 58, Failures: 1, Errors: 0")
                && tells_failure("10 failed 0 skipped")
                && proves_passing("Tests run: 58, Failures: 0, Errors: 0")
                && proves_passing("ok  \tshop\t0.1s")
                && proves_passing("12 passed, 3 warnings in 2s")
                && !proves_passing("2 warnings generated.")
                && !proves_passing("Found 4 files")
                && !proves_passing("3 passed, 1 failed")
                && !tells_failure("100% tests passed, 0 tests failed out of 28")
                && tells_failure("10 failed")
                && !tells_failure("test result: ok. 5 passed; 0 failed")
        );
    }
}
