//! The raw parts of a row, found in one pass over it: its fields, and what its message, its tool's result and its attachment hold.

use std::borrow::Cow;

use crate::privacy::Gate;
use crate::source::cursor::{Cursor, Malformed, position};
use crate::source::json::{self, Raw};

const NAMES: [&str; 27] = [
    "message", "toolUseResult", "attachment", "type", "subtype", "uuid", "sessionId", "timestamp", "cwd", "gitBranch", "version",
    "isMeta", "isSidechain", "isCompactSummary", "agentId", "content", "summary", "leafUuid", "aiTitle", "customTitle", "prUrl",
    "isApiErrorMessage", "tool_name", "tool_input", "tool_output", "snapshot", "promptId",
];
/// The places of those that are gone into.
const MESSAGE: usize = 0;
const RESULT: usize = 1;
const ATTACHMENT: usize = 2;
const IN_MESSAGE: [&str; 4] = ["content", "model", "id", "usage"];
const IN_BLOCK: [&str; 8] = ["type", "text", "id", "name", "input", "tool_use_id", "is_error", "content"];
const IN_RESULT: [&str; 3] = ["questions", "answers", "task"];
const IN_ATTACHMENT: [&str; 3] = ["type", "commandMode", "prompt"];

/// The raw fields of a row, by the names above, and what its texts have to pass.
pub(super) struct Fields<'a> {
    found: [Option<Raw<'a>>; NAMES.len()],
    /// Where it is an object.
    pub message: Option<Message<'a>>,
    pub result: ToolResult<'a>,
    pub attachment: Attachment<'a>,
    pub gate: &'a Gate,
}

#[derive(Default)]
pub(super) struct Message<'a> {
    pub content: Option<Content<'a>>,
    pub model: Option<Raw<'a>>,
    pub id: Option<Raw<'a>>,
    pub usage: Option<Raw<'a>>,
}

/// What a message says: a text, or blocks.
pub(super) struct Content<'a> {
    pub raw: Raw<'a>,
    pub blocks: Vec<Block<'a>>,
}

/// A part of a message; what is no object has no fields.
pub(super) struct Block<'a> {
    pub raw: Raw<'a>,
    pub kind: Option<Cow<'a, str>>,
    pub text: Option<Raw<'a>>,
    pub id: Option<Raw<'a>>,
    pub name: Option<Raw<'a>>,
    pub input: Option<Raw<'a>>,
    pub tool_use_id: Option<Raw<'a>>,
    pub is_error: bool,
    pub content: Option<Raw<'a>>,
}

/// What is read of a tool's result, where it is an object.
#[derive(Default)]
pub(super) struct ToolResult<'a> {
    pub questions: Option<Raw<'a>>,
    pub answers: Option<Raw<'a>>,
    pub task: Option<Raw<'a>>,
}

#[derive(Default)]
pub(super) struct Attachment<'a> {
    pub kind: Option<Raw<'a>>,
    pub mode: Option<Raw<'a>>,
    pub prompt: Option<Raw<'a>>,
}

impl<'a> Fields<'a> {
    /// # Errors
    /// When `json` is not one well-formed object.
    pub fn of(json: &'a str, gate: &'a Gate) -> Result<Self, Malformed> {
        let mut fields =
            Self { found: [None; NAMES.len()], message: None, result: Default::default(), attachment: Default::default(), gate };
        let mut cursor = Cursor::new(json);
        cursor.object(&NAMES, |cursor, which| {
            // Of a repeated one the last counts.
            match which {
                MESSAGE => fields.message = None,
                RESULT => fields.result = ToolResult::default(),
                ATTACHMENT => fields.attachment = Attachment::default(),
                _ => {}
            }
            let value = match (which, cursor.peek()) {
                (MESSAGE, Some(b'{')) => cursor.whole(|cursor| fields.read_message(cursor)),
                (RESULT, Some(b'{')) => cursor.whole(|cursor| fields.read_result(cursor)),
                (ATTACHMENT, Some(b'{')) => cursor.whole(|cursor| fields.read_attachment(cursor)),
                _ => cursor.value(),
            };
            fields.found[which] = Some(value?);
            Ok(())
        })?;
        cursor.end()?;
        Ok(fields)
    }

