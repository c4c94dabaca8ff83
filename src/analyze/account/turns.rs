//! Turns: what the user said, beside what, and the reply with which the assistant closed.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::object::{self, PromptObject};
use text::clean::one_line;
use transcripts::session::{APPROVED, REFUSED};
use transcripts::session::{Entry, Evidence, Item, Millis, QueueEvent, RecordKey, Session, ToolClass, ToolUse, title_of_plan};

/// From a prompt of the user's to the next one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// From 1, those of a long session counted that are left out; 0 for what comes before the first prompt that is known.
    pub number: usize,
    pub at: Option<Millis>,
    /// The prompt first, then what the user said meanwhile.
    pub words: Vec<Word>,
    pub reply: Option<ClosingReply>,
    /// The records of its reply, also of one that was taken out; not stored.
    #[serde(skip)]
    pub reply_rows: Vec<RecordKey>,
    /// It had a reply that was taken out, or of which nothing may be told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) reply_hidden: bool,
    pub interrupted: bool,
    /// The client's words, if the turn ended without an answer of the model's service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    pub at: Option<Millis>,
    #[serde(flatten)]
    pub kind: WordKind,
    /// In the user's own words; empty if they only chose.
    pub text: String,
    /// What it answers, if it is a short prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<PromptObject>,
}

impl Word {
    fn new(at: Option<Millis>, kind: WordKind, text: &str) -> Self {
        Self { at, kind, text: text.to_owned(), object: None }
    }
}

impl Word {
    /// May the user say by it what holds from now on? Answers may be words that the assistant proposed, and a plan is its own.
    pub(crate) fn is_correction(&self) -> bool {
        matches!(self.kind, WordKind::Prompt | WordKind::Joined | WordKind::Refused { .. })
    }
}

/// What the user did by speaking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WordKind {
    Prompt,
    /// A plan of the assistant's that the user handed over to be done: its title.
    PlanGiven {
        plan: String,
    },
    /// Said while the assistant worked.
    Joined,
    Answered {
        asked: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        description: String,
    },
    /// Refused what a tool was to do.
    Refused {
        what: String,
    },
    Approved {
        plan: String,
    },
    /// A command that the user ran.
    Ran,
}

/// The assistant's text after its last tool use in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosingReply {
    pub at: Option<Millis>,
    pub text: String,
    /// Work went on after it, and no text closed that.
    pub cut_off: bool,
}

/// How the client begins a prompt by which a plan is handed over to another session.
const PLAN_GIVEN: &str = "Implement the following plan:";
/// How the client begins a prompt that a hook of the user's wrote.
const STOPPED_BY_HOOK: &str = "Operation stopped by hook:";
/// Prompts that begin alike by so many characters are one that was typed anew, unless something was said between them.
const SAME_BEGINNING_CHARS: usize = 60;

/// A shorter reply says little by itself, in characters.
const SHORT_REPLY_CHARS: usize = 400;

/// The last reply, with the place of its turn.
pub(crate) fn last_reply(turns: &[Turn]) -> Option<(usize, &ClosingReply)> {
    turns.iter().enumerate().rev().find_map(|(at, turn)| Some((at, turn.reply.as_ref()?)))
}

/// The nearest reply before the last one that says something by itself.
pub(crate) fn longer_reply(before: &[Turn]) -> Option<(usize, &ClosingReply)> {
    let says_something = |reply: &&ClosingReply| !reply.cut_off && reply.text.chars().count() >= SHORT_REPLY_CHARS;
    before.iter().enumerate().rev().find_map(|(at, turn)| Some((at, turn.reply.as_ref().filter(says_something)?)))
}

/// The replies that tell where a session ended: the last one, and the longer one before it if it says little.
pub(crate) fn ending_replies(turns: &[Turn]) -> Vec<(usize, &ClosingReply)> {
    let Some((last, reply)) = last_reply(turns) else { return Vec::new() };
    let longer = longer_reply(&turns[..last]).filter(|_| reply.text.chars().count() < SHORT_REPLY_CHARS);
    [Some((last, reply)), longer].into_iter().flatten().collect()
}

