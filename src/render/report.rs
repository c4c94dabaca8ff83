//! A report of what was done, as markdown: for a standup, a week, a pull request or a changelog. Pure.
//!
//! It tells what was asked, answered, committed and run, by rows alone: a check is told as it ended last, a commit as it stands, and what a
//! model says of a session only under what was decided.

use clap::ValueEnum;
use jiff::tz::TimeZone;
use serde::{Serialize, Serializer};

use super::quoted::{last_of, quote};
use crate::analyze::account::{Commit, LastRun, PullRequest};
use text::clean::{counted, id8, one_line, shorten};
use text::markdown::{code, heading, inline};
use transcripts::client::Client;
use transcripts::session::{Millis, Project};

/// The most characters of a title, of a line that is quoted, and of a commit's subject.
const MAX_TITLE_CHARS: usize = 150;
const MAX_QUOTED_CHARS: usize = 400;
const MAX_SUBJECT_CHARS: usize = 200;
/// Of the folder and the branch of a commit in another repository.
const MAX_FOLDER_CHARS: usize = 120;
const MAX_BRANCH_CHARS: usize = 60;
/// Of a prompt of a pull request, and the most prompts.
const MAX_ASKED_CHARS: usize = 240;
const MAX_ASKED: usize = 12;
/// The most characters of a command, and of what it printed last.
const MAX_COMMAND_CHARS: usize = 120;
const MAX_PRINTED_CHARS: usize = 160;
/// The most lines of what was decided, of checks, of files, and of what is open.
const MAX_DECIDED: usize = 12;
const MAX_CHECKS: usize = 12;
const MAX_CHECKS_OF_WEEK: usize = 5;
const MAX_FILES: usize = 12;
const MAX_OPEN: usize = 8;

/// For whom a report is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ReportFor {
    /// What you worked on since yesterday, and what is open
    Standup,
    /// The same for the last seven days, with checks and stats
    Week,
    /// Pull request text from a branch's sessions: what was asked, done and left open
    Pr,
    /// The commits of the last seven days, grouped by kind
    Changelog,
}

impl ReportFor {
    /// Its word on the command line.
    pub(crate) fn word(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// What was done, by project; that in which most sessions were active first.
#[derive(Debug, Serialize)]
pub(crate) struct WorkReport {
    /// `None` for all that is stored.
    pub(crate) since: Option<Millis>,
    /// When it was asked for.
    pub(crate) until: Millis,
    pub(crate) branch: Option<String>,
    pub(crate) projects: Vec<ProjectWork>,
    /// Sessions of the time that the next digest reads; nothing is told of them.
    pub(crate) undigested: usize,
}

/// What was done in a project, in order of time.
#[derive(Debug, Serialize)]
pub(crate) struct ProjectWork {
    #[serde(serialize_with = "key")]
    pub(crate) project: Project,
    pub(crate) sessions: Vec<WorkedSession>,
    /// What was chosen, approved, or found by a model to be decided.
    pub(crate) decided: Vec<Decided>,
    /// Those that stand, each once.
    pub(crate) commits: Vec<Commit>,
    /// Those that were made or merged.
    pub(crate) pull_requests: Vec<PullRequest>,
    /// Each check as it ended last.
    pub(crate) checks: Vec<LastRun>,
    /// Edited files.
    pub(crate) files: Vec<String>,
    /// The last said first.
    pub(crate) open: Vec<LeftOpen>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct WorkedSession {
    pub(crate) session: String,
    pub(crate) title: String,
    /// What it was asked, within the time and for the branch.
    pub(crate) asked: Vec<String>,
    pub(crate) last_at: Option<Millis>,
    pub(crate) turns: usize,
    pub(crate) goes_on: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Decided {
    /// The user answered what the assistant asked.
    Answered { asked: String, answer: String },
    /// The user approved this plan, or handed it over to be done: its title.
    Planned { plan: String },
    /// A model's statement on a session.
    Stated { text: String },
}

/// What is open: an item that sessions left, or a note of what is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LeftOpen {
    pub(crate) id: String,
    /// `next`, `blocker` or `todo`.
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) last_at: Millis,
    /// To whom it was said.
    #[serde(skip)]
    pub(crate) client: Client,
}

impl ProjectWork {
    pub(crate) fn of(project: Project) -> Self {
        Self {
            project,
            sessions: Vec::new(),
            decided: Vec::new(),
            commits: Vec::new(),
            pull_requests: Vec::new(),
            checks: Vec::new(),
            files: Vec::new(),
            open: Vec::new(),
        }
    }
}

fn key<S: Serializer>(project: &Project, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&project.key)
}

/// The report; empty if nothing was done.
pub(crate) fn report_text(report: &WorkReport, purpose: ReportFor, zone: &TimeZone) -> String {
    let text = ReportText { report, zone };
    let parts: Vec<String> = match purpose {
        ReportFor::Standup => report.projects.iter().map(|work| text.of_days(work, false)).collect(),
        ReportFor::Week => report.projects.iter().map(|work| text.of_days(work, true)).collect(),
        ReportFor::Pr => report.projects.iter().map(|work| text.of_branch(work)).collect(),
        ReportFor::Changelog => report.projects.iter().map(|work| text.changes(work)).filter(|part| !part.is_empty()).collect(),
    };
    if parts.is_empty() {
        return String::new();
    }
    text.head(purpose) + &parts.join("\n")
}

/// A part of a report that a model wrote, sanitized and not yet markdown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WrittenPart {
    /// Empty for none.
    pub(crate) heading: String,
    pub(crate) lines: Vec<String>,
}

