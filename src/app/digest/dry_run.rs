//! `--dry-run`: what would be read, digested and skipped, and what it would cost.
//!
//! Ingests into a temporary copy of the index, so the answer is exact and no file of the user changes.

use std::collections::HashMap;
use std::io::Write;

use anyhow::Result;
use serde_json::json;

use super::outlived::Outlived;
use super::plan::{DigestPlan, DigestSelection};
use super::report::Report;
use crate::analyze::eligibility::SkipReason;
use crate::app::digest::DigestRequest;
use crate::app::digest::apply_policy::{delete_excluded, forget_expired};
use crate::app::digest::sandbox::open_sandbox;
use crate::app::digest::scheduler::DigestScheduler;
use crate::config::Config;
use crate::model::session::Millis;
use crate::privacy::View;
use crate::store::load::SessionHead;
use crate::store::{Memory, Store};
use crate::sys::messages::Ui;
use crate::text::clean::{id8, one_line, shorten_title, without_controls};

/// How many sessions of a group are named.
const EXAMPLES: usize = 3;
const TITLE_CHARS: usize = 60;

pub(crate) fn run(request: &DigestRequest, config: &Config, ui: &Ui, now: Millis, out: &mut impl Write) -> Result<()> {
    let mut report = Report::default();
    let Some((_folder, mut store)) = open_sandbox(request, config, ui, now, &mut report)? else {
        ui.note("another run is under way");
        if request.json {
            writeln!(out, "{}", json!({"dry_run": true, "another_run": true}))?;
        }
        return Ok(());
    };
    delete_excluded(config, &mut store, &mut report)?;
    forget_expired(config, now, &mut store, &mut report)?;
    let wanted = DigestSelection::of(request, config)?;
    if let Some(outlived) = Outlived::find(config, &store)? {
        outlived.take_back_digests(config, ui, now, &mut store)?;
    }
    let maker = DigestScheduler::new(config, ui, now, &wanted, &store)?;
    let plan = maker.plan(&store)?;
    let costs = estimate(config, &maker, &store, &plan)?;
    if request.json {
        serde_json::to_writer(&mut *out, &as_json(&report, &plan, &costs))?;
        writeln!(out)?;
        return Ok(());
    }
    print(&report, &plan, &costs, &store, config, out)
}

/// Cost of the model calls, in US dollars.
struct CostEstimate {
    calls: usize,
    likely: Option<f64>,
    worst: Option<f64>,
}

impl CostEstimate {
    /// A run stops at its budget.
    fn cap(&mut self, budget: f64) {
        self.likely = self.likely.map(|usd| usd.min(budget));
        self.worst = self.worst.map(|usd| usd.min(budget));
    }
}

fn estimate(config: &Config, maker: &DigestScheduler<'_>, store: &Store, plan: &DigestPlan) -> Result<CostEstimate> {
    let mut costs = CostEstimate { calls: 0, likely: Some(0.0), worst: Some(0.0) };
    // For a backlog, the user wants to know what digesting it with the model would cost.
    let asked = plan.chosen.iter().filter(|(_, not_now)| matches!(not_now, None | Some(SkipReason::Backlog)));
    let asked: Vec<&SessionHead> = asked.map(|(head, _)| head).collect();
    let price = |store: &Store, head: &&SessionHead| Ok(maker.price(&maker.input(store, head)?));
    store.map_in_order(
        || false,
        &asked,
        price,
        |_, price| {
            let Some((likely, worst)) = price? else { return Ok(()) };
            costs.calls += 1;
            costs.likely = costs.likely.zip(likely).map(|(a, b)| a + b);
            costs.worst = costs.worst.zip(worst).map(|(a, b)| a + b);
            Ok(())
        },
    )?;
    if plan.backlog.is_empty() {
        costs.cap(config.digest.max_cost_usd.min(config.digest.max_cost_usd_per_day));
    }
    Ok(costs)
}

fn usd(amount: Option<f64>) -> String {
    amount.map_or_else(|| "an unknown price".into(), |usd| format!("${usd:.2}"))
}

fn print(
    report: &Report,
    plan: &DigestPlan,
    costs: &CostEstimate,
    store: &Store,
    config: &Config,
    out: &mut impl Write,
) -> Result<()> {
    writeln!(
        out,
        "would read      {} of {} files, {} new rows, {:.1} MB",
        report.files_read,
        report.files_seen,
        report.rows_new,
        report.bytes_read as f64 / 1e6
    )?;
    if report.sessions_forgotten > 0 {
        writeln!(out, "would forget    {} sessions that are older than `retention.days`", report.sessions_forgotten)?;
    }
    let model = plan.chosen.iter().filter(|(_, not_now)| not_now.is_none()).count();
    writeln!(out, "would digest    {} sessions: {model} with the model, {} without", plan.chosen.len(), plan.chosen.len() - model)?;
    if costs.calls > 0 {
        let what = if !plan.backlog.is_empty() { "with the model" } else { "would cost    " };
        writeln!(
            out,
            "{what}  about {}, at most {} at list price, for {} calls",
            usd(costs.likely),
            usd(costs.worst),
            costs.calls
        )?;
    }
    let shown = Memory::beside_writer(store, &config.policy(View::Owner))?;
    let line = |head: &SessionHead| describe(head, &shown, config);
    for group in groups(plan) {
        group.print(line, out)?;
    }
    Ok(())
}

