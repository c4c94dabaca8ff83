//! What tool uses tell: which commands check the work, which only inspect, and whether they failed.

use std::borrow::Cow;

use transcripts::session::{Outcome, ToolUse};
use transcripts::shell::is_rated_by;

/// How many words of a command's step to examine: the first ones say what it runs.
const EXAMINED_WORDS: usize = 5;

/// Does a command check the work?
pub(crate) fn is_check(tool: &ToolUse) -> bool {
    tool.is_shell()
        && steps(&tool.line.to_lowercase()).any(|step| {
            let words = step.split(['>', '<']).next().unwrap_or_default().split_whitespace().take(EXAMINED_WORDS);
            !runs_one_of(step, INSPECTING_PROGRAMS)
                && words.flat_map(|w| w.split(|c: char| !c.is_alphanumeric() && c != '_')).any(is_rated_by)
        })
}

pub(crate) fn is_commit(tool: &ToolUse) -> bool {
    tool.is_shell() && (tool.line.contains("git commit") || tool.line.contains("gh pr create") || tool.line.contains("git push"))
}

/// Did a tool use fail, by its result or by its output? A refusal by the user is an answer, not a failure.
pub(crate) fn has_failed(outcome: &Outcome) -> bool {
    if outcome.never_ran() {
        return false;
    }
    let brief = outcome.brief.to_lowercase();
    let counted = |what: &str| {
        brief.match_indices(what).any(|(at, _)| {
            let before: String = brief[..at].chars().rev().take_while(|c| c.is_ascii_digit() || *c == ' ').collect();
            before.trim().chars().any(|c| c != '0' && c.is_ascii_digit())
        })
    };
    !outcome.ok
        || brief.contains("--- fail")
        || brief.starts_with("fail")
        || brief.contains("| fail")
        || counted("failed")
        || counted(" errors")
        || counted(" error")
}

/// Programs that inspect, wait or print. If one finds nothing, that is not a failure of the work.
const INSPECTING_PROGRAMS: &[&str] = &[
    "ls", "cat", "find", "grep", "egrep", "rg", "ag", "fd", "head", "tail", "less", "which", "pwd", "cd", "echo", "wc", "sed",
    "awk", "tree", "stat", "file", "type", "sleep", "kill", "pkill", "ps", "du", "df", "sort", "uniq", "cut", "diff", "jq", "nl",
    "xargs", "basename", "dirname", "realpath", "date", "whoami", "uname", "env", "export", "true", "column", "tr", "test", "[",
    "printf", "git log", "git show", "git diff", "git status", "git remote", "git branch", "git rev-parse", "git blame",
    "git ls-files", "git grep", "git fetch", "gh run", "gh pr view", "gh pr diff", "gh pr list", "gh issue view", "gh api",
];

/// Programs that query others: worth a line, but no answer is not a failure of the work.
const QUERYING_PROGRAMS: &[&str] = &["curl", "wget", "open", "ping", "nc"];

/// Does every step of a command only inspect?
pub(crate) fn only_inspects(command: &str) -> bool {
    !writes(&without_quoted(command)) && all_steps(command, |step| runs_one_of(step, INSPECTING_PROGRAMS))
}

/// May a command fail without that being a failure of the work?
pub(crate) fn may_fail(command: &str) -> bool {
    all_steps(command, |step| runs_one_of(step, INSPECTING_PROGRAMS) || runs_one_of(step, QUERYING_PROGRAMS))
}

fn all_steps(command: &str, fits: impl Fn(&str) -> bool) -> bool {
    let bare = without_quoted(command);
    let mut steps = steps(&bare).peekable();
    steps.peek().is_some() && steps.all(fits)
}

/// The steps of a command line, without the `1` that follows the `&` of `2>&1`.
fn steps(command: &str) -> impl Iterator<Item = &str> {
    let parts = command.split(['|', ';', '&', '\n']).map(str::trim);
    parts.filter(|step| !step.is_empty() && !step.bytes().all(|b| b.is_ascii_digit()))
}

/// A command without its quoted parts, in which `|` and `>` mean nothing.
fn without_quoted(command: &str) -> Cow<'_, str> {
    let mut quotes = memchr::memchr2_iter(b'\'', b'"', command.as_bytes()).peekable();
    if quotes.peek().is_none() {
        return Cow::Borrowed(command);
    }
    let mut bare = String::with_capacity(command.len());
    let (mut from, mut open) = (0, None);
    for at in quotes {
        let quote = command.as_bytes()[at];
        match open {
            Some(by) if by == quote => open = None,
            Some(_) => continue,
            None => {
                bare.push_str(&command[from..at]);
                open = Some(quote);
            }
        }
        from = at + 1;
    }
    if open.is_none() {
        bare.push_str(&command[from..]);
    }
    Cow::Owned(bare)
}

fn runs_one_of(step: &str, programs: &[&str]) -> bool {
    programs.iter().any(|program| step.strip_prefix(program).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
}

/// Does a command that inspects also write: in place, by deleting, or into a file?
fn writes(command: &str) -> bool {
    let into_file = command
        .split('>')
        .skip(1)
        .map(str::trim_start)
        .any(|to| !to.is_empty() && !to.starts_with(['&', '=', '/']) || to.starts_with('/') && !to.starts_with("/dev/"));
    into_file || command.contains("sed -i") || command.contains(" -delete") || command.contains(" -exec")
}
