//! The units a session is condensed from: its distinct items as lines, and the sentences each line can hold.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::closing_replies;
use super::facts::{Fact, facts};
use super::failures::cures;
use super::line::tool_line;
use super::stale::stale_copies;
use crate::analyze::distinct::{DistinctEntry, distinct_entries};
use crate::analyze::prose::{SpokenSentence, Voice, outline, sentences_of_line};
use crate::analyze::signal::{MemoryKind, Signal, Tier, is_filler, weight};
use text::clean::{head_and_tail, one_line, shorten};
use text::tokenize::distinctive_words;
use transcripts::session::{Answer, Item, RecordKey, Session, ToolUse, Touch, title_of_plan};

/// Longest sentence, in characters: anything longer is a list or a log.
const MAX_SENTENCE_CHARS: usize = 320;
/// Longest text of a prompt, in characters; pasted logs exceed it.
const MAX_PROMPT_CHARS: usize = 1500;
const MAX_TOOL_CHARS: usize = 420;
/// Length of the short form of a sentence and of a tool use, in characters.
const MAX_SHORT_CHARS: usize = 160;
const MAX_SHORT_TOOL_CHARS: usize = 120;

/// Candidates of one rank are placed before any of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// The user's words.
    Words,
    /// The last reply, which says where things ended.
    End,
    /// Commits that stand, and checks as they ended last.
    Fact,
    /// Items of the strong tier.
    Strong,
    /// Items of the moderate tier, and the end of each turn.
    Moderate,
    /// Everything else, if there is much room.
    Rest,
}

/// A line that may be included.
pub(crate) struct LineCandidate {
    pub(crate) rank: Rank,
    pub(crate) row: RecordKey,
    /// The speaker, as the start of the line.
    pub(crate) who: &'static str,
    /// How often the session says it.
    pub(crate) times: usize,
    /// Its parts in order, and the separator between them.
    pub(crate) units: Vec<SentenceUnit>,
    pub(crate) between: &'static str,
    /// The changed file, if the line says nothing else.
    changed: Option<String>,
}

/// A sentence, or a whole line that is one unit.
pub(crate) struct SentenceUnit {
    pub(crate) text: String,
    /// The text in its short form.
    pub(crate) short: String,
    /// From 0 to 1.5: how much it says, and its position.
    pub(crate) strength: f64,
    /// The ids of its distinctive words.
    pub(crate) terms: Vec<usize>,
}

/// Assigns ids to words.
#[derive(Default)]
pub(crate) struct TermIds(HashMap<String, usize>);

