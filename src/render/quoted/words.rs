//! What the user said, turn by turn, in their own words. Pure.

use jiff::tz::TimeZone;

use super::{Listener, command, quote, quote_both_ends};
use crate::analyze::account::{Turn, Word, WordKind};
use crate::render::page::clock;
use text::blocks::beginning;
use text::clean::{one_line, shorten};
use transcripts::client::Client;
use transcripts::session::{Millis, said};

/// The bounds of what all lines share as the most characters of each. Of a line that is shorter, somebody else may not see what was meant;
/// who said it knows.
const MIN_CAP: usize = 120;
const MIN_CAP_OF_OWN: usize = 70;
const MAX_CAP: usize = 2_000;
/// Words of so many lines hold pasted text: their ends say what it is, and so many characters of them.
const PASTED_LINES: usize = 8;
const MAX_PASTED_CHARS: usize = 400;
/// The most characters of a question, an option's description, a plan's title.
const MAX_ASIDE_CHARS: usize = 160;
/// How long beginnings of replies may be, in characters: the longest with which all of them fit.
const BEGINNING_CAPS: [usize; 5] = [600, 400, 300, 220, SHORTEST_BEGINNING];
const SHORTEST_BEGINNING: usize = 160;
/// What is left of a turn if not all fits: its first words and so many of the last.
const MAX_LAST_WORDS: usize = 3;

/// The words of one turn.
struct ToldTurn {
    number: usize,
    text: String,
}

/// What the user said in a session, to be listed.
pub(super) struct TurnList<'a> {
    pub(super) turns: &'a [Turn],
    /// Times of this day are told without it.
    pub(super) known_day: Option<Millis>,
    pub(super) zone: &'a TimeZone,
    /// What stands above the words, and above words with beginnings of replies.
    pub(super) labels: [String; 2],
    pub(super) client: Client,
    pub(super) listener: Listener,
}

impl TurnList<'_> {
    /// The words in at most so many bytes; empty if nothing of them fits.
    pub(super) fn words(&self, room: usize) -> String {
        let Some(room) = room.checked_sub(self.labels[0].len()) else { return String::new() };
        let list = match self.widest(room) {
            Some(turns) => whole_list(&turns),
            None => ends_of(self.told(self.min_cap()), room),
        };
        if list.is_empty() { list } else { format!("{}{list}", self.labels[0]) }
    }

    /// The same words, each with the beginning of its turn's reply, as far as the room that these words leave goes: the newest turns come
    /// first, as they are overtaken least. Replies of `quoted` turns stand elsewhere.
    pub(super) fn with_beginnings(&self, words: String, quoted: &[usize], room: usize) -> String {
        let Some(list) = words.strip_prefix(self.labels[0].as_str()) else { return words };
        // Where turns are left out there is no room.
        let Some(mut turns) = self.widest(list.len()) else { return words };
        let Some(room) = room.checked_sub(self.labels[1].len()) else { return words };
        let told = self.turns.iter().filter(|turn| !turn.words.is_empty());
        // Each as long as it may be told at all.
        let replies: Vec<(usize, String, bool)> = told
            .enumerate()
            .filter(|(_, turn)| !quoted.contains(&turn.number))
            .filter_map(|(at, turn)| {
                turn.reply.as_ref().map(|reply| (at, beginning(&reply.text, BEGINNING_CAPS[0]), reply.cut_off))
            })
            .filter(|(_, text, _)| !text.is_empty())
            .collect();
        let line = |text: &str, cut_off: bool, cap: usize| {
            format!("   > {}{}\n", if cut_off { "(cut off) " } else { "" }, shorten(text, cap))
        };
        let all = |cap: usize| replies.iter().map(|(_, text, cut_off)| line(text, *cut_off, cap).len()).sum::<usize>();
        let cap = BEGINNING_CAPS.into_iter().find(|cap| list.len() + all(*cap) <= room).unwrap_or(SHORTEST_BEGINNING);
        let mut length = list.len();
        let mut any = false;
        for (at, text, cut_off) in replies.iter().rev() {
            let line = line(text, *cut_off, cap);
            length += line.len();
            if length > room {
                break;
            }
            any = true;
            turns[*at].text.push_str(&line);
        }
        if any { format!("{}{}", self.labels[1], whole_list(&turns)) } else { words }
    }

    /// All turns, with the most words of each that fit into so many bytes; `None` if they do not fit however short they are.
    fn widest(&self, room: usize) -> Option<Vec<ToldTurn>> {
        let fits = |cap: usize| Some(self.told(cap)).filter(|turns| whole_list(turns).len() <= room);
        if let Some(whole) = fits(MAX_CAP) {
            return Some(whole);
        }
        let least = self.min_cap();
        let (mut fitting, mut above, mut widest) = (least, MAX_CAP, fits(least)?);
        while above - fitting > 1 {
            let cap = (fitting + above) / 2;
            match fits(cap) {
                Some(longer) => (fitting, widest) = (cap, longer),
                None => above = cap,
            }
        }
        Some(widest)
    }

    fn min_cap(&self) -> usize {
        match self.listener {
            Listener::User => MIN_CAP_OF_OWN,
            Listener::Assistant => MIN_CAP,
        }
    }

    fn told(&self, cap: usize) -> Vec<ToldTurn> {
        let told = self.turns.iter().filter(|turn| !turn.words.is_empty());
        told.map(|turn| ToldTurn { number: turn.number, text: lines_of(turn, self.client, cap, self.known_day, self.zone) })
            .collect()
    }
}

