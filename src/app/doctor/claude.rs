//! The `claude` command: found, version, login. The questions cost nothing and reach no model.
//!
//! Also whether the client, by its version or by what it wrote, is one that recall was tested with.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::Finding;
use crate::config::Config;
use crate::model::session::Millis;
use crate::privacy::View;
use crate::source::{NEWEST_TESTED, Release};
use crate::store::Memory;
use crate::store::last_run::{LastRun, ModelBackoff};
use crate::summarize::claude::query_client;
use crate::sys::child_process::which;
use crate::text::clean::{one_line, shorten, without_controls};

/// Record types that are named; the others are only counted.
const MAX_NAMED: usize = 5;

/// Whether the model is not asked for now, and why.
pub(crate) fn rest(config: &Config, now: Millis) -> Option<Finding> {
    let ModelBackoff { until, why } = LastRun::backoff(&config.data_dir, now)?;
    let until = config.local_time(Some(until), "%Y-%m-%d %H:%M");
    let advice = "digests are made without it meanwhile; `recall digest --summarizer claude` asks it now";
    Some(Finding::warning("model", format!("{why}: left alone until {until}"), advice))
}

pub(crate) fn findings(config: &Config) -> Vec<Finding> {
    let name = &config.digest.claude;
    let is_needed = config.digest.summarizer.may_ask_model();
    let command = is_needed.then(|| which(name, &config.search_path)).flatten();
    let version = command.as_deref().and_then(|command| version(command, config));
    let mut all = match (&command, &version) {
        _ if !is_needed => vec![Finding::ok("claude", "not needed: `summarizer = \"extract\"`")],
        (None, _) => {
            let advice = "install Claude Code, set `claude` under [digest] in the config, or `summarizer = \"extract\"`";
            vec![Finding::warning("claude", format!("`{name}` was not found: digests are made without the model"), advice)]
        }
        (Some(command), Some(version)) => {
            vec![Finding::ok("claude", format!("{} {version}", command.display())), login(command, config)]
        }
        (Some(command), None) => {
            vec![Finding::problem("claude", format!("{} does not run", command.display()), "run it yourself to see why")]
        }
    };
    all.extend(release(config, version.as_deref()));
    all
}

fn version(command: &Path, config: &Config) -> Option<String> {
    query_client(command, &["--version"], config).map(|said| shorten(&one_line(&without_controls(&said)), 60))
}

/// Whether recall was tested with this client, judged by its version and by what it wrote. `None` if neither is known.
fn release(config: &Config, version: Option<&str>) -> Option<Finding> {
    let store = Memory::open(&config.database(), &config.policy(View::Owner)).ok();
    let of_index = |store: &Memory| store.client_versions().unwrap_or_default();
    let wrote = store.as_ref().map(of_index).unwrap_or_default();
    let unknown = store.and_then(|store| store.unknown_record_types().ok()).unwrap_or_default();
    let newest = wrote.iter().map(String::as_str).chain(version).filter_map(Release::parse).max()?;
    let tried = if newest > NEWEST_TESTED {
        format!("Claude Code {newest} is newer than {NEWEST_TESTED}, the newest that recall was tried with")
    } else {
        format!("Claude Code {newest}, recall was tried with up to {NEWEST_TESTED}")
    };
    if unknown.is_empty() {
        return Some(Finding::ok("client", format!("{tried}; all of its transcripts was understood")));
    }
    let found = format!("{tried}; not understood in its transcripts: {}", list_types(&unknown));
    let types = unknown.iter().map(|(name, _)| name.as_str()).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("\n");
    let advice = "a newer recall may know them; what they say is in no digest until then";
    Some(Finding::warning("client", found, advice).same_while(types))
}

/// `3 rows of type a, 1 row of type b and 2 more types`
fn list_types(unknown: &[(String, i64)]) -> String {
    let rows = |n: i64| if n == 1 { "1 row".to_owned() } else { format!("{n} rows") };
    let named = unknown
        .iter()
        .take(MAX_NAMED)
        .map(|(name, n)| format!("{} of type {}", rows(*n), shorten(&one_line(&without_controls(name)), 40)));
    let more = unknown.len().saturating_sub(MAX_NAMED);
    let rest = (more > 0).then(|| format!("{more} more types"));
    named.chain(rest).collect::<Vec<_>>().join(", ")
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
        None => Finding::ok("login", "this version of claude does not tell without a request"),
    }
}
