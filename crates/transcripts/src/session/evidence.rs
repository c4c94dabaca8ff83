//! Evidence: what was run and what it printed, kept word for word. What it proves is decided when a session is read, so that better
//! rules apply to what is stored already.

use serde::{Deserialize, Serialize};

use super::{Millis, RecordKey};

/// One piece of evidence, an item of its record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", content = "is", rename_all = "snake_case")]
pub enum Evidence {
    Ran(ShellRun),
    Printed(ShellPrint),
    Queue(QueueEvent),
    /// The prompt of this record was said during a turn, and begins none.
    Joined,
    Choice(Choice),
    /// The client could not reach the model, in its own words.
    ApiError(String),
    Told(ToldNames),
    /// Ids that an agent looked up by our server.
    LookedUp(Vec<String>),
}

impl Evidence {
    /// All texts of it, without ids.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::Ran(run) => {
                let steps = run.steps.iter().flat_map(|step| [step.line.as_str(), &step.message, &step.folder]);
                steps.chain(run.cwd.as_deref()).chain(run.branch.as_deref()).collect()
            }
            Self::Printed(print) => {
                print.git.iter().chain(&print.results).chain(&print.wrong).chain(&print.runs).map(String::as_str).collect()
            }
            Self::Queue(QueueEvent::Added(text) | QueueEvent::Delivered(Some(text))) | Self::ApiError(text) => vec![text],
            Self::Choice(choice) => vec![&choice.asked, &choice.chosen, &choice.description],
            Self::Told(told) => told.files.iter().chain(&told.checks).chain(&told.warned).map(String::as_str).collect(),
            Self::Joined | Self::LookedUp(_) | Self::Queue(QueueEvent::Delivered(None) | QueueEvent::TakenBack) => Vec::new(),
        }
    }

    /// The same texts, mutable.
    pub(crate) fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Ran(run) => {
                let steps = run.steps.iter_mut().flat_map(|step| [&mut step.line, &mut step.message, &mut step.folder]);
                steps.chain(&mut run.cwd).chain(&mut run.branch).collect()
            }
            Self::Printed(print) => {
                print.git.iter_mut().chain(&mut print.results).chain(&mut print.wrong).chain(&mut print.runs).collect()
            }
            Self::Queue(QueueEvent::Added(text) | QueueEvent::Delivered(Some(text))) | Self::ApiError(text) => vec![text],
            Self::Choice(choice) => vec![&mut choice.asked, &mut choice.chosen, &mut choice.description],
            Self::Told(told) => told.files.iter_mut().chain(&mut told.checks).chain(&mut told.warned).collect(),
            Self::Joined | Self::LookedUp(_) | Self::Queue(QueueEvent::Delivered(None) | QueueEvent::TakenBack) => Vec::new(),
        }
    }

    /// Does it tell what was done, and not what was said?
    pub fn is_of_work(&self) -> bool {
        matches!(self, Self::Ran(_) | Self::Printed(_))
    }
}

/// What a hook of ours told a session, by names alone: its words are those of other sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldNames {
    /// Short ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<String>,
    /// Ids of notes, of rules and of what was left open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<String>,
    /// As they were named: paths, or the ends of paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Commands that check something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// Commands that a note, a rule or a decision says not to run, by the words that they begin with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warned: Vec<String>,
    /// What notes and rules say that the user wants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<ToldRule>,
    /// How many tokens that took, as estimated; 0 where it was not counted yet.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tokens: usize,
}

/// A sentence of a note or a rule, by hashes of its words: by them it is known again if the user says it once more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldRule {
    /// That of the note or the rule.
    pub id: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wanted: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unwanted: Vec<u32>,
    /// What it wants done, by the names that `analyze::rules` has for that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deeds: Vec<String>,
}

impl ToldNames {
    /// Does it name nothing?
    pub fn is_empty(&self) -> bool {
        let Self { sessions, statements, files, checks, warned, rules, tokens: _ } = self;
        [sessions, statements, files, checks, warned].iter().all(|names| names.is_empty()) && rules.is_empty()
    }

    /// Takes in what was told later.
    pub fn add(&mut self, later: Self) {
        let Self { sessions, statements, files, checks, warned, rules, tokens } = later;
        self.tokens += tokens;
        for (own, more) in [
            (&mut self.sessions, sessions),
            (&mut self.statements, statements),
            (&mut self.files, files),
            (&mut self.checks, checks),
            (&mut self.warned, warned),
        ] {
            for name in more {
                if !own.contains(&name) {
                    own.push(name);
                }
            }
        }
        for rule in rules {
            if !self.rules.contains(&rule) {
                self.rules.push(rule);
            }
        }
    }
}

