//! A day: what was done in each session, and what it took.

use anyhow::Result;
use jiff::ToSpan;
use jiff::civil::Date;
use maud::{Markup, PreEscaped, html};

use crate::app::stats::{Figures, GroupBy, StatsReply, StatsRequest, stats};
use crate::web::addresses;
use crate::web::charts::{Bar, bars};
use crate::web::layout::{Page, home, running_digest};
use crate::web::viewer::Viewer;
use text::clean::counted;

/// Before a cost of which more is not known.
pub(super) const AT_LEAST: &str = "at least ";
/// The days of the chart, of which the last is the page's.
const CHART_DAYS: i64 = 14;

/// The page of a day; `None` if it has none.
pub(in crate::web) fn day(viewer: &Viewer<'_>, date: Date) -> Result<Option<Page>> {
    let Some(markdown) = viewer.day_page(date)? else { return Ok(None) };
    let read = viewer.read(&markdown);
    let figures = figures(viewer, date)?;
    let (last, footer) = split_footer(read.sections.last().map_or("", |section| &section.body));
    let body = html! {
        h1 { (read.title) }
        (figures)
        .lead { (PreEscaped(&read.lead)) }
        @for (at, section) in read.sections.iter().enumerate() {
            (project(&section.title, if at + 1 == read.sections.len() { last } else { &section.body }))
        }
        (PreEscaped(footer))
        p { a href=(addresses::week(date)) { "The week of this day" } }
    };
    Ok(Some(Page { title: read.title, address: addresses::day(date), place: addresses::DAYS, body }))
}

/// The newest day, as the first page.
pub(in crate::web) fn newest(viewer: &Viewer<'_>) -> Result<Page> {
    let newest = viewer.days(None, 1)?.days.first().map(|day| day.date);
    let page = newest.map(|date| day(viewer, date)).transpose()?.flatten();
    let address = home(viewer.is_served()).to_owned();
    let Some(page) = page else {
        let body = html! {
            h1 { "No day has a page yet" }
            (running_digest(viewer))
            p { code { "recall digest" } " reads your sessions and writes the first pages." }
        };
        return Ok(Page { title: "No page yet".into(), address, place: "", body });
    };
    let is_today = newest == Some(viewer.today());
    let body = html! {
        (running_digest(viewer))
        @if !is_today { p .hint { "Today has no page yet. This is the newest day." } }
        (page.body)
    };
    Ok(Page { address, body, place: "", ..page })
}

fn project(title: &str, body: &str) -> Markup {
    html! { section .project { h2 { (title) } (PreEscaped(with_links(body))) } }
}

/// The end of a page's text, before and from its last paragraph on: that leads to other days, and so belongs to the whole page.
fn split_footer(body: &str) -> (&str, &str) {
    let leads_to_days = |at: &usize| body[*at..].contains(&format!("<a href=\"{}\">", addresses::DAYS));
    body.split_at(body.rfind("<p>").filter(leads_to_days).unwrap_or(body.len()))
}

const TITLE: &str = "<h3>";
const TITLE_END: &str = "</h3>";

/// The sessions of a part of a page: the title of each, as HTML, with the address of its page if it has one.
pub(super) fn titles(body: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    body.split(TITLE).skip(1).filter_map(|part| {
        let (title, rest) = part.split_once(TITLE_END)?;
        let address = rest.split("<a href=\"").skip(1).filter_map(|link| link.split('"').next());
        Some((title, address.into_iter().find(|address| addresses::is_session(address))))
    })
}

/// The title of a session leads to its page.
fn with_links(body: &str) -> String {
    let mut out = body.split(TITLE).next().unwrap_or_default().to_owned();
    for (part, (title, address)) in body.split(TITLE).skip(1).zip(titles(body)) {
        let rest = part.split_once(TITLE_END).map_or("", |(_, rest)| rest);
        out += &match address {
            Some(address) => format!("{TITLE}<a href=\"{address}\">{title}</a>{TITLE_END}{rest}"),
            None => format!("{TITLE}{title}{TITLE_END}{rest}"),
        };
    }
    out
}

