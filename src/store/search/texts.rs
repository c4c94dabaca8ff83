//! The texts of a session, for finding its best passage.

use anyhow::Result;
use serde::{Serialize, Serializer};

use super::Reader;
use crate::analyze::account::AccountToStore;
use crate::analyze::signal::has_failed;
use crate::model::section::Section;
use crate::model::session_head::SessionHead;
use crate::store::chunk::{ItemKind, TextReader};
use crate::store::owned;
use crate::store::session_row;
use transcripts::session::{Item, Millis, Session, ToolUse};

/// What a passage is, or who said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TextKind {
    Title,
    Prompt,
    Reply,
    /// A statement of a model's digest.
    Claim(Section),
    /// A commit or a pull request.
    Made,
    Plan,
    Recap,
    Error,
    Command,
    File,
    Note,
    /// A part of a memory file of Claude's.
    Memory,
}

impl TextKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Prompt => "prompt",
            Self::Reply => "reply",
            Self::Claim(section) => section.spec().kind.unwrap_or_default(),
            Self::Made => "outcome",
            Self::Plan => "plan",
            Self::Recap => "recap",
            Self::Error => "error",
            Self::Command => "command",
            Self::File => "file",
            Self::Note => "note",
            Self::Memory => "memory",
        }
    }
}

impl Serialize for TextKind {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

/// A text of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionText {
    pub(crate) kind: TextKind,
    pub(crate) text: String,
    pub(crate) at: Option<Millis>,
}

/// Which texts of a session are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextScope {
    /// The conversation: at most this many items, 0 for all.
    Conversation(usize),
    /// Everything search indexes, including failed commands, files and lists.
    All,
}

impl Reader {
    /// Calls `each` with the texts of a session in order, one at a time: a session may not fit into memory.
    pub(crate) fn each_text(&self, head: &SessionHead, extent: TextScope, mut each: impl FnMut(SessionText)) -> Result<()> {
        if self.origin_of(head.pk)?.is_some() {
            let session = self.load_session(head)?;
            let most = if let TextScope::Conversation(most @ 1..) = extent { most } else { usize::MAX };
            let is_asked = |text: &SessionText| extent == TextScope::All || matches!(text.kind, TextKind::Prompt | TextKind::Reply);
            told_texts(&session).into_iter().filter(is_asked).take(most).for_each(each);
            return Ok(());
        }
        let mut rows = owned::owned_items(&self.db, head)?;
        let mut bodies = TextReader::new(&self.db);
        if let TextScope::Conversation(most) = extent {
            rows.retain(|kept| is_talk(kept.line.kind));
            rows.truncate(if most == 0 { usize::MAX } else { most });
        }
        for kept in rows {
            let at = kept.line.at;
            said(bodies.take(&kept)?).into_iter().for_each(|(kind, text)| each(SessionText { kind, text, at }));
        }
        Ok(())
    }

    /// A session's number in the index.
    pub fn session_pk(&self, id: &str) -> Result<Option<i64>> {
        session_row::find(&self.db, id)
    }
}

/// What another machine told of a session, in order.
fn told_texts(session: &Session) -> Vec<SessionText> {
    let Some(AccountToStore { account, failures, commands }) = AccountToStore::told_elsewhere(session) else { return Vec::new() };
    let mut texts = Vec::new();
    let mut put = |kind, text: String, at| texts.push(SessionText { kind, text, at });
    for turn in account.turns {
        turn.words.into_iter().for_each(|word| put(TextKind::Prompt, word.text, word.at));
        turn.reply.into_iter().for_each(|reply| put(TextKind::Reply, reply.text, reply.at));
    }
    account.commits.into_iter().for_each(|commit| put(TextKind::Made, commit.subject, commit.at));
    account.files.edited.into_iter().for_each(|path| put(TextKind::File, path, None));
    commands.into_iter().for_each(|command| put(TextKind::Command, command.line, command.at));
    failures.into_iter().for_each(|failure| put(TextKind::Error, failure.line, failure.at));
    texts.retain(|text| !text.text.is_empty());
    texts
}

/// Is it part of the conversation?
fn is_talk(kind: ItemKind) -> bool {
    matches!(
        kind,
        ItemKind::Prompt | ItemKind::Answer | ItemKind::Reply | ItemKind::Plan | ItemKind::Recap | ItemKind::Away | ItemKind::Title
    )
}

fn said(item: Item) -> Vec<(TextKind, String)> {
    match item {
        Item::Prompt(text) => vec![(TextKind::Prompt, text)],
        Item::Answer(answer) if answer.asked.is_empty() => vec![(TextKind::Prompt, answer.said)],
        // The question is the assistant's.
        Item::Answer(answer) => vec![(TextKind::Prompt, answer.said), (TextKind::Reply, answer.asked)],
        Item::Reply(text) => vec![(TextKind::Reply, text)],
        Item::Plan(text) => vec![(TextKind::Plan, text)],
        Item::Recap(text) | Item::Away(text) => vec![(TextKind::Recap, text)],
        Item::Title(title) => vec![(TextKind::Title, title.text)],
        Item::Todos(todos) => todos.into_iter().map(|todo| (TextKind::Plan, todo.text)).collect(),
        Item::Task(todo) => vec![(TextKind::Plan, todo.text)],
        Item::PullRequest(text) => vec![(TextKind::Made, text)],
        Item::Tool(ToolUse { file: Some(file), .. }) => vec![(TextKind::File, file.path)],
        Item::Tool(tool) => vec![(TextKind::Command, tool.line)],
        Item::Outcome(outcome) if outcome.brief.is_empty() => Vec::new(),
        Item::Outcome(outcome) if has_failed(&outcome) => vec![(TextKind::Error, outcome.brief)],
        Item::Outcome(outcome) => vec![(TextKind::Command, outcome.brief)],
        Item::Interrupted | Item::Evidence(_) => Vec::new(),
    }
}
