//! A session among its neighbours in the project, one line each, with its own course from its account: more than an index line, less than
//! the full page.
//!
//! `app::timeline` collects it from the index; [`Timeline::render`] writes it, about 50 tokens a line.

use jiff::tz::TimeZone;
use serde::Serialize;

use crate::analyze::account::{SessionAccount, Turn, WordKind};
use crate::render::quoted::{Listener, QuotedParts, turn_lines};
use text::blocks::beginning;
use text::clean::shorten_title;
use transcripts::client::Client;
use transcripts::session::Millis;
use transcripts::session::said;

/// The most characters of a title in a line, of a step, and of what the user said in it.
pub(crate) const TITLE: usize = 90;
const MAX_STEP_CHARS: usize = 140;
const MAX_WORDS_CHARS: usize = 110;
/// The most characters of what was closed since.
pub(crate) const MAX_SINCE_THEN_CHARS: usize = 200;
/// The most steps shown.
const MAX_STEPS: usize = 14;

/// One line: a session, or the note the timeline was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TimelineEntry {
    pub(crate) id: String,
    /// As much of it as names it: of a note, all.
    #[serde(skip)]
    pub(crate) short_id: String,
    pub(crate) began_at: Option<Millis>,
    /// `began_at` as local date and time: `2026-11-17 10:02`.
    pub(crate) when: String,
    /// The digest's title, or the start of the first prompt.
    pub(crate) title: String,
    /// Whose session it is; not said of Claude Code's.
    #[serde(rename = "agent", skip_serializing_if = "Client::is_usual")]
    pub(crate) client: Client,
    /// The author, if it is a note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
    /// The number of next steps and blockers that are not closed.
    pub(crate) open: usize,
    /// The session was still running when it was digested.
    pub(crate) goes_on: bool,
    pub(crate) digested: bool,
    /// It is a note.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_note: bool,
}

/// A step in the course of the session: words of the user's, what git or `gh` showed, or how a reply began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TimelineStep {
    pub(crate) at: Option<Millis>,
    /// `at` as local time of day: `10:02`; with the day, `11-18 10:02`, if it is not that of the first step.
    pub(crate) when: String,
    /// The number of its turn, if it begins one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prompt: Option<usize>,
    pub(crate) kind: StepKind,
    pub(crate) text: String,
}

/// What a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StepKind {
    Prompt,
    /// An answer, an approval or a refusal.
    Answer,
    /// A command that the user ran.
    Command,
    Commit,
    PullRequest,
    /// How the reply that closed a turn began.
    Reply,
}

/// A session and its neighbours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Timeline {
    pub(crate) project: String,
    /// Earliest first.
    pub(crate) before: Vec<TimelineEntry>,
    pub(crate) session: TimelineEntry,
    pub(crate) course: Vec<TimelineStep>,
    /// What was closed since of what its replies still say: `since then: closed …`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) since_then: Vec<String>,
    /// Steps that were left out of the middle.
    pub(crate) steps_left_out: usize,
    pub(crate) after: Vec<TimelineEntry>,
    /// Further sessions of the project, not listed.
    pub(crate) more_before: usize,
    pub(crate) more_after: usize,
    /// It is a note for all projects, which has no neighbours.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) no_neighbours: bool,
}

/// The steps of a session in order, and how many were left out of the middle. Of a long one replies of earlier turns stay out first.
pub(crate) fn course(account: &SessionAccount, zone: &TimeZone) -> (Vec<TimelineStep>, usize) {
    let parts = QuotedParts::new(account, zone, Listener::User);
    let step = |at: Option<Millis>, kind, text: &str| TimelineStep {
        at,
        when: parts.time(at),
        prompt: None,
        kind,
        text: said(text, MAX_STEP_CHARS),
    };
    // Of each turn what was said, what was made, how it was closed.
    let mut steps: Vec<TimelineStep> = account.turns.iter().flat_map(|turn| words(turn, account.client, &step)).collect();
    let commits = account.commits.iter().rev().zip(parts.commit_lines());
    let mut made: Vec<TimelineStep> =
        commits.map(|(commit, line)| step(commit.at, StepKind::Commit, &format!("commit {line}"))).collect();
    let requests = account.pull_requests.iter().rev().zip(parts.pull_request_lines());
    made.extend(requests.map(|(pr, line)| step(pr.at, StepKind::PullRequest, &format!("PR {line}"))));
    steps.extend(made);
    let last = account.turns.iter().rposition(|turn| turn.reply.is_some());
    let few = steps.len() + account.turns.len() <= MAX_STEPS;
    let replies = account.turns.iter().enumerate().filter(|(at, _)| few || Some(*at) == last);
    steps.extend(replies.filter_map(|(_, turn)| reply(turn, &step)));
    steps.sort_by_key(|step| step.at);
    let over = steps.len().saturating_sub(MAX_STEPS);
    if over > 0 {
        // Beginning and end say more than the middle.
        steps.drain(MAX_STEPS / 2..MAX_STEPS / 2 + over);
    }
    (steps, over)
}

