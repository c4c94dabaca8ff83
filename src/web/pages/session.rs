//! A session: what was asked and done in it, with who said it and the rows behind it, and what can be done with it.

use anyhow::Result;
use maud::{Markup, PreEscaped, html};

use crate::app::list::title_of_session;
use crate::app::resume::resumption;
use crate::app::show::{Detail, show, whole_id};
use crate::app::wrong::{SaidOfSession, said_of};
use crate::model::digest::WITHOUT_MODEL;
use crate::render::html::{HtmlPage, HtmlSection};
use crate::render::page::read::head;
use crate::web::addresses;
use crate::web::layout::{Page, button, project_link};
use crate::web::pages::day::AT_LEAST;
use crate::web::viewer::Viewer;
use text::clean::{id8, one_line, shorten, without_controls};

/// Sections that are opened by whoever wants them.
const FOLDED: [&str; 4] = ["Turn by turn", "Evidence", "Tokens", "Resume"];
/// The section of the rows behind statements; each of its lines is `statement ← row what it says`.
const EVIDENCE: &str = "Evidence";
/// The most characters of what can be taken out, as it is listed.
const MAX_CHARS: usize = 200;

/// The page of the session with this whole id.
pub(in crate::web) fn session(viewer: &Viewer<'_>, id: &str) -> Result<Page> {
    let id = whole_id(&viewer.memory, id)?;
    let address = addresses::session(&id);
    let Ok(shown) = show(&viewer.memory, viewer.config, &id, Detail::Page) else { return without_digest(viewer, &id) };
    let read = viewer.read(&shown.text);
    let body = html! {
        h1 { (read.title) }
        (facts(&shown.text, &id))
        (tools(viewer, &id, &address)?)
        .lead { (PreEscaped(&read.lead)) }
        @for section in &read.sections { (part(section, &read, &id)) }
        (wrong(viewer, &id, &address))
    };
    Ok(Page { title: read.title, address, place: addresses::SESSIONS, body })
}

/// What can be said of a session that has no digest: what it is, in short.
fn without_digest(viewer: &Viewer<'_>, id: &str) -> Result<Page> {
    let shown = show(&viewer.memory, viewer.config, id, Detail::Brief)?;
    let read = viewer.read(&shown.text);
    let title = if read.title.is_empty() { title_of_session(&viewer.memory, id)?.unwrap_or_default() } else { read.title.clone() };
    let address = addresses::session(id);
    let body = html! {
        h1 { (title) }
        (tools(viewer, id, &address)?)
        .lead { (PreEscaped(&read.lead)) }
        @for section in &read.sections { (part(section, &read, id)) }
    };
    Ok(Page { title, address, place: addresses::SESSIONS, body })
}

/// What stands above the text of a session's page.
fn facts(page: &str, id: &str) -> Markup {
    let get = |key: &str| head(page, key).map(|value| value.trim_matches('"')).filter(|value| !["null", "[]", ""].contains(value));
    // Written like a string of JSON.
    let project = head(page, "project").and_then(|value| serde_json::from_str::<String>(value).ok()).filter(|key| !key.is_empty());
    let list = |text: &str| text.trim_matches(['[', ']']).replace('"', "");
    let cost = get("cost_usd").map(|usd| match (get("cost_complete"), usd) {
        (Some("false"), "0.00") => "cost unknown".to_owned(),
        (Some("false"), usd) => format!("{AT_LEAST}${usd}"),
        _ => format!("${usd}"),
    });
    let minute = |text: &str| text.get(..16).unwrap_or(text).replace('T', " ");
    let by = match (get("summarizer"), get("digest_model")) {
        (Some(WITHOUT_MODEL), _) => "quoted, without a model".to_owned(),
        (_, Some(model)) => format!("digest by {model}"),
        (Some(other), None) => format!("digest by {other}"),
        (None, None) => String::new(),
    };
    html! {
        p .facts {
            @if let Some(project) = &project { span .chip { (project_link(project, project)) } " " }
            @if let Some(began) = get("began") { (minute(began)) }
            @if let Some(ended) = get("ended") { "–" (ended.get(11..16).unwrap_or_default()) }
            @if let Some(branches) = get("branches") { " · " (list(branches)) }
            @if let Some(cost) = cost { " · " (cost) }
            @if !by.is_empty() { " · " (by) }
            " · " code { (id8(id)) }
        }
    }
}