/// What the last reply is called, that of the turn at this place: a later one may be hidden.
pub(crate) fn name_of_last_reply(turns: &[Turn], at: usize) -> &'static str {
    let is_last = turns[at + 1..].iter().all(|turn| !turn.reply_hidden);
    if is_last { "last reply" } else { "last reply that is not hidden" }
}

/// Did the user type a prompt? A plan that is handed over and the words of a hook came from elsewhere.
pub(crate) fn is_typed(prompt: &str) -> bool {
    !prompt.starts_with(PLAN_GIVEN) && !prompt.starts_with(STOPPED_BY_HOOK)
}

/// The turns in which something is told.
pub(super) fn of(session: &Session) -> Vec<Turn> {
    let mut turns = all_turns(session);
    turns.retain(|turn| !turn.words.is_empty() || turn.reply.is_some());
    turns
}

/// All turns, also those of which nothing is left to tell.
pub(crate) fn all_turns(session: &Session) -> Vec<Turn> {
    let joined = session.evidence.iter().filter(|placed| placed.evidence == Evidence::Joined).map(|placed| placed.key);
    let mut turns = TurnBuilder { joined: joined.collect(), ..TurnBuilder::default() };
    let mut evidence = session.evidence.iter().filter(|placed| placed.agent.is_none()).peekable();
    for (n, entry) in session.entries.iter().enumerate() {
        while let Some(placed) = evidence.next_if(|placed| placed.after <= n) {
            turns.evidence(&placed.evidence, placed.at);
        }
        if entry.is_main() {
            if let Some(prompts) = session.left_out.prompts_before.get(&entry.key) {
                turns.left_out(*prompts);
            }
            turns.entry(session, n, entry);
        }
    }
    evidence.for_each(|placed| turns.evidence(&placed.evidence, placed.at));
    turns.finish(session)
}

/// A text of the assistant's; empty if it was taken out.
struct SaidText<'s> {
    at: Option<Millis>,
    text: &'s str,
    row: RecordKey,
}

#[derive(Default)]
struct TurnBuilder<'s> {
    all: Vec<Turn>,
    /// Records whose prompt was said during a turn.
    joined: HashSet<RecordKey>,
    /// Texts since the last tool use, and the last text before it.
    closing: Vec<SaidText<'s>>,
    before: Option<SaidText<'s>>,
    /// A list of tasks came since the last text.
    listed: bool,
    queue: Vec<(Option<Millis>, String)>,
    /// Delivered from the queue: the turn it fell into.
    delivered: Vec<(usize, Word)>,
    /// What the next answer refuses.
    refused: Option<String>,
    /// How many prompts were left out so far.
    left_out: usize,
}

impl<'s> TurnBuilder<'s> {
    fn turn(&mut self) -> &mut Turn {
        if self.all.is_empty() {
            self.all.push(Turn::default());
        }
        let last = self.all.len() - 1;
        &mut self.all[last]
    }

