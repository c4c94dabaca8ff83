//! The `claude` command: there, which version, logged in. Asked in ways that cost nothing and reach no model.

use std::path::Path;

use serde_json::Value;

use super::Finding;
use crate::child::which;
use crate::clean::{one_line, plain, shorten};
use crate::config::{Config, SummarizerChoice};
use crate::summarize::claude::ask;

pub fn findings(config: &Config) -> Vec<Finding> {
    if config.digest.summarizer == SummarizerChoice::Extract {
        return vec![Finding::ok("claude", "not needed: `summarizer = \"extract\"`")];
    }
    let name = &config.digest.claude;
    let Some(command) = which(name, &config.search_path) else {
        let advice = "install Claude Code, set `claude` under [digest] in the config, or `summarizer = \"extract\"`";
        return vec![Finding::warning("claude", format!("`{name}` was not found: digests are made without the model"), advice)];
    };
    let version = ask(&command, &["--version"], config).map(|said| shorten(&one_line(&plain(&said)), 60));
    match version {
        Some(version) => vec![Finding::ok("claude", format!("{} {version}", command.display())), login(&command, config)],
        None => vec![Finding::problem("claude", format!("{} does not run", command.display()), "run it yourself to see why")],
    }
}

/// Whether there are credentials; only a call shows whether they are good.
fn login(command: &Path, config: &Config) -> Finding {
    let said = ask(command, &["auth", "status"], config).and_then(|said| serde_json::from_str::<Value>(&said).ok());
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
