//! What the rows tell of how things stood at the end: commits that stand, and checks as they ended last.

use std::collections::BTreeMap;

use crate::analyze::account::SessionAccount;
use transcripts::session::{Item, Millis, RecordKey, Session, ToolUse};

/// What a command was at the session's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fact {
    Commit,
    /// The last run of a check.
    LastRun,
    /// The same, before more files were edited.
    LastRunBeforeEdits,
}

impl Fact {
    /// What its line says of it, after the outcome.
    pub(super) fn told(self) -> &'static str {
        match self {
            Self::Commit => "",
            Self::LastRun => "; its last run",
            Self::LastRunBeforeEdits => "; its last run, files were edited after it",
        }
    }
}

/// The rows of commands that made a commit that stands, or ran a check for the last time.
pub(super) fn facts(session: &Session) -> BTreeMap<RecordKey, Fact> {
    let account = SessionAccount::of(session, false);
    let commits = account.commits.iter().map(|commit| (commit.at, Fact::Commit));
    let run = |edited_since| if edited_since { Fact::LastRunBeforeEdits } else { Fact::LastRun };
    let runs = account.runs.iter().map(|last| (last.at, run(last.edited_since)));
    let by_time: BTreeMap<Millis, Fact> = commits.chain(runs).filter_map(|(at, fact)| Some((at?, fact))).collect();
    let commands = session.entries.iter().filter(|entry| matches!(entry.item, Item::Tool(ToolUse { file: None, .. })));
    commands.filter_map(|entry| Some((entry.key, *by_time.get(&entry.at?)?))).collect()
}