fn tools(viewer: &Viewer<'_>, id: &str, address: &str) -> Result<Markup> {
    let resume = resumption(&viewer.memory, viewer.config, id);
    Ok(html! {
        .tools {
            @if let Ok(resume) = &resume {
                @let command = resume.command().line();
                label .copy { span { "Resume" } input type="text" readonly value=(command) aria-label="The command that resumes this session"; }
            }
            a href=(addresses::rows(id)) { "All rows" }
            @if viewer.is_served() {
                a href=(format!("{address}#wrong")) { "This is wrong" }
                a .danger href=(addresses::forget(id)) { "Forget this session" }
            }
        }
    })
}

fn part(section: &HtmlSection, page: &HtmlPage, id: &str) -> Markup {
    let (name, body) = (section.title.as_str(), section.body.as_str());
    let evidence = page.sections.iter().find(|one| one.title == EVIDENCE).map(|one| one.body.as_str()).unwrap_or_default();
    html! {
        @if FOLDED.contains(&name) {
            details .part id=(anchor(name)) {
                summary { h2 { (name) } }
                (PreEscaped(if name == EVIDENCE { with_links_to_rows(body, id) } else { body.to_owned() }))
            }
        } @else {
            section .part id=(anchor(name)) { h2 { (name) } (PreEscaped(with_links_to_evidence(body, evidence, id))) }
        }
    }
}

fn anchor(name: &str) -> String {
    name.to_lowercase().replace(' ', "-")
}

const ITEM: &str = "<li>";
const ITEM_END: &str = "</li>";
const ROW: &str = "<code>";
const ROW_END: &str = "</code>";
const ARROW: &str = " ← ";
/// Behind what was cut.
const CUT: char = '…';

/// The lines of a list, as HTML.
fn items(body: &str) -> impl Iterator<Item = &str> {
    body.split(ITEM).skip(1).filter_map(|rest| rest.split(ITEM_END).next())
}

/// The key of the first row on a line of the evidence.
fn first_row(line: &str) -> Option<&str> {
    let (_, rows) = line.split_once(ARROW)?;
    let key = rows.strip_prefix(ROW)?.split(ROW_END).next()?;
    is_key(key).then_some(key)
}

/// The names of rows lead to them: those that begin what stands behind an arrow or a semicolon.
fn with_links_to_rows(body: &str, id: &str) -> String {
    let rows = addresses::rows(id);
    let mut parts = body.split(ROW);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(ROW_END) {
            Some((key, rest)) if is_key(key) => out += &format!("<a href=\"{rows}#{key}\">{ROW}{}{ROW_END}</a>{rest}", &key[..8]),
            _ => out += &format!("{ROW}{part}"),
        }
    }
    out
}

/// Is it the key of a row, as a page names one?
fn is_key(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, b)| if [8, 13, 18, 23].contains(&at) { b == b'-' } else { b.is_ascii_hexdigit() })
}

/// Each statement leads to the first row behind it.
fn with_links_to_evidence(body: &str, evidence: &str, id: &str) -> String {
    let rows = addresses::rows(id);
    let known: Vec<(&str, &str)> = items(evidence).filter_map(|line| Some((line.split_once(ARROW)?.0, first_row(line)?))).collect();
    let mut parts = body.split(ITEM);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let text = part.split(ITEM_END).next().unwrap_or_default();
        let carried = known.iter().find(|(statement, _)| is_start_of(statement, text));
        match (carried, part.split_once(ITEM_END)) {
            (Some((_, key)), Some((text, rest))) => {
                out += &format!(
                    "{ITEM}{text} <a class=\"why\" href=\"{rows}#{key}\" aria-label=\"source: the row behind this\">source</a>{ITEM_END}{rest}"
                );
            }
            _ => out += &format!("{ITEM}{part}"),
        }
    }
    out
}

