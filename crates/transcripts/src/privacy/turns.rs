//! Tracks privacy from line to line of a transcript: whether the turn is private, and which results must not be stored.
//!
//! A turn is private if `<private>` left nothing meaningful of its prompt, and from an answer on of which the same holds. Nothing
//! of it is stored: no reply, no tool use, no result, nor any later summary by the client, which may reveal it.
//!
//! ## Invariants
//! Depends only on the order of the lines and is stored with the checkpoint, so that it does not matter in how many pieces a
//! transcript is read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Sanitizer;
use crate::session::{Evidence, Item, Millis, ParserState, PendingRuns, Record, RecordKey, ShellPrint, ShellRun, TitleBy, Turn};
use crate::title_filter::TitleFilter;
use crate::undone_prompts::{NOT_SAID_YET, PromptLink, TurnChain, mark};

/// What becomes of the result of a tool use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ResultFate {
    /// That it ended, and how, may be stored, but not its output.
    Withheld,
    /// Dropped with the tool use, which is not stored.
    Dropped,
    /// Dropped with its private turn, along with what the user said in it.
    Private,
    /// Stored, but never as the user's words: the tool is an MCP server's, which may print what the client's dialogs do.
    Foreign,
}

/// Whether a conversation is or has been private.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Privacy {
    #[default]
    Never,
    /// An earlier turn was private.
    Before,
    /// The current turn is private.
    Now,
}

/// The state between two lines of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConversationState {
    privacy: Privacy,
    /// Tool uses whose results are outstanding, by the client's id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    waiting: BTreeMap<String, ResultFate>,
    /// The subagent whose file this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<AgentStart>,
    /// The turns that the next record may continue.
    #[serde(skip_serializing_if = "TurnChain::is_empty")]
    chain: TurnChain,
    #[serde(skip_serializing_if = "TitleFilter::is_empty")]
    titles: TitleFilter,
    /// Commands whose output is still to come.
    #[serde(skip_serializing_if = "PendingRuns::is_empty")]
    runs: PendingRuns,
    /// What the client's parser keeps.
    #[serde(skip_serializing_if = "String::is_empty")]
    parser: String,
    /// A record of the user's folders was kept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    begun: bool,
}

/// When a subagent began, and for which prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentStart {
    pub at: Option<Millis>,
    pub prompt: Option<String>,
}

/// The result of passing a record through the conversation.
#[derive(Debug, PartialEq, Eq)]
pub enum Disposition {
    Kept,
    /// Nothing of it may be stored.
    Private,
}

/// The beginning or the end of a private turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateBoundary {
    pub session: String,
    pub at: Millis,
    pub begins: bool,
    /// The client's id of the private prompt.
    pub prompt: Option<String>,
}

impl ConversationState {
    /// Restores a stored state; an unreadable one counts as the initial state.
    pub fn restore(stored: &str) -> Self {
        serde_json::from_str(stored).unwrap_or_default()
    }

    /// The state for a file that replaces one with this state: only the titles given in the session carry over.
    pub fn for_replaced_file(stored: &str) -> Self {
        Self { titles: Self::restore(stored).titles, ..Self::default() }
    }

    /// The state for a conversation whose unknown beginning held something private.
    pub(crate) fn after_something_private() -> Self {
        Self { privacy: Privacy::Now, ..Self::default() }
    }

    /// Notes that a malformed line had a private tag: what follows may be about it.
    pub fn note_malformed_private(&mut self) {
        self.privacy = Privacy::Now;
    }

    /// The state in its stored format; empty for the initial state.
    pub fn stored(&self) -> String {
        if *self == Self::default() { String::new() } else { serde_json::to_string(self).unwrap_or_default() }
    }

    /// How the subagent of this file began.
    pub fn agent(&self) -> Option<&AgentStart> {
        self.agent.as_ref()
    }

    /// Was a record of it kept? What comes before the first may belong to a folder that is left out.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// With what the parser of the file goes on.
    pub fn parser(&self) -> ParserState {
        ParserState { runs: self.runs.clone(), own: self.parser.clone() }
    }

    /// Notes that, for whoever reads on.
    pub fn note_parser(&mut self, state: ParserState) {
        ParserState { runs: self.runs, own: self.parser } = state;
    }

    /// Notes a record of which nothing is stored, but which others may have as their parent.
    pub fn note_parent(&mut self, row: RecordKey, parent: Option<RecordKey>) {
        self.chain.goes_on(mark(row), parent.map(mark));
    }

    /// The place of the next prompt of a user who went back to behind a record.
    pub fn went_back(&self, behind: RecordKey, offset: u64) -> PromptLink {
        let parent = mark(behind);
        PromptLink {
            key: NOT_SAID_YET,
            parent: Some(parent),
            follows: self.chain.prompt_of(parent),
            offset: offset as i64,
            at: None,
        }
    }

