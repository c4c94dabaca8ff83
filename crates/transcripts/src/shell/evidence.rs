//! What is kept of a command and of its output.

use std::borrow::Cow;

use super::checks::{from_program, is_assignment, is_check, is_package_runner, is_result, tells_failure};
use super::class::is_work;
use super::error_line::wrong_lines;
use super::git;
use super::same::is_check_line;
use super::steps::{Step, Then, steps};
use crate::session::{ShellPrint, ShellRun, ShellStep, StepKind, StepKinds, joined};
use text::clean::{one_line, shorten};

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
/// A task runner prints what it runs in the first lines, and so many commands of it are kept.
const MAX_LINES_BEFORE: usize = 20;
const MAX_RUNS: usize = 4;

/// The steps of a sanitized command that are evidence. `awaited`: its output comes with its result, and not later.
pub fn run(tool: &str, command: &str, awaited: bool) -> Option<ShellRun> {
    let all = steps(command);
    let masked = masked(&all);
    let mut folders = Folders::default();
    let mut kept_at = Vec::new();
    let mut steps = Vec::new();
    for (at, step) in all.iter().enumerate() {
        let folder = folders.of(step);
        if let Some(kept) = kept(step, awaited) {
            let inside = git::folder(from_program(&step.words));
            let folder = shorten(&one_line(&inside.map_or(folder.clone(), |inside| led(&folder, inside))), MAX_LINE_CHARS);
            kept_at.push(at);
            let masked = masked[at] || kept.masked;
            steps.push(ShellStep { masked, folder, ..kept });
        }
        if steps.len() == MAX_STEPS {
            break;
        }
    }
    for (n, between) in kept_at.windows(2).enumerate() {
        steps[n].needed = all[between[0]..between[1]].iter().all(|step| step.then == Then::And);
    }
    (!steps.is_empty()).then(|| ShellRun { tool: tool.to_owned(), steps, cwd: None, branch: None })
}

/// Which steps may have failed, or not have run, although the whole command succeeded. What follows a failed `&&` never ran, so the exit code
/// is the failed step's; in a pipe it is the last one's.
fn masked(all: &[Step]) -> Vec<bool> {
    let sets = |step: &Step, flag: char, name: &str| {
        let is_flags = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains(flag);
        step.words[0] == "set" && step.words[1..].iter().any(|word| is_flags(word) || word == name)
    };
    let from = |flag, name| all.iter().position(|step| sets(step, flag, name)).unwrap_or(all.len());
    // `set -e` ends a command at the first step that fails.
    let (ends_from, pipe_from) = (from('e', "errexit"), from('\0', "pipefail"));
    let goes_on = |at: usize| match all[at].then {
        Then::Or => true,
        Then::Whatever => at < ends_from,
        _ => false,
    };
    let last = all.len().saturating_sub(1);
    let lost = |at: usize| all[at].then == Then::Pipe && at < pipe_from;
    let skipped = |at: usize| at > 0 && all[at - 1].then == Then::Or;
    (0..all.len()).map(|at| lost(at) || skipped(at) || (at..last).any(goes_on)).collect()
}

/// Where a command has gone to by `cd`, in each of the subshells that it is in.
#[derive(Default)]
struct Folders {
    by_level: Vec<String>,
    subshells: usize,
    before: String,
}

impl Folders {
    /// The folder in which a step runs.
    fn of(&mut self, step: &Step) -> String {
        if step.subshells != self.subshells {
            self.by_level.truncate(step.level.max(1));
            self.subshells = step.subshells;
        }
        let outside = self.by_level.last().cloned().unwrap_or_default();
        self.by_level.resize(step.level + 1, outside);
        let here = self.by_level[step.level].clone();
        let words = from_program(&step.words);
        if matches!(words.first().map(String::as_str), Some("cd" | "pushd")) && step.then != Then::Pipe {
            let to = words[1..].iter().find(|word| *word == "-" || !word.starts_with('-')).map_or("~", String::as_str);
            self.by_level[step.level] = if to == "-" { self.before.clone() } else { led(&here, to) };
            self.before.clone_from(&here);
        }
        here
    }
}

