//! `recall rules`: what the user says again and again in a project, to be kept or dismissed.

use std::io::Write;

use anyhow::Result;

use super::reading::print_lines;
use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::rules::{RuleRecord, RulesRequest, accept, diff, dismiss, find, rules};
use crate::cli::args::RulesArgs;
use crate::config::Config;
use crate::render::quoted::quote;
use crate::sys::messages::Ui;
use text::clean::{id8, one_line, shorten, without_controls};

/// The most characters of a rule, and of a quotation of it.
const MAX_RULE_CHARS: usize = 240;

pub(crate) fn run(args: &RulesArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let asker = Asker::here(config);
    let memory = asker.memory()?;
    if let Some(id) = &args.accept {
        let found = find(&memory, config, id, false)?;
        drop(memory);
        let kept = accept(&found, config)?;
        writeln!(out, "{} saved for {}", kept.id, without_controls(&kept.project))?;
        return Ok(Completion::Done);
    }
    if let Some(id) = &args.dismiss {
        let found = find(&memory, config, id, args.undo)?;
        let ui = Ui::default();
        dismiss(&found, args.undo, memory, config, &ui)?;
        let text = quote(&found.rule.newest().text, MAX_RULE_CHARS);
        writeln!(out, "{} {text}", if args.undo { "Shown again:" } else { "Dismissed:" })?;
        return Ok(if ui.warned() { Completion::Partly } else { Completion::Done });
    }
    let own = asker.project();
    let reply = rules(&memory, config, &RulesRequest { project: args.project.as_deref(), own: &own })?;
    if args.diff {
        return print_diffs(&reply.rules, out);
    }
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reply)?)?;
        return Ok(Completion::Done);
    }
    for of_project in reply.rules.chunk_by(|a, b| a.project == b.project) {
        writeln!(out, "in {}:\n", without_controls(&of_project[0].project))?;
        of_project.iter().try_for_each(|rule| tell(rule, out))?;
    }
    match reply.rules.is_empty() {
        true => writeln!(out, "no repeated instructions found")?,
        false => writeln!(
            out,
            "`recall rules --accept ID` keeps one as a note, `--dismiss ID` stops showing it, `--diff` proposes lines for CLAUDE.md."
        )?,
    }
    if !reply.dismissed.is_empty() {
        writeln!(out, "\nDismissed (to show one again: `recall rules --dismiss ID --undo`):")?;
    }
    for rule in &reply.dismissed {
        writeln!(out, "{} {}", rule.id, quote(&rule.text, MAX_RULE_CHARS))?;
    }
    Ok(Completion::Done)
}

fn tell(rule: &RuleRecord, out: &mut impl Write) -> Result<()> {
    let RuleRecord { id, times, sessions, first_day, last_day, .. } = rule;
    let text = shorten(&one_line(&without_controls(&rule.text)), MAX_RULE_CHARS);
    print_lines(&format!("{id} {text}\n  said {times} times in {sessions} sessions, {first_day} to {last_day}"), out)?;
    for one in &rule.quotes {
        let turn = if one.turn > 0 { format!(", turn {}", one.turn) } else { String::new() };
        let said = quote(&one.text, MAX_RULE_CHARS);
        print_lines(&format!("  {} {}{turn}: {said}", one.day, id8(&one.session)), out)?;
    }
    Ok(writeln!(out)?)
}

fn print_diffs(rules: &[RuleRecord], out: &mut impl Write) -> Result<Completion> {
    for of_project in rules.chunk_by(|a, b| a.project == b.project) {
        write!(out, "{}", diff(&of_project[0].project, &of_project.iter().collect::<Vec<_>>())?)?;
    }
    Ok(Completion::Done)
}
