//! The agents besides Claude Code into which recall can be installed: a row for each, with its files and how it has hooks and servers.

use std::fs;
use std::path::{Path, PathBuf};

use super::Host;
use super::hook_command::{HookForm, TIMEOUT};
use super::rules_file::RulesFile;
use super::servers::{self, EntryForm, OPENCODE_SERVERS, ServerLocation, VS_CODE_SERVERS};
use serde::Serialize;
use transcripts::client::Client;
use transcripts::source::source_of;

/// What the sessions of an agent can be told.
pub(crate) fn tier(agent: Client) -> Tier {
    let of_others = AgentHost::of(agent).map_or(Tier::ReadOnly, |host| host.tier);
    if agent.is_usual() { Tier::Full } else { of_others }
}

/// Does an agent run the hooks of Claude Code's settings, and none of its own?
pub(crate) fn runs_hooks_of_claude(agent: Client) -> bool {
    AgentHost::of(agent).is_some_and(|host| host.hooks.is_none() && host.tier == Tier::StartOnly)
}

/// Is an agent used on this machine, and are its sessions read?
pub(crate) fn is_used(agent: Client, host: &Host<'_>) -> bool {
    let sessions = host.environment.client_dir(agent, host.config);
    let has_sessions = || source_of(agent).layouts().iter().any(|layout| sessions.join(layout).is_dir());
    let has_sign = || AgentHost::of(agent).is_some_and(|row| row.signs.iter().any(|sign| row.folder(host).join(sign).is_dir()));
    host.config.sources.reads(agent) && (has_sessions() || has_sign())
}

/// How much the sessions of an agent can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tier {
    /// Notes at the start, notices at prompts, a mark at the end.
    Full,
    /// Notes at the start, and nothing at prompts.
    StartOnly,
    /// What they ask the server for; a rule says that they should.
    McpAndRule,
    /// Nothing: they are read.
    ReadOnly,
}

impl Tier {
    /// For people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::StartOnly => "start only",
            Self::McpAndRule => "MCP and a rule",
            Self::ReadOnly => "read only",
        }
    }
}

