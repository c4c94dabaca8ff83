//! The assistant's sentences as a pool to pick from: the topics of each, its weight, and whether it still holds.

use std::collections::{BTreeMap, BTreeSet};

use crate::analyze::condense::closing_replies;
use crate::analyze::prose::{SpokenSentence, Voice, outline};
use crate::analyze::signal;
use crate::analyze::signal::{SentenceTopic, has_failed};
use crate::model::digest::Claim;
use crate::model::session::{Entry, Item, RecordKey, Session};
use crate::text::clean::{one_line, shorten};
use crate::text::tokenize::{covered_by, distinctive_words};

/// Longest statement of a digest, in characters.
pub(crate) const MAX_STATEMENT_CHARS: usize = 260;
/// Two statements that share this much of their distinctive words are the same.
const SAME_SHARE: f64 = 0.7;

/// A sentence of the assistant, with its context.
pub(crate) struct Statement {
    pub(crate) text: String,
    pub(crate) row: RecordKey,
    pub(crate) weight: f64,
    pub(crate) topics: Vec<SentenceTopic>,
    /// It is in the last reply of a turn.
    pub(crate) closing: bool,
    /// How many turns follow: 0 for the last.
    pub(crate) turns_left: usize,
    /// It offers or asks.
    pub(crate) offer: bool,
    /// It is in a list of next steps.
    pub(crate) listed_next: bool,
    /// It reports interim progress.
    pub(crate) progress: bool,
    /// It reports what was done, even if it has words of other topics.
    pub(crate) history: bool,
    /// It only introduces what follows it.
    pub(crate) announces: bool,
    /// The user rejected the work of its turn.
    pub(crate) overruled: bool,
}

impl Statement {
    pub(crate) fn about(&self, topic: SentenceTopic) -> bool {
        self.topics.contains(&topic)
    }
}

pub(crate) fn statements(session: &Session) -> Vec<Statement> {
    let closing = closing_replies(session);
    let reports = agent_reports(session);
    let refused = refused_turns(session);
    let last_commit = session.entries.iter().rposition(|e| {
        matches!(&e.item, Item::Tool(t) if t.line.contains("git commit")) && !e.outcome.as_ref().is_some_and(has_failed)
    });
    let mut all = Vec::new();
    for (at, entry) in session.entries.iter().enumerate() {
        let text = match &entry.item {
            // A refused plan was neither carried out nor agreed on.
            Item::Plan(_) if entry.is_refused_plan() => continue,
            Item::Reply(text) | Item::Plan(text) | Item::Away(text) if entry.is_main() || reports.contains(&at) => text,
            _ => continue,
        };
        // Records of subagents follow the main ones, so their reports belong to no turn.
        let turns_left = if entry.is_main() { closing.iter().filter(|c| **c > at).count() } else { 1 };
        let place = SentenceContext {
            entry,
            closing: closing.contains(&at) || matches!(entry.item, Item::Away(_)),
            turns_left,
            committed: last_commit.is_some_and(|commit| at < commit),
            overruled: refused.contains(&turns_left) && entry.is_main(),
        };
        // Words of others that it passes on are not its statements.
        let own = outline(text).into_iter().filter(|said| said.voice != Voice::Quoted);
        all.extend(own.filter_map(|said| statement(said, &place)));
    }
    all
}

/// The context of a sentence.
struct SentenceContext<'e> {
    entry: &'e Entry,
    /// Its entry is the last of a turn, or the client's summary.
    closing: bool,
    turns_left: usize,
    /// Something was committed after it.
    committed: bool,
    overruled: bool,
}

/// The statement of a sentence, if it says enough and still holds.
fn statement(said: SpokenSentence, place: &SentenceContext<'_>) -> Option<Statement> {
    let (sentence, entry) = (said.text, place.entry);
    let announces = sentence.ends_with(':') && sentence.len() < 60;
    let mut topics = signal::topics(&sentence);
    let base = signal::weight_of(&sentence, &topics) + if said.under.is_some() { 0.3 } else { 0.0 };
    if announces || base < 0.2 || sentence.len() < 12 {
        return None;
    }
    if place.committed && signal::awaits_commit(&sentence) {
        return None;
    }
    topics.extend(said.under);
    if said.voice == Voice::Reported {
        // What something shows is nobody's decision or plan.
        topics.retain(|topic| !matches!(topic, SentenceTopic::Decision | SentenceTopic::Next | SentenceTopic::Blocker));
    }
    Some(Statement {
        weight: base + if place.closing { 0.2 } else { 0.0 } + if place.turns_left == 0 { 0.1 } else { 0.0 }
            - if entry.is_main() { 0.0 } else { 0.15 },
        listed_next: said.under == Some(SentenceTopic::Next),
        // The client's summary describes a moment by nature.
        progress: signal::is_progress(&sentence) || matches!(entry.item, Item::Away(_)),
        history: signal::is_history(&sentence, &topics),
        announces: sentence.trim_end().ends_with(':'),
        overruled: place.overruled,
        topics,
        offer: signal::is_offer(&sentence),
        text: shorten(&one_line(&sentence), MAX_STATEMENT_CHARS),
        row: entry.key,
        closing: place.closing || !entry.is_main(),
        turns_left: place.turns_left,
    })
}

/// Turns whose work the user rejected with the next prompt, counted from the end like `turns_left`.
fn refused_turns(session: &Session) -> BTreeSet<usize> {
    let closing = closing_replies(session);
    let prompts = session.entries.iter().enumerate().filter_map(|(at, e)| match &e.item {
        Item::Prompt(text) if e.is_main() && signal::rejects_work(text) => Some(at),
        _ => None,
    });
    prompts.map(|at| closing.iter().filter(|c| **c > at).count()).collect()
}

/// The last reply of each subagent: its report to its parent.
fn agent_reports(session: &Session) -> BTreeSet<usize> {
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, entry) in session.entries.iter().enumerate() {
        if let (Some(agent), Item::Reply(_)) = (&entry.agent, &entry.item) {
            last.insert(agent, at);
        }
    }
    last.into_values().collect()
}

/// Statements used so far, so that nothing is repeated.
#[derive(Default)]
pub(crate) struct SeenStatements(Vec<BTreeSet<String>>);

impl SeenStatements {
    pub(crate) fn is_new(&mut self, text: &str) -> bool {
        let these = distinctive_words(text);
        let known =
            self.0.iter().any(|other| covered_by(&these, other) >= SAME_SHARE && covered_by(other, &these) >= SAME_SHARE / 2.0);
        if !known {
            self.0.push(these);
        }
        !known
    }
}

/// The accepted statements of greatest weight, in the order of the session.
pub(crate) fn pick(pool: &[Statement], seen: &mut SeenStatements, max: usize, fits: impl Fn(&Statement) -> bool) -> Vec<String> {
    pick_claims(pool, seen, max, fits).into_iter().map(|c| c.text).collect()
}

pub(crate) fn pick_claims(
    pool: &[Statement],
    seen: &mut SeenStatements,
    max: usize,
    fits: impl Fn(&Statement) -> bool,
) -> Vec<Claim> {
    let mut fitting: Vec<usize> = (0..pool.len()).filter(|at| fits(&pool[*at])).collect();
    fitting.sort_by(|a, b| pool[*b].weight.total_cmp(&pool[*a].weight).then(a.cmp(b)));
    let mut chosen: Vec<usize> = fitting.into_iter().filter(|at| seen.is_new(&pool[*at].text)).take(max).collect();
    chosen.sort_unstable();
    chosen.into_iter().map(|at| Claim { text: pool[at].text.clone(), rows: vec![pool[at].row] }).collect()
}