    /// Places a record at `offset` in the chain before it passes; returns the prompt if it begins a turn. Removes titles that were
    /// not given in this session.
    pub fn place(&mut self, row: &mut Record, offset: u64) -> Option<PromptLink> {
        self.begun = true;
        let (key, parent) = (mark(row.key), row.parent.map(mark));
        if row.agent.is_some() {
            return None;
        }
        self.titles.pass(row);
        if !matches!(row.turn, Turn::Begins | Turn::BeginsPrivate) || !row.answered.is_empty() {
            self.chain.goes_on(key, parent);
            return None;
        }
        let follows = self.chain.begins(key, parent);
        Some(PromptLink { key, parent, follows, offset: offset as i64, at: row.at })
    }

    /// Removes from a record what must not be stored. Also returns where a private turn begins or ends.
    pub fn pass(&mut self, row: &mut Record, sanitizer: &Sanitizer) -> (Disposition, Option<PrivateBoundary>) {
        let boundary = self.turn(row);
        if row.agent.is_some() {
            let began = self.agent.get_or_insert_default();
            began.at = began.at.or(row.at);
            began.prompt = began.prompt.take().or_else(|| row.prompt.clone());
        }
        let answers_private = row.answered.iter().any(|id| self.waiting.get(id) == Some(&ResultFate::Private));
        if answers_private || self.privacy == Privacy::Now && row.turn != Turn::Joins {
            self.waiting.extend(row.items.iter().filter_map(tool_id).map(|id| (id.to_owned(), ResultFate::Private)));
            row.answered.iter().for_each(|id| _ = self.waiting.remove(id));
            return (Disposition::Private, boundary);
        }
        let mut parts = std::mem::take(&mut row.parts).into_iter();
        let mut is_foreign = row.answered.iter().any(|id| self.waiting.get(id) == Some(&ResultFate::Foreign));
        row.items.retain_mut(|item| {
            if let Item::Outcome(outcome) = item {
                is_foreign = self.waiting.get(&outcome.tool) == Some(&ResultFate::Foreign);
            }
            let is_answer = matches!(item, Item::Answer(_) | Item::Evidence(Evidence::Choice(_)));
            let kept = !(is_foreign && is_answer) && self.keeps_item(item, sanitizer);
            row.parts.extend(parts.next().filter(|_| kept));
            kept
        });
        row.answered.iter().for_each(|id| _ = self.waiting.remove(id));
        (Disposition::Kept, boundary)
    }

    fn turn(&mut self, row: &Record) -> Option<PrivateBoundary> {
        let before = self.privacy;
        let answers = !row.answered.is_empty();
        if matches!(row.turn, Turn::Begins | Turn::BeginsPrivate) && !answers {
            // An interrupted tool use gets no result any more, but a private or foreign one stays that however late it ends.
            self.waiting.retain(|_, fate| matches!(fate, ResultFate::Private | ResultFate::Foreign));
        }
        match row.turn {
            Turn::BeginsPrivate => self.privacy = Privacy::Now,
            Turn::Begins if before == Privacy::Now => self.privacy = Privacy::Before,
            Turn::Begins | Turn::Joins | Turn::Continues => {}
        }
        let changed = (before == Privacy::Now) != (self.privacy == Privacy::Now);
        let at = row.at.filter(|_| changed)?;
        // What belongs to a prompt began before its answers.
        let prompt = row.prompt.clone().filter(|_| !answers);
        Some(PrivateBoundary { session: row.session.clone(), at, begins: self.privacy == Privacy::Now, prompt })
    }

    fn keeps_item(&mut self, item: &mut Item, sanitizer: &Sanitizer) -> bool {
        match item {
            Item::Reply(text) => !text.is_empty(),
            Item::Title(title) if title.by == TitleBy::User => true,
            // These summarize everything before them.
            Item::Title(_) | Item::Recap(_) | Item::Away(_) => self.privacy == Privacy::Never,
            Item::Tool(tool) => {
                let fate = match () {
                    () if sanitizer.skips(tool) => Some(ResultFate::Dropped),
                    () if sanitizer.withhold(tool) => Some(ResultFate::Withheld),
                    () => tool.is_of_server().then_some(ResultFate::Foreign),
                };
                self.waiting.extend(fate.filter(|_| !tool.id.is_empty()).map(|fate| (tool.id.clone(), fate)));
                fate != Some(ResultFate::Dropped)
            }
            Item::Outcome(outcome) => match self.waiting.get(&outcome.tool) {
                Some(ResultFate::Dropped | ResultFate::Private) => false,
                Some(ResultFate::Withheld) => {
                    outcome.brief.clear();
                    true
                }
                Some(ResultFate::Foreign) => {
                    if outcome.is_decision_of_user() {
                        outcome.brief.clear();
                    }
                    true
                }
                None => true,
            },
            Item::Evidence(Evidence::Ran(ShellRun { tool, .. }) | Evidence::Printed(ShellPrint { tool, .. })) => {
                !self.waiting.contains_key(tool)
            }
            _ => true,
        }
    }
}

