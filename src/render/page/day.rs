//! The page of a day: its sessions in brief, grouped by project, those that went on on it, and the notes written on it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::tz::TimeZone;

use super::lines::{ListedItems, bullets, paragraph, paths, repeated_line, section, since_then, title};
use super::quotation::quotation;
use super::{SessionPageInput, clock, date, in_words, span_of};
use crate::analyze::account::{
    self, ClosingReply, Commit, OpenEnd, PullRequest, SessionAccount, Turn, WordKind, is_task, tells_something,
};
use crate::model::digest::Digest;
use crate::model::digest::is_by_model;
use crate::model::item_state::ItemStates;
use crate::model::note::EVERYWHERE;
use crate::model::note::Note;
use crate::model::page_path;
use crate::model::price::session_cost;
use crate::model::section::{View, shown_in};
use crate::model::since_then::Overtaken;
use crate::render::quoted::{Listener, QuotedParts, turn_lines};
use text::clean::{counted, one_line, shorten};
use text::markdown::{code, heading, inline, yaml};
use transcripts::session::SessionFacts;
use transcripts::session::{Millis, Project};

/// The most commits and pull requests above the sessions, and the most characters of each.
const MAX_MADE: usize = 12;
const MAX_SUBJECT_CHARS: usize = 90;
const MAX_FILES: usize = 8;
const MAX_FAILED: usize = 3;
/// The most characters of what was asked, and of a session's last reply.
const MAX_ASKED_CHARS: usize = 360;
const MAX_REPLY_CHARS: usize = 800;
/// Of the words of a prompt in a list of them; of more than twice as many the first and the last so many are listed.
const MAX_ASKED_LINE_CHARS: usize = 140;
const ASKED_AT_ENDS: usize = 4;
/// A title is made of a prompt if that begins alike by so many characters.
const BEGINNING_CHARS: usize = 24;

/// What the day page needs of a session.
#[derive(Debug, Clone)]
pub struct DayEntryInput<'a> {
    pub(crate) id: &'a str,
    pub(crate) project: &'a Project,
    /// The branch at the session's end.
    pub(crate) branch: Option<&'a str>,
    pub(crate) facts: &'a SessionFacts,
    pub(crate) digest: &'a Digest,
    pub(crate) summarizer: &'a str,
    /// Shortened, as it is stored.
    pub(crate) account: &'a SessionAccount,
    /// This field and those below have the meaning they have in [`SessionPageInput`].
    pub(crate) goes_on: bool,
    /// The machine that it came from, if it is not this one.
    pub(crate) machine: Option<&'a str>,
    pub(crate) items: &'a ItemStates,
    pub(crate) overtaken: &'a [Overtaken],
    pub(crate) costs: BTreeMap<String, Option<f64>>,
    pub(crate) costs_by_day: BTreeMap<String, (f64, bool)>,
    pub(crate) repeated_by: Option<&'a str>,
    pub(crate) page: &'a str,
}

impl DayEntryInput<'_> {
    /// The day on whose page the session stands as a whole.
    fn own_day(&self) -> String {
        page_path::day_in_name(Path::new(self.page)).unwrap_or_default()
    }

    /// The days after that on which somebody said something in it.
    fn later_days(&self, zone: &TimeZone) -> BTreeSet<String> {
        let own = self.own_day();
        self.account.turn_times().map(|at| date(at, zone)).filter(|day| *day > own).collect()
    }

    /// What it cost on a day, and whether part of that is unknown. Work without a prompt of that day counts on the last day before it that has
    /// one.
    fn cost_on(&self, day: &str, zone: &TimeZone) -> (f64, bool) {
        let (usd, unknown) = self.known_cost_on(day, zone);
        (usd, unknown || self.facts.lacks_usage)
    }

    fn known_cost_on(&self, day: &str, zone: &TimeZone) -> (f64, bool) {
        let own = self.own_day();
        if self.costs_by_day.is_empty() {
            return if day == own { session_cost(&self.costs) } else { (0.0, false) };
        }
        let later = self.later_days(zone);
        let counts_on = |spent: &String| later.range(..=spent.clone()).next_back().unwrap_or(&own) == day;
        let spent = self.costs_by_day.iter().filter(|(spent, _)| counts_on(spent));
        spent.fold((0.0, false), |(usd, unknown), (_, cost)| (usd + cost.0, unknown || cost.1))
    }
}

