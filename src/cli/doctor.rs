//! `recall doctor`: checks the setup, and suggests or makes repairs.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::{Context, Result};

use super::agents;
use super::reading::print_hanging;
use crate::app::agents::stored_states;
use crate::app::asker::Asker;
use crate::app::doctor::{Depth, DoctorReply, examine, memory_files, seen};
use crate::app::{Completion, consent};
use crate::cli::args::DoctorArgs;
use crate::config::Config;
use crate::model::finding::{Finding, Repair, Severity};
use crate::setup::lock::InstallLock;
use crate::setup::plan::InstallRequest;
use crate::setup::transcript_retention::{KEY, RetentionChange};
use crate::setup::{Host, InstallScope, apply, inspect, plan};
use crate::sys::messages::Ui;
use crate::sys::private_files;
use text::clean::{counted, one_line, shorten, without_controls};

/// The most characters of a line of a memory file, and of what is said of it.
const MAX_LINE_CHARS: usize = 240;

/// Examines the setup, repairs it if asked, and prints the findings. An unreadable config is reported as the only finding.
pub(crate) fn run(args: &DoctorArgs, config: Result<Config>, out: &mut impl Write) -> Result<Completion> {
    let config = match &config {
        Ok(config) => config,
        Err(e) => {
            let advice = "correct it: until then no digest is made, and sessions start without context";
            let found = DoctorReply::of(vec![Finding::problem("config", format!("{e:#}"), advice)], Vec::new(), None);
            return tell(&found, &[], args.json, out);
        }
    };
    if args.memory {
        return memory(args, config, out);
    }
    let ui = Ui::default();
    let host = Host::new(config)?;
    if let Some(days) = args.keep_transcripts {
        // Progress is for people only, so it is kept out of the JSON.
        let mut said = Vec::new();
        let change = RetentionChange::plan(days, &host)?;
        ask_first(&change, days)?;
        change.apply(days, &mut said)?;
        if !args.json {
            out.write_all(without_controls(&String::from_utf8_lossy(&said)).as_bytes())?;
            writeln!(out)?;
        }
    }
    // What is repaired has to be known.
    let depth = if args.deep || args.fix { Depth::Deep } else { Depth::Full };
    let mut findings = examine(config, &host, depth, config.now());
    if args.fix && findings.iter().any(|f| f.fix.is_some()) {
        // Progress again: for people only.
        let mut said = Vec::new();
        repair(&findings, config, &host, &ui, &mut said)?;
        if !args.json {
            out.write_all(&said)?;
            writeln!(out)?;
        }
        findings = examine(config, &host, depth, config.now());
    }
    if args.seen {
        let marked = seen::note(&findings, &config.data_dir)?;
        if !args.json {
            writeln!(out, "{} marked as seen\n", counted(marked, "warning"))?;
        }
        findings = examine(config, &host, depth, config.now());
    }
    let reply = DoctorReply::of(findings, stored_states(config, &host), Some(&host.environment.program));
    let agents: Vec<String> = reply.agents.iter().map(|agent| agents::line(agent, config)).collect();
    let ended = tell(&reply, &agents, args.json, out)?;
    Ok(if ui.warned() { Completion::Partly } else { ended })
}

/// Tells what is out of date in the memory files of Claude's, and proposes to prune them. Finding something is no failure.
fn memory(args: &DoctorArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let reply = memory_files::examine(&Asker::here(config).memory()?, config, args.project.as_deref())?;
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reply)?)?;
        return Ok(Completion::Done);
    }
    let files: usize = reply.projects.iter().map(|project| project.files).sum();
    for project in reply.projects.iter().filter(|project| !project.findings.is_empty()) {
        writeln!(out, "in {}:\n", without_controls(&project.project))?;
        for finding in &project.findings {
            let path = one_line(&without_controls(&finding.path));
            print_hanging(&format!("{path}:{}: ", finding.line), "    ", &shorten(&one_line(&finding.text), MAX_LINE_CHARS), out)?;
            print_hanging("  ", "  ", &shorten(&one_line(&without_controls(&finding.what.told())), MAX_LINE_CHARS), out)?;
        }
        let gap = if project.diff.is_empty() { "" } else { "\n" };
        writeln!(out, "{gap}{}", project.diff)?;
    }
    let found: usize = reply.projects.iter().map(|project| project.findings.len()).sum();
    let (lines, files) = (counted(found, "line"), counted(files, "memory file"));
    Ok(writeln!(out, "{lines} out of date in {files} of Claude's; none was changed").map(|()| Completion::Done)?)
}