/// Where `to` leads from a folder; nowhere where it is the repository's root.
fn led(folder: &str, to: &str) -> String {
    if to.contains("--show-toplevel") { String::new() } else { joined(folder, to) }
}

fn kept(step: &Step, awaited: bool) -> Option<ShellStep> {
    let words = from_program(&step.words);
    if let Some(command) = git::command(words) {
        let (words, message) = git::without_message(command, step);
        let kind = if matches!(words.get(1).map(String::as_str), Some("rm" | "mv")) { StepKind::Files } else { StepKind::Git };
        return Some(ShellStep { message: shorten(&message, MAX_MESSAGE_CHARS), masked: !awaited, ..of(kind, &words) });
    }
    match words.first()?.rsplit('/').next()? {
        "rm" | "mv" | "trash" | "unlink" => Some(of(StepKind::Files, words)),
        _ if awaited && is_check(words) => Some(of_typed(StepKind::Check, step)),
        _ if is_work(words) => Some(ShellStep { masked: !awaited, ..of_typed(StepKind::Work, step) }),
        _ => None,
    }
}

/// A step as it was typed, with the variables that it is given and with what starts it, such as `uv run`: without these it may not run.
fn of_typed(kind: StepKind, step: &Step) -> ShellStep {
    let before = step.words.len() - from_program(&step.words).len();
    let starts = step.words[..before].iter().position(|word| is_package_runner(word)).unwrap_or(before);
    let kept = (0..step.words.len()).filter(|at| *at >= starts || is_assignment(&step.words[*at]));
    of_line(kind, &kept.map(|at| one_line(step.typed[at])).collect::<Vec<_>>().join(" "))
}

fn of(kind: StepKind, words: &[String]) -> ShellStep {
    of_line(kind, &words.iter().map(|word| quoted(&one_line(word))).collect::<Vec<_>>().join(" "))
}

