//! Which prompts the user took back.
//!
//! A client deletes nothing when the user goes back to an earlier point (`/rewind`, a prompt that is edited and sent again): the next prompt
//! names the same row as its parent as the one that it replaces. So a prompt is undone where a later one with its parent is on the chain
//! that leads to the last prompt, and with it what follows from it. Nothing else decides: results of tools, attachments and whatever else
//! hangs on the same row are many, and a compaction begins a chain of its own. Pure.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::session::{Millis, RowKey};

/// So many turns are known that somebody may go on with: more than processes write into one transcript.
const TURNS: usize = 4;
/// Of each the last rows, by which a row tells that it follows them.
const ROWS: usize = 8;

/// A row among others, by the first bytes of its key: enough to tell the rows of one session apart.
pub type Mark = i64;

pub fn mark(key: RowKey) -> Mark {
    let [a, b, c, d, e, f, g, h, ..] = key.0;
    Mark::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// A prompt in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub key: Mark,
    /// The row that it follows, where it names one.
    pub parent: Option<Mark>,
    /// The prompt whose turn that row is of, where that is known.
    pub follows: Option<Mark>,
    pub offset: i64,
    pub at: Option<Millis>,
}

/// The turns of one file that may still be gone on with: what the rows so far say about the next prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Chain {
    /// That of the last row is the last.
    turns: VecDeque<Open>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Open {
    prompt: Mark,
    rows: VecDeque<Mark>,
}

impl Chain {
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// A row that is no prompt goes on with a turn: with that of its parent, else with that of the row before it.
    pub fn goes_on(&mut self, row: Mark, parent: Option<Mark>) {
        let Some(turn) = self.turn_of(parent).or(self.turns.len().checked_sub(1)).and_then(|at| self.turns.remove(at)) else {
            return;
        };
        self.turns.push_back(turn);
        self.push(row);
    }

    /// A prompt begins a turn. Returns the prompt of the turn that it follows, where that is known.
    pub fn begins(&mut self, prompt: Mark, parent: Option<Mark>) -> Option<Mark> {
        let follows = self.turn_of(parent).map(|at| self.turns[at].prompt);
        if self.turns.len() >= TURNS {
            self.turns.pop_front();
        }
        self.turns.push_back(Open { prompt, rows: VecDeque::new() });
        self.push(prompt);
        follows
    }

    fn turn_of(&self, parent: Option<Mark>) -> Option<usize> {
        let parent = parent?;
        self.turns.iter().rposition(|turn| turn.rows.contains(&parent))
    }

    fn push(&mut self, row: Mark) {
        let Some(turn) = self.turns.back_mut() else { return };
        if turn.rows.len() >= ROWS {
            turn.rows.pop_front();
        }
        turn.rows.push_back(row);
    }
}

/// Which of the prompts of one file, in their order, are undone: for each whether it is.
pub fn undone(asked: &[Asked]) -> Vec<bool> {
    let follows = followed(asked);
    let mut chain = HashSet::new();
    let mut at = asked.len().checked_sub(1);
    while let Some(n) = at {
        chain.insert(n);
        at = follows[n];
    }
    // Of each branch how far it goes: who goes on with it after another one began has taken nothing back.
    let mut last: Vec<usize> = (0..asked.len()).collect();
    for n in (0..asked.len()).rev() {
        if let Some(before) = follows[n] {
            last[before] = last[before].max(last[n]);
        }
    }
    let mut undone = vec![false; asked.len()];
    let mut chosen: HashMap<Mark, usize> = HashMap::new();
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

/// The place of the prompt that each one follows. Where the rows do not tell, that of the one it stands in for, else the one before it.
fn followed(asked: &[Asked]) -> Vec<Option<usize>> {
    let mut places: HashMap<Mark, usize> = HashMap::new();
    let mut by_parent: HashMap<Mark, usize> = HashMap::new();
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

    /// Rows by name and parent; those whose name begins with `p` are prompts. Returns the undone ones.
    fn undone_of(rows: &[(&'static str, &'static str)]) -> Vec<&'static str> {
        let mark = |name: &str| if name.is_empty() { None } else { Some(mark(RowKey::from_uuid("s", name))) };
        let (mut chain, mut asked, mut names) = (Chain::default(), Vec::new(), Vec::new());
        for (n, (name, parent)) in rows.iter().enumerate() {
            let (key, parent) = (mark(name).unwrap(), mark(parent));
            // It is stored between any two rows.
            chain = serde_json::from_str(&serde_json::to_string(&chain).unwrap()).unwrap();
            if name.starts_with('p') {
                let follows = chain.begins(key, parent);
                asked.push(Asked { key, parent, follows, offset: n as i64, at: None });
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
        // What was undone stays so when an earlier point is gone back to.
        assert_eq!(undone_of(&with(&[("p4", "a2"), ("a4", "p4"), ("p5", "a1")])), ["p2", "p3", "p4"]);
    }

    #[test]
    fn nothing_else_is() {
        // Prompts that name no parent, or one outside the file.
        assert_eq!(undone_of(&[("p1", ""), ("a1", "p1"), ("p2", ""), ("a2", "p2"), ("p3", "")]), [""; 0]);
        assert_eq!(undone_of(&[("p1", "x"), ("a1", "p1"), ("p2", "y"), ("a2", "p2")]), [""; 0]);
        // Results and attachments that hang on one row.
        assert_eq!(undone_of(&[("p1", ""), ("a1", "p1"), ("r1", "a1"), ("r2", "a1"), ("p2", "a1"), ("a2", "p2")]), [""; 0]);
        // Somebody else goes on with the first branch after the second one began.
        let both = [("p1", ""), ("a1", "p1"), ("p2", "a1"), ("a2", "p2"), ("p3", "a1"), ("a3", "p3"), ("p4", "a2"), ("a4", "p4")];
        assert_eq!(undone_of(&both), [""; 0]);
        assert_eq!(undone_of(&[&both[..], &[("p5", "a3")]].concat()), [""; 0]);
        // A compaction: its boundary tells what it follows apart from its parent, or it does not.
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
            let asked: Vec<Asked> = parents.iter().enumerate().map(|(n, parent)| Asked {
                key: n as i64,
                parent: (*parent > 0).then_some(100 + *parent as i64),
                follows: known[n].then_some(*parent as i64),
                offset: n as i64,
                at: None,
            }).collect();
            let gone = undone(&asked);
            let follows = followed(&asked);
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
