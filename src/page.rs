//! The pages people read: one a day, one a session. Pure: the same session and digest give the same bytes.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::clean::shorten;
use crate::course::{Markup, line, moments};
use crate::digest::{Claim, Digest, FileNote};
use crate::facts::Facts;
use crate::fixes::{Failure, failures};
use crate::markdown::{code, heading, inline, slug, yaml};
use crate::notes::EVERYWHERE;
use crate::price::session_cost;
use crate::prose::sentences;
use crate::session::{Entry, Item, Millis, Project, Session, Tokens, Touch};
use crate::store::notes::Note;
use crate::terms::{covered_by, words};

/// Entries of a timeline at most, beside the user's words; the weightiest stay.
const MAX_TIMELINE: usize = 60;
const MAX_FAILURES: usize = 12;
const MARKUP: Markup = Markup { words: inline, command: code, who: |name| format!("**{name}**") };

/// A session with its digest, as pages show it.
#[derive(Debug, Clone)]
pub struct Shown<'a> {
    pub session: &'a Session,
    pub digest: &'a Digest,
    pub digest_id: &'a str,
    pub summarizer: &'a str,
    /// The session went on when it was digested.
    pub goes_on: bool,
    /// Ids of its open items that are closed by now.
    pub closed: &'a [String],
    /// The session's own cost at list prices, by model; `None` where a price is unknown.
    pub costs: BTreeMap<String, Option<f64>>,
    /// The path of a later session's page that says nearly the same, from the data folder: then this one only leads there.
    pub repeated_by: Option<&'a str>,
    /// The name of its page, in `sessions/` beside the day's.
    pub page: String,
}

/// Where a session lives: the local day of its first prompt.
pub fn day_of(session: &Session, zone: &TimeZone) -> String {
    date(session.began_at().unwrap_or(0), zone)
}

fn date(at: Millis, zone: &TimeZone) -> String {
    local(at, zone).strftime("%Y-%m-%d").to_string()
}

/// `YYYY-MM-DD-<project>-<id8>.md`; ids that share their first eight characters get part of a hash as well.
pub fn session_page_name(session: &Session, day: &str, crowded: bool) -> String {
    let id8: String = session.id.chars().filter(char::is_ascii_alphanumeric).take(8).collect::<String>().to_lowercase();
    let plain = session.id.len() >= 8 && session.id.chars().take(8).all(|c| c.is_ascii_alphanumeric());
    let id = if crowded || !plain { crate::session::short_id(&format!("{id8}-"), &[&session.id]) } else { id8 };
    format!("{day}-{}-{id}.md", slug(session.project.name(), 40))
}

fn local(at: Millis, zone: &TimeZone) -> Zoned {
    Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(zone.clone())
}

/// The local time of day.
pub fn clock(at: Option<Millis>, zone: &TimeZone) -> String {
    at.map_or_else(|| "--:--".into(), |at| local(at, zone).strftime("%H:%M").to_string())
}

/// From when to when a session was active; with the day of its end where that is another one than [`day_of`].
pub fn span(session: &Session, zone: &TimeZone) -> String {
    span_of(session.began_at(), session.last_at(), zone)
}

fn span_of(began: Option<Millis>, last: Option<Millis>, zone: &TimeZone) -> String {
    let ended = last.map(|at| date(at, zone));
    let later = ended.filter(|day| *day != date(began.unwrap_or(0), zone)).map(|day| day + " ").unwrap_or_default();
    format!("{}–{later}{}", clock(began, zone), clock(last, zone))
}

/// What of a session its day's page is made from.
#[derive(Debug, Clone)]
pub struct Told<'a> {
    pub id: &'a str,
    pub project: &'a Project,
    /// The one it was on at its end.
    pub branch: Option<&'a str>,
    pub facts: &'a Facts,
    pub digest: &'a Digest,
    /// As [`Shown`] has it, like those that follow.
    pub goes_on: bool,
    pub closed: &'a [String],
    pub costs: BTreeMap<String, Option<f64>>,
    pub repeated_by: Option<&'a str>,
    pub page: &'a str,
}

/// What the page of its day says of a session.
#[derive(Debug, Clone)]
pub struct DayEntry {
    id: String,
    project: Project,
    began_at: Option<Millis>,
    /// Its own cost, and whether some of it is unknown.
    cost: (f64, bool),
    text: String,
}

impl DayEntry {
    pub fn of(one: &Shown<'_>, zone: &TimeZone) -> Self {
        let session = one.session;
        let told = Told {
            id: &session.id,
            project: &session.project,
            branch: session.branches.last().map(String::as_str),
            facts: &Facts::of(session),
            digest: one.digest,
            goes_on: one.goes_on,
            closed: one.closed,
            costs: one.costs.clone(),
            repeated_by: one.repeated_by,
            page: &one.page,
        };
        Self::told(&told, zone)
    }

