//! An ingest that is started before the client compacts a session, where the user asked for it.
//!
//! Some clients rewrite the transcript at a compaction, and what stood before it is gone: a mark that the next timer reads comes too
//! late for it. The hook only starts the run; it waits for nothing.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::payload::Event;
use crate::config::Config;

/// Whether this event is to start an ingest: before a compaction, with `ingest_before_compact` on.
pub fn is_due(event: Event, config: &Config) -> bool {
    event == Event::PreCompact && config.hooks.ingest_before_compact
}

/// Starts `recall digest --ingest-only --in-background`, which outlives the hook and holds none of its pipes.
///
/// # Errors
/// When the program cannot be started.
pub fn start() -> Result<()> {
    let program = std::env::current_exe().context("cannot tell where recall is")?;
    Command::new(&program)
        .args(["digest", "--ingest-only", "--in-background"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // What ends the client's processes does not end it.
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))?;
    Ok(())
}
