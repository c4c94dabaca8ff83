//! All projects.

use anyhow::Result;
use maud::html;

use crate::app::project_overview::known_projects;
use crate::web::addresses;
use crate::web::layout::Page;
use crate::web::viewer::Viewer;
use text::clean::counted;

pub(in crate::web) fn projects(viewer: &Viewer<'_>) -> Result<Page> {
    let all = known_projects(&viewer.memory)?;
    let body = html! {
        h1 { "Projects" }
        @if all.is_empty() { p { "No project is known yet." } }
        ul .sessions {
            @for one in &all {
                li {
                    span .when { (viewer.config.local_time(one.last_at, "%Y-%m-%d")) } " "
                    a href=(addresses::project(&one.key)) { (one.name) } " "
                    span .hint { (one.key) " · " (counted(one.sessions, "session")) }
                }
            }
        }
    };
    Ok(Page { title: "Projects".into(), address: addresses::PROJECTS.into(), place: addresses::PROJECTS, body })
}
