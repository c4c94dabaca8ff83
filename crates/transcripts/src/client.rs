//! The clients whose sessions are kept: coding agents, each with its own transcripts. Pure.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A coding agent. In what users read it is called an agent; in code `agent` is a subagent of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Client {
    /// Also the client of whatever was stored before others were read.
    #[default]
    ClaudeCode,
    Codex,
    CopilotCli,
    QwenCode,
    Pi,
    #[serde(rename = "opencode")]
    OpenCode,
    Cline,
    Cowork,
    Gemini,
    Cursor,
    RooCode,
    KiloCode,
    VscodeCopilot,
    Antigravity,
    Windsurf,
}

/// Whether a client keeps sessions in the folders of editors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InEditors {
    /// It is an extension of editors and nothing else.
    Only,
    /// Beside a folder of its own.
    Too,
    Not,
}

impl Client {
    /// In the order in which they are listed.
    pub const ALL: [Self; 15] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::CopilotCli,
        Self::QwenCode,
        Self::Pi,
        Self::OpenCode,
        Self::Cline,
        Self::Cowork,
        Self::Gemini,
        Self::Cursor,
        Self::RooCode,
        Self::KiloCode,
        Self::VscodeCopilot,
        Self::Antigravity,
        Self::Windsurf,
    ];

    /// The name by which the index, exports, filters and `[sources]` in the config know it.
    pub fn key(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::CopilotCli => "copilot-cli",
            Self::QwenCode => "qwen-code",
            Self::Pi => "pi",
            Self::OpenCode => "opencode",
            Self::Cline => "cline",
            Self::Cowork => "cowork",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::RooCode => "roo-code",
            Self::KiloCode => "kilo-code",
            Self::VscodeCopilot => "vscode-copilot",
            Self::Antigravity => "antigravity",
            Self::Windsurf => "windsurf",
        }
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::CopilotCli => "Copilot CLI",
            Self::QwenCode => "Qwen Code",
            Self::Pi => "Pi",
            Self::OpenCode => "OpenCode",
            Self::Cline => "Cline",
            Self::Cowork => "Claude Cowork",
            Self::Gemini => "Gemini CLI",
            Self::Cursor => "Cursor",
            Self::RooCode => "Roo Code",
            Self::KiloCode => "Kilo Code",
            Self::VscodeCopilot => "VS Code Copilot",
            Self::Antigravity => "Antigravity",
            Self::Windsurf => "Windsurf",
        }
    }

    /// What its assistant is called beside the user.
    pub fn assistant(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude",
            Self::Codex => "Codex",
            Self::CopilotCli => "Copilot",
            Self::QwenCode => "Qwen",
            Self::Pi => "Pi",
            Self::OpenCode => "OpenCode",
            Self::Cline => "Cline",
            Self::Cowork => "Claude",
            Self::Gemini => "Gemini",
            Self::Cursor => "Cursor",
            Self::RooCode => "Roo",
            Self::KiloCode => "Kilo",
            Self::VscodeCopilot => "Copilot",
            Self::Antigravity => "Antigravity",
            Self::Windsurf => "Cascade",
        }
    }

    /// What starts it where nothing else is configured.
    pub fn program(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude",
            Self::Codex => "codex",
            Self::CopilotCli => "copilot",
            Self::QwenCode => "qwen",
            Self::Pi => "pi",
            Self::OpenCode => "opencode",
            Self::Cline => "cline",
            Self::Cowork => "claude",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor-agent",
            Self::Antigravity => "agy",
            Self::Windsurf => "windsurf",
            // The editor of which they are extensions.
            Self::RooCode | Self::KiloCode | Self::VscodeCopilot => "code",
        }
    }

    /// The variable that names the folder in which it keeps its files, and the name of that folder below the home where none does.
    pub fn home(self) -> (Option<&'static str>, &'static str) {
        match self {
            Self::ClaudeCode => (Some("CLAUDE_CONFIG_DIR"), ".claude"),
            Self::Codex => (Some("CODEX_HOME"), ".codex"),
            Self::CopilotCli => (None, ".copilot"),
            Self::QwenCode => (Some("QWEN_HOME"), ".qwen"),
            Self::Pi => (Some("PI_CODING_AGENT_DIR"), ".pi/agent"),
            Self::OpenCode => (Some("XDG_DATA_HOME"), ".local/share/opencode"),
            Self::Cline => (Some("CLINE_DIR"), ".cline"),
            // The folder of Claude Desktop.
            Self::Cowork if cfg!(target_os = "macos") => (None, "Library/Application Support/Claude"),
            Self::Cowork => (Some("XDG_CONFIG_HOME"), ".config/Claude"),
            // `GEMINI_CLI_HOME` stands for the home, not for this folder.
            // Antigravity has three folders in there.
            Self::Gemini | Self::Antigravity => (None, ".gemini"),
            Self::Cursor => (None, ".cursor"),
            Self::Windsurf => (None, ".windsurf"),
            // One editor of several: `in_editors` says so.
            Self::RooCode | Self::KiloCode | Self::VscodeCopilot => (None, ".config/Code/User"),
        }
    }

    /// The folder in which it keeps its files, where its variable names this one.
    pub fn home_in(self, named: PathBuf) -> PathBuf {
        // Of some the variable is that of all programs.
        match self {
            Self::OpenCode => named.join("opencode"),
            Self::Cowork => named.join("Claude"),
            _ => named,
        }
    }

    /// Whether it keeps sessions in the folders in which editors keep what belongs to the user.
    pub fn in_editors(self) -> InEditors {
        match self {
            Self::RooCode | Self::KiloCode | Self::VscodeCopilot => InEditors::Only,
            Self::Cline => InEditors::Too,
            _ => InEditors::Not,
        }
    }

    /// Other names by which users and programs call it. `copilot` is the program of that name.
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &["claude", "claudecode"],
            Self::Codex => &["codex-cli", "openai-codex"],
            Self::CopilotCli => &["copilot", "github-copilot"],
            Self::QwenCode => &["qwen", "qwencode"],
            Self::Pi => &[],
            Self::OpenCode => &["open-code"],
            Self::Cline => &[],
            Self::Cowork => &["claude-cowork", "claude-desktop"],
            Self::Gemini => &["gemini-cli", "geminicli"],
            Self::Cursor => &["cursor-agent"],
            Self::RooCode => &["roo", "roocode", "roo-cline"],
            Self::KiloCode => &["kilo", "kilocode"],
            Self::Antigravity => &["google-antigravity", "antigravity-cli", "agy"],
            Self::Windsurf => &[],
            Self::VscodeCopilot => &["vscode", "vs-code", "vs-code-copilot", "copilot-chat"],
        }
    }

    /// The client that somebody means by a name, in whatever case.
    pub fn named(name: &str) -> Option<Self> {
        // What is stored has the key.
        if let Some(client) = Self::ALL.into_iter().find(|client| client.key() == name) {
            return Some(client);
        }
        let name = name.trim().to_lowercase().replace([' ', '_'], "-");
        Self::ALL.into_iter().find(|client| client.key() == name || client.aliases().contains(&name.as_str()))
    }

    /// Is it the one for which nothing need be said?
    pub fn is_usual(&self) -> bool {
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

    #[test]
    fn no_name_means_two() {
        let mut all: Vec<&str> =
            Client::ALL.into_iter().flat_map(|client| client.aliases().iter().copied().chain([client.key()])).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        for (name, client) in [("VS Code", Client::VscodeCopilot), ("copilot", Client::CopilotCli), ("Claude", Client::ClaudeCode)]
        {
            assert_eq!(Client::named(name), Some(client), "{name}");
        }
    }
}
