//! Commits that stand at the end, and pull requests, from what git and `gh` printed.
//!
//! A commit is known by its subject. Its hash is the last one that any line of git shows for that subject; what a rebase made anew and
//! nothing showed since has none that can be relied on.

use serde::{Deserialize, Serialize};

use super::runs::number_at;
use super::shell::{Call, words};
use super::turns::Turn;
use crate::analyze::shell::{SHORT_HASH, is_hash};
use crate::model::session::{Item, Millis, Session, ShellStep, StepKind};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Empty if nothing printed it.
    pub hash: String,
    pub branch: String,
    pub subject: String,
    /// The rest of the message, without trailers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    pub at: Option<Millis>,
    /// The turn's number.
    pub turn: usize,
    /// Git said that it reached the remote.
    pub pushed: bool,
    /// It was made anew since its hash was printed.
    pub hash_is_stale: bool,
    /// Files changed, by git's own count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u32>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequest {
    pub number: String,
    /// Empty if it is not known.
    pub url: String,
    pub title: String,
    /// The session made it, and not only worked on it.
    pub made: bool,
    /// Git or `gh` said so.
    pub merged: bool,
    pub at: Option<Millis>,
}

/// Lines that end a message, and that tools add.
const TRAILERS: [&str; 8] = [
    "Co-Authored-By:", "Co-authored-by:", "Signed-off-by:", "Generated with", "🤖", "Claude-Session:", "Reviewed-by:", "Change-Id:",
];

