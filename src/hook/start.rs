//! Answers a SessionStart event with what the session should know.

use std::mem::ManuallyDrop;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;

use super::payload::Payload;
use super::{answer_to, shows_line};
use crate::analyze::dropped::last_recap;
use crate::app::hook_state::{compaction, dedupe, log, seen};
use crate::app::open_memory::{OpenMemory, explained, waits_for_upgrade};
use crate::app::session_start::{ContextRequest, RenderedContext, StartMode, compacted_session, gather, gather_compacted};
use crate::config::Config;
use crate::policy::View;
use transcripts::client::Client;
use transcripts::session::Millis;
use transcripts::source::live_session;

const EVENT: &str = "session-start";
/// Time for which a statement waits for a lock. Must be less than the hook's deadline.
const BUSY_TIMEOUT: Duration = Duration::from_millis(100);
/// Bytes of a transcript's end that are searched for its last timestamp.
const TAIL_BYTES: u64 = 256 << 10;

/// The hook's answer; `None` if there is nothing to show. Transcripts are read until `until` at the latest.
pub(crate) fn answer(payload: &Payload, client: Client, config: &Config, until: Instant) -> Result<Option<String>> {
    let context = match payload.source.as_str() {
        // What a compaction dropped is looked for in the transcript, which only Claude Code's live sessions are read for.
        "compact" if client == Client::ClaudeCode => {
            seen::clear(&config.data_dir, &payload.session);
            let memory = OpenMemory::as_it_is(config, &config.policy(View::InFolder(&payload.cwd)), BUSY_TIMEOUT).ok();
            let session = compacted_session(config, memory.as_ref(), &payload.transcript, &payload.session)?;
            // The client writes the summary when this hook is done: the next prompt tells what that leaves out.
            let known = session.as_ref().and_then(last_recap);
            let noted = compaction::note(&config.data_dir, &payload.session, known);
            let _ = noted.inspect_err(|e| log::note(EVENT, &format!("{e:#}")));
            match session {
                Some(session) => gather_compacted(config, memory.as_ref(), &session, config.hooks.max_inject_tokens)?,
                None => RenderedContext::default(),
            }
        }
        source => {
            if source == "compact" {
                seen::clear(&config.data_dir, &payload.session);
            }
            from_index(payload, config, source, until)?
        }
    };
    if context.text.is_empty() {
        return Ok(None);
    }
    // The same hook may be installed for the user, the project and as a plugin: only one of them answers.
    if !dedupe::claim(&config.data_dir, &payload.session, &payload.source)? {
        return Ok(None);
    }
    if payload.source != "compact" {
        let ids = context.sessions_shown.iter().chain(&context.undigested_shown).map(String::as_str);
        // A failure here only means that a prompt may repeat it, which is no reason to stay silent now.
        let noted = seen::record(&config.data_dir, &payload.session, seen::ShownAs::Start, ids);
        let _ = noted.inspect_err(|e| log::note(EVENT, &format!("{e:#}")));
    }
    let mut answer = answer_to(client, "SessionStart", &context.text);
    // The client shows it to the user, and not to the model.
    let shows = config.hooks.start_line && payload.source != "compact" && shows_line(client);
    if let Some(line) = context.for_user.filter(|_| shows) {
        answer["systemMessage"] = json!(line);
    }
    Ok(Some(format!("{answer}\n")))
}

fn from_index(payload: &Payload, config: &Config, source: &str, until: Instant) -> Result<RenderedContext> {
    // Even without the index there is something to show: the session that just ended, and that digests fail.
    let policy = config.policy(View::InFolder(&payload.cwd));
    let opened = OpenMemory::as_it_is(config, &policy, BUSY_TIMEOUT).map_err(|e| explained(e, &config.database()));
    let opened = opened.inspect_err(|e| log::note(EVENT, &format!("{e:#}")));
    // Shown until the next digest upgrades the index, which may be long if nothing starts one.
    let notice = opened.as_ref().err().and_then(waits_for_upgrade);
    // Not closed: what that frees, the end of the process frees.
    let memory = ManuallyDrop::new(opened.ok());
    let start = match source {
        "resume" | "fork" => match last_active(payload, memory.as_ref())? {
            Some(at) => StartMode::Since(at),
            // A conversation of unknown age may contain everything already.
            None => return Ok(RenderedContext::default()),
        },
        _ => StartMode::Blank,
    };
    let asked = ContextRequest {
        cwd: &payload.cwd,
        session: Some(&payload.session),
        start,
        max_tokens: config.hooks.max_inject_tokens,
        now: config.now(),
        until,
        count: false,
        notice,
        live: true,
    };
    gather(config, memory.as_ref(), &asked)
}

/// When a continued conversation was last active, by its transcript or else by the index.
fn last_active(payload: &Payload, memory: Option<&OpenMemory>) -> Result<Option<Millis>> {
    let told = live_session::last_at(&payload.transcript, &payload.session, TAIL_BYTES).unwrap_or_default();
    let known = memory.map(|memory| memory.last_active(&payload.session)).transpose()?.flatten();
    Ok(told.max(known))
}
