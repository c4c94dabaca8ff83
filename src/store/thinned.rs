//! Which items are loaded of a session that is too long to be loaded whole.
//!
//! A digest, a page and an answer are a few KB, however long the session was, and nobody who makes one needs more memory for a longer one.
//! So of a long one is loaded how it began and how it ended, and of what lies between a choice, spread over all of it, that is bounded in
//! number and length: what the user said, how turns ended, plans and recaps, the last state of the lists, and stretches of everything. The
//! choice hangs on the order and the kinds of the items alone: in which slices they came in changes nothing. Search knows the words of all of them.
//!
//! Sessions that fit into a client's window, compacted as often as in a long day, are far from being long in this sense.

use std::ops::Range;

use super::bundle::{Kind, Line};
use crate::clean::head_and_tail;
use crate::session::{Item, LeftOut, Millis};

/// A session is long that says more than this, in bytes.
pub const LONG: usize = 16 << 20;

/// So many items at either end of the conversation are loaded, as they are.
const ENDS: usize = 128;
/// Of a kind that is chosen, so many at most.
const OF_A_KIND: usize = 2048;
/// Of lists and titles, which tell of the ones before, the last ones.
const STATES: usize = 64;
/// Of all kinds, that many items in a row so many times.
const STRETCH: usize = 32;
const STRETCHES: usize = 64;
/// A plan, the tool use that puts it before the user, and the answer.
const PLAN: usize = 3;

/// Tool uses with their outcomes behind them, so many that belong together.
const TOGETHER: usize = 128;

/// Texts that do not stand at an end have so many characters at most.
const MAX_TEXT: usize = 2_000;

/// An item as far as the choice hangs on it.
#[derive(Debug, Clone, Copy)]
struct Spot {
    /// By what items are in order: part of the session, offset in the file, file, and place in the row.
    order: (u32, i64, u32, u32),
    /// As the how manieth it came in.
    number: u32,
    kind: Kind,
    is_main: bool,
}

/// The items of a session of which some are chosen. They take 32 bytes each.
#[derive(Debug, Default)]
pub struct Spots {
    all: Vec<Spot>,
    /// When one was said last, and which.
    latest: Option<(Millis, u32)>,
}

impl Spots {
    pub fn with_room_for(items: usize) -> Self {
        Self { all: Vec::with_capacity(items), latest: None }
    }

    /// Adds the item that came in next, with the part of the session and the file that it stands in.
    pub fn add(&mut self, line: &Line, (part, file): (usize, usize), is_main: bool) {
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let number = small(self.all.len());
        let within = u32::try_from(line.part).unwrap_or(u32::MAX);
        self.latest = self.latest.max(line.at.map(|at| (at, number)));
        self.all.push(Spot { order: (small(part), line.offset, small(file), within), number, kind: line.kind, is_main });
    }

    /// The numbers of those that are loaded, in their order, and how many are not.
    pub fn choose(mut self) -> (Vec<u32>, LeftOut) {
        self.all.sort_unstable_by_key(|spot| (spot.order, spot.number));
        let chosen = choice(&self.all, self.latest);
        let (mut numbers, mut left_out) = (Vec::new(), LeftOut::default());
        for (spot, chosen) in self.all.iter().zip(chosen) {
            if chosen {
                numbers.push(spot.number);
            } else {
                left_out.items += 1;
                left_out.prompts += usize::from(spot.kind == Kind::Prompt && spot.is_main);
            }
        }
        numbers.sort_unstable();
        (numbers, left_out)
    }
}

/// Does an item that stayed, of which the first `main` are of the main conversation, stand at an end of that?
pub fn is_at_end(at: usize, main: usize) -> bool {
    at < main && (at < ENDS || at + ENDS >= main)
}

/// Shortens an item that stayed and stands at no end.
pub fn shorten(item: &mut Item) {
    if let Item::Prompt(text) | Item::Reply(text) | Item::Plan(text) | Item::Recap(text) | Item::Away(text) = item
        && text.len() > MAX_TEXT
    {
        *text = head_and_tail(text, MAX_TEXT);
    }
}

/// For each item whether it is chosen. Those of the main conversation come first.
fn choice(rows: &[Spot], latest: Option<(Millis, u32)>) -> Vec<bool> {
    let main = rows.iter().take_while(|spot| spot.is_main).count();
    let mut chosen = Choice(vec![false; rows.len()]);
    chosen.add(0..main.min(ENDS));
    chosen.add(main.saturating_sub(ENDS)..main);
    // The session was active until then.
    chosen.add_all(rows.iter().position(|spot| latest.is_some_and(|(_, number)| number == spot.number)).into_iter());
    let of = |kinds: &'static [Kind]| (0..rows.len()).filter(move |at| kinds.contains(&rows[*at].kind));
    chosen.add_all(spread(of(&[Kind::Prompt, Kind::Answer]).filter(|at| *at < main).collect(), OF_A_KIND));
    chosen.add_all(spread(of(&[Kind::Reply]).filter(|at| ends_turn(rows, *at)).collect(), OF_A_KIND));
    chosen.add_all(spread(of(&[Kind::Recap, Kind::Away, Kind::PullRequest, Kind::Interrupted]).collect(), OF_A_KIND));
    for at in spread(of(&[Kind::Plan]).collect(), OF_A_KIND / PLAN) {
        chosen.add(at..at + PLAN);
    }
    // What became of a task may be told much later than what it is.
    chosen.add_all(last(of(&[Kind::Task]).collect(), OF_A_KIND));
    chosen.add_all(last(of(&[Kind::Todos]).collect(), STATES));
    chosen.add_all(last(of(&[Kind::Title]).collect(), STATES));
    for start in spread((0..rows.len()).step_by(STRETCH).collect(), STRETCHES) {
        chosen.add(start..start + STRETCH);
    }
    chosen.close(rows);
    chosen.0
}

