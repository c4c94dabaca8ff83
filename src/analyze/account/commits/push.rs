//! Which commits a push took to the remote: those of the branches that it says it pushed, or was told to push and did not refuse. A dry
//! run takes none.

use super::{Commit, GitStep, History, Made, is_hash, is_same};
use crate::analyze::account::shell::{Call, Place};
use transcripts::shell::SHORT_HASH;

/// A step that pushes.
#[derive(Debug)]
pub(super) struct PushStep {
    place: Place,
    refs: PushedRefs,
    /// Its number among the steps of git of its call.
    at: usize,
    /// The branch that its place was on.
    on: Option<String>,
    /// The call went to no other branch before.
    stayed: bool,
    /// A later step may hide that it failed.
    masked: bool,
    is_dry: bool,
}

/// What a push was told to push.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PushedRefs {
    /// Nothing is named: the branch that it is on.
    Current,
    /// The names here; `HEAD` is the branch that it is on.
    Named(Vec<String>),
    All,
    /// Tags alone, or what it deletes there.
    NoBranch,
}

/// Options of a push that take a word.
const WITH_WORD: [&str; 5] = ["-o", "--push-option", "--repo", "--receive-pack", "--exec"];

impl PushStep {
    /// The last of the steps so far of a call.
    pub(super) fn of(steps: &[GitStep<'_>], on: Option<&str>) -> Option<Self> {
        let (step, before) = steps.split_last()?;
        let arguments = &step.words[2..];
        let is_dry = arguments.iter().any(|word| word == "--dry-run" || has_flag(word, 'n'));
        let stayed = before.iter().all(|step| !matches!(step.verb(), "checkout" | "switch"));
        let (place, masked, at) = (step.place.clone(), step.step.masked, before.len());
        Some(Self { place, refs: PushedRefs::of(arguments), at, on: on.map(str::to_owned), stayed, masked, is_dry })
    }
}

/// Is it a group of short options with this one among them?
fn has_flag(word: &str, flag: char) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(flag)
}

impl PushedRefs {
    fn of(arguments: &[String]) -> Self {
        let option = |names: &[&str]| arguments.iter().any(|word| names.contains(&word.as_str()));
        if option(&["--all", "--branches", "--mirror"]) {
            return Self::All;
        }
        let is_value = |at: usize| at > 0 && WITH_WORD.contains(&arguments[at - 1].as_str());
        let plain =
            arguments.iter().enumerate().filter(|(at, word)| !word.starts_with('-') && !is_value(*at)).map(|(_, word)| word);
        let names_remote = !option(&["--repo"]) && !arguments.iter().any(|word| word.starts_with("--repo="));
        let refs: Vec<&String> = plain.skip(usize::from(names_remote)).collect();
        if option(&["--delete", "-d"]) || refs.is_empty() && option(&["--tags"]) {
            return Self::NoBranch;
        }
        if refs.is_empty() { Self::Current } else { Self::Named(refs.into_iter().filter_map(|name| local_name(name)).collect()) }
    }
}

/// The branch here of `feat`, `+feat:main`, `refs/heads/feat`; `None` where it is deleted there, or what a shell would expand.
fn local_name(name: &str) -> Option<String> {
    if name.contains("--show-current") || name.contains("--abbrev-ref HEAD") {
        return Some("HEAD".to_owned());
    }
    let local = name.trim_start_matches('+').split(':').next().unwrap_or_default();
    let local = local.strip_prefix("refs/heads/").unwrap_or(local);
    let local = if local == "@" { "HEAD" } else { local };
    (!local.is_empty() && !local.contains(['$', '`'])).then(|| local.to_owned())
}

/// The lines of a call's pushes, without those of dry runs. Each push begins with where it pushes to; where that was cut off, it is not
/// known whose line is whose.
fn lines_of_pushes<'l>(pushes: &[PushStep], lines: &'l [String]) -> Vec<&'l str> {
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    match pushes.iter().filter(|push| push.is_dry).count() {
        0 => return lines,
        dry if dry == pushes.len() => return Vec::new(),
        _ => {}
    }
    let begins = |line: &&str| line.starts_with("To ") || is_up_to_date(line);
    let count = lines.iter().filter(|line| begins(line)).count();
    let mut told = pushes.iter().filter(|_| count == pushes.len());
    let mut is_told = false;
    let of_real = lines.into_iter().filter(|line| {
        if begins(line) {
            is_told = told.next().is_some_and(|push| !push.is_dry);
        }
        is_told
    });
    of_real.collect()
}

