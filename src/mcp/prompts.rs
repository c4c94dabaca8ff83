//! The prompt "where did we leave off": the notes a session of this project would start with, or what the memory holds on a
//! topic, followed by the question.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use super::text::{line, notes_block};
use super::tools::ToolContext;
use crate::app::session_start::{FreshStartRequest, fresh_start};
use crate::app::topic::{Topic, TopicRequest, find_topic};

pub(crate) const LEFT_OFF: &str = "where-did-we-leave-off";
const TOPIC: &str = "topic";
/// Longest topic, in characters.
const MAX_TOPIC: usize = 300;
/// Time limit for reading the ends of transcripts.
const TRANSCRIPT_TIME_LIMIT: Duration = Duration::from_secs(5);

pub(crate) fn all() -> Vec<Prompt> {
    let topic = PromptArgument::new(TOPIC)
        .with_description("What it is about, in words of yours; without it the project as a whole")
        .with_required(false);
    let about =
        "The last sessions of this project, or what earlier sessions did about a topic, and the question where that was left";
    vec![Prompt::new(LEFT_OFF, Some(about), Some(vec![topic])).with_title("Where did we leave off?")]
}

/// The topic given in the arguments.
///
/// # Errors
/// If an argument is unknown or not a string.
pub(crate) fn parse_topic(arguments: Option<&JsonObject>) -> Result<Option<String>> {
    let mut topic = None;
    for (name, value) in arguments.into_iter().flatten() {
        match (name.as_str(), value.as_str()) {
            (TOPIC, Some(text)) => topic = Some(line(text, MAX_TOPIC)).filter(|text| !text.is_empty()),
            (TOPIC, None) => bail!("{TOPIC}: a text is wanted"),
            _ => bail!("unknown argument `{name}`: there is only `{TOPIC}`"),
        }
    }
    Ok(topic)
}

/// The prompt, with what the memory holds.
pub(crate) fn left_off(topic: Option<&str>, site: &ToolContext<'_>) -> Result<GetPromptResult> {
    let (notes, question) = match topic {
        Some(topic) => (topic_notes(topic, site)?, format!("Where did we leave off on this: {topic}?")),
        None => (project_notes(site)?, "Where did we leave off?".to_owned()),
    };
    let notes = if notes.is_empty() { "Nothing of it is remembered.\n".to_owned() } else { notes };
    let text = format!("{notes}\n{question} Say in a few sentences what was done, what was decided and what is open.");
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).with_description(question))
}

/// What is known about a topic, as a block that is not ingested again.
fn topic_notes(topic: &str, site: &ToolContext<'_>) -> Result<String> {
    let own = site.project();
    let found = find_topic(&site.memory()?, site.config, &TopicRequest { words: topic, own: &own, ..TopicRequest::default() })?;
    let topic = Topic::of(found.sources, site.config.hooks.max_inject_tokens);
    Ok(if topic.render().is_empty() { String::new() } else { notes_block(topic.render()) })
}

/// What a session of the project would start with.
fn project_notes(site: &ToolContext<'_>) -> Result<String> {
    let cwd = site.folder.to_str().context("the folder's name is not UTF-8")?;
    let asked = FreshStartRequest { cwd, max_tokens: None, until: Instant::now() + TRANSCRIPT_TIME_LIMIT };
    Ok(fresh_start(site.config, site.memory_if_there()?.as_ref(), &asked)?.context.text)
}
