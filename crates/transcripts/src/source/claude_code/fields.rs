//! The raw parts of a line, found in one pass: its fields, and the contents of its message, tool result and attachment.

use crate::privacy::Sanitizer;
use crate::privacy::raw::RawText;
use crate::session::PendingRuns;
use crate::source::json::{self, Raw};
use crate::source::json_cursor::{JsonCursor, Malformed, NameTable};

/// The fields of lines that are read, and their names.
macro_rules! fields {
    ($($field:ident $name:literal,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Field {
            $($field,)*
        }

        impl Field {
            const ALL: [Self; [$($name),*].len()] = [$(Self::$field),*];
            const NAMES: NameTable<{ Self::ALL.len() }> = NameTable::of([$($name),*]);
        }
    };
}

fields! {
    Message "message",
    ToolUseResult "toolUseResult",
    Attachment "attachment",
    Type "type",
    Subtype "subtype",
    Uuid "uuid",
    ParentUuid "parentUuid",
    LogicalParentUuid "logicalParentUuid",
    SessionId "sessionId",
    Timestamp "timestamp",
    Cwd "cwd",
    GitBranch "gitBranch",
    Version "version",
    IsMeta "isMeta",
    IsSidechain "isSidechain",
    IsCompactSummary "isCompactSummary",
    AgentId "agentId",
    Content "content",
    Summary "summary",
    LeafUuid "leafUuid",
    AiTitle "aiTitle",
    CustomTitle "customTitle",
    PrUrl "prUrl",
    IsApiErrorMessage "isApiErrorMessage",
    ToolName "tool_name",
    ToolInput "tool_input",
    ToolOutput "tool_output",
    Snapshot "snapshot",
    PromptId "promptId",
    Data "data",
    Origin "origin",
    PromptSource "promptSource",
    TurnOrigin "turnOrigin",
    MadeBy "madeBy",
    WakeupSource "wakeupSource",
    McpMeta "mcpMeta",
    ToolDenialKind "toolDenialKind",
    UserFeedback "userFeedback",
    Operation "operation",
    PlanContent "planContent",
    ModelUsage "modelUsage",
    HasUnknownModelCost "hasUnknownModelCost",
}

const IN_MESSAGE: NameTable<4> = NameTable::of(["content", "model", "id", "usage"]);
const IN_USAGE: NameTable<7> = NameTable::of([
    "input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation", "speed",
    "inference_geo",
]);
const IN_PROGRESS: NameTable<2> = NameTable::of(["type", "message"]);
const IN_ENVELOPE: NameTable<2> = NameTable::of(["type", "message"]);
const IN_BLOCK: NameTable<8> = NameTable::of(["type", "text", "id", "name", "input", "tool_use_id", "is_error", "content"]);
const IN_RESULT: NameTable<6> = NameTable::of(["questions", "answers", "annotations", "response", "plan", "task"]);
const IN_ATTACHMENT: NameTable<8> =
    NameTable::of(["type", "commandMode", "prompt", "origin", "humanTurn", "isMeta", "stdout", "content"]);

/// The raw fields of a line, and the sanitizer for its texts.
pub(super) struct LineFields<'a> {
    found: [Option<Raw<'a>>; Field::ALL.len()],
    /// Set if the field is an object.
    pub message: Option<RawMessage<'a>>,
    pub result: ToolResult<'a>,
    pub attachment: Attachment<'a>,
    pub sanitizer: &'a Sanitizer,
    /// The commands of the lines before whose output is still to come.
    pub runs: Option<&'a PendingRuns>,
}

#[derive(Default)]
pub(super) struct RawMessage<'a> {
    pub content: Option<RawContent<'a>>,
    pub model: Option<Raw<'a>>,
    pub id: Option<Raw<'a>>,
    pub usage: Option<RawUsage<'a>>,
}

/// The token counts of a message.
#[derive(Clone, Copy)]
pub(super) struct RawUsage<'a> {
    pub input: Option<Raw<'a>>,
    pub output: Option<Raw<'a>>,
    pub written: Option<Raw<'a>>,
    pub read: Option<Raw<'a>>,
    /// How the cache writes divide by lifetime.
    pub split: Option<Raw<'a>>,
    pub speed: Option<Raw<'a>>,
    /// The region in which the model ran.
    pub(crate) geo: Option<Raw<'a>>,
}

