//! The assistant's sentences as a pool to pick from: what each is about, how much it tells, and whether it still holds.

use std::collections::{BTreeMap, BTreeSet};

use crate::clean::{one_line, shorten};
use crate::condense::closing_replies;
use crate::digest::Claim;
use crate::prose::{Said, Voice, outline};
use crate::session::{Entry, Item, RowKey, Session};
use crate::signal::{self, Topic, has_failed};
use crate::terms::{covered_by, words};

/// Longest statement of a digest, in characters.
pub const MAX_STATEMENT: usize = 260;
/// Two statements that share this much of their telling words are one.
const SAME: f64 = 0.7;

/// A sentence of the assistant's, with where it stands.
pub struct Statement {
    pub text: String,
    pub row: RowKey,
    pub weight: f64,
    pub topics: Vec<Topic>,
    /// It stands in the last reply of a turn.
    pub closing: bool,
    /// Turns after this one: 0 is the last.
    pub turns_left: usize,
    /// It offers or asks.
    pub offer: bool,
    /// It stands in a list of next steps.
    pub listed_next: bool,
    /// It says how far things were then.
    pub progress: bool,
    /// It says what was done, whatever else its words remind of.
    pub history: bool,
    /// What it is about follows it.
    pub announces: bool,
    /// The user turned down what its turn did.
    pub overruled: bool,
}

impl Statement {
    pub fn about(&self, topic: Topic) -> bool {
        self.topics.contains(&topic)
    }
}

pub fn statements(session: &Session) -> Vec<Statement> {
    let closing = closing_replies(session);
    let reports = agent_reports(session);
    let refused = refused_turns(session);
    let last_commit = session.entries.iter().rposition(|e| {
        matches!(&e.item, Item::Tool(t) if t.line.contains("git commit")) && !e.outcome.as_ref().is_some_and(has_failed)
    });
    let mut all = Vec::new();
    for (at, entry) in session.entries.iter().enumerate() {
        let text = match &entry.item {
            // What it says is not what was done or agreed on.
            Item::Plan(_) if entry.is_refused_plan() => continue,
            Item::Reply(text) | Item::Plan(text) | Item::Away(text) if entry.is_main() || reports.contains(&at) => text,
            _ => continue,
        };
        // Subagents' rows come after the main ones; what they report belongs to no turn of the user's.
        let turns_left = if entry.is_main() { closing.iter().filter(|c| **c > at).count() } else { 1 };
        let place = Place {
            entry,
            closing: closing.contains(&at) || matches!(entry.item, Item::Away(_)),
            turns_left,
            committed: last_commit.is_some_and(|commit| at < commit),
            overruled: refused.contains(&turns_left) && entry.is_main(),
        };
        // What it passes on of others is none of its statements.
        let own = outline(text).into_iter().filter(|said| said.voice != Voice::Quoted);
        all.extend(own.filter_map(|said| statement(said, &place)));
    }
    all
}

/// Where a sentence stands.
struct Place<'e> {
    entry: &'e Entry,
    /// It is the last of a turn, or the client's recap.
    closing: bool,
    turns_left: usize,
    /// Something was committed after it.
    committed: bool,
    overruled: bool,
}

/// What a sentence states, if it tells enough and still holds.
fn statement(said: Said, place: &Place<'_>) -> Option<Statement> {
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
        // What something shows is no choice and no plan of anybody's.
        topics.retain(|topic| !matches!(topic, Topic::Decision | Topic::Next | Topic::Blocker));
    }
    Some(Statement {
        weight: base + if place.closing { 0.2 } else { 0.0 } + if place.turns_left == 0 { 0.1 } else { 0.0 }
            - if entry.is_main() { 0.0 } else { 0.15 },
        listed_next: said.under == Some(Topic::Next),
        // The client's recap is of its moment by nature.
        progress: signal::is_progress(&sentence) || matches!(entry.item, Item::Away(_)),
        history: signal::is_history(&sentence, &topics),
        announces: sentence.trim_end().ends_with(':'),
        overruled: place.overruled,
        topics,
        offer: signal::is_offer(&sentence),
        text: shorten(&one_line(&sentence), MAX_STATEMENT),
        row: entry.key,
        closing: place.closing || !entry.is_main(),
        turns_left: place.turns_left,
    })
}

/// Turns whose work the user turned down with the next prompt, counted from the end as `turns_left` is.
fn refused_turns(session: &Session) -> BTreeSet<usize> {
    let closing = closing_replies(session);
    let prompts = session.entries.iter().enumerate().filter_map(|(at, e)| match &e.item {
        Item::Prompt(text) if e.is_main() && signal::refuses(text) => Some(at),
        _ => None,
    });
    prompts.map(|at| closing.iter().filter(|c| **c > at).count()).collect()
}

/// The last reply of each subagent: what it reported to its parent.
fn agent_reports(session: &Session) -> BTreeSet<usize> {
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, entry) in session.entries.iter().enumerate() {
        if let (Some(agent), Item::Reply(_)) = (&entry.agent, &entry.item) {
            last.insert(agent, at);
        }
    }
    last.into_values().collect()
}

/// What has been said already, so that nothing is said twice.
#[derive(Default)]
pub struct Seen(Vec<BTreeSet<String>>);

impl Seen {
    pub fn is_new(&mut self, text: &str) -> bool {
        let these = words(text);
        let known = self.0.iter().any(|other| covered_by(&these, other) >= SAME && covered_by(other, &these) >= SAME / 2.0);
        if !known {
            self.0.push(these);
        }
        !known
    }
}

/// The weightiest statements that fit, in the order of the session.
pub fn pick(pool: &[Statement], seen: &mut Seen, max: usize, fits: impl Fn(&Statement) -> bool) -> Vec<String> {
    pick_rows(pool, seen, max, fits).into_iter().map(|c| c.text).collect()
}

pub fn pick_rows(pool: &[Statement], seen: &mut Seen, max: usize, fits: impl Fn(&Statement) -> bool) -> Vec<Claim> {
    let mut fitting: Vec<usize> = (0..pool.len()).filter(|at| fits(&pool[*at])).collect();
    fitting.sort_by(|a, b| pool[*b].weight.total_cmp(&pool[*a].weight).then(a.cmp(b)));
    let mut chosen: Vec<usize> = fitting.into_iter().filter(|at| seen.is_new(&pool[*at].text)).take(max).collect();
    chosen.sort_unstable();
    chosen.into_iter().map(|at| Claim { text: pool[at].text.clone(), rows: vec![pool[at].row] }).collect()
}
