//! Writes a session's account in the room that there is: what was said, quoted and by whom, and what can be counted. Pure.
//!
//! The user's words stand in “…”, Claude's in a blockquote. Nothing is told as done, decided or learned: where a sentence stands says more
//! of its truth than its words do, so the last reply comes first, and what was said before it is the user's alone.

mod reply;
#[cfg(test)]
mod tests;
mod words;

use jiff::tz::TimeZone;

use self::reply::{blockquote, brief_blockquote};
use self::words::{TurnList, time};
pub(crate) use self::words::{left_out, turn_lines};
use crate::analyze::account::{
    ClosingReply, Commit, LastRun, OpenEnd, PullRequest, RenamedCommit, SessionAccount, Turn, ending_replies, name_of_last_reply,
};
use crate::model::item_state::TaskItem;
use crate::model::since_then::SinceThen;
use crate::render::page::date;
use text::clean::{one_line, shorten, without_controls};
use text::disarm::disarm;
use text::markdown::code;
use transcripts::client::Client;
use transcripts::session::{Millis, said};
use transcripts::shell::tells_failure;

/// The most characters of a reply.
const MAX_REPLY_CHARS: usize = 1_800;
/// The most lines of a part.
const MAX_COMMITS: usize = 6;
const MAX_PULL_REQUESTS: usize = 3;
const MAX_RUNS: usize = 4;
const MAX_OPEN: usize = 8;
/// So many files that were edited after a check are named; of more it is said that there are some.
const MAX_EDITED_AFTER: usize = 2;
/// The most things that came since then, and the most characters of each.
const MAX_SINCE_THEN: usize = 5;
const MAX_SINCE_THEN_CHARS: usize = 240;
/// The most characters of a subject, a task, a command, a path.
const MAX_LINE_CHARS: usize = 120;
const MAX_COMMAND_CHARS: usize = 120;
/// Words of so many lines may be pasted output.
const MIN_PASTED_LINES: usize = 4;
/// The end of long words that is kept, in characters.
const TAIL_CHARS: usize = 120;
/// What stands above the words, and above words with beginnings of replies.
fn labels(listener: Listener, client: Client) -> [String; 2] {
    let (who, whose, so) = match listener {
        Listener::User => ("you", format!("{}'s", client.assistant()), ""),
        Listener::Assistant => ("the user", "the".to_owned(), ". A later turn overrides an earlier one"),
    };
    let words = format!("\nWhat {who} said in each turn");
    [format!("{words}:\n"), format!("{words}. A line with `>` is the beginning of {whose} reply{so}:\n")]
}
/// What the words may claim of the room that they share with the reply, in percent.
const WORDS_SHARE: usize = 45;

/// To whom a session is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listener {
    /// The user, whose words they are.
    User,
    /// A session's assistant. Long code, tables and quotations would take its room: they are told by their length.
    Assistant,
}

/// A session's account, to be written in parts that share a room.
pub(crate) struct QuotedParts<'a> {
    account: &'a SessionAccount,
    zone: &'a TimeZone,
    listener: Listener,
    /// Times of this day are told without it: the heading tells it.
    known_day: Option<Millis>,
    reply_chars: usize,
    /// Nothing that is told after it can have done what it left.
    newest: bool,
    /// The items by which tasks that are open can be closed.
    task_ids: &'a [TaskItem],
    /// Its commits that were made anew since.
    renamed: &'a [RenamedCommit],
    /// What came since of what it still says.
    since_then: &'a [SinceThen],
}

/// Writes one list in at most so many bytes.
type ListPart<'a> = fn(&QuotedParts<'a>, usize) -> String;

impl<'a> QuotedParts<'a> {
    pub(crate) fn new(account: &'a SessionAccount, zone: &'a TimeZone, listener: Listener) -> Self {
        // The heading tells the first day, at a session's start the last.
        let mut times = account.turns.iter().flat_map(|turn| [turn.at, turn.reply.as_ref().and_then(|reply| reply.at)]).flatten();
        let known_day = match listener {
            Listener::User => times.next(),
            Listener::Assistant => times.max(),
        };
        Self {
            account,
            zone,
            listener,
            known_day,
            reply_chars: MAX_REPLY_CHARS,
            newest: true,
            task_ids: &[],
            renamed: &[],
            since_then: &[],
        }
    }

