//! What sessions were told by our hooks, and what came of it, as their own transcripts show it.

use anyhow::Result;
use serde::Serialize;

use crate::analyze::use_of_told::Receipt;
use crate::app::list::title_of;
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use transcripts::session::Millis;

/// The most sessions that are looked through.
const MAX_SESSIONS: usize = 500;

/// A session that was told something.
#[derive(Debug, Serialize)]
pub(crate) struct ToldSession {
    /// The whole id.
    pub(crate) session: String,
    pub(crate) title: String,
    pub(crate) project: String,
    pub(crate) last_at: Option<Millis>,
    /// The same as local date and time.
    pub(crate) when: String,
    pub(crate) receipt: Receipt,
}

/// The sessions that were told something, the one active last first; of the newest [`MAX_SESSIONS`] that the memory shows.
///
/// # Errors
/// If the index cannot be read.
pub(crate) fn told_sessions(memory: &OpenMemory, config: &Config) -> Result<Vec<ToldSession>> {
    let store = &memory.0;
    let mut all = Vec::new();
    for head in &store.newest_session_heads(MAX_SESSIONS)? {
        let Some(receipt) = store.account_of(head.pk)?.and_then(|account| account.receipt) else { continue };
        all.push(ToldSession {
            session: head.id.clone(),
            title: title_of(store, head)?.unwrap_or_default(),
            project: head.project.name().to_owned(),
            last_at: head.last_active(),
            when: config.local_time(head.last_active(), "%Y-%m-%d %H:%M"),
            receipt,
        });
    }
    Ok(all)
}