/// An agent, and its files for all its sessions.
#[derive(Debug)]
pub(crate) struct AgentHost {
    agent: Client,
    tier: Tier,
    folder: Folder,
    /// The file of its hooks, in its folder, and what they are. `None`: it has no such file.
    hooks: Option<(&'static str, HookForm)>,
    /// `None`: it takes none.
    servers: Option<Servers>,
    /// The file of its rules: of one that no hook of ours can tell anything at the start of a session.
    rules: Option<RulesFile>,
    /// Folders in its own, one of which is there if the agent is used, whether or not it has written a session that can be read.
    signs: &'static [&'static str],
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
    Sessions(Client),
    /// The one that this one is in.
    AboveSessions(Client),
    /// One of this name in the home.
    Home(&'static str),
    /// One of this name where programs have their settings.
    Config(&'static str),
}

static ALL: [AgentHost; 11] = [
    AgentHost {
        agent: Client::Codex,
        tier: Tier::Full,
        folder: Folder::Sessions(Client::Codex),
        hooks: Some(("hooks.json", HookForm::USUAL)),
        // Seen to be listed by `codex mcp list`, with 0.55 to 0.169.
        servers: Some(Servers::usual(&["config.toml"], EntryForm::PLAIN)),
        rules: None,
        signs: &[],
    },
    AgentHost {
        agent: Client::CopilotCli,
        tier: Tier::Full,
        folder: Folder::Sessions(Client::CopilotCli),
        // It reads every file of that folder, so ours is one of its own.
        hooks: Some(("hooks/recall.json", HookForm::COPILOT)),
        // Seen to be listed by `copilot mcp list`, with 1.0.102.
        servers: Some(Servers::usual(&["mcp-config.json"], EntryForm::COPILOT)),
        rules: None,
        signs: &[],
    },
    AgentHost {
        agent: Client::QwenCode,
        tier: Tier::Full,
        folder: Folder::Sessions(Client::QwenCode),
        // Seen with Qwen Code 0.24.4: milliseconds, and servers and hooks in one file.
        hooks: Some(("settings.json", HookForm { timeout: TIMEOUT * 1000, ..HookForm::USUAL })),
        servers: Some(Servers::usual(&["settings.json"], EntryForm::PLAIN)),
        rules: None,
        signs: &[],
    },
    AgentHost {
        agent: Client::OpenCode,
        tier: Tier::Full,
        folder: Folder::Config("opencode"),
        hooks: Some(("plugin/recall.js", HookForm::OPENCODE)),
        // Its documentation.
        servers: Some(Servers {
            files: &["opencode.jsonc", "opencode.json"],
            location: ServerLocation::Named(OPENCODE_SERVERS),
            entry: EntryForm::OPENCODE,
            comments: true,
        }),
        rules: None,
        signs: &[],
    },
    AgentHost {
        agent: Client::Cline,
        tier: Tier::Full,
        folder: Folder::Sessions(Client::Cline),
        hooks: Some(("plugins/recall.js", HookForm::CLINE)),
        // Seen with Cline 3.0.65.
        servers: Some(Servers::usual(&["data/settings/cline_mcp_settings.json"], EntryForm::PLAIN)),
        rules: None,
        signs: &[],
    },
    AgentHost {
        agent: Client::Pi,
        tier: Tier::Full,
        folder: Folder::Sessions(Client::Pi),
        hooks: Some(("extensions/recall.js", HookForm::PI)),
        servers: None,
        rules: None,
        signs: &[],
    },
    AgentHost {
        agent: Client::Gemini,
        tier: Tier::Full,
        folder: Folder::Sessions(Client::Gemini),
        hooks: Some(("settings.json", HookForm::GEMINI)),
        // Seen with Gemini CLI 0.61: servers and hooks in one file.
        servers: Some(Servers::usual(&["settings.json"], EntryForm::PLAIN)),
        rules: None,
        signs: &[],
    },
    AgentHost {
        agent: Client::Cursor,
        tier: Tier::StartOnly,
        folder: Folder::Sessions(Client::Cursor),
        hooks: Some(("hooks.json", HookForm::CURSOR)),
        // Its documentation; not tried.
        servers: Some(Servers::usual(&["mcp.json"], EntryForm::PLAIN)),
        rules: None,
        signs: &[],
    },
    AgentHost {
        agent: Client::VscodeCopilot,
        tier: Tier::StartOnly,
        // So that the file has a name that no other has.
        folder: Folder::AboveSessions(Client::VscodeCopilot),
        // It runs the hooks of Claude Code's settings.
        hooks: None,
        // Its documentation; not tried.
        servers: Some(Servers {
            files: &["User/mcp.json"],
            location: ServerLocation::Named(VS_CODE_SERVERS),
            entry: EntryForm::TYPED,
            comments: true,
        }),
        rules: None,
        signs: &[],
    },
    // Of both their documentation; not tried.
    AgentHost {
        agent: Client::Antigravity,
        tier: Tier::McpAndRule,
        folder: Folder::Home(".gemini"),
        // It has hooks, of which no two descriptions say the same.
        hooks: None,
        // Of version 2 and of its command-line program; version 1 had it in `antigravity`.
        servers: Some(Servers::usual(&["config/mcp_config.json"], EntryForm::PLAIN)),
        // Gemini CLI reads it, too.
        rules: Some(RulesFile { name: "GEMINI.md", max_chars: 12_000 }),
        signs: &["antigravity", "antigravity-cli"],
    },
    AgentHost {
        agent: Client::Windsurf,
        tier: Tier::McpAndRule,
        folder: Folder::Home(".codeium/windsurf"),
        // None of its hooks gives a session anything.
        hooks: Some(("hooks.json", HookForm::WINDSURF)),
        servers: Some(Servers::usual(&["mcp_config.json"], EntryForm::PLAIN)),
        rules: Some(RulesFile { name: "memories/global_rules.md", max_chars: 6_000 }),
        signs: &[""],
    },
];

impl AgentHost {
    pub(crate) fn of(agent: Client) -> Option<&'static Self> {
        ALL.iter().find(|host| host.agent == agent)
    }

    /// Every agent that has a row.
    pub(crate) fn agents() -> impl Iterator<Item = Client> {
        ALL.iter().map(|host| host.agent)
    }

    /// The file of its hooks, if it has one.
    pub(crate) fn hooks_file(&self, host: &Host<'_>) -> Option<PathBuf> {
        self.hooks.map(|(name, _)| self.folder(host).join(name))
    }

    /// Its hooks, if it has any.
    pub(crate) fn form(&self) -> Option<HookForm> {
        self.hooks.map(|(_, form)| form)
    }

    /// The file of its servers, if it takes any: of several the one that has ours, else the first.
    pub(crate) fn servers_file(&self, host: &Host<'_>) -> Option<PathBuf> {
        let folder = self.folder(host);
        let all: Vec<PathBuf> = self.servers.as_ref()?.files.iter().map(|name| folder.join(name)).collect();
        let may_have_ours =
            |path: &&PathBuf| fs::read(path).is_ok_and(|text| memchr::memmem::find(&text, servers::NAME.as_bytes()).is_some());
        let found = all.iter().find(may_have_ours).or_else(|| all.iter().find(|path| path.exists()));
        found.or(all.last()).cloned()
    }

    /// Where in that file they stand.
    pub(crate) fn location(&self) -> Option<ServerLocation> {
        self.servers.as_ref().map(|servers| servers.location.clone())
    }

    /// What an entry of a server says.
    pub(crate) fn entry_form(&self) -> Option<EntryForm> {
        self.servers.as_ref().map(|servers| servers.entry)
    }

    /// The file of its rules, and how many characters of it count, if it has one.
    pub(crate) fn rules_file(&self, host: &Host<'_>) -> Option<(PathBuf, usize)> {
        self.rules.map(|rules| (self.folder(host).join(rules.name), rules.max_chars))
    }

    /// Does it get the server whether or not somebody asks for it? Without it, rules say nothing.
    pub(crate) fn needs_server(&self) -> bool {
        self.rules.is_some()
    }

    /// Do servers and hooks stand in one file, which is edited once for both?
    pub(crate) fn shares_file(&self) -> bool {
        self.hooks.zip(self.servers.as_ref()).is_some_and(|((name, _), servers)| servers.files == [name])
    }

    fn folder(&self, host: &Host<'_>) -> PathBuf {
        let sessions = |client| host.environment.client_dir(client, host.config);
        match self.folder {
            Folder::Sessions(client) => sessions(client),
            Folder::AboveSessions(client) => sessions(client).parent().map(Path::to_owned).unwrap_or_default(),
            Folder::Home(name) => host.config.home.join(name),
            Folder::Config(name) => host.environment.config_home.join(name),
        }
    }
}

/// Is it, by its name, the file in which one of them has servers and no hooks?
pub(crate) fn is_servers_file(path: &Path) -> bool {
    apart(path).is_some()
}

/// Is it, by its name, the file of rules of one of them?
pub(crate) fn is_rules_file(path: &Path) -> bool {
    ALL.iter().filter_map(|host| host.rules).any(|rules| path.ends_with(rules.name))
}

/// Does the agent whose file of servers it is, by its name, read comments in it?
pub(crate) fn takes_comments(path: &Path) -> bool {
    apart(path).is_some_and(|servers| servers.comments)
}

/// Of several agents the one whose name of the file says most of the path.
fn apart(path: &Path) -> Option<&'static Servers> {
    let all = ALL.iter().filter(|host| !host.shares_file()).filter_map(|host| host.servers.as_ref());
    let names = all.flat_map(|servers| servers.files.iter().map(move |name| (*name, servers)));
    names.filter(|(name, _)| path.ends_with(name)).max_by_key(|(name, _)| name.len()).map(|(_, servers)| servers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of tiers in the book, by what it says first: who stands there.
    fn documented() -> Vec<(String, Vec<String>)> {
        let book = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src/agents.md")).unwrap();
        let rows = book.lines().skip_while(|line| !line.starts_with("| tier |")).skip(2).take_while(|line| line.starts_with('|'));
        let cells = rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>());
        cells.map(|cells| (cells[0].clone(), cells[2].split(", ").map(str::to_owned).collect())).collect()
    }

