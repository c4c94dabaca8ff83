//! Sampling: which items are loaded of a session that is too long to be loaded whole.
//!
//! A digest, a page and an answer are a few KB however long the session was, and making one must not need more memory for a longer
//! session. So of a long session both ends are loaded, and between them a sample spread over the whole session and bounded in number and
//! length: what the user said, how turns ended, plans and recaps, the last state of the lists, and runs of consecutive items. Search
//! still indexes the words of all items. Evidence and tasks of the main conversation are short, and what came of the work hangs on each of
//! them, so they are loaded all, up to a number that no session has.
//!
//! A session that fits into a client's context window, even one compacted many times over a long day, is far from long in this sense.
//!
//! ## Invariants
//! The sample depends only on the order and the kinds of the items, not on the slices in which they were ingested.

use std::ops::Range;

use crate::model::session::{Item, Millis, OmittedItems};
use crate::store::chunk::{ItemHeader, ItemKind};
use crate::text::clean::head_and_tail;

/// A session with more text than this is long, in bytes of JSON.
pub(crate) const MAX_WHOLE_BYTES: usize = 16 << 20;

/// How many items at either end of the main conversation are loaded unshortened.
const END_ITEMS: usize = 128;
/// At most this many items of each sampled kind.
const MAX_PER_KIND: usize = 2048;
/// Lists and titles replace the ones before them: only this many of the last are loaded.
const LAST_STATES: usize = 64;
/// Runs of consecutive items of any kind: length of a run, and number of runs.
const RUN_ITEMS: usize = 32;
const RUNS: usize = 64;
/// A plan, the tool use that presents it to the user, and the user's answer.
const PLAN_ITEMS: usize = 3;

/// At most this much evidence of what was said, the last: a few hundred bytes each.
const MAX_WORD_EVIDENCE: usize = 8_192;
/// At most this much evidence of what was done, and at most as many tasks of the main conversation, the last: a few hundred bytes each.
const MAX_WORK: usize = 65_536;

/// Longest group of tool uses and their outcomes that is loaded as a whole.
const MAX_TOOL_GROUP: usize = 128;

/// Texts away from the ends are shortened to this many characters.
const MAX_TEXT_CHARS: usize = 2_000;

/// What the choice needs to know of an item.
#[derive(Debug, Clone, Copy)]
struct SampleCandidate {
    /// Sort key: part of the session, offset in the file, file, position within the record.
    order: (u32, i64, u32, u32),
    /// Ingest sequence number.
    number: u32,
    kind: ItemKind,
    is_main: bool,
}

/// All items of a session, for choosing some of them. Each takes 32 bytes.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    all: Vec<SampleCandidate>,
    /// The latest timestamp, and the number of its item.
    latest: Option<(Millis, u32)>,
    /// How many items were added.
    added: u32,
    /// Of what was said, and of what was done.
    evidence: [Vec<SampleCandidate>; 2],
}

impl Sampler {
    pub(crate) fn with_room_for(items: usize) -> Self {
        Self { all: Vec::with_capacity(items), ..Self::default() }
    }

    /// Adds the next item in the order of ingest, with its part of the session and its file.
    pub(crate) fn add(&mut self, line: &ItemHeader, (part, file): (usize, usize), is_main: bool) {
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let number = self.added;
        self.added += 1;
        let within = u32::try_from(line.part).unwrap_or(u32::MAX);
        let spot = SampleCandidate { order: (small(part), line.offset, small(file), within), number, kind: line.kind, is_main };
        match line.kind {
            ItemKind::WordEvidence => self.evidence[0].push(spot),
            ItemKind::WorkEvidence => self.evidence[1].push(spot),
            _ => {
                self.latest = self.latest.max(line.at.map(|at| (at, number)));
                self.all.push(spot);
            }
        }
    }

    /// The numbers of the items to load, ascending, and how many items are left out.
    pub(crate) fn choose(mut self) -> (Vec<u32>, OmittedItems) {
        self.all.sort_unstable_by_key(|spot| (spot.order, spot.number));
        let chosen = select(&self.all, self.latest);
        let (mut numbers, mut left_out) = (Vec::new(), OmittedItems::default());
        for (spot, chosen) in self.all.iter().zip(chosen) {
            if chosen {
                numbers.push(spot.number);
            } else {
                left_out.items += 1;
                left_out.prompts += usize::from(spot.kind == ItemKind::Prompt && spot.is_main);
            }
        }
        for (mut evidence, most) in self.evidence.into_iter().zip([MAX_WORD_EVIDENCE, MAX_WORK]) {
            evidence.sort_unstable_by_key(|spot| (spot.order, spot.number));
            numbers.extend(evidence[evidence.len().saturating_sub(most)..].iter().map(|spot| spot.number));
        }
        numbers.sort_unstable();
        (numbers, left_out)
    }
}

