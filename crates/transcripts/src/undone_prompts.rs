//! Finds the prompts that the user took back.
//!
//! A client deletes nothing when the user returns to an earlier point (`/rewind`, or a prompt that is edited and sent again): the new
//! prompt names the same parent record as the prompt it replaces. So a prompt is undone if a later prompt with the same parent is on the
//! chain that leads to the last prompt; everything that follows from it is undone too. Other records do not count: many tool results and
//! attachments may share a parent, and a compaction starts a chain of its own. Where a client says that the user went back before anything new
//! is said, a prompt that is still to come stands in ([`NOT_SAID_YET`]). Pure.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::session::{Millis, RecordKey};

/// The most turns remembered that may still continue: more than the number of processes that write to one transcript.
const MAX_TURNS: usize = 4;
/// How many of its last records are remembered for each turn, to recognize the parent of the next.
const RECORDS_PER_TURN: usize = 8;

/// The first bytes of a record's key: enough to distinguish the records of one session.
pub type ShortKey = i64;

/// Stands for the key of a prompt that is still to come: the user went back, and has said nothing since.
pub const NOT_SAID_YET: ShortKey = 0;

pub fn mark(key: RecordKey) -> ShortKey {
    let [a, b, c, d, e, f, g, h, ..] = key.0;
    ShortKey::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// A prompt with its position in the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptLink {
    pub key: ShortKey,
    /// Its parent record, if it names one.
    pub parent: Option<ShortKey>,
    /// The prompt of the turn that the parent belongs to, if known.
    pub follows: Option<ShortKey>,
    pub offset: i64,
    pub at: Option<Millis>,
}

/// The turns of a file that may still continue; determines what the next prompt follows. Stored between reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TurnChain {
    /// Ordered by last activity: the turn of the latest record is last.
    turns: VecDeque<OpenTurn>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct OpenTurn {
    prompt: ShortKey,
    rows: VecDeque<ShortKey>,
}

impl TurnChain {
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Adds a record that is no prompt to the turn of its parent; if that is unknown, to the turn of the record before it.
    pub fn goes_on(&mut self, row: ShortKey, parent: Option<ShortKey>) {
        let Some(turn) = self.turn_of(parent).or(self.turns.len().checked_sub(1)).and_then(|at| self.turns.remove(at)) else {
            return;
        };
        self.turns.push_back(turn);
        self.push(row);
    }

    /// Starts a turn. Returns the prompt of the turn it follows, if known.
    pub fn begins(&mut self, prompt: ShortKey, parent: Option<ShortKey>) -> Option<ShortKey> {
        let follows = parent.and_then(|parent| self.prompt_of(parent));
        if self.turns.len() >= MAX_TURNS {
            self.turns.pop_front();
        }
        self.turns.push_back(OpenTurn { prompt, rows: VecDeque::new() });
        self.push(prompt);
        follows
    }

    /// The prompt of the turn that a record belongs to, if known.
    pub fn prompt_of(&self, row: ShortKey) -> Option<ShortKey> {
        self.turn_of(Some(row)).map(|at| self.turns[at].prompt)
    }

    fn turn_of(&self, parent: Option<ShortKey>) -> Option<usize> {
        let parent = parent?;
        self.turns.iter().rposition(|turn| turn.rows.contains(&parent))
    }

    fn push(&mut self, row: ShortKey) {
        let Some(turn) = self.turns.back_mut() else { return };
        if turn.rows.len() >= RECORDS_PER_TURN {
            turn.rows.pop_front();
        }
        turn.rows.push_back(row);
    }
}

/// For each prompt of a file, in order: is it undone?
pub fn undone(asked: &[PromptLink]) -> Vec<bool> {
    let follows = predecessors(asked);
    let mut chain = HashSet::new();
    let mut at = asked.len().checked_sub(1);
    while let Some(n) = at {
        chain.insert(n);
        at = follows[n];
    }
    // The last prompt of each branch. A branch that continues after another one began was not taken back.
    let mut last: Vec<usize> = (0..asked.len()).collect();
    for n in (0..asked.len()).rev() {
        if let Some(before) = follows[n] {
            last[before] = last[before].max(last[n]);
        }
    }
    let mut undone = vec![false; asked.len()];
    let mut chosen: HashMap<ShortKey, usize> = HashMap::new();
    chain
        .iter()
        .for_each(|n| _ = asked[*n].parent.map(|parent| chosen.entry(parent).and_modify(|m| *m = (*m).max(*n)).or_insert(*n)));
    for n in 0..asked.len() {
        let instead = asked[n].parent.and_then(|parent| chosen.get(&parent)).filter(|other| **other > last[n]);
        let taken_back = instead.is_some() && !chain.contains(&n);
        undone[n] = taken_back || !chain.contains(&n) && follows[n].is_some_and(|before| undone[before]);
    }
    undone
}

