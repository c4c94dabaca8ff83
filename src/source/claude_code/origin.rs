//! Who said what stands in the user's name: the one place that decides it.
//!
//! The client writes much in the user's name that the user never said: notices of tasks, messages of other agents and channels, review
//! comments, wake-ups. Newer clients say so in the row; most of them wrap such texts in a tag. What is not known to be the user's is not
//! the user's: it is a third party's, and no prompt.

use std::borrow::Cow;

use super::fields::{Field, Fields};
use super::wrapper;
use crate::source::json::{self, Raw};

/// Starts of messages that the client writes in the user's name.
const NOT_THE_USER: &[&str] = &[
    "<local-command-", "<bash-stdout>", "<bash-stderr>", "<task-notification>", "<teammate-message", "<command-args>",
    "<agent-notification", "Caveat: The messages below", "<tick>", "<cross-session-message", "<channel ",
];
/// Starts of what the user did in the client.
const DEEDS: &[&str] = &["<command-name>", "<command-message>", "<bash-input>"];

/// Values of `promptSource` that stand for a person, or for a script that speaks for one.
const SOURCES: &[&str] = &["typed", "queued", "suggestion_accepted", "sdk"];
/// Values of `turnOrigin` that do; the client says `unknown` of prompts that older ones wrote.
const TURNS: &[&str] = &["human", "sdk", "unknown"];
/// Values of `madeBy` that do, in a row of the user's.
const MAKERS: &[&str] = &["input", "human", "user"];
/// Values of `source` in a hook's payload that do.
const HOOK_SOURCES: &[&str] = &["user", "human", "typed", "queued", "suggestion_accepted", "sdk"];

/// Whose words a text in the user's name is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Speaker<'t> {
    /// The user's, so far as they are the user's.
    User(Cow<'t, str>),
    ThirdParty,
    /// A third party's who is known by nothing but the name of a tag.
    Unknown(&'t str),
}

/// What a row tells of where its prompt comes from. Older clients tell nothing of it.
#[derive(Debug, Default)]
pub(super) struct Origin {
    /// It says that no person said it.
    is_machines: bool,
    /// It says that a person typed it.
    is_typed: bool,
}

impl Origin {
    /// Of a row of type `user`.
    pub fn of_row(fields: &Fields<'_>) -> Self {
        let is_other = |field: Field, known: &[&str]| fields.text(field).is_some_and(|value| !known.contains(&value.as_ref()));
        let is = |field: Field, value: &str| fields.text(field).is_some_and(|found| found == value);
        let origin = fields.raw(Field::Origin);
        // A source that is not known says nothing against a person who is named.
        let is_sent = is(Field::PromptSource, "system") || is_other(Field::PromptSource, SOURCES) && !names_person(origin);
        let is_made = is_other(Field::TurnOrigin, TURNS) || is_other(Field::MadeBy, MAKERS);
        let wakes = fields.raw(Field::WakeupSource).is_some_and(|raw| raw.get() != "null");
        Self { is_machines: names_machine(origin) || is_sent || is_made || wakes, is_typed: is(Field::PromptSource, "typed") }
    }

    /// Of what was queued while the assistant was busy.
    pub fn of_queued(fields: &Fields<'_>) -> Self {
        let queued = &fields.attachment;
        let no_person = queued.human_turn.is_some_and(|raw| raw.get() == "false") && !names_person(queued.origin);
        Self { is_machines: json::flag(queued.is_meta) || no_person || names_machine(queued.origin), is_typed: false }
    }

    /// Does it say that no person said anything?
    pub fn is_machines(&self) -> bool {
        self.is_machines
    }

    /// Who said a text that came with it. The text has passed the gate.
    pub fn speaker<'t>(&self, text: &'t str) -> Speaker<'t> {
        if self.is_machines || NOT_THE_USER.iter().any(|start| text.starts_with(start)) {
            return Speaker::ThirdParty;
        }
        if self.is_typed || DEEDS.iter().any(|start| text.starts_with(start)) {
            return Speaker::User(text.into());
        }
        match wrapper::at_start(text) {
            None => Speaker::User(text.into()),
            Some(wrapped) if wrapped.rest.is_empty() => Speaker::Unknown(wrapped.names[0]),
            // In the midst of a line it is something the user speaks of.
            Some(wrapped) if !begins_line(text, wrapped.rest) => Speaker::User(text.into()),
            Some(wrapped) => {
                let held: String = wrapped.names.iter().map(|name| format!("<{name}>…</{name}>\n")).collect();
                Speaker::User(Cow::Owned(held + wrapped.rest))
            }
        }
    }
}

/// Does the end of a text begin a line of its own?
fn begins_line(text: &str, end: &str) -> bool {
    text[..text.len() - end.len()].trim_end_matches([' ', '\t']).ends_with('\n')
}

/// Is an origin there, and another than a person?
fn names_machine(origin: Option<Raw<'_>>) -> bool {
    origin.is_some_and(|raw| raw.get() != "null") && !names_person(origin)
}

fn names_person(origin: Option<Raw<'_>>) -> bool {
    let Some(origin) = origin else { return false };
    let kind = json::fields(origin.get(), &["kind"]).map_or(Some(origin), |[kind]| kind);
    kind.and_then(json::text).is_some_and(|kind| kind == "human")
}

/// Is all of a prompt a third party's, by the tag around it? That a person typed it is not known here.
pub fn is_wrapped(prompt: &str) -> bool {
    !matches!(Origin::default().speaker(prompt), Speaker::User(_))
}

/// May a prompt be a person's by the `source` that the payload of a hook tells? Most clients tell none.
pub fn may_be_persons(source: &str) -> bool {
    source.is_empty() || HOOK_SOURCES.contains(&source)
}

/// Did the user say it, or does a prompt only come in the user's name: a command, what one printed, what another agent or a third party
/// says?
pub fn is_said(text: &str) -> bool {
    let origin = Origin::default();
    let is_deed =
        DEEDS.iter().chain(&["[Request interrupted by user", super::user::RECAP_START]).any(|start| text.starts_with(start));
    !is_deed && matches!(origin.speaker(text), Speaker::User(_))
}