/// The content of a message: a text, or blocks.
pub(super) struct RawContent<'a> {
    pub raw: Raw<'a>,
    pub blocks: Vec<RawBlock<'a>>,
}

/// A part of a message. A part that is not an object has no fields.
pub(super) struct RawBlock<'a> {
    pub raw: Raw<'a>,
    pub kind: Option<RawText<'a>>,
    pub text: Option<Raw<'a>>,
    pub id: Option<Raw<'a>>,
    pub name: Option<Raw<'a>>,
    pub input: Option<Raw<'a>>,
    pub tool_use_id: Option<Raw<'a>>,
    pub is_error: bool,
    pub content: Option<Raw<'a>>,
}

/// The fields that are read of a tool's result, if it is an object.
#[derive(Default)]
pub(super) struct ToolResult<'a> {
    pub questions: Option<Raw<'a>>,
    pub answers: Option<Raw<'a>>,
    pub annotations: Option<Raw<'a>>,
    /// What the user wrote instead of answering.
    pub response: Option<Raw<'a>>,
    pub plan: Option<Raw<'a>>,
    pub task: Option<Raw<'a>>,
}

#[derive(Default)]
pub(super) struct Attachment<'a> {
    pub kind: Option<Raw<'a>>,
    pub mode: Option<Raw<'a>>,
    pub prompt: Option<Raw<'a>>,
    pub origin: Option<Raw<'a>>,
    pub(crate) human_turn: Option<Raw<'a>>,
    pub(crate) is_meta: Option<Raw<'a>>,
    /// The output of a hook.
    pub stdout: Option<Raw<'a>>,
    /// What a hook told the session.
    pub content: Option<Raw<'a>>,
}

impl<'a> LineFields<'a> {
    /// Parses one well-formed JSON object.
    pub fn of(json: &'a RawText<'_>, sanitizer: &'a Sanitizer) -> Result<Self, Malformed> {
        let mut fields = Self {
            found: [None; Field::ALL.len()],
            message: None,
            result: Default::default(),
            attachment: Default::default(),
            sanitizer,
            runs: None,
        };
        let mut cursor = JsonCursor::new(json);
        cursor.object(&Field::NAMES, |cursor, which| {
            let field = Field::ALL[which];
            // Of a repeated field, the last counts.
            match field {
                Field::Message => fields.message = None,
                Field::ToolUseResult => fields.result = ToolResult::default(),
                Field::Attachment => fields.attachment = Attachment::default(),
                _ => {}
            }
            let value = match (field, cursor.peek()) {
                (Field::Message, Some(b'{')) => cursor.whole(|cursor| fields.read_message(cursor)),
                (Field::ToolUseResult, Some(b'{')) => cursor.whole(|cursor| fields.read_result(cursor)),
                (Field::Attachment, Some(b'{')) => cursor.whole(|cursor| fields.read_attachment(cursor)),
                _ => cursor.value(),
            };
            fields.found[which] = Some(value?);
            Ok(())
        })?;
        cursor.end()?;
        Ok(fields)
    }

    /// The message of a subagent's model in a progress line.
    pub(crate) fn progress_message(&self) -> Option<RawMessage<'a>> {
        let is = |kind: Option<Raw<'_>>, name: &str| kind.and_then(json::text).is_some_and(|kind| kind.is(name));
        let [kind, envelope] = json::fields(self.raw(Field::Data)?, &IN_PROGRESS).ok()?;
        let envelope = envelope.filter(|_| is(kind, "agent_progress"))?;
        let [kind, message] = json::fields(envelope, &IN_ENVELOPE).ok()?;
        let message = message.filter(|message| is(kind, "assistant") && json::is_object(*message))?;
        RawMessage::read(&mut JsonCursor::new(message)).ok()
    }

    fn read_message(&mut self, cursor: &mut JsonCursor<'a>) -> Result<(), Malformed> {
        self.message = Some(RawMessage::read(cursor)?);
        Ok(())
    }

    fn read_result(&mut self, cursor: &mut JsonCursor<'a>) -> Result<(), Malformed> {
        let [questions, answers, annotations, response, plan, task] = cursor.fields(&IN_RESULT)?;
        self.result = ToolResult { questions, answers, annotations, response, plan, task };
        Ok(())
    }

    fn read_attachment(&mut self, cursor: &mut JsonCursor<'a>) -> Result<(), Malformed> {
        let [kind, mode, prompt, origin, human_turn, is_meta, stdout, content] = cursor.fields(&IN_ATTACHMENT)?;
        self.attachment = Attachment { kind, mode, prompt, origin, human_turn, is_meta, stdout, content };
        Ok(())
    }

    pub fn raw(&self, field: Field) -> Option<Raw<'a>> {
        self.found[field as usize]
    }

    pub fn text(&self, field: Field) -> Option<RawText<'a>> {
        json::text(self.raw(field)?).filter(|t| !t.is_empty())
    }

    pub fn id(&self, field: Field) -> Option<String> {
        self.text(field).map(|id| self.sanitizer.id(id))
    }

    pub fn flag(&self, field: Field) -> bool {
        json::is_true(self.raw(field))
    }
}

