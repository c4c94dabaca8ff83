//! The agents of this machine: what is read of each, and what of ours each has.

use serde::Serialize;

use crate::app::doctor::why_stale;
use crate::config::Config;
use crate::policy::View;
use crate::setup::agent_hosts::{Tier, is_used, runs_hooks_of_claude, tier};
use crate::setup::codex_trust::{self, Trust};
use crate::setup::inspect::{self, InstalledRule, RulesState, ServerRegistration, SettingsFile};
use crate::setup::{Host, InstallScope};
use crate::store::Memory;
use crate::store::status::ClientCounts;
use crate::sys::child_process::which;
use transcripts::client::Client;
use transcripts::session::Millis;

/// Where the value of a setting comes from that nobody set.
const DEFAULT: &str = "default";

/// An agent that is used here, or that has something of ours.
#[derive(Debug, Serialize)]
pub(crate) struct AgentState {
    pub(crate) agent: Client,
    /// What its sessions can be told.
    pub(crate) tier: Tier,
    /// How many of its sessions are stored.
    pub(crate) sessions: i64,
    /// When something last happened in what was read of them.
    pub(crate) last_at: Option<Millis>,
    /// Those whose newest records no digest covers yet.
    pub(crate) waiting: i64,
    /// `None` of an agent that has none.
    pub(crate) hooks: Option<PartState>,
    /// The MCP server. `None` of an agent with which it cannot be registered by us.
    pub(crate) mcp: Option<PartState>,
    /// What tells an agent to ask the server, where no hook does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<PartState>,
    /// What the user said of the hooks that are there. `None` of an agent that runs them without being told to trust them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trust: Option<Trust>,
    /// The model that makes digests may see its sessions.
    pub(crate) for_model: bool,
    /// Where what was said in them goes when they are digested.
    #[serde(rename = "sent_to")]
    pub(crate) destination: Destination,
}

/// Where what was said in an agent's sessions goes when they are digested. In JSON the model's name, or `null`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    /// To this model, through this command.
    Model { name: String, command: String },
    /// Nowhere, and why.
    Here(String),
}

impl Destination {
    /// `model` is the name of the one that makes the digests, or why none does.
    pub(crate) fn of(client: Client, model: Result<&str, &str>, config: &Config) -> Self {
        let command = config.digest.claude.clone();
        match model {
            Err(why) => Self::Here(why.to_owned()),
            Ok(_) if !config.sources.may_show_model(client) => {
                Self::Here(format!("`model = true` under `[sources.{}]` would send it to `{command} -p`", client.key()))
            }
            Ok(name) => Self::Model { name: name.to_owned(), command },
        }
    }

    /// For people, behind the agent's name.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Model { name, command } => format!("digests by {name} through `{command} -p`"),
            Self::Here(why) => format!("stays here; {why}"),
        }
    }
}

impl Serialize for Destination {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Model { name, .. } => to.serialize_some(name),
            Self::Here(_) => to.serialize_none(),
        }
    }
}

/// How a part of ours is that an agent has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PartState {
    Installed,
    /// Not what an install would write now.
    Outdated,
    /// Its file is broken, so that the agent cannot read it either.
    Broken,
    /// The user has switched all hooks off.
    Off,
    /// The plugin has it.
    Plugin,
    Missing,
}

/// The agents that are used here or have something of ours; `counts` is what is stored of their sessions.
pub(crate) fn states(counts: &[ClientCounts], host: &Host<'_>) -> Vec<AgentState> {
    let installed = Installed {
        settings: inspect::settings(host),
        servers: inspect::servers(host),
        rules: inspect::rules(host),
        model: model_of(host.config),
        host,
    };
    Client::ALL.into_iter().filter_map(|agent| state(agent, counts, &installed)).collect()
}

/// The same with what the index has, if there is one that can be read.
pub(crate) fn stored_states(config: &Config, host: &Host<'_>) -> Vec<AgentState> {
    let store = Memory::open(&config.database(), &config.policy(View::Owner)).ok();
    states(&store.and_then(|store| store.sessions_by_client().ok()).unwrap_or_default(), host)
}

/// Other agents that are used here, and of which the config does not say whether the model may see their sessions, where there is a model to
/// see them.
pub(crate) fn undecided(host: &Host<'_>) -> Vec<Client> {
    let config = host.config;
    if model_of(config).is_err() {
        return Vec::new();
    }
    let settings = config.effective();
    let is_open = |client: &Client| {
        let key = format!("sources.{}.model", client.key());
        settings.iter().any(|setting| setting.key == key && setting.origin == DEFAULT)
    };
    Client::ALL.into_iter().filter(|client| !client.is_usual() && is_used(*client, host)).filter(is_open).collect()
}