    fn read_message(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Malformed> {
        let mut message = Message::default();
        cursor.object(&IN_MESSAGE, |cursor, which| {
            match IN_MESSAGE[which] {
                "content" => message.content = Some(Content::read(cursor)?),
                "model" => message.model = Some(cursor.value()?),
                "id" => message.id = Some(cursor.value()?),
                _ => message.usage = Some(cursor.value()?),
            }
            Ok(())
        })?;
        self.message = Some(message);
        Ok(())
    }

    fn read_result(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Malformed> {
        let [questions, answers, task] = cursor.fields(&IN_RESULT)?;
        self.result = ToolResult { questions, answers, task };
        Ok(())
    }

    fn read_attachment(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Malformed> {
        let [kind, mode, prompt] = cursor.fields(&IN_ATTACHMENT)?;
        self.attachment = Attachment { kind, mode, prompt };
        Ok(())
    }

    pub fn raw(&self, name: &str) -> Option<Raw<'a>> {
        let at = position(name, &NAMES);
        debug_assert!(at.is_some(), "{name} is not read");
        self.found[at?]
    }

    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        json::text(self.raw(name)?).filter(|t| !t.is_empty())
    }

    pub fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(|t| t.into_owned())
    }

    pub fn flag(&self, name: &str) -> bool {
        json::flag(self.raw(name))
    }
}

impl<'a> Content<'a> {
    /// From a value that was found before.
    pub fn of(raw: Raw<'a>) -> Self {
        Self::read(&mut Cursor::new(raw.get())).unwrap_or(Self { raw, blocks: Vec::new() })
    }

    /// All that it says in words.
    pub fn texts(&self) -> Vec<Cow<'a, str>> {
        match json::text(self.raw) {
            Some(text) => vec![text],
            None => self.blocks.iter().filter_map(Block::said).collect(),
        }
    }

    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let mut blocks = Vec::new();
        if cursor.peek() != Some(b'[') {
            return Ok(Self { raw: cursor.value()?, blocks });
        }
        let raw = cursor.whole(|cursor| {
            cursor.array(|cursor| {
                blocks.push(Block::read(cursor)?);
                Ok(())
            })
        })?;
        Ok(Self { raw, blocks })
    }
}

impl<'a> Block<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let mut found = [None; IN_BLOCK.len()];
        let raw = match cursor.peek() {
            Some(b'{') => cursor.whole(|cursor| {
                found = cursor.fields(&IN_BLOCK)?;
                Ok(())
            })?,
            _ => cursor.value()?,
        };
        let [kind, text, id, name, input, tool_use_id, is_error, content] = found;
        let (kind, is_error) = (kind.and_then(json::text), json::flag(is_error));
        Ok(Self { raw, kind, text, id, name, input, tool_use_id, is_error, content })
    }

    pub fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }

    /// What it says, where it is a text, as JSON.
    pub fn words(&self) -> Option<Raw<'a>> {
        if self.raw.get().starts_with('"') { Some(self.raw) } else { self.text.filter(|_| self.is("text")) }
    }

    /// What it says, where it is a text.
    pub fn said(&self) -> Option<Cow<'a, str>> {
        self.words().and_then(json::text)
    }
}

/// The text of a value that is a string or an array of blocks.
pub(super) fn text_of(value: Raw<'_>) -> Cow<'_, str> {
    joined(Content::of(value).texts(), "\n")
}

/// One text alone is not copied.
pub(super) fn joined<'a>(mut texts: Vec<Cow<'a, str>>, between: &str) -> Cow<'a, str> {
    if texts.len() < 2 { texts.pop().unwrap_or_default() } else { Cow::Owned(texts.join(between)) }
}
