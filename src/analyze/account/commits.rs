//! Commits that stand at the end, from what git printed.
//!
//! A commit is known by its subject. Its hash is the last one that any line of git shows for that subject; what a rebase made anew and
//! nothing showed since has none that can be relied on. What a rebase applies is the session's own if it had committed it before.
//!
//! A commit is pushed where a push that was no dry run took its branch along, or that of a merge into which it went. What a revert undid,
//! or went with a branch, stands no more, and neither does the revert.

mod branches;
mod push;
mod undone;

use std::collections::{HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use self::branches::{Branches, begins_branch, switched_to};
use self::push::{Push, PushStep, is_up_to_date};
use self::undone::merged_by;
pub(crate) use self::undone::{is_revert, standing, undoes};
use super::runs::number_at;
use super::shell::{Call, Place, words};
use super::turns::Turn;
use transcripts::session::{Millis, Session, ShellStep, StepKind};
use transcripts::shell::{SHORT_HASH, is_hash};

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
    /// The folder in which it was made, if that is not in the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<String>,
}

/// Lines that end a message, and that tools add.
const TRAILERS: [&str; 9] = [
    "Co-Authored-By:", "Co-authored-by:", "Signed-off-by:", "Generated with", "🤖", "Claude-Session:", "Reviewed-by:",
    "Assisted-by:", "Change-Id:",
];

/// The commits that stand, and whether some were made of which none does.
pub(super) fn of(session: &Session, calls: &[Call<'_>], turns: &[Turn]) -> (Vec<Commit>, bool) {
    let mut history = History { branches: Branches::of(session), ..History::default() };
    for call in calls {
        history.call(session, call, number_at(turns, call.at));
    }
    let commits = standing(history.made.into_iter().map(Made::told));
    let all_undone = history.has_committed && commits.is_empty();
    (commits, all_undone)
}

/// The commits so far.
#[derive(Default)]
struct History {
    made: Vec<Made>,
    /// Of commands that may have failed: a line that shows them proves them.
    unproven: Vec<Made>,
    /// The commits as they were before the rebase that is stopped now.
    rebasing: Option<Vec<Made>>,
    /// Beginnings of all hashes that were shown.
    seen: HashSet<String>,
    branches: Branches,
    /// Something was committed, whatever became of it.
    has_committed: bool,
}

#[derive(Debug, Clone, Default)]
struct Made {
    commit: Commit,
    place: Place,
    /// Its hash is from the rebase that is stopped now.
    replayed: bool,
    /// The branch that its place was on, if that is known.
    on: Option<String>,
    /// Git, or a client that says so before each command, told that branch of the very folder.
    on_is_certain: bool,
    /// Since it was made, something came here that may hold it, such as what others merged.
    may_be_merged: bool,
    /// Branches that it came into by a merge.
    merged_into: Vec<String>,
    /// The step that made it, if that is one of the call that is looked at.
    step: Option<usize>,
}

impl Made {
    /// With its place and, where git printed no branch, the one that was certainly checked out.
    fn told(self) -> Commit {
        let Self { mut commit, place, on, on_is_certain, .. } = self;
        if let Some(on) = on.filter(|_| on_is_certain && commit.branch.is_empty()) {
            commit.branch = on;
        }
        Commit { elsewhere: place.elsewhere(), ..commit }
    }

    fn branch(&self) -> Option<&str> {
        Some(self.commit.branch.as_str()).filter(|branch| !branch.is_empty()).or(self.on.as_deref())
    }

    fn is_on(&self, branch: &str) -> bool {
        self.branch() == Some(branch) || self.merged_into.iter().any(|into| into == branch)
    }
}

/// A step of git with where it ran.
struct GitStep<'s> {
    step: &'s ShellStep,
    words: Vec<String>,
    place: Place,
    /// The same as a full path.
    folder: String,
}

impl GitStep<'_> {
    fn verb(&self) -> &str {
        self.words.get(1).map_or("", String::as_str)
    }
}