/// The rendered entry of a session.
#[derive(Debug, Clone)]
pub struct DayEntry {
    id: String,
    project: Project,
    /// When it began, or went on, on the day.
    at: Option<Millis>,
    /// It began on an earlier day, and counts there.
    went_on: bool,
    /// What the session itself cost on the day, in US dollars, and whether part of that is unknown.
    cost: (f64, bool),
    /// Its commits and pull requests.
    made: Vec<String>,
    /// How many tasks its list does not tick off, and whether its last turn was cut off.
    open: (usize, bool),
    text: String,
}

impl DayEntry {
    /// On the page of a day; `facts` must be those of the session. `None` if the session has nothing there.
    pub fn on(day: &str, one: &SessionPageInput<'_>, facts: &SessionFacts, zone: &TimeZone) -> Option<Self> {
        Self::told(one, SessionAccount::of(one.session, one.goes_on), facts, |told| Self::from_input(day, told, zone))
    }

    /// On the pages of all days on which a session stands, where its account is at hand.
    pub(crate) fn of_all_days(
        one: &SessionPageInput<'_>,
        account: SessionAccount,
        facts: &SessionFacts,
        zone: &TimeZone,
    ) -> BTreeMap<String, Self> {
        Self::told(one, account, facts, |told| {
            let days = [told.own_day()].into_iter().chain(told.later_days(zone));
            days.filter_map(|day| Some((day.clone(), Self::from_input(&day, told, zone)?))).collect()
        })
    }

    fn told<T>(
        one: &SessionPageInput<'_>,
        account: SessionAccount,
        facts: &SessionFacts,
        make: impl FnOnce(&DayEntryInput<'_>) -> T,
    ) -> T {
        let session = one.session;
        let told = DayEntryInput {
            id: &session.id,
            project: &session.project,
            branch: session.branches.last().map(String::as_str),
            facts,
            digest: one.digest,
            summarizer: one.summarizer,
            account: &account.shortened(),
            goes_on: one.goes_on,
            machine: session.told.as_ref().map(|told| told.machine.as_str()),
            items: one.items,
            overtaken: one.overtaken,
            costs: one.costs.clone(),
            costs_by_day: one.costs_by_day.clone(),
            repeated_by: one.repeated_by,
            page: &one.page,
        };
        make(&told)
    }

    /// On the page of a day. `None` if the session has nothing there.
    pub(crate) fn from_input(day: &str, one: &DayEntryInput<'_>, zone: &TimeZone) -> Option<Self> {
        if one.own_day() == day { Some(Self::as_a_whole(one, zone)) } else { Self::gone_on(day, one, zone) }
    }

    /// On a day after its own. What it left open counts on its own day.
    fn gone_on(day: &str, one: &DayEntryInput<'_>, zone: &TimeZone) -> Option<Self> {
        let is_then = |at: Option<Millis>| at.is_some_and(|at| date(at, zone) == day);
        let then: Vec<Millis> = one.account.turn_times().filter(|at| is_then(Some(*at))).collect();
        let at = then.iter().min().copied()?;
        let made = if one.repeated_by.is_none() { made(one.account, is_then) } else { Vec::new() };
        let text = gone_on_entry(one, (at, then.len()), &made, zone);
        let (id, project) = (one.id.to_owned(), one.project.clone());
        Some(Self { id, project, at: Some(at), went_on: true, cost: one.cost_on(day, zone), made, open: (0, false), text })
    }

    fn as_a_whole(one: &DayEntryInput<'_>, zone: &TimeZone) -> Self {
        let mut text = String::new();
        day_entry(&mut text, one, zone);
        let ends = one.account.open.iter().filter(|open| open.task().is_none()).count();
        let tasks = one.account.open.iter().filter_map(OpenEnd::task).filter(|task| !is_closed(one, task)).count();
        let told = one.repeated_by.is_none();
        let later = one.later_days(zone);
        let is_told_later = |at: Option<Millis>| at.is_some_and(|at| later.contains(&date(at, zone)));
        Self {
            id: one.id.to_owned(),
            project: one.project.clone(),
            at: one.facts.began_at,
            went_on: false,
            cost: one.cost_on(&one.own_day(), zone),
            made: if told { made(one.account, |at| !is_told_later(at)) } else { Vec::new() },
            open: if told { (tasks, ends > 0) } else { (0, false) },
            text,
        }
    }
}

/// Was the open item closed that stands for a task?
fn is_closed(one: &DayEntryInput<'_>, task: &str) -> bool {
    let items = one.digest.open_items(one.id).filter(|(.., claim)| is_task(&claim.text, task));
    items.map(|(own, ..)| own).any(|own| one.items.is_closed(&own))
}

/// Totals of a day's sessions without a digest; their cost counts as well.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UndigestedTotals {
    pub(crate) sessions: usize,
    /// In US dollars, and whether part of it is unknown.
    pub(crate) cost: (f64, bool),
}

