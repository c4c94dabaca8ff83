//! The environment that later starts of the program, by a hook or a timer, must inherit.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Config, editors, path_var};
use crate::sys::child_process::which;
use crate::sys::paths::is_same_file;
use transcripts::client::Client;

/// The variable that names the data folder.
pub(crate) const DATA_DIR_VARIABLE: &str = "RECALL_DATA_DIR";
/// Variables that decide where recall's own files are, each with its default below the home, if it has one.
pub(crate) const LOCATION_VARIABLES: [(&str, Option<&str>); 4] = [
    (DATA_DIR_VARIABLE, None),
    ("RECALL_CONFIG", None),
    ("XDG_DATA_HOME", Some(".local/share")),
    ("XDG_CONFIG_HOME", Some(".config")),
];
/// The usual name of the program.
pub(crate) const PROGRAM: &str = "recall";
/// Variables with which `claude` logs in and finds its service. They may be secret, so their values are never written anywhere.
const LOGIN_VARIABLES: [&str; 7] = [
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX", "HTTPS_PROXY",
];

#[derive(Debug, Clone)]
pub(crate) struct InheritedEnvironment {
    /// This program, by a path that survives upgrades where there is one.
    pub(crate) program: PathBuf,
    pub(crate) current_dir: PathBuf,
    /// Where VS Code keeps what belongs to the user.
    vs_code_folder: PathBuf,
    /// Where clients keep their files, as their variables say.
    homes: Vec<(Client, PathBuf)>,
    /// Where systemd looks for user units.
    pub(crate) config_home: PathBuf,
    /// Variables whose values differ from what a program gets that is started without the user's shell.
    pub(crate) location_variables: Vec<(&'static str, String)>,
    pub(crate) time_zone: Option<String>,
    /// Login variables that are set here and that no timer will have.
    pub(crate) login_variables: Vec<&'static str>,
}

impl InheritedEnvironment {
    /// # Errors
    /// When a variable has no usable value.
    pub(crate) fn read(config: &Config) -> Result<Self> {
        let home = config.home.as_path();
        anyhow::ensure!(!home.as_os_str().is_empty(), "HOME is not set: recall needs it to find hooks and timers");
        let exe = env::current_exe().context("cannot find out where this program is")?;
        let set = |name: &str| env::var_os(name).is_some_and(|v| !v.is_empty());
        let mut location_variables = Vec::new();
        for (name, default) in LOCATION_VARIABLES {
            let path = path_var(name)?.filter(|path| default.is_none_or(|d| *path != home.join(d)));
            let path = path.map(|p| p.into_os_string().into_string().ok().with_context(|| format!("${name} is not UTF-8")));
            location_variables.extend(path.transpose()?.map(|p| (name, p)));
        }
        let named =
            |client: Client| Ok(client.home().0.map(path_var).transpose()?.flatten().map(|path| (client, client.home_in(path))));
        let homes: Result<Vec<_>> = Client::ALL.into_iter().filter_map(|client| named(client).transpose()).collect();
        let config_home = path_var("XDG_CONFIG_HOME")?.unwrap_or_else(|| home.join(".config"));
        Ok(Self {
            vs_code_folder: editors::vs_code_folder(home, &config_home),
            program: stable_path(exe, &config.search_path),
            current_dir: env::current_dir().unwrap_or_else(|_| home.to_owned()),
            homes: homes?,
            config_home,
            location_variables,
            time_zone: env::var("TZ").ok().filter(|zone| !zone.is_empty()),
            login_variables: LOGIN_VARIABLES.into_iter().filter(|name| set(name)).collect(),
        })
    }

    /// Where a client keeps its settings and sessions when started from here.
    pub(crate) fn client_dir(&self, client: Client, config: &Config) -> PathBuf {
        if client == Client::VscodeCopilot {
            return self.vs_code_folder.clone();
        }
        self.named_dir(client).cloned().unwrap_or_else(|| config.home.join(client.home().1))
    }

    /// The same, as the client's variable says it; `None` if it is not set.
    pub(crate) fn named_dir(&self, client: Client) -> Option<&PathBuf> {
        self.homes.iter().find(|(of, _)| *of == client).map(|(_, path)| path)
    }

    /// Where Claude Code keeps its settings and sessions when started from here.
    pub(crate) fn claude_dir(&self, config: &Config) -> PathBuf {
        self.client_dir(Client::ClaudeCode, config)
    }
}

/// Prefers a package manager's symlink on the search path: it outlives the versioned folder it points to. By the usual name of the program where that
/// is this one there, else by its own.
fn stable_path(exe: PathBuf, search_path: &str) -> PathBuf {
    let own = exe.file_name().and_then(|name| name.to_str()).unwrap_or(PROGRAM);
    let found = which(PROGRAM, search_path).filter(|path| is_same_file(path, &exe) || is_wrapper(path, &exe));
    found.or_else(|| which(own, search_path).filter(|path| is_same_file(path, &exe))).unwrap_or(exe)
}

/// Does a package start the program by this script, which lies beside it? The program is called after it then, as Nix does it.
fn is_wrapper(path: &Path, exe: &Path) -> bool {
    let is_wrapped = exe.file_name().is_some_and(|name| name == ".recall-wrapped");
    let folder = |path: &Path| path.canonicalize().ok()?.parent().map(Path::to_owned);
    is_wrapped && folder(path).is_some_and(|of_script| Some(of_script) == folder(exe))
}
