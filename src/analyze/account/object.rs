//! What a short prompt is about: "2" and "yes" say something only beside the reply that they answer.

use serde::{Deserialize, Serialize};

use super::turns::{Turn, WordKind};
use crate::analyze::prose::sentences;
use text::clean::one_line;

/// A longer prompt, in characters, says itself what it is about.
const SHORT_PROMPT_CHARS: usize = 25;

/// The words of the assistant's that a short prompt answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", content = "text", rename_all = "snake_case")]
pub enum PromptObject {
    /// The line of a list that the prompt names.
    Listed(String),
    /// The question with which the reply closed.
    Asked(String),
}

impl PromptObject {
    /// What the assistant had done with it, as it is told.
    pub(crate) fn had(&self) -> &'static str {
        match self {
            Self::Listed(_) => "had listed",
            Self::Asked(_) => "had asked",
        }
    }

    pub(crate) fn text(&self) -> &str {
        let (Self::Listed(text) | Self::Asked(text)) = self;
        text
    }
}

/// Gives each short prompt that begins a turn its object, from the reply before it.
pub(super) fn give(turns: &mut [Turn]) {
    for at in 1..turns.len() {
        let (before, rest) = turns.split_at_mut(at);
        let reply = before.last().and_then(|turn| turn.reply.as_ref());
        if let (Some(reply), Some(word)) = (reply, rest[0].words.first_mut().filter(|word| word.kind == WordKind::Prompt)) {
            word.object = object_of(&word.text, &reply.text);
        }
    }
}

/// What a short prompt answers, or chooses from, of the reply before it.
pub(crate) fn object_of(prompt: &str, reply: &str) -> Option<PromptObject> {
    let prompt = one_line(prompt);
    if prompt.chars().count() > SHORT_PROMPT_CHARS || prompt.starts_with('/') {
        return None;
    }
    let named = prompt.split(|c: char| !c.is_alphanumeric()).next().filter(|name| !name.is_empty());
    let is_choice = |name: &&str| name.bytes().all(|b| b.is_ascii_digit()) || name.len() == 1 && prompt.len() <= 2;
    let line = named.filter(is_choice).and_then(|name| listed(reply, name)).map(PromptObject::Listed);
    line.or_else(|| closing_question(reply).map(PromptObject::Asked))
}

/// The last line of a list that bears this number or letter.
fn listed(reply: &str, name: &str) -> Option<String> {
    let bare = |line: &str| line.trim().trim_start_matches(['-', '*', '#', '(', ' ', '`']).to_owned();
    let is_named = |line: &String| {
        let rest = line.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name)).map(|_| &line[name.len()..]);
        rest.is_some_and(|rest| rest.trim_start_matches(['*', '`']).starts_with(['.', ')', ':']))
    };
    reply.lines().map(bare).rfind(is_named).map(|line| line.replace("**", ""))
}

/// The last question among the reply's last sentences, or in its last paragraph: reasons may follow it there.
fn closing_question(reply: &str) -> Option<String> {
    const MARKS: [char; 3] = ['?', '？', '؟'];
    if !reply.contains(MARKS) {
        return None;
    }
    let is_question = |sentence: &String| sentence.trim_end_matches(['*', '"', '”', ')']).ends_with(MARKS);
    let paragraph = reply.trim_end().rsplit("\n\n").next().unwrap_or_default();
    let last = || sentences(reply).into_iter().rev().take(3).find(is_question);
    last().or_else(|| sentences(paragraph).into_iter().rfind(is_question))
}