fn tool_id(item: &Item) -> Option<&str> {
    match item {
        Item::Tool(tool) => Some(tool.id.as_str()).filter(|id| !id.is_empty()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{FileTouch, Outcome, RecordKey, Title, ToolUse, Touch};
    use proptest::prelude::*;

    fn row(turn: Turn, item: Item) -> Record {
        Record { turn, at: Some(1), ..Record::of(RecordKey([0; 16]), item) }
    }

    fn title() -> Item {
        Item::Title(Title { text: "t".into(), by: TitleBy::Client, leaf: None })
    }

    fn read(id: &str, path: &str) -> Item {
        let file = FileTouch { path: path.into(), how: Touch::Read, added: 0, removed: 0 };
        Item::Tool(ToolUse::new(id, "Read", path, Some(file)))
    }

    fn outcome(id: &str) -> Item {
        Item::Outcome(Outcome { tool: id.into(), ok: false, brief: "KEY=1".into() })
    }

    fn sanitizer() -> Sanitizer {
        let files = crate::privacy::PrivateFiles::new(vec!["**/.env*".into()], globset::GlobSet::empty());
        Sanitizer::new(
            redact::Redactor::shipped().clone(),
            regex::RegexSet::empty(),
            files,
            crate::privacy::SkippedTools::named(vec!["Skill".into()]),
        )
    }

    /// What is left of records, with the conversation stored and restored between each two.
    fn pass(rows: Vec<Record>, restored: bool) -> Vec<Vec<Item>> {
        let mut conversation = ConversationState::default();
        let mut left = Vec::new();
        for mut row in rows {
            if restored {
                conversation = ConversationState::restore(&conversation.stored());
            }
            let (passed, _) = conversation.pass(&mut row, &sanitizer());
            left.push(if passed == Disposition::Kept { row.items } else { Vec::new() });
        }
        left
    }

    #[test]
    fn a_private_turn_goes_up_to_the_next_prompt_and_summaries_go_for_good() {
        let reply = || Item::Reply("r".into());
        let rows = vec![
            row(Turn::Continues, title()),
            row(Turn::BeginsPrivate, Item::Interrupted),
            row(Turn::Continues, reply()),
            row(Turn::Joins, Item::Prompt("and this".into())),
            row(Turn::Continues, reply()),
            row(Turn::Begins, Item::Prompt("next".into())),
            row(Turn::Continues, reply()),
            row(Turn::Continues, title()),
            row(Turn::Continues, Item::Recap("all".into())),
        ];
        let left: Vec<usize> = pass(rows, true).iter().map(Vec::len).collect();
        assert_eq!(left, [1, 0, 0, 1, 0, 1, 1, 0, 0]);
    }

    #[test]
    fn results_go_the_way_of_their_tool_uses() {
        let skill = ToolUse::new("c", "Skill", "x", None);
        let rows = vec![
            row(Turn::Continues, read("a", "/r/.env")),
            row(Turn::Continues, read("b", "/r/main.rs")),
            row(Turn::Continues, Item::Tool(skill)),
            row(Turn::Continues, outcome("b")),
            row(Turn::Continues, outcome("a")),
            row(Turn::Continues, outcome("c")),
        ];
        let left = pass(rows, true);
        let brief = |at: usize| match left[at].first() {
            Some(Item::Outcome(outcome)) => Some(outcome.brief.as_str()),
            _ => None,
        };
        assert_eq!((left[0].len(), left[2].len()), (1, 0));
        assert_eq!((brief(3), brief(4), brief(5)), (Some("KEY=1"), Some(""), None));
    }

    proptest! {
        // A case takes long: a quarter of as many.
        #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

        #[test]
        fn it_does_not_matter_where_the_reading_was_interrupted(kinds in prop::collection::vec(0usize..9, 0..30)) {
            let rows = || kinds.iter().map(|kind| match kind {
                0 => row(Turn::Begins, Item::Prompt("p".into())),
                1 => row(Turn::BeginsPrivate, Item::Interrupted),
                2 => row(Turn::Joins, Item::Prompt("j".into())),
                3 => row(Turn::Continues, title()),
                4 => row(Turn::Continues, read("a", ".env")),
                5 => row(Turn::Continues, outcome("a")),
                6 => Record { answered: vec!["a".into()], ..row(Turn::Continues, outcome("a")) },
                _ => row(Turn::Continues, Item::Reply("r".into())),
            }).collect();
            prop_assert_eq!(pass(rows(), true), pass(rows(), false));
        }
    }
}