/// The same report in a model's words, and who wrote it from what: `claude-haiku-4-5 from 3 sessions`.
pub(crate) fn written_text(
    report: &WorkReport,
    purpose: ReportFor,
    zone: &TimeZone,
    parts: &[WrittenPart],
    written_by: &str,
) -> String {
    let mut text = ReportText { report, zone }.head(purpose).trim_end().to_owned();
    text.push('\n');
    for part in parts {
        let head = if part.heading.is_empty() { String::new() } else { format!("## {}", heading(&part.heading)) };
        list(&mut text, &head, part.lines.iter().map(|line| inline(line)), usize::MAX);
    }
    text.trim_start().to_owned() + &format!("\nwritten by {}\n", inline(written_by))
}

struct ReportText<'a> {
    report: &'a WorkReport,
    zone: &'a TimeZone,
}

impl ReportText<'_> {
    fn head(&self, purpose: ReportFor) -> String {
        match purpose {
            ReportFor::Standup => format!("# Standup: {}\n\n", self.range()),
            ReportFor::Week => format!("# Week: {}\n\n{}\n\n", self.range(), self.totals()),
            // It is pasted as it is.
            ReportFor::Pr => String::new(),
            ReportFor::Changelog => format!("# Changes: {}\n\n", self.range()),
        }
    }

    /// `25 Nov`
    fn day(&self, at: Millis) -> String {
        self.local(at, "%-d %b")
    }

    fn local(&self, at: Millis, format: &str) -> String {
        let time = jiff::Timestamp::from_millisecond(at).unwrap_or_default();
        time.to_zoned(self.zone.clone()).strftime(format).to_string()
    }

    /// `since 24 Nov 2026`
    fn range(&self) -> String {
        match self.report.since {
            Some(since) => {
                let until = self.report.until;
                let same_year = self.local(since, "%Y") == self.local(until, "%Y");
                let since = if same_year { self.day(since) } else { self.local(since, "%-d %b %Y") };
                format!("{since} to {}", self.local(until, "%-d %b %Y"))
            }
            None => format!("until {}", self.local(self.report.until, "%-d %b %Y")),
        }
    }

    fn totals(&self) -> String {
        let sum = |count: fn(&ProjectWork) -> usize| self.report.projects.iter().map(count).sum::<usize>();
        let sessions = counted(sum(|work| work.sessions.len()), "session");
        let turns = counted(sum(|work| work.sessions.iter().map(|session| session.turns).sum()), "prompt");
        let (commits, files) = (counted(sum(|work| work.commits.len()), "commit"), counted(sum(|work| work.files.len()), "file"));
        format!("{sessions} · {turns} · {commits} · {files} edited")
    }

    /// For a standup or a week.
    fn of_days(&self, work: &ProjectWork, of_week: bool) -> String {
        let mut text = self.heading(work);
        list(&mut text, "**Worked on**", work.sessions.iter().map(|session| self.session(session)), usize::MAX);
        let made = work.commits.iter().map(commit).chain(work.pull_requests.iter().map(pull_request));
        list(&mut text, "**Commits and pull requests**", made, usize::MAX);
        if of_week {
            // What ran before the last edits says little of the week's end.
            let fresh = work.checks.iter().rev().filter(|run| run.ok != Some(false) && !run.edited_since);
            list(&mut text, "**Checks**", fresh.map(check), MAX_CHECKS_OF_WEEK);
        }
        list(&mut text, "**Open**", self.open(work, true), MAX_OPEN);
        text
    }

    fn session(&self, session: &WorkedSession) -> String {
        let title = inline(&shorten(&one_line(&session.title), MAX_TITLE_CHARS));
        let day = session.last_at.map(|at| self.day(at) + ", ").unwrap_or_default();
        let goes_on = if session.goes_on { ", it goes on" } else { "" };
        format!("{title} ({day}{}{goes_on})", code(&id8(&session.session)))
    }

    /// The text of a pull request.
    fn of_branch(&self, work: &ProjectWork) -> String {
        let mut text = String::new();
        // What was said on the way to it is nobody's but the user's.
        let asked = work.sessions.iter().filter_map(|session| session.asked.first());
        list(&mut text, "## Asked", asked.map(|words| inline(&quote(words, MAX_ASKED_CHARS))), MAX_ASKED);
        list(&mut text, "## Decided", work.decided.iter().map(decided), MAX_DECIDED);
        list(&mut text, "## Done", work.commits.iter().map(commit_with_body), usize::MAX);
        if work.commits.is_empty() {
            // A path outside the project names a folder of the user's.
            let own = work.files.iter().filter(|file| !file.starts_with(['/', '~']));
            list(&mut text, "## Files", own.map(|file| code(file)), MAX_FILES);
        }
        list(&mut text, "## Checks", work.checks.iter().filter(|run| !run.shows_failure()).map(check), MAX_CHECKS);
        list(&mut text, "## Open", self.open(work, false), MAX_OPEN);
        text.trim_start().to_owned()
    }

    /// What is open, and checks that failed when they ran last. Ids are of use to who reads them beside their terminal.
    fn open(&self, work: &ProjectWork, with_ids: bool) -> impl Iterator<Item = String> {
        let failed = work.checks.iter().filter(|run| run.ok == Some(false)).map(|run| {
            let at = run.at.map(|at| format!(", {}", self.local(at, "%-d %b %H:%M"))).unwrap_or_default();
            let since = if run.edited_since { "; files were edited since" } else { "" };
            format!("{} failed when it ran last{at}{since}", commands(run))
        });
        let left = work.open.iter().map(move |line| {
            let id = if with_ids { code(&line.id) + " " } else { String::new() };
            format!("{id}{}: {}", line.kind, inline(&shorten(&one_line(&line.text), MAX_QUOTED_CHARS)))
        });
        failed.chain(left).collect::<Vec<_>>().into_iter()
    }

    /// The project's name, with its folder where another one has the same.
    fn heading(&self, work: &ProjectWork) -> String {
        let name = work.project.name();
        let is_alone = self.report.projects.iter().filter(|other| other.project.name() == name).count() == 1;
        let folder = if is_alone { String::new() } else { format!("\n{}\n", code(&work.project.key)) };
        format!("## {}\n{folder}", heading(name))
    }

    /// The project's own commits by their kind; without headings where no subject tells its kind.
    fn changes(&self, work: &ProjectWork) -> String {
        let mut text = String::new();
        let line = |one: &Commit| {
            let (kind, rest) = by_kind(&one.subject);
            let told = if kind.is_some() { rest } else { one.subject.as_str() };
            let told = inline(&shorten(&one_line(told), MAX_SUBJECT_CHARS));
            hash(one).map_or_else(|| told.clone(), |hash| format!("{told} ({hash})"))
        };
        let own = || work.commits.iter().filter(|one| one.elsewhere.is_none());
        let is_told = own().any(|one| by_kind(&one.subject).0.is_some());
        for (name, _) in KINDS {
            let head = if is_told { format!("### {name}") } else { String::new() };
            let of_kind = own().filter(|one| by_kind(&one.subject).0.unwrap_or("Other changes") == name);
            list(&mut text, &head, of_kind.map(line), usize::MAX);
        }
        if text.is_empty() { text } else { self.heading(work) + &text }
    }
}

