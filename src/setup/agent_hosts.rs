//! The agents besides Claude Code into which recall can be installed: a row for each, with its files and how it has hooks and servers.

use std::path::{Path, PathBuf};

use super::Host;
use super::hook_command::{HookForm, TIMEOUT};
use super::servers::EntryForm;
use crate::model::client::Client;

/// An agent, and its files for all its sessions.
#[derive(Debug)]
pub(crate) struct AgentHost {
    pub(crate) client: Client,
    folder: Folder,
    /// The file of its hooks, in its folder.
    hooks: &'static str,
    pub(crate) form: HookForm,
    /// The file of its servers, in its folder, and what an entry says. `None`: ours is not registered with it.
    servers: Option<(&'static str, EntryForm)>,
}

/// The folder that the names of an agent's files start from.
#[derive(Debug, Clone, Copy)]
enum Folder {
    /// The one that also has its sessions.
    Sessions,
    /// One of this name where programs have their settings.
    Config(&'static str),
}

const ALL: [AgentHost; 6] = [
    AgentHost {
        client: Client::Codex,
        folder: Folder::Sessions,
        hooks: "hooks.json",
        form: HookForm::USUAL,
        // Seen to be listed by `codex mcp list`, with 0.55 to 0.169.
        servers: Some(("config.toml", EntryForm::PLAIN)),
    },
    AgentHost {
        client: Client::CopilotCli,
        folder: Folder::Sessions,
        // It reads every file of that folder, so ours is one of its own.
        hooks: "hooks/recall.json",
        form: HookForm::COPILOT,
        // Seen to be listed by `copilot mcp list`, with 1.0.102.
        servers: Some(("mcp-config.json", EntryForm::COPILOT)),
    },
    AgentHost {
        client: Client::QwenCode,
        folder: Folder::Sessions,
        hooks: "settings.json",
        // Seen with Qwen Code 0.24.4: milliseconds, and servers and hooks in one file.
        form: HookForm { timeout: TIMEOUT * 1000, ..HookForm::USUAL },
        servers: Some(("settings.json", EntryForm::PLAIN)),
    },
    AgentHost {
        client: Client::OpenCode,
        folder: Folder::Config("opencode"),
        hooks: "plugin/recall.js",
        form: HookForm::OPENCODE,
        servers: None,
    },
    AgentHost {
        client: Client::Gemini,
        folder: Folder::Sessions,
        hooks: "settings.json",
        form: HookForm::GEMINI,
        // Seen with Gemini CLI 0.61: servers and hooks in one file.
        servers: Some(("settings.json", EntryForm::PLAIN)),
    },
    AgentHost {
        client: Client::Cursor,
        folder: Folder::Sessions,
        hooks: "hooks.json",
        form: HookForm::CURSOR,
        // Its documentation; not tried.
        servers: Some(("mcp.json", EntryForm::PLAIN)),
    },
];

impl AgentHost {
    pub(crate) fn of(client: Client) -> Option<&'static Self> {
        ALL.iter().find(|host| host.client == client)
    }

    /// The file of its hooks.
    pub(crate) fn hooks_file(&self, host: &Host<'_>) -> PathBuf {
        self.folder(host).join(self.hooks)
    }

    /// The file of its servers.
    pub(crate) fn servers_file(&self, host: &Host<'_>) -> Option<PathBuf> {
        self.servers.map(|(name, _)| self.folder(host).join(name))
    }

    /// What an entry of a server says.
    pub(crate) fn entry_form(&self) -> Option<EntryForm> {
        self.servers.map(|(_, form)| form)
    }

    /// Do servers and hooks stand in one file, which is edited once for both?
    pub(crate) fn shares_file(&self) -> bool {
        self.servers.is_some_and(|(name, _)| name == self.hooks)
    }

    fn folder(&self, host: &Host<'_>) -> PathBuf {
        match self.folder {
            Folder::Sessions => host.environment.client_dir(self.client, host.config),
            Folder::Config(name) => host.environment.config_home.join(name),
        }
    }
}

/// Is it, by its name, the file in which one of them has servers and no hooks?
pub(crate) fn is_servers_file(path: &Path) -> bool {
    let apart = ALL.iter().filter(|host| !host.shares_file()).filter_map(|host| host.servers);
    apart.into_iter().any(|(name, _)| path.ends_with(name))
}