impl<'a> RawMessage<'a> {
    fn read(cursor: &mut JsonCursor<'a>) -> Result<Self, Malformed> {
        let mut message = Self::default();
        cursor.object(&IN_MESSAGE, |cursor, which| {
            // By index in `IN_MESSAGE`.
            match which {
                0 => message.content = Some(RawContent::read(cursor)?),
                1 => message.model = Some(cursor.value()?),
                2 => message.id = Some(cursor.value()?),
                _ => message.usage = RawUsage::read(cursor)?,
            }
            Ok(())
        })?;
        Ok(message)
    }
}

impl<'a> RawUsage<'a> {
    /// `None` if it is not an object.
    fn read(cursor: &mut JsonCursor<'a>) -> Result<Option<Self>, Malformed> {
        if cursor.peek() != Some(b'{') {
            cursor.value()?;
            return Ok(None);
        }
        let [input, output, written, read, split, speed, geo] = cursor.fields(&IN_USAGE)?;
        Ok(Some(Self { input, output, written, read, split, speed, geo }))
    }
}

impl<'a> RawContent<'a> {
    /// Parses a value that was read raw before.
    pub fn of(raw: Raw<'a>) -> Self {
        Self::read(&mut JsonCursor::new(raw)).unwrap_or(Self { raw, blocks: Vec::new() })
    }

    /// All text of the content.
    pub fn texts(&self) -> Vec<RawText<'a>> {
        match json::text(self.raw) {
            Some(text) => vec![text],
            None => self.blocks.iter().filter_map(RawBlock::said).collect(),
        }
    }

    fn read(cursor: &mut JsonCursor<'a>) -> Result<Self, Malformed> {
        let mut blocks = Vec::new();
        if cursor.peek() != Some(b'[') {
            return Ok(Self { raw: cursor.value()?, blocks });
        }
        let raw = cursor.whole(|cursor| {
            cursor.array(|cursor| {
                blocks.push(RawBlock::read(cursor)?);
                Ok(())
            })
        })?;
        Ok(Self { raw, blocks })
    }
}

impl<'a> RawBlock<'a> {
    fn read(cursor: &mut JsonCursor<'a>) -> Result<Self, Malformed> {
        let mut found = [None; 8];
        let raw = match cursor.peek() {
            Some(b'{') => cursor.whole(|cursor| {
                found = cursor.fields(&IN_BLOCK)?;
                Ok(())
            })?,
            _ => cursor.value()?,
        };
        let [kind, text, id, name, input, tool_use_id, is_error, content] = found;
        let (kind, is_error) = (kind.and_then(json::text), json::is_true(is_error));
        Ok(Self { raw, kind, text, id, name, input, tool_use_id, is_error, content })
    }

    pub fn is(&self, kind: &str) -> bool {
        self.kind.as_ref().is_some_and(|own| own.is(kind))
    }

    /// Its text, still encoded as JSON, if it is a text block.
    pub fn words(&self) -> Option<Raw<'a>> {
        if self.raw.is_text() { Some(self.raw) } else { self.text.filter(|_| self.is("text")) }
    }

    /// Its text, if it is a text block.
    pub fn said(&self) -> Option<RawText<'a>> {
        self.words().and_then(json::text)
    }
}

/// The text of a value that is a string or an array of blocks.
pub(super) fn text_of(value: Raw<'_>) -> RawText<'_> {
    RawText::joined_or_only(RawContent::of(value).texts(), "\n")
}
