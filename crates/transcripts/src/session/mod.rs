//! The model that every stage shares: records as they leave a transcript, and sessions as they leave the index.
//!
//! Plain data, no I/O. Times are milliseconds since the Unix epoch, UTC.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::client::Client;

mod answer;
mod elsewhere;
mod evidence;
mod facts;
mod item;
mod key;

pub use self::answer::{Answer, said};
pub use self::elsewhere::ToldElsewhere;
pub use self::facts::SessionFacts;
pub use evidence::*;
pub use item::*;
pub use key::hex;
pub use key::{RecordKey, hash_parts, ids_in, short_id, unused_id};

/// Milliseconds since the Unix epoch.
pub type Millis = i64;

/// Tokens of one API message. The lines of one message repeat its usage while it grows: the largest counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageUsage {
    pub message: String,
    pub model: String,
    pub tokens: Tokens,
}

/// Suffixes of the model ids under which requests in fast mode, or with US-only inference, are counted.
pub const FAST_SUFFIX: &str = "-fast";
pub const US_SUFFIX: &str = "-us";

/// Tokens of one message or of many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    /// Written to the cache for five minutes.
    pub cache_write: u64,
    /// Written to the cache for an hour, at a higher price.
    pub cache_write_hour: u64,
    pub cache_read: u64,
    /// The part that belongs to requests with a long prompt, if that was determined.
    #[serde(default, skip_serializing_if = "TokenCounts::is_empty")]
    pub long: TokenCounts,
    /// What the client says that they cost, in millionths of a US dollar; 0 where it does not say.
    #[serde(default, skip_serializing_if = "is_zero_cost")]
    pub stated_cost: u64,
}

fn is_zero_cost(cost: &u64) -> bool {
    *cost == 0
}

/// Tokens billed at the same price level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenCounts {
    pub input: u64,
    pub output: u64,
    pub cache_write: u64,
    pub cache_write_hour: u64,
    pub cache_read: u64,
}

impl TokenCounts {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn with(&self, other: &Self, sum: fn(u64, u64) -> u64) -> Self {
        Self {
            input: sum(self.input, other.input),
            output: sum(self.output, other.output),
            cache_write: sum(self.cache_write, other.cache_write),
            cache_write_hour: sum(self.cache_write_hour, other.cache_write_hour),
            cache_read: sum(self.cache_read, other.cache_read),
        }
    }

    pub fn without(&self, part: &Self) -> Self {
        self.with(part, u64::saturating_sub)
    }
}

impl From<TokenCounts> for Tokens {
    fn from(TokenCounts { input, output, cache_write, cache_write_hour, cache_read }: TokenCounts) -> Self {
        Self { input, output, cache_write, cache_write_hour, cache_read, ..Self::default() }
    }
}

impl Tokens {
    pub fn all(&self) -> TokenCounts {
        let Self { input, output, cache_write, cache_write_hour, cache_read, .. } = *self;
        TokenCounts { input, output, cache_write, cache_write_hour, cache_read }
    }

    pub fn total(&self) -> u64 {
        let all = [self.input, self.output, self.cache_write, self.cache_write_hour, self.cache_read];
        all.into_iter().fold(0, u64::saturating_add)
    }
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        // Saturating, as an import may hold any number.
        let long = self.long.with(&other.long, u64::saturating_add);
        let stated_cost = self.stated_cost.saturating_add(other.stated_cost);
        *self = Self { long, stated_cost, ..self.all().with(&other.all(), u64::saturating_add).into() };
    }
}

/// A record's position in the conversation's turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Turn {
    #[default]
    Continues,
    /// The user's prompt.
    Begins,
    /// A prompt, or an answer in a dialog, of which `<private>` left nothing meaningful.
    BeginsPrivate,
    /// What the user said during a turn.
    Joins,
}

/// What a record says about its session's title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TitleEvent {
    /// The session continues one that was cleared, which may have had a title.
    Cleared,
    /// The user gave the session a title.
    Renamed,
    /// A hook gave the session this title.
    HookTitled(String),
}

