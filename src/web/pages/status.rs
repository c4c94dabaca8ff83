//! How the memory is: what is stored, what waits, what it cost, what is wrong, and the settings.

use anyhow::Result;
use maud::{Markup, html};

use crate::app::health::{Health, RunLine, health, last_runs};
use crate::app::settings::{SettingLine, SettingsReply, settings};
use crate::app::status::{Status, status};
use crate::config::pause::describe_end;
use crate::web::addresses;
use crate::web::layout::{Page, running_digest, with_code};
use crate::web::pages::day::usd;
use crate::web::viewer::Viewer;
use text::clean::{counted, shorten, size};

const MAX_BAD_LINES: usize = 10;
const MAX_RUNS: usize = 10;
/// The line that changes it has all of it.
const MAX_VALUE_CHARS: usize = 200;

pub(in crate::web) fn status_page(viewer: &Viewer<'_>) -> Result<Page> {
    let found = status(Some(&viewer.memory), viewer.config, MAX_BAD_LINES)?;
    let Health { problems: wrong, timers } = health(viewer.config, viewer.timers)?;
    let runs = last_runs(&viewer.memory, MAX_RUNS)?;
    let SettingsReply { settings, notices } = settings(viewer.config);
    // Those with sessions to look at.
    let agents = found.agents.iter().filter(|one| one.sessions > 0).map(|one| (one.agent, one)).collect::<Vec<_>>();
    let config_file = viewer.config.config_file.display().to_string();
    let body = html! {
        h1 { "Status" }
        (running_digest(viewer))
        section .part {
            h2 { "Problems" }
            @if wrong.is_empty() { p { "None was found by a quick look. " code { "recall doctor" } " looks deeper." } }
            ul { @for one in &wrong { li { strong { (one.about) } " " (with_code(&one.found)) @if let Some(advice) = &one.advice { p .hint { (with_code(advice)) } } } } }
        }
        section .part { h2 { "Memory" } (figures(viewer, &found, &timers)) }
        @if !runs.is_empty() { section .part { h2 { "Last runs" } (run_table(viewer, &runs)) } }
        @if agents.iter().any(|(client, _)| !client.is_usual()) {
            section .part { h2 { "Agents" }
                ul { @for (client, one) in &agents { li { a href=(format!("{}?agent={}", addresses::SESSIONS, client.key())) { (client.name()) } " "
                    span .hint { (counted(one.sessions as usize, "session")) ", last " (viewer.config.local_time(one.last_at, "%Y-%m-%d")) @if !one.for_model { ", not shown to the model" } } } } }
            }
        }
        details .part #settings {
            summary { h2 { "Settings" } }
            p { "They are in " code { (config_file) } "." }
            @for notice in &notices { p .hint { (notice) } }
            .wide { table .settings {
                thead { tr { th scope="col" { "Setting" } th scope="col" { "Value" } th scope="col" { "From" } th scope="col" { "To change it" } } }
                tbody { @for one in &settings { tr { th scope="row" { code { (one.key) } } td { (shorten(&one.value, MAX_VALUE_CHARS)) } td { (one.from) } td { (line(one)) } } } }
            } }
        }
    };
    Ok(Page { title: "Status".into(), address: addresses::STATUS.into(), place: addresses::STATUS, body })
}

/// What to write into the config file to change it; nothing of what a variable says.
fn line(one: &SettingLine) -> Markup {
    let is_of_file = toml::from_str::<toml::Table>(&format!("x = {}", one.value)).is_ok();
    let (table, key) = one.key.rsplit_once('.').unwrap_or(("", &one.key));
    html! {
        @if is_of_file {
            details {
                summary { "Change" span .unseen { " " (one.key) } }
                pre { code { @if !table.is_empty() { "[" (table) "]\n" } (key) " = " (one.value) } }
            }
        }
    }
}

fn run_table(viewer: &Viewer<'_>, runs: &[RunLine]) -> Markup {
    html! {
        p .hint { "Those that did something, newest first." }
        .wide { table .runs {
            thead { tr { th scope="col" { "When" } th scope="col" { "New sessions" } th scope="col" { "Digests" } th scope="col" { "By a model" } th scope="col" { "Cost" } } }
            tbody { @for RunLine { at, did } in runs { tr {
                th scope="row" { (viewer.config.local_time(Some(*at), "%Y-%m-%d %H:%M")) }
                td { (did.sessions_new) } td { (did.sessions_digested) } td { (did.digests_by_model) } td { (usd(did.cost_usd)) }
            } } }
        } }
    }
}

fn figures(viewer: &Viewer<'_>, found: &Status, timers: &[String]) -> Markup {
    let config = viewer.config;
    let ran = found.last_run.as_ref().map_or_else(|| "never".to_owned(), |run| config.local_time(Some(run.at), "%Y-%m-%d %H:%M"));
    html! {
        dl {
            dt { "Sessions" } dd { (found.sessions) ", " (counted(found.digests as usize, "digest")) ", " (found.by_model) " by a model" }
            dt { "Notes" } dd { (found.notes) }
            dt { "Waiting" } dd { (counted(found.waiting_for_digest as usize, "session")) " for a digest, " (found.waiting_for_model) " for the model, " (counted(found.marks_waiting, "mark")) }
            dt { "Last digest" } dd { (ran) }
            @for timer in timers { dt { "Timer" } dd { (with_code(timer)) } }
            dt { "Spent on the model" } dd { (usd(found.spent_usd)) " in total; at most " (usd(config.digest.max_cost_usd)) " a run and " (usd(config.digest.max_cost_usd_per_day)) " a day" }
            dt { "Disk" } dd { (size(found.database_bytes)) " for " (size(found.transcript_bytes.unsigned_abs())) " of transcripts in " (counted(found.files as usize, "file")) }
            @if let Some(copy) = &found.copy { dt { "Copy of the index" } dd { (config.local_time(Some(copy.at), "%Y-%m-%d %H:%M")) ", " (size(copy.bytes)) } }
            @if let Some(vectors) = &found.vectors { dt { "Search by meaning" } dd { (vectors.model) ": " (vectors.embedded) " of " (vectors.of) } }
            @if let Some(until) = found.paused_until { dt { "Paused" } dd { "until " (describe_end(until, config)) } }
            @for one in &found.waiting_reasons { dt { "Waits" } dd { (counted(one.sessions as usize, "session")) ": " (one.why) } }
            @for one in &found.without_model_reasons { dt { "Without the model" } dd { (counted(one.sessions as usize, "session")) ": " (one.why) } }
            @for one in &found.skipped { dt { "No digest" } dd { (counted(one.sessions as usize, "session")) ": " (one.why) } }
            @for one in &found.failing { dt { "The model failed" } dd { a href=(addresses::session(&one.session)) { (one.session) } ": " (one.error) } }
            @if found.bad_lines > 0 { dt { "Unreadable lines" } dd { (found.bad_lines) } }
        }
    }
}