pub(super) fn is_up_to_date(line: &str) -> bool {
    line.contains("Everything up-to-date")
}

/// The pushes that reached the remote though no line names what they pushed: it was there already, or they were told to be quiet.
fn without_line<'p>(pushes: &'p [PushStep], told: &[&str], call: &Call<'_>) -> impl Iterator<Item = &'p PushStep> {
    let failed = |line: &&str| ["! [", "error: ", "fatal: "].iter().any(|start| line.starts_with(start));
    let refused = told.iter().any(failed);
    let was_there = pushes.len() == 1 && told.iter().any(|line| is_up_to_date(line));
    let ended_well = call.ended_well();
    pushes.iter().filter(move |push| !push.is_dry && !refused && (was_there || ended_well && !push.masked))
}

/// A line in which a push tells what it did to a branch.
#[derive(Debug)]
pub(super) struct Push {
    tip: Option<String>,
    /// The old side of a push that was forced.
    replaced: Option<String>,
    /// What was pushed, as it is called here; `HEAD` is the branch that it is on.
    local: String,
    /// What it is called there.
    remote: String,
}

impl Push {
    pub(super) fn of(line: &str) -> Option<Self> {
        let (left, right) = line.split_once(" -> ")?;
        let left = left.trim();
        let local = left.rsplit(' ').next()?;
        // A fetch names the remote on the right.
        if right.trim().split_once('/').is_some_and(|(remote, branch)| remote == "origin" || branch == local) {
            return None;
        }
        let (local, remote) = (local.to_owned(), right.split_whitespace().next().unwrap_or_default().to_owned());
        if left.starts_with("* [new branch]") || left.starts_with("* [new reference]") {
            return Some(Self { tip: None, replaced: None, local, remote });
        }
        let forced = left.strip_prefix("+ ");
        let range = forced.unwrap_or(left).split(' ').next()?;
        let (old, new) = range.split_once("...").or_else(|| range.split_once(".."))?;
        let replaced = forced.map(|_| old.to_owned());
        (is_hash(old) && is_hash(new)).then(|| Self { tip: Some(new.to_owned()), replaced, local, remote })
    }
}

/// A branch that is known to be on the remote.
#[derive(Debug)]
struct Reached<'s> {
    /// Missing where several places pushed: only a tip tells which one it was.
    place: Option<Place>,
    branch: &'s str,
    /// Is it called so here?
    is_local: bool,
    /// Its place was on this branch.
    is_current: bool,
    /// What later steps of the call made was not there yet.
    before: usize,
}

impl Reached<'_> {
    fn is_before(&self, made: &Made) -> bool {
        self.place.as_ref() == Some(&made.place) && made.step.is_none_or(|step| step < self.before)
    }

    fn took(&self, commit: &mut Commit) {
        commit.pushed = true;
        if commit.branch.is_empty() && self.is_local {
            self.branch.clone_into(&mut commit.branch);
        }
    }
}

impl History {
    /// What the pushes of a call took to the remote. Scripts push, too: their lines stand without a step.
    pub(super) fn pushed(&mut self, pushes: &[PushStep], lines: &[String], call: &Call<'_>) {
        let told = lines_of_pushes(pushes, lines);
        let rejected = told.iter().any(|line| line.starts_with("! ["));
        let shown: Vec<Push> = told.iter().filter(|_| !rejected).filter_map(|line| Push::of(line)).collect();
        let last = pushes.last();
        let place = last.map_or_else(Place::default, |last| last.place.clone());
        let place = Some(place).filter(|place| pushes.iter().all(|push| push.place == *place));
        let names_nothing = shown.len() == 1 && pushes.iter().all(|push| push.refs == PushedRefs::Current);
        for push in &shown {
            let on = last.and_then(|last| last.on.as_deref());
            let is_head = push.local == "HEAD";
            let reached = Reached {
                place: place.clone(),
                branch: if is_head { on.unwrap_or(&push.remote) } else { &push.local },
                is_local: !is_head || on.is_some(),
                is_current: is_head || names_nothing,
                before: last.map_or(usize::MAX, |last| last.at),
            };
            if reached.is_current && last.is_some_and(|last| last.stayed) {
                self.committed_on(&reached);
            }
            self.push(push, reached);
        }
        for push in without_line(pushes, &told, call) {
            self.push_without_line(push, shown.is_empty());
        }
    }