/// A parsed transcript line on its way into the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub key: RecordKey,
    pub session: String,
    /// The subagent that wrote it; `None` for the main conversation.
    pub agent: Option<String>,
    pub at: Option<Millis>,
    pub cwd: Option<String>,
    pub branch: Option<String>,
    pub version: Option<String>,
    pub turn: Turn,
    pub sign: Option<TitleEvent>,
    /// The record it follows, if it names one.
    pub parent: Option<RecordKey>,
    /// The client's id of the prompt it belongs to, in newer clients; records of that prompt's subagents carry it too.
    pub prompt: Option<String>,
    /// What the user marked as private in it. Never stored.
    pub fenced: String,
    /// Tool uses whose results this record holds, by the client's id.
    pub answered: Vec<String>,
    pub items: Vec<Item>,
    /// The index of each item among all the record says, stored or not: an item's identity must not depend on rules that change.
    pub parts: Vec<i64>,
    pub usage: Option<MessageUsage>,
}

impl Record {
    /// The same, and its commands say where the session was when they ran.
    pub(crate) fn with_places(mut self) -> Self {
        for item in &mut self.items {
            if let Item::Evidence(Evidence::Ran(run)) = item {
                run.put_place(self.cwd.as_deref(), self.branch.as_deref());
            }
        }
        self
    }

    /// A record of a single item, with nothing else known.
    pub fn of(key: RecordKey, item: Item) -> Self {
        Self {
            key,
            session: String::new(),
            agent: None,
            at: None,
            cwd: None,
            branch: None,
            version: None,
            turn: Turn::Continues,
            sign: None,
            parent: None,
            prompt: None,
            fenced: String::new(),
            answered: Vec::new(),
            items: vec![item],
            parts: vec![0],
            usage: None,
        }
    }
}

/// Is this the client's own agent that sums a conversation up before it is compacted? What it says ends where it stops: six of seven of
/// its sentences were overtaken later in 1,000 real transcripts.
pub fn is_compaction_agent(agent: &str) -> bool {
    agent.starts_with("acompact")
}

/// A project: everything that shares one git common directory, else one folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// The root's path, or the transcript folder's name if no path is known.
    pub key: String,
}

impl Project {
    /// The last part of the key, for display. Never an identity.
    pub fn name(&self) -> &str {
        let name = self.key.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        if name.is_empty() { &self.key } else { name }
    }
}

/// A stored session in the order of its records, complete but for what was left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    pub id: String,
    pub client: Client,
    pub project: Project,
    pub cwd: Option<String>,
    pub branches: Vec<String>,
    pub versions: Vec<String>,
    /// The reason the client gave when the session ended, if a mark recorded it.
    pub end_reason: Option<String>,
    pub entries: Vec<Entry>,
    /// What proves things that are told of the session, in the order of its records.
    pub evidence: Vec<PlacedEvidence>,
    /// Was every record read with its evidence? Else what is not there may have happened.
    pub evident: bool,
    pub usage: BTreeMap<String, Tokens>,
    /// How many subagents worked for it.
    pub agents: usize,
    pub left_out: OmittedItems,
    /// What another machine told of it, where its records are not here.
    pub told: Option<Box<ToldElsewhere>>,
    /// When it was, where no stored record tells: its first row that does, else when its transcripts last grew.
    pub otherwise_at: Millis,
}

/// What was not loaded of a session over the load limit; zero for almost all sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct OmittedItems {
    pub items: usize,
    /// How many of them are prompts of the user.
    pub prompts: usize,
    /// How many of these, without those that were said during a turn, lie before a record of the main conversation: of the first that is
    /// loaded behind each gap.
    #[serde(skip)]
    pub prompts_before: BTreeMap<RecordKey, usize>,
}

impl OmittedItems {
    /// The message for the user, if anything was left out.
    pub fn told(&self) -> Option<String> {
        let Self { items, prompts, .. } = self;
        (*items > 0).then(|| {
            format!(
                "too long to be looked at whole: {items} items, {prompts} prompts among them, are left out here; search knows their words"
            )
        })
    }
}

