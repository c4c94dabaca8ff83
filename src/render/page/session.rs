//! The page of a session: where it ended, or what a model said of it with the evidence; what was said and done; cost, and how to resume it.

use jiff::tz::TimeZone;

use super::evidence::evidence;
use super::lines::{ListedItems, paragraph, repeated_line, section, since_then, title};
use super::{PaidDigest, SessionPageInput, account, clock, local};
use crate::analyze::account::SessionAccount;
use crate::model::digest::is_by_model;
use crate::model::price::session_cost;
use crate::model::section::{View, shown_in};
use text::markdown::{code, heading, yaml};
use transcripts::session::{Millis, Tokens};
use transcripts::source::{ResumeCommand, can_resume};

/// Renders the page of a session.
pub fn session_page(one: &SessionPageInput<'_>, zone: &TimeZone) -> String {
    session_page_of(one, &SessionAccount::of(one.session, one.goes_on), zone)
}

/// As [`session_page`], where the session's account is at hand.
pub(crate) fn session_page_of(one: &SessionPageInput<'_>, told: &SessionAccount, zone: &TimeZone) -> String {
    let session = one.session;
    let mut page = session_front(one, zone);
    page.push_str(&format!("\n# {}\n", heading(&title(one.summarizer, one.digest, told))));
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
    page.push_str(&since_then((one.items, one.overtaken), session.last_at(), told, zone));
    if !is_by_model(one.summarizer) {
        account::ended(&mut page, told, zone);
        account::open(&mut page, told, zone);
    } else {
        paragraph(&mut page, "Asked", &one.digest.request);
        if one.digest.is_quoted() {
            page.push_str("\n*A model chose these sentences and commands of the session.*\n");
        }
    }
    let items = ListedItems { session: &session.id, digest: one.digest, items: one.items, summarizer: one.summarizer, zone };
    for (shown, sections) in shown_in(View::Page) {
        section(&mut page, shown.label, sections.into_iter().flat_map(|section| items.lines(section, shown, told)));
    }
    account::turns(&mut page, told, zone);
    account::shown(&mut page, told, zone);
    account::receipt(&mut page, told);
    if is_by_model(one.summarizer) {
        evidence(&mut page, one);
    }
    tokens(&mut page, one);
    if let Some(told) = &session.told {
        page.push_str(&format!("\n*On the machine {}: its transcript is there.*\n", code(&told.machine)));
    } else if can_resume(session.client, &session.id) {
        let resume = ResumeCommand {
            client: session.client,
            program: session.client.program(),
            session: &session.id,
            folder: session.cwd.as_deref(),
        };
        page.push_str(&format!("\n## Resume\n\n```sh\n{}\n```\n", resume.line()));
    }
    page
}

fn session_front(one: &SessionPageInput<'_>, zone: &TimeZone) -> String {
    let session = one.session;
    let cost = session_cost(&one.costs);
    let time =
        |at: Option<Millis>| at.map_or_else(|| "null".into(), |at| local(at, zone).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string());
    let list = |values: &[String]| values.iter().map(|v| yaml(v)).collect::<Vec<_>>().join(", ");
    format!(
        "---\nsession: {}\n{}{}digest: {}\nsummarizer: {}\n{}{}project: {}\nbegan: {}\nended: {}\nended_by: {}\nbranches: [{}]\nclients: [{}]\ncost_usd: {:.2}\ncost_complete: {}\n---\n",
        yaml(&session.id),
        if session.client.is_usual() { String::new() } else { format!("agent: {}\n", session.client.key()) },
        session.told.as_ref().map(|told| format!("machine: {}\n", yaml(&told.machine))).unwrap_or_default(),
        plain_or_yaml(one.digest_id),
        plain_or_yaml(one.summarizer),
        one.paid.map(|paid| paid_lines(&paid)).unwrap_or_default(),
        if one.goes_on { "interim: true\n" } else { "" },
        yaml(&session.project.key),
        time(session.began_at()),
        time(session.last_at()),
        session.end_reason.as_deref().map_or_else(|| "null".into(), yaml),
        list(&session.branches),
        list(&session.versions),
        cost.0,
        !cost.1 && !session.lacks_usage(),
    )
}

/// What the call cost, so that money is not forgotten with an index that is lost.
fn paid_lines(paid: &PaidDigest<'_>) -> String {
    let cost = paid.cost_usd.filter(|usd| usd.is_finite()).map_or_else(|| "null".into(), |usd| usd.to_string());
    let model = paid.model.map_or_else(|| "null".into(), yaml);
    let outdated = if paid.is_outdated { "digest_outdated: true\n" } else { "" };
    format!("digest_model: {model}\ndigest_cost_usd: {cost}\n{outdated}")
}

/// Plain if it is a word of recall's own; quoted otherwise, because an imported index may hold anything.
fn plain_or_yaml(text: &str) -> String {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if plain { text.to_owned() } else { yaml(text) }
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
