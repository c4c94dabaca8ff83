//! `recall list`: the stored sessions, newest first.

use std::io::Write;

use anyhow::Result;

use super::open_memory;
use crate::app::Completion;
use crate::app::list::{ListRequest, ListedSession, list};
use crate::cli::args::ListArgs;
use crate::config::Config;
use crate::sys::{messages, pager};
use text::clean::{fit_title, one_line, shorten, without_controls};

/// The most characters of a project's name in a line.
const MAX_PROJECT_CHARS: usize = 20;
/// The most characters of a machine's name: two of one name differ at the end.
const MAX_MACHINE_CHARS: usize = 70;
/// At least so many characters of a title are shown, however narrow the terminal.
const MIN_TITLE_CHARS: usize = 12;

pub(crate) fn run(args: &ListArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let asked = ListRequest {
        project: args.project.as_deref(),
        client: args.agent,
        since: args.since.as_deref(),
        skip: 0,
        limit: args.limit,
    };
    let reply = list(&open_memory(config)?, config, &asked)?;
    if args.json {
        for session in &reply.sessions {
            writeln!(out, "{}", serde_json::to_string(session)?)?;
        }
        return Ok(Completion::Done);
    }
    let columns = pager::terminal().map(|size| size.columns);
    let longest = reply.sessions.iter().map(|one| name(one).chars().count()).max().unwrap_or_default();
    for session in &reply.sessions {
        writeln!(out, "{}", line(session, longest, columns))?;
    }
    // What follows is about the list, and goes to stderr.
    out.flush()?;
    if reply.sessions.is_empty() {
        messages::report("no sessions");
    } else if reply.more > 0 {
        messages::report(format!("{} more: `--limit N`, `--since`, `--project`, `--agent`", reply.more));
    }
    Ok(Completion::Done)
}

/// A line; its title is cut to the width of the terminal.
fn line(session: &ListedSession, longest: usize, columns: Option<usize>) -> String {
    let begins = format!("{}  {}  {:longest$}  ", session.when, session.id(), name(session));
    let of = Some(session.client.name()).filter(|_| !session.client.is_usual());
    let machine =
        session.machine.as_ref().map(|name| format!("on {}", shorten(&one_line(&without_controls(name)), MAX_MACHINE_CHARS)));
    let remarks: Vec<&str> = of.into_iter().chain(machine.as_deref()).chain(session.remark()).collect();
    let remark = if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join(", ")) };
    let title = one_line(&without_controls(&session.title));
    let room = columns.map_or(usize::MAX, |all| all.saturating_sub(begins.chars().count() + remark.len()).max(MIN_TITLE_CHARS));
    format!("{begins}{}{remark}", fit_title(&title, room))
}

fn name(session: &ListedSession) -> String {
    shorten(&one_line(&without_controls(&session.project_name)), MAX_PROJECT_CHARS)
}
