//! What compactions dropped of a session: all of it, as it is asked for, and the most important of it at the prompt behind one.

use anyhow::Result;
use serde::Serialize;

use crate::analyze::dropped::{Compaction, Quote, compactions, last_compaction};
use crate::app::open_memory::OpenMemory;
use crate::app::prompt::{BUSY_TIMEOUT, PromptRequest};
use crate::app::session_start::{compacted_session, is_read_whole};
use crate::app::show::session_of;
use crate::config::{Config, PromptInjection};
use crate::policy::View;
use crate::render::dropped::{lines, notice};
use text::clean::{counted, id8};
use transcripts::session::Millis;

/// What the compactions of a session dropped. Times are milliseconds since the Unix epoch.
#[derive(Debug, Serialize)]
pub(crate) struct DroppedReply {
    /// The whole id.
    pub(crate) session: String,
    pub(crate) compactions: Vec<CompactionRecord>,
    /// What is missing of a session that is too long to be looked at whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) left_out: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct CompactionRecord {
    pub(crate) at: Option<Millis>,
    /// Was its summary kept whole? Of another, what it leaves out is not known.
    pub(crate) known: bool,
    /// What it leaves out and no summary before it did, best first.
    pub(crate) dropped: Vec<Quote>,
}

/// # Errors
/// When no session has this id, or several begin with it.
pub(crate) fn dropped(memory: &OpenMemory, id: &str) -> Result<DroppedReply> {
    let session = session_of(memory, id)?;
    let record =
        |one: Compaction| CompactionRecord { at: one.at, known: one.lacking.is_some(), dropped: one.lacking.unwrap_or_default() };
    Ok(DroppedReply {
        compactions: compactions(&session).into_iter().map(record).collect(),
        left_out: session.left_out.told(),
        session: session.id,
    })
}

/// What the session of a prompt is told of its last compaction; `None` if there is nothing, or if its summary is still the one with the key
/// `known`, so that what it leaves out cannot be known.
///
/// # Errors
/// When the index or the transcript cannot be read.
pub(crate) fn dropped_at_prompt(asked: &PromptRequest<'_>, config: &Config, known: &str) -> Result<Option<String>> {
    if config.hooks.prompt == PromptInjection::Off {
        return Ok(None);
    }
    // What was forgotten stands in the index: where there is one, it has to be read.
    let policy = config.policy(View::InFolder(asked.cwd));
    let opened = || OpenMemory::as_it_is(config, &policy, BUSY_TIMEOUT);
    let memory = if config.database().exists() { Some(opened()?) } else { None };
    let Some(session) = compacted_session(config, memory.as_ref(), asked.transcript, asked.session)? else { return Ok(None) };
    let last = last_compaction(&session).filter(|one| one.key.to_string() != known);
    let quotes = last.and_then(|one| one.lacking).unwrap_or_default();
    let time = |at| config.local_time(Some(at), "%Y-%m-%d %H:%M");
    Ok(notice(&quotes, &id8(asked.session), is_read_whole(asked.transcript), time))
}

impl DroppedReply {
    pub(crate) fn text(&self, config: &Config) -> String {
        if self.compactions.is_empty() {
            return format!("according to its records, session {} was not compacted\n", self.session);
        }
        let of = |one: &CompactionRecord| {
            let when = config.local_time(one.at, "%Y-%m-%d %H:%M");
            match (one.known, one.dropped.len()) {
                (false, _) => format!("Compacted {when}: its summary was not kept whole, so what it leaves out is not known\n"),
                (_, 0) => format!("Compacted {when}: the summary leaves out nothing that recall looks for\n"),
                (_, count) => format!(
                    "Compacted {when}: {} that the summary leaves out\n{}",
                    counted(count, "statement"),
                    lines(&one.dropped, |at| config.local_time(Some(at), "%Y-%m-%d %H:%M"))
                ),
            }
        };
        let all: Vec<String> = self.compactions.iter().map(of).collect();
        format!("Session {}\n\n{}", self.session, all.join("\n"))
    }
}