    fn entry(&mut self, session: &Session, n: usize, entry: &'s Entry) {
        match &entry.item {
            Item::Prompt(text) if text.starts_with(STOPPED_BY_HOOK) => {}
            Item::Prompt(text) if self.joined.contains(&entry.key) => self.say(entry.at, WordKind::Joined, text),
            Item::Prompt(text) => self.begin(entry.at, text),
            Item::Answer(answer) if answer.asked.is_empty() => {
                let what = self.refused.take().unwrap_or_default();
                self.say(entry.at, WordKind::Refused { what }, &answer.said);
            }
            Item::Answer(answer) => {
                let description = description_of(session, entry.key, &answer.asked, &answer.said);
                self.say(entry.at, WordKind::Answered { asked: answer.asked.clone(), description }, &answer.said);
            }
            Item::Interrupted => self.turn().interrupted = true,
            // A list of tasks stands between two replies, and is no work that a reply would have to close.
            Item::Todos(_) | Item::Task(_) => self.listed = true,
            Item::Reply(text) => {
                if std::mem::take(&mut self.listed) {
                    self.closing.clear();
                }
                self.closing.push(SaidText { at: entry.at, text, row: entry.key });
                let turn = self.turn();
                (turn.interrupted, turn.api_error) = (false, None);
            }
            Item::Tool(tool) if tool.id.is_empty() && tool.line.starts_with("! ") => {
                self.say(entry.at, WordKind::Ran, &tool.line[2..]);
            }
            Item::Tool(tool) => {
                self.turn();
                self.before = self.closing.pop().or(self.before.take());
                self.closing.clear();
                let brief = entry.outcome.as_ref().map_or("", |outcome| outcome.brief.as_str());
                if brief == REFUSED {
                    self.refuse(session, n, entry, tool);
                } else if brief == APPROVED {
                    self.say(entry.at, WordKind::Approved { plan: plan_before(session, n) }, "");
                }
            }
            _ => {}
        }
    }

    fn evidence(&mut self, evidence: &Evidence, at: Option<Millis>) {
        match evidence {
            Evidence::ApiError(words) => self.turn().api_error = Some(words.clone()),
            Evidence::Queue(QueueEvent::Added(text)) => self.queue.push((at, text.clone())),
            Evidence::Queue(QueueEvent::TakenBack) => self.queue.clear(),
            Evidence::Queue(QueueEvent::Delivered(text)) if !self.queue.is_empty() => {
                let named = |(_, queued): &(Option<Millis>, String)| text.as_ref().is_some_and(|text| text == queued);
                let (at, text) = self.queue.remove(self.queue.iter().position(named).unwrap_or(0));
                if !text.is_empty() {
                    self.turn();
                    self.delivered.push((self.all.len() - 1, Word::new(at, WordKind::Joined, &text)));
                }
            }
            _ => {}
        }
    }

    /// What follows belongs to a turn whose prompt is left out, as are `prompts` so far.
    fn left_out(&mut self, prompts: usize) {
        let more = prompts.saturating_sub(self.left_out);
        if more > 0 {
            self.left_out = prompts;
            self.close();
            let number = self.all.last().map_or(0, |turn| turn.number) + more;
            self.all.push(Turn { number, ..Turn::default() });
        }
    }

    fn begin(&mut self, at: Option<Millis>, text: &str) {
        let number = self.all.last().map_or(0, |turn| turn.number) + 1;
        let kind = match text.strip_prefix(PLAN_GIVEN) {
            Some(plan) => WordKind::PlanGiven { plan: title_of_plan(plan).to_owned() },
            None => WordKind::Prompt,
        };
        let text = if kind == WordKind::Prompt { text } else { "" };
        let word = Word::new(at, kind, text);
        let has_replied = !self.closing.is_empty();
        self.close();
        match self.all.last_mut().filter(|turn| turn.is_retyped_as(&word, has_replied)) {
            // What was done and said for it belongs to the prompt that took its place.
            Some(turn) => {
                turn.words[0] = word;
                turn.reply_rows.clear();
                (turn.reply, turn.reply_hidden, turn.interrupted, turn.api_error) = (None, false, false, None);
            }
            None => self.all.push(Turn { number, at, words: vec![word], ..Turn::default() }),
        }
    }

    fn say(&mut self, at: Option<Millis>, kind: WordKind, text: &str) {
        self.turn().words.push(Word::new(at, kind, text));
    }