/// For each prompt, the index of the one it follows: by its record, else the same as a prompt with the same parent, else the one before.
fn predecessors(asked: &[PromptLink]) -> Vec<Option<usize>> {
    let mut places: HashMap<ShortKey, usize> = HashMap::new();
    let mut by_parent: HashMap<ShortKey, usize> = HashMap::new();
    let mut follows: Vec<Option<usize>> = Vec::with_capacity(asked.len());
    for (n, one) in asked.iter().enumerate() {
        let sibling = one.parent.and_then(|parent| by_parent.get(&parent)).map(|other| follows[*other]);
        let told = one.follows.and_then(|key| places.get(&key)).copied();
        follows.push(told.or_else(|| sibling.unwrap_or(n.checked_sub(1))));
        one.parent.map(|parent| by_parent.entry(parent).or_insert(n));
        places.entry(one.key).or_insert(n);
    }
    follows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Takes records by name and parent; names that begin with `p` are prompts. Returns the undone ones.
    fn undone_of(rows: &[(&'static str, &'static str)]) -> Vec<&'static str> {
        let mark = |name: &str| if name.is_empty() { None } else { Some(mark(RecordKey::from_uuid("s", name))) };
        let (mut chain, mut asked, mut names) = (TurnChain::default(), Vec::new(), Vec::new());
        for (n, (name, parent)) in rows.iter().enumerate() {
            let (key, parent) = (mark(name).unwrap(), mark(parent));
            // The chain may be stored after any record.
            chain = serde_json::from_str(&serde_json::to_string(&chain).unwrap()).unwrap();
            if name.starts_with('p') {
                let follows = chain.begins(key, parent);
                asked.push(PromptLink { key, parent, follows, offset: n as i64, at: None });
                names.push(*name);
            } else {
                chain.goes_on(key, parent);
            }
        }
        undone(&asked).into_iter().zip(names).filter_map(|(undone, name)| undone.then_some(name)).collect()
    }

    #[test]
    fn a_prompt_that_another_one_stands_in_for_is_undone_with_what_follows_from_it() {
        let first = [("p1", ""), ("a1", "p1"), ("p2", "a1"), ("a2", "p2"), ("p3", "a2"), ("a3", "p3")];
        let with = |more: &[(&'static str, &'static str)]| [&first, more].concat();
        assert_eq!(undone_of(&first), [""; 0]);
        assert_eq!(undone_of(&with(&[("p4", "a2"), ("a4", "p4")])), ["p3"]);
        assert_eq!(undone_of(&with(&[("p4", "a1"), ("a4", "p4")])), ["p2", "p3"]);
        assert_eq!(undone_of(&with(&[("p4", "a1"), ("a4", "p4"), ("p5", "a1")])), ["p2", "p3", "p4"]);
        assert_eq!(undone_of(&with(&[("p4", "a1"), ("a4", "p4"), ("p5", "a4"), ("a5", "p5")])), ["p2", "p3"]);
        // The same while the next prompt is still to come.
        assert_eq!(undone_of(&with(&[("p4", "a1")])), ["p2", "p3"]);
        // What was undone stays undone when the user goes back further.
        assert_eq!(undone_of(&with(&[("p4", "a2"), ("a4", "p4"), ("p5", "a1")])), ["p2", "p3", "p4"]);
    }

    #[test]
    fn nothing_else_is() {
        // Prompts without a parent, or with one outside the file.
        assert_eq!(undone_of(&[("p1", ""), ("a1", "p1"), ("p2", ""), ("a2", "p2"), ("p3", "")]), [""; 0]);
        assert_eq!(undone_of(&[("p1", "x"), ("a1", "p1"), ("p2", "y"), ("a2", "p2")]), [""; 0]);
        // Results and attachments that share a parent.
        assert_eq!(undone_of(&[("p1", ""), ("a1", "p1"), ("r1", "a1"), ("r2", "a1"), ("p2", "a1"), ("a2", "p2")]), [""; 0]);
        // Another process continues the first branch after the second began.
        let both = [("p1", ""), ("a1", "p1"), ("p2", "a1"), ("a2", "p2"), ("p3", "a1"), ("a3", "p3"), ("p4", "a2"), ("a4", "p4")];
        assert_eq!(undone_of(&both), [""; 0]);
        assert_eq!(undone_of(&[&both[..], &[("p5", "a3")]].concat()), [""; 0]);
        // A compaction, whose boundary may or may not name the record it follows.
        for boundary in ["a2", ""] {
            let rows =
                [("p1", ""), ("a1", "p1"), ("p2", "a1"), ("a2", "p2"), ("b", boundary), ("c", "b"), ("p3", "c"), ("a3", "p3")];
            assert_eq!(undone_of(&rows), [""; 0]);
            assert_eq!(undone_of(&[&rows[..], &[("p4", "c")]].concat()), ["p3"]);
            assert_eq!(undone_of(&[&rows[..], &[("p4", "a1")]].concat()), ["p2", "p3"]);
        }
    }

    proptest! {
        #[test]
        fn the_last_prompt_and_all_it_follows_stay(parents in prop::collection::vec(0usize..12, 1..12), known in prop::collection::vec(any::<bool>(), 12)) {
            let asked: Vec<PromptLink> = parents.iter().enumerate().map(|(n, parent)| PromptLink {
                key: n as i64,
                parent: (*parent > 0).then_some(100 + *parent as i64),
                follows: known[n].then_some(*parent as i64),
                offset: n as i64,
                at: None,
            }).collect();
            let gone = undone(&asked);
            let follows = predecessors(&asked);
            let mut at = asked.len().checked_sub(1);
            while let Some(n) = at {
                prop_assert!(!gone[n]);
                prop_assert!(follows[n].is_none_or(|before| before < n));
                at = follows[n];
            }
            for n in (0..asked.len()).filter(|n| gone[*n]) {
                let replaced = asked[n].parent.is_some() && asked[n + 1..].iter().any(|other| other.parent == asked[n].parent);
                prop_assert!(replaced || follows[n].is_some_and(|before| gone[before]));
            }
        }
    }
}
