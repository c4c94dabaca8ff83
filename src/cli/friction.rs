//! `recall friction`: what fails again and again.

use std::io::Write;

use anyhow::Result;

use super::reading::print_lines;
use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::friction::{FrictionRequest, RepeatedError, friction};
use crate::cli::args::FrictionArgs;
use crate::config::Config;
use text::clean::{counted, one_line, shorten, without_controls};
use transcripts::session::Millis;

/// The most characters of an error and of a command.
const MAX_CHARS: usize = 200;

pub(crate) fn run(args: &FrictionArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let asker = Asker::here(config);
    let own = asker.project();
    let asked = FrictionRequest { project: args.project.as_deref(), own: &own, limit: args.limit };
    let reply = friction(&asker.memory()?, config, &asked)?;
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reply)?)?;
        return Ok(Completion::Done);
    }
    if reply.errors.is_empty() {
        writeln!(out, "no error occurred three times or in two sessions")?;
    }
    let mut before: Option<&str> = None;
    for error in &reply.errors {
        if before != Some(&error.project) {
            let project = if error.elsewhere { one_line(&without_controls(&error.project)) } else { "this project".to_owned() };
            writeln!(out, "in {project}:")?;
        }
        tell(error, out)?;
        before = Some(&error.project);
    }
    Ok(Completion::Done)
}

fn tell(error: &RepeatedError, out: &mut impl Write) -> Result<()> {
    let RepeatedError { times, sessions, first, last, until_passed, not_passed, error, command, .. } = error;
    let days = if first == last { format!("on {first}") } else { format!("{first} to {last}") };
    let passed = if times > not_passed {
        format!(", {} followed by a passing run after {} in all", times - not_passed, span(*until_passed))
    } else {
        String::new()
    };
    let not_passed = match *not_passed {
        0 => String::new(),
        all if all == *times => ", no passing run seen since".to_owned(),
        some => format!(", {some} not"),
    };
    let (times, sessions) = (counted(*times, "time"), counted(*sessions, "session"));
    let (error, command) = (shorten(error, MAX_CHARS), shorten(command, MAX_CHARS));
    let line = format!("  {times} in {sessions}, {days}{passed}{not_passed}: {error}\n    last command: `{command}`");
    print_lines(&line, out)
}

/// `12 s`, `5 min`, `3 h 20 min`.
fn span(time: Millis) -> String {
    let seconds = time / 1_000;
    match (seconds / 3_600, seconds % 3_600 / 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}
