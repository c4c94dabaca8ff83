//! The items of a session: what is stored of a record.

use serde::{Deserialize, Serialize};

use super::{Answer, Evidence, RecordKey};

/// One stored entry of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum Item {
    /// The user's own words.
    Prompt(String),
    /// What the user chose or said in a dialog: an answered question, a refusal with a reason.
    Answer(Answer),
    /// The assistant's words.
    Reply(String),
    /// A plan put before the user.
    Plan(String),
    Tool(ToolUse),
    Outcome(Outcome),
    /// The whole to-do list as of this record.
    Todos(Vec<Todo>),
    /// One task created or changed (newer clients; ids are the client's).
    Task(Todo),
    Title(Title),
    /// The recap with which a compaction replaced the conversation.
    Recap(String),
    /// The client's summary of where things stand, written while the user was away.
    Away(String),
    PullRequest(String),
    Interrupted,
    /// Kept for what it proves; nobody is told it as it is.
    Evidence(Evidence),
}

/// Numbers of evidence among the items of a record begin here: those of other items, by which they are known again, stay as they are.
pub(crate) const FIRST_EVIDENCE_PART: i64 = 1 << 20;

impl Item {
    /// The name under which the index stores this kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Item::Prompt(_) => "prompt",
            Item::Answer(_) => "answer",
            Item::Reply(_) => "reply",
            Item::Plan(_) => "plan",
            Item::Tool(_) => "tool",
            Item::Outcome(_) => "outcome",
            Item::Todos(_) => "todos",
            Item::Task(_) => "task",
            Item::Title(_) => "title",
            Item::Recap(_) => "recap",
            Item::Away(_) => "away",
            Item::PullRequest(_) => "pr",
            Item::Interrupted => "interrupted",
            Item::Evidence(_) => "evidence",
        }
    }

    /// All texts of the item, whoever said them, without ids.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Item::Prompt(text)
            | Item::Reply(text)
            | Item::Plan(text)
            | Item::Recap(text)
            | Item::Away(text)
            | Item::PullRequest(text) => vec![text],
            Item::Evidence(evidence) => evidence.texts(),
            Item::Answer(answer) => vec![&answer.said, &answer.asked],
            Item::Tool(tool) => {
                let path = tool.file.as_ref().map(|file| file.path.as_str());
                [tool.name.as_str(), tool.line.as_str()].into_iter().chain(path).collect()
            }
            Item::Outcome(outcome) => vec![&outcome.brief],
            Item::Todos(todos) => todos.iter().map(|todo| todo.text.as_str()).collect(),
            Item::Task(todo) => vec![&todo.text],
            Item::Title(title) => vec![&title.text],
            Item::Interrupted => Vec::new(),
        }
    }
}

/// A plan's title: its first line with words, without markup.
pub fn title_of_plan(plan: &str) -> &str {
    let title = plan.lines().map(|line| line.trim_matches(['#', '*', ' ', '\t'])).find(|line| line.contains(char::is_alphanumeric));
    title.unwrap_or_default()
}

impl Item {
    /// The same texts, mutable.
    pub(crate) fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Item::Prompt(text)
            | Item::Reply(text)
            | Item::Plan(text)
            | Item::Recap(text)
            | Item::Away(text)
            | Item::PullRequest(text) => vec![text],
            Item::Evidence(evidence) => evidence.texts_mut(),
            Item::Answer(answer) => vec![&mut answer.said, &mut answer.asked],
            Item::Tool(tool) => {
                let path = tool.file.as_mut().map(|file| &mut file.path);
                [&mut tool.name, &mut tool.line].into_iter().chain(path).collect()
            }
            Item::Outcome(outcome) => vec![&mut outcome.brief],
            Item::Todos(todos) => todos.iter_mut().map(|todo| &mut todo.text).collect(),
            Item::Task(todo) => vec![&mut todo.text],
            Item::Title(title) => vec![&mut title.text],
            Item::Interrupted => Vec::new(),
        }
    }
}

