//! The agents besides Claude Code into which recall can be installed: a row for each, with its files and how it has hooks and servers.

use std::fs;
use std::path::{Path, PathBuf};

use super::Host;
use super::hook_command::{HookForm, TIMEOUT};
use super::servers::{self, EntryForm, OPENCODE_SERVERS, ServerLocation};
use crate::model::client::Client;

/// An agent, and its files for all its sessions.
#[derive(Debug)]
pub(crate) struct AgentHost {
    pub(crate) client: Client,
    folder: Folder,
    /// The file of its hooks, in its folder.
    hooks: &'static str,
    pub(crate) form: HookForm,
    servers: Servers,
}

/// How an agent has its servers.
#[derive(Debug)]
struct Servers {
    /// The names that their file may have, in the agent's folder. Where there is none yet, it gets the last one.
    files: &'static [&'static str],
    location: ServerLocation,
    entry: EntryForm,
    /// Does the agent read comments in it?
    comments: bool,
}

impl Servers {
    /// As most have them.
    const fn usual(files: &'static [&'static str], entry: EntryForm) -> Self {
        Self { files, location: ServerLocation::TopLevel, entry, comments: false }
    }
}

/// The folder that the names of an agent's files start from.
#[derive(Debug, Clone, Copy)]
enum Folder {
    /// The one that also has its sessions.
    Sessions,
    /// One of this name where programs have their settings.
    Config(&'static str),
}

static ALL: [AgentHost; 6] = [
    AgentHost {
        client: Client::Codex,
        folder: Folder::Sessions,
        hooks: "hooks.json",
        form: HookForm::USUAL,
        // Seen to be listed by `codex mcp list`, with 0.55 to 0.169.
        servers: Servers::usual(&["config.toml"], EntryForm::PLAIN),
    },
    AgentHost {
        client: Client::CopilotCli,
        folder: Folder::Sessions,
        // It reads every file of that folder, so ours is one of its own.
        hooks: "hooks/recall.json",
        form: HookForm::COPILOT,
        // Seen to be listed by `copilot mcp list`, with 1.0.102.
        servers: Servers::usual(&["mcp-config.json"], EntryForm::COPILOT),
    },
    AgentHost {
        client: Client::QwenCode,
        folder: Folder::Sessions,
        hooks: "settings.json",
        // Seen with Qwen Code 0.24.4: milliseconds, and servers and hooks in one file.
        form: HookForm { timeout: TIMEOUT * 1000, ..HookForm::USUAL },
        servers: Servers::usual(&["settings.json"], EntryForm::PLAIN),
    },
    AgentHost {
        client: Client::OpenCode,
        folder: Folder::Config("opencode"),
        hooks: "plugin/recall.js",
        form: HookForm::OPENCODE,
        // Its documentation.
        servers: Servers {
            files: &["opencode.jsonc", "opencode.json"],
            location: ServerLocation::Named(OPENCODE_SERVERS),
            entry: EntryForm::OPENCODE,
            comments: true,
        },
    },
    AgentHost {
        client: Client::Gemini,
        folder: Folder::Sessions,
        hooks: "settings.json",
        form: HookForm::GEMINI,
        // Seen with Gemini CLI 0.61: servers and hooks in one file.
        servers: Servers::usual(&["settings.json"], EntryForm::PLAIN),
    },
    AgentHost {
        client: Client::Cursor,
        folder: Folder::Sessions,
        hooks: "hooks.json",
        form: HookForm::CURSOR,
        // Its documentation; not tried.
        servers: Servers::usual(&["mcp.json"], EntryForm::PLAIN),
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

    /// The file of its servers: of several the one that has ours, else the first.
    pub(crate) fn servers_file(&self, host: &Host<'_>) -> PathBuf {
        let folder = self.folder(host);
        let all: Vec<PathBuf> = self.servers.files.iter().map(|name| folder.join(name)).collect();
        let may_have_ours =
            |path: &&PathBuf| fs::read(path).is_ok_and(|text| memchr::memmem::find(&text, servers::NAME.as_bytes()).is_some());
        let found = all.iter().find(may_have_ours).or_else(|| all.iter().find(|path| path.exists()));
        found.or(all.last()).cloned().unwrap_or(folder)
    }

    /// Where in that file they stand.
    pub(crate) fn location(&self) -> ServerLocation {
        self.servers.location.clone()
    }

    /// What an entry of a server says.
    pub(crate) fn entry_form(&self) -> EntryForm {
        self.servers.entry
    }

    /// Do servers and hooks stand in one file, which is edited once for both?
    pub(crate) fn shares_file(&self) -> bool {
        self.servers.files == [self.hooks]
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
    apart(path).is_some()
}

/// Does the agent whose file of servers it is, by its name, read comments in it?
pub(crate) fn takes_comments(path: &Path) -> bool {
    apart(path).is_some_and(|servers| servers.comments)
}

fn apart(path: &Path) -> Option<&'static Servers> {
    let is_apart = |host: &&AgentHost| !host.shares_file() && host.servers.files.iter().any(|name| path.ends_with(name));
    ALL.iter().find(is_apart).map(|host| &host.servers)
}