impl TermIds {
    fn of(&mut self, text: &str) -> Vec<usize> {
        let number = |word: String| {
            let next = self.0.len();
            *self.0.entry(word).or_insert(next)
        };
        distinctive_words(text).into_iter().map(number).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Everything that may be included of a session, in order.
pub(crate) fn candidates(session: &Session) -> (Vec<LineCandidate>, TermIds) {
    let closing = closing_replies(session);
    let last_reply = closing.last().copied();
    let mut maker = CandidateBuilder {
        session,
        last_reply,
        closing,
        cures: cures(session),
        facts: facts(session),
        stale: stale_copies(session),
        terms: TermIds::default(),
    };
    let all = distinct_entries(session).iter().filter_map(|one| maker.candidate(one)).collect();
    (merge_changes(all), maker.terms)
}

/// Merges consecutive uneventful file changes into one line.
fn merge_changes(all: Vec<LineCandidate>) -> Vec<LineCandidate> {
    let mut lines: Vec<LineCandidate> = Vec::new();
    let mut counts: Vec<(String, usize)> = Vec::new();
    for mut candidate in all {
        let Some(path) = candidate.changed.clone() else {
            counts.clear();
            lines.push(candidate);
            continue;
        };
        let known = counts.iter().position(|(p, _)| *p == path);
        match (known, lines.last_mut().filter(|_| !counts.is_empty())) {
            (Some(at), Some(line)) => {
                counts[at].1 += 1;
                line.units[at].say(format!("{path} ({} times)", counts[at].1));
            }
            (None, Some(line)) if line.who == candidate.who => {
                counts.push((path, 1));
                line.units.append(&mut candidate.units);
            }
            _ => {
                counts = vec![(path, 1)];
                lines.push(candidate);
            }
        }
    }
    lines
}

impl SentenceUnit {
    fn say(&mut self, text: String) {
        (self.short, self.text) = (text.clone(), text);
    }
}

struct CandidateBuilder<'s> {
    session: &'s Session,
    closing: Vec<usize>,
    last_reply: Option<usize>,
    /// What was done before a command that had failed passed, by the record of the failure.
    cures: BTreeMap<RecordKey, String>,
    facts: BTreeMap<RecordKey, Fact>,
    /// Recaps and plans that something later says again.
    stale: BTreeSet<RecordKey>,
    terms: TermIds,
}

impl CandidateBuilder<'_> {
    fn candidate(&mut self, one: &DistinctEntry<'_>) -> Option<LineCandidate> {
        let signal = one.signal;
        let rank = self.rank(one, &signal)?;
        if let Some(change) = self.change(one, &signal) {
            return Some(change);
        }
        let main = one.entry.is_main();
        let (who, units) = match &one.entry.item {
            Item::Prompt(text) if main => ("user: ", self.words_of_user(text)),
            Item::Prompt(text) => ("task of a subagent: ", self.sentences(text, one)),
            Item::Answer(answer) if main => ("user answered: ", vec![self.answer(answer)]),
            Item::Reply(text) => (if main { "assistant: " } else { "subagent assistant: " }, self.sentences(text, one)),
            Item::Plan(text) if one.entry.is_refused_plan() => ("plan that the user refused: ", self.heading(text)),
            Item::Plan(text) if self.is_stale(one) => ("plan, written again later: ", self.heading(text)),
            Item::Plan(text) => ("plan: ", self.sentences(text, one)),
            Item::Recap(text) | Item::Away(text) => ("recap: ", self.sentences(text, one)),
            Item::PullRequest(url) => ("", vec![self.unit(format!("pull request {url}"), signal.importance)]),
            Item::Interrupted => ("", vec![self.unit("the user interrupted".into(), signal.importance)]),
            Item::Tool(tool) => (if main { "" } else { "subagent " }, vec![self.tool(tool, one, &signal)]),
            _ => return None,
        };
        let candidate = LineCandidate { rank, row: one.entry.key, who, times: one.times(), units, between: " ", changed: None };
        (!candidate.units.is_empty()).then_some(candidate)
    }

    /// The line of a change that succeeded.
    fn change(&mut self, one: &DistinctEntry<'_>, signal: &Signal) -> Option<LineCandidate> {
        let Item::Tool(ToolUse { file: Some(file), .. }) = &one.entry.item else { return None };
        if signal.kind != MemoryKind::Change || one.entry.outcome.as_ref().is_some_and(|o| !o.ok) {
            return None;
        }
        let path = self.session.relative(&file.path).to_owned();
        let who = match (file.how, one.entry.is_main()) {
            (Touch::Written, true) => "wrote ",
            (Touch::Written, false) => "subagent wrote ",
            (_, true) => "edited ",
            (_, false) => "subagent edited ",
        };
        let units = vec![self.unit(path.clone(), signal.importance)];
        Some(LineCandidate { rank: Rank::Moderate, row: one.entry.key, who, times: 1, units, between: ", ", changed: Some(path) })
    }

    /// `None` for items that other lines cover, or that are never included.
    fn rank(&self, one: &DistinctEntry<'_>, signal: &Signal) -> Option<Rank> {
        if self.last_reply == Some(one.at) {
            return Some(Rank::End);
        }
        if self.fact(one).is_some() {
            return Some(Rank::Fact);
        }
        match (&one.entry.item, signal.tier()) {
            (Item::Recap(_) | Item::Away(_), _) if self.is_stale(one) => None,
            (Item::Prompt(_) | Item::Answer(_), _) if one.entry.is_main() => Some(Rank::Words),
            (Item::Todos(_) | Item::Task(_) | Item::Outcome(_) | Item::Title(_), _) => None,
            (_, Tier::Strong) => Some(Rank::Strong),
            (_, Tier::Moderate) => Some(Rank::Moderate),
            // The last reply of a turn says how it went, whatever its words.
            (Item::Reply(_), Tier::Weak) if self.closing.contains(&one.at) => Some(Rank::Moderate),
            (Item::Reply(_) | Item::Prompt(_), Tier::Weak) => Some(Rank::Rest),
            (_, Tier::Weak) => None,
        }
    }