/// Asks whether transcripts shall be kept where the settings say that none are.
fn ask_first(change: &RetentionChange, days: u64) -> Result<()> {
    if !change.keeps_none() {
        return Ok(());
    }
    let path = change.path().display();
    let says = format!("{path} says that Claude Code keeps no transcripts (`{KEY}` is 0)");
    let question = format!("{says}. Keep them for {days} days from now on?");
    let otherwise =
        format!("{says}: if they are to be kept, run `recall doctor --keep-transcripts {days}` in a terminal of your own");
    consent::confirm_change(&question, &otherwise)
}

/// `agents` has a line for each.
fn tell(reply: &DoctorReply, agents: &[String], json: bool, out: &mut impl Write) -> Result<Completion> {
    let DoctorReply { version, program, worst, findings, .. } = reply;
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(reply)?)?;
    } else {
        let program = program.as_ref().map_or_else(String::new, |p| format!(" ({})", p.display()));
        writeln!(out, "recall {version}{program}\n")?;
        agents.iter().try_for_each(|agent| print(&Finding::ok("agent", agent), out))?;
        findings.iter().try_for_each(|finding| print(finding, out))?;
    }
    Ok(if *worst == Severity::Ok { Completion::Done } else { Completion::Partly })
}

/// A change of a file is shown as it is, as git does: it may be copied.
fn print(finding: &Finding, out: &mut impl Write) -> Result<()> {
    let sign = match finding.state {
        // It works, and more could be done.
        Severity::Ok if finding.advice.is_some() => "->",
        Severity::Ok => "ok",
        _ if finding.seen => "--",
        Severity::Warning => "!!",
        Severity::Problem => "XX",
    };
    let seen = if finding.seen { " (seen)" } else { "" };
    let (begins, rest) = (format!("{sign}  {:<12} ", finding.about), " ".repeat(17));
    print_hanging(&begins, &rest, &format!("{}{seen}", one_line(&without_controls(&finding.found))), out)?;
    if let Some(advice) = &finding.advice {
        print_hanging(&format!("{rest}→ "), &format!("{rest}  "), &one_line(&without_controls(advice)), out)?;
    }
    let difference = finding.difference.as_deref().unwrap_or_default();
    without_controls(difference).lines().try_for_each(|line| Ok(writeln!(out, "{rest}  {line}")?))
}

/// Makes the repairs that need no question.
fn repair(findings: &[Finding], config: &Config, host: &Host<'_>, ui: &Ui, out: &mut impl Write) -> Result<()> {
    let needs = |fix: Repair| findings.iter().any(|f| f.fix == Some(fix));
    if needs(Repair::Permissions) {
        private_files::restrict_to_owner(&config.data_dir)?;
        writeln!(out, "changed     {}: others have no access now", config.data_dir.display())?;
        let closed = private_files::inaccessible_in(&config.data_dir);
        private_files::grant_owner_access(&closed)?;
        for file in closed {
            writeln!(out, "changed     {}: you have access now", without_controls(&file.display().to_string()))?;
        }
    }
    if needs(Repair::Index) {
        let what = || format!("cannot repair {}", config.database().display());
        crate::app::repair::run(config, ui, out).with_context(what)?;
    }
    if needs(Repair::Install) {
        let _lock = InstallLock::acquire(config)?;
        // Only files that already hold something of ours: nothing is installed that was never asked for.
        let files = inspect::settings(host).into_iter().filter(|f| f.state.as_ref().is_ok_and(|s| !s.hooks.is_empty()));
        let mut told = BTreeSet::new();
        for scope in files.map(|file| file.scope).chain(inspect::without_start(host)) {
            // A project's servers are in a separate file, which no session writes back, and other agents' are not what was overwritten.
            let may_be_gone = matches!(scope, InstallScope::User | InstallScope::Local);
            let mcp = may_be_gone && inspect::overwritten_registration(host).is_some();
            let request = InstallRequest { scope, timer: None, mcp, allow: false, is_one_of_all: true };
            let plan = plan::plan(&request, host)?;
            plan.warnings.iter().for_each(|warning| ui.warn(warning));
            plan.notes.iter().filter(|note| told.insert((*note).clone())).for_each(|note| ui.note(note));
            apply::install(plan, host, ui, out)?;
        }
    }
    Ok(())
}