/// Is the loaded item at position `at` near an end of the main conversation, which takes up the first `main` items?
pub(crate) fn is_at_end(at: usize, main: usize) -> bool {
    at < main && (at < END_ITEMS || at + END_ITEMS >= main)
}

/// Shortens a loaded item that is not near an end.
pub fn shorten(item: &mut Item) {
    if let Item::Prompt(text) | Item::Reply(text) | Item::Plan(text) | Item::Recap(text) | Item::Away(text) = item
        && text.len() > MAX_TEXT_CHARS
    {
        *text = head_and_tail(text, MAX_TEXT_CHARS);
    }
}

/// Whether each item is chosen. Items of the main conversation come first.
fn select(rows: &[SampleCandidate], latest: Option<(Millis, u32)>) -> Vec<bool> {
    let main = rows.iter().take_while(|spot| spot.is_main).count();
    let mut chosen = Selection(vec![false; rows.len()]);
    chosen.add(0..main.min(END_ITEMS));
    chosen.add(main.saturating_sub(END_ITEMS)..main);
    // The session was active until this item.
    chosen.add_all(rows.iter().position(|spot| latest.is_some_and(|(_, number)| number == spot.number)).into_iter());
    let of = |kinds: &'static [ItemKind]| (0..rows.len()).filter(move |at| kinds.contains(&rows[*at].kind));
    chosen.add_all(evenly_spaced(of(&[ItemKind::Prompt, ItemKind::Answer]).filter(|at| *at < main).collect(), MAX_PER_KIND));
    chosen.add_all(evenly_spaced(of(&[ItemKind::Reply]).filter(|at| ends_turn(rows, *at)).collect(), MAX_PER_KIND));
    chosen.add_all(evenly_spaced(
        of(&[ItemKind::Recap, ItemKind::Away, ItemKind::PullRequest, ItemKind::Interrupted]).collect(),
        MAX_PER_KIND,
    ));
    for at in evenly_spaced(of(&[ItemKind::Plan]).collect(), MAX_PER_KIND / PLAN_ITEMS) {
        chosen.add(at..at + PLAN_ITEMS);
    }
    // Subagents come last and have lists of their own.
    let [tasks, lists] = [ItemKind::Task, ItemKind::Todos].map(|kind| of_main_and_others(rows, main, kind));
    // What became of a task may be told long after the task itself.
    for (tasks, most) in tasks.into_iter().zip([MAX_WORK, MAX_PER_KIND]) {
        chosen.add_all(last(tasks, most));
    }
    lists.into_iter().for_each(|lists| chosen.add_all(last(lists, LAST_STATES)));
    chosen.add_all(last(of(&[ItemKind::Title]).collect(), LAST_STATES));
    for start in evenly_spaced((0..rows.len()).step_by(RUN_ITEMS).collect(), RUNS) {
        chosen.add(start..start + RUN_ITEMS);
    }
    chosen.close(rows);
    chosen.0
}

/// The items of a kind in the main conversation, which takes up the first `main` items, and elsewhere.
fn of_main_and_others(rows: &[SampleCandidate], main: usize, kind: ItemKind) -> [Vec<usize>; 2] {
    [0..main, main..rows.len()].map(|range| range.filter(|at| rows[*at].kind == kind).collect())
}

struct Selection(Vec<bool>);

impl Selection {
    fn add(&mut self, range: Range<usize>) {
        let end = range.end.min(self.0.len());
        self.0[range.start.min(end)..end].fill(true);
    }

    fn add_all(&mut self, places: impl Iterator<Item = usize>) {
        places.for_each(|at| self.0[at] = true);
    }