/// One use of a tool, in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredToolUse")]
pub struct ToolUse {
    /// The client's id, which the result refers to.
    pub id: String,
    pub name: String,
    /// What the tool was asked to do: the command, the pattern, the address.
    pub line: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileTouch>,
    #[serde(skip)]
    class: ToolClass,
}

/// A tool use as the index and exports hold it: with the client's name of the tool, and without its class.
#[derive(Deserialize)]
struct StoredToolUse {
    id: String,
    name: String,
    line: String,
    #[serde(default)]
    file: Option<FileTouch>,
}

impl From<StoredToolUse> for ToolUse {
    fn from(StoredToolUse { id, name, line, file }: StoredToolUse) -> Self {
        Self::new(id, name, line, file)
    }
}

impl ToolUse {
    /// The only way to a tool use, parsed or read back: its class goes by its name.
    pub fn new(id: impl Into<String>, name: impl Into<String>, line: impl Into<String>, file: Option<FileTouch>) -> Self {
        let name = name.into();
        Self { class: ToolClass::of(&name), id: id.into(), name, line: line.into(), file }
    }

    pub fn class(&self) -> ToolClass {
        self.class
    }

    pub fn is_shell(&self) -> bool {
        self.class == ToolClass::Shell
    }

    /// Is the tool an MCP server's, and no tool of the client's own?
    pub fn is_of_server(&self) -> bool {
        self.name.starts_with("mcp__")
    }
}

/// What a tool is for, whatever its client calls it.
///
/// Nobody but `source` knows the names: `ToolClass::of`, which stands there, asks each client's table. The class is worked out once, where a
/// [`ToolUse`] is made, and is not stored. So what older programs stored has its class too, the stored text of a record and with it
/// its hash stay as they are, and a tool that a table gains needs no migration. A client that calls something else by a name that
/// another's table holds has to name it differently as it is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolClass {
    /// Runs commands.
    Shell,
    /// Writes a file or a part of one.
    Edit,
    /// Reads a file.
    Read,
    /// Looks for files, or for lines in them.
    Search,
    Web,
    /// Starts another agent.
    Subagent,
    /// Puts a plan before the user.
    Plan,
    /// Keeps a list of what is to be done.
    Todo,
    /// Asks the user.
    Question,
    /// The client's own affairs.
    Bookkeeping,
    /// A tool that no table names.
    Other,
}

impl ToolClass {
    /// Are the uses of such a tool no memory? What comes of them is kept: lists as state, answers as the user's words.
    pub fn is_no_memory(self) -> bool {
        matches!(self, Self::Search | Self::Todo | Self::Question | Self::Bookkeeping)
    }
}

/// The file a tool use concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTouch {
    pub path: String,
    pub how: Touch,
    /// Lines added and removed, if the input tells. Shown nowhere: they belong to the stored text, whose hash tells the copies of a record that
    /// forks hold (`store::chunk::copy_key`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub added: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub removed: u32,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Touch {
    Read,
    Edited,
    Written,
}

/// How a tool use ended. Absent if the transcript does not tell or nothing was worth keeping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub tool: String,
    pub ok: bool,
    /// The lines of the output that state the result, a few hundred characters at most.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub brief: String,
}

/// The outcome of what the user did not let the assistant do.
pub const REFUSED: &str = "refused by the user";
/// The outcome of a plan that the user agreed to.
pub const APPROVED: &str = "approved by the user";

impl Outcome {
    /// Does it say what the user decided, and not what a tool printed?
    pub fn is_decision_of_user(&self) -> bool {
        [REFUSED, APPROVED].contains(&self.brief.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// `pending`, `in_progress`, `completed`, `deleted`; empty if a change does not affect it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Title {
    pub text: String,
    pub by: TitleBy,
    /// The last record of the titled conversation, if that may be in another session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf: Option<RecordKey>,
}

/// Who gave a title; the greater takes precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleBy {
    Summary,
    Client,
    User,
}
