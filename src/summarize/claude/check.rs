//! Is the `claude` command there, which version is it, is it logged in? The questions cost nothing and reach no model.

use std::path::Path;

use serde_json::Value;

use super::WORD;
use super::call::query_client;
use crate::config::Config;
use crate::model::finding::Finding;
use crate::summarize::SummarizerCheck;
use crate::sys::child_process::which;
use text::clean::{one_line, shorten, without_controls};

pub(crate) fn check(config: &Config) -> SummarizerCheck {
    let name = &config.digest.claude;
    let command = which(name, &config.search_path);
    let client_version = command.as_deref().and_then(|command| version(command, config));
    let findings = match (&command, &client_version) {
        (None, _) => {
            let advice = "install Claude Code, set `claude` under [digest] in the config, or set `summarizer = \"extract\"`";
            vec![Finding::warning(WORD, format!("`{name}` was not found: digests are made without the model"), advice)]
        }
        (Some(command), Some(version)) => {
            vec![Finding::ok(WORD, format!("{} {version}", command.display())), login(command, config)]
        }
        (Some(command), None) => {
            vec![Finding::problem(WORD, format!("{} does not run", command.display()), "run it yourself to see why")]
        }
    };
    SummarizerCheck { findings, client_version }
}

fn version(command: &Path, config: &Config) -> Option<String> {
    query_client(command, &["--version"], config).map(|said| shorten(&one_line(&without_controls(&said)), 60))
}

/// Whether there are credentials. Only a real call would show whether they are valid.
fn login(command: &Path, config: &Config) -> Finding {
    let said = query_client(command, &["auth", "status"], config).and_then(|said| serde_json::from_str::<Value>(&said).ok());
    match said.as_ref().and_then(|s| s.get("loggedIn")).and_then(Value::as_bool) {
        Some(true) => {
            let method = said.as_ref().and_then(|s| s.get("authMethod")).and_then(Value::as_str).unwrap_or("somehow");
            Finding::ok("login", format!("there ({})", without_controls(method)))
        }
        Some(false) => {
            Finding::problem("login", "not logged in: digests are made without the model", "start `claude` and use `/login`")
        }
        None => {
            Finding::ok("login", "this version of claude does not show whether you are logged in, unless recall sends a request")
        }
    }
}
