//! Starts a run that outlives the hook, if the user opted in: an ingest before the client compacts a session, or a digest when one has ended.
//!
//! Some clients rewrite the transcript at a compaction, which deletes what it held before; a mark read at the next timer would be
//! too late. A digest at a session's end is for machines that have no timer. The hook only starts the run and does not wait for it.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::payload::Event;
use crate::config::Config;

/// The arguments of the run that this event starts; `None` if it starts none.
pub(crate) fn wanted(event: Event, config: &Config) -> Option<&'static [&'static str]> {
    match event {
        Event::PreCompact if config.hooks.ingest_before_compact => Some(&["digest", "--ingest-only", "--in-background"]),
        Event::SessionEnd if config.hooks.digest_at_end => Some(&["digest", "--in-background"]),
        _ => None,
    }
}

/// Starts the run, which inherits none of the hook's pipes.
pub(crate) fn start(args: &[&str]) -> Result<()> {
    let program = std::env::current_exe().context("cannot tell where recall is")?;
    Command::new(&program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Its own process group, so that it survives when the client's processes are killed.
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))?;
    Ok(())
}
