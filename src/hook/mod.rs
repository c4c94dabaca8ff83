//! `recall hook <event>`: what Claude Code calls. Leaves a mark, or says what a session starts with.
//!
//! Promises: always exit 0, on stdout one valid answer or nothing, done within a deadline, no text of the session kept. Whatever
//! goes wrong becomes one line in a log of limited size that `recall doctor` reads. Dispatched before the command line is parsed,
//! so no argument can make it fail.

mod claim;
pub mod log;
mod payload;
mod start;
mod watch;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};

use self::payload::{Event, Payload};
use self::watch::{Watch, watched};
use crate::config::{self, Config};
use crate::mark::{self, Mark};

/// How long leaving a mark may take: the client gives the end of a session 1.5 s.
const MARK_DEADLINE: Duration = Duration::from_secs(1);
/// The most a payload may have, in bytes; a compaction's summary or a last message are part of some.
const MAX_PAYLOAD: u64 = 8 << 20;

/// Runs the hook `recall hook NAME`.
pub fn run(name: Option<OsString>) -> ExitCode {
    // Our own child's hooks are nobody's sessions.
    if config::in_own_child() {
        return ExitCode::SUCCESS;
    }
    let name = name.map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if io::stdin().is_terminal() {
        eprintln!("recall: hooks are called by Claude Code, with JSON on stdin: `recall install` puts them in");
        return ExitCode::SUCCESS;
    }
    match watched(&name, MARK_DEADLINE, |watch| work(&name, watch)) {
        Ok(Some(answer)) => _ = io::stdout().write_all(answer.as_bytes()),
        Ok(None) => {}
        Err(e) => log::note(&name, &format!("{e:#}")),
    }
    ExitCode::SUCCESS
}

fn work(name: &str, watch: &Watch) -> Result<Option<String>> {
    let event = Event::named(name).with_context(|| format!("`{name}` is no event that recall knows"))?;
    config::fault("hook-panic", || panic!("asked for by a test"));
    let config = Config::load()?;
    let deadline = if event == Event::SessionStart { Duration::from_millis(config.hooks.deadline_ms) } else { MARK_DEADLINE };
    watch.set_deadline(deadline);
    let mut input = Vec::new();
    io::stdin().lock().take(MAX_PAYLOAD).read_to_end(&mut input).context("cannot read stdin")?;
    let payload = Payload::read(&input)?;
    // Other hosts run the hooks of the same settings file: theirs are not our sessions.
    if !payload.is_claude_codes(event, &config) || payload.stop_hook_active {
        return Ok(None);
    }
    match event {
        Event::SessionStart => start::answer(&payload, &config, watch.started + deadline * 2 / 3),
        _ => leave_mark(event, &payload, &config).map(|()| None),
    }
}

/// Removes what hooks left that nobody needs any more.
pub fn tidy(data_dir: &Path) {
    mark::tidy(data_dir);
    claim::tidy(data_dir);
}

fn leave_mark(event: Event, payload: &Payload, config: &Config) -> Result<()> {
    let mark = Mark {
        session: payload.session.clone(),
        transcript: payload.transcript.display().to_string(),
        // It may not be there yet, or lag: a hint.
        offset: std::fs::metadata(&payload.transcript).map_or(0, |m| m.len()),
        event: event.name().to_owned(),
        reason: payload.reason.clone(),
        at: config.now(),
    };
    mark::leave(&config.data_dir, &mark).with_context(|| format!("cannot leave a mark in {}", config.data_dir.display()))
}
