//! Answers a UserPromptSubmit event: mostly with nothing.

use anyhow::Result;

use super::answer_to;
use super::payload::Payload;
use crate::app::dropped::dropped_at_prompt;
use crate::app::hook_state::{compaction, dedupe, log, seen};
use crate::app::prompt::{PromptRequest, at_prompt};
use crate::config::Config;
use crate::render::session_start::MAX_CHARS;
use transcripts::client::Client;
use transcripts::session::short_id;
use transcripts::source::{may_be_person, source_of};

const EVENT: &str = "user-prompt-submit";

/// The hook's answer; `None` if there is nothing to show.
pub(crate) fn answer(payload: &Payload, client: Client, config: &Config) -> Result<Option<String>> {
    if !may_be_person(&payload.source) {
        return Ok(None);
    }
    let asked = PromptRequest {
        client,
        prompt: source_of(client).own_words(&payload.prompt),
        session: &payload.session,
        cwd: &payload.cwd,
        transcript: &payload.transcript,
    };
    let dropped = dropped(&asked, config);
    let told = at_prompt(&asked, config);
    // What fails beside it does not keep the session from being told what its summary leaves out.
    let told =
        if dropped.is_some() { told.inspect_err(|e| log::note(EVENT, &format!("{e:#}"))).unwrap_or_default() } else { told? };
    if dropped.is_none() && told.is_none() {
        return Ok(None);
    }
    // The same hook may be installed for the user, the project and as a plugin: only one of them answers.
    let prompt = if payload.prompt_id.is_empty() { short_id("p", &[&payload.prompt]) } else { payload.prompt_id.clone() };
    if !dedupe::claim(&config.data_dir, &payload.session, &format!("prompt-{prompt:.40}"))? {
        return Ok(None);
    }
    let mut text = dropped.unwrap_or_default();
    // The client shows a preview of what is longer. What has no room is told at a later prompt.
    if let Some(told) = told.filter(|told| text.chars().count() + told.text.chars().count() <= MAX_CHARS) {
        seen::record(&config.data_dir, &payload.session, told.how, told.ids.iter().map(String::as_str))?;
        text.push_str(&told.text);
    }
    compaction::settle(&config.data_dir, &payload.session);
    Ok(Some(format!("{}\n", answer_to(client, &payload.event, &text))))
}

/// What the summary of a compaction leaves out, at the first prompt behind it.
fn dropped(asked: &PromptRequest<'_>, config: &Config) -> Option<String> {
    let known = compaction::awaited(&config.data_dir, asked.session)?;
    let dropped = dropped_at_prompt(asked, config, &known).inspect_err(|e| log::note(EVENT, &format!("{e:#}"))).ok().flatten();
    if dropped.is_none() {
        compaction::settle(&config.data_dir, asked.session);
    }
    dropped
}
