//! What lives beside Claude Code: hooks in its settings, a server it may ask, and a timer for the batch.
//!
//! Everything is looked at and worked out first (`plan`), so that a dry run shows what would be done and a file that cannot be
//! edited stops the rest; then it is done (`apply`), noting in the manifest what uninstall is to undo.

pub mod apply;
pub mod cleanup;
pub mod command;
mod cron;
pub mod file;
mod job;
mod launchd;
pub mod look;
pub mod manifest;
pub mod plan;
pub mod purge;
mod quote;
mod register;
pub mod schedule;
pub mod servers;
pub mod settings;
pub mod strict_json;
mod systemd;
mod timer;
mod tools;
pub mod turn;
pub mod undo;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use self::tools::Tools;
use crate::config::{Config, Surroundings};

/// Where all this happens: the config, the environment, and the tools of the system.
#[derive(Debug)]
pub struct Host<'a> {
    pub config: &'a Config,
    pub around: Surroundings,
}

impl<'a> Host<'a> {
    /// # Errors
    /// When the environment has a value that cannot be used.
    pub fn new(config: &'a Config) -> Result<Self> {
        Ok(Self { config, around: Surroundings::read(config)? })
    }

    fn tools(&self) -> Tools<'a> {
        Tools { search_path: &self.config.search_path }
    }
}

/// Whose sessions get the hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Scope {
    /// all sessions of yours: settings.json in your Claude Code config directory
    User,
    /// everyone's sessions in this project: .claude/settings.json, which can be committed
    Project,
    /// your sessions in this project: .claude/settings.local.json
    Local,
}

impl std::fmt::Display for Scope {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Scope::User => "user",
            Scope::Project => "project",
            Scope::Local => "local",
        })
    }
}

/// Who starts the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timer {
    Systemd,
    Launchd,
    Cron,
    None,
}

impl Timer {
    /// The ones that can be installed.
    pub const ALL: [Timer; 3] = [Timer::Systemd, Timer::Launchd, Timer::Cron];
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

/// Who is to start it, as the command line says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum TimerChoice {
    /// launchd on macOS, else systemd where it runs for you, else cron
    Auto,
    /// a user timer
    Systemd,
    /// an agent
    Launchd,
    /// a line in your crontab
    Cron,
    /// you, by hand
    None,
}
