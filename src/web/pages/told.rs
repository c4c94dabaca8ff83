//! What sessions were told by the hooks, and what came of it.

use anyhow::Result;
use maud::{Markup, html};

use crate::app::told::{ToldSession, told_sessions};
use crate::web::addresses;
use crate::web::layout::Page;
use crate::web::viewer::Viewer;
use text::clean::counted;

pub(in crate::web) fn told(viewer: &Viewer<'_>) -> Result<Page> {
    let all = told_sessions(&viewer.memory, viewer.config)?;
    let used = all.iter().filter(|one| is_used(one)).count();
    let body = html! {
        h1 { "Context that sessions got" }
        p .hint { "The hooks give a session notes at its start and at prompts. Its own transcript shows what came of them." }
        @if all.is_empty() {
            p { "No session was told anything yet: " code { "recall install" } " registers the hooks." }
        } @else {
            p { (counted(all.len(), "session")) " told something; " (used) " of them used it." }
        }
        ul .sessions { @for one in &all { (session(one)) } }
    };
    Ok(Page { title: "Context".into(), address: addresses::TOLD.into(), place: addresses::TOLD, body })
}

fn is_used(one: &ToldSession) -> bool {
    let receipt = &one.receipt;
    !receipt.files.is_empty() || !receipt.checks.is_empty() || !receipt.looked_up.is_empty()
}

fn session(one: &ToldSession) -> Markup {
    let receipt = &one.receipt;
    let told = &receipt.told;
    let kinds = [
        (told.sessions.len(), "session"),
        (told.statements.len(), "statement"),
        (told.files.len(), "file"),
        (told.checks.len(), "check"),
        (told.warned.len(), "warning"),
    ];
    let names: Vec<String> = kinds.iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(*count, what)).collect();
    let cost = if told.tokens > 0 { format!(", about {} tokens", told.tokens) } else { String::new() };
    let list = |name: &'static str, all: &[String]| html! { @if !all.is_empty() { p .passage { (name) ": " @for one in all { code { (one) } " " } } } };
    let repeated: Vec<String> = receipt.repeated.iter().map(|one| one.id.clone()).collect();
    html! {
        li {
            span .when { (one.when) } " " a href=(addresses::session(&one.session)) { (one.title) } " " span .chip { (one.project) }
            p .passage { "told of " (if names.is_empty() { "nothing by name".to_owned() } else { names.join(", ") }) (cost) "; " span .remark { (if is_used(one) { "used" } else { "no use seen" }) } }
            (list("files it then read or changed", &receipt.files))
            (list("checks it then ran", &receipt.checks))
            (list("looked up", &receipt.looked_up))
            (list("ran although it was told not to", &receipt.passed_over))
            (list("you had to say again", &repeated))
        }
    }
}