    pub fn told(one: &Told<'_>, zone: &TimeZone) -> Self {
        let mut text = String::new();
        day_entry(&mut text, one, zone);
        let cost = session_cost(&one.costs);
        Self { id: one.id.to_owned(), project: one.project.clone(), began_at: one.facts.began_at, cost, text }
    }
}

/// The page of a day: its sessions in the order of their first prompts, and what was remembered on it.
pub fn day_page(day: &str, mut entries: Vec<DayEntry>, notes: &[Note], zone: &TimeZone) -> String {
    entries.sort_by(|a, b| (a.began_at, &a.id).cmp(&(b.began_at, &b.id)));
    let mut projects: Vec<&Project> = Vec::new();
    for one in &entries {
        if !projects.contains(&&one.project) {
            projects.push(&one.project);
        }
    }
    let mut page = day_front(day, &entries, &projects);
    for project in &projects {
        // A heading of this name begins the user's own section.
        let title = Some(heading(project.name())).filter(|name| name != "Notes").unwrap_or_else(|| "Notes (project)".to_owned());
        page.push_str(&format!("\n## {title}\n\n{}\n", code(&project.key)));
        entries.iter().filter(|one| one.project == **project).for_each(|one| page.push_str(&one.text));
    }
    section(&mut page, "Remembered", notes.iter().map(|note| note_line(note, zone)));
    page
}

fn note_line(note: &Note, zone: &TimeZone) -> String {
    let project = if note.project.key == EVERYWHERE { "all projects" } else { note.project.name() };
    let (text, kind, project) = (inline(&note.text), inline(&note.kind), inline(project));
    format!("{} {text} ({kind}, {project}) {}", clock(Some(note.at), zone), code(&note.id))
}

fn day_front(day: &str, entries: &[DayEntry], projects: &[&Project]) -> String {
    let names: Vec<String> = projects.iter().map(|project| yaml(&project.key)).collect();
    // An empty sum of floating-point numbers is -0.
    let cost = entries.iter().map(|one| one.cost.0).sum::<f64>() + 0.0;
    let unknown = entries.iter().any(|one| one.cost.1);
    let weekday =
        day.parse::<jiff::civil::Date>().map(|d| d.strftime("%A, %-d %B %Y").to_string()).unwrap_or_else(|_| day.to_owned());
    format!(
        "---\ndate: {day}\nprojects: [{}]\nsessions: {}\ncost_usd: {cost:.2}\ncost_complete: {}\n---\n\n# {weekday}\n",
        names.join(", "),
        entries.len(),
        !unknown,
    )
}

