//! Which files a client reads for each scope, and how the hooks and the server in them call the program.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::agent_hosts::{self, AgentHost};
use super::hook_command::{HookForm, Invocation, has_our_name, is_our_variable};
use super::servers::{EntryForm, ServerLocation};
use super::timer_job::path_text;
use super::{Host, InstallScope};
use crate::config::DATA_DIR_VARIABLE;
use crate::sys::projects::Projects;
use transcripts::client::Client;

/// Claude Code's own file, by its current name and by an older one, and the file of a project's servers.
const CLIENT_FILE: &str = ".claude.json";
const FORMER_CLIENT_FILE: &str = ".config.json";
const PROJECT_SERVERS_FILE: &str = ".mcp.json";

/// The settings file of a scope.
///
/// # Errors
/// When there is no such scope here.
pub(crate) fn settings_file(scope: InstallScope, host: &Host<'_>) -> Result<PathBuf> {
    // Where Claude Code itself looks: `claude_dirs` only says what is read.
    let user = host.environment.claude_dir(host.config).join("settings.json");
    let name = match scope {
        InstallScope::User => return Ok(user),
        InstallScope::Agent(agent) => {
            let file = AgentHost::of(agent).and_then(|agent| agent.hooks_file(host));
            return file.with_context(|| format!("{} has no file for hooks", agent.name()));
        }
        InstallScope::Project => "settings.json",
        InstallScope::Local => "settings.local.json",
    };
    let file = project(host).join(".claude").join(name);
    // Claude Code takes the settings in the home for the user's, whatever lies beside them.
    if file.parent() == user.parent() {
        bail!("{} is the folder of your own settings, not of a project: go to the project, or use `--scope user`", file.display());
    }
    Ok(file)
}

/// The file in which a scope's servers stand, and where in it. `None` of an agent that has none of ours.
pub(crate) fn servers_file(scope: InstallScope, host: &Host<'_>) -> Option<(PathBuf, ServerLocation)> {
    Some(match scope {
        InstallScope::User => (client_file(host), ServerLocation::TopLevel),
        InstallScope::Project => (project(host).join(PROJECT_SERVERS_FILE), ServerLocation::TopLevel),
        InstallScope::Local => (client_file(host), ServerLocation::Project(client_project_key(host))),
        InstallScope::Agent(agent) => {
            let agent = AgentHost::of(agent)?;
            (agent.servers_file(host)?, agent.location()?)
        }
    })
}

/// Do servers and hooks of a scope stand in one file, which is edited once for both?
pub(crate) fn shares_file(scope: InstallScope) -> bool {
    AgentHost::of(scope.agent()).is_some_and(AgentHost::shares_file)
}

/// Can there be hooks for a scope?
pub(crate) fn has_hooks(scope: InstallScope) -> bool {
    AgentHost::of(scope.agent()).is_none_or(|agent| agent.form().is_some())
}

/// Does a session of a scope get notes at its start, once it has hooks?
pub(crate) fn tells_start(scope: InstallScope) -> bool {
    has_hooks(scope) && form(scope).tells_start()
}

/// Is the server registered whether or not somebody asks for it?
pub(crate) fn needs_server(scope: InstallScope) -> bool {
    AgentHost::of(scope.agent()).is_some_and(AgentHost::needs_server)
}

/// What an entry of a scope's server says.
pub(crate) fn entry_form(scope: InstallScope) -> EntryForm {
    AgentHost::of(scope.agent()).and_then(AgentHost::entry_form).unwrap_or(EntryForm::TYPED)
}

/// The hooks of the client of a scope.
pub(crate) fn form(scope: InstallScope) -> HookForm {
    AgentHost::of(scope.agent()).and_then(AgentHost::form).unwrap_or(HookForm::USUAL)
}

/// Claude Code's own file, as it finds it (seen with 2.1.197).
pub(crate) fn client_file(host: &Host<'_>) -> PathBuf {
    let former = host.environment.claude_dir(host.config).join(FORMER_CLIENT_FILE);
    if former.exists() {
        return former;
    }
    host.environment.named_dir(Client::ClaudeCode).unwrap_or(&host.config.home).join(CLIENT_FILE)
}

/// Is it a file of servers, and not of hooks?
pub(crate) fn is_servers_file(path: &Path) -> bool {
    let of_claude = [CLIENT_FILE, FORMER_CLIENT_FILE, PROJECT_SERVERS_FILE];
    of_claude.iter().any(|name| path.ends_with(name)) || agent_hosts::is_servers_file(path)
}

/// The nearest folder from here upwards that is a repository, else the current one.
pub(crate) fn project(host: &Host<'_>) -> PathBuf {
    let here = &host.environment.current_dir;
    here.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(here).to_owned()
}

/// The key of the current project in the client's own file: a repository's root by its real path, for worktrees the main one's; else the
/// folder (seen with 2.1.197).
fn client_project_key(host: &Host<'_>) -> String {
    let here = &host.environment.current_dir;
    Projects::default().key_of(&here.canonicalize().unwrap_or_else(|_| here.clone()).to_string_lossy())
}

/// How hooks and servers of a scope call the program.
pub(crate) fn invocation(scope: InstallScope, host: &Host<'_>) -> Result<Invocation> {
    Ok(match scope {
        InstallScope::Project => Invocation::Shared,
        InstallScope::User | InstallScope::Local | InstallScope::Agent(_) => {
            let program = path_text(&host.environment.program)?;
            let mut environment = host.environment.location_variables.clone();
            if !has_our_name(&program) && !environment.iter().any(|(name, _)| is_our_variable(name)) {
                environment.insert(0, (DATA_DIR_VARIABLE, path_text(&host.config.data_dir)?));
            }
            Invocation::Own { program, environment }
        }
    })
}