    /// A refusal: its words, if there are any, follow in a row of their own.
    fn refuse(&mut self, session: &Session, n: usize, entry: &Entry, tool: &ToolUse) {
        let what = match tool.class() {
            ToolClass::Plan => format!("plan “{}”", plan_before(session, n)),
            ToolClass::Shell => format!("`{}`", one_line(&tool.line)),
            ToolClass::Question => "the questions".to_owned(),
            _ => format!("{} {}", tool.name, session.relative(&tool.line)).trim_end().to_owned(),
        };
        let gives_reason = session.entries[n + 1..]
            .iter()
            .filter(|later| later.is_main())
            .take_while(|later| !matches!(later.item, Item::Reply(_) | Item::Prompt(_)))
            .any(|later| matches!(&later.item, Item::Answer(answer) if answer.asked.is_empty()));
        if gives_reason {
            self.refused = Some(what);
        } else {
            self.say(entry.at, WordKind::Refused { what }, "");
        }
    }

    /// Ends the last turn.
    fn close(&mut self) {
        let texts = std::mem::take(&mut self.closing);
        let before = self.before.take();
        let Some(turn) = self.all.last_mut() else { return };
        let cut_off = texts.is_empty();
        let said: Vec<SaidText<'_>> = if cut_off { before.into_iter().collect() } else { texts };
        turn.reply_rows = said.iter().map(|said| said.row).collect();
        let told: Vec<&SaidText<'_>> = said.iter().filter(|said| !said.text.is_empty()).collect();
        turn.reply = told.last().map(|last| {
            let text = told.iter().map(|said| said.text).collect::<Vec<_>>().join("\n\n");
            ClosingReply { at: last.at, text, cut_off }
        });
        turn.reply_hidden = turn.reply.is_none() && !cut_off;
    }

    fn finish(mut self, session: &Session) -> Vec<Turn> {
        self.close();
        // What clients write as a prompt, too, is said once.
        let flat = |text: &str| one_line(text).chars().take(200).collect::<String>();
        let said: Vec<String> = session.prompts().map(|(_, text)| flat(text)).collect();
        for (turn, word) in self.delivered {
            if !said.contains(&flat(&word.text)) {
                self.all[turn].words.push(word);
            }
        }
        // Which of the turns that are left out a reply closed is not known.
        for turn in self.all.iter_mut().filter(|turn| turn.number > 0 && turn.words.is_empty()) {
            turn.reply = None;
            turn.reply_rows.clear();
        }
        object::give(&mut self.all);
        self.all
    }
}

impl Turn {
    /// Was its prompt interrupted and then typed anew, as `word`? Where the assistant `has_replied`, only a prompt that holds the other
    /// whole is the same one.
    fn is_retyped_as(&self, word: &Word, has_replied: bool) -> bool {
        let Some(first) = self.words.first().filter(|_| self.interrupted) else { return false };
        let (one, other) = (one_line(&first.text), one_line(&word.text));
        let head = |text: &str| text.chars().take(SAME_BEGINNING_CHARS).collect::<String>();
        let is_same_head = || head(&one) == head(&other) && one.chars().count() >= SAME_BEGINNING_CHARS;
        begins_with(&one, &other) || begins_with(&other, &one) || !has_replied && is_same_head()
    }
}

/// Does a text begin with all words of another, which has some?
fn begins_with(text: &str, with: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    let rest = text.strip_prefix(with).filter(|_| !with.is_empty());
    rest.is_some_and(|rest| !(rest.starts_with(joins) && with.ends_with(joins)))
}

/// The title of the plan that the tool use at `n` presented.
fn plan_before(session: &Session, n: usize) -> String {
    let plan = n.checked_sub(1).map(|before| &session.entries[before].item);
    if let Some(Item::Plan(plan)) = plan { title_of_plan(plan).to_owned() } else { String::new() }
}

/// The assistant's description of the option that was chosen.
fn description_of(session: &Session, key: RecordKey, asked: &str, said: &str) -> String {
    let of_choice = session.evidence.iter().filter(|placed| placed.key == key).find_map(|placed| match &placed.evidence {
        Evidence::Choice(choice) if choice.asked == asked && choice.chosen == said => Some(choice.description.clone()),
        _ => None,
    });
    of_choice.unwrap_or_default()
}