    /// With at most so many characters of the last reply; 0 for none.
    pub(crate) fn with_reply_of(self, most: usize) -> Self {
        Self { reply_chars: most.min(MAX_REPLY_CHARS), ..self }
    }

    /// Told beside a later session, which may have done what this one left.
    pub(crate) fn with_later_ones(self) -> Self {
        Self { newest: false, ..self }
    }

    pub(crate) fn with_task_ids(self, task_ids: &'a [TaskItem]) -> Self {
        Self { task_ids, ..self }
    }

    pub(crate) fn with_renamed(self, renamed: &'a [RenamedCommit]) -> Self {
        Self { renamed, ..self }
    }

    pub(crate) fn with_since_then(self, since_then: &'a [SinceThen]) -> Self {
        Self { since_then, ..self }
    }

    /// What came since: a line each, above what still says it.
    fn since_then(&self, room: usize) -> String {
        let mut text = String::new();
        for one in self.since_then.iter().rev().take(MAX_SINCE_THEN) {
            let line = format!("\nsince then: {}\n", said(&one.told(|at| date(at, self.zone)), MAX_SINCE_THEN_CHARS));
            if text.len() + line.len() <= room {
                text.push_str(&line);
            }
        }
        text
    }

    /// All parts in at most so many bytes. Lists claim their shares; the last reply and the user's words divide the rest, and what
    /// these leave goes to the lists.
    pub(crate) fn fill(&self, room: usize) -> String {
        let lists: [(ListPart<'a>, usize, bool); 5] = [
            (Self::open, 12, true),
            (Self::commits, 16, true),
            (Self::pull_requests, 10, true),
            (Self::runs, 12, true),
            (Self::files, 18, false),
        ];
        let since_then = self.since_then(room / 4);
        let room = room - since_then.len();
        let mut told = lists.map(|(part, share, _)| part(self, room * share / 100));
        let rest = room - told.iter().map(String::len).sum::<usize>();
        let list = TurnList {
            turns: &self.account.turns,
            known_day: self.known_day,
            zone: self.zone,
            labels: labels(self.listener, self.account.client),
            client: self.account.client,
            listener: self.listener,
        };
        let claimed = list.words(rest * WORDS_SHARE / 100).len();
        let said = list.words(rest - self.ended(rest - claimed).len());
        let ended = self.ended(rest - said.len());
        let mut left = rest - said.len() - ended.len();
        for (told, (part, _, grows)) in told.iter_mut().zip(lists) {
            if grows {
                let more = part(self, told.len() + left);
                left = left + told.len() - more.len();
                *told = more;
            }
        }
        let room = said.len() + left;
        // Where a model tells what came of it, replies are not told.
        let said = if self.reply_chars == 0 { said } else { list.with_beginnings(said, &self.quoted_turns(), room) };
        let [open, commits, pull_requests, runs, files] = told;
        since_then + &ended + &open + &said + &commits + &pull_requests + &runs + &files
    }

    /// May it be said of something that it was not seen?
    pub(crate) fn is_over(&self) -> bool {
        self.account.evident && !self.account.goes_on && self.newest
    }

    /// What is said where something was done and no commit stands. What only looks around leaves no files and runs no checks.
    pub(crate) fn no_commit(&self) -> Option<&'static str> {
        let did_something = !self.account.files.edited.is_empty() || !self.account.runs.is_empty();
        let lacks_commit = self.is_over() && self.account.commits.is_empty();
        match self.account.all_undone {
            true => Some("no commit left").filter(|_| lacks_commit),
            false => Some("no commit seen").filter(|_| lacks_commit && did_something),
        }
    }

    pub(crate) fn time(&self, at: Option<Millis>) -> String {
        time(at, self.known_day, self.zone)
    }

