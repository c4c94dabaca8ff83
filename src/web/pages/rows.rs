//! What is stored of a session, row by row: what statements on its page are held against.

use anyhow::Result;
use maud::html;

use crate::app::list::title_of_session;
use crate::app::show::{SessionItems, items, since_then};
use crate::web::addresses;
use crate::web::layout::Page;
use crate::web::viewer::Viewer;
use text::clean::shorten;

/// The most characters of a row.
const MAX_ROW_CHARS: usize = 4_000;
/// What is longer is folded.
const SHORT: usize = 400;

pub(in crate::web) fn rows(viewer: &Viewer<'_>, id: &str) -> Result<Page> {
    let SessionItems { id, items, left_out, unsupported } = items(&viewer.memory, id, MAX_ROW_CHARS)?;
    let since_then = since_then(&viewer.memory, viewer.config, &id)?;
    let title = title_of_session(&viewer.memory, &id)?.unwrap_or_default();
    let time = |at| viewer.config.local_time(at, "%H:%M");
    let body = html! {
        h1 { "All rows" }
        p { a href=(addresses::session(&id)) { (title) } }
        @for line in &since_then { p .since { (line) } }
        @if let Some(left_out) = &left_out { p .hint { (left_out) } }
        ol .rows {
            @for one in &items {
                li class={ "row " (one.kind) } id=[one.rows.first()] {
                    @for key in one.rows.iter().skip(1) { span id=(key) {} }
                    @if one.at.is_some() { span .when { (time(one.at)) } " " }
                    span .kind { (one.kind) @if one.times > 1 { " ×" (one.times) } @if one.agent.is_some() { ", subagent" } } " "
                    @if one.text.chars().count() > SHORT {
                        details { summary { (shorten(&one.text, SHORT)) } p { (one.text) } }
                    } @else { span { (one.text) } }
                }
            }
        }
        @if !unsupported.is_empty() {
            h2 { "Said by the model, supported by no row" }
            p .hint { "These statements are told nowhere else." }
            ul { @for (kind, text) in &unsupported { li { span .kind { (kind) } " " (text) } } }
        }
    };
    Ok(Page { title: format!("All rows: {title}"), address: addresses::rows(&id), place: addresses::SESSIONS, body })
}