    /// What a command says of how things stood at the end.
    fn fact(&self, one: &DistinctEntry<'_>) -> Option<Fact> {
        one.rows.iter().find_map(|row| self.facts.get(row)).copied()
    }

    fn is_stale(&self, one: &DistinctEntry<'_>) -> bool {
        self.stale.contains(&one.entry.key)
    }

    fn unit(&mut self, text: String, strength: f64) -> SentenceUnit {
        let short = shorten(&text, MAX_SHORT_CHARS);
        SentenceUnit { terms: self.terms.of(&text), text, short, strength }
    }

    /// The sentences of the user's words; of a pasted log or file, its two ends.
    fn words_of_user(&mut self, text: &str) -> Vec<SentenceUnit> {
        let short = one_line(&head_and_tail(text, MAX_PROMPT_CHARS));
        let parts: Vec<String> = sentences_of_words(&short);
        parts.into_iter().map(|part| self.unit(part, 1.0)).collect()
    }

    /// A single unit, as a part of an answer would be meaningless.
    fn answer(&mut self, answer: &Answer) -> SentenceUnit {
        let short = answer.told(MAX_SHORT_CHARS);
        SentenceUnit { short, ..self.unit(answer.told(MAX_PROMPT_CHARS), 1.0) }
    }

    /// The title of a plan, without its content.
    fn heading(&mut self, plan: &str) -> Vec<SentenceUnit> {
        let title = shorten(&one_line(title_of_plan(plan)), MAX_SHORT_CHARS);
        if title.is_empty() { Vec::new() } else { vec![self.unit(title, 0.0)] }
    }

    fn sentences(&mut self, text: &str, one: &DistinctEntry<'_>) -> Vec<SentenceUnit> {
        let closing = if self.closing.contains(&one.at) { 0.2 } else { 0.0 };
        let last = if self.last_reply == Some(one.at) { 0.1 } else { 0.0 };
        let aside = if one.entry.is_main() { 0.0 } else { 0.15 };
        let strength = |said: &SpokenSentence| {
            let listed = if said.under.is_some() { 0.3 } else { 0.0 };
            let told = weight(&said.text) + listed + closing + last - aside;
            if is_filler(&said.text) || said.voice == Voice::Quoted { told * 0.3 } else { told }
        };
        let all: Vec<(String, f64)> =
            outline(text).iter().map(|s| (shorten(&one_line(&s.text), MAX_SENTENCE_CHARS), strength(s))).collect();
        all.into_iter().map(|(text, strength)| self.unit(text, strength)).collect()
    }

    fn tool(&mut self, tool: &ToolUse, one: &DistinctEntry<'_>, signal: &Signal) -> SentenceUnit {
        let cure = one.rows.iter().find_map(|row| self.cures.get(row));
        let cure = cure.map_or(String::new(), |cure| format!("; passed after {cure}"));
        let outcome = one.entry.outcome.as_ref();
        let fact = self.fact(one).map_or("", Fact::told);
        let line = |most| tool_line(self.session, tool, outcome, 0, most) + &cure + fact;
        let (text, short) = (line(MAX_TOOL_CHARS), line(MAX_SHORT_TOOL_CHARS));
        SentenceUnit { short, ..self.unit(text, signal.importance) }
    }
}

/// The sentences of a line, so that the user's words can be included in part.
fn sentences_of_words(line: &str) -> Vec<String> {
    let parts: Vec<String> = sentences_of_line(line).into_iter().map(|s| shorten(&s, MAX_PROMPT_CHARS)).collect();
    if parts.is_empty() { vec![line.to_owned()] } else { parts }
}
