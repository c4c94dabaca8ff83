//! Whose sessions are read, and whose go to the model: `[sources]`.

use serde::{Deserialize, Serialize};

use transcripts::client::Client;

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Sources {
    pub(crate) claude_code: ClaudeSource,
    pub(crate) codex: OtherSource,
    pub(crate) copilot_cli: OtherSource,
    pub(crate) qwen_code: OtherSource,
    pub(crate) pi: OtherSource,
    pub(crate) opencode: OtherSource,
    pub(crate) cline: OtherSource,
    pub(crate) cowork: OtherSource,
    pub(crate) gemini: OtherSource,
    pub(crate) cursor: OtherSource,
    pub(crate) roo_code: OtherSource,
    pub(crate) kilo_code: OtherSource,
    pub(crate) vscode_copilot: OtherSource,
    pub(crate) antigravity: OtherSource,
    pub(crate) windsurf: OtherSource,
}

/// Claude Code, whose model makes the digests. Its folders are `claude_dirs`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClaudeSource {
    /// Its sessions are read.
    pub(crate) read: bool,
}

/// Another client.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct OtherSource {
    /// Its sessions are read where there are any.
    pub(crate) read: bool,
    /// The model that makes digests may see what was said in them.
    pub(crate) model: bool,
    /// Folders in which it keeps its files; its own when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dirs: Option<Vec<String>>,
}

impl Default for ClaudeSource {
    fn default() -> Self {
        Self { read: true }
    }
}

impl Default for OtherSource {
    fn default() -> Self {
        Self { read: true, model: false, dirs: None }
    }
}

impl Sources {
    /// The settings of a client; `None` of Claude Code, which has its own.
    pub(crate) fn of(&self, client: Client) -> Option<&OtherSource> {
        match client {
            Client::ClaudeCode => None,
            Client::Codex => Some(&self.codex),
            Client::CopilotCli => Some(&self.copilot_cli),
            Client::QwenCode => Some(&self.qwen_code),
            Client::Pi => Some(&self.pi),
            Client::OpenCode => Some(&self.opencode),
            Client::Cline => Some(&self.cline),
            Client::Cowork => Some(&self.cowork),
            Client::Gemini => Some(&self.gemini),
            Client::Cursor => Some(&self.cursor),
            Client::RooCode => Some(&self.roo_code),
            Client::KiloCode => Some(&self.kilo_code),
            Client::VscodeCopilot => Some(&self.vscode_copilot),
            Client::Antigravity => Some(&self.antigravity),
            Client::Windsurf => Some(&self.windsurf),
        }
    }

    /// Are the sessions of this client read?
    pub(crate) fn reads(&self, client: Client) -> bool {
        self.of(client).map_or(self.claude_code.read, |source| source.read)
    }

    /// May a model see what was said in sessions of this client?
    pub(crate) fn may_show_model(&self, client: Client) -> bool {
        self.of(client).is_none_or(|source| source.model)
    }
}