/// All turns, with a mark where some are not known.
fn whole_list<'t>(turns: impl IntoIterator<Item = &'t ToldTurn>) -> String {
    let mut before = 0;
    let mut list = String::new();
    for turn in turns {
        list.push_str(&turns_left_out(turn.number.saturating_sub(before + 1)));
        list.push_str(&turn.text);
        before = turn.number;
    }
    list
}

/// A mark for turns that are not told; empty for none.
fn turns_left_out(count: usize) -> String {
    left_out(count).map(|words| format!("[{words}]\n")).unwrap_or_default()
}

/// The words for so many turns that are not told.
pub(crate) fn left_out(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("1 turn left out".to_owned()),
        many => Some(format!("{many} turns left out")),
    }
}

/// The first turn and as many of the newest as fit.
fn ends_of(mut turns: Vec<ToldTurn>, room: usize) -> String {
    turns.iter_mut().for_each(|turn| turn.text = ends_of_turn(&turn.text));
    let mark = turns_left_out(turns.last().map_or(0, |turn| turn.number)).len();
    let Some((first, later)) = turns.split_first() else { return String::new() };
    // A first turn that takes the newest one's room stays out.
    let newest = later.last().map_or(0, |turn| turn.text.len());
    let first = Some(first).filter(|first| first.text.len() + newest + mark <= room);
    let mut left = room.saturating_sub(first.map_or(0, |first| first.text.len()) + mark);
    let mut begin = later.len();
    while begin > 0 {
        // Turns that are not known leave a mark of their own.
        let gap = later.get(begin).map_or(0, |next| turns_left_out(next.number.saturating_sub(later[begin - 1].number + 1)).len());
        let Some(rest) = left.checked_sub(later[begin - 1].text.len() + gap) else { break };
        begin -= 1;
        left = rest;
    }
    let kept: Vec<&ToldTurn> = first.into_iter().chain(&later[begin..]).collect();
    let missing = match (first, later.last()) {
        (Some(first), Some(last)) if begin == later.len() => turns_left_out(last.number.saturating_sub(first.number)),
        _ => String::new(),
    };
    whole_list(kept) + &missing
}

/// A turn's first line and the last ones.
fn ends_of_turn(turn: &str) -> String {
    let lines: Vec<&str> = turn.split_inclusive('\n').collect();
    let Some(left_out) = lines.len().checked_sub(1 + MAX_LAST_WORDS).filter(|count| *count > 1) else { return turn.to_owned() };
    format!("{}   [{left_out} more left out]\n{}", lines[0], lines[1 + left_out..].concat())
}

/// What was said in a turn, each thing on a line of about so many characters at most.
pub(crate) fn turn_lines(turn: &Turn, client: Client, cap: usize) -> impl Iterator<Item = String> {
    turn.words.iter().map(move |word| line_of(word, client.assistant(), cap))
}

fn lines_of(turn: &Turn, client: Client, cap: usize, known: Option<Millis>, zone: &TimeZone) -> String {
    let mut out = String::new();
    for (n, word) in turn.words.iter().enumerate() {
        let is_pasted = word.text.lines().nth(PASTED_LINES - 1).is_some();
        let line = line_of(word, client.assistant(), if is_pasted { cap.min(MAX_PASTED_CHARS) } else { cap });
        if n > 0 {
            out.push_str(&format!("   {line}\n"));
        } else {
            // What was said before the first prompt that is known has no number.
            let number = if turn.number == 0 { "-".to_owned() } else { format!("{}.", turn.number) };
            out.push_str(&format!("{number} {} {line}\n", time(word.at.or(turn.at), known, zone)));
        }
    }
    out
}

/// The time of day, with the day if it is not that of `known`.
pub(super) fn time(at: Option<Millis>, known: Option<Millis>, zone: &TimeZone) -> String {
    let day = |at: Millis| crate::render::page::date(at, zone);
    let other = at.map(day).filter(|on| known.is_some_and(|known| day(known) != *on));
    let other = other.map(|day| format!("{} ", &day["YYYY-".len()..])).unwrap_or_default();
    format!("{other}{}", clock(at, zone))
}

fn line_of(word: &Word, assistant: &str, cap: usize) -> String {
    let aside = cap.min(MAX_ASIDE_CHARS);
    let plan = |plan: &String| if plan.is_empty() { "a plan".to_owned() } else { format!("plan {}", quote(plan, aside)) };
    let text = quote_both_ends(&word.text, cap);
    match &word.kind {
        WordKind::Prompt => match &word.object {
            Some(object) => format!("{text} ({assistant} {}: {})", object.had(), quote(object.text(), aside)),
            None => text,
        },
        WordKind::Joined => format!("while it worked: {text}"),
        WordKind::PlanGiven { plan: given } => format!("gave {} to be done", plan(given)),
        WordKind::Approved { plan: approved } => format!("approved {}", plan(approved)),
        WordKind::Ran => format!("ran {}", command(&word.text, aside)),
        WordKind::Answered { asked, description } => {
            let description = if description.is_empty() { String::new() } else { format!(": {}", quote(description, aside)) };
            format!("answered {text} (asked by {assistant}: {}{description})", quote(asked, aside))
        }
        WordKind::Refused { what } => {
            let words = if one_line(&word.text).is_empty() { String::new() } else { format!(": {text}") };
            format!("refused {}{words}", refused(what, aside))
        }
    }
}

/// What was refused, in the account's form.
fn refused(what: &str, most: usize) -> String {
    let within = |open: &str, close: &str| what.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    match (within("`", "`"), within("plan “", "”")) {
        (Some(line), _) => command(line, most),
        (_, Some("")) => "a plan".to_owned(),
        (_, Some(title)) => format!("plan {}", quote(title, most)),
        _ if what.is_empty() => "a tool".to_owned(),
        _ => said(what, most),
    }
}
