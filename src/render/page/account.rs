//! The parts of a page that quote: where a session ended, what was said turn by turn, and what its commands show. Pure.

use jiff::tz::TimeZone;

use super::lines::{paths, section};
use super::quotation::quotation;
use crate::analyze::account::{ClosingReply, SessionAccount, Turn, ending_replies, name_of_last_reply};
use crate::render::quoted::{Listener, QuotedParts, left_out, turn_lines};
use text::blocks::{beginning, without_long_parts};
use text::clean::{one_line, shorten};
use text::markdown::{code, inline};

/// The most characters of a reply, of a commit's message.
const MAX_REPLY_CHARS: usize = 4_000;
const MAX_MESSAGE_CHARS: usize = 1_200;
/// How long all words of the user's may be, and the bounds of each, in characters.
const ALL_WORDS_CHARS: usize = 6_000;
const WORD_CHARS: (usize, usize) = (120, 2_000);
/// The same of the beginnings of replies: answers of earlier turns are what a page lacked most where each had 200 characters.
const ALL_BEGINNINGS_CHARS: usize = 7_000;
const BEGINNING_CHARS: (usize, usize) = (200, 1_400);
/// A reply of at most so many characters stands on a line.
const MAX_LINE_CHARS: usize = 200;
/// The most turns that are listed; the first one and the newest stay.
const MAX_TURNS: usize = 60;
const MAX_FILES: usize = 60;

/// Where the session ended: its last reply, and the longer one before it if it is short.
pub(super) fn ended(page: &mut String, account: &SessionAccount, zone: &TimeZone) {
    let turns = &account.turns;
    let ending = ending_replies(turns);
    let Some(&(last, reply)) = ending.first() else { return };
    let parts = QuotedParts::new(account, zone, Listener::User);
    let assistant = account.client.assistant();
    let mut tell = |turn: &Turn, reply: &ClosingReply, what: &str, most: usize| {
        let quoted = quotation(&reply.text, most);
        if quoted.is_empty() {
            return 0;
        }
        let of = turns.last().map_or(0, |turn| turn.number);
        let number = if turn.number > 0 { format!("turn {} of {of}, ", turn.number) } else { String::new() };
        let cut_off = if reply.cut_off { format!("; not the end: {assistant} went on working after it") } else { String::new() };
        page.push_str(&format!("\n{what} ({number}{}{cut_off}):\n\n{quoted}", parts.time(reply.at)));
        quoted.chars().count()
    };
    let name = name_of_last_reply(turns, last);
    let so_far = if account.goes_on {
        format!("## Where it stands\n\n{assistant}'s {name} so far")
    } else {
        format!("## Where it ended\n\n{assistant}'s {name}")
    };
    let told = tell(&turns[last], reply, &so_far, MAX_REPLY_CHARS);
    if let Some(&(longer, reply)) = ending.get(1) {
        tell(&turns[longer], reply, "The longer reply before it", MAX_REPLY_CHARS.saturating_sub(told));
    }
}

/// What was said, and how each reply began.
pub(super) fn turns(page: &mut String, account: &SessionAccount, zone: &TimeZone) {
    let parts = QuotedParts::new(account, zone, Listener::User);
    let words = account.turns.iter().map(|turn| turn.words.len()).sum::<usize>().max(1);
    let most = (ALL_WORDS_CHARS / words).clamp(WORD_CHARS.0, WORD_CHARS.1);
    let most_of_reply = (ALL_BEGINNINGS_CHARS / account.turns.len().max(1)).clamp(BEGINNING_CHARS.0, BEGINNING_CHARS.1);
    // These stand above the turns.
    let quoted: Vec<usize> = ending_replies(&account.turns).into_iter().map(|(at, _)| at).collect();
    let over = account.turns.len().saturating_sub(MAX_TURNS);
    let mut lines = Vec::new();
    let mut before = 0;
    for (at, turn) in account.turns.iter().enumerate().filter(|(at, _)| !(1..=over).contains(at)) {
        // Of very long sessions some are not loaded, and leave a gap in the numbers.
        lines.extend(left_out(turn.number.saturating_sub(before + 1)).map(|words| format!("… {words}")));
        before = turn.number;
        let number = if turn.number > 0 { format!("#{} ", turn.number) } else { String::new() };
        let began = turn.at.or_else(|| turn.words.first().and_then(|word| word.at));
        let mut told = format!("{number}{}", parts.time(began));
        for (n, word) in turn_lines(turn, account.client, most).enumerate() {
            told.push_str(if n == 0 { " " } else { "\n  - " });
            told.push_str(&inline(&word));
        }
        if let Some(reply) = turn.reply.as_ref().filter(|_| !quoted.contains(&at)) {
            told.push_str(&began_to_reply(turn, reply, most_of_reply));
        }
        lines.push(told);
    }
    if !lines.is_empty() {
        page.push_str(&format!(
            "\n## Turn by turn\n\n*What you said, and how {}'s reply began; a later turn overrides an earlier one.*\n\n",
            account.client.assistant()
        ));
        lines.iter().for_each(|line| page.push_str(&format!("- {line}\n")));
    }
}