/// The page of a day: its sessions in the order in which they began or went on, and its notes.
pub fn day_page(day: &str, mut entries: Vec<DayEntry>, untold: UndigestedTotals, notes: &[Note], zone: &TimeZone) -> String {
    entries.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
    let mut projects: Vec<&Project> = Vec::new();
    for one in &entries {
        if !projects.contains(&&one.project) {
            projects.push(&one.project);
        }
    }
    let mut page = day_front(day, &entries, untold, &projects);
    summary(&mut page, &entries, &projects);
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
    let went_on = entries.iter().filter(|one| one.went_on).count();
    let line = |name: &str, count: usize| if count > 0 { format!("\n{name}: {count}") } else { String::new() };
    let (later, without) = (line("sessions_gone_on", went_on), line("sessions_without_digest", untold.sessions));
    format!(
        "---\ndate: {day}\nprojects: [{}]\nsessions: {}{later}{without}\ncost_usd: {cost:.2}\ncost_complete: {}\n---\n\n# {}\n",
        names.join(", "),
        entries.len() - went_on,
        !unknown,
        in_words(day),
    )
}

/// What the day brought, above its sessions.
fn summary(page: &mut String, entries: &[DayEntry], projects: &[&Project]) {
    let mut lines = Vec::new();
    let made: Vec<&String> = entries.iter().flat_map(|one| &one.made).collect();
    if !made.is_empty() {
        let more = made.len().saturating_sub(MAX_MADE);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let told: Vec<&str> = made.iter().take(MAX_MADE).map(|line| line.as_str()).collect();
        lines.push(format!("commits and pull requests: {}{more}", told.join("; ")));
    }
    let (tasks, ends) = (entries.iter().map(|one| one.open.0).sum::<usize>(), entries.iter().filter(|one| one.open.1).count());
    let counts = [
        (tasks, "task not ticked off", "tasks not ticked off"),
        (ends, "session cut off in its last turn", "sessions cut off in their last turn"),
    ];
    let open: Vec<String> =
        counts.iter().filter(|(n, ..)| *n > 0).map(|(n, one, many)| format!("{n} {}", if *n == 1 { one } else { many })).collect();
    if !open.is_empty() {
        lines.push(format!("open: {}", open.join(", ")));
    }
    let cost = |project: &Project| entries.iter().filter(|one| one.project == *project).map(|one| one.cost.0).sum::<f64>();
    let paid: Vec<&Project> = projects.iter().filter(|project| cost(project) > 0.0).copied().collect();
    if paid.len() > 1 {
        // Of those that are called alike the folder above tells which is which.
        let name = |project: &Project| match paid.iter().filter(|other| other.name() == project.name()).count() {
            1 => project.name().to_owned(),
            _ => project.key.rsplitn(3, '/').take(2).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("/"),
        };
        let costs: Vec<String> = paid.iter().map(|project| format!("{} ${:.2}", inline(&name(project)), cost(project))).collect();
        lines.push(format!("cost at list price: {}", costs.join(", ")));
    }
    if !lines.is_empty() {
        page.push('\n');
        lines.iter().for_each(|line| page.push_str(&format!("- {line}\n")));
    }
}

/// Commits and pull requests that a session made at such times.
fn made(account: &SessionAccount, is_then: impl Fn(Option<Millis>) -> bool) -> Vec<String> {
    let pr = |pr: &PullRequest| inline(&shorten(format!("PR #{} {}", pr.number, pr.title).trim_end(), MAX_SUBJECT_CHARS));
    let commits = account.commits.iter().filter(|commit| is_then(commit.at)).map(told_commit);
    commits.chain(account.pull_requests.iter().filter(|pr| pr.made && is_then(pr.at)).map(pr)).collect()
}

fn told_commit(commit: &Commit) -> String {
    let hash = if commit.hash_is_stale || commit.hash.is_empty() { String::new() } else { code(&commit.hash) + " " };
    let elsewhere = commit.elsewhere.as_ref().map(|folder| format!(" (in {})", code(folder))).unwrap_or_default();
    format!("{hash}{}{elsewhere}", inline(&shorten(&commit.subject, MAX_SUBJECT_CHARS)))
}

