//! `recall todo`: what is open, in all projects.

use std::io::Write;

use anyhow::Result;

use super::open_memory;
use super::reading::print_hanging;
use crate::app::Completion;
use crate::app::close_items::{OpenProject, open_everywhere};
use crate::cli::args::TodoArgs;
use crate::config::Config;
use crate::model::session::Millis;
use crate::sys::messages;
use crate::text::clean::{one_line, without_controls};

/// What was last said longer ago is listed on request, in milliseconds.
const RECENT_MS: Millis = 30 * 86_400_000;

pub(crate) fn run(args: &TodoArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let mut all = open_everywhere(&open_memory(config)?, config, args.project.as_deref())?;
    let since = if args.all { Millis::MIN } else { config.now().saturating_sub(RECENT_MS) };
    let mut older = 0;
    for project in &mut all {
        let open = project.items.len();
        project.items.retain(|item| item.last_at >= since || item.due.is_some());
        older += open - project.items.len();
    }
    all.retain(|project| !project.items.is_empty());
    if args.json {
        for project in &all {
            writeln!(out, "{}", serde_json::to_string(project)?)?;
        }
        return Ok(Completion::Done);
    }
    let today = config.local_time(Some(config.now()), "%Y-%m-%d");
    let day = |at| config.local_time(Some(at), "%Y-%m-%d");
    for (at, OpenProject { project, items }) in all.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", one_line(&without_controls(project)))?;
        for item in items {
            let begins = format!("  {}  {}  ", item.id, day(item.last_at));
            let rest = " ".repeat(begins.len());
            let due = match item.due.as_deref() {
                Some(due) if due < today.as_str() => " (overdue)",
                Some(due) if due == today => " (due today)",
                _ => "",
            };
            let text = format!("{}: {}{due}", item.kind, one_line(&without_controls(&item.text)));
            print_hanging(&begins, &rest, &text, out)?;
        }
    }
    match (all.is_empty(), older) {
        (true, 0) => messages::report("nothing is open"),
        (true, _) => messages::report(format!("nothing open was said in the last 30 days; {older} older: `recall todo --all`")),
        (false, 0) => messages::report("mark an item as done with `recall close ID`"),
        (false, _) => messages::report(format!(
            "mark an item as done with `recall close ID`; {older} more, last said over 30 days ago: `recall todo --all`"
        )),
    }
    Ok(Completion::Done)
}
