//! Sessions that ended in mid-work, or whose last reply names something as left. They are quoted: whether it still holds, nobody judges.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;

use crate::app::filter::ProjectFilter;
use crate::app::list::newest_first;
use crate::app::open_memory::OpenMemory;
use crate::render::quoted::end_in_words;
use transcripts::session::{Millis, said};

/// The most sessions of a project, newest first.
const MAX_OF_PROJECT: usize = 3;

/// The most characters of a prompt.
const MAX_ASKED_CHARS: usize = 200;

/// A session that was left.
#[derive(Debug, Serialize)]
pub(crate) struct LeftSession {
    pub(crate) session: String,
    /// When it was active last.
    pub(crate) at: Option<Millis>,
    /// How its last turn ended, if not with a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<String>,
    /// The last prompt of the user's, if the turn ended so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) asked: Option<String>,
    /// What its last reply names as left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) said: Option<String>,
}

impl LeftSession {
    /// How it ended, on one line.
    pub(crate) fn in_words(&self) -> String {
        let ended = self.ended.iter().map(|ended| match &self.asked {
            Some(asked) => format!("{ended}; asked: “{asked}”"),
            None => ended.clone(),
        });
        let said = self.said.iter().map(|said| format!("last reply: “{said}”"));
        ended.chain(said).collect::<Vec<_>>().join("; ")
    }
}

/// The newest sessions of each project that were left and were active since then, by the project's key.
pub(super) fn left_sessions(
    memory: &OpenMemory,
    filter: &ProjectFilter,
    since: Millis,
) -> Result<BTreeMap<String, Vec<LeftSession>>> {
    let mut heads = memory.0.session_heads_since(since)?;
    heads.retain(|head| filter.fits(&head.project));
    let mut all: BTreeMap<String, Vec<LeftSession>> = BTreeMap::new();
    for head in newest_first(&memory.0, heads)? {
        let is_full = all.get(&head.project.key).is_some_and(|left| left.len() >= MAX_OF_PROJECT);
        let goes_on = head.has_grown() || memory.0.digest_state(head.pk)?.is_none_or(|digest| digest.interim);
        // What another session repeats is told of that one.
        if is_full || goes_on || memory.0.repeated_by(head.pk)?.is_some() {
            continue;
        }
        let Some(account) = memory.0.account_of(head.pk)? else { continue };
        let ended = account.open.iter().find_map(end_in_words);
        let left = account.said_left();
        if ended.is_none() && left.is_none() {
            continue;
        }
        let asked = ended.as_ref().and_then(|_| account.last_prompt()).map(|words| said(words, MAX_ASKED_CHARS));
        let left = LeftSession { session: head.id.clone(), at: head.last_active(), ended, asked, said: left };
        all.entry(head.project.key).or_default().push(left);
    }
    Ok(all)
}
