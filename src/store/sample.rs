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

use crate::store::chunk::{ItemHeader, ItemKind};
use text::clean::head_and_tail;
use transcripts::session::{Item, Millis, RecordKey};

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
    /// A prompt that was said during a turn: the next item is the evidence of it.
    is_joined: bool,
}

/// What is to be loaded of a session. Items are named by their number in the order of ingest.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// The items to load, ascending.
    pub(crate) numbers: Vec<u32>,
    /// How many items are not, and how many of them are prompts of the main conversation.
    pub(crate) items_left_out: usize,
    pub(crate) prompts_left_out: usize,
    /// For the first item of the main conversation that is loaded behind each gap: how many prompts that begin a turn are left out before
    /// it.
    pub(crate) prompts_before: Vec<(u32, usize)>,
}

/// All items of a session, for choosing some of them. Each takes 32 bytes.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    all: Vec<SampleCandidate>,
    /// The latest timestamp, and the number of its item.
    latest: Option<(Millis, u32)>,
    /// How many items were added, and the record of the last one.
    added: u32,
    record: Option<RecordKey>,
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
        let spot = SampleCandidate {
            order: (small(part), line.offset, small(file), within),
            number,
            kind: line.kind,
            is_main,
            is_joined: false,
        };
        let is_of_last = self.record.replace(line.key) == Some(line.key);
        match line.kind {
            ItemKind::WordEvidence => {
                let said = self.all.last_mut().filter(|said| is_of_last && said.number + 1 == number);
                said.into_iter().for_each(|said| said.is_joined = said.kind == ItemKind::Prompt);
                self.evidence[0].push(spot);
            }
            ItemKind::WorkEvidence => self.evidence[1].push(spot),
            _ => {
                self.latest = self.latest.max(line.at.map(|at| (at, number)));
                self.all.push(spot);
            }
        }
    }

    pub(crate) fn choose(mut self) -> Sample {
        self.all.sort_unstable_by_key(|spot| (spot.order, spot.number));
        let chosen = select(&self.all, self.latest);
        let mut sample = Sample { numbers: Vec::new(), items_left_out: 0, prompts_left_out: 0, prompts_before: Vec::new() };
        let (mut turns_left_out, mut told) = (0, 0);
        for (spot, chosen) in self.all.iter().zip(chosen) {
            let is_prompt = spot.kind == ItemKind::Prompt && spot.is_main;
            if !chosen {
                sample.items_left_out += 1;
                sample.prompts_left_out += usize::from(is_prompt);
                turns_left_out += usize::from(is_prompt && !spot.is_joined);
                continue;
            }
            if spot.is_main && turns_left_out > told {
                told = turns_left_out;
                sample.prompts_before.push((spot.number, told));
            }
            sample.numbers.push(spot.number);
            sample.numbers.extend(spot.is_joined.then_some(spot.number + 1));
        }
        for (mut evidence, most) in self.evidence.into_iter().zip([MAX_WORD_EVIDENCE, MAX_WORK]) {
            evidence.sort_unstable_by_key(|spot| (spot.order, spot.number));
            sample.numbers.extend(evidence[evidence.len().saturating_sub(most)..].iter().map(|spot| spot.number));
        }
        sample.numbers.sort_unstable();
        sample.numbers.dedup();
        sample
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
    chosen.add_all(evenly_spaced(of(&[ItemKind::Reply]).filter(|at| *at >= main && ends_turn(rows, *at)).collect(), MAX_PER_KIND));
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
    chosen.close_turns(&rows[..main]);
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

    /// Chooses with each prompt the replies that closed its turn, and with each reply the first tool use behind it in its turn: otherwise an
    /// earlier reply would be taken for the one that closed the turn.
    fn close_turns(&mut self, main: &[SampleCandidate]) {
        for at in (0..main.len()).filter(|at| begins_turn(&main[*at])) {
            if self.0[at] {
                self.add(closing_replies(main, at));
            }
        }
        let mut tool = None;
        for at in (0..main.len()).rev() {
            match main[at].kind {
                ItemKind::Tool => tool = Some(at),
                ItemKind::Reply if self.0[at] => self.add_all(tool.into_iter()),
                _ if begins_turn(&main[at]) => tool = None,
                _ => {}
            }
        }
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

fn begins_turn(spot: &SampleCandidate) -> bool {
    spot.kind == ItemKind::Prompt && !spot.is_joined
}

/// The last replies of the turn that begins at `from`, as many as stand together.
fn closing_replies(main: &[SampleCandidate], from: usize) -> Range<usize> {
    let turn = main[from + 1..].iter().take_while(|spot| !begins_turn(spot)).count();
    let Some(last) = main[from + 1..][..turn].iter().rposition(|spot| spot.kind == ItemKind::Reply) else { return from..from };
    let end = from + 1 + last + 1;
    let together = main[from + 1..end].iter().rev().take(RUN_ITEMS).take_while(|spot| spot.kind == ItemKind::Reply).count();
    end - together..end
}

/// Is this the last reply before the user or a subagent speaks?
fn ends_turn(rows: &[SampleCandidate], at: usize) -> bool {
    let part = |spot: &SampleCandidate| spot.order.0;
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

    const TURN: [ItemKind; 6] =
        [ItemKind::Prompt, ItemKind::Tool, ItemKind::Outcome, ItemKind::Reply, ItemKind::Tool, ItemKind::Reply];
    const TURNS: usize = 20_000;

    /// Positions loaded of a session of many turns that was ingested in this order.
    fn chosen(came_in: impl Iterator<Item = usize>) -> (Vec<usize>, Sample) {
        let mut spots = Sampler::default();
        let came_in: Vec<usize> = came_in.collect();
        for at in &came_in {
            let kind = if *at == 30_007 { ItemKind::Plan } else { TURN[at % TURN.len()] };
            let line =
                ItemHeader { key: RecordKey([0; 16]), part: 0, offset: *at as i64, at: Some(*at as i64 % 70_001), kind, sum: 0 };
            spots.add(&line, (1, 1), true);
        }
        let sample = spots.choose();
        let mut places: Vec<usize> = sample.numbers.iter().map(|number| came_in[*number as usize]).collect();
        places.sort_unstable();
        (places, sample)
    }

    #[test]
    fn of_a_long_session_both_ends_and_some_of_all_between_are_loaded() {
        let items = TURNS * TURN.len();
        let (places, sample) = chosen(0..items);
        assert_eq!(places.len() + sample.items_left_out, items);
        assert!(places.len() < 2 * END_ITEMS + 3 * MAX_PER_KIND + RUNS * (RUN_ITEMS + 1), "{}", places.len());
        assert!(places.starts_with(&Vec::from_iter(0..END_ITEMS)) && places.ends_with(&Vec::from_iter(items - END_ITEMS..items)));
        let of = |kind: ItemKind| places.iter().filter(|at| TURN[*at % TURN.len()] == kind).count();
        assert!(of(ItemKind::Prompt) >= MAX_PER_KIND && sample.prompts_left_out == TURNS - of(ItemKind::Prompt));
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
        let sample = spots.choose();
        assert!(sample.items_left_out > kinds.len() / 2, "{}", sample.items_left_out);
        let is_chosen = |at: usize| sample.numbers.binary_search(&(at as u32)).is_ok();
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
        let mut places: Vec<usize> = spots.choose().numbers.iter().map(|number| came_in[*number as usize]).collect();
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
    fn it_is_told_how_many_prompts_that_begin_a_turn_lie_before_what_is_loaded() {
        let (mut spots, mut kinds) = (Sampler::default(), Vec::new());
        for n in 0..30_000 {
            // Every third prompt was said while the assistant worked.
            let joined: &[ItemKind] = if n % 3 == 2 { &[ItemKind::WordEvidence] } else { &[] };
            for (part, kind) in [&[ItemKind::Prompt][..], joined].concat().into_iter().enumerate() {
                let (offset, key) = (2 * n, RecordKey((2 * n as u128).to_be_bytes()));
                spots.add(&ItemHeader { key, part: part as i64, offset, at: None, kind, sum: 0 }, (0, 0), true);
                kinds.push(kind);
            }
            let (offset, key) = (2 * n + 1, RecordKey((2 * n as u128 + 1).to_be_bytes()));
            spots.add(&ItemHeader { key, part: 0, offset, at: None, kind: ItemKind::Reply, sum: 0 }, (0, 0), true);
            kinds.push(ItemKind::Reply);
        }
        let sample = spots.choose();
        let begins_turn = |at: usize| kinds[at] == ItemKind::Prompt && kinds[at + 1] != ItemKind::WordEvidence;
        let (mut left_out, mut told, mut since) = (0, 0, 0);
        for (at, kind) in kinds.iter().enumerate() {
            let is_chosen = sample.numbers.binary_search(&(at as u32)).is_ok();
            let this = sample.prompts_before.iter().find(|(number, _)| *number as usize == at).map(|(_, prompts)| *prompts);
            if let Some(prompts) = this {
                assert!(is_chosen && prompts == left_out && prompts > told, "{at}: {prompts}");
                (told, since) = (prompts, 0);
            }
            assert!(!is_chosen || kind.is_evidence() || since == 0, "{at}: {since} prompts are not told of");
            let is_left_out = !is_chosen && begins_turn(at);
            (left_out, since) = (left_out + usize::from(is_left_out), since + usize::from(is_left_out));
            // What shows that a prompt began no turn is loaded with it.
            let shows = *kind == ItemKind::Prompt && is_chosen && !begins_turn(at);
            assert!(!shows || sample.numbers.binary_search(&(at as u32 + 1)).is_ok(), "{at}");
        }
        assert!(left_out > 10_000 && told == left_out, "{told} of {left_out}");
    }

    #[test]
    fn the_last_reply_that_is_loaded_of_a_turn_is_the_one_that_closed_it() {
        use ItemKind::{Outcome, Prompt, Reply, Tool};
        // The second kind of turn was cut off.
        let turns: [&[ItemKind]; 2] =
            [&[Prompt, Reply, Tool, Outcome, Reply, Reply], &[Prompt, Reply, Reply, Tool, Outcome, Tool, Outcome]];
        let kinds: Vec<(ItemKind, bool)> = (0..9_000).flat_map(|n| turns[n % 2]).map(|kind| (*kind, true)).collect();
        let places = chosen_of(&kinds, 0..kinds.len());
        let is_chosen = |at: usize| places.binary_search(&at).is_ok();
        let mut told = 0;
        for from in (0..kinds.len()).filter(|at| kinds[*at].0 == Prompt && is_chosen(*at)) {
            let turn = if kinds[from + 2].0 == Tool { turns[0] } else { turns[1] };
            let closing = |is_there: &dyn Fn(usize) -> bool| {
                let there = (0..turn.len()).filter(|n| is_there(from + n) && matches!(turn[*n], Reply | Tool)).collect::<Vec<_>>();
                let tool = there.iter().rposition(|n| turn[*n] == Tool).map_or(0, |tool| tool + 1);
                (there[tool..].to_vec(), there[..tool].iter().rfind(|n| turn[**n] == Reply).copied())
            };
            let (whole, loaded) = (closing(&|_| true), closing(&is_chosen));
            // What was said before it matters only if nothing closed the turn.
            assert!(loaded.0 == whole.0 && (!whole.0.is_empty() || loaded.1 == whole.1), "{from}: {loaded:?}, {whole:?}");
            told += 1;
        }
        assert!((MAX_PER_KIND..9_000).contains(&told), "{told}");
    }

    #[test]
    fn in_which_order_it_came_in_changes_nothing() {
        let items = TURNS * TURN.len();
        assert_eq!(chosen(0..items).0, chosen((items / 2..items).chain(0..items / 2)).0);
    }
}
