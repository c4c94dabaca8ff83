//! Whether Codex runs our hooks: only those that the user accepted in `/hooks`, each as it stood then. It says nothing of the others.
//!
//! Read from its `config.toml`, never written there: it is the user who says what is trusted.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::Host;
use super::agent_hosts::AgentHost;
use super::hook_command::HookCall;
use transcripts::client::Client;

/// How long Codex waits for a hook that does not say it, and the longest for one at the end of a session, in seconds.
const TIMEOUT: i64 = 600;
const TIMEOUT_AT_END: i64 = 3;

/// What the user said of our hooks; of several hooks the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Trust {
    Accepted,
    /// Switched off in `/hooks`.
    Off,
    /// Something else was accepted than what stands there now.
    Changed,
    /// Nobody accepted it.
    Missing,
}

/// What is to be done so that Codex runs the hooks.
pub(crate) const ACCEPT: &str = "start `codex`, type `/hooks`, and accept those of recall";

/// A hook of ours, as Codex knows it.
struct TrustedHook {
    event: String,
    /// Where it stands: the event in its spelling, then the entry and the hook in it, counted from 0.
    place: String,
    /// By which of these it is known: not of every event a matcher counts.
    hashes: [String; 2],
}

/// What the user said of our hooks, and the events of those of which that holds. `None` where there are none, or it cannot be known.
pub(crate) fn trust(host: &Host<'_>) -> Option<(Trust, Vec<String>)> {
    let codex = AgentHost::of(Client::Codex)?;
    let file = codex.hooks_file(host)?;
    let ours = hooks(&serde_json::from_slice(&fs::read(&file).ok()?).ok()?);
    let said: toml::Table = match fs::read_to_string(file.with_file_name("config.toml")) {
        Ok(text) => text.parse().ok()?,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => toml::Table::new(),
        Err(_) => return None,
    };
    let states: Vec<(Trust, String)> = ours.into_iter().map(|hook| (of_hook(&hook, &file, &said), hook.event)).collect();
    let worst = states.iter().map(|(trust, _)| *trust).max()?;
    Some((worst, states.into_iter().filter(|(trust, _)| *trust == worst).map(|(_, event)| event).collect()))
}

/// Does an agent run only hooks that the user accepted?
pub(crate) fn is_asked_by(agent: Client) -> bool {
    agent == Client::Codex
}

fn of_hook(hook: &TrustedHook, file: &Path, said: &toml::Table) -> Trust {
    // By the folder's real name if a variable names the folder. The file itself may be a link.
    let real = || Some(file.parent()?.canonicalize().ok()?.join(file.file_name()?));
    let files: [Option<PathBuf>; 2] = [Some(file.to_owned()), real()];
    let states = said.get("hooks").and_then(|hooks| hooks.get("state"));
    let state_of = |file: PathBuf| states?.get(format!("{}:{}", file.display(), hook.place));
    let Some(state) = files.into_iter().flatten().find_map(state_of) else { return Trust::Missing };
    let accepted = state.get("trusted_hash").and_then(toml::Value::as_str);
    match accepted {
        None => Trust::Missing,
        Some(accepted) if !hook.hashes.iter().any(|hash| hash == accepted) => Trust::Changed,
        Some(_) if state.get("enabled").and_then(toml::Value::as_bool) == Some(false) => Trust::Off,
        Some(_) => Trust::Accepted,
    }
}

/// Our hooks in a file of Codex's.
fn hooks(file: &Value) -> Vec<TrustedHook> {
    let mut ours = Vec::new();
    for (event, entries) in file["hooks"].as_object().into_iter().flatten() {
        let label = snake_case(event);
        for (at, entry) in entries.as_array().into_iter().flatten().enumerate() {
            for (within, hook) in entry["hooks"].as_array().into_iter().flatten().enumerate() {
                if hook["command"].as_str().and_then(HookCall::find).is_none() {
                    continue;
                }
                let hashes = [entry["matcher"].as_str(), None].map(|matcher| hash(&label, matcher, hook));
                ours.push(TrustedHook { event: event.clone(), place: format!("{label}:{at}:{within}"), hashes });
            }
        }
    }
    ours
}

/// By what Codex knows a hook again: its event, matcher and handler with what was left to a default, as JSON with sorted keys (seen with
/// 0.169, whose app server says it by `hooks/list`).
fn hash(label: &str, matcher: Option<&str>, hook: &Value) -> String {
    let longest = if label == "session_end" { TIMEOUT_AT_END } else { i64::MAX };
    let timeout = hook["timeout"].as_i64().unwrap_or(TIMEOUT).clamp(1, longest);
    let mut handler = Map::new();
    handler.insert("async".to_owned(), json!(hook["async"].as_bool().unwrap_or_default()));
    handler.insert("command".to_owned(), hook["command"].clone());
    if let Some(message) = hook["statusMessage"].as_str() {
        handler.insert("statusMessage".to_owned(), json!(message));
    }
    handler.insert("timeout".to_owned(), json!(timeout));
    handler.insert("type".to_owned(), json!("command"));
    let mut known = Map::new();
    known.insert("event_name".to_owned(), json!(label));
    known.insert("hooks".to_owned(), json!([handler]));
    if let Some(matcher) = matcher {
        known.insert("matcher".to_owned(), json!(matcher));
    }
    let digest = Sha256::digest(Value::Object(known).to_string());
    format!("sha256:{}", digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// `session_start` of `SessionStart`.
fn snake_case(event: &str) -> String {
    let letter = |(at, c): (usize, char)| {
        let gap = if c.is_ascii_uppercase() && at > 0 { "_" } else { "" };
        format!("{gap}{}", c.to_ascii_lowercase())
    };
    event.char_indices().map(letter).collect()
}
