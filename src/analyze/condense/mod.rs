//! Condenses a session to a budget: the user's words, the end, what stood at the end and every strong item before anything else, each at
//! the length there is room for.
//!
//! Sentences are chosen by how much they say and how much of that is new. For any budget:
//!
//! 1. The user's first and last words, the last reply, the user's other words, commits that stand and checks as they ended last, and then
//!    strong items by what they add are placed in a short form, mostly one sentence each.
//! 2. Nothing of the moderate tier is placed unless all of these fit.
//! 3. The remaining room goes to more of their sentences and to moderate items, whichever add most.

mod facts;
mod failures;
mod line;
mod stale;
mod units;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

pub(crate) use self::line::{gist, tool_line};
use self::units::{LineCandidate, Rank, candidates};
use text::clean::shorten;
use transcripts::session::{Item, RecordKey, Session};

/// A session as a summarizer reads it: numbered lines, and the record behind each number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Condensed {
    pub(crate) text: String,
    /// `rows[n - 1]` is the record of line `[n]`.
    pub(crate) rows: Vec<RecordKey>,
    /// Items for which there was no room.
    pub(crate) left_out: usize,
}

/// Length of a line's number, brackets, space and newline, in characters.
const FRAME: usize = 8;
/// The short form of the user's words, in characters; the first prompt gets more.
const MAX_SHORT_WORDS_CHARS: usize = 160;
const MIN_SHORT_WORDS_CHARS: usize = 60;

/// Condenses a session to at most `budget` characters.
pub(crate) fn condense(session: &Session, budget: usize) -> Condensed {
    let (candidates, terms) = candidates(session);
    let mut fill = BudgetFill { candidates: &candidates, budget, used: 0, chosen: Vec::new(), told: vec![false; terms.len()] };
    fill.chosen = candidates.iter().map(|c| vec![None; c.units.len()]).collect();
    // All five run, even if one of them did not fit completely.
    let asked = fill.first_and_last_words();
    let ended = fill.end();
    let said = fill.words();
    let facts = fill.best_of(Rank::Fact);
    let strong = fill.best_of(Rank::Strong);
    let whole = asked && ended && said && facts && strong;
    fill.fill_with(|c| c.rank < Rank::Moderate || whole && c.rank == Rank::Moderate);
    if whole {
        fill.fill_up_to(budget / 2, Rank::Rest);
    }
    fill.render()
}

/// A budget being filled.
struct BudgetFill<'c> {
    candidates: &'c [LineCandidate],
    budget: usize,
    used: usize,
    /// The text chosen for each unit of each candidate.
    chosen: Vec<Vec<Option<String>>>,
    /// Terms that chosen units hold.
    told: Vec<bool>,
}

/// A unit that may be added next.
struct NextUnit {
    gain: f64,
    at: usize,
    unit: usize,
}

impl PartialEq for NextUnit {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for NextUnit {}

impl PartialOrd for NextUnit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NextUnit {
    /// Of equal gains the later line comes first, and within a line the earlier sentence.
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then(self.at.cmp(&other.at)).then(other.unit.cmp(&self.unit))
    }
}