struct Choice(Vec<bool>);

impl Choice {
    fn add(&mut self, range: Range<usize>) {
        let end = range.end.min(self.0.len());
        self.0[range.start.min(end)..end].fill(true);
    }

    fn add_all(&mut self, places: impl Iterator<Item = usize>) {
        places.for_each(|at| self.0[at] = true);
    }

    /// Tool uses and how they ended are chosen together: one without the other would tell of a success that was none, or of a failure that
    /// another use of the same command had.
    fn close(&mut self, rows: &[Spot]) {
        let of = |from: usize, kind: Kind| rows[from..].iter().take_while(|spot| spot.kind == kind).count();
        let mut from = 0;
        while from < rows.len() {
            let ended = from + of(from, Kind::Tool);
            let end = ended + of(ended, Kind::Outcome);
            if self.0[from..end].contains(&true) {
                // Of more than are ever under way at once those that end nothing need nothing.
                self.add(if end - from <= TOGETHER { from } else { ended.max(end.saturating_sub(TOGETHER)) }..end);
            }
            from = end.max(from + 1);
        }
    }
}

/// Is nothing said after a reply before the user, or a subagent, comes to words?
fn ends_turn(rows: &[Spot], at: usize) -> bool {
    let part = |spot: &Spot| spot.order.0;
    let next = rows[at + 1..].iter().find(|spot| matches!(spot.kind, Kind::Reply | Kind::Prompt));
    next.is_none_or(|next| next.kind == Kind::Prompt || part(next) != part(&rows[at]))
}

/// So many of these at most, the first and the last among them, as far from each other as can be.
fn spread(all: Vec<usize>, most: usize) -> impl Iterator<Item = usize> {
    let count = all.len().min(most);
    let steps = count.saturating_sub(1).max(1);
    (0..count).map(move |n| all[n * all.len().saturating_sub(1) / steps])
}

/// So many of these, the last.
fn last(mut all: Vec<usize>, most: usize) -> impl Iterator<Item = usize> {
    all.drain(..all.len().saturating_sub(most));
    all.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::RowKey;

    const TURN: [Kind; 6] = [Kind::Prompt, Kind::Tool, Kind::Outcome, Kind::Reply, Kind::Tool, Kind::Reply];
    const TURNS: usize = 20_000;

    /// What is loaded of a session of many turns, as places in it, when it came in like this.
    fn chosen(came_in: impl Iterator<Item = usize>) -> (Vec<usize>, LeftOut) {
        let mut spots = Spots::default();
        let came_in: Vec<usize> = came_in.collect();
        for at in &came_in {
            let kind = if *at == 30_007 { Kind::Plan } else { TURN[at % TURN.len()] };
            let line = Line { key: RowKey([0; 16]), part: 0, offset: *at as i64, at: Some(*at as i64 % 70_001), kind, sum: 0 };
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
        assert!(places.len() < 2 * ENDS + 3 * OF_A_KIND + STRETCHES * (STRETCH + 1), "{}", places.len());
        assert!(places.starts_with(&Vec::from_iter(0..ENDS)) && places.ends_with(&Vec::from_iter(items - ENDS..items)));
        let of = |kind: Kind| places.iter().filter(|at| TURN[*at % TURN.len()] == kind).count();
        assert!(of(Kind::Prompt) >= OF_A_KIND && left_out.prompts == TURNS - of(Kind::Prompt));
        let closing = places.iter().filter(|at| *at % TURN.len() == TURN.len() - 1).count();
        assert!(closing >= OF_A_KIND, "{closing} replies that end turns");
        // A plan comes with what became of it, and the session was active until the item that was written last.
        assert!([30_007, 30_008, 30_009, 70_000].iter().all(|at| places.contains(at)));
        // From no tenth of it is nothing loaded.
        assert!((0..10).all(|tenth| places.iter().any(|at| at * 10 / items == tenth && TURN[at % TURN.len()] == Kind::Outcome)));
    }

    #[test]
    fn how_a_use_ended_is_loaded_with_it_or_not_at_all() {
        // Alone, at the same time as others, and many of which only the last ended in a way that is kept, in any place.
        let runs: [&[Kind]; 3] =
            [&[Kind::Tool, Kind::Outcome], &[Kind::Tool, Kind::Tool, Kind::Outcome, Kind::Outcome], &[Kind::Tool; 7]];
        let kinds: Vec<Kind> = (0..9_000)
            .flat_map(|n| {
                [&[Kind::Prompt][..], runs[n % 3], &[Kind::Outcome][..(n % 3 == 2).into()], &[Kind::Reply][..n % 2]].concat()
            })
            .collect();
        let mut spots = Spots::default();
        for (at, kind) in kinds.iter().enumerate() {
            let line = Line { key: RowKey([0; 16]), part: 0, offset: at as i64, at: None, kind: *kind, sum: 0 };
            spots.add(&line, (1, 1), true);
        }
        let (numbers, left_out) = spots.choose();
        assert!(left_out.items > kinds.len() / 2, "{left_out:?}");
        let is_chosen = |at: usize| numbers.binary_search(&(at as u32)).is_ok();
        for at in 1..kinds.len() {
            let is_one_run =
                matches!((kinds[at - 1], kinds[at]), (Kind::Tool, Kind::Tool | Kind::Outcome) | (Kind::Outcome, Kind::Outcome));
            assert!(!is_one_run || is_chosen(at - 1) == is_chosen(at), "{at}");
        }
    }

    #[test]
    fn in_which_order_it_came_in_changes_nothing() {
        let items = TURNS * TURN.len();
        assert_eq!(chosen(0..items), chosen((items / 2..items).chain(0..items / 2)));
    }
}
