//! `--dry-run`: what would be read, digested and skipped, and what it would cost.
//!
//! The transcripts are read into a copy of the index that is thrown away, so the answer is exact; nothing of the user's changes.

use std::io::Write;

use anyhow::{Context, Result};
use serde_json::json;

use super::make::{Maker, Plan};
use super::report::Report;
use super::{find_work, wanted};
use crate::cli::DigestArgs;
use crate::clean::plain;
use crate::config::Config;
use crate::session::Millis;
use crate::store::Store;
use crate::ui::Ui;

pub fn run(args: &DigestArgs, config: &Config, ui: &Ui, now: Millis, out: &mut impl Write) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let copy = folder.path().join("recall.db");
    if config.database().exists() {
        Store::open_read_only(&config.database())?.copy_to(&copy)?;
    }
    let mut store = Store::open(&copy)?;
    let mut report = Report::default();
    let work = find_work(config, ui, &store, &mut report)?;
    super::Reader { config, projects: &config.project_keys(), jobs: args.jobs, now, ui }.run(&work, &mut store, &mut report)?;
    let wanted = wanted(args, config)?;
    let maker = Maker::new(config, ui, now, &wanted)?;
    let plan = maker.plan(&store)?;
    let costs = estimate(&maker, &store, &plan)?;
    if args.json {
        serde_json::to_writer(&mut *out, &as_json(&report, &plan, &costs))?;
        writeln!(out)?;
        return Ok(());
    }
    print(&report, &plan, &costs, out)
}

/// What the model would cost: likely and worst, in US dollars.
struct Costs {
    calls: usize,
    likely: Option<f64>,
    worst: Option<f64>,
}

fn estimate(maker: &Maker<'_>, store: &Store, plan: &Plan) -> Result<Costs> {
    // For a backlog the price of doing it with the model is what the user wants to know.
    let wanted = if plan.backlog { &plan.chosen } else { &plan.for_model };
    let mut costs = Costs { calls: 0, likely: Some(0.0), worst: Some(0.0) };
    for pk in wanted {
        let input = maker.input(store, &store.session_head(*pk)?)?;
        let Some((likely, worst)) = maker.price(&input) else { continue };
        costs.calls += 1;
        costs.likely = costs.likely.zip(likely).map(|(a, b)| a + b);
        costs.worst = costs.worst.zip(worst).map(|(a, b)| a + b);
    }
    Ok(costs)
}

fn usd(amount: Option<f64>) -> String {
    amount.map_or_else(|| "an unknown price".into(), |usd| format!("${usd:.2}"))
}

fn print(report: &Report, plan: &Plan, costs: &Costs, out: &mut impl Write) -> Result<()> {
    writeln!(out, "would read      {} of {} files, {} new rows, {:.1} MB", report.files_read, report.files_seen, report.rows_new, report.bytes_read as f64 / 1e6)?;
    let model = if plan.backlog { 0 } else { plan.for_model.len() };
    writeln!(out, "would digest    {} sessions: {model} with the model, {} without", plan.chosen.len(), plan.chosen.len() - model)?;
    if costs.calls > 0 {
        let what = if plan.backlog { "with the model it would cost" } else { "would cost" };
        writeln!(out, "{what}      about {}, at most {}, for {} calls", usd(costs.likely), usd(costs.worst), costs.calls)?;
    }
    for (heads, label) in [(plan.projects.values().flatten(), "digest")] {
        for head in heads.filter(|h| plan.chosen.contains(&h.pk)) {
            let who = if plan.for_model.contains(&head.pk) { "model" } else { "no model" };
            writeln!(out, "  {label}  {}  {who}  {}", plain(&head.id), plain(head.project.name()))?;
        }
    }
    for (head, why) in &plan.skipped {
        writeln!(out, "  skip    {}  {why}", plain(&head.id))?;
    }
    Ok(())
}

fn as_json(report: &Report, plan: &Plan, costs: &Costs) -> serde_json::Value {
    let chosen: Vec<_> = plan.projects.values().flatten().filter(|h| plan.chosen.contains(&h.pk)).map(|h| {
        json!({"session": h.id, "project": h.project.key, "with_model": !plan.backlog && plan.for_model.contains(&h.pk)})
    }).collect();
    let skipped: Vec<_> = plan.skipped.iter().map(|(h, why)| json!({"session": h.id, "why": why.to_string()})).collect();
    json!({
        "dry_run": true,
        "files_seen": report.files_seen,
        "files_read": report.files_read,
        "bytes_read": report.bytes_read,
        "rows_new": report.rows_new,
        "digest": chosen,
        "skip": skipped,
        "calls": costs.calls,
        "likely_cost_usd": costs.likely,
        "worst_cost_usd": costs.worst,
    })
}
