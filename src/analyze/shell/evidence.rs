//! What is kept of a command and of its output.

use super::checks::{from_program, is_check, is_result, tells_failure};
use super::git;
use super::steps::{Step, Then, steps};
use crate::model::session::{ShellPrint, ShellRun, ShellStep, StepKind, StepKinds};
use crate::text::clean::{one_line, shorten};

/// Longest stored words of a step, and longest message, in characters.
const MAX_LINE_CHARS: usize = 300;
const MAX_MESSAGE_CHARS: usize = 1_200;
/// Most steps of a command: a script may have thousands.
const MAX_STEPS: usize = 24;
/// Most lines of git, each of at most so many characters.
const MAX_GIT_LINES: usize = 24;
const MAX_PRINTED_CHARS: usize = 240;
/// Most lines about checks: those that tell a failure, and the last.
const MAX_FAILURES: usize = 2;

/// The steps of a sanitized command that are evidence. `awaited`: its output comes with its result, and not later.
pub(crate) fn run(tool: &str, command: &str, awaited: bool) -> Option<ShellRun> {
    let all = steps(command);
    let last = all.len().saturating_sub(1);
    // What follows a failed `&&` never ran, so the exit code is the failed step's.
    let masked = |at: usize| all[at..].iter().take(last - at).any(|step| step.then != Then::And);
    let kept =
        all.iter().enumerate().filter_map(|(at, step)| kept(step, awaited).map(|kept| ShellStep { masked: masked(at), ..kept }));
    let steps: Vec<ShellStep> = kept.take(MAX_STEPS).collect();
    (!steps.is_empty()).then(|| ShellRun { tool: tool.to_owned(), steps })
}

fn kept(step: &Step, awaited: bool) -> Option<ShellStep> {
    let words = from_program(&step.words);
    if let Some(command) = git::command(words) {
        let (words, message) = git::without_message(command, step);
        let kind = if matches!(words.get(1).map(String::as_str), Some("rm" | "mv")) { StepKind::Files } else { StepKind::Git };
        return Some(ShellStep { message: shorten(&message, MAX_MESSAGE_CHARS), ..of(kind, &words) });
    }
    match words.first()?.rsplit('/').next()? {
        "rm" | "mv" | "trash" | "unlink" => Some(of(StepKind::Files, words)),
        _ => (awaited && is_check(words)).then(|| of(StepKind::Check, words)),
    }
}

fn of(kind: StepKind, words: &[String]) -> ShellStep {
    let line = words.iter().map(|word| quoted(&one_line(word))).collect::<Vec<_>>().join(" ");
    ShellStep { kind, line: shorten(&line, MAX_LINE_CHARS), message: String::new(), masked: false }
}

/// A word as a person would type it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_@%+=:,./~^-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned)
}

/// The lines of a sanitized output that are evidence.
pub(crate) fn printed(tool: &str, ok: bool, output: &str, kinds: StepKinds) -> ShellPrint {
    let line = |line: &str| shorten(&one_line(line), MAX_PRINTED_CHARS);
    let git = output.lines().filter(|line| kinds.git && git::is_telling(line)).take(MAX_GIT_LINES).map(line).collect();
    let results: Vec<&str> = output.lines().filter(|line| kinds.check && is_result(line)).collect();
    let mut told: Vec<&str> = results.iter().copied().filter(|line| tells_failure(line)).take(MAX_FAILURES).collect();
    told.extend(results.last().filter(|last| told.last() != Some(last)));
    ShellPrint { tool: tool.to_owned(), ok, git, results: told.into_iter().map(line).collect(), of: results.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_an_exit_code_is_noted() {
        let masked = |command: &str| -> Vec<bool> {
            run("t", command, true).map(|run| run.steps.iter().map(|step| step.masked).collect()).unwrap_or_default()
        };
        assert_eq!(masked("cargo test"), [false]);
        assert_eq!(masked("cd x && cargo test && git push"), [false, false]);
        assert_eq!(masked("cargo test | tail -5"), [true]);
        assert_eq!(masked("cargo test; cargo clippy"), [true, false]);
        assert_eq!(masked("cargo test || true"), [true]);
        assert_eq!(masked("ls; echo hi"), [] as [bool; 0]);
    }

    #[test]
    fn of_an_output_the_failures_and_the_last_result_stay() {
        let kinds = StepKinds { git: true, check: true };
        let output = "ok  \ta\t0.1s\nFAIL\tb\t0.2s\nok  \tc\t0.1s\n[main 1a2b3c4] Fix it\n 2 files changed\nnoise";
        let kept = printed("t", false, output, kinds);
        assert_eq!(kept.git, ["[main 1a2b3c4] Fix it", "2 files changed"]);
        assert_eq!((kept.results, kept.of), (vec!["FAIL b 0.2s".to_owned(), "ok c 0.1s".to_owned()], 3));
        assert_eq!(printed("t", true, output, StepKinds::default()).git, [] as [String; 0]);
    }
}
