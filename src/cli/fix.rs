//! `recall fix`: whether an error was met before, and what was done before the check passed.

use std::io::Write;

use anyhow::{Result, bail};

use super::reading::print_lines;
use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::fix::{FixRequest, fix};
use crate::cli::args::FixArgs;
use crate::config::Config;

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
    let Some(heading) = reply.heading() else {
        let why = match reply.too_general {
            true => "that line is too general: give the whole line that says what failed",
            false => "no command is known to have failed with this line: try `recall search` with a few of its words",
        };
        writeln!(out, "{why}")?;
        return Ok(Completion::Done);
    };
    let failures: String = reply.failures.iter().map(|failure| format!("\n{}", failure.text())).collect();
    print_lines(&format!("{heading}\n{failures}"), out)?;
    Ok(Completion::Done)
}
