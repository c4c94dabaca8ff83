//! What recall installs beside Claude Code: hooks in its settings, a server it may ask, and a timer for the digest.
//!
//! Everything is read and worked out first (`plan`), so that a dry run shows what would be done and a file that cannot be edited stops
//! the rest; then it is done (`apply`), and the manifest records what uninstall is to undo.

pub(crate) mod agent_hosts;
pub(crate) mod apply;
pub(crate) mod codex_trust;
mod cron;
mod diff;
pub(crate) mod file;
pub(crate) mod hook_command;
pub(crate) mod inspect;
mod launchd;
mod locations;
pub(crate) mod lock;
pub(crate) mod manifest;
mod marked_block;
pub(crate) mod plan;
mod plugin_file;
pub(crate) mod purge;
mod quote;
mod registration;
pub(crate) mod rules_file;
pub(crate) mod servers;
pub(crate) mod settings;
pub(crate) mod strict_json;
mod systemd;
mod timer;
pub(crate) mod timer_calendar;
mod timer_cli;
mod timer_job;
mod timer_steps;
mod toml_servers;
pub(crate) mod transcript_retention;
pub(crate) mod uninstall;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use self::agent_hosts::AgentHost;
use self::timer_cli::TimerCli;
use crate::config::{Config, InheritedEnvironment};
use transcripts::client::Client;

/// What an install works with: the config, the environment, and the commands that control timers.
#[derive(Debug)]
pub(crate) struct Host<'a> {
    pub(crate) config: &'a Config,
    pub(crate) environment: InheritedEnvironment,
}

impl<'a> Host<'a> {
    /// # Errors
    /// When the environment has a value that cannot be used.
    pub(crate) fn new(config: &'a Config) -> Result<Self> {
        Ok(Self { config, environment: InheritedEnvironment::read(config)? })
    }

    fn timer_cli(&self) -> TimerCli<'a> {
        TimerCli { search_path: &self.config.search_path }
    }
}

/// Which sessions get the hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum InstallScope {
    /// all your sessions: settings.json in your Claude Code config directory
    User,
    /// everyone's sessions in this project: .claude/settings.json, which can be committed
    Project,
    /// your sessions in this project: .claude/settings.local.json
    Local,
    /// All your sessions of another agent: a file in its folder, much like Claude Code's settings. Asked for as an agent, not as a scope.
    #[value(skip)]
    Agent(Client),
}

impl InstallScope {
    /// What an agent's sessions are for an install; of Claude Code's as `scope` says. `None` of an agent that has no hooks of ours.
    pub(crate) fn of(agent: Client, scope: Self) -> Option<Self> {
        match agent {
            Client::ClaudeCode => Some(scope),
            other => AgentHost::of(other).map(|_| Self::Agent(other)),
        }
    }

    /// Those of other agents than Claude Code.
    pub(crate) fn of_others() -> impl Iterator<Item = Self> {
        AgentHost::agents().map(Self::Agent)
    }

    /// Whose sessions they are.
    pub(crate) fn agent(self) -> Client {
        if let Self::Agent(agent) = self { agent } else { Client::ClaudeCode }
    }

    /// As an option of `recall install` and `recall uninstall`.
    pub(crate) fn option(self) -> String {
        let option = if self.agent().is_usual() { "--scope" } else { "--agent" };
        format!("{option} {self}")
    }
}

impl std::fmt::Display for InstallScope {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            InstallScope::User => "user",
            InstallScope::Project => "project",
            InstallScope::Local => "local",
            InstallScope::Agent(agent) => agent.key(),
        })
    }
}

/// What starts the digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Timer {
    Systemd,
    Launchd,
    Cron,
    None,
}

impl Timer {
    /// The timers that can be installed.
    pub(crate) const ALL: [Timer; 3] = [Timer::Systemd, Timer::Launchd, Timer::Cron];
}

impl std::fmt::Display for Timer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Timer::Systemd => "systemd",
            Timer::Launchd => "launchd",
            Timer::Cron => "cron",
            Timer::None => "none",
        })
    }
}

/// What is to start the digest, as the command line names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TimerChoice {
    /// launchd on macOS, else systemd if it runs for you, else cron
    Auto,
    /// a user timer
    Systemd,
    /// a launchd job
    Launchd,
    /// a marked block in your crontab
    Cron,
    /// no timer: you run `recall digest` yourself
    None,
}
