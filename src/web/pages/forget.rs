//! The question whether a session is to be forgotten for good.

use anyhow::Result;
use maud::html;

use crate::app::list::title_of_session;
use crate::app::show::whole_id;
use crate::web::addresses;
use crate::web::layout::{Page, button};
use crate::web::viewer::Viewer;

pub(in crate::web) fn question(viewer: &Viewer<'_>, id: &str) -> Result<Page> {
    let id = whole_id(&viewer.memory, id)?;
    let title = title_of_session(&viewer.memory, &id)?.unwrap_or_default();
    let body = html! {
        h1 { "Forget this session?" }
        p { strong { (title) } " " code { (id) } }
        p { "Its rows, digest and pages are deleted, and it is never read again. Its transcript, which is not recall's, stays where it is. This cannot be undone." }
        .tools {
            (button(viewer, addresses::FORGET, &id, "", "Forget it for good", &format!("Forget it for good: {title}")))
            a href=(addresses::session(&id)) { "Keep it" }
        }
    };
    Ok(Page { title: "Forget this session?".into(), address: addresses::forget(&id), place: addresses::SESSIONS, body })
}
