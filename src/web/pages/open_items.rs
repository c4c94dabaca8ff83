//! What is open, in all projects.

use anyhow::Result;
use maud::{Markup, html};

use crate::app::close_items::{OpenLine, open_everywhere, recent_since};
use crate::web::addresses;
use crate::web::layout::{Page, button, project_link};
use crate::web::viewer::Viewer;
use text::clean::{id8, one_line, without_controls};

pub(in crate::web) fn open_items(viewer: &Viewer<'_>) -> Result<Page> {
    let all = open_everywhere(&viewer.memory, viewer.config, None, recent_since(viewer.config.now()))?;
    let body = html! {
        h1 { "Open items" }
        @if all.is_empty() { p { "Nothing is open." } }
        @for project in &all {
            section .part {
                @let name = project.project.rsplit('/').next().unwrap_or_default();
                h2 { (project_link(&project.project, name)) }
                @if name != project.project { p .facts { (project.project) } }
                (items(viewer, &project.items, addresses::OPEN_ITEMS))
                @if !project.sessions.is_empty() {
                    h3 { "Sessions that were left" }
                    ul {
                        @for one in &project.sessions {
                            li {
                                span .when { (viewer.config.local_time(one.at, "%Y-%m-%d")) } " " a href=(addresses::session(&one.session)) { (id8(&one.session)) } " " (one.in_words())
                            }
                        }
                    }
                }
                @for person in &project.team {
                    h3 { (person.by) ", of your team" }
                    ul {
                        @for one in &person.items {
                            li {
                                span .when { (viewer.config.local_time(Some(one.last_at), "%Y-%m-%d")) } " " span .kind { (one.kind) } " " (one.text) " " code { (one.id) }
                            }
                        }
                    }
                }
            }
        }
    };
    Ok(Page { title: "Open items".into(), address: addresses::OPEN_ITEMS.into(), place: addresses::OPEN_ITEMS, body })
}

/// Open items with a button that closes each; it leads back to the address.
pub(super) fn items(viewer: &Viewer<'_>, items: &[OpenLine], back: &str) -> Markup {
    let day = |at| viewer.config.local_time(Some(at), "%Y-%m-%d");
    let today = viewer.today().to_string();
    html! {
        ul .acts {
            @for one in items {
                @let text = one_line(&without_controls(&one.text));
                li {
                    span .when { (day(one.last_at)) } " " span .kind { (one.kind) } " "
                    @match &one.session {
                        Some(session) => a href=(addresses::session(session)) { (text) },
                        None => a href=(addresses::note(&one.id)) { (text) },
                    }
                    @if let Some(due) = &one.due { " " span .remark { @if *due < today { "overdue since " } @else { "due " } (due) } }
                    " " code { (one.id) }
                    (button(viewer, addresses::CLOSE, &one.id, back, "Close", &format!("Close: {text}")))
                }
            }
        }
    }
}
