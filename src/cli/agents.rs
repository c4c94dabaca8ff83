//! A line on each agent, for `recall doctor` and `recall status`.

use crate::app::agents::{AgentState, PartState};
use crate::config::Config;
use crate::setup::codex_trust::Trust;
use text::clean::counted;

/// What is known of an agent: its sessions, what they can be told, and what of ours it has.
pub(super) fn line(state: &AgentState, config: &Config) -> String {
    let AgentState { agent, tier, sessions, last_at, waiting, hooks, mcp, rule, trust, .. } = state;
    let last = last_at.map(|at| format!(", last {}", config.local_time(Some(at), "%Y-%m-%d %H:%M"))).unwrap_or_default();
    let waits = if *waiting > 0 { format!(", {waiting} waiting for a digest") } else { String::new() };
    let sessions = format!("{}{last}{waits}", counted(*sessions as usize, "session"));
    let parts = [("hooks", hooks), ("MCP server", mcp), ("rule", rule)];
    let parts = parts.into_iter().filter_map(|(what, state)| state.map(|state| part(what, state)));
    let trusted = trust.map(|trust| said(trust).to_owned());
    let all = [sessions, tier.name().to_owned()].into_iter().chain(parts).chain(trusted);
    format!("{}: {}", agent.name(), all.collect::<Vec<_>>().join("; "))
}

fn part(what: &str, state: PartState) -> String {
    match state {
        PartState::Installed => format!("{what} installed"),
        PartState::Outdated => format!("{what} out of date"),
        PartState::Broken => format!("{what} unknown, because the file is broken"),
        PartState::Off => format!("{what} switched off"),
        PartState::Plugin => format!("{what} by the plugin"),
        PartState::Missing => format!("no {what}"),
    }
}

/// What the user said of the hooks.
fn said(trust: Trust) -> &'static str {
    match trust {
        Trust::Accepted => "hooks accepted",
        Trust::Off => "hooks switched off in the agent",
        Trust::Changed => "hooks changed since you accepted them",
        Trust::Missing => "hooks not accepted yet",
    }
}
