//! Answers a UserPromptSubmit event: mostly with nothing.

use anyhow::Result;
use serde_json::json;

use super::payload::Payload;
use crate::app::hook_state::{dedupe, seen};
use crate::app::prompt::{PromptRequest, at_prompt};
use crate::config::Config;
use crate::model::session::short_id;
use crate::source::may_be_person;

/// The hook's answer; `None` if there is nothing to show.
pub(crate) fn answer(payload: &Payload, config: &Config) -> Result<Option<String>> {
    if !may_be_person(&payload.source) {
        return Ok(None);
    }
    let asked =
        PromptRequest { prompt: &payload.prompt, session: &payload.session, cwd: &payload.cwd, transcript: &payload.transcript };
    let Some(told) = at_prompt(&asked, config)? else { return Ok(None) };
    // The same hook may be installed for the user, the project and as a plugin: only one of them answers.
    let prompt = if payload.prompt_id.is_empty() { short_id("p", &[&payload.prompt]) } else { payload.prompt_id.clone() };
    if !dedupe::claim(&config.data_dir, &payload.session, &format!("prompt-{prompt:.40}"))? {
        return Ok(None);
    }
    seen::record(&config.data_dir, &payload.session, told.how, told.ids.iter().map(String::as_str))?;
    let answer = json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": told.text}});
    Ok(Some(format!("{answer}\n")))
}
