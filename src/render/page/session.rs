//! The page of a session: outcome, failures, timeline, evidence for each claim, cost, and how to resume it.

use jiff::tz::TimeZone;

use super::lines::{claim_line, file_name, open_lines, paragraph, repeated_line, section};
use super::{SessionPageInput, clock, local};
use crate::analyze::failures::{FailedCommand, failures};
use crate::analyze::highlights::{Markup, highlights, line};
use crate::analyze::prose::sentences;
use crate::model::digest::Claim;
use crate::model::price::session_cost;
use crate::model::session::{Answer, Entry, Item, Millis, Session, Tokens, Touch};
use crate::text::clean::shorten;
use crate::text::markdown::{code, heading, inline, yaml};
use crate::text::tokenize::{covered_by, distinctive_words};

/// The most timeline entries beside the user's words; the most important stay.
const MAX_TIMELINE_ENTRIES: usize = 60;
const MAX_FAILURES: usize = 12;
const MARKUP: Markup = Markup { words: inline, command: code, who: |name| format!("**{name}**") };

/// Renders the page of a session.
pub fn session_page(one: &SessionPageInput<'_>, zone: &TimeZone) -> String {
    let (session, digest) = (one.session, one.digest);
    let mut page = session_front(one, zone);
    page.push_str(&format!("\n# {}\n", heading(&digest.title)));
    if let Some(later) = one.repeated_by {
        page.push_str(&format!("\n{}\n", repeated_line(&session.id, later, "../..")));
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

fn session_front(one: &SessionPageInput<'_>, zone: &TimeZone) -> String {
    let session = one.session;
    let cost = session_cost(&one.costs);
    let time =
        |at: Option<Millis>| at.map_or_else(|| "null".into(), |at| local(at, zone).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string());
    let list = |values: &[String]| values.iter().map(|v| yaml(v)).collect::<Vec<_>>().join(", ");
    format!(
        "---\nsession: {}\ndigest: {}\nsummarizer: {}\n{}project: {}\nbegan: {}\nended: {}\nended_by: {}\nbranches: [{}]\nclients: [{}]\ncost_usd: {:.2}\ncost_complete: {}\n---\n",
        yaml(&session.id),
        plain_or_yaml(one.digest_id),
        plain_or_yaml(one.summarizer),
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

/// Plain if it is a word of recall's own; quoted otherwise, because an imported index may hold anything.
fn plain_or_yaml(text: &str) -> String {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if plain { text.to_owned() } else { yaml(text) }
}

fn failure_line(failure: &FailedCommand) -> String {
    let times = if failure.times > 1 { format!(" ({} times)", failure.times) } else { String::new() };
    let how = failure.describe(180);
    let why = if how.is_empty() { how } else { format!(": {}", inline(&how)) };
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

fn file_lines(one: &SessionPageInput<'_>) -> impl Iterator<Item = String> {
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
    for moment in highlights(session, MAX_TIMELINE_ENTRIES) {
        let number = moment.number.map_or(String::new(), |n| format!("#{n} "));
        let line = format!("{} {number}{}", clock(moment.entry.at, zone), line(session, moment.entry, 240, &MARKUP));
        if lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    let over = lines.len().saturating_sub(2 * MAX_TIMELINE_ENTRIES);
    if over > 0 {
        // Beginning and end say more than the middle.
        let from = MAX_TIMELINE_ENTRIES / 2;
        lines.splice(from..from + over, [format!("… {over} more")]);
    }
    section(page, "Timeline", lines.into_iter());
}

/// The records that support each decision and next step.
fn evidence(page: &mut String, one: &SessionPageInput<'_>) {
    let line = |claim: &Claim| {
        let rows = claim.rows.iter().map(|key| {
            let entry = one.session.entries.iter().find(|e| e.key == *key);
            format!(
                "{} {}",
                code(&key.to_string()),
                entry.map(|e| supporting_text(one.session, e, &claim.text)).unwrap_or_default()
            )
        });
        format!("{} ← {}", inline(&Answer::shorten_line(&claim.text, 80)), rows.collect::<Vec<_>>().join("; "))
    };
    section(page, "Evidence", one.digest.claims().filter(|c| c.is_verified()).map(line));
}

/// What an entry contributes to a claim: of a longer text, the sentence that shares the most words with it.
fn supporting_text(session: &Session, entry: &Entry, claim: &str) -> String {
    let (Item::Reply(text) | Item::Plan(text) | Item::Away(text)) = &entry.item else {
        return line(session, entry, 120, &MARKUP);
    };
    let wanted = distinctive_words(claim);
    let mut best = (0.0, String::new());
    for sentence in sentences(text) {
        let share = covered_by(&wanted, &distinctive_words(&sentence));
        if share > best.0 {
            best = (share, sentence);
        }
    }
    inline(&shorten(&best.1, 120))
}

fn tokens(page: &mut String, one: &SessionPageInput<'_>) {
    let line = |(model, t): (&String, &Tokens)| {
        let cost = one
            .costs
            .get(model)
            .copied()
            .flatten()
            .map_or_else(|| "price unknown".into(), |usd| format!("${usd:.2} at list price"));
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

/// The command that resumes a session, safe to paste.
fn resume(session: &Session) -> String {
    let quoted = |text: &str| {
        let plain =
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b)) && !text.starts_with('-');
        if plain {
            text.to_owned()
        } else {
            format!("'{}'", crate::text::clean::one_line(&crate::text::clean::without_controls(text)).replace('\'', "'\\''"))
        }
    };
    // An id that begins with a hyphen would be parsed as an option.
    let option = if session.id.starts_with('-') { "--resume=" } else { "--resume " };
    let resume = format!("claude {option}{}", quoted(&session.id));
    match &session.cwd {
        Some(cwd) if cwd.starts_with('-') => format!("cd -- {} && {resume}", quoted(cwd)),
        Some(cwd) => format!("cd {} && {resume}", quoted(cwd)),
        None => resume,
    }
}
