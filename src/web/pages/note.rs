//! A note, or a memory file of Claude's, whole.

use anyhow::Result;
use maud::{PreEscaped, html};

use crate::app::show::{Detail, show};
use crate::web::addresses;
use crate::web::layout::Page;
use crate::web::viewer::Viewer;
use text::clean::{one_line, shorten, without_controls};

const MAX_TITLE_CHARS: usize = 100;

pub(in crate::web) fn note(viewer: &Viewer<'_>, id: &str) -> Result<Page> {
    let shown = show(&viewer.memory, viewer.config, id, Detail::Page)?;
    let read = viewer.read(&shown.text);
    // What it says is its title; what it is stands below.
    let words = shown.text.lines().skip(1).find(|line| !line.trim().is_empty()).unwrap_or_default();
    let title = shorten(&one_line(&without_controls(words)), MAX_TITLE_CHARS);
    let body = html! {
        h1 { (title) }
        p .facts { (read.title) }
        .lead { (PreEscaped(&read.lead)) }
        @for section in &read.sections { section .part { h2 { (section.title) } (PreEscaped(&section.body)) } }
    };
    Ok(Page { title, address: addresses::note(&shown.id), place: addresses::SEARCH, body })
}