/// Can a step bring here what others merged meanwhile, or what another branch has?
fn may_bring(words: &[String]) -> bool {
    match words.get(1).map_or("", String::as_str) {
        "pr" => words.get(2).is_some_and(|what| what == "merge"),
        verb => matches!(verb, "pull" | "fetch" | "cherry-pick"),
    }
}

impl History {
    fn call(&mut self, session: &Session, call: &Call<'_>, turn: usize) {
        let lines: &[String] = call.print.map_or(&[], |print| &print.git);
        let of_git = call.steps.iter().filter(|step| step.kind == StepKind::Git);
        let of_step =
            |step| GitStep { step, words: words(step), place: Place::of(session, &step.folder), folder: call.folder_of(step) };
        let steps: Vec<GitStep<'_>> = of_git.map(of_step).collect();
        let mut shown: VecDeque<Commit> = lines.iter().filter_map(|line| committed(line)).collect();
        let mut counts = lines.iter().filter_map(|line| files_changed(line));
        let mut switches = lines.iter().filter_map(|line| switched_to(line));
        let mut pushes: Vec<PushStep> = Vec::new();
        let mut here = Place::default();
        self.branches.begin(call);
        self.made.iter_mut().chain(&mut self.unproven).for_each(|made| made.step = None);
        for (n, step) in steps.iter().enumerate() {
            here.clone_from(&step.place);
            let succeeded = call.ended_well() && !step.step.masked;
            if may_bring(&step.words) {
                self.made.iter_mut().filter(|made| made.place == step.place).for_each(|made| made.may_be_merged = true);
            }
            match step.verb() {
                "checkout" | "switch" => self.switch(step, &mut switches, succeeded),
                "branch" => self.branch(step, lines, succeeded),
                "pr" if leaves_branch(&step.words) => self.branches.put(&step.place, None),
                "merge" => self.merge(step, lines, succeeded),
                "push" => pushes.extend(PushStep::of(&steps[..=n], self.branches.at(&step.place))),
                "commit" | "cherry-pick" | "revert" | "am" => {
                    for (mut commit, is_proven) in self.committed_by(&steps[n..], &mut shown, lines, call) {
                        (commit.at, commit.turn) = (call.at, turn);
                        commit.files = if is_proven { counts.next() } else { None };
                        self.commit(commit, is_proven, step, n);
                    }
                }
                "reset" if !call.failed => self.reset(&step.words[2..], lines, &step.place),
                "rebase" => self.rebase(step, lines, shown.drain(..).collect(), call.failed),
                "pull" if lines.iter().any(|line| line.contains("Successfully rebased")) => {
                    let of_place = |made: &&mut Made| made.place == step.place && !made.commit.pushed;
                    self.made.iter_mut().filter(of_place).for_each(|made| made.commit.hash_is_stale = true);
                }
                _ => {}
            }
        }
        // Shown without a step that is known to make commits: by an alias, a script, a hook. In a rebase they are anybody's.
        for mut commit in shown {
            if self.rebasing.is_some() {
                self.replayed(commit);
            } else {
                (commit.at, commit.turn) = (call.at, turn);
                self.add(Made { commit, place: here.clone(), ..Made::default() });
            }
        }
        // The newest stands first: an older commit of the same name is another one.
        let mut subjects = HashSet::new();
        let is_newest = |line: &&String| Shown::of(line).is_none_or(|shown| subjects.insert(shown.subject.to_owned()));
        lines.iter().filter(is_newest).for_each(|line| self.shown(line));
        self.rev_parsed(&steps, lines);
        self.pushed(&pushes, lines, call);
        self.up_to_date(&steps, lines, call);
        self.seen.extend(lines.iter().flat_map(|line| hashes(line)).map(|hash| hash[..SHORT_HASH].to_owned()));
    }

