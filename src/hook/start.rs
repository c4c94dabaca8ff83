//! What a session starts with, as the answer to its SessionStart event.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;

use super::payload::Payload;
use super::{claim, log, told};
use crate::config::Config;
use crate::context::{Asked, Context, Start, compacted, gather};
use crate::privacy::View;
use crate::session::Millis;
use crate::store::trouble::explained;
use crate::store::{Memory, OtherForm};
use crate::tail;

const EVENT: &str = "session-start";
/// How long a statement waits for another process: less than the whole may take.
const BUSY: Duration = Duration::from_millis(100);
/// How much of the end of a conversation is looked at for its last time, in bytes.
const LAST_ROWS: u64 = 256 << 10;

/// The answer, or nothing where there is nothing to say. Transcripts are read until `until` at the latest.
pub fn answer(payload: &Payload, config: &Config, until: Instant) -> Result<Option<String>> {
    let context = match payload.source.as_str() {
        "compact" => {
            told::forget(&config.data_dir, &payload.session);
            let store = Memory::open_as_it_is(&config.database(), &config.policy(View::From(&payload.cwd)), BUSY).ok();
            compacted(config, store.as_ref(), &payload.transcript, &payload.session, config.hooks.max_inject_tokens)?
        }
        source => from_index(payload, config, source, until)?,
    };
    if context.text.is_empty() {
        return Ok(None);
    }
    // The same hook may be installed for the user, the project and as a plugin: one of them speaks.
    if !claim::is_first(&config.data_dir, &payload.session, &payload.source)? {
        return Ok(None);
    }
    if payload.source != "compact" {
        let ids = context.sessions_shown.iter().chain(&context.undigested_shown).map(String::as_str);
        // A prompt that tells of it once more is no reason to say nothing now.
        let noted = told::note(&config.data_dir, &payload.session, told::How::Start, ids);
        let _ = noted.inspect_err(|e| log::note(EVENT, &format!("{e:#}")));
    }
    let answer = json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": context.text}});
    Ok(Some(format!("{answer}\n")))
}

fn from_index(payload: &Payload, config: &Config, source: &str, until: Instant) -> Result<Context> {
    // Without the index there is still something to say: what just ended, and that digests fail.
    let policy = config.policy(View::From(&payload.cwd));
    let opened = Memory::open_as_it_is(&config.database(), &policy, BUSY).map_err(|e| explained(e, &config.database()));
    let opened = opened.inspect_err(|e| log::note(EVENT, &format!("{e:#}")));
    // Until the next digest brings it up to date, which may be long where nothing starts one.
    let notice = opened.as_ref().err().and_then(|e| e.downcast_ref()).filter(|form| **form == OtherForm::Older);
    let notice = notice.map(OtherForm::to_string);
    let store = opened.ok();
    let start = match source {
        "resume" | "fork" => match last_active(payload, store.as_ref())? {
            Some(at) => Start::Since(at),
            // A conversation of which nothing is known may hold everything already.
            None => return Ok(Context::default()),
        },
        _ => Start::Blank,
    };
    let asked = Asked {
        cwd: &payload.cwd,
        session: Some(&payload.session),
        start,
        max_tokens: config.hooks.max_inject_tokens,
        now: config.now(),
        until,
        count: false,
        notice,
    };
    gather(config, store.as_ref(), &asked)
}

/// When the conversation that goes on was last active: by its transcript, else by the index.
fn last_active(payload: &Payload, store: Option<&Memory>) -> Result<Option<Millis>> {
    let told = tail::last_at(&payload.transcript, &payload.session, LAST_ROWS).unwrap_or_default();
    let known = store.map(|store| store.last_active(&payload.session)).transpose()?.flatten();
    Ok(told.max(known))
}