/// Evidence as it is loaded: it lies between a session's entries, and is none of them.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedEvidence {
    pub key: RecordKey,
    pub at: Option<Millis>,
    pub agent: Option<String>,
    /// How many entries of the session come before it.
    pub after: usize,
    pub evidence: Evidence,
}

/// The steps of one shell command that later questions are about: git, checks, files that go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellRun {
    /// The client's id of the tool use.
    pub tool: String,
    pub steps: Vec<ShellStep>,
    /// The folder that the session was in before it, if the client says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The branch that the session was on before it, where it has steps of git and the client says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellStep {
    pub kind: StepKind,
    /// The words of the step, quoted as for a shell, without a commit's message; 300 characters at most. Those of a check or of other work begin
    /// with the variables that it is given, then what starts it (`uv run`).
    pub line: String,
    /// What a commit or a pull request is called, a blank line, and the rest of its text: 1,200 characters at most.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Even if the whole command succeeded, this step may have failed, or not have run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub masked: bool,
    /// The next step that is kept ran only if this one succeeded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needed: bool,
    /// The folder that the command had gone to, as it was typed; empty if it stayed where the session was.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// `git` and `gh pr`.
    Git,
    /// Removes or moves files.
    Files,
    /// Tests, lints, builds.
    Check,
    /// Any other program that does something.
    Work,
}

/// The lines that such a command printed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellPrint {
    pub tool: String,
    pub ok: bool,
    /// The client went on before the command had ended, or the user stopped it: how it ends was not seen. Nothing else is kept of it then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unended: bool,
    /// Lines in which git tells what it did, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub git: Vec<String>,
    /// Lines in which checks tell how they ended: the first ones that tell a failure, and the last one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<String>,
    /// How many lines told how a check ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub of: usize,
    /// Of a command that failed, or of a check that told so: the lines that say most about what was wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<String>,
    /// Checks that a task runner printed before it ran them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What a person typed while the assistant worked, on its way from the queue into the conversation. Deliveries name no text in most
/// clients, so events are paired when a session is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", content = "text", rename_all = "snake_case")]
pub enum QueueEvent {
    Added(String),
    /// Delivered: the text where it is named, else that of the first in the queue.
    Delivered(Option<String>),
    /// All were taken back into the input line.
    TakenBack,
}

/// The option that was chosen in a dialog, with the assistant's description of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    pub asked: String,
    pub chosen: String,
    pub description: String,
}

impl ShellRun {
    /// The kinds of its steps.
    pub fn kinds(&self) -> StepKinds {
        let has = |kind| self.steps.iter().any(|step| step.kind == kind);
        StepKinds { git: has(StepKind::Git), check: has(StepKind::Check) || has(StepKind::Work) }
    }

    /// Adds where the session was when it ran, as its row says.
    pub(crate) fn put_place(&mut self, cwd: Option<&str>, branch: Option<&str>) {
        self.cwd = cwd.map(str::to_owned);
        self.branch = branch.filter(|_| self.kinds().git).map(str::to_owned);
    }

    /// Tells the folders of its steps as seen from where the session began: it may have been elsewhere by then.
    pub(super) fn settle(&mut self, began: Option<&str>) {
        if let Some(cwd) = self.cwd.as_deref().filter(|cwd| began.is_some_and(|began| began != *cwd)) {
            self.steps.iter_mut().for_each(|step| step.folder = joined(cwd, &step.folder));
        }
    }
}

/// Where `to` leads from a folder, each as it was typed; an empty one leads nowhere else.
pub(crate) fn joined(folder: &str, to: &str) -> String {
    match (folder, to) {
        (_, "") => folder.to_owned(),
        _ if folder.is_empty() || to.starts_with(['/', '~', '$', '`']) => to.to_owned(),
        _ => format!("{folder}/{to}"),
    }
}

/// Which kinds of steps a command has whose output is to be kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepKinds {
    pub git: bool,
    pub check: bool,
}

/// Commands whose output has not been read yet. Depends on the order of the lines only, and is stored with the checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingRuns(Vec<(String, StepKinds)>);

/// With what a parser of a transcript goes on where another one stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParserState {
    pub runs: PendingRuns,
    /// What the client's own parser keeps for itself, in its format.
    pub own: String,
}

/// Commands that are awaited at once. More are never under way; those that were interrupted have no output.
const MAX_PENDING: usize = 32;

impl PendingRuns {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn begin(&mut self, run: &ShellRun) {
        if self.0.len() == MAX_PENDING {
            self.0.remove(0);
        }
        self.0.push((run.tool.clone(), run.kinds()));
    }

    /// The kinds of the command with this id, if it is awaited.
    pub fn of(&self, tool: &str) -> Option<StepKinds> {
        self.0.iter().find(|(id, _)| id == tool).map(|(_, kinds)| *kinds)
    }

    pub fn end(&mut self, tool: &str) {
        self.0.retain(|(id, _)| id != tool);
    }
}
