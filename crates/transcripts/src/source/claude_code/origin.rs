//! Decides whose words a text in the user's name is. No other module does.
//!
//! The client writes much in the user's name that the user never said: task notices, messages of other agents and channels, code
//! review comments, wake-ups. Newer clients record the origin in the line; texts that older ones wrote are wrapped in tags of theirs.
//! A tag that no client is known to write is the user's, as all that is not known to be another's.

use std::borrow::Cow;

use super::fields::{Field, LineFields};
use super::wrapper;
use crate::source::json::{self, Raw};

/// Starts of messages that the client writes in the user's name.
const CLIENT_STARTS: &[&str] = &[
    "<local-command-", "<bash-stdout>", "<bash-stderr>", "<task-notification>", "<teammate-message", "<command-args>",
    "<agent-notification", "Caveat: The messages below", "<tick>", "<cross-session-message", "<channel ",
    "Operation stopped by hook:",
];
/// Starts of texts that stand for an action of the user in the client.
const USER_ACTION_STARTS: &[&str] = &["<command-name>", "<command-message>", "<bash-input>"];

/// Values of `promptSource` for a person, or for a script that acts for one.
const PERSON_SOURCES: &[&str] = &["typed", "queued", "suggestion_accepted", "sdk"];
/// Values of `turnOrigin` for a person; the client writes `unknown` for prompts of older clients.
const PERSON_TURN_ORIGINS: &[&str] = &["human", "sdk", "unknown"];
/// Values of `madeBy` for a person, in a `user` line.
const PERSON_MAKERS: &[&str] = &["input", "human", "user"];
/// Values of `source` for a person, in a hook's payload.
const PERSON_HOOK_SOURCES: &[&str] = &["user", "human", "typed", "queued", "suggestion_accepted", "sdk"];

/// Whose words a text in the user's name is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PromptSpeaker<'t> {
    /// The user's words; blocks of others are replaced by `<name>…</name>`.
    User(Cow<'t, str>),
    ThirdParty,
}

/// What a line says about the origin of its prompt. Older clients say nothing.
#[derive(Debug, Default)]
pub(super) struct PromptOrigin {
    /// The line says that no person said it.
    is_machines: bool,
    /// The line says that a person typed it.
    is_typed: bool,
}

impl PromptOrigin {
    /// Of a line of type `user`.
    pub fn of_row(fields: &LineFields<'_>) -> Self {
        let is_other = |field: Field, known: &[&str]| fields.text(field).is_some_and(|value| !value.is_one_of(known));
        let is = |field: Field, value: &str| fields.text(field).is_some_and(|found| found.is(value));
        let origin = fields.raw(Field::Origin);
        // An unknown source does not outweigh a named person.
        let is_sent = is(Field::PromptSource, "system") || is_other(Field::PromptSource, PERSON_SOURCES) && !names_person(origin);
        let is_made = is_other(Field::TurnOrigin, PERSON_TURN_ORIGINS) || is_other(Field::MadeBy, PERSON_MAKERS);
        let wakes = fields.raw(Field::WakeupSource).is_some_and(|raw| !raw.is("null"));
        Self { is_machines: names_machine(origin) || is_sent || is_made || wakes, is_typed: is(Field::PromptSource, "typed") }
    }

    /// Of a message queued while the assistant was busy.
    pub(crate) fn of_queued(fields: &LineFields<'_>) -> Self {
        let queued = &fields.attachment;
        let no_person = queued.human_turn.is_some_and(|raw| raw.is("false")) && !names_person(queued.origin);
        Self { is_machines: json::is_true(queued.is_meta) || no_person || names_machine(queued.origin), is_typed: false }
    }

    /// Does the line say that no person said anything?
    pub(crate) fn is_machines(&self) -> bool {
        self.is_machines
    }

    /// Who said a text of this origin. The text has passed the sanitizer.
    pub fn speaker<'t>(&self, text: &'t str) -> PromptSpeaker<'t> {
        if self.is_machines || CLIENT_STARTS.iter().any(|start| text.starts_with(start)) {
            return PromptSpeaker::ThirdParty;
        }
        if self.is_typed || USER_ACTION_STARTS.iter().any(|start| text.starts_with(start)) {
            return PromptSpeaker::User(text.into());
        }
        match wrapper::at_start(text) {
            None => PromptSpeaker::User(text.into()),
            Some(wrapped) if wrapped.rest.is_empty() => PromptSpeaker::ThirdParty,
            // In the middle of a line, a tag is something the user mentions.
            Some(wrapped) if !begins_line(text, wrapped.rest) => PromptSpeaker::User(text.into()),
            Some(wrapped) => {
                let held: String = wrapped.names.iter().map(|name| format!("<{name}>…</{name}>\n")).collect();
                PromptSpeaker::User(Cow::Owned(held + wrapped.rest))
            }
        }
    }
}

/// Does `end`, the end of a text, begin on a line of its own?
fn begins_line(text: &str, end: &str) -> bool {
    text[..text.len() - end.len()].trim_end_matches([' ', '\t']).ends_with('\n')
}

/// Is an origin given that is not a person?
fn names_machine(origin: Option<Raw<'_>>) -> bool {
    origin.is_some_and(|raw| !raw.is("null")) && !names_person(origin)
}

fn names_person(origin: Option<Raw<'_>>) -> bool {
    let Some(origin) = origin else { return false };
    let kind = json::fields(origin, &["kind"]).map_or(Some(origin), |[kind]| kind);
    kind.and_then(json::text).is_some_and(|kind| kind.is("human"))
}

/// Is a whole prompt a third party's, by the tag around it? Whether a person typed it is not known here.
pub fn is_wrapped(prompt: &str) -> bool {
    !matches!(PromptOrigin::default().speaker(prompt), PromptSpeaker::User(_))
}

/// May a prompt be a person's, by the `source` in a hook's payload? Most clients send none.
pub fn may_be_person(source: &str) -> bool {
    source.is_empty() || PERSON_HOOK_SOURCES.contains(&source)
}

/// Did the user say this, or is it only written in the user's name: a command, its output, a message of another agent or third
/// party?
pub fn is_user_text(text: &str) -> bool {
    let origin = PromptOrigin::default();
    let is_deed = USER_ACTION_STARTS
        .iter()
        .chain(&["[Request interrupted by user", super::user::RECAP_START])
        .any(|start| text.starts_with(start));
    !is_deed && matches!(origin.speaker(text), PromptSpeaker::User(_))
}
