//! The page of a day: its sessions in brief, grouped by project, and the notes written on it.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;

use super::lines::{bullets, claim_line, file_name, open_lines, paragraph, repeated_line, section};
use super::{SessionPageInput, clock, span_of};
use crate::model::digest::Digest;
use crate::model::note::EVERYWHERE;
use crate::model::price::session_cost;
use crate::model::session::{Millis, Project};
use crate::model::session_facts::SessionFacts;
use crate::store::notes::Note;
use crate::store::open_items::ClosedItem;
use crate::text::clean::shorten;
use crate::text::markdown::{code, heading, inline, yaml};

/// What the day page needs of a session.
#[derive(Debug, Clone)]
pub struct DayEntryInput<'a> {
    pub(crate) id: &'a str,
    pub(crate) project: &'a Project,
    /// The branch at the session's end.
    pub(crate) branch: Option<&'a str>,
    pub(crate) facts: &'a SessionFacts,
    pub(crate) digest: &'a Digest,
    /// This field and those below have the meaning they have in [`SessionPageInput`].
    pub(crate) goes_on: bool,
    pub(crate) closed: &'a [ClosedItem],
    pub(crate) costs: BTreeMap<String, Option<f64>>,
    pub(crate) repeated_by: Option<&'a str>,
    pub(crate) page: &'a str,
}

/// The rendered entry of a session.
#[derive(Debug, Clone)]
pub struct DayEntry {
    id: String,
    project: Project,
    began_at: Option<Millis>,
    /// The session's own cost in US dollars, and whether part of it is unknown.
    cost: (f64, bool),
    text: String,
}

impl DayEntry {
    /// `facts` must be those of the session.
    pub fn of(one: &SessionPageInput<'_>, facts: &SessionFacts, zone: &TimeZone) -> Self {
        let session = one.session;
        let told = DayEntryInput {
            id: &session.id,
            project: &session.project,
            branch: session.branches.last().map(String::as_str),
            facts,
            digest: one.digest,
            goes_on: one.goes_on,
            closed: one.closed,
            costs: one.costs.clone(),
            repeated_by: one.repeated_by,
            page: &one.page,
        };
        Self::from_input(&told, zone)
    }

    pub(crate) fn from_input(one: &DayEntryInput<'_>, zone: &TimeZone) -> Self {
        let mut text = String::new();
        day_entry(&mut text, one, zone);
        let cost = session_cost(&one.costs);
        Self { id: one.id.to_owned(), project: one.project.clone(), began_at: one.facts.began_at, cost, text }
    }
}

/// Totals of a day's sessions without a digest; their cost counts as well.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UndigestedTotals {
    pub(crate) sessions: usize,
    /// In US dollars, and whether part of it is unknown.
    pub(crate) cost: (f64, bool),
}

/// The page of a day: its sessions in the order in which they began, and its notes.
pub fn day_page(day: &str, mut entries: Vec<DayEntry>, untold: UndigestedTotals, notes: &[Note], zone: &TimeZone) -> String {
    entries.sort_by(|a, b| (a.began_at, &a.id).cmp(&(b.began_at, &b.id)));
    let mut projects: Vec<&Project> = Vec::new();
    for one in &entries {
        if !projects.contains(&&one.project) {
            projects.push(&one.project);
        }
    }
    let mut page = day_front(day, &entries, untold, &projects);
    for project in &projects {
        // A section named "Notes" is the user's own.
        let title = Some(heading(project.name())).filter(|name| name != "Notes").unwrap_or_else(|| "Notes (project)".to_owned());
        page.push_str(&format!("\n## {title}\n\n{}\n", code(&project.key)));
        entries.iter().filter(|one| one.project == **project).for_each(|one| page.push_str(&one.text));
    }
    section(&mut page, "Remembered", notes.iter().map(|note| note_line(note, zone)));
    page
}

pub(super) fn note_line(note: &Note, zone: &TimeZone) -> String {
    let project = if note.project.key == EVERYWHERE { "all projects" } else { note.project.name() };
    let (text, kind, project) = (inline(&note.text), inline(&note.kind), inline(project));
    let text = if note.closed.is_some() { format!("~~{text}~~") } else { text };
    format!("{} {text} ({kind}, {project}, {}) {}", clock(Some(note.at), zone), inline(&note.origin()), code(&note.id))
}

fn day_front(day: &str, entries: &[DayEntry], untold: UndigestedTotals, projects: &[&Project]) -> String {
    let names: Vec<String> = projects.iter().map(|project| yaml(&project.key)).collect();
    let cost = entries.iter().map(|one| one.cost.0).sum::<f64>() + untold.cost.0;
    let unknown = untold.cost.1 || entries.iter().any(|one| one.cost.1);
    let without = if untold.sessions > 0 { format!("\nsessions_without_digest: {}", untold.sessions) } else { String::new() };
    let weekday =
        day.parse::<jiff::civil::Date>().map(|d| d.strftime("%A, %-d %B %Y").to_string()).unwrap_or_else(|_| day.to_owned());
    format!(
        "---\ndate: {day}\nprojects: [{}]\nsessions: {}{without}\ncost_usd: {cost:.2}\ncost_complete: {}\n---\n\n# {weekday}\n",
        names.join(", "),
        entries.len(),
        !unknown,
    )
}

fn day_entry(page: &mut String, one: &DayEntryInput<'_>, zone: &TimeZone) {
    let (facts, digest) = (one.facts, one.digest);
    let began = clock(facts.began_at, zone);
    if let Some(later) = one.repeated_by {
        page.push_str(&format!("\n### {began} {}\n\n{}\n", heading(&digest.title), repeated_line(one.id, later, "..")));
        return;
    }
    page.push_str(&format!(
        "\n### {began} {}\n\n{}{} · {} · [session page](sessions/{})\n",
        heading(&digest.title),
        span_of(facts.began_at, facts.last_at, zone),
        if one.goes_on { " so far, it goes on" } else { "" },
        figures(facts, one.branch),
        one.page,
    ));
    paragraph(page, "Asked", &shorten(&digest.request, 360));
    bullets(
        page,
        "Outcome",
        digest.completed.iter().map(|t| inline(&shorten(t, 240))).rev().take(5).collect::<Vec<_>>().into_iter().rev(),
    );
    bullets(page, "Decisions", digest.decisions.iter().take(5).map(|c| claim_line(&c.text, c, 220)));
    if !digest.files.is_empty() {
        let names: Vec<String> = digest.files.iter().take(8).map(file_name).collect();
        let more = digest.files.len().saturating_sub(8);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        page.push_str(&format!("\n**Files** {}{more}\n", names.join(", ")));
    }
    bullets(page, "Blockers", open_lines((one.id, digest, one.closed), "blocker", &digest.blockers));
    bullets(page, "Next", open_lines((one.id, digest, one.closed), "next", &digest.next_steps));
}

/// `5 prompts · 12 files · $0.42`
fn figures(facts: &SessionFacts, branch: Option<&str>) -> String {
    let mut parts = vec![counted(facts.prompts, "prompt")];
    if facts.files > 0 {
        parts.push(format!("{} changed", counted(facts.files, "file")));
    }
    if facts.agents > 0 {
        parts.push(counted(facts.agents, "subagent"));
    }
    if let Some(branch) = branch {
        parts.push(format!("branch {}", code(branch)));
    }
    parts.join(" · ")
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