/// Is a statement of the evidence, which may be cut, this one?
fn is_start_of(statement: &str, text: &str) -> bool {
    let start = statement.strip_suffix(CUT);
    !statement.is_empty()
        && start.map_or_else(
            || text == statement || text.strip_prefix(statement).is_some_and(|rest| rest.starts_with(" <code>")),
            |start| text.starts_with(start),
        )
}

/// What was said of the session and can be taken out, or brought back.
fn wrong(viewer: &Viewer<'_>, id: &str, address: &str) -> Markup {
    let Some(SaidOfSession { statements, replies, denials }) = said_of(&viewer.memory, id).ok().filter(|_| viewer.is_served())
    else {
        return html! {};
    };
    let told = |text: &str| shorten(&one_line(&without_controls(text)), MAX_CHARS);
    let back = format!("{address}#wrong");
    html! {
        details .part {
            summary { h2 { "This is wrong" } }
            // Within it: a browser opens what holds the target of a link.
            p .hint #wrong { "What you hide is told nowhere any more: on no page, in no search, at no session's start." }
            ul .acts {
                @for one in &statements {
                    li { span .kind { (one.kind) } " " (told(&one.text)) (button(viewer, addresses::WRONG, &one.id, &back, "Hide", &format!("Hide: {}", told(&one.text)))) }
                }
                @for one in replies.iter().filter(|one| !one.is_taken_out()) {
                    li { span .kind { "reply, turn " (one.turn) } " " (told(&one.text))
                        (button(viewer, addresses::WRONG, &reply_id(id, one.turn), &back, "Hide", &format!("Hide the reply of turn {}", one.turn))) }
                }
            }
            @if !denials.is_empty() || replies.iter().any(|one| one.is_taken_out()) {
                h3 { "Hidden" }
                ul .acts {
                    @for one in &denials {
                        li { (one.hides.first().map_or_else(|| "(its words are not in this index)".to_owned(), |hidden| told(&hidden.text)))
                            (button(viewer, addresses::NOT_WRONG, &one.id, &back, "Show again", &format!("Show again: {}", one.id))) }
                    }
                    @for one in replies.iter().filter(|one| one.is_taken_out()) {
                        li { span .kind { "reply, turn " (one.turn) } " to " (told(&one.to))
                            (button(viewer, addresses::NOT_WRONG, &reply_id(id, one.turn), &back, "Show again", &format!("Show the reply of turn {} again", one.turn))) }
                    }
                }
            }
        }
    }
}

/// By what a form names a reply.
fn reply_id(session: &str, turn: usize) -> String {
    format!("{session} {turn}")
}

/// The session and the turn of such a name.
pub(in crate::web) fn read_reply_id(id: &str) -> Option<(&str, usize)> {
    let (session, turn) = id.rsplit_once(' ')?;
    Some((session, turn.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "b83e24e5-eef8-4951-9a34-bd3c54dda995";

    #[test]
    fn a_statement_leads_to_the_row_behind_it() {
        let evidence = format!(
            "<ul>\n<li>Keyset pages ← <code>{KEY}</code> said so</li>\n<li>A long statem… ← <code>{KEY}</code> x</li>\n<li>No ← x</li></ul>"
        );
        let linked =
            with_links_to_evidence("<ul>\n<li>Keyset pages</li>\n<li>A long statement</li>\n<li>No</li>\n</ul>", &evidence, "s1");
        assert_eq!(linked.matches(&format!("rows/s1.html#{KEY}")).count(), 2, "{linked}");
        assert!(linked.contains("<li>No</li>"));
        let rows = with_links_to_rows(&evidence, "s1");
        assert!(rows.contains(&format!("<a href=\"rows/s1.html#{KEY}\"><code>b83e24e5</code></a> said so")), "{rows}");
    }

    #[test]
    fn only_the_key_of_a_row_is_one() {
        assert!(is_key(KEY));
        for other in ["", "b83e24e5", "\"><script>alert(1)</script>xxxxxxxxxxx", &KEY.replace('-', "x")] {
            assert!(!is_key(other), "{other}");
        }
    }

    #[test]
    fn a_reply_is_named_by_session_and_turn() {
        assert_eq!(read_reply_id(&reply_id("a b", 3)), Some(("a b", 3)));
        assert_eq!(read_reply_id("n842bd9d3"), None);
    }
}
