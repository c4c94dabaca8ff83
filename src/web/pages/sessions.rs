//! The sessions, newest first.

use anyhow::Result;
use maud::{Markup, html};

use crate::app::list::{ListReply, ListRequest, ListedSession, list};
use crate::web::addresses;
use crate::web::layout::{Page, project_link};
use crate::web::viewer::Viewer;
use transcripts::client::Client;

/// Sessions on a page; a file holds all of them.
const A_PAGE: usize = 250;

/// What a list was narrowed to, as its address says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::web) struct Narrowing {
    pub(in crate::web) project: Option<String>,
    pub(in crate::web) agent: Option<String>,
    /// How many newer ones are on the pages before.
    pub(in crate::web) skip: usize,
}

pub(in crate::web) fn sessions(viewer: &Viewer<'_>, narrowed: &Narrowing) -> Result<Page> {
    let limit = if viewer.is_served() { A_PAGE } else { usize::MAX };
    let client = narrowed.agent.as_deref().and_then(Client::named);
    let asked = ListRequest { project: narrowed.project.as_deref(), client, since: None, skip: narrowed.skip, limit };
    let ListReply { sessions, more } = list(&viewer.memory, viewer.config, &asked)?;
    let what = [narrowed.project.as_deref(), client.map(Client::name)].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let body = html! {
        h1 { "Sessions" @if !what.is_empty() { " · " (what) } }
        @if sessions.is_empty() { p { (if narrowed.skip == 0 { "No session is stored yet." } else { "There are no older ones." }) } }
        (list_of(&sessions, true))
        @if more > 0 {
            form method="get" action=(addresses::SESSIONS) {
                @if let Some(project) = &narrowed.project { input type="hidden" name="project" value=(project); }
                @if let Some(agent) = &narrowed.agent { input type="hidden" name="agent" value=(agent); }
                input type="hidden" name="skip" value=(narrowed.skip.saturating_add(limit));
                button type="submit" { (more) " older" }
            }
        }
    };
    Ok(Page { title: "Sessions".into(), address: addresses::SESSIONS.into(), place: addresses::SESSIONS, body })
}

/// Sessions, a line each, with their projects where these differ.
pub(super) fn list_of(sessions: &[ListedSession], with_projects: bool) -> Markup {
    html! {
        ul .sessions {
            @for one in sessions {
                li {
                    span .when { (one.when) } " "
                    a href=(addresses::session(&one.session)) { (if one.title.is_empty() { "(no words)" } else { &one.title }) }
                    @if with_projects { " " span .chip { (project_link(&one.project, &one.project_name)) } }
                    @if !one.client.is_usual() { " " span .chip { (one.client.name()) } }
                    @if let Some(machine) = &one.machine { " " span .remark { "on " (machine) } }
                    @if let Some(remark) = one.remark() { " " span .remark { (remark) } }
                    @if let Some(why) = &one.why { " " span .hint { (why) } }
                }
            }
        }
    }
}