/// A stored item with its record, time and outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: RecordKey,
    pub at: Option<Millis>,
    pub agent: Option<String>,
    pub item: Item,
    /// For a tool use: how it ended. For a plan: how the tool use ended that presented it to the user.
    pub outcome: Option<Outcome>,
}

impl Entry {
    pub fn is_main(&self) -> bool {
        self.agent.is_none()
    }

    /// The user's own words: a prompt or an answer of the main conversation, without the question.
    #[cfg(any(test, feature = "testing"))]
    pub fn user_words(&self) -> Option<&str> {
        match &self.item {
            Item::Prompt(text) if self.is_main() => Some(text),
            Item::Answer(answer) if self.is_main() => Some(&answer.said),
            _ => None,
        }
    }

    /// Is this a plan that the user turned down, or that never reached the user?
    pub fn is_refused_plan(&self) -> bool {
        matches!(self.item, Item::Plan(_)) && self.outcome.as_ref().is_some_and(|outcome| !outcome.ok)
    }
}

impl Session {
    /// The same, and its commands ran where their rows say.
    pub fn with_places(mut self) -> Self {
        for placed in &mut self.evidence {
            if let Evidence::Ran(run) = &mut placed.evidence {
                run.settle(self.cwd.as_deref());
            }
        }
        self
    }

    /// Takes out the words of the assistant's replies in these records. That it replied is still known.
    pub fn empty_replies(&mut self, is_taken_out: impl Fn(RecordKey) -> bool) {
        for entry in self.entries.iter_mut().filter(|entry| is_taken_out(entry.key)) {
            if let Item::Reply(text) = &mut entry.item {
                text.clear();
            }
        }
    }

    pub fn prompts(&self) -> impl Iterator<Item = (&Entry, &str)> {
        self.entries.iter().filter_map(|e| match &e.item {
            Item::Prompt(text) if e.is_main() => Some((e, text.as_str())),
            _ => None,
        })
    }

    fn facts_told(&self) -> Option<&SessionFacts> {
        self.told.as_ref().map(|told| &told.facts)
    }

    /// The number of prompts, including those that were left out.
    pub fn count_prompts(&self) -> usize {
        self.facts_told().map_or_else(|| self.prompts().count() + self.left_out.prompts, |facts| facts.prompts)
    }

    /// Is part of what it used not known? It started subagents of which no record was read, or was answered by a client that tells no tokens.
    pub fn lacks_usage(&self) -> bool {
        let started = |e: &Entry| {
            let starts = matches!(&e.item, Item::Tool(tool) if tool.class() == ToolClass::Subagent);
            starts && e.outcome.as_ref().is_none_or(|outcome| outcome.ok)
        };
        let lacks = || self.agents == 0 && self.entries.iter().any(started) || self.usage.is_empty() && self.has_work();
        self.facts_told().map_or_else(lacks, |facts| facts.lacks_usage)
    }

    /// When the user first spoke, else when the first stored record was written.
    pub fn began_at(&self) -> Option<Millis> {
        let began_at = || self.prompts().find_map(|(e, _)| e.at).or_else(|| self.entries.iter().find_map(|e| e.at));
        self.facts_told().map_or_else(began_at, |facts| facts.began_at)
    }

    pub fn last_at(&self) -> Option<Millis> {
        self.facts_told().map_or_else(|| self.entries.iter().filter_map(|e| e.at).max(), |facts| facts.last_at)
    }

    /// Did anything answer the user: words or a tool use?
    pub fn has_work(&self) -> bool {
        self.entries.iter().any(|e| matches!(e.item, Item::Reply(_) | Item::Tool(_) | Item::Plan(_)))
    }

    /// A path relative to the session's folder or its project.
    pub fn relative<'a>(&'a self, path: &'a str) -> &'a str {
        let roots = [self.cwd.as_deref(), Some(self.project.key.as_str())];
        roots
            .into_iter()
            .flatten()
            .filter(|root| root.len() > 1)
            .find_map(|root| path.strip_prefix(root)?.strip_prefix('/'))
            .unwrap_or(path)
    }
}
