//! The `claude` command: there, which version, logged in. Asked in ways that cost nothing and reach no model.

use std::path::Path;

use serde_json::Value;
use subprocess::{Exec, Redirection};

use super::Finding;
use crate::child::{self, Bounds, which};
use crate::clean::{one_line, plain, shorten};
use crate::config::{Config, GUARD, SummarizerChoice};

/// Starting the client takes a second on a slow machine.
const SECONDS: u64 = 20;

pub fn findings(config: &Config) -> Vec<Finding> {
    if config.digest.summarizer == SummarizerChoice::Extract {
        return vec![Finding::ok("claude", "not needed: `summarizer = \"extract\"`")];
    }
    let name = &config.digest.claude;
    let Some(command) = which(name, &config.search_path) else {
        let advice = "install Claude Code, set `claude` under [digest] in the config, or `summarizer = \"extract\"`";
        return vec![Finding::warning("claude", format!("`{name}` was not found: digests are made without the model"), advice)];
    };
    let version = ask(&command, &["--version"], config).map(|(_, said)| shorten(&one_line(&plain(&said)), 60));
    match version {
        Some(version) => vec![Finding::ok("claude", format!("{} {version}", command.display())), login(&command, config)],
        None => vec![Finding::problem("claude", format!("{} does not run", command.display()), "run it yourself to see why")],
    }
}

/// Whether there are credentials; only a call shows whether they are good.
fn login(command: &Path, config: &Config) -> Finding {
    let said = ask(command, &["auth", "status"], config).and_then(|(_, said)| serde_json::from_str::<Value>(&said).ok());
    match said.as_ref().and_then(|s| s.get("loggedIn")).and_then(Value::as_bool) {
        Some(true) => {
            let method = said.as_ref().and_then(|s| s.get("authMethod")).and_then(Value::as_str).unwrap_or("somehow");
            Finding::ok("login", format!("there ({})", plain(method)))
        }
        Some(false) => {
            Finding::problem("login", "not logged in: digests are made without the model", "start `claude` and use `/login`")
        }
        None => Finding::ok("login", "this version of claude does not tell without a request"),
    }
}

/// Exit status and stdout, within bounds; `None` when it does not run or does not end.
fn ask(command: &Path, arguments: &[&str], config: &Config) -> Option<(bool, String)> {
    // No project's settings are in scope there, and none of its hooks would mark anything.
    let folder = config.child_dir();
    let folder = if folder.is_dir() { folder } else { std::env::temp_dir() };
    let job = Exec::cmd(command)
        .args(arguments)
        .cwd(folder)
        .env(GUARD, "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .stdin(Redirection::Null);
    let ran = child::run(job, &Bounds::seconds(SECONDS)).ok()?.ok()?;
    Some((ran.status.success(), String::from_utf8_lossy(&ran.stdout).into_owned()))
}