/// A session on a day after its own: that it went on `at` some time, with so many prompts, and what was made.
fn gone_on_entry(one: &DayEntryInput<'_>, (at, prompts): (Millis, usize), made: &[String], zone: &TimeZone) -> String {
    let (began, account) = (one.own_day(), one.account);
    let mut text = format!("\n### {} continued: {}\n", clock(Some(at), zone), heading(&title(one.summarizer, one.digest, account)));
    if let Some(later) = one.repeated_by {
        text.push_str(&format!("\n{}\n", repeated_line(one.id, later, "..")));
        return text;
    }
    text.push_str(&format!(
        "\nbegan on [{}]({}) · {}{}{} · [session page]({})\n",
        in_words(&began),
        page_path::day_from_day(&began),
        if account.client.is_usual() { String::new() } else { format!("{} · ", account.client.name()) },
        one.machine.map(|name| format!("on {} · ", inline(name))).unwrap_or_default(),
        counted(prompts, "prompt"),
        page_path::from_below(&page_path::of_session(&began, one.page), ".."),
    ));
    let turns: Vec<&Turn> = turns_on(account, &date(at, zone), zone).collect();
    // Of a long session the first prompts of the day may not be kept.
    let label = if turns.first().is_some_and(|turn| turn.at == Some(at)) { "Asked" } else { "Asked later" };
    bullets(&mut text, label, asked(&turns, prompts, account, zone).into_iter());
    if let Some(reply) = turns.iter().rev().find_map(|turn| turn.reply.as_ref()) {
        text.push_str(&told_reply("last reply of the day", reply, account, &date(at, zone), zone));
    }
    bullets(&mut text, "Commits and pull requests", made.iter().cloned());
    text
}

fn day_entry(page: &mut String, one: &DayEntryInput<'_>, zone: &TimeZone) {
    let (facts, digest) = (one.facts, one.digest);
    let began = clock(facts.began_at, zone);
    if let Some(later) = one.repeated_by {
        page.push_str(&format!(
            "\n### {began} {}\n\n{}\n",
            heading(&title(one.summarizer, digest, one.account)),
            repeated_line(one.id, later, "..")
        ));
        return;
    }
    page.push_str(&format!(
        "\n### {began} {}\n\n{}{} · {}{}{} · [session page]({})\n",
        heading(&title(one.summarizer, digest, one.account)),
        span_of(facts.began_at, facts.last_at, zone),
        if one.goes_on { " so far, it goes on" } else { "" },
        if one.account.client.is_usual() { String::new() } else { format!("{} · ", one.account.client.name()) },
        one.machine.map(|name| format!("on {} · ", inline(name))).unwrap_or_default(),
        figures(facts, prompts_that_day(one, zone), one.account.files.edited.len(), one.branch),
        page_path::from_day(one.page),
    ));
    if !is_by_model(one.summarizer) {
        page.push_str(&since_then((one.items, one.overtaken), facts.last_at, one.account, zone));
        let day = facts.began_at.map(|at| date(at, zone)).unwrap_or_default();
        let turns: Vec<&Turn> = turns_on(one.account, &day, zone).collect();
        // Of a single prompt the title may tell as much.
        let asked = if is_title_alone(&turns, one.account) {
            Vec::new()
        } else {
            asked(&turns, prompts_that_day(one, zone).unwrap_or(facts.prompts), one.account, zone)
        };
        bullets(page, "Asked", asked.into_iter());
        last_replies(page, one.account, &day, zone);
    } else {
        paragraph(page, "Asked", &shorten(&digest.request, MAX_ASKED_CHARS));
    }
    let items = ListedItems { session: one.id, digest, items: one.items, summarizer: one.summarizer, zone };
    for (shown, sections) in shown_in(View::Day) {
        bullets(page, shown.label, sections.into_iter().flat_map(|section| items.lines(section, shown, one.account)));
    }
    bullets(page, "Checks that failed when they last ran", failed_checks(one.account, zone).into_iter());
    let files = &one.account.files.edited;
    if !files.is_empty() {
        page.push_str(&format!("\n**Files** {}\n", paths(files, MAX_FILES)));
    }
}

/// A reply may say that all is well where a check says otherwise.
fn failed_checks(account: &SessionAccount, zone: &TimeZone) -> Vec<String> {
    let all = QuotedParts::new(account, zone, Listener::User).failed_run_lines();
    all.iter().take(MAX_FAILED).map(|line| inline(line)).collect()
}