/// Sessions of which the same is to be told.
struct Group<'a> {
    /// What becomes of them.
    verb: &'static str,
    /// What they have in common.
    reason: String,
    /// Each with the whole reason.
    sessions: Vec<(&'a SessionHead, String)>,
}

/// The plan by what becomes of sessions and why, each reason where it comes first.
fn groups(plan: &DigestPlan) -> Vec<Group<'_>> {
    let who =
        |not_now: Option<String>| not_now.map_or_else(|| "with the model".to_owned(), |why| format!("without the model: {why}"));
    let chosen = plan.chosen.iter().map(|(head, not_now)| {
        let why = not_now.as_ref();
        ("digest", who(why.map(SkipReason::in_common)), head, who(why.map(ToString::to_string)))
    });
    let interim = plan.interim.iter().map(|head| ("so far", "it goes on".to_owned(), head, "it goes on".to_owned()));
    let skipped = plan.skipped.iter().map(|(head, why)| ("skip", why.in_common(), head, why.to_string()));
    let mut all: Vec<Group<'_>> = Vec::new();
    let mut known: HashMap<(&str, String), usize> = HashMap::new();
    for (verb, reason, head, whole) in chosen.chain(interim).chain(skipped) {
        let at = *known.entry((verb, reason.clone())).or_insert_with(|| {
            all.push(Group { verb, reason, sessions: Vec::new() });
            all.len() - 1
        });
        all[at].sessions.push((head, whole));
    }
    all
}

impl Group<'_> {
    /// One line for a single session; for several their number and reason, and a few of them.
    fn print(&self, describe: impl Fn(&SessionHead) -> Result<String>, out: &mut impl Write) -> Result<()> {
        let Self { verb, reason, sessions } = self;
        if let [(head, why)] = sessions.as_slice() {
            writeln!(out, "  {verb:<6}  {}  {}", describe(head)?, one_line(&without_controls(why)))?;
            return Ok(());
        }
        writeln!(out, "  {verb:<6}  {} sessions: {}", sessions.len(), one_line(&without_controls(reason)))?;
        for (head, _) in sessions.iter().take(EXAMPLES) {
            writeln!(out, "          {}", describe(head)?)?;
        }
        let more = sessions.len().saturating_sub(EXAMPLES);
        if more > 0 {
            writeln!(out, "          … and {more} more: `--json` lists them all")?;
        }
        Ok(())
    }
}

/// A session's short id, day, project and title, as far as it has them and its owner sees them.
fn describe(head: &SessionHead, shown: &Memory, config: &Config) -> Result<String> {
    let known = shown.look_up_session(&head.id)?.is_some();
    let title = known.then(|| shown.title_of(head.pk)).transpose()?.flatten();
    let day = (head.started_at != Millis::MAX).then(|| config.local_time(Some(head.started_at), "%Y-%m-%d"));
    let parts = [
        Some(id8(&head.id).to_owned()),
        day,
        Some(head.project.name().to_owned()),
        title.map(|title| shorten_title(&title, TITLE_CHARS)),
    ];
    let parts = parts.into_iter().flatten().map(|part| one_line(&without_controls(&part)));
    Ok(parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  "))
}

fn as_json(report: &Report, plan: &DigestPlan, costs: &CostEstimate) -> serde_json::Value {
    let chosen: Vec<_> = plan
        .chosen
        .iter()
        .map(|(h, not_now)| json!({"session": h.id, "project": h.project.key, "with_model": not_now.is_none(), "why_not": not_now.as_ref().map(|w| w.to_string())}))
        .collect();
    let skipped: Vec<_> = plan.skipped.iter().map(|(h, why)| json!({"session": h.id, "why": why.to_string()})).collect();
    json!({
        "dry_run": true,
        "files_seen": report.files_seen,
        "files_read": report.files_read,
        "bytes_read": report.bytes_read,
        "rows_new": report.rows_new,
        "sessions_forgotten": report.sessions_forgotten,
        "digest": chosen,
        "interim": plan.interim.iter().map(|h| &h.id).collect::<Vec<_>>(),
        "skip": skipped,
        "calls": costs.calls,
        "likely_cost_usd": costs.likely,
        "worst_cost_usd": costs.worst,
    })
}
