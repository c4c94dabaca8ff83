//! `recall install` and `recall uninstall`: settings and timers of others, edited and given back.

pub mod agent_servers;
mod all;
mod concurrent;
mod crontab;
pub mod fakes;
mod hooks;
mod mcp_servers;
mod rules_files;
mod system;
mod timers;
mod undo;