    /// Chooses tool uses and their outcomes together: without its outcome a failed use would look like a success, or take the failure of
    /// another use of the same command.
    fn close(&mut self, rows: &[SampleCandidate]) {
        let of = |from: usize, kind: ItemKind| rows[from..].iter().take_while(|spot| spot.kind == kind).count();
        let mut from = 0;
        while from < rows.len() {
            let ended = from + of(from, ItemKind::Tool);
            let end = ended + of(ended, ItemKind::Outcome);
            if self.0[from..end].contains(&true) {
                // In a group longer than any real batch of parallel uses, the early uses without an outcome can be left out.
                self.add(if end - from <= MAX_TOOL_GROUP { from } else { ended.max(end.saturating_sub(MAX_TOOL_GROUP)) }..end);
            }
            from = end.max(from + 1);
        }
    }
}

/// Is this the last reply before the user or a subagent speaks?
fn ends_turn(rows: &[SampleCandidate], at: usize) -> bool {
    // The main conversation may lie in several parts.
    let part = |spot: &SampleCandidate| (!spot.is_main).then_some(spot.order.0);
    let next = rows[at + 1..].iter().find(|spot| matches!(spot.kind, ItemKind::Reply | ItemKind::Prompt));
    next.is_none_or(|next| next.kind == ItemKind::Prompt || part(next) != part(&rows[at]))
}

/// At most `most` of these, evenly spaced, the first and the last among them.
fn evenly_spaced(all: Vec<usize>, most: usize) -> impl Iterator<Item = usize> {
    let count = all.len().min(most);
    let steps = count.saturating_sub(1).max(1);
    (0..count).map(move |n| all[n * all.len().saturating_sub(1) / steps])
}