    #[test]
    fn the_book_says_of_every_agent_which_tier_it_has() {
        let mut told = Vec::new();
        for tier in [Tier::Full, Tier::StartOnly, Tier::McpAndRule, Tier::ReadOnly] {
            let mut names: Vec<_> =
                Client::ALL.into_iter().filter(|agent| super::tier(*agent) == tier).map(|agent| agent.name().to_owned()).collect();
            names.sort();
            told.push((tier.name().to_owned(), names));
        }
        assert_eq!(documented(), told);
    }

    #[test]
    fn the_book_lists_every_other_name() {
        let book = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src/agents.md")).unwrap();
        for client in Client::ALL.into_iter().filter(|client| !client.aliases().is_empty()) {
            let names = client.aliases().iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let row = format!("| `{}` | {names} |", client.key());
            assert!(book.lines().any(|line| line == row), "{row}");
        }
    }

    #[test]
    fn a_tier_is_what_the_hooks_and_rules_of_an_agent_can_do() {
        for host in &ALL {
            let has = |argument: &str| host.form().is_some_and(|form| form.events.iter().any(|event| event.argument == argument));
            let made = match (has("session-start"), has("user-prompt-submit"), host.rules.is_some()) {
                (true, true, false) => Tier::Full,
                (true, false, false) => Tier::StartOnly,
                (false, false, true) => Tier::McpAndRule,
                _ if runs_hooks_of_claude(host.agent) => Tier::StartOnly,
                _ => Tier::ReadOnly,
            };
            assert_eq!(host.tier, made, "{}", host.agent.name());
        }
    }
}
