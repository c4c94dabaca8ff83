//! A project: what stands in it, what is open, what works, and its sessions over time.

use anyhow::Result;
use jiff::ToSpan;
use maud::{Markup, PreEscaped, html};

use crate::app::close_items::open_in;
use crate::app::how::{HowRequest, how};
use crate::app::list::newest_of;
use crate::app::project_overview::{ProjectSessions, StandingDecision, find_project, standing_decisions};
use crate::app::rules::{RulesRequest, rules};
use crate::app::stats::{GroupBy, StatsRequest, stats_of};
use crate::app::why::{WhyRequest, why};
use crate::render::chain::Chain;
use crate::web::addresses;
use crate::web::charts::{Bar, bars};
use crate::web::layout::{Page, button};
use crate::web::pages::day::AT_LEAST;
use crate::web::pages::open_items::items;
use crate::web::pages::sessions::list_of;
use crate::web::viewer::Viewer;
use text::clean::{counted, shorten};
use transcripts::session::Millis;

const MAX_SESSIONS: usize = 30;
const MAX_COMMANDS: usize = 20;
const MAX_CHAINS: usize = 20;
const MAX_QUOTE_CHARS: usize = 200;
const WEEKS: i64 = 26;

/// The page of the project that has this name in addresses; `None` if none has.
pub(in crate::web) fn project(viewer: &Viewer<'_>, name: &str) -> Result<Option<Page>> {
    let Some(found) = find_project(&viewer.memory, |key| addresses::project_name(key) == name)? else { return Ok(None) };
    let (memory, config, project, key) = (&viewer.memory, viewer.config, &found.project, found.project.key.as_str());
    let decisions = standing_decisions(memory, config, &found)?;
    let weeks = project.last_at.map(|last| over_time(viewer, &found, last)).transpose()?;
    let mut chains = why(memory, config, &WhyRequest { words: "", project: Some(key), own: key })?.chains;
    chains.truncate(MAX_CHAINS);
    let open = open_in(memory, key)?;
    let found_rules = rules(memory, config, &RulesRequest { project: Some(key), own: key })?.rules;
    let mut commands = how(memory, config, &HowRequest { words: "", project: None, all_projects: false, own: key })?.commands;
    commands.truncate(MAX_COMMANDS);
    let sessions = newest_of(memory, config, found.heads, 0, MAX_SESSIONS)?;
    let rules_here = format!("{}#rules", addresses::project(key));
    let body = html! {
        h1 { (project.name) }
        p .facts { (project.key) " · " (counted(project.sessions, "session")) @if project.last_at.is_some() { " · last worked in " (config.local_time(project.last_at, "%Y-%m-%d")) } }
        @if let Some(weeks) = weeks { (weeks) }
        section .part #decisions {
            h2 { "Decisions that stand" }
            @if decisions.is_empty() { p .hint { "None is known. Decisions come from your notes and from digests by the model." } }
            ul { @for one in &decisions { (decision(viewer, one)) } }
        }
        @if !chains.is_empty() { section .part #changed { h2 { "What changed" } @for one in &chains { (chain(one)) } } }
        section .part #open {
            h2 { "Open items" }
            @if open.is_empty() { p .hint { "Nothing is open." } }
            (items(viewer, &open, &format!("{}#open", addresses::project(key))))
        }
        @if !found_rules.is_empty() {
            section .part #rules {
                h2 { "What you keep saying" }
                ul {
                    @for one in &found_rules {
                        li { (one.text) " " span .hint { (counted(one.times, "time")) " in " (counted(one.sessions, "session")) ", last on " (one.last_day) }
                            (button(viewer, addresses::KEEP_RULE, &one.id, &rules_here, "Keep as a note", &format!("Keep as a note: {}", one.text)))
                            (button(viewer, addresses::DISMISS_RULE, &one.id, &rules_here, "Dismiss", &format!("Dismiss: {}", one.text)))
                            @for quote in &one.quotes { p .passage { a href=(addresses::session(&quote.session)) { (quote.day) } " “" (shorten(&quote.text, MAX_QUOTE_CHARS)) "”" } }
                        }
                    }
                }
            }
        }
        @if !commands.is_empty() {
            section .part #commands {
                h2 { "Commands that work" }
                ul {
                    @for one in &commands {
                        li { span .kind { (one.class.name()) } " " code { (one.command) } " "
                            span .hint { @if !one.folder.is_empty() { "in " (one.folder) ", " } "passed " (one.passed) " of " (one.ran) ", last on " (one.last) } }
                    }
                }
            }
        }
        section .part #sessions { h2 { "Sessions" } (list_of(&sessions.sessions, false))
            @if sessions.more > 0 && viewer.is_served() {
                form method="get" action=(addresses::SESSIONS) { input type="hidden" name="project" value=(key); button type="submit" { (sessions.more) " more" } }
            }
        }
    };
    Ok(Some(Page { title: project.name.clone(), address: addresses::project(key), place: addresses::PROJECTS, body }))
}

fn decision(viewer: &Viewer<'_>, one: &StandingDecision) -> Markup {
    let address = if one.is_note { addresses::note(&one.said_in) } else { addresses::session(&one.said_in) };
    html! { li { (PreEscaped(inline(&viewer.text(&one.text)))) " " a .hint href=(address) { (one.by) } } }
}

/// A text of one paragraph without the tags around it.
fn inline(html: &str) -> &str {
    let trimmed = html.trim();
    let inner = trimmed.strip_prefix("<p>").and_then(|rest| rest.strip_suffix("</p>"));
    inner.filter(|inner| !inner.contains("<p>")).unwrap_or(trimmed)
}

fn chain(chain: &Chain) -> Markup {
    html! {
        ul .chain {
            @for one in &chain.statements {
                li .over[one.overtaken.is_some()] {
                    span .when { (one.day) } " " (shorten(&one.text, MAX_QUOTE_CHARS)) " " span .hint { (one.by) }
                    @if let Some(by) = &one.overtaken { " " span .remark { "until " (by.day) } }
                }
            }
        }
    }
}

/// Sessions and cost by week.
fn over_time(viewer: &Viewer<'_>, of: &ProjectSessions, last: Millis) -> Result<Markup> {
    let last = viewer.config.local(last).date();
    let first = last.saturating_sub((WEEKS * 7 - 1).days());
    let since = first.to_string();
    let asked = StatsRequest { by: GroupBy::Week, project: None, since: Some(&since), before: None };
    let by_week = stats_of(&viewer.memory, viewer.config, &asked, &of.heads)?;
    let bar = |back: i64| {
        let name = addresses::week_name(last.saturating_sub((back * 7).days()));
        let row = by_week.of(&name);
        let told = format!("{}, {}", counted(row.sessions, "session"), row.told_cost(AT_LEAST));
        Bar { name, value: row.sessions as f64, told, is_here: false }
    };
    Ok(bars("Sessions by week", &(0..WEEKS).rev().map(bar).collect::<Vec<_>>()))
}
