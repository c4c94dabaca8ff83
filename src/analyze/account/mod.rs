//! The account of a session: what was said and done, by whom and when, from its rows alone. Nothing is filed under a heading that
//! judges it, and nothing is claimed that no row shows.
//!
//! ## Invariants
//! - The words of a person are those of the rows in which they spoke, the assistant's those of its replies; nobody else is quoted.
//! - "Not seen" is said only of what would have been seen: see [`SessionAccount::evident`].
//! - A session that goes on has no end: its last turn lacks nothing.

mod commits;
mod files;
mod later;
mod object;
mod open;
mod own_words;
mod pull_requests;
mod runs;
mod seen;
mod shell;
mod short;
#[cfg(test)]
mod tests;
mod title;
mod to_store;
mod turns;

use serde::{Deserialize, Serialize};

pub(crate) use self::commits::{Commit, undoes};
pub(crate) use self::files::EditedFiles;
pub(crate) use self::later::{LaterEvidence, RenamedCommit};
#[cfg(test)]
pub(crate) use self::object::PromptObject;
pub(crate) use self::object::object_of;
pub(crate) use self::open::{OpenEnd, Task, is_task, tasks};
pub(crate) use self::own_words::{tells_something, without_pasted};
pub(crate) use self::pull_requests::PullRequest;
pub(crate) use self::runs::LastRun;
pub(crate) use self::seen::SeenCommit;
pub(crate) use self::shell::check_calls;
pub(crate) use self::title::TitleParts;
pub use self::to_store::AccountToStore;
pub(crate) use self::turns::{
    ClosingReply, Turn, Word, WordKind, all_turns, ending_replies, is_typed, last_reply, longer_reply, name_of_last_reply,
};
use crate::analyze::use_of_told::Receipt;
use transcripts::client::Client;
use transcripts::session::{Millis, Session};

/// The number of the rules by which accounts, and digests without a model, are made. Stored ones of another number are made again from
/// their session's rows, so raise it with whatever changes what they hold or how they are written.
pub(crate) const ACCOUNT_RULES: u32 = 34;

/// What can be told of a session without judging it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionAccount {
    /// Whose session it is.
    #[serde(default, skip_serializing_if = "Client::is_usual")]
    pub client: Client,
    pub title: TitleParts,
    /// The one it was on last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// In order; the first one has no words if the session's beginning is not known.
    pub turns: Vec<Turn>,
    /// When those turns began that [`SessionAccount::shortened`] left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) turns_left_out: Vec<Millis>,
    /// Those that stand at the end, in order.
    pub commits: Vec<Commit>,
    /// Commits were made, and none of them stands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) all_undone: bool,
    pub pull_requests: Vec<PullRequest>,
    /// What git showed, whoever made it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<SeenCommit>,
    /// Checks, each as it ended last.
    pub runs: Vec<LastRun>,
    pub files: EditedFiles,
    /// What was left, by what can be counted.
    pub open: Vec<OpenEnd>,
    /// Whatever was done was seen: what is not there did not happen.
    pub evident: bool,
    pub goes_on: bool,
    /// What it was told by our hooks, and what of that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
}

impl SessionAccount {
    /// The replies that closed its turns.
    pub(crate) fn replies(&self) -> impl Iterator<Item = &str> {
        self.turns.iter().filter_map(|turn| turn.reply.as_ref()).map(|reply| reply.text.as_str())
    }

    /// When its turns began, of all whose time is known.
    pub(crate) fn turn_times(&self) -> impl Iterator<Item = Millis> {
        let kept = self.turns.iter().filter(|turn| turn.number > 0).filter_map(|turn| turn.at);
        kept.chain(self.turns_left_out.iter().copied())
    }

    /// The number of the turn in which something happened.
    pub(crate) fn turn_at(&self, at: Option<Millis>) -> usize {
        runs::number_at(&self.turns, at)
    }

    /// Does the item of a digest stand for a task that is open?
    pub(crate) fn has_task(&self, item: &str) -> bool {
        self.open.iter().filter_map(OpenEnd::task).any(|task| is_task(item, task))
    }

    /// Leaves out tasks that are no longer open.
    pub(crate) fn leave_out_tasks(&mut self, is_settled: impl Fn(&str) -> bool) {
        self.open.retain(|open| open.task().is_none_or(|task| !is_settled(task)));
    }

    /// The account of a session that `goes_on` or is over.
    ///
    /// What another machine told of a session stands as it was told.
    pub fn of(session: &Session, goes_on: bool) -> Self {
        if session.told.is_some() {
            return AccountToStore::told_elsewhere(session).map(|told| told.account).unwrap_or_default();
        }
        let calls = shell::calls(session);
        let turns = turns::of(session);
        let (commits, all_undone) = commits::of(session, &calls, &turns);
        let pull_requests = pull_requests::of(session, &calls, &turns, &commits);
        let runs = runs::of(session, &calls, &turns);
        let files = files::of(session, &calls, &turns, commits.last().and_then(|commit| commit.at));
        let title = title::of(session, &turns, &commits, &pull_requests, &files);
        let open = if goes_on { Vec::new() } else { open::of(session, &turns) };
        let branch = session.branches.last().cloned();
        let seen = seen::of(&calls);
        let receipt = Receipt::of(session, &turns);
        let evident = session.evident;
        let client = session.client;
        let turns_left_out = Vec::new();
        Self {
            client,
            title,
            branch,
            turns,
            turns_left_out,
            commits,
            all_undone,
            pull_requests,
            seen,
            runs,
            files,
            open,
            evident,
            goes_on,
            receipt,
        }
    }
}