fn of_line(kind: StepKind, line: &str) -> ShellStep {
    let (message, folder) = (String::new(), String::new());
    ShellStep { kind, line: shorten(line, MAX_LINE_CHARS), message, masked: false, needed: false, folder }
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
pub fn printed(tool: &str, ok: bool, output: &str, kinds: StepKinds) -> ShellPrint {
    let line = |line: &str| shorten(&one_line(line), MAX_PRINTED_CHARS);
    let git = if kinds.git { lines_of_git(output) } else { Vec::new() };
    let results: Vec<&str> = output.lines().filter(|line| kinds.check && is_result(line)).collect();
    let mut told: Vec<&str> = results.iter().copied().filter(|line| tells_failure(line)).take(MAX_FAILURES).collect();
    // Most outputs tell no failure: these are not gone through again.
    let failed = if ok && told.is_empty() { "" } else { output };
    let mut wrong = if kinds.check { wrong_lines(failed) } else { Vec::new() };
    wrong.retain(|line| !is_result(line));
    let tells = kinds.check && (!ok || !results.is_empty());
    let runs = if tells { commands_run(output) } else { Vec::new() };
    told.extend(results.last().filter(|last| told.last() != Some(last)));
    let git = git.iter().map(|text| line(text)).collect();
    let (of, results) = (results.len(), told.into_iter().map(line).collect());
    ShellPrint { tool: tool.to_owned(), ok, git, results, of, wrong, runs, ..ShellPrint::default() }
}

/// The checks that a task runner printed before it ran them: `> vitest run`, `task: [test] go test ./...`.
fn commands_run(output: &str) -> Vec<String> {
    let bare = |line: &str| {
        let line = line.trim();
        let line = line.strip_prefix("task: [").and_then(|line| line.split_once("] ")).map_or(line, |(_, line)| line);
        line.trim_start_matches(['>', '$', '+', ' ']).to_owned()
    };
    let is_command = |line: &String| line.len() <= MAX_PRINTED_CHARS && is_check_line(line) && !is_result(line);
    output.lines().take(MAX_LINES_BEFORE).map(bare).filter(is_command).take(MAX_RUNS).collect()
}

/// The lines in which git and `gh` tell what they did. Of too many, lists of commits are cut first.
fn lines_of_git(output: &str) -> Vec<Cow<'_, str>> {
    let all: Vec<Cow<'_, str>> = output.lines().filter_map(git::told_by_git).collect();
    let listed = all.iter().filter(|line| git::begins_with_hash(line.trim())).count();
    let mut room = MAX_GIT_LINES.saturating_sub(all.len() - listed);
    let stays = |line: &Cow<'_, str>| {
        let is_listed = git::begins_with_hash(line.trim());
        let stays = !is_listed || room > 0;
        room -= usize::from(is_listed && stays);
        stays
    };
    all.into_iter().filter(stays).take(MAX_GIT_LINES).collect()
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
        assert_eq!(masked("cargo build && cargo test | tail -5"), [false, true]);
        assert_eq!(masked("cargo test | tail -5; cargo fmt"), [true, false]);
        assert_eq!(masked("cargo test || cargo test --offline"), [true, true]);
        assert_eq!(masked("set -e; cargo test; cargo clippy"), [false, false]);
        assert_eq!(masked("set -o pipefail; cargo test | tail"), [false]);
        assert_eq!(masked("vercel deploy --prod; vercel ls"), [true, false]);
        assert_eq!(masked("ls; echo hi"), [] as [bool; 0]);
        let in_background = run("t", "git push -q", false).map(|run| run.steps[0].masked);
        assert_eq!(in_background, Some(true), "it had not ended");
    }

    #[test]
    fn a_check_keeps_its_variables_and_what_starts_it() {
        for (command, line) in [
            ("cargo test", "cargo test"),
            ("if X=1 timeout 60 uv run --group dev pytest -q; then", "X=1 uv run --group dev pytest -q"),
            ("time npx vitest run", "npx vitest run"),
            ("python3 -m pytest tests", "python3 -m pytest tests"),
        ] {
            let lines = run("t", command, true).map(|run| run.steps.into_iter().map(|step| step.line).collect::<Vec<_>>());
            assert_eq!(lines, Some(vec![line.to_owned()]), "{command}");
        }
    }

    #[test]
    fn where_a_step_ran_and_whether_the_next_needed_it_are_noted() {
        let told = |command: &str| -> Vec<(String, bool)> {
            run("t", command, true).unwrap().steps.into_iter().map(|step| (step.folder, step.needed)).collect()
        };
        let at = |folder: &str, needed: bool| (folder.to_owned(), needed);
        assert_eq!(told("git commit -qm x && git push | tail -1"), [at("", true), at("", false)]);
        assert_eq!(told("git commit -qm x | tail -1 && git push"), [at("", false), at("", false)]);
        assert_eq!(told("cd ../b && git push; cd c && git push"), [at("../b", false), at("../b/c", false)]);
        assert_eq!(told("(cd b && git push) && git -C /c push"), [at("b", true), at("/c", false)]);
        assert_eq!(told("(cd a && git push) && (cd b && git push)"), [at("a", true), at("b", false)]);
        assert_eq!(told("cd b && git push && cd - && git push"), [at("b", true), at("", false)]);
        assert_eq!(told("cd \"$(git rev-parse --show-toplevel)\" && git push"), [at("", false)]);
    }

    #[test]
    fn a_check_keeps_the_variables_that_it_is_given() {
        let line = |command: &str| run("t", command, true).unwrap().steps[0].line.clone();
        assert_eq!(line("E2E=1 timeout 60 go test ./..."), "E2E=1 go test ./...");
        assert_eq!(line("env A=1 B=2 cargo test"), "A=1 B=2 cargo test");
    }

    #[test]
    fn a_long_list_of_commits_leaves_room_for_what_follows_it() {
        let list: String = (0..60).map(|n| format!("{:07x} subject\n", n + 0x100_0000)).collect();
        let kept = printed("t", true, &format!("{list}[main 1a2b3c4] Fix it\n"), StepKinds { git: true, check: false });
        assert_eq!((kept.git.len(), kept.git.last().map(String::as_str)), (MAX_GIT_LINES, Some("[main 1a2b3c4] Fix it")));
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
