//! `recall report`: what was done, ready to paste.

use std::io::Write;

use anyhow::Result;

use super::open_memory;
use super::reading::print_page;
use crate::app::Completion;
use crate::app::report::{ReportRequest, report};
use crate::cli::args::ReportArgs;
use crate::config::Config;
use crate::render::report::report_text;
use crate::sys::messages;
use crate::text::clean::{counted, one_line, without_controls};

pub(crate) fn run(args: &ReportArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let asked = ReportRequest {
        purpose: args.purpose,
        since: args.since.as_deref(),
        project: args.project.as_deref(),
        branch: args.branch.as_deref(),
    };
    let here = std::env::current_dir().unwrap_or_default();
    let reply = report(&open_memory(config)?, config, &asked, &here)?;
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reply)?)?;
        return Ok(Completion::Done);
    }
    let text = report_text(&reply, args.purpose, &config.time_zone);
    print_page(&text, out)?;
    let branch = reply.branch.as_ref().map(|name| format!(" on branch {}", one_line(&without_controls(name)))).unwrap_or_default();
    if text.is_empty() {
        messages::report(format!("nothing is stored of that time{branch}: `--since`, `--project`, `--branch`"));
    }
    if reply.undigested > 0 {
        messages::report(format!("{} not digested yet: `recall digest`", counted(reply.undigested, "session")));
    }
    Ok(Completion::Done)
}
