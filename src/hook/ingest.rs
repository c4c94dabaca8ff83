//! Starts an ingest before the client compacts a session, if the user opted in.
//!
//! Some clients rewrite the transcript at a compaction, which deletes what it held before; a mark read at the next timer would be
//! too late. The hook only starts the run and does not wait for it.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::payload::Event;
use crate::config::Config;

/// Whether this event starts an ingest: a compaction is about to begin, and `ingest_before_compact` is on.
pub(crate) fn is_due(event: Event, config: &Config) -> bool {
    event == Event::PreCompact && config.hooks.ingest_before_compact
}

/// Starts `recall digest --ingest-only --in-background`, which outlives the hook and inherits none of its pipes.
pub(crate) fn start() -> Result<()> {
    let program = std::env::current_exe().context("cannot tell where recall is")?;
    Command::new(&program)
        .args(["digest", "--ingest-only", "--in-background"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Its own process group, so that it survives when the client's processes are killed.
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))?;
    Ok(())
}
