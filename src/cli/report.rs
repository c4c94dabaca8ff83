//! `recall report`: what was done, ready to paste. With `--summarizer` a model may write it, which costs money: see [`ReportWriter`].

use std::io::Write;

use anyhow::Result;
use serde::Serialize;
use serde_json::json;

use super::open_memory;
use super::reading::print_page;
use crate::app::Completion;
use crate::app::report::{AskedReport, PlannedReport, ReportRequest, ReportWriter, stored_work};
use crate::cli::args::ReportArgs;
use crate::config::Config;
use crate::render::report::{WorkReport, report_text};
use crate::sys::messages::{self, Ui};
use text::clean::{counted, one_line, without_controls};

pub(crate) fn run(args: &ReportArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let asked = ReportRequest {
        purpose: args.purpose,
        since: args.since.as_deref(),
        project: args.project.as_deref(),
        branch: args.branch.as_deref(),
    };
    let here = std::env::current_dir().unwrap_or_default();
    let work = stored_work(&open_memory(config)?, config, &asked, &here)?;
    let Some(choice) = args.summarizer else {
        let reply = work.report();
        if args.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&reply)?)?;
        } else {
            print(&report_text(&reply, args.purpose, &config.time_zone), &reply, out)?;
        }
        return Ok(Completion::Done);
    };
    let ui = Ui::default();
    let writer = ReportWriter { config, choice, work: &work, ui: &ui };
    if args.dry_run {
        print_plan(&writer.plan()?, args.json, out)?;
    } else {
        let (written, facts) = (writer.write()?, work.report());
        if args.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&ReportJson::of(&facts, &written))?)?;
        } else {
            print(&written.text, &facts, out)?;
        }
    }
    ui.finish();
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}

fn print(text: &str, report: &WorkReport, out: &mut impl Write) -> Result<()> {
    print_page(text, out)?;
    let branch = report.branch.as_ref().map(|name| format!(" on branch {}", one_line(&without_controls(name)))).unwrap_or_default();
    if text.is_empty() {
        messages::report(format!("no stored work matches{branch}: try an earlier `--since`, or another `--project` or `--branch`"));
    }
    if report.undigested > 0 {
        messages::report(format!("{} not digested yet: `recall digest`", counted(report.undigested, "session")));
    }
    Ok(())
}

fn print_plan(plan: &PlannedReport, as_json: bool, out: &mut impl Write) -> Result<()> {
    if !as_json {
        return Ok(out.write_all(plan.text().as_bytes())?);
    }
    let PlannedReport { calls, likely_usd, worst_usd, sessions, sessions_left_out } = plan;
    let told = json!({"dry_run": true, "calls": calls, "likely_cost_usd": likely_usd, "worst_cost_usd": worst_usd,
        "sessions": sessions, "sessions_left_out": sessions_left_out});
    Ok(writeln!(out, "{told:#}")?)
}

/// The report in the format of `--json`, where it was said who writes it.
#[derive(Serialize)]
struct ReportJson<'a> {
    #[serde(flatten)]
    facts: &'a WorkReport,
    text: &'a str,
    summarizer: &'static str,
    model: Option<&'a str>,
    cost_usd: Option<f64>,
    lines_left_out: usize,
    sessions_left_out: usize,
}

impl<'a> ReportJson<'a> {
    fn of(facts: &'a WorkReport, written: &'a AskedReport) -> Self {
        let AskedReport { text, summarizer, model, cost_usd, lines_left_out, sessions_left_out } = written;
        Self {
            facts,
            text,
            summarizer,
            model: model.as_deref(),
            cost_usd: *cost_usd,
            lines_left_out: *lines_left_out,
            sessions_left_out: *sessions_left_out,
        }
    }
}