/// How a turn's reply began: on a line if it is short, else as a quotation below the words. Long tables and code are told by their length.
fn began_to_reply(turn: &Turn, reply: &ClosingReply, most: usize) -> String {
    let line = beginning(&reply.text, most);
    if line.is_empty() {
        return line;
    }
    let ended = match (&turn.api_error, reply.cut_off) {
        (Some(_), _) => " (an API error ended the turn)",
        (None, true) => " (cut off)",
        (None, false) => "",
    };
    if line.chars().count() <= MAX_LINE_CHARS {
        return format!("\n  - →{ended} {}", inline(&line));
    }
    let quoted: String = quotation(&without_long_parts(&reply.text), most).lines().map(|line| format!("\n  {line}")).collect();
    let ended = if ended.is_empty() { String::new() } else { format!("\n  - →{ended}") };
    format!("{ended}\n{quoted}")
}

/// What git, `gh` and the checks showed, and the files.
pub(super) fn shown(page: &mut String, account: &SessionAccount, zone: &TimeZone) {
    let parts = QuotedParts::new(account, zone, Listener::User);
    let bodies = account.commits.iter().rev().map(|commit| one_line(&commit.body));
    let commits = parts.commit_lines().zip(bodies).map(|(line, body)| {
        let body = if body.is_empty() { body } else { format!("\n  - {}", inline(&shorten(&body, MAX_MESSAGE_CHARS))) };
        inline(&line) + &body
    });
    section(page, "Commits that stood at the end", commits);
    section(page, "Pull requests", parts.pull_request_lines().iter().map(|line| inline(line)));
    section(page, "Last runs", parts.run_lines().iter().map(|line| inline(line)));
    files(page, account, parts.no_commit());
}

/// What the session was told by our hooks, and what of that it used.
pub(super) fn receipt(page: &mut String, account: &SessionAccount) {
    let Some(receipt) = &account.receipt else { return };
    let told = &receipt.told;
    let named = [
        (told.sessions.len(), "session", "sessions"),
        (told.statements.len(), "statement", "statements"),
        (told.files.len(), "file", "files"),
        (told.checks.len(), "check", "checks"),
        (told.warned.len(), "warning", "warnings"),
    ];
    let named: Vec<String> = named
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many }))
        .collect();
    let used = [("opened", &receipt.files), ("run", &receipt.checks), ("looked up", &receipt.looked_up)];
    let used: Vec<String> = used
        .iter()
        .filter(|(_, all)| !all.is_empty())
        .map(|(how, all)| format!("{how}: {}", all.iter().take(MAX_FILES).map(|name| code(name)).collect::<Vec<_>>().join(", ")))
        .collect();
    let cost = if told.tokens > 0 { format!(", about {} tokens", told.tokens) } else { String::new() };
    let told = (!named.is_empty()).then(|| format!("told of {}{cost}", named.join(", ")));
    let used = if used.is_empty() { vec!["nothing of it was seen to be used".to_owned()] } else { used };
    let passed_over: Vec<String> = receipt.passed_over.iter().map(|command| code(command)).collect();
    let passed_over =
        (!passed_over.is_empty()).then(|| format!("was told not to run these commands, but ran them: {}", passed_over.join(", ")));
    let repeated: Vec<String> = receipt.repeated.iter().map(|one| format!("{} (turn {})", code(&one.id), one.turn)).collect();
    let repeated = (!repeated.is_empty())
        .then(|| format!("instructions that the session had, and that you had to repeat: {}", repeated.join(", ")));
    section(page, "Told by recall", told.into_iter().chain(used).chain(passed_over).chain(repeated));
}

fn files(page: &mut String, account: &SessionAccount, no_commit: Option<&str>) {
    let files = &account.files;
    let mut lines = Vec::new();
    if !files.edited.is_empty() {
        lines.push(format!("edited: {}", paths(&files.edited, MAX_FILES)));
    }
    if !files.after_commit.is_empty() {
        lines.push(format!("edited after the last commit: {}", paths(&files.after_commit, MAX_FILES)));
    }
    lines.extend(no_commit.map(str::to_owned));
    section(page, "Files", lines.into_iter());
}

/// What was left, by what can be counted; tasks have lines of their own.
pub(super) fn open(page: &mut String, account: &SessionAccount, zone: &TimeZone) {
    let parts = QuotedParts::new(account, zone, Listener::User);
    section(page, "Open", account.open.iter().filter(|open| open.task().is_none()).map(|open| inline(&parts.open_line(open))));
}