fn day_entry(page: &mut String, one: &Told<'_>, zone: &TimeZone) {
    let (facts, digest) = (one.facts, one.digest);
    let began = clock(facts.began_at, zone);
    if let Some(later) = one.repeated_by {
        page.push_str(&format!("\n### {began} {}\n\n{}\n", heading(&digest.title), again(one.id, later, "..")));
        return;
    }
    page.push_str(&format!(
        "\n### {began} {}\n\n{}{} · {} · [session page](sessions/{})\n",
        heading(&digest.title),
        span_of(facts.began_at, facts.last_at, zone),
        if one.goes_on { " so far, it goes on" } else { "" },
        effort(facts, one.branch),
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

/// The line that leads from a session to a later one that says nearly the same. `up` leads to the folder of the months.
fn again(session: &str, later: &str, up: &str) -> String {
    let path = later.trim_start_matches("daily/");
    let day = path.rsplit('/').next().and_then(|name| name.get(..10)).unwrap_or_default();
    format!(
        "Nearly the same as later, on [{day}]({up}/{path}); all of it: {}",
        code(&format!("recall show {} --full", crate::clean::id8(session)))
    )
}

fn file_name(file: &FileNote) -> String {
    format!("{}{}", code(&file.path), if file.verified { "" } else { " *(unverified)*" })
}

fn paragraph(page: &mut String, label: &str, text: &str) {
    if !text.is_empty() {
        page.push_str(&format!("\n**{label}** {}\n", inline(text)));
    }
}

fn bullets(page: &mut String, label: &str, lines: impl Iterator<Item = String>) {
    for (at, line) in lines.enumerate() {
        if at == 0 {
            page.push_str(&format!("\n**{label}**\n\n"));
        }
        page.push_str(&format!("- {line}\n"));
    }
}

fn claim_line(text: &str, claim: &Claim, max: usize) -> String {
    let mark = if claim.is_verified() { "" } else { " *(unverified)*" };
    format!("{}{mark}", inline(&shorten(text, max)))
}

/// Open items of a session with their ids; closed ones struck through.
fn open_lines<'a>(
    (session, digest, closed): (&'a str, &'a Digest, &'a [String]),
    kind: &'a str,
    claims: &'a [Claim],
) -> impl Iterator<Item = String> + 'a {
    let ids = digest.open_items(session).filter(move |(_, k, _)| *k == kind).map(|(id, ..)| id);
    claims.iter().zip(ids.collect::<Vec<_>>()).map(|(claim, id)| {
        let text = claim_line(&claim.text, claim, 220);
        match closed.contains(&id) {
            // Round nothing they would be a fence.
            true if text.is_empty() => format!("(done) {}", code(&id)),
            true => format!("~~{text}~~ (done) {}", code(&id)),
            false => format!("{text} {}", code(&id)),
        }
    })
}

/// `5 prompts · 12 files · $0.42`
fn effort(facts: &Facts, branch: Option<&str>) -> String {
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

/// The page of a session.
pub fn session_page(one: &Shown<'_>, zone: &TimeZone) -> String {
    let (session, digest) = (one.session, one.digest);
    let mut page = session_front(one, zone);
    page.push_str(&format!("\n# {}\n", heading(&digest.title)));
    if let Some(later) = one.repeated_by {
        page.push_str(&format!("\n{}\n", again(&session.id, later, "../..")));
        return page;
    }
    if one.goes_on {
        page.push_str(&format!("\n*So far: the session went on after {}.*\n", clock(session.last_at(), zone)));
    }
    if let Some(told) = session.left_out.told() {
        page.push_str(&format!("\n*This session is {told}.*\n"));
    }
    paragraph(&mut page, "Asked", &digest.request);
    let lists = [("Done", &digest.completed), ("Learned", &digest.learned), ("Looked into", &digest.investigated)];
    for (title, list) in lists {
        section(&mut page, title, list.iter().map(|t| inline(t)));
        if title == "Done" {
            section(&mut page, "Decisions", digest.decisions.iter().map(|c| claim_line(&c.text, c, 400)));
        }
    }
    let open = (session.id.as_str(), digest, one.closed);
    section(&mut page, "Blockers", open_lines(open, "blocker", &digest.blockers));
    section(&mut page, "Next", open_lines(open, "next", &digest.next_steps));
    section(&mut page, "Failed, and what fixed it", failures(session).iter().take(MAX_FAILURES).map(failure_line));
    section(&mut page, "Files", file_lines(one));
    timeline(&mut page, session, zone);
    evidence(&mut page, one);
    tokens(&mut page, one);
    page.push_str(&format!("\n## Resume\n\n```sh\n{}\n```\n", resume(session)));
    page
}

fn session_front(one: &Shown<'_>, zone: &TimeZone) -> String {
    let session = one.session;
    let cost = session_cost(&one.costs);
    let time =
        |at: Option<Millis>| at.map_or_else(|| "null".into(), |at| local(at, zone).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string());
    let list = |values: &[String]| values.iter().map(|v| yaml(v)).collect::<Vec<_>>().join(", ");
    format!(
        "---\nsession: {}\ndigest: {}\nsummarizer: {}\n{}project: {}\nbegan: {}\nended: {}\nended_by: {}\nbranches: [{}]\nclients: [{}]\ncost_usd: {:.2}\ncost_complete: {}\n---\n",
        yaml(&session.id),
        word(one.digest_id),
        word(one.summarizer),
        if one.goes_on { "interim: true\n" } else { "" },
        yaml(&session.project.key),
        time(session.began_at()),
        time(session.last_at()),
        session.end_reason.as_deref().map_or_else(|| "null".into(), yaml),
        list(&session.branches),
        list(&session.versions),
        cost.0,
        !cost.1,
    )
}

/// A word of ours; of another's index, which may be taken in, whatever it is.
fn word(text: &str) -> String {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if plain { text.to_owned() } else { yaml(text) }
}

fn section(page: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    for (at, line) in lines.enumerate() {
        if at == 0 {
            page.push_str(&format!("\n## {title}\n\n"));
        }
        page.push_str(&format!("- {line}\n"));
    }
}

fn failure_line(failure: &Failure) -> String {
    let times = if failure.times > 1 { format!(" ({} times)", failure.times) } else { String::new() };
    let why = if failure.brief.is_empty() { String::new() } else { format!(": {}", inline(&shorten(&failure.brief, 200))) };
    let fix = match failure.fix.as_ref().map(|fix| (fix.files.as_slice(), fix.command.as_ref())) {
        None => "not seen to pass afterwards".into(),
        Some(([], None)) => "passed later".into(),
        Some(([], Some(command))) => format!("passed after {}", code(&shorten(command, 120))),
        Some((files, _)) => {
            format!("passed after changes to {}", files.iter().take(4).map(|f| code(f)).collect::<Vec<_>>().join(", "))
        }
    };
    format!("{}{times}{why} — {fix}", code(&shorten(&failure.command, 120)))
}

fn file_lines(one: &Shown<'_>) -> impl Iterator<Item = String> {
    let named = one.digest.files.iter().filter(|f| !f.verified).map(file_name);
    let touched = one.session.files();
    let (read, changed): (Vec<_>, Vec<_>) = touched.into_iter().partition(|(_, t)| t.how == Touch::Read);
    let mut lines: Vec<String> = changed.iter().map(|(path, t)| format!("{} +{} −{}", code(path), t.added, t.removed)).collect();
    lines.extend(named);
    if !read.is_empty() {
        let names: Vec<String> = read.iter().take(30).map(|(path, _)| code(path)).collect();
        let more = read.len().saturating_sub(30);
        lines.push(format!("read: {}{}", names.join(", "), if more > 0 { format!(" and {more} more") } else { String::new() }));
    }
    lines.into_iter()
}

fn timeline(page: &mut String, session: &Session, zone: &TimeZone) {
    let mut lines: Vec<String> = Vec::new();
    for moment in moments(session, MAX_TIMELINE) {
        let number = moment.number.map_or(String::new(), |n| format!("#{n} "));
        let line = format!("{} {number}{}", clock(moment.entry.at, zone), line(session, moment.entry, 240, &MARKUP));
        if lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    let over = lines.len().saturating_sub(2 * MAX_TIMELINE);
    if over > 0 {
        // How it began and how it ended say more than the middle.
        let from = MAX_TIMELINE / 2;
        lines.splice(from..from + over, [format!("… {over} more")]);
    }
    section(page, "Timeline", lines.into_iter());
}

/// Which rows stand behind each decision and next step.
fn evidence(page: &mut String, one: &Shown<'_>) {
    let line = |claim: &Claim| {
        let rows = claim.rows.iter().map(|key| {
            let entry = one.session.entries.iter().find(|e| e.key == *key);
            format!("{} {}", code(&key.to_string()), entry.map(|e| quote(one.session, e, &claim.text)).unwrap_or_default())
        });
        format!("{} ← {}", inline(&shorten(&claim.text, 80)), rows.collect::<Vec<_>>().join("; "))
    };
    section(page, "Evidence", one.digest.claims().filter(|c| c.is_verified()).map(line));
}

/// What an entry says to a claim: of a longer text the sentence that shares most with it.
fn quote(session: &Session, entry: &Entry, claim: &str) -> String {
    let (Item::Reply(text) | Item::Plan(text) | Item::Away(text)) = &entry.item else {
        return line(session, entry, 120, &MARKUP);
    };
    let wanted = words(claim);
    let mut best = (0.0, String::new());
    for sentence in sentences(text) {
        let share = covered_by(&wanted, &words(&sentence));
        if share > best.0 {
            best = (share, sentence);
        }
    }
    inline(&shorten(&best.1, 120))
}

fn tokens(page: &mut String, one: &Shown<'_>) {
    let line = |(model, t): (&String, &Tokens)| {
        let cost = one.costs.get(model).copied().flatten().map_or_else(|| "price unknown".into(), |usd| format!("${usd:.2}"));
        let written = t.cache_write.saturating_add(t.cache_write_hour);
        format!(
            "{}: {} in, {} out, {written} written to and {} read from the cache, {cost}",
            code(model),
            t.input,
            t.output,
            t.cache_read
        )
    };
    section(page, "Tokens", one.session.usage.iter().map(line));
}

/// The command that continues a session, safe to paste.
fn resume(session: &Session) -> String {
    let quoted = |text: &str| {
        let plain =
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b)) && !text.starts_with('-');
        if plain {
            text.to_owned()
        } else {
            format!("'{}'", crate::clean::one_line(&crate::clean::plain(text)).replace('\'', "'\\''"))
        }
    };
    // What begins with a hyphen would be an option.
    let option = if session.id.starts_with('-') { "--resume=" } else { "--resume " };
    let resume = format!("claude {option}{}", quoted(&session.id));
    match &session.cwd {
        Some(cwd) if cwd.starts_with('-') => format!("cd -- {} && {resume}", quoted(cwd)),
        Some(cwd) => format!("cd {} && {resume}", quoted(cwd)),
        None => resume,
    }
}
