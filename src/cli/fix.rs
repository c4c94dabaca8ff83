//! `recall fix`: whether an error was met before, and what was done before the check passed.

use std::io::Write;

use anyhow::{Result, bail};

use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::fix::{FixRequest, KnownFailure, fix};
use crate::cli::args::FixArgs;
use crate::config::Config;
use crate::text::clean::{counted, id8, one_line, shorten, without_controls};

/// The most characters of an error.
const MAX_ERROR_CHARS: usize = 240;
/// The most characters of what is asked about, where it is told again.
const MAX_ASKED_CHARS: usize = 60;

pub(crate) fn run(args: &FixArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let error = args.error.join(" ");
    if error.trim().is_empty() {
        bail!("say which error: `recall fix 'libpq.so.5: cannot open shared object file'`");
    }
    let asker = Asker::here(config);
    let own = asker.project();
    let asked = FixRequest { error: &error, project: args.project.as_deref(), own: &own, limit: args.limit };
    let reply = fix(&asker.memory()?, config, &asked)?;
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reply)?)?;
        return Ok(Completion::Done);
    }
    let Some(last) = &reply.last else {
        let asked = shorten(&one_line(&without_controls(&error)), MAX_ASKED_CHARS);
        writeln!(out, "no such error is known: `recall search {asked}` finds what was said about it")?;
        return Ok(Completion::Done);
    };
    let (times, sessions) = (counted(reply.times, "time"), counted(reply.sessions, "session"));
    writeln!(out, "met {times} in {sessions}, last on {last}")?;
    reply.failures.iter().try_for_each(|failure| tell(failure, out))?;
    Ok(Completion::Done)
}

fn tell(failure: &KnownFailure, out: &mut impl Write) -> Result<()> {
    let KnownFailure { elsewhere, session, turn, day, times, error, command, passed, again_in_turn, .. } = failure;
    let project = elsewhere.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
    let turn = if *turn > 0 { format!(", turn {turn}") } else { String::new() };
    let often = if *times > 1 { format!(", {times} times") } else { String::new() };
    writeln!(out, "\n{day}{project}, session {}{turn}{often}: {}", id8(session), shorten(error, MAX_ERROR_CHARS))?;
    writeln!(out, "  by `{command}`")?;
    match passed {
        Some(passed) => writeln!(out, "  then {}", passed.text(MAX_ERROR_CHARS))?,
        None => writeln!(out, "  not seen to pass again")?,
    }
    if let Some(turn) = again_in_turn {
        writeln!(out, "  met again after that (turn {turn}), not seen to pass again")?;
    }
    Ok(())
}
