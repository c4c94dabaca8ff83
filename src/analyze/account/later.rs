//! What later sessions of a project know of an earlier one's commits and pull requests.

use std::collections::{HashMap, HashSet};

use super::SessionAccount;
use super::commits::{Commit, is_revert, is_same, undoes};
use super::pull_requests::PullRequest;
use transcripts::shell::SHORT_HASH;

/// The most pull requests of a session's line.
const MAX_PULL_REQUESTS: usize = 2;
/// A shorter subject may be that of another commit, in characters.
const TELLING_SUBJECT_CHARS: usize = 12;

/// A commit that was made anew: the hash that it had, and the one that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RenamedCommit {
    hash: String,
    now: String,
}

impl RenamedCommit {
    /// Does a text name it by the hash that it had?
    pub(crate) fn stands_in(&self, text: &str) -> bool {
        self.hash.get(..SHORT_HASH).is_some_and(|hash| text.contains(hash))
    }

    pub(crate) fn text(&self) -> String {
        format!("{} is {} now", self.hash, self.now)
    }
}

/// What the sessions so far, all later than the next one, know of commits and pull requests.
#[derive(Default)]
pub(crate) struct LaterEvidence {
    /// Hashes by subject.
    commits: HashMap<String, String>,
    /// Commits that stand, and undo others.
    reverts: Vec<Commit>,
    /// Numbers of pull requests of which git showed the merge.
    merged_by_git: HashSet<String>,
    merged: Vec<PullRequest>,
}

impl LaterEvidence {
    /// Takes out of an earlier session the commits that were undone since.
    pub(crate) fn leave_out_undone(&self, account: &mut SessionAccount) {
        let had_some = !account.commits.is_empty();
        account.commits.retain(|commit| !self.is_undone(commit));
        account.all_undone |= had_some && account.commits.is_empty();
    }

    /// Gives an earlier session's commits the hashes that they have now, and marks the pull requests that were merged since. Returns the
    /// hashes that are no more.
    pub(crate) fn amend(&self, account: &mut SessionAccount) -> Vec<RenamedCommit> {
        let renamed = self.renamed(account).collect();
        for commit in &mut account.commits {
            let Some(hash) = self.hash_of(commit).map(str::to_owned) else { continue };
            if !is_same(&commit.hash, &hash) {
                commit.files = None;
            }
            (commit.hash, commit.hash_is_stale) = (hash, false);
        }
        for pr in &mut account.pull_requests {
            pr.merged |= self.is_merged(pr);
        }
        renamed
    }

    /// The session's commits that have another hash now.
    pub(crate) fn renamed<'c>(&'c self, account: &'c SessionAccount) -> impl Iterator<Item = RenamedCommit> + 'c {
        account.commits.iter().filter_map(|commit| {
            let now = self.hash_of(commit).filter(|now| !commit.hash.is_empty() && !is_same(&commit.hash, now))?;
            Some(RenamedCommit { hash: commit.hash.clone(), now: now.to_owned() })
        })
    }

    /// The hash that a commit has now, if a later session knows it: its own where that is the same one.
    fn hash_of<'c>(&'c self, commit: &'c Commit) -> Option<&'c str> {
        let hash = self.commits.get(&commit.subject).filter(|_| commit.subject.chars().count() >= TELLING_SUBJECT_CHARS)?;
        let own = Some(&commit.hash).filter(|own| is_same(own, hash));
        Some(own.unwrap_or(hash))
    }

    /// The hash of the commit that a session's title names, and the pull requests that it made, as they are known now.
    pub(crate) fn made(&self, account: &SessionAccount) -> Vec<String> {
        let hash = account.main_commit().filter(|commit| !self.is_undone(commit)).and_then(|commit| {
            let own = Some(commit.hash.as_str()).filter(|hash| !commit.hash_is_stale && !hash.is_empty());
            self.hash_of(commit).or(own)
        });
        let state = |pr: &PullRequest| if self.is_merged(pr) { Some("merged") } else { pr.state() };
        let told =
            |pr: &PullRequest| format!("PR #{}{}", pr.number, state(pr).map(|state| format!(" {state}")).unwrap_or_default());
        let prs = account.pull_requests.iter().rev().filter(|pr| pr.made).take(MAX_PULL_REQUESTS).map(told);
        hash.map(|hash| format!("commit {hash}")).into_iter().chain(prs).collect()
    }

    fn is_undone(&self, commit: &Commit) -> bool {
        self.reverts.iter().any(|revert| undoes(revert, commit))
    }

    pub(crate) fn add(&mut self, account: &SessionAccount) {
        let reverts: Vec<Commit> = account.commits.iter().filter(|own| is_revert(own) && !self.is_undone(own)).cloned().collect();
        self.reverts.extend(reverts);
        let own = account.commits.iter().filter(|commit| !commit.hash.is_empty() && !commit.hash_is_stale);
        let own = own.map(|commit| (&commit.subject, &commit.hash));
        // What was made comes first: what was shown may be older.
        for (subject, hash) in own.chain(account.seen.iter().map(|seen| (&seen.subject, &seen.hash))) {
            self.commits.entry(subject.clone()).or_insert_with(|| hash.clone());
        }
        self.merged_by_git.extend(account.seen.iter().filter_map(|seen| seen.merged()).map(str::to_owned));
        self.merged.extend(account.pull_requests.iter().filter(|pr| pr.merged).cloned());
    }

    fn is_merged(&self, pr: &PullRequest) -> bool {
        pr.merged || self.merged_by_git.contains(&pr.number) || self.merged.iter().any(|merged| merged.is_same_as(pr))
    }
}