    /// The last reply; with it, if it is short, the nearest one before it that is not.
    fn ended(&self, room: usize) -> String {
        if self.reply_chars == 0 {
            return String::new();
        }
        let turns = &self.account.turns;
        let ending = ending_replies(turns);
        let Some(&(at, reply)) = ending.first() else { return String::new() };
        let turn = &turns[at];
        let (what, so_far) = if self.account.goes_on { ("Where it stands", " so far") } else { ("Where it ended", "") };
        let of = turns.last().map_or(0, |turn| turn.number);
        let of = if turn.number > 0 { format!("turn {} of {of}, ", turn.number) } else { String::new() };
        let (assistant, when) = (self.account.client.assistant(), self.time(reply.at));
        let head = format!("\n{what} ({of}{when}), {assistant}'s {}{so_far}:\n", name_of_last_reply(turns, at));
        let mut after =
            if reply.cut_off { format!("\nnot the end: {assistant} went on working after it\n") } else { String::new() };
        for renamed in self.renamed.iter().filter(|renamed| renamed.stands_in(&reply.text)) {
            after.push_str(&format!("\nsince then: {}\n", renamed.text()));
        }
        let fixed = head.len() + after.len();
        let Some(last) = self.quote_of(&reply.text, room.saturating_sub(fixed), self.reply_chars) else { return String::new() };
        let mut text = head + &last + &after;
        let chars = last.chars().count();
        if let Some(&(longer, reply)) = ending.get(1) {
            text.push_str(&self.longer(&turns[longer], reply, room - text.len(), self.reply_chars.saturating_sub(chars)));
        }
        text
    }

    /// The numbers of the turns whose replies are quoted.
    fn quoted_turns(&self) -> Vec<usize> {
        let turns = &self.account.turns;
        ending_replies(turns).into_iter().map(|(at, _)| turns[at].number).collect()
    }

    fn quote_of(&self, reply: &str, room: usize, most_chars: usize) -> Option<String> {
        match self.listener {
            Listener::User => blockquote(reply, room, most_chars),
            Listener::Assistant => brief_blockquote(reply, room, most_chars),
        }
    }

    fn longer(&self, turn: &Turn, reply: &ClosingReply, room: usize, most: usize) -> String {
        let number = if turn.number > 0 { format!("turn {}, ", turn.number) } else { String::new() };
        let head = format!("\nThe longer reply before it ({number}{}):\n", self.time(reply.at));
        let quoted = self.quote_of(&reply.text, room.saturating_sub(head.len()), most);
        quoted.map(|quoted| head + &quoted).unwrap_or_default()
    }

    /// What was left, as it can be counted.
    pub(crate) fn open_line(&self, open: &OpenEnd) -> String {
        end_in_words(open).unwrap_or_else(|| {
            let text = open.task().unwrap_or_default();
            let item = self.task_ids.iter().find(|item| item.task == text);
            let id = item.map_or(String::new(), |item| format!("{} ", item.id));
            let since = item.and_then(|item| item.since).map(|at| format!(" since {}", date(at, self.zone)));
            format!("{id}not ticked off in the list{}: {}", since.unwrap_or_default(), said(text, MAX_LINE_CHARS))
        })
    }

    fn open(&self, room: usize) -> String {
        listed("Open", self.account.open.iter().map(|open| self.open_line(open)).collect(), MAX_OPEN, "more", room)
    }

    fn commits(&self, room: usize) -> String {
        let lines = self.commit_lines().collect();
        listed("Commits not undone", lines, MAX_COMMITS, "before", room)
    }

    /// Commits that were not undone, newest first.
    pub(crate) fn commit_lines(&self) -> impl Iterator<Item = String> {
        self.account.commits.iter().rev().map(|commit| self.commit(commit))
    }

    fn commit(&self, commit: &Commit) -> String {
        let hash = if commit.hash_is_stale || commit.hash.is_empty() { String::new() } else { said(&commit.hash, 40) + " " };
        let mut facts = Vec::new();
        if commit.hash_is_stale {
            facts.push("made anew since, hash not seen".to_owned());
        }
        if let Some(folder) = &commit.elsewhere {
            facts.push(format!("in {}", said(folder, 120)));
        }
        if !commit.branch.is_empty() {
            facts.push(said(&commit.branch, 60));
        }
        match commit.files {
            Some(1) => facts.push("1 file".to_owned()),
            Some(count) => facts.push(format!("{count} files")),
            None => {}
        }
        if commit.pushed {
            facts.push("pushed".to_owned());
        } else if self.is_over() {
            facts.push("no push seen".to_owned());
        }
        format!("{hash}{}{}", said(&commit.subject, MAX_LINE_CHARS), in_brackets(&facts, ", "))
    }

