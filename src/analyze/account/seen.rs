//! What git showed a session of commits that it need not have made: what became of an earlier session's work is often seen there.

use serde::{Deserialize, Serialize};

use super::commits::Shown;
use super::shell::Call;

/// The most commits that are kept: those shown last.
const MAX_COMMITS: usize = 40;
/// How git names the merge of a pull request.
const MERGE: &str = "Merge pull request #";

/// A commit as a line of git showed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenCommit {
    pub hash: String,
    pub subject: String,
}

impl SeenCommit {
    /// The number of the pull request that it merged.
    pub(crate) fn merged(&self) -> Option<&str> {
        self.subject.strip_prefix(MERGE)?.split(' ').next().filter(|number| !number.is_empty())
    }
}

/// Each subject once, as it was shown last.
pub(super) fn of(calls: &[Call<'_>]) -> Vec<SeenCommit> {
    let mut all: Vec<SeenCommit> = Vec::new();
    let lines = calls.iter().rev().filter_map(|call| call.print).flat_map(|print| print.git.iter().rev());
    for shown in lines.filter_map(|line| Shown::of(line)) {
        if all.len() == MAX_COMMITS {
            break;
        }
        if all.iter().all(|known| known.subject != shown.subject) {
            all.push(SeenCommit { hash: shown.hash.to_owned(), subject: shown.subject.to_owned() });
        }
    }
    all.reverse();
    all
}
