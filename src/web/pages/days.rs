//! All days that have a page.

use std::collections::BTreeMap;

use anyhow::Result;
use jiff::civil::Date;
use maud::html;

use crate::web::addresses;
use crate::web::layout::Page;
use crate::web::viewer::Viewer;

/// More than ten years.
pub(super) const MAX_DAYS: usize = 4_000;

pub(in crate::web) fn days(viewer: &Viewer<'_>) -> Result<Page> {
    let listed = viewer.days(None, MAX_DAYS)?;
    let mut months: BTreeMap<(i16, i8), Vec<Date>> = BTreeMap::new();
    for day in &listed.days {
        months.entry((day.date.year(), day.date.month())).or_default().push(day.date);
    }
    let body = html! {
        h1 { "Days" }
        @if listed.days.is_empty() { p { "No day has a page yet." } }
        @for days in months.values_mut().rev() {
            @if let Some(first) = days.first() { h2 { (first.strftime("%B %Y")) } }
            ul .days {
                @for day in days.iter() { li { a href=(addresses::day(*day)) { (day.strftime("%A, %-d")) } } }
            }
        }
    };
    Ok(Page { title: "Days".into(), address: addresses::DAYS.into(), place: addresses::DAYS, body })
}
