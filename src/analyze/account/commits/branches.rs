//! Which branch each place is on, as far as git or the client shows it.

use super::{GitStep, is_hash};
use crate::analyze::account::shell::{Call, Place};
use transcripts::client::Client;
use transcripts::session::Session;

/// Clients whose rows each name the branch of their time. Others tell the one that a session began on.
const TELL_BY_ROW: [Client; 3] = [Client::ClaudeCode, Client::Cowork, Client::QwenCode];

/// Of a place that is not in the list, nothing was shown.
#[derive(Debug, Default)]
pub(super) struct Branches {
    /// Those of the session, by its client.
    of_session: Vec<String>,
    /// `None`: it was left for a branch that nothing names.
    on: Vec<(Place, Option<String>)>,
    /// The folders in which those branches were shown first.
    shown_in: Vec<(Place, String)>,
    /// What the client said last of each place.
    told: Vec<(Place, String)>,
    /// Does the client say it anew before each command?
    is_told_by_row: bool,
    /// Was it seen when the session left a branch? Older indexes keep nothing of that.
    sees_switches: bool,
    /// Places of which the call that is looked at showed the branch.
    fresh: Vec<Place>,
}

impl Branches {
    pub(super) fn of(session: &Session) -> Self {
        let is_told_by_row = TELL_BY_ROW.contains(&session.client);
        Self { of_session: session.branches.clone(), is_told_by_row, ..Self::default() }
    }

    /// A call begins on the branch that the client names, if that is another one than before.
    pub(super) fn begin(&mut self, call: &Call<'_>) {
        self.fresh.clear();
        let Some(branch) = call.branch else { return };
        self.sees_switches = true;
        let told = (call.place.clone(), branch.to_owned());
        if !self.told.contains(&told) {
            self.put_in(&call.place, call.folder, Some(branch.to_owned()));
            self.told.retain(|(place, _)| *place != call.place);
            self.told.push(told);
        }
    }

    /// A place is on a branch, as this folder showed.
    pub(super) fn put_in(&mut self, place: &Place, folder: &str, branch: Option<String>) {
        // No two worktrees are on one branch.
        if branch.is_none() || self.shown_at(place) != branch.as_deref() {
            self.shown_in.retain(|(known, _)| known != place);
            self.shown_in.push((place.clone(), folder.to_owned()));
        }
        self.put(place, branch);
    }

    pub(super) fn put(&mut self, place: &Place, branch: Option<String>) {
        self.on.retain(|(known, _)| known != place);
        self.on.push((place.clone(), branch));
        self.fresh.push(place.clone());
    }

    /// The branch that a place is on: that of the session where nothing else was shown, and it was on no other.
    pub(super) fn at(&self, place: &Place) -> Option<&str> {
        let is_shown = self.on.iter().any(|(known, _)| known == place);
        self.shown_at(place).or(self.only().filter(|_| *place == Place::Here && !is_shown))
    }

    /// The branch that a place was shown to be on.
    pub(super) fn shown_at(&self, place: &Place) -> Option<&str> {
        let is_sure = self.of_session.len() < 2 || self.sees_switches || self.fresh.contains(place);
        let (_, branch) = self.on.iter().find(|(known, _)| known == place)?;
        branch.as_deref().filter(|_| is_sure)
    }

    /// Is the branch that a place was shown to be on that of this folder, and more than what a client said once, of a time before? Another
    /// folder of the place may be a worktree, or a repository, of its own.
    pub(super) fn is_certain(&self, place: &Place, folder: &str) -> bool {
        let is_told = |(known, branch): &(Place, String)| known == place && self.shown_at(place) == Some(branch);
        let is_of_folder = self.shown_in.iter().any(|(known, shown)| known == place && shown == folder);
        is_of_folder && (self.is_told_by_row || !self.told.iter().any(is_told))
    }

    /// The session's branch, if it was on no other.
    pub(super) fn only(&self) -> Option<&str> {
        if let [branch] = &self.of_session[..] { Some(branch) } else { None }
    }

    /// Was no branch told of the session but perhaps this one?
    pub(super) fn may_be_only(&self, branch: &str) -> bool {
        self.of_session.iter().all(|known| known == branch)
    }

    /// `git switch`, or `git checkout` of a branch. `shown` are the branches that git said it switched to, of which it takes its own.
    pub(super) fn switch(&mut self, step: &GitStep<'_>, shown: &mut impl Iterator<Item = String>, succeeded: bool) {
        let names: Vec<&str> = step.words[2..].iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
        match (shown.next(), names.first()) {
            (Some(branch), _) => self.put_in(&step.place, &step.folder, Some(branch)),
            (None, Some(name)) if succeeded && (begins_branch(step) || step.verb() == "switch" || self.is_known(name)) => {
                self.put_in(&step.place, &step.folder, Some((*name).to_owned()).filter(|name| !is_hash(name)));
            }
            // It may have failed, or have fetched a file of another state.
            _ => self.put_in(&step.place, &step.folder, None),
        }
    }

    fn is_known(&self, name: &str) -> bool {
        self.of_session.iter().any(|known| known == name) || self.on.iter().any(|(_, known)| known.as_deref() == Some(name))
    }
}

/// Does a switch begin a branch?
pub(super) fn begins_branch(step: &GitStep<'_>) -> bool {
    step.words.iter().any(|word| matches!(word.as_str(), "-b" | "-B" | "-c" | "-C" | "--create" | "--force-create"))
}

/// The branch that a line of git says it switched to.
pub(super) fn switched_to(line: &str) -> Option<String> {
    let line = line.trim();
    let starts = ["Switched to branch '", "Switched to a new branch '", "Switched to and reset branch '", "Already on '"];
    let behind = starts.iter().find_map(|start| line.strip_prefix(start))?;
    behind.split('\'').next().map(str::to_owned)
}