impl BudgetFill<'_> {
    /// Places what the user asked first and last. Returns whether it fit.
    fn first_and_last_words(&mut self) -> bool {
        let all = self.of_rank(Rank::Words);
        let (Some(first), Some(last)) = (all.first(), all.last()) else { return true };
        let short = (self.budget / 5).clamp(MIN_SHORT_WORDS_CHARS, MAX_SHORT_WORDS_CHARS);
        let begun = self.start(*first, (self.budget / 10).max(short));
        begun & (first == last || self.start(*last, short))
    }

    /// Places everything else the user said, the later before the earlier, each within a fair share of the room.
    fn words(&mut self) -> bool {
        let all = self.of_rank(Rank::Words);
        let most = (self.budget * 3 / 10 / all.len().max(1)).clamp(MIN_SHORT_WORDS_CHARS, MAX_SHORT_WORDS_CHARS);
        let mut whole = true;
        for at in all.iter().skip(1).rev().skip(1) {
            whole &= self.start(*at, most);
        }
        whole
    }

    fn of_rank(&self, rank: Rank) -> Vec<usize> {
        (0..self.candidates.len()).filter(|at| self.candidates[*at].rank == rank).collect()
    }

    /// Places the last reply, its most informative sentences first.
    fn end(&mut self) -> bool {
        let Some(at) = self.of_rank(Rank::End).first().copied() else { return true };
        let begun = self.begin_with_best(at);
        self.fill_up_to(self.used + self.budget / 5, Rank::End);
        begun
    }

    /// Adds sentences of a rank until `most` characters are used in total.
    fn fill_up_to(&mut self, most: usize, rank: Rank) {
        let most = most.min(self.budget);
        let budget = std::mem::replace(&mut self.budget, most);
        self.fill_with(|c| c.rank == rank);
        self.budget = budget;
    }

    /// Places the best sentence of every item of a rank, those that add most first. Returns whether all fit.
    fn best_of(&mut self, rank: Rank) -> bool {
        let next = |of: &Self, at| NextUnit { gain: of.gain(at, of.best(at)), at, unit: 0 };
        let mut waiting: BinaryHeap<NextUnit> = self.of_rank(rank).into_iter().map(|at| next(self, at)).collect();
        let mut whole = true;
        while let Some(NextUnit { at, .. }) = waiting.pop() {
            let now = next(self, at);
            if waiting.peek().is_some_and(|other| other.gain > now.gain) {
                waiting.push(now);
            } else {
                whole &= self.begin_with_best(at);
            }
        }
        whole
    }

    /// Adds units of the accepted candidates while there is room, those that add most for their length first.
    fn fill_with(&mut self, fits: impl Fn(&LineCandidate) -> bool) {
        let mut heap: BinaryHeap<NextUnit> = BinaryHeap::new();
        for (at, candidate) in self.candidates.iter().enumerate().filter(|(_, c)| fits(c)) {
            heap.extend((0..candidate.units.len()).map(|unit| NextUnit { gain: self.gain(at, unit), at, unit }));
        }
        while let Some(next) = heap.pop() {
            // Units added since may have made this one less new.
            let gain = self.gain(next.at, next.unit);
            if heap.peek().is_some_and(|other| other.gain > gain) {
                heap.push(NextUnit { gain, ..next });
            } else if gain > 0.0 {
                self.tell(next.at, next.unit, self.candidates[next.at].units[next.unit].text.clone());
            }
        }
    }

    /// How much a unit adds for its length, counting only terms not chosen yet.
    fn gain(&self, at: usize, unit: usize) -> f64 {
        let of = &self.candidates[at].units[unit];
        let told = self.chosen[at][unit].as_ref();
        if told.is_some_and(|text| *text == of.text) {
            return 0.0;
        }
        let new = of.terms.iter().filter(|term| !self.told[**term] || told.is_some()).count();
        of.strength * (new as f64 + 1.0) / (of.text.chars().count() + 20) as f64
    }

    /// The unit of a candidate that adds most.
    fn best(&self, at: usize) -> usize {
        let units = &self.candidates[at].units;
        let value = |unit: &usize| {
            let of = &units[*unit];
            let new = of.terms.iter().filter(|term| !self.told[**term]).count();
            of.strength * (0.5 + new as f64 / of.terms.len().max(1) as f64)
        };
        (0..units.len()).max_by(|a, b| value(a).total_cmp(&value(b)).then(b.cmp(a))).unwrap_or(0)
    }

    /// Begins a line with its first units, up to `most` characters.
    fn start(&mut self, at: usize, most: usize) -> bool {
        let mut left = most;
        for unit in 0..self.candidates[at].units.len() {
            let size = self.candidates[at].units[unit].text.chars().count();
            if unit > 0 && size > left {
                break;
            }
            let text = shorten(&self.candidates[at].units[unit].text, left.max(MIN_SHORT_WORDS_CHARS));
            if !self.tell(at, unit, text) {
                return unit > 0;
            }
            left = left.saturating_sub(size);
        }
        true
    }

    fn begin_with_best(&mut self, at: usize) -> bool {
        let best = self.best(at);
        self.tell(at, best, self.candidates[at].units[best].short.clone())
    }

    /// Chooses this text for a unit, if there is room for it.
    fn tell(&mut self, at: usize, unit: usize, text: String) -> bool {
        let candidate = &self.candidates[at];
        let before = self.chosen[at][unit].as_ref().map_or(0, |t| t.chars().count() + candidate.between.len());
        let begun = self.chosen[at].iter().any(Option::is_some);
        let line = if begun { 0 } else { FRAME + candidate.who.len() + times(candidate).len() };
        let cost = text.chars().count() + candidate.between.len() + line;
        if self.used + cost > self.budget + before {
            return false;
        }
        self.used = self.used + cost - before;
        self.chosen[at][unit] = Some(text);
        for term in &candidate.units[unit].terms {
            self.told[*term] = true;
        }
        true
    }

    fn render(self) -> Condensed {
        let mut out = Condensed { text: String::with_capacity(self.used), rows: Vec::new(), left_out: 0 };
        for (candidate, chosen) in self.candidates.iter().zip(&self.chosen) {
            let told: Vec<&str> = chosen.iter().flatten().map(String::as_str).collect();
            if told.is_empty() {
                out.left_out += 1;
                continue;
            }
            out.rows.push(candidate.row);
            out.text.push_str(&format!(
                "[{}] {}{}{}\n",
                out.rows.len(),
                candidate.who,
                told.join(candidate.between),
                times(candidate)
            ));
        }
        out
    }
}

fn times(candidate: &LineCandidate) -> String {
    if candidate.times > 1 { format!(" ({} times)", candidate.times) } else { String::new() }
}

/// The last reply before each of the user's turns, and the last of all, where the assistant reports the result.
pub(crate) fn closing_replies(session: &Session) -> Vec<usize> {
    let mut closing = Vec::new();
    let mut last = None;
    for (at, entry) in session.entries.iter().enumerate().filter(|(_, e)| e.is_main()) {
        match &entry.item {
            Item::Reply(_) => last = Some(at),
            Item::Prompt(_) => closing.extend(last.take()),
            _ => {}
        }
    }
    closing.extend(last);
    closing
}

#[cfg(test)]
mod tests;