/// What the user said in a turn.
fn words(turn: &Turn, client: Client, step: &impl Fn(Option<Millis>, StepKind, &str) -> TimelineStep) -> Vec<TimelineStep> {
    let kind = |kind: &WordKind| match kind {
        WordKind::Prompt | WordKind::PlanGiven { .. } | WordKind::Joined => StepKind::Prompt,
        WordKind::Answered { .. } | WordKind::Refused { .. } | WordKind::Approved { .. } => StepKind::Answer,
        WordKind::Ran => StepKind::Command,
    };
    let told = turn.words.iter().zip(turn_lines(turn, client, MAX_WORDS_CHARS));
    let mut steps: Vec<TimelineStep> = told.map(|(word, line)| step(word.at.or(turn.at), kind(&word.kind), &line)).collect();
    if let Some(first) = steps.first_mut() {
        first.prompt = (turn.number > 0).then_some(turn.number);
    }
    steps
}

/// How the reply began that closed a turn.
fn reply(turn: &Turn, step: &impl Fn(Option<Millis>, StepKind, &str) -> TimelineStep) -> Option<TimelineStep> {
    let reply = turn.reply.as_ref()?;
    let begins = beginning(&reply.text, MAX_WORDS_CHARS);
    let cut_off = if reply.cut_off { " (cut off)" } else { "" };
    (!begins.is_empty()).then(|| step(reply.at.or(turn.at), StepKind::Reply, &format!("→{cut_off} {begins}")))
}

impl Timeline {
    /// The text for people and models.
    pub(crate) fn render(&self) -> String {
        let mut text = format!("{}\n", said(&self.project, 200));
        if self.more_before > 0 {
            text.push_str(&format!("  … {} more before\n", self.more_before));
        }
        self.before.iter().for_each(|one| text.push_str(&format!("  {}\n", one.render())));
        text.push_str(&format!("> {}\n", self.session.render()));
        self.since_then.iter().for_each(|line| text.push_str(&format!("      {line}\n")));
        for (at, step) in self.course.iter().enumerate() {
            if at == MAX_STEPS / 2 && self.steps_left_out > 0 {
                text.push_str(&format!("      … {} left out\n", self.steps_left_out));
            }
            let number = step.prompt.map_or_else(String::new, |n| format!("#{n} "));
            text.push_str(&format!("      {} {number}{}\n", step.when, step.text));
        }
        if self.no_neighbours {
            text.push_str("  a note for all projects is not part of a project's timeline\n");
        }
        self.after.iter().for_each(|one| text.push_str(&format!("  {}\n", one.render())));
        if self.more_after > 0 {
            text.push_str(&format!("  … {} more after\n", self.more_after));
        }
        text
    }
}

impl TimelineEntry {
    fn render(&self) -> String {
        let mut line = format!("{}  {}  {}", self.when, self.short_id, said(&shorten_title(&self.title, TITLE), TITLE));
        if !self.client.is_usual() {
            line.push_str(&format!(" ({})", self.client.name()));
        }
        if let Some(by) = &self.by {
            line.push_str(&format!(" ({})", said(by, TITLE)));
        }
        if !self.digested {
            line.push_str(" (no digest yet)");
        } else if self.goes_on {
            line.push_str(" (so far)");
        }
        if self.open > 0 {
            line.push_str(&format!(" · {} open", self.open));
        }
        line
    }
}
