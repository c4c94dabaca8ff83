//! `recall hook <event>`: called by a client. Leaves a mark, or answers what a session starts with and what is relevant to a
//! prompt.
//!
//! ## Promises
//! - Always exits 0, and prints one valid answer or nothing to stdout.
//! - Ends within a deadline.
//! - Keeps no text of the session.
//! - Any error becomes one line in a log of limited size, which `recall doctor` reads.
//! - Runs before the command line is parsed, so no argument can make it fail.

pub(crate) mod background_run;
mod deadline;
pub(crate) mod payload;
mod prompt;
mod start;
mod stdin;

use std::any::Any;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};

use self::payload::{Event, Payload};
use crate::app::open_memory::explained;
use crate::config::{self, Config, pause};
use crate::hook::deadline::with_deadline;
use crate::inputs::mark;
use crate::inputs::mark::Mark;
use crate::sys::failpoints;
use transcripts::client::Client;

/// Deadline for receiving the payload when leaving a mark: the client allows 1.5 s in total at the end of a session.
const MARK_DEADLINE: Duration = Duration::from_secs(1);

/// Runs `recall hook NAME`; `words` are what follows `hook`.
pub(crate) fn run(words: &[OsString]) -> ExitCode {
    if asks_for_help(words) {
        _ = io::stdout().write_all(help().as_bytes());
        return ExitCode::SUCCESS;
    }
    let name = words.first();
    // Hooks of our own summarizer child are not sessions of the user.
    if config::in_own_child() {
        return ExitCode::SUCCESS;
    }
    let name = name.map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if io::stdin().is_terminal() {
        crate::sys::messages::report("hooks are called by agents, with JSON on stdin: `recall install` puts them in");
        return ExitCode::SUCCESS;
    }
    // The default hook would print to stderr; the panic goes to the log instead.
    std::panic::set_hook(Box::new(|_| {}));
    match catch_unwind(|| handle(&name)).unwrap_or_else(|panic| Err(panicked(&*panic))) {
        Ok(Some(answer)) => _ = io::stdout().write_all(answer.as_bytes()),
        Ok(None) => {}
        Err(e) => crate::app::hook_state::log::note(&name, &format!("{e:#}")),
    }
    ExitCode::SUCCESS
}

/// A person asks, or an agent that looks around: no client does, so it is no failure of a hook.
fn asks_for_help(words: &[OsString]) -> bool {
    words.first().is_some_and(|word| word == "help") || words.iter().any(|word| word == "--help" || word == "-h")
}

fn help() -> String {
    let names: Vec<&str> = Event::names().collect();
    format!(
        "Called by Claude Code, Cline, Codex, Copilot CLI, Cursor, Gemini CLI, OpenCode, Pi, Qwen Code, VS Code Copilot or Windsurf, with JSON on stdin: leaves a mark, or prints the context for a session or a prompt.\n\n\
         Usage: recall hook <EVENT>\n\nEvents: {}\n\n\
         `recall install` puts the hooks in, `recall doctor` says how they are.\n",
        names.join(", ")
    )
}

fn panicked(panic: &(dyn Any + Send)) -> anyhow::Error {
    let said = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    anyhow!("panicked ({}): please report this", said.unwrap_or("no message"))
}

fn handle(name: &str) -> Result<Option<String>> {
    let started = Instant::now();
    let event = Event::from_name(name).with_context(|| format!("`{name}` is no event that recall knows"))?;
    failpoints::happens("hook-panic", || panic!("asked for by a test"));
    if config::is_switched_off() {
        // Before the config is loaded: even if it is invalid, the session is noted as not to be kept.
        let payload = Payload::read(&stdin::read(started + MARK_DEADLINE)?)?;
        return if payload.has_session_id() {
            pause::note(&config::data_dir()?, &payload.session).map(|()| None)
        } else {
            Ok(None)
        };
    }
    let config = Config::load()?;
    let given = if matches!(event, Event::SessionStart | Event::UserPromptSubmit) {
        Duration::from_millis(config.hooks.deadline_ms)
    } else {
        MARK_DEADLINE
    };
    let payload = Payload::read(&stdin::read(started + given)?)?.placed(&config);
    // Other hosts run hooks of the same settings file; their sessions are not ours.
    let Some(client) = payload.client(event, &config).filter(|_| !payload.stop_hook_active) else { return Ok(None) };
    if pause::reason(&config).is_some() {
        // A resumed or compacted session began before recall was switched off.
        let begins = event == Event::SessionStart && matches!(payload.source.as_str(), "startup" | "clear" | "fork" | "new");
        return if begins { pause::note(&config.data_dir, &payload.session).map(|()| None) } else { Ok(None) };
    }
    // Seen with 0.61: Gemini asks itself before each prompt whether to compact.
    if client == Client::Gemini && event == Event::PreCompact && payload.reason == "auto" {
        return Ok(None);
    }
    let index = config.database();
    let done = match event {
        Event::SessionStart => with_deadline(name, started + given, || {
            failpoints::happens("hook-hang", || std::thread::sleep(Duration::from_secs(60)));
            failpoints::happens("hook-panic-inside", || panic!("asked for by a test"));
            start::answer(&payload, client, &config, started + given * 2 / 3)
        }),
        Event::UserPromptSubmit => with_deadline(name, started + given, || {
            failpoints::happens("hook-hang", || std::thread::sleep(Duration::from_secs(60)));
            failpoints::happens("hook-panic-inside", || panic!("asked for by a test"));
            prompt::answer(&payload, client, &config)
        }),
        _ => leave_mark(event, &payload, &config)
            .and_then(|()| background_run::wanted(event, &config).map_or(Ok(()), background_run::start))
            .map(|()| None),
    };
    done.map_err(|e| explained(e, &index))
}

/// What a client takes into the conversation, in its own form.
fn answer_to(client: Client, event: &str, text: &str) -> Value {
    match client {
        Client::CopilotCli => json!({"additionalContext": text}),
        Client::Cursor => json!({"additional_context": text}),
        _ => json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}),
    }
}

/// Does a client show the user a line that is beside what it takes into the conversation? Those with an answer of one key are not known to,
/// and VS Code shows it as a warning.
fn shows_line(client: Client) -> bool {
    !matches!(client, Client::CopilotCli | Client::Cursor | Client::VscodeCopilot)
}

fn leave_mark(event: Event, payload: &Payload, config: &Config) -> Result<()> {
    failpoints::happens("hook-panic-inside", || panic!("asked for by a test"));
    let mark = Mark {
        session: payload.session.clone(),
        transcript: payload.transcript.display().to_string(),
        // Only a hint: the file may not exist yet, or lag behind.
        offset: std::fs::metadata(&payload.transcript).map_or(0, |m| m.len()),
        event: event.name().to_owned(),
        reason: payload.reason.clone(),
        at: config.now(),
    };
    mark::write_mark(&config.data_dir, &mark).with_context(|| format!("cannot leave a mark in {}", config.data_dir.display()))
}