/// The turns that began on a day.
fn turns_on<'a>(account: &'a SessionAccount, day: &str, zone: &TimeZone) -> impl Iterator<Item = &'a Turn> {
    account.turns.iter().filter(move |turn| turn.at.is_some_and(|at| date(at, zone) == day))
}

/// Is there a single prompt, and the title what it begins with?
fn is_title_alone(turns: &[&Turn], account: &SessionAccount) -> bool {
    let [turn] = turns else { return turns.is_empty() };
    let begin: String = account.title.asked.chars().take(BEGINNING_CHARS).collect();
    turn.words.len() < 2 && turn.words.first().is_none_or(|word| one_line(&word.text).contains(&begin))
}

/// What was asked in these turns, a line each: of many the first and the last ones, and none that says nothing by itself. What was said last while
/// the assistant worked may overrule what it worked on, so it is a line, too.
fn asked(turns: &[&Turn], prompts: usize, account: &SessionAccount, zone: &TimeZone) -> Vec<String> {
    let are_few = turns.len() <= 2 * ASKED_AT_ENDS;
    let tells = |text: &str| are_few || tells_something(text);
    let lines_of = |turn: &&Turn| {
        let first = turn.words.first().filter(|word| word.kind != WordKind::Prompt || tells(&word.text)).map(|_| 0);
        let last = turn.words.iter().rposition(|word| word.kind == WordKind::Joined && tells(&word.text)).filter(|at| *at > 0);
        let line = |at: usize| {
            let said = turn_lines(turn, account.client, MAX_ASKED_LINE_CHARS).nth(at)?;
            Some(format!("{} {}", clock(turn.words[at].at.or(turn.at), zone), inline(&shorten(&said, MAX_ASKED_CHARS))))
        };
        first.into_iter().chain(last).filter_map(line).collect::<Vec<_>>()
    };
    let mut lines: Vec<String> = turns.iter().flat_map(lines_of).collect();
    // Short ones, and all others that were sent while the assistant worked, are counted alone.
    let untold = prompts.saturating_sub(lines.len());
    let more = lines.len().saturating_sub(2 * ASKED_AT_ENDS);
    if more > 1 {
        lines.splice(ASKED_AT_ENDS..ASKED_AT_ENDS + more, [format!("{} more", more + untold)]);
    } else if untold > 0 && !lines.is_empty() {
        lines.push(format!("{untold} more"));
    }
    lines
}

/// The first lines of the last reply, and of the longer one before it if it says little.
fn last_replies(page: &mut String, account: &SessionAccount, day: &str, zone: &TimeZone) {
    for ((_, reply), which) in account::ending_replies(&account.turns).into_iter().zip(["last reply", "longer reply before it"]) {
        page.push_str(&told_reply(which, reply, account, day, zone));
    }
}

/// On the page of a day, to which a reply of another day belongs only by its session.
fn told_reply(which: &str, reply: &ClosingReply, account: &SessionAccount, day: &str, zone: &TimeZone) -> String {
    let quoted = quotation(&reply.text, MAX_REPLY_CHARS);
    if quoted.is_empty() {
        return quoted;
    }
    let cut_off = if reply.cut_off { ", cut off" } else { "" };
    let on = reply.at.map(|at| date(at, zone)).filter(|on| on != day).map(|on| on + " ").unwrap_or_default();
    format!("\n{}'s {which} ({on}{}{cut_off}):\n\n{quoted}", account.client.assistant(), clock(reply.at, zone))
}

/// How many of its turns began on its first day, if it went on on others.
fn prompts_that_day(one: &DayEntryInput<'_>, zone: &TimeZone) -> Option<usize> {
    let day = one.own_day();
    let then = one.account.turn_times().filter(|at| date(*at, zone) == day).count();
    (!one.later_days(zone).is_empty()).then_some(then)
}

/// `5 prompts · 12 files · $0.42`; of a session that went on on other days `2 of 5 prompts`.
fn figures(facts: &SessionFacts, that_day: Option<usize>, edited: usize, branch: Option<&str>) -> String {
    let prompts = counted(facts.prompts, "prompt");
    let mut parts = vec![that_day.map_or(prompts.clone(), |count| format!("{count} of {prompts}"))];
    if edited > 0 {
        parts.push(format!("{} edited", counted(edited, "file")));
    }
    if facts.agents > 0 {
        parts.push(counted(facts.agents, "subagent"));
    }
    if let Some(branch) = branch {
        parts.push(format!("branch {}", code(branch)));
    }
    parts.join(" · ")
}