/// A list, under a heading if there is one, with the number of lines that it leaves out.
fn list(text: &mut String, head: &str, lines: impl Iterator<Item = String>, most: usize) {
    let mut lines: Vec<String> = lines.collect();
    let more = lines.len().saturating_sub(most);
    lines.truncate(most);
    if lines.is_empty() {
        return;
    }
    text.push_str(&if head.is_empty() { "\n".to_owned() } else { format!("\n{head}\n\n") });
    lines.iter().for_each(|line| text.push_str(&format!("- {line}\n")));
    if more > 0 {
        text.push_str(&format!("- and {more} more\n"));
    }
}

fn subject(commit: &Commit) -> String {
    inline(&shorten(&one_line(&commit.subject), MAX_SUBJECT_CHARS))
}

fn hash(commit: &Commit) -> Option<String> {
    (!commit.hash_is_stale && !commit.hash.is_empty()).then(|| code(&commit.hash))
}

fn commit(commit: &Commit) -> String {
    let place = commit.elsewhere.as_ref().map(|folder| {
        let branch = Some(&commit.branch).filter(|branch| !branch.is_empty());
        let branch =
            branch.map(|branch| format!(", {}", inline(&shorten(&one_line(branch), MAX_BRANCH_CHARS)))).unwrap_or_default();
        format!("(in {}{branch})", inline(&shorten(&one_line(folder), MAX_FOLDER_CHARS)))
    });
    [hash(commit), Some(subject(commit)), place].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn commit_with_body(one: &Commit) -> String {
    let body = one_line(&one.body);
    let body = if body.is_empty() { body } else { format!("\n  {}", inline(&shorten(&body, MAX_QUOTED_CHARS))) };
    commit(one) + &body
}

fn pull_request(one: &PullRequest) -> String {
    let title = inline(&shorten(&one_line(&one.title), MAX_SUBJECT_CHARS));
    let state = match (one.state(), one.made) {
        (Some(state), _) => format!(" ({state})"),
        (None, true) => " (opened)".to_owned(),
        (None, false) => String::new(),
    };
    format!("#{} {title}", inline(&one.number)).trim_end().to_owned() + &state
}

fn decided(one: &Decided) -> String {
    match one {
        Decided::Answered { asked, answer } => {
            let (asked, answer) = (quote(asked, MAX_QUOTED_CHARS), quote(answer, MAX_QUOTED_CHARS));
            format!("asked {}: {}", inline(&asked), inline(&answer))
        }
        Decided::Planned { plan } => format!("plan: {}", inline(&shorten(&one_line(plan), MAX_QUOTED_CHARS))),
        Decided::Stated { text } => inline(&shorten(&one_line(text), MAX_QUOTED_CHARS)),
    }
}

fn commands(run: &LastRun) -> String {
    let all = run.commands.iter().map(|command| code(&shorten(&one_line(command), MAX_COMMAND_CHARS)));
    all.collect::<Vec<_>>().join(", ")
}

/// A check that did not fail: that it passed is said only where its exit code is known.
fn check(run: &LastRun) -> String {
    let mut facts: Vec<String> = Vec::new();
    facts.extend((run.ok == Some(true)).then(|| "passed".to_owned()));
    let printed = |line: &str| inline(&quote(line.trim_matches(['=', ' ']), MAX_PRINTED_CHARS));
    facts.extend(match run.line_of_any() {
        Some(line) => Some(last_of(run, &printed(line))),
        None => run.lines.last().map(|line| printed(line)),
    });
    facts.extend(run.edited_since.then(|| "files were edited since".to_owned()));
    format!("{}: {}", commands(run), facts.join(", "))
}

/// Kinds of changes by how subjects begin, as of Conventional Commits 1.0.0.
const KINDS: [(&str, &[&str]); 3] = [("Added", &["feat"]), ("Fixed", &["fix"]), ("Other changes", &[])];

/// The heading for a subject such as `feat(parser)!: read tabs`, and what stands behind its kind.
fn by_kind(subject: &str) -> (Option<&'static str>, &str) {
    let Some((kind, rest)) = subject.split_once(": ") else { return (None, subject) };
    let kind = kind.trim_end_matches('!');
    let kind = kind.split_once('(').map_or(kind, |(kind, _)| kind);
    let known = KINDS.iter().find(|(_, names)| names.iter().any(|name| kind.eq_ignore_ascii_case(name)));
    known.map_or((None, subject), |(name, _)| (Some(name), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_tell_their_kind() {
        let all = ["feat: read tabs", "fix(parser)!: no panic", "Fix: one", "docs: more", "Fix the parser", "a: feat: b"];
        let kinds = all.map(by_kind);
        assert_eq!(
            kinds,
            [
                (Some("Added"), "read tabs"),
                (Some("Fixed"), "no panic"),
                (Some("Fixed"), "one"),
                (None, "docs: more"),
                (None, "Fix the parser"),
                (None, "a: feat: b"),
            ]
        );
    }
}
