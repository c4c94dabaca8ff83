//! `--dry-run`: what would be read, digested and skipped, and what it would cost.
//!
//! Ingests into a temporary copy of the index, so the answer is exact and no file of the user changes.

use std::io::Write;

use anyhow::Result;
use serde_json::json;

use super::plan::{DigestPlan, DigestSelection};
use super::report::Report;
use crate::analyze::eligibility::SkipReason;
use crate::app::digest::DigestRequest;
use crate::app::digest::apply_policy::{delete_excluded, forget_expired};
use crate::app::digest::sandbox::open_sandbox;
use crate::app::digest::scheduler::DigestScheduler;
use crate::config::Config;
use crate::model::session::Millis;
use crate::store::Store;
use crate::store::load::SessionHead;
use crate::sys::messages::Ui;
use crate::text::clean::without_controls;

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
    let maker = DigestScheduler::new(config, ui, now, &wanted, &store)?;
    let plan = maker.plan(&store)?;
    let costs = estimate(config, &maker, &store, &plan)?;
    if request.json {
        serde_json::to_writer(&mut *out, &as_json(&report, &plan, &costs))?;
        writeln!(out)?;
        return Ok(());
    }
    print(&report, &plan, &costs, out)
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

fn print(report: &Report, plan: &DigestPlan, costs: &CostEstimate, out: &mut impl Write) -> Result<()> {
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
    for (head, not_now) in &plan.chosen {
        let who = not_now.as_ref().map_or_else(|| "with the model".into(), |why| format!("without the model: {why}"));
        writeln!(out, "  digest  {}  {}  {who}", without_controls(&head.id), without_controls(head.project.name()))?;
    }
    for head in &plan.interim {
        writeln!(out, "  so far  {}  {}  it goes on", without_controls(&head.id), without_controls(head.project.name()))?;
    }
    for (head, why) in &plan.skipped {
        writeln!(out, "  skip    {}  {why}", without_controls(&head.id))?;
    }
    Ok(())
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
