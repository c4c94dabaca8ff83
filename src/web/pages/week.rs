//! A week: its days with their sessions in a line each, and what they took.

use anyhow::Result;
use jiff::civil::Date;
use maud::{PreEscaped, html};

use crate::app::stats::GroupBy;
use crate::web::addresses;
use crate::web::charts::{Bar, bars};
use crate::web::layout::Page;
use crate::web::pages::day::{AT_LEAST, between, table, titles, total};
use crate::web::pages::days::MAX_DAYS;
use crate::web::viewer::Viewer;

/// The page of a week, by its name such as `2026-W47`; `None` if there is no such week, or no page in it.
pub(in crate::web) fn week(viewer: &Viewer<'_>, name: &str) -> Result<Option<Page>> {
    let Some(days) = addresses::days_of_week(name) else { return Ok(None) };
    let (monday, sunday) = (days[0], days[6]);
    let mut pages = Vec::new();
    for day in days {
        if let Some(markdown) = viewer.day_page(day)? {
            pages.push((day, viewer.read(&markdown)));
        }
    }
    if pages.is_empty() {
        return Ok(None);
    }
    let all = viewer.days(None, MAX_DAYS)?.days;
    let earlier = all.iter().map(|day| day.date).find(|day| *day < monday);
    let later = all.iter().rev().map(|day| day.date).find(|day| *day > sunday);
    let by_day = between(viewer, GroupBy::Day, monday, sunday)?;
    let by_project = between(viewer, GroupBy::Project, monday, sunday)?;
    let bar = |day: &Date| {
        let row = by_day.of(&day.to_string());
        Bar { name: day.strftime("%A").to_string(), value: row.cost_usd, told: row.told_cost(AT_LEAST), is_here: false }
    };
    let title = format!("Week of {}", monday.strftime("%-d %B %Y"));
    let body = html! {
        h1 { (title) }
        .figures {
            (bars("Cost at list price by day", &days.iter().map(bar).collect::<Vec<_>>()))
            (total(&by_day.total))
        }
        (table("Projects", &by_project))
        @for (day, page) in &pages {
            section .part {
                h2 { a href=(addresses::day(*day)) { (day.strftime("%A, %-d %B")) } }
                @for project in page.sections.iter().filter(|section| titles(&section.body).next().is_some()) {
                    h3 { (project.title) }
                    ul {
                        @for (title, address) in titles(&project.body) {
                            li { @match address { Some(address) => a href=(address) { (PreEscaped(title)) }, None => (PreEscaped(title)) } }
                        }
                    }
                }
            }
        }
        p {
            @if let Some(earlier) = earlier { a href=(addresses::week(earlier)) { "An earlier week" } " " }
            @if let Some(later) = later { a href=(addresses::week(later)) { "A later week" } }
        }
    };
    Ok(Some(Page { title, address: addresses::week(monday), place: addresses::DAYS, body }))
}
