//! What the user said, turn by turn, in their own words. Pure.

use jiff::tz::TimeZone;

use super::{command, quote, quote_both_ends};
use crate::analyze::account::{Turn, Word, WordKind};
use crate::analyze::prose::sentences;
use crate::model::session::{Millis, said};
use crate::render::page::clock;
use crate::text::clean::one_line;

/// The bounds of what all lines share as the most characters of each.
const MIN_CAP: usize = 120;
const MAX_CAP: usize = 2_000;
/// A prompt of so many characters needs its object.
const SHORT_PROMPT_CHARS: usize = 25;
/// The most characters of a question, an option's description, a plan's title.
const MAX_ASIDE_CHARS: usize = 160;
/// What is left of a turn if not all fits: its first words and so many of the last.
const MAX_LAST_WORDS: usize = 3;
const LABEL: &str = "\nWhat you said, turn by turn:\n";

/// The list in at most so many bytes; empty if nothing of it fits.
pub(super) fn turn_list(turns: &[Turn], zone: &TimeZone, room: usize) -> String {
    let Some(room) = room.checked_sub(LABEL.len()) else { return String::new() };
    let began = turns.iter().find_map(|turn| turn.at);
    let told = |cap: usize| -> Vec<String> {
        let told = turns.iter().enumerate().filter(|(_, turn)| !turn.words.is_empty());
        told.map(|(n, turn)| lines_of(turn, n.checked_sub(1).map(|n| &turns[n]), cap, began, zone)).collect()
    };
    let fits = |cap: usize| Some(told(cap).concat()).filter(|list| list.len() <= room);
    let Some(mut list) = fits(MIN_CAP) else { return ends_of(&told(MIN_CAP), room) };
    let (mut fitting, mut above) = (MIN_CAP, MAX_CAP + 1);
    while above - fitting > 1 {
        let cap = (fitting + above) / 2;
        match fits(cap) {
            Some(longer) => (fitting, list) = (cap, longer),
            None => above = cap,
        }
    }
    if list.is_empty() { list } else { format!("{LABEL}{list}") }
}

/// The first turn and as many of the newest as fit.
fn ends_of(turns: &[String], room: usize) -> String {
    let turns: Vec<String> = turns.iter().map(|turn| ends_of_turn(turn)).collect();
    let left_out = |count: usize| match count {
        0 => String::new(),
        1 => "[1 turn left out]\n".to_owned(),
        many => format!("[{many} turns left out]\n"),
    };
    let Some((first, later)) = turns.split_first() else { return String::new() };
    let mark = left_out(turns.len());
    // A first turn that takes the newest one's room stays out.
    let newest = later.last().map_or(0, String::len);
    let first = if first.len() + newest + mark.len() <= room { first.as_str() } else { "" };
    let mut left = room.saturating_sub(first.len() + mark.len());
    let mut begin = later.len();
    while begin > 0 && later[begin - 1].len() <= left {
        begin -= 1;
        left -= later[begin].len();
    }
    if first.is_empty() && begin == later.len() {
        return String::new();
    }
    let missing = begin + usize::from(first.is_empty());
    format!("{LABEL}{first}{}{}", left_out(missing), later[begin..].concat())
}

/// A turn's first line and the last ones.
fn ends_of_turn(turn: &str) -> String {
    let lines: Vec<&str> = turn.split_inclusive('\n').collect();
    let Some(left_out) = lines.len().checked_sub(1 + MAX_LAST_WORDS).filter(|count| *count > 1) else { return turn.to_owned() };
    format!("{}   [{left_out} more left out]\n{}", lines[0], lines[1 + left_out..].concat())
}

fn lines_of(turn: &Turn, before: Option<&Turn>, cap: usize, began: Option<Millis>, zone: &TimeZone) -> String {
    let mut out = String::new();
    for (n, word) in turn.words.iter().enumerate() {
        let line = line_of(word, before.filter(|_| n == 0), cap);
        if n > 0 {
            out.push_str(&format!("   {line}\n"));
        } else {
            // What was said before the first prompt that is known has no number.
            let number = if turn.number == 0 { "-".to_owned() } else { format!("{}.", turn.number) };
            out.push_str(&format!("{number} {} {line}\n", time(word.at.or(turn.at), began, zone)));
        }
    }
    out
}

/// The time of day, with the day if it is not the first one.
pub(super) fn time(at: Option<Millis>, began: Option<Millis>, zone: &TimeZone) -> String {
    let day = |at: Millis| crate::render::page::date(at, zone);
    let later = at.map(day).filter(|on| began.is_some_and(|began| day(began) != *on));
    let later = later.map(|day| format!("{} ", &day["YYYY-".len()..])).unwrap_or_default();
    format!("{later}{}", clock(at, zone))
}

fn line_of(word: &Word, before: Option<&Turn>, cap: usize) -> String {
    let aside = cap.min(MAX_ASIDE_CHARS);
    let plan = |plan: &String| if plan.is_empty() { "a plan".to_owned() } else { format!("plan {}", quote(plan, aside)) };
    let text = quote_both_ends(&word.text, cap);
    match &word.kind {
        WordKind::Prompt => match before.and_then(|before| object_of(&word.text, before)) {
            Some((how, object)) => format!("{text} (Claude had {how}: {})", quote(&object, aside)),
            None => text,
        },
        WordKind::Joined => format!("while it worked: {text}"),
        WordKind::PlanGiven { plan: given } => format!("gave {} to be done", plan(given)),
        WordKind::Approved { plan: approved } => format!("approved {}", plan(approved)),
        WordKind::Ran => format!("ran {}", command(&word.text, aside)),
        WordKind::Answered { asked, description } => {
            let description = if description.is_empty() { String::new() } else { format!(": {}", quote(description, aside)) };
            format!("answered {text} (asked by Claude: {}{description})", quote(asked, aside))
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

/// What a short prompt answers: the line of the list that it names, or the question with which the reply before it closed.
fn object_of(prompt: &str, before: &Turn) -> Option<(&'static str, String)> {
    let prompt = one_line(prompt);
    let reply = before.reply.as_ref()?;
    if prompt.chars().count() > SHORT_PROMPT_CHARS || prompt.starts_with('/') {
        return None;
    }
    let named = prompt.split(|c: char| !c.is_alphanumeric()).next().filter(|name| !name.is_empty());
    let is_choice = |name: &&str| name.bytes().all(|b| b.is_ascii_digit()) || name.len() == 1 && prompt.len() <= 2;
    let line = named.filter(is_choice).and_then(|name| listed(&reply.text, name)).map(|line| ("listed", line));
    line.or_else(|| closing_question(&reply.text).map(|question| ("asked", question)))
}

/// The last line of a list that bears this number or letter.
fn listed(reply: &str, name: &str) -> Option<String> {
    let bare = |line: &str| line.trim().trim_start_matches(['-', '*', '#', '(', ' ', '`']).to_owned();
    let is_named = |line: &String| {
        let rest = line.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name)).map(|_| &line[name.len()..]);
        rest.is_some_and(|rest| rest.trim_start_matches(['*', '`']).starts_with(['.', ')', ':']))
    };
    reply.lines().map(bare).rfind(is_named).map(|line| line.replace("**", ""))
}

/// The last question among the reply's last sentences.
fn closing_question(reply: &str) -> Option<String> {
    let all = sentences(reply);
    all.into_iter().rev().take(3).find(|sentence| sentence.trim_end_matches(['*', '"', '”', ')']).ends_with(['?', '？', '؟']))
}
