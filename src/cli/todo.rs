//! `recall todo`: what is open, in all projects.

use std::io::Write;

use anyhow::Result;

use super::open_memory;
use super::reading::print_hanging;
use crate::app::Completion;
use crate::app::close_items::{OpenLine, OpenProject, open_everywhere, recent_since};
use crate::app::open_of_team::ColleagueLine;
use crate::cli::args::TodoArgs;
use crate::config::Config;
use crate::sys::messages;
use text::clean::{counted, id8, one_line, without_controls};
use transcripts::session::Millis;

pub(crate) fn run(args: &TodoArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let since = if args.all { Millis::MIN } else { recent_since(config.now()) };
    let memory = open_memory(config)?;
    let mut all = open_everywhere(&memory, config, args.project.as_deref(), since)?;
    let mut older = 0;
    for project in &mut all {
        let open = project.items.len();
        project.items.retain(|item| item.last_at >= since || item.due.is_some());
        older += open - project.items.len();
        project.team.iter_mut().for_each(|one| one.items.retain(|item| item.last_at >= since || item.due.is_some()));
        project.team.retain(|one| !one.items.is_empty());
    }
    all.retain(|project| !project.items.is_empty() || !project.team.is_empty() || !project.sessions.is_empty());
    if args.json {
        for project in &all {
            writeln!(out, "{}", serde_json::to_string(project)?)?;
        }
        return Ok(Completion::Done);
    }
    let list = List { today: config.local_time(Some(config.now()), "%Y-%m-%d"), config };
    for (at, project) in all.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        list.tell(project, out)?;
    }
    let has_sessions = all.iter().any(|project| !project.sessions.is_empty());
    match (all.iter().all(|project| project.items.is_empty()), older) {
        (true, 0) if has_sessions => messages::report("continue a session with `recall resume ID`"),
        (true, 0) if all.is_empty() => {
            let whole = if args.all { Vec::new() } else { open_everywhere(&memory, config, args.project.as_deref(), Millis::MIN)? };
            messages::report(match whole.iter().map(|project| project.sessions.len()).sum::<usize>() {
                0 => "nothing is open".to_owned(),
                left => format!(
                    "nothing from the last 30 days is open; {} left something open before that: `recall todo --all`",
                    counted(left, "session")
                ),
            });
        }
        (true, 0) => messages::report("nothing of yours is open"),
        (true, _) if has_sessions => messages::report(format!(
            "continue a session with `recall resume ID`; {} last mentioned over 30 days ago: `recall todo --all`",
            counted(older, "open item")
        )),
        (true, _) => messages::report(format!(
            "no open item of yours was mentioned in the last 30 days; {}: `recall todo --all`",
            counted(older, "older item")
        )),
        (false, 0) => messages::report("mark an item as done with `recall close ID`"),
        (false, _) => messages::report(format!(
            "mark an item as done with `recall close ID`; {older} more, last mentioned over 30 days ago: `recall todo --all`"
        )),
    }
    Ok(Completion::Done)
}

/// Tells projects on a day.
struct List<'a> {
    today: String,
    config: &'a Config,
}

/// Something open, whosever it is.
struct Line<'a> {
    id: &'a str,
    at: Millis,
    kind: &'a str,
    text: &'a str,
    due: Option<&'a str>,
}

impl List<'_> {
    fn tell(&self, OpenProject { project, items, sessions, team }: &OpenProject, out: &mut impl Write) -> Result<()> {
        writeln!(out, "{}", one_line(&without_controls(project)))?;
        for OpenLine { id, last_at, kind, text, due, .. } in items {
            self.line("  ", &Line { id, at: *last_at, kind, text, due: due.as_deref() }, out)?;
        }
        for session in sessions {
            let begins = format!("  {}   {}  ", id8(&session.session), self.config.local_time(session.at, "%Y-%m-%d"));
            print_hanging(&begins, &" ".repeat(begins.len()), &session.in_words(), out)?;
        }
        for person in team {
            writeln!(out, "  {}, of your team:", person.by)?;
            for ColleagueLine { id, last_at, kind, text, due } in &person.items {
                self.line("    ", &Line { id, at: *last_at, kind, text, due: due.as_deref() }, out)?;
            }
        }
        Ok(())
    }

    fn line(&self, indent: &str, line: &Line<'_>, out: &mut impl Write) -> Result<()> {
        let begins = format!("{indent}{}  {}  ", line.id, self.config.local_time(Some(line.at), "%Y-%m-%d"));
        let rest = " ".repeat(begins.len());
        let due = match line.due {
            Some(due) if due < self.today.as_str() => " (overdue)",
            Some(due) if due == self.today => " (due today)",
            _ => "",
        };
        print_hanging(&begins, &rest, &format!("{}: {}{due}", line.kind, one_line(&without_controls(line.text))), out)
    }
}