fn figures(viewer: &Viewer<'_>, date: Date) -> Result<Markup> {
    let first = date.saturating_sub((CHART_DAYS - 1).days());
    let by_day = between(viewer, GroupBy::Day, first, date)?;
    let chart = |caption: &str, value: fn(&Figures) -> f64, told: fn(&Figures) -> String| {
        let bar = |back: i64| {
            let day = date.saturating_sub(back.days()).to_string();
            let row = by_day.of(&day);
            Bar { is_here: back == 0, value: value(&row), told: told(&row), name: day }
        };
        bars(caption, &(0..CHART_DAYS).rev().map(bar).collect::<Vec<_>>())
    };
    let by_project = between(viewer, GroupBy::Project, date, date)?;
    let by_agent = between(viewer, GroupBy::Agent, date, date)?;
    Ok(html! {
        .figures {
            (chart("Cost at list price, 14 days", |row| row.cost_usd, |row| row.told_cost(AT_LEAST)))
            (chart("Tokens, 14 days", |row| row.tokens() as f64, |row| tokens(row.tokens())))
            (total(&by_day.of(&date.to_string())))
        }
        @if by_project.rows.len() > 1 || by_agent.rows.len() > 1 {
            details { summary { "By project and agent" } (table("Projects", &by_project)) (table("Agents", &by_agent)) }
        }
    })
}

/// Figures in a line.
pub(super) fn total(all: &Figures) -> Markup {
    html! {
        p .total {
            (counted(all.sessions, "session")) ", " (counted(all.turns, "turn")) ", " (counted(all.commits, "commit")) ", "
            (tokens(all.tokens())) " tokens, " (cost(all))
        }
    }
}

/// The figures of some days, both included.
pub(super) fn between(viewer: &Viewer<'_>, by: GroupBy, first: Date, last: Date) -> Result<StatsReply> {
    let end = last.saturating_add(1.day()).to_zoned(viewer.config.time_zone.clone())?.timestamp().as_millisecond();
    let since = first.to_string();
    stats(&viewer.memory, viewer.config, &StatsRequest { by, project: None, since: Some(&since), before: Some(end) })
}

pub(super) fn table(what: &str, reply: &StatsReply) -> Markup {
    html! {
        .wide { table {
            thead { tr { th scope="col" { (what) } th scope="col" { "Sessions" } th scope="col" { "Commits" } th scope="col" { "Tokens" } th scope="col" { "Cost" } } }
            tbody {
                @for row in &reply.rows {
                    tr { th scope="row" { (row.name) } td { (row.sessions) } td { (row.commits) } td { (tokens(row.tokens())) } td { (row.told_cost(AT_LEAST)) } }
                }
            }
        } }
    }
}

/// Behind a comma: `$1.20`, `at least $1.20`, `cost unknown`.
fn cost(all: &Figures) -> String {
    let told = all.told_cost(AT_LEAST);
    if told.contains('$') { told } else { format!("cost {told}") }
}

pub(super) fn usd(amount: f64) -> String {
    format!("${amount:.2}")
}

/// A count of tokens in few characters.
fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{:.0}k", count as f64 / 1e3),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_other_days_stands_below_the_sessions() {
        let body = "<p>x</p>\n<p>← <a href=\"day/2026-11-19.html\">y</a> · <a href=\"days.html\">all days</a></p>";
        assert_eq!(split_footer(body), ("<p>x</p>\n", &body[9..]));
        assert_eq!(split_footer("<p>days.html</p>"), ("<p>days.html</p>", ""));
        assert_eq!(split_footer(""), ("", ""));
    }

    #[test]
    fn the_title_of_a_session_leads_to_its_page() {
        let body = "<p>x</p><h3>10:00 A</h3><p><a href=\"session/s1.html\">page</a></p><h3>11:00 B</h3><p>none</p>";
        assert_eq!(titles(body).collect::<Vec<_>>(), [("10:00 A", Some("session/s1.html")), ("11:00 B", None)]);
        let linked = "<p>x</p><h3><a href=\"session/s1.html\">10:00 A</a></h3><p><a href=\"session/s1.html\">page</a></p><h3>11:00 B</h3><p>none</p>";
        assert_eq!(with_links(body), linked);
    }
}
