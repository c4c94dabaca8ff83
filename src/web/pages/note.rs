//! A note, or a memory file of Claude's, whole.

use anyhow::Result;
use maud::{PreEscaped, html};

use crate::app::show::{Detail, show};
use crate::web::addresses;
use crate::web::layout::Page;
use crate::web::viewer::Viewer;

pub(in crate::web) fn note(viewer: &Viewer<'_>, id: &str) -> Result<Page> {
    let shown = show(&viewer.memory, viewer.config, id, Detail::Page)?;
    let read = viewer.read(&shown.text);
    let body = html! {
        h1 { (read.title) }
        .lead { (PreEscaped(&read.lead)) }
        @for section in &read.sections { section .part { h2 { (section.title) } (PreEscaped(&section.body)) } }
    };
    Ok(Page { title: read.title, address: addresses::note(&shown.id), place: addresses::SEARCH, body })
}
