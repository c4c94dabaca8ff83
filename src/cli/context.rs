//! `recall context`: prints what SessionStart would inject in this project; with `--about`, what is known about a topic.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::session_start::{FreshStart, FreshStartRequest, fresh_start};
use crate::cli::args::ContextArgs;
use crate::config::Config;
use crate::sys::messages;

/// Deadline. Longer than a hook's: no session waits for this command.
const TIME_LIMIT: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &ContextArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    if let Some(topic) = &args.about {
        return crate::cli::topic::run(args, topic, config, out);
    }
    // The index may be missing: even before the first digest a session start has something to say.
    let cwd = folder(args)?;
    let memory = Asker::in_folder(config, &cwd).memory_if_there()?;
    let asked = FreshStartRequest {
        cwd: cwd.to_str().context("the folder's name is not UTF-8")?,
        max_tokens: args.max_tokens,
        until: Instant::now() + TIME_LIMIT,
    };
    let told = fresh_start(config, memory.as_ref(), &asked)?;
    let FreshStart { context, max_tokens, project, .. } = &told;
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&told)?)?;
    } else if !context.text.is_empty() {
        out.write_all(context.text.as_bytes())?;
    } else if context.sessions_left_out > 0 {
        messages::report(format!("no room for anything in {max_tokens} tokens: {} sessions are known", context.sessions_left_out));
    } else {
        let hint = if memory.is_none() { ": run `recall digest` first" } else { "" };
        messages::report(format!("nothing is known of {project} yet{hint}"));
    }
    Ok(Completion::Done)
}

/// The folder asked about. A folder that no longer exists still names its project.
pub(crate) fn folder(args: &ContextArgs) -> Result<PathBuf> {
    let Some(dir) = &args.cwd else { return std::env::current_dir().context("the current folder is gone") };
    dir.canonicalize().or_else(|_| std::path::absolute(dir)).with_context(|| format!("--cwd {}", dir.display()))
}
