//! The clients whose sessions are kept: coding agents, each with its own transcripts. Pure.

use serde::{Deserialize, Serialize};

/// A coding agent. In what users read it is called an agent; in code `agent` is a subagent of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Client {
    /// Also the client of whatever was stored before others were read.
    #[default]
    ClaudeCode,
    Codex,
}

impl Client {
    /// In the order in which they are listed.
    pub(crate) const ALL: [Self; 2] = [Self::ClaudeCode, Self::Codex];

    /// The name by which the index, exports, filters and `[sources]` in the config know it.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    /// Its name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
        }
    }

    /// What its assistant is called beside the user.
    pub(crate) fn assistant(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude",
            Self::Codex => "Codex",
        }
    }

    /// The client that somebody means by a name, in whatever case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name.trim().to_lowercase().replace([' ', '_'], "-").as_str() {
            "claude" | "claudecode" | "claude-code" => Some(Self::ClaudeCode),
            "codex" | "codex-cli" | "openai-codex" => Some(Self::Codex),
            _ => None,
        }
    }

    /// Is it the one for which nothing need be said?
    pub(crate) fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_is_known_by_its_key_and_by_its_name() {
        for client in Client::ALL {
            assert_eq!((Client::named(client.key()), Client::named(client.name())), (Some(client), Some(client)));
            assert_eq!(serde_json::to_string(&client).unwrap(), format!("\"{}\"", client.key()));
        }
        assert_eq!((Client::named("vim"), Client::named("")), (None, None));
    }
}