    fn pull_requests(&self, room: usize) -> String {
        listed("Pull requests", self.pull_request_lines(), MAX_PULL_REQUESTS, "before", room)
    }

    /// Pull requests, newest first.
    pub(crate) fn pull_request_lines(&self) -> Vec<String> {
        let line = |pr: &PullRequest| {
            let made = if pr.made { "opened in this session" } else { "not opened in this session" };
            let facts: Vec<String> = [made].into_iter().chain(pr.state()).map(str::to_owned).collect();
            let title = format!("#{} {}", said(&pr.number, 20), said(&pr.title, MAX_LINE_CHARS));
            format!("{}{} {}", title.trim_end(), in_brackets(&facts, "; "), said(&pr.url, MAX_LINE_CHARS)).trim_end().to_owned()
        };
        self.account.pull_requests.iter().rev().map(line).collect()
    }

    fn runs(&self, room: usize) -> String {
        listed("Last runs", self.run_lines(), MAX_RUNS, "more", room)
    }

    /// Checks as they ended last: those that failed first, then the newest.
    pub(crate) fn run_lines(&self) -> Vec<String> {
        let mut runs: Vec<&LastRun> = self.account.runs.iter().rev().collect();
        runs.sort_by_key(|run| run.ok != Some(false));
        runs.into_iter().map(|run| self.run(run)).collect()
    }

    /// Checks whose last run failed, the newest first.
    pub(crate) fn failed_run_lines(&self) -> Vec<String> {
        let failed = self.account.runs.iter().rev().filter(|run| run.ok == Some(false));
        failed.map(|run| self.run(run)).collect()
    }

    fn run(&self, run: &LastRun) -> String {
        let commands = run.commands.iter().take(3).map(|line| command(line, MAX_COMMAND_CHARS)).collect::<Vec<_>>().join(", ");
        let lines = run
            .lines
            .iter()
            .take(3)
            .map(|line| quote(line.trim_matches(['=', ' ']), MAX_LINE_CHARS))
            .collect::<Vec<_>>()
            .join(" / ");
        // Of many packages one line says little.
        let of = match run.line_of_any() {
            Some(_) => last_of(run, &lines),
            None if run.of > run.lines.len() + 2 => format!("{lines} (of {} result lines)", run.of),
            None => lines,
        };
        let failed = (run.ok == Some(false)).then(|| "failed".to_owned());
        let facts: Vec<String> = [of].into_iter().filter(|lines| !lines.is_empty()).chain(failed).collect();
        let since = if run.edited_since { self.edited_after(run.at) } else { String::new() };
        let place = run.elsewhere.as_ref().map(|folder| format!(" in {}", said(folder, MAX_LINE_CHARS))).unwrap_or_default();
        format!("{commands}{place} {}: {}{since}", self.time(run.at), facts.join(", "))
    }

    /// What was edited after a check: by name where that tells how much it says of the end.
    fn edited_after(&self, at: Option<Millis>) -> String {
        let after: Vec<&str> = self
            .account
            .files
            .with_times()
            .filter(|(_, edited)| *edited > at)
            .map(|(path, _)| path)
            .take(MAX_EDITED_AFTER + 1)
            .collect();
        if after.is_empty() || after.len() > MAX_EDITED_AFTER {
            return "; files were edited since".to_owned();
        }
        let names: Vec<String> = after.into_iter().map(|path| said(path, MAX_LINE_CHARS)).collect();
        format!("; edited since: {}", names.join(", "))
    }

    /// Edited files, the project's own first, and what is known of their commit.
    fn files(&self, room: usize) -> String {
        let files = &self.account.files;
        let no_commit = self.no_commit();
        if let Some(says) = no_commit.filter(|_| files.edited.is_empty()) {
            let line = format!("\n{}.\n", says.replacen("no", "No", 1));
            return Some(line).filter(|line| line.len() <= room).unwrap_or_default();
        }
        let end = no_commit.map(|says| format!("; {says}")).unwrap_or_default();
        let after = if files.after_commit.is_empty() { 0 } else { room / 2 };
        let edited = names("\nFiles: ", &files.edited, &end, room - after);
        let after = names("Edited after the last commit: ", &files.after_commit, "", room - edited.len());
        edited + &after
    }
}