pub(super) fn of(session: &Session, calls: &[Call<'_>], turns: &[Turn]) -> (Vec<Commit>, Vec<PullRequest>) {
    let mut history = History::default();
    for call in calls {
        history.call(call, number_at(turns, call.at));
    }
    let mut prs = pull_requests(session, calls);
    prs.sort_by_key(|pr| pr.at);
    (history.commits, prs)
}

/// The commits so far.
#[derive(Default)]
struct History {
    commits: Vec<Commit>,
}

impl History {
    fn call(&mut self, call: &Call<'_>, turn: usize) {
        let lines: &[String] = call.print.map_or(&[], |print| &print.git);
        let mut made = lines.iter().filter_map(|line| committed(line)).collect::<Vec<_>>().into_iter();
        let mut counts = lines.iter().filter_map(|line| files_changed(line)).collect::<Vec<_>>().into_iter();
        let refused = lines.iter().any(|line| {
            let line = line.trim_start();
            ["nothing to commit", "no changes added", "Aborting", "fatal: ", "error: "].iter().any(|start| line.starts_with(start))
        });
        for step in call.steps.iter().filter(|step| step.kind == StepKind::Git) {
            let words = words(step);
            let verb = words.get(1).map_or("", String::as_str);
            match verb {
                "commit" | "cherry-pick" | "revert" | "am" => {
                    let amends = words.iter().any(|word| word == "--amend");
                    let shown =
                        if verb == "commit" { made.next().into_iter().collect() } else { made.by_ref().collect::<Vec<_>>() };
                    let quiet = || quiet_commit(step, call, lines, refused);
                    for mut commit in if shown.is_empty() { quiet().into_iter().collect() } else { shown } {
                        (commit.at, commit.turn) = (call.at, turn);
                        commit.files = counts.next();
                        self.add(commit, step, amends);
                    }
                }
                "reset" if !call.failed => self.reset(&words[2..], lines),
                "rebase" | "pull" if lines.iter().any(|line| line.contains("Successfully rebased")) => {
                    self.commits
                        .iter_mut()
                        .filter(|commit| !commit.pushed || verb == "rebase")
                        .for_each(|commit| commit.hash_is_stale = true);
                }
                _ => {}
            }
        }
        // Shown without a step that is known to make commits: by an alias, a script, a hook.
        for mut commit in made {
            (commit.at, commit.turn) = (call.at, turn);
            self.add(commit, &NO_STEP, false);
        }
        lines.iter().for_each(|line| self.shown(line));
        self.pushed(lines);
    }

    fn add(&mut self, mut commit: Commit, step: &ShellStep, amends: bool) {
        let subject = |message: &str| message.lines().next().unwrap_or_default().trim().to_owned();
        if subject(&step.message) == commit.subject {
            commit.body = body_of(&step.message);
        }
        if amends && let Some(last) = self.commits.pop() {
            if commit.subject.is_empty() {
                commit.subject = last.subject;
            }
            if commit.body.is_empty() {
                commit.body = last.body;
            }
        }
        if commit.subject.is_empty() {
            return;
        }
        self.commits.retain(|known| known.subject != commit.subject);
        self.commits.push(commit);
    }

    fn reset(&mut self, arguments: &[String], lines: &[String]) {
        let mut named = arguments.iter().filter(|word| !word.starts_with('-'));
        let (target, more) = (named.next(), named.next());
        let moves = arguments.iter().any(|word| matches!(word.as_str(), "--hard" | "--soft" | "--mixed" | "--keep"));
        // With a path it moves nothing.
        let Some(target) = target.filter(|_| moves || more.is_none()).filter(|_| more.is_none()) else { return };
        let head =
            lines.iter().find_map(|line| line.trim().strip_prefix("HEAD is now at ")).and_then(|rest| rest.split(' ').next());
        let at = |hash: &str| self.commits.iter().position(|commit| is_same(&commit.hash, hash));
        let back = || target.strip_prefix("HEAD").or_else(|| target.strip_prefix('@')).and_then(steps_back);
        let keep = match (head.and_then(at), back(), at(target)) {
            (Some(at), ..) => at + 1,
            (_, Some(back), _) => self.commits.len().saturating_sub(back),
            (.., Some(at)) => at + 1,
            // A branch, or a commit from before: what had not reached a remote is gone.
            _ => self.commits.iter().rposition(|commit| commit.pushed).map_or(0, |at| at + 1),
        };
        self.commits.truncate(keep);
    }

    /// A line that shows a hash beside a subject.
    fn shown(&mut self, line: &str) {
        let Some((hash, subject)) = hash_and_subject(line) else { return };
        if let Some(commit) = self.commits.iter_mut().find(|commit| commit.subject == subject) {
            hash.clone_into(&mut commit.hash);
            commit.hash_is_stale = false;
        }
    }

    fn pushed(&mut self, lines: &[String]) {
        let rejected = lines.iter().any(|line| line.trim_start().starts_with("! ["));
        let mut reached = lines.iter().any(|line| line.contains("Everything up-to-date"));
        for line in lines.iter().filter(|_| !rejected) {
            let Some(push) = Push::of(line) else { continue };
            reached = true;
            let Some(tip) = push.tip else { continue };
            let is_known = self.commits.iter().any(|commit| is_same(&commit.hash, &tip));
            if let Some(old) = push.replaced.filter(|_| is_known) {
                self.commits.retain(|commit| !is_same(&commit.hash, &old));
            }
            // The tip is the last commit of that branch, made anew since its hash was printed.
            let last = self.commits.last_mut().filter(|commit| !is_known && (commit.hash_is_stale || commit.hash.is_empty()));
            if let Some(commit) = last {
                commit.hash = tip;
                commit.hash_is_stale = false;
            }
        }
        if reached {
            self.commits.iter_mut().for_each(|commit| commit.pushed = true);
        }
    }
}

const NO_STEP: ShellStep = ShellStep { kind: StepKind::Git, line: String::new(), message: String::new(), masked: false };

/// A commit of which git printed nothing: by its message, where the command is known to have succeeded.
fn quiet_commit(step: &ShellStep, call: &Call<'_>, lines: &[String], refused: bool) -> Option<Commit> {
    let subject = step.message.lines().next().unwrap_or_default().trim();
    let amends = step.line.contains("--amend");
    if refused || call.failed || subject.is_empty() && !amends || step.line.contains("--dry-run") {
        return None;
    }
    let shown = lines.iter().filter_map(|line| hash_and_subject(line)).find(|(_, shown)| !subject.is_empty() && *shown == subject);
    // Where a later step hides the exit code, only a line that shows it proves it.
    let proven = shown.is_some() || !step.masked && call.print.is_some();
    proven.then(|| Commit {
        hash: shown.map_or_else(String::new, |(hash, _)| hash.to_owned()),
        subject: subject.to_owned(),
        ..Commit::default()
    })
}

/// `[main 1a2b3c4] subject`.
fn committed(line: &str) -> Option<Commit> {
    let (head, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let (branch, hash) = head.rsplit_once(' ')?;
    let branch = branch.trim_end_matches("(root-commit)").trim();
    let branch = if branch == "detached HEAD" { "" } else { branch };
    is_hash(hash).then(|| Commit {
        hash: hash.to_owned(),
        branch: branch.to_owned(),
        subject: subject.trim().to_owned(),
        ..Commit::default()
    })
}

fn files_changed(line: &str) -> Option<u32> {
    let (count, rest) = line.trim().split_once(' ')?;
    rest.starts_with("file").then(|| count.parse().ok()).flatten()
}

/// `1a2b3c4 subject`, `* 1a2b3c4 (HEAD -> main) subject`, `HEAD is now at 1a2b3c4 subject`.
fn hash_and_subject(line: &str) -> Option<(&str, &str)> {
    let line = line.trim().trim_start_matches(['*', '|', '/', '\\', ' ']);
    let line = line.strip_prefix("HEAD is now at ").unwrap_or(line);
    let (hash, rest) = line.split_once(' ')?;
    let rest = rest.trim_start();
    let subject = if rest.starts_with('(') { rest.split_once(") ").map_or(rest, |(_, subject)| subject) } else { rest };
    is_hash(hash).then_some((hash, subject.trim()))
}

fn is_same(one: &str, other: &str) -> bool {
    one.len() >= SHORT_HASH && other.len() >= SHORT_HASH && (one.starts_with(other) || other.starts_with(one))
}

/// `~2`, `^`, `^^`, or nothing, behind `HEAD`.
fn steps_back(suffix: &str) -> Option<usize> {
    match suffix.strip_prefix('~') {
        Some("") => Some(1),
        Some(count) => count.parse().ok(),
        None => suffix.bytes().all(|b| b == b'^').then_some(suffix.len()),
    }
}

fn body_of(message: &str) -> String {
    let lines = message.lines().skip(1).filter(|line| !TRAILERS.iter().any(|trailer| line.trim_start().starts_with(trailer)));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// A line in which a push tells what it did to a branch.
struct Push {
    tip: Option<String>,
    /// The old side of a push that was forced.
    replaced: Option<String>,
}

impl Push {
    fn of(line: &str) -> Option<Self> {
        let (left, _) = line.split_once(" -> ")?;
        let left = left.trim_start();
        if left.starts_with("* [new") {
            return Some(Self { tip: None, replaced: None });
        }
        let forced = left.strip_prefix("+ ");
        let range = forced.unwrap_or(left).split(' ').next()?;
        let (old, new) = range.split_once("...").or_else(|| range.split_once(".."))?;
        (is_hash(old) && is_hash(new)).then(|| Self { tip: Some(new.to_owned()), replaced: forced.map(|_| old.to_owned()) })
    }
}

fn pull_requests(session: &Session, calls: &[Call<'_>]) -> Vec<PullRequest> {
    let mut all: Vec<PullRequest> = Vec::new();
    for entry in &session.entries {
        if let Item::PullRequest(url) = &entry.item {
            note(
                &mut all,
                PullRequest { url: url.clone(), number: number_of(url), made: true, at: entry.at, ..PullRequest::default() },
            );
        }
    }
    for call in calls.iter().filter(|call| !call.failed) {
        let lines: &[String] = call.print.map_or(&[], |print| &print.git);
        for step in call.steps.iter().filter(|step| step.kind == StepKind::Git) {
            let words = words(step);
            let [program, _, verb, rest @ ..] = &words[..] else { continue };
            if program != "gh" {
                continue;
            }
            let url = lines
                .iter()
                .filter(|_| verb == "create")
                .find_map(|line| line.split_whitespace().find(|word| word.contains("/pull/")));
            let url = url.unwrap_or_default();
            let named = rest.iter().find(|word| !word.starts_with('-') && word.trim_start_matches('#').parse::<u64>().is_ok());
            let number = named.map_or_else(|| number_of(url), |number| number.trim_start_matches('#').to_owned());
            let made = verb == "create" && !url.is_empty();
            if number.is_empty() {
                continue;
            }
            let title = if made { step.message.lines().next().unwrap_or_default().to_owned() } else { String::new() };
            let merged = verb == "merge" && !step.masked && call.print.is_some() && !step.line.contains("--auto");
            note(&mut all, PullRequest { number, url: url.to_owned(), title, made, merged, at: call.at });
        }
    }
    all
}

/// Adds what is new of a pull request.
fn note(all: &mut Vec<PullRequest>, found: PullRequest) {
    let Some(known) = all.iter_mut().find(|known| known.number == found.number) else {
        all.push(found);
        return;
    };
    known.made |= found.made;
    known.merged |= found.merged;
    for (known, found) in [(&mut known.url, found.url), (&mut known.title, found.title)] {
        if known.is_empty() {
            *known = found;
        }
    }
}

fn number_of(url: &str) -> String {
    let behind = url.split_once("/pull/").map_or("", |(_, behind)| behind);
    behind.chars().take_while(char::is_ascii_digit).collect()
}