    /// The commits of a step, each with whether it is known to have been made: those that were shown, or else what the step was to do.
    /// `steps` begin with its own.
    fn committed_by(
        &self,
        steps: &[GitStep<'_>],
        shown: &mut VecDeque<Commit>,
        lines: &[String],
        call: &Call<'_>,
    ) -> Vec<(Commit, bool)> {
        let [step, ..] = steps else { return Vec::new() };
        let count = if step.verb() == "commit" { shown.len().min(1) } else { shown.len() };
        let told: Vec<(Commit, bool)> = shown.drain(..count).map(|commit| (commit, true)).collect();
        if !told.is_empty() {
            return told;
        }
        let reverts = step.verb() == "revert" && call.ended_well() && !step.step.masked;
        let reverts = if reverts { self.quiet_reverts(step) } else { Vec::new() };
        quiet_commit(steps, call, lines).into_iter().chain(reverts.into_iter().map(|commit| (commit, true))).collect()
    }

    /// What a step committed, or may have committed.
    fn commit(&mut self, mut commit: Commit, is_proven: bool, step: &GitStep<'_>, n: usize) {
        if !commit.branch.is_empty() {
            self.branches.put_in(&step.place, &step.folder, Some(commit.branch.clone()));
        }
        let on = self.branches.shown_at(&step.place).map(str::to_owned);
        if let (Some(merged), Some(into)) = (merged_by(&commit.subject), &on) {
            self.came_into(&step.place, &[merged], into);
        }
        let message = &step.step.message;
        if subject_of(message) == commit.subject {
            commit.body = body_of(message);
        }
        let is_known = |made: &Made| made.commit.subject == commit.subject;
        // What a stopped rebase applies without a message of the session's may be anybody's.
        if self.rebasing.is_some() && message.is_empty() && !self.made.iter().any(is_known) {
            return;
        }
        let amends = step.words.iter().any(|word| word == "--amend");
        if amends && is_proven && !self.made.iter().any(is_known) {
            let last = self.made.iter().rposition(|made| made.place == step.place);
            if let Some(last) = last.map(|last| self.made.remove(last).commit) {
                if commit.subject.is_empty() {
                    commit.subject = last.subject;
                }
                if commit.body.is_empty() {
                    commit.body = last.body;
                }
            }
        }
        let on_is_certain = self.branches.is_certain(&step.place, &step.folder);
        let (place, replayed) = (step.place.clone(), self.rebasing.is_some());
        let made = Made { commit, place, replayed, on, on_is_certain, step: Some(n), ..Made::default() };
        if is_proven {
            self.add(made);
        } else if !amends {
            self.unproven.push(made);
        }
    }

    fn add(&mut self, mut made: Made) {
        let subject = &made.commit.subject;
        if subject.is_empty() {
            return;
        }
        self.has_committed = true;
        // Two repositories may have commits of one name.
        let is_other = |known: &Made| {
            known.place != made.place && !known.commit.hash.is_empty() && !is_same(&known.commit.hash, &made.commit.hash)
        };
        let is_same = |known: &Made| known.commit.subject == *subject && !is_other(known);
        self.unproven.retain(|unproven| !is_same(unproven));
        match self.made.iter().position(is_same) {
            // Made anew in a rebase, it stays where it was.
            Some(at) if made.replayed => {
                let known = &mut self.made[at];
                known.replayed = true;
                (known.commit.hash, known.commit.hash_is_stale, known.commit.pushed) = (made.commit.hash, false, false);
                // It may hold other files than before.
                known.commit.files = made.commit.files;
            }
            Some(at) => {
                let known = self.made.remove(at).commit;
                // Made again after a revert, it is not what that undid.
                let revert = self.made[at..].iter().position(|later| later.place == made.place && undoes(&later.commit, &known));
                if let Some(revert) = revert {
                    self.made.remove(at + revert);
                }
                if made.commit.body.is_empty() {
                    made.commit.body = known.body;
                }
                made.commit.files = made.commit.files.or(known.files);
                self.made.push(made);
            }
            None => self.made.push(made),
        }
    }

    /// A commit that a rebase applied: the session's own has a new hash.
    fn replayed(&mut self, commit: Commit) {
        if let Some(made) = self.made.iter_mut().find(|made| made.commit.subject == commit.subject) {
            made.replayed = true;
            (made.commit.hash, made.commit.hash_is_stale, made.commit.pushed) = (commit.hash, false, false);
            made.commit.files = commit.files;
        }
    }

    fn rebase(&mut self, step: &GitStep<'_>, lines: &[String], applied: Vec<Commit>, failed: bool) {
        let says = |part: &str| lines.iter().any(|line| line.contains(part));
        let option = |name: &str| step.words.iter().any(|word| word == name);
        let before = if option("--abort") {
            if let Some(before) = self.rebasing.take().filter(|_| !failed) {
                self.made = before;
            }
            return;
        } else if ["--continue", "--skip", "--quit", "--edit-todo"].into_iter().any(option) {
            self.rebasing.take().unwrap_or_else(|| self.made.clone())
        } else {
            self.made.iter_mut().for_each(|made| made.replayed = false);
            self.made.clone()
        };
        applied.into_iter().for_each(|commit| self.replayed(commit));
        if says("Successfully rebased") {
            if let Some(into) = self.branches.at(&step.place).map(str::to_owned) {
                let names: Vec<&str> = step.words[2..].iter().map(String::as_str).collect();
                self.came_into(&step.place, &names, &into);
            }
            let anew = self.made.iter_mut().filter(|made| made.place == step.place && !made.replayed);
            anew.for_each(|made| made.commit.hash_is_stale = true);
        } else if says("could not apply") || says("CONFLICT ") || says("Stopped at ") {
            self.rebasing = Some(before);
        }
    }

    fn reset(&mut self, arguments: &[String], lines: &[String], place: &Place) {
        let mut named = arguments.iter().filter(|word| !word.starts_with('-'));
        let (target, more) = (named.next(), named.next());
        let moves = arguments.iter().any(|word| matches!(word.as_str(), "--hard" | "--soft" | "--mixed" | "--keep"));
        // With a path it moves nothing.
        let Some(target) = target.filter(|_| moves || more.is_none()).filter(|_| more.is_none()) else { return };
        let head =
            lines.iter().find_map(|line| line.trim().strip_prefix("HEAD is now at ")).and_then(|rest| rest.split(' ').next());
        let current = self.branches.at(place).map(str::to_owned);
        let is_other = |made: &Made| current.as_deref().zip(made.branch()).is_some_and(|(current, own)| current != own);
        let is_here = |made: &Made| made.place == *place && !is_other(made);
        let here: Vec<&Commit> = self.made.iter().filter(|made| is_here(made)).map(|made| &made.commit).collect();
        let at = |hash: &str| here.iter().position(|commit| is_same(&commit.hash, hash));
        let back = || steps_back_from_head(target);
        let keep = match (head.and_then(at), back(), at(target)) {
            (Some(at), ..) => at + 1,
            (_, Some(back), _) => here.len().saturating_sub(back),
            (.., Some(at)) => at + 1,
            // A branch, or a commit from before: what had not reached a remote is gone.
            _ => here.iter().rposition(|commit| commit.pushed).map_or(0, |at| at + 1),
        };
        let mut n = 0;
        self.made.retain(|made| {
            n += usize::from(is_here(made));
            !is_here(made) || n <= keep
        });
        self.unproven.clear();
    }

    /// A line that shows a hash beside a subject.
    fn shown(&mut self, line: &str) {
        let Some(shown) = Shown::of(line) else { return };
        let is_it = |made: &Made| made.commit.subject == shown.subject;
        if let Some(at) = self.unproven.iter().position(is_it) {
            let made = self.unproven.remove(at);
            self.add(made);
        }
        if let Some(made) = self.made.iter_mut().find(|made| is_it(made)) {
            // Somebody made it anew: it may hold other files.
            if !made.commit.hash.is_empty() && !is_same(&made.commit.hash, shown.hash) {
                made.commit.files = None;
            }
            shown.hash.clone_into(&mut made.commit.hash);
            made.commit.hash_is_stale = false;
            made.commit.pushed |= shown.on_remote;
            if let Some(branch) = shown.branch.filter(|_| made.commit.branch.is_empty()) {
                branch.clone_into(&mut made.commit.branch);
            }
        }
    }

    /// `git commit -q … && git rev-parse HEAD`
    fn rev_parsed(&mut self, steps: &[GitStep<'_>], lines: &[String]) {
        let Some((asks, before)) = steps.iter().rev().find(|step| step.verb() == "rev-parse").map(|step| (step, steps)) else {
            return;
        };
        let of_head = asks.words.iter().any(|word| word == "HEAD") && before.iter().any(|step| step.verb() == "commit");
        let mut alone = lines.iter().map(|line| line.trim()).filter(|line| is_hash(line));
        let (Some(hash), None) = (alone.next(), alone.next()) else { return };
        let last = self.made.iter_mut().rev().find(|made| made.place == asks.place);
        if let Some(made) = last.filter(|made| of_head && made.commit.hash.is_empty()) {
            hash.clone_into(&mut made.commit.hash);
        }
    }

    /// `git merge`: the commits of a branch are on this one, too.
    fn merge(&mut self, step: &GitStep<'_>, lines: &[String], succeeded: bool) {
        let option = |name: &str| step.words.iter().any(|word| word == name);
        let says = |parts: &[&str]| lines.iter().any(|line| parts.iter().any(|part| line.contains(part)));
        let merged = succeeded || says(&["Fast-forward", "Merge made by ", "Already up to date"]);
        let stopped = says(&["CONFLICT ", "Automatic merge failed", "Aborting"]);
        if !merged || stopped || ["--squash", "--no-commit", "--abort", "--quit"].into_iter().any(option) {
            return;
        }
        let Some(into) = self.branches.at(&step.place).map(str::to_owned) else { return };
        let names: Vec<&str> = step.words[2..].iter().map(|name| name.strip_prefix("origin/").unwrap_or(name)).collect();
        self.came_into(&step.place, &names, &into);
    }

    /// A branch that begins here has what this one has.
    fn switch(&mut self, step: &GitStep<'_>, shown: &mut impl Iterator<Item = String>, succeeded: bool) {
        let before = self.branches.at(&step.place).map(str::to_owned);
        self.branches.switch(step, shown, succeeded);
        let names = step.words[2..].iter().map(String::as_str).filter(|word| !word.starts_with('-'));
        let from = names.skip(1).map(str::to_owned).next().or(before);
        if let (true, Some(from), Some(into)) = (begins_branch(step), from, self.branches.shown_at(&step.place).map(str::to_owned))
        {
            self.came_into(&step.place, &[&from], &into);
        }
    }

    /// `Your branch is up to date with 'origin/main'.`
    fn up_to_date(&mut self, steps: &[GitStep<'_>], lines: &[String], call: &Call<'_>) {
        let named = |line: &String| {
            let upstream = line.strip_prefix("Your branch is up to date with '")?.split('\'').next()?;
            Some(upstream.split_once('/')?.1.to_owned())
        };
        let Some((at, branch)) = lines.iter().enumerate().rev().find_map(|(at, line)| Some((at, named(line)?))) else { return };
        let Some(place) = steps.iter().rev().find(|step| step.verb() != "push").map(|step| step.place.clone()) else { return };
        let ends_with_status = steps.last().is_some_and(|step| step.verb() == "status");
        // A commit of this call is meant if it was made before the line.
        let later: HashSet<String> = lines[at..].iter().filter_map(|line| committed(line)).map(|commit| commit.subject).collect();
        // What this call merged came later.
        let is_on = |made: &Made| made.branch().or(self.branches.only()) == Some(branch.as_str());
        let is_before = |commit: &Commit| commit.at != call.at || ends_with_status && !later.contains(&commit.subject);
        let all = self.made.iter_mut().filter(|made| made.place == place);
        for made in all.filter(|made| is_on(made) && is_before(&made.commit)) {
            made.commit.pushed = true;
        }
    }
}

/// A commit of which git printed nothing: by its message, and whether it is known to have succeeded. `steps` begin with its own.
fn quiet_commit(steps: &[GitStep<'_>], call: &Call<'_>, lines: &[String]) -> Option<(Commit, bool)> {
    let [own, later @ ..] = steps else { return None };
    let step = own.step;
    let subject = subject_of(&step.message);
    let amends = step.line.contains("--amend");
    if subject.is_empty() && !amends || step.line.contains("--dry-run") {
        return None;
    }
    let next_ran = step.needed && later.first().is_some_and(|next| has_run(next.verb(), lines));
    let refused = lines.iter().any(|line| {
        let line = line.trim_start();
        ["nothing to commit", "no changes added", "Aborting", "fatal: ", "error: "].iter().any(|start| line.starts_with(start))
    });
    if !next_ran && (refused || call.failed) {
        return None;
    }
    let shown = lines.iter().filter_map(|line| Shown::of(line)).find(|shown| !subject.is_empty() && shown.subject == subject);
    // Where a later step hides the exit code, only a line that could not be there without it proves it.
    let is_proven = next_ran || shown.is_some() || !step.masked && call.print.is_some();
    let hash = shown.map_or_else(String::new, |shown| shown.hash.to_owned());
    Some((Commit { hash, subject: subject.to_owned(), ..Commit::default() }, is_proven))
}

/// Do lines show that a step of git ran?
fn has_run(verb: &str, lines: &[String]) -> bool {
    lines.iter().any(|line| match verb {
        "push" => Push::of(line).is_some() || is_up_to_date(line) || line.trim_start().starts_with("! ["),
        "log" | "rev-parse" => is_hash(line.trim()) || Shown::of(line).is_some(),
        "commit" => committed(line).is_some(),
        _ => false,
    })
}

/// `gh pr checkout`, and what deletes the branch of a pull request: which branch it goes to is not told.
fn leaves_branch(words: &[String]) -> bool {
    let deletes = words.iter().any(|word| matches!(word.as_str(), "-d" | "--delete-branch"));
    match words.get(2).map(String::as_str) {
        Some("checkout") => true,
        Some("merge" | "close") => deletes,
        _ => false,
    }
}

fn subject_of(message: &str) -> &str {
    message.lines().next().unwrap_or_default().trim()
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

/// `1a2b3c4 subject`, `* 1a2b3c4 (HEAD -> main, origin/main) subject`, `HEAD is now at 1a2b3c4 subject`.
pub(super) struct Shown<'l> {
    pub(super) hash: &'l str,
    pub(super) subject: &'l str,
    branch: Option<&'l str>,
    on_remote: bool,
}

impl<'l> Shown<'l> {
    pub(super) fn of(line: &'l str) -> Option<Self> {
        let line = line.trim().trim_start_matches(['*', '|', '/', '\\', ' ']);
        let line = line.strip_prefix("HEAD is now at ").unwrap_or(line);
        let (hash, rest) = line.split_once(' ')?;
        let rest = rest.trim_start();
        let (refs, subject) = rest.strip_prefix('(').and_then(|rest| rest.split_once(") ")).unwrap_or(("", rest));
        let mut refs = refs.split(", ");
        let branch = refs.clone().find_map(|name| name.strip_prefix("HEAD -> "));
        let on_remote = refs.any(|name| name.starts_with("origin/"));
        is_hash(hash).then_some(Self { hash, subject: subject.trim(), branch, on_remote })
    }
}

/// All hashes in a line.
fn hashes(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| is_hash(word))
}

/// Do two hashes, one of which may be shortened, name one commit?
pub(super) fn is_same(one: &str, other: &str) -> bool {
    one.len() >= SHORT_HASH && other.len() >= SHORT_HASH && (one.starts_with(other) || other.starts_with(one))
}

/// How many commits lie behind `HEAD`, `HEAD~2`, `@^`; `None` for anything else.
fn steps_back_from_head(name: &str) -> Option<usize> {
    name.strip_prefix("HEAD").or_else(|| name.strip_prefix('@')).and_then(steps_back)
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