/// What is told of several checks of which any may have printed it.
pub(crate) fn last_of(run: &LastRun, line: &str) -> String {
    format!("{line} (the last of {} result lines)", run.of)
}

fn in_brackets(facts: &[String], between: &str) -> String {
    if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(between)) }
}

/// A list of at most so many lines and bytes, with the number of those that it leaves out.
fn listed(label: &str, lines: Vec<String>, most: usize, left_out: &str, room: usize) -> String {
    let head = format!("\n{label}:\n");
    let more = |count: usize| if count == 0 { String::new() } else { format!("- and {count} {left_out}\n") };
    let mut text = head.clone();
    let mut told = 0;
    for line in lines.iter().take(most) {
        let line = format!("- {line}\n");
        let rest = more(lines.len() - told - 1);
        if text.len() + line.len() + rest.len() > room {
            break;
        }
        text.push_str(&line);
        told += 1;
    }
    if told == 0 { String::new() } else { text + &more(lines.len() - told) }
}

/// Paths on one line, as many as fit.
fn names(label: &str, paths: &[String], end: &str, room: usize) -> String {
    let is_elsewhere = |path: &&String| path.starts_with(['/', '~']) || path.starts_with(".claude/");
    let (elsewhere, own): (Vec<&String>, Vec<&String>) = paths.iter().partition(is_elsewhere);
    let more = |count: usize| if count == 0 { String::new() } else { format!(" and {count} more") };
    let mut text = label.to_owned();
    let mut told = 0;
    for path in own.into_iter().chain(elsewhere) {
        let name = format!("{}{}", if told == 0 { "" } else { ", " }, said(path, MAX_LINE_CHARS));
        if text.len() + name.len() + more(paths.len() - told - 1).len() + end.len() + 1 > room {
            break;
        }
        text.push_str(&name);
        told += 1;
    }
    if told == 0 { String::new() } else { format!("{text}{}{end}\n", more(paths.len() - told)) }
}

/// Words in “…”, which no mark within them can end.
pub(crate) fn quote(text: &str, most: usize) -> String {
    format!("“{}”", disarm(&shorten(&inner(text), most)))
}

/// As [`quote`]; long words keep their end as well, and of pasted output the line that tells a failure.
fn quote_both_ends(whole: &str, most: usize) -> String {
    let text = inner(whole);
    let count = text.chars().count();
    if count <= most {
        return format!("“{}”", disarm(&text));
    }
    let tail = TAIL_CHARS.min(most / 3);
    let at = text.char_indices().nth(count - tail).map_or(text.len(), |(at, _)| at);
    let end = text[at..].find(' ').map_or(at, |space| at + space + 1);
    let failure = failure_between(whole, most / 3).unwrap_or_default();
    let begin = shorten(&text, most - tail - failure.chars().count());
    if failure.is_empty() || begin.contains(failure.trim_end_matches('…')) || text[end..].contains(&failure) {
        return format!("“{} {}”", disarm(&shorten(&text, most - tail)), disarm(&text[end..]));
    }
    format!("“{} {} … {}”", disarm(&begin), disarm(&failure), disarm(&text[end..]))
}

/// The first line of pasted output that tells a failure: without it, its ends may read as if all had passed.
fn failure_between(whole: &str, most: usize) -> Option<String> {
    let mut lines = whole.lines().filter(|line| !line.trim().is_empty());
    lines.clone().nth(MIN_PASTED_LINES - 1)?;
    lines.find(|line| tells_failure(line)).map(|line| shorten(&inner(line), most))
}

fn inner(text: &str) -> String {
    one_line(&without_controls(text)).replace('“', "‘").replace('”', "’")
}

fn command(line: &str, most: usize) -> String {
    code(&said(line, most))
}

/// How a session's last turn ended; `None` of a task.
pub(crate) fn end_in_words(open: &OpenEnd) -> Option<String> {
    match open {
        OpenEnd::Unclosed => Some("the last turn has no final reply".to_owned()),
        OpenEnd::NoReply => Some("no reply to the last prompt".to_owned()),
        OpenEnd::Interrupted => Some("interrupted in the last turn".to_owned()),
        OpenEnd::ApiError { words } => Some(format!("API error: {}", quote(words, MAX_LINE_CHARS))),
        OpenEnd::Task { .. } => None,
    }
}