/// The last `most` of these.
fn last(mut all: Vec<usize>, most: usize) -> impl Iterator<Item = usize> {
    all.drain(..all.len().saturating_sub(most));
    all.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::session::RecordKey;

    const TURN: [ItemKind; 6] =
        [ItemKind::Prompt, ItemKind::Tool, ItemKind::Outcome, ItemKind::Reply, ItemKind::Tool, ItemKind::Reply];
    const TURNS: usize = 20_000;

    /// Positions loaded of a session of many turns that was ingested in this order.
    fn chosen(came_in: impl Iterator<Item = usize>) -> (Vec<usize>, OmittedItems) {
        let mut spots = Sampler::default();
        let came_in: Vec<usize> = came_in.collect();
        for at in &came_in {
            let kind = if *at == 30_007 { ItemKind::Plan } else { TURN[at % TURN.len()] };
            let line =
                ItemHeader { key: RecordKey([0; 16]), part: 0, offset: *at as i64, at: Some(*at as i64 % 70_001), kind, sum: 0 };
            spots.add(&line, (1, 1), true);
        }
        let (numbers, left_out) = spots.choose();
        let mut places: Vec<usize> = numbers.iter().map(|number| came_in[*number as usize]).collect();
        places.sort_unstable();
        (places, left_out)
    }

    #[test]
    fn of_a_long_session_both_ends_and_some_of_all_between_are_loaded() {
        let items = TURNS * TURN.len();
        let (places, left_out) = chosen(0..items);
        assert_eq!(places.len() + left_out.items, items);
        assert!(places.len() < 2 * END_ITEMS + 3 * MAX_PER_KIND + RUNS * (RUN_ITEMS + 1), "{}", places.len());
        assert!(places.starts_with(&Vec::from_iter(0..END_ITEMS)) && places.ends_with(&Vec::from_iter(items - END_ITEMS..items)));
        let of = |kind: ItemKind| places.iter().filter(|at| TURN[*at % TURN.len()] == kind).count();
        assert!(of(ItemKind::Prompt) >= MAX_PER_KIND && left_out.prompts == TURNS - of(ItemKind::Prompt));
        let closing = places.iter().filter(|at| *at % TURN.len() == TURN.len() - 1).count();
        assert!(closing >= MAX_PER_KIND, "{closing} replies that end turns");
        // A plan comes with what became of it, and the item with the latest timestamp is loaded.
        assert!([30_007, 30_008, 30_009, 70_000].iter().all(|at| places.contains(at)));
        // Every tenth of the session has something loaded.
        assert!(
            (0..10).all(|tenth| places.iter().any(|at| at * 10 / items == tenth && TURN[at % TURN.len()] == ItemKind::Outcome))
        );
    }

    #[test]
    fn how_a_use_ended_is_loaded_with_it_or_not_at_all() {
        // A single use, parallel uses, and many uses of which only the last has an outcome that is kept; in any position.
        let runs: [&[ItemKind]; 3] = [
            &[ItemKind::Tool, ItemKind::Outcome],
            &[ItemKind::Tool, ItemKind::Tool, ItemKind::Outcome, ItemKind::Outcome],
            &[ItemKind::Tool; 7],
        ];
        let kinds: Vec<ItemKind> = (0..9_000)
            .flat_map(|n| {
                [&[ItemKind::Prompt][..], runs[n % 3], &[ItemKind::Outcome][..(n % 3 == 2).into()], &[ItemKind::Reply][..n % 2]]
                    .concat()
            })
            .collect();
        let mut spots = Sampler::default();
        for (at, kind) in kinds.iter().enumerate() {
            let line = ItemHeader { key: RecordKey([0; 16]), part: 0, offset: at as i64, at: None, kind: *kind, sum: 0 };
            spots.add(&line, (1, 1), true);
        }
        let (numbers, left_out) = spots.choose();
        assert!(left_out.items > kinds.len() / 2, "{left_out:?}");
        let is_chosen = |at: usize| numbers.binary_search(&(at as u32)).is_ok();
        for at in 1..kinds.len() {
            let is_one_run = matches!(
                (kinds[at - 1], kinds[at]),
                (ItemKind::Tool, ItemKind::Tool | ItemKind::Outcome) | (ItemKind::Outcome, ItemKind::Outcome)
            );
            assert!(!is_one_run || is_chosen(at - 1) == is_chosen(at), "{at}");
        }
    }

    /// Items of a session, each with whether it belongs to the main conversation.
    fn chosen_of(kinds: &[(ItemKind, bool)], came_in: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut spots = Sampler::default();
        let came_in: Vec<usize> = came_in.collect();
        for at in &came_in {
            let (kind, is_main) = kinds[*at];
            let line =
                ItemHeader { key: RecordKey((*at as u128).to_be_bytes()), part: 0, offset: *at as i64, at: None, kind, sum: 0 };
            spots.add(&line, (usize::from(!is_main), 1), is_main);
        }
        let mut places: Vec<usize> = spots.choose().0.iter().map(|number| came_in[*number as usize]).collect();
        places.sort_unstable();
        places
    }

    #[test]
    fn evidence_and_what_became_of_tasks_is_loaded_whatever_else_there_is() {
        let main = [ItemKind::Prompt, ItemKind::WorkEvidence, ItemKind::Task, ItemKind::Tool, ItemKind::Outcome, ItemKind::Reply];
        let mut kinds: Vec<(ItemKind, bool)> = main.iter().map(|kind| (*kind, true)).cycle().take(main.len() * 12_000).collect();
        let list = 30_003;
        kinds[list] = (ItemKind::Todos, true);
        kinds.extend([(ItemKind::Task, false), (ItemKind::Todos, false), (ItemKind::Reply, false)].repeat(4_000));
        let places = chosen_of(&kinds, 0..kinds.len());
        let all_of = |kind: ItemKind| (0..kinds.len()).filter(|at| kinds[*at] == (kind, true)).collect::<Vec<_>>();
        for kind in [ItemKind::WorkEvidence, ItemKind::Task, ItemKind::Todos] {
            let lost = all_of(kind).into_iter().filter(|at| places.binary_search(at).is_err()).count();
            assert_eq!(lost, 0, "{kind:?}");
        }
        let of_agents = places.iter().filter(|at| !kinds[**at].1).count();
        assert!(of_agents < 3 * MAX_PER_KIND + RUNS * RUN_ITEMS && places.len() < kinds.len() / 2, "{of_agents}, {}", places.len());
    }

    #[test]
    fn which_evidence_is_loaded_of_too_much_depends_on_its_order_alone() {
        let kinds = vec![(ItemKind::WordEvidence, true); MAX_WORD_EVIDENCE * 2];
        let items = kinds.len();
        let places = chosen_of(&kinds, 0..items);
        assert_eq!(places, Vec::from_iter(items - MAX_WORD_EVIDENCE..items));
        assert_eq!(places, chosen_of(&kinds, (items / 2..items).chain(0..items / 2)));
    }

    #[test]
    fn in_which_order_it_came_in_changes_nothing() {
        let items = TURNS * TURN.len();
        assert_eq!(chosen(0..items), chosen((items / 2..items).chain(0..items / 2)));
    }
}