/// The model that the config names to make digests, or why none does.
fn model_of(config: &Config) -> Result<&str, String> {
    let (choice, command) = (config.digest.summarizer, &config.digest.claude);
    if !choice.may_ask_model() {
        return Err(format!("`digest.summarizer` is `{}`", choice.word()));
    }
    which(command, &config.search_path).ok_or_else(|| format!("there is no `{command}` on the PATH"))?;
    Ok(&config.digest.model)
}

fn state(agent: Client, counts: &[ClientCounts], installed: &Installed<'_>) -> Option<AgentState> {
    let Installed { host, model, .. } = installed;
    let none = ClientCounts { client: Client::default(), sessions: 0, last_at: None, waiting: 0 };
    let counts = counts.iter().find(|counts| counts.client == agent).copied().unwrap_or(none);
    let (hooks, mcp, rule) = (installed.hooks(agent), installed.server(agent), installed.rule(agent));
    // The hooks of another agent say nothing of this one.
    let own_hooks = hooks.filter(|_| !runs_hooks_of_claude(agent));
    let has_ours = [own_hooks, mcp, rule].into_iter().flatten().any(|part| part != PartState::Missing);
    (counts.sessions > 0 || has_ours || is_used(agent, host)).then(|| AgentState {
        agent,
        tier: tier(agent),
        sessions: counts.sessions,
        last_at: counts.last_at,
        waiting: counts.waiting,
        hooks,
        mcp,
        rule,
        trust: codex_trust::is_asked_by(agent).then(|| codex_trust::trust(host)).flatten().map(|(trust, _)| trust),
        for_model: host.config.sources.may_show_model(agent),
        destination: Destination::of(agent, model.as_deref().map_err(String::as_str), host.config),
    })
}

/// What of ours is installed for sessions that start here, and the model that digests them.
struct Installed<'h> {
    settings: Vec<SettingsFile>,
    servers: Vec<ServerRegistration>,
    rules: Vec<InstalledRule>,
    model: Result<&'h str, String>,
    host: &'h Host<'h>,
}

impl Installed<'_> {
    fn hooks(&self, agent: Client) -> Option<PartState> {
        let agent = if runs_hooks_of_claude(agent) { Client::ClaudeCode } else { agent };
        // In Windsurf they tell a session nothing, but they are there.
        let scope = InstallScope::of(agent, InstallScope::User).filter(|scope| inspect::can_have_hooks(*scope))?;
        let of_agent = || self.settings.iter().filter(|file| file.scope.agent() == scope.agent());
        let found = of_agent().map(|file| self.hooks_in(file)).find(|state| *state != PartState::Missing);
        Some(found.unwrap_or(PartState::Missing))
    }

    fn hooks_in(&self, file: &SettingsFile) -> PartState {
        match &file.state {
            Err(_) => PartState::Broken,
            Ok(state) if state.disabled => PartState::Off,
            Ok(state) if state.hooks.is_empty() && state.plugin => PartState::Plugin,
            Ok(state) if state.hooks.is_empty() => PartState::Missing,
            Ok(state) if why_stale(file.scope, state, file, self.host).is_some() => PartState::Outdated,
            Ok(_) => PartState::Installed,
        }
    }

    fn server(&self, agent: Client) -> Option<PartState> {
        InstallScope::of(agent, InstallScope::User)?;
        let by_plugin = || agent.is_usual() && self.settings.iter().any(|file| file.state.as_ref().is_ok_and(|state| state.plugin));
        let found = self.servers.iter().find(|one| one.scope.agent() == agent);
        Some(match found.map(|one| (one, &one.server)) {
            None if by_plugin() => PartState::Plugin,
            None => PartState::Missing,
            Some((_, Err(_))) => PartState::Broken,
            // Of those of a project each user has a program of their own.
            Some((one, Ok(_))) if one.current || one.scope == InstallScope::Project => PartState::Installed,
            Some(_) => PartState::Outdated,
        })
    }

    fn rule(&self, agent: Client) -> Option<PartState> {
        let has_one = tier(agent) == Tier::McpAndRule;
        let found = self.rules.iter().find(|rule| rule.scope.agent() == agent);
        has_one.then(|| match found.map(|rule| &rule.state) {
            Some(Ok(RulesState::Current)) => PartState::Installed,
            Some(Ok(RulesState::Changed)) => PartState::Outdated,
            Some(Err(_)) => PartState::Broken,
            _ => PartState::Missing,
        })
    }
}