    /// Git knows better than the client on which branch a call committed and pushed.
    fn committed_on(&mut self, to: &Reached<'_>) {
        let all = self.made.iter_mut().chain(&mut self.unproven);
        for made in all.filter(|made| made.step.is_some() && to.is_before(made) && made.commit.branch.is_empty()) {
            (made.on, made.on_is_certain) = (Some(to.branch.to_owned()), to.is_local);
        }
    }

    fn push(&mut self, push: &Push, mut to: Reached<'_>) {
        let Some(tip) = &push.tip else { return self.reached(&to) };
        let is_tip = |made: &Made| is_same(&made.commit.hash, tip);
        if let Some(at) = self.made.iter().rposition(is_tip) {
            let (place, branch) = (self.made[at].place.clone(), self.made[at].branch().map(str::to_owned));
            to.took(&mut self.made[at].commit);
            // What its branch had before goes along.
            let goes_along = |made: &&mut Made| made.place == place && branch.is_some() && made.branch() == branch.as_deref();
            self.made[..at].iter_mut().filter(goes_along).for_each(|made| made.commit.pushed = true);
            if let Some(old) = &push.replaced {
                self.made.retain(|made| !is_same(&made.commit.hash, old));
            }
            to.place = Some(place);
        } else {
            self.adopt(tip, &to);
        }
        self.reached(&to);
    }

    /// The tip is the last commit of that branch: made anew since its hash was printed, or never printed before.
    fn adopt(&mut self, tip: &str, to: &Reached<'_>) {
        let may_be_only = to.is_current || self.branches.may_be_only(to.branch);
        let may_be = |made: &Made| to.is_before(made) && made.branch().map_or(may_be_only, |branch| branch == to.branch);
        let is_new = !self.seen.contains(&tip[..SHORT_HASH]);
        if let Some(at) = self.unproven.iter().rposition(may_be).filter(|_| is_new) {
            let made = self.unproven.remove(at);
            self.add(made);
        }
        let last = self.made.iter_mut().rev().find(|made| may_be(made));
        if let Some(made) = last.filter(|made| made.commit.hash_is_stale || made.commit.hash.is_empty()) {
            tip.clone_into(&mut made.commit.hash);
            made.commit.hash_is_stale = false;
            to.took(&mut made.commit);
        }
    }

    /// The commits of a branch are on the remote. One of an unknown branch is on this one if no other was told, or if it was made right
    /// before on what is checked out.
    fn reached(&mut self, to: &Reached<'_>) {
        let may_be_only = self.branches.may_be_only(to.branch);
        for made in self.made.iter_mut().filter(|made| to.is_before(made) && !made.commit.pushed) {
            let is_unknown = made.branch().is_none();
            if is_unknown && (may_be_only || to.is_current && made.step.is_some()) {
                to.took(&mut made.commit);
            }
            made.commit.pushed |= made.is_on(to.branch);
        }
    }

    fn push_without_line(&mut self, push: &PushStep, nothing_shown: bool) {
        let before = push.at;
        let reached = |branch, is_current| Reached { place: Some(push.place.clone()), branch, is_local: true, is_current, before };
        match (&push.refs, &push.on) {
            (PushedRefs::Named(names), on) => {
                for name in names {
                    match on {
                        _ if name != "HEAD" => self.reached(&reached(name, false)),
                        Some(on) => self.reached(&reached(on, true)),
                        None => self.reached_of_call(push),
                    }
                }
            }
            (PushedRefs::Current, Some(on)) if nothing_shown => self.reached(&reached(on, true)),
            (PushedRefs::Current, None) if nothing_shown => self.reached_of_call(push),
            (PushedRefs::All, _) => {
                let all = self.made.iter_mut().filter(|made| reached("", false).is_before(made));
                all.for_each(|made| made.commit.pushed = true);
            }
            (PushedRefs::Current | PushedRefs::NoBranch, _) => {}
        }
    }

    /// What a call committed and pushed, on whatever branch.
    fn reached_of_call(&mut self, push: &PushStep) {
        let is_of_call = |made: &Made| made.place == push.place && made.step.is_some_and(|step| step < push.at);
        let all = self.made.iter_mut().filter(|made| push.stayed && is_of_call(made) && made.branch().is_none());
        all.for_each(|made| made.commit.pushed = true);
    }
}
