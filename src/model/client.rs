//! The clients whose sessions are kept: coding agents, each with its own transcripts. Pure.

use serde::{Deserialize, Serialize};

/// A coding agent. In what users read it is called an agent; in code `agent` is a subagent of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Client {
    /// Also the client of whatever was stored before others were read.
    #[default]
    ClaudeCode,
}

impl Client {
    /// In the order in which they are listed.
    pub(crate) const ALL: [Self; 1] = [Self::ClaudeCode];
}
