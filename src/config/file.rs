//! The config file: every key, its default, and errors that name the line.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};

use super::{DigestConfig, EmbeddingsConfig, PrivacyConfig, Schedule, Setting, Sources, TeamConsent, setting};
use crate::model::price::Price;
use crate::policy::ProjectPatterns;
use transcripts::client::Client;
use transcripts::privacy::SkippedTools;
use transcripts::session::Millis;
use transcripts::source::{is_tool_of_no_memory, tools_of_no_memory};

#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConfigValues {
    pub claude_dirs: Option<Vec<String>>,
    /// An IANA name; the system's zone when not given.
    pub timezone: Option<String>,
    /// When the batch runs by itself: `every 30m`, `hourly`, `03:15`.
    pub schedule: Schedule,
    pub hooks: HooksConfig,
    pub digest: DigestConfig,
    pub privacy: PrivacyConfig,
    #[serde(skip_serializing_if = "FormerExclude::is_empty")]
    pub exclude: FormerExclude,
    pub retention: Retention,
    pub signal: SignalConfig,
    /// Whose sessions are read.
    pub sources: Sources,
    pub embeddings: EmbeddingsConfig,
    /// Project roots that were moved or renamed: old path = new path.
    pub projects: BTreeMap<String, String>,
    /// What of projects the server of the team may have: by path, or by the address of the repository.
    pub team: BTreeMap<String, TeamConsent>,
    /// Prices of models this program does not know, by model id.
    pub prices: BTreeMap<String, Price>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct FormerExclude {
    /// The former name of `exclude_projects` in `[privacy]`.
    pub(crate) projects: Vec<String>,
    /// The former name of `exclude_transcripts` in `[privacy]`.
    pub(crate) paths: Vec<String>,
}

impl FormerExclude {
    fn is_empty(&self) -> bool {
        self.projects.is_empty() && self.paths.is_empty()
    }
}

impl ConfigValues {
    /// Patterns of excluded projects, under either name of the key.
    pub fn excluded_projects(&self) -> Vec<String> {
        [&self.privacy.exclude_projects[..], &self.exclude.projects].concat()
    }

    /// Globs of transcripts that are not read, under either name of the key.
    pub fn excluded_transcripts(&self) -> Vec<String> {
        [&self.privacy.exclude_transcripts[..], &self.exclude.paths].concat()
    }
}

/// What carries no signal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SignalConfig {
    /// Tools whose uses are not stored.
    pub skip_tools: SkipTools,
}

/// Names of tools; a trailing `*` matches any ending.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub enum SkipTools {
    /// Those whose uses are no memory. Hooks load the config and ask for no name.
    #[default]
    OfNoMemory,
    Named(Vec<String>),
}

impl SkipTools {
    /// Each with its `*`, if it has one.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::OfNoMemory => tools_of_no_memory(),
            Self::Named(names) => names.clone(),
        }
    }

    /// The same, as they are looked up.
    pub fn skipped(&self) -> SkippedTools {
        match self {
            Self::OfNoMemory => SkippedTools::By(is_tool_of_no_memory),
            Self::Named(names) => SkippedTools::named(names.clone()),
        }
    }
}

impl From<Vec<String>> for SkipTools {
    fn from(names: Vec<String>) -> Self {
        Self::Named(names)
    }
}

impl From<SkipTools> for Vec<String> {
    fn from(tools: SkipTools) -> Self {
        tools.names()
    }
}

/// How long sessions are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// Days since a session was last active; 0 means for ever.
    pub(crate) days: u32,
}

impl Retention {
    /// Sessions last active before this time are not kept; `None` keeps all.
    pub fn oldest(self, now: Millis) -> Option<Millis> {
        (self.days > 0).then(|| now - Millis::from(self.days) * 86_400_000)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct HooksConfig {
    /// Limit for what session start injects, in tokens by the estimate of `context`.
    pub(crate) max_inject_tokens: usize,
    /// Tell the user at a session's start, in one line, what recall knows.
    pub(crate) start_line: bool,
    /// How long session start may wait for it, in milliseconds.
    pub(crate) deadline_ms: u64,
    /// Whose sessions are considered at a prompt.
    pub(crate) scope: HookScope,
    /// What is injected about earlier sessions at a prompt.
    pub(crate) prompt: PromptInjection,
    /// Limit for what is injected beside a prompt, in tokens by the estimate of `context`.
    pub(crate) max_prompt_tokens: usize,
    /// Start a digest in the background when a session has ended: for machines without a timer.
    pub(crate) digest_at_end: bool,
    /// Start an ingest in the background before the client compacts a session: for clients that then rewrite the transcript.
    pub(crate) ingest_before_compact: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PromptInjection {
    /// Nothing.
    Off,
    /// A notice of which sessions are relevant; what they say only if the prompt asks for the past.
    Notice,
    /// What they say.
    Inject,
}

impl Default for HooksConfig {
    fn default() -> Self {
        Self {
            max_inject_tokens: 2_000,
            start_line: true,
            deadline_ms: 300,
            scope: HookScope::default(),
            prompt: PromptInjection::Notice,
            max_prompt_tokens: 800,
            digest_at_end: false,
            ingest_before_compact: false,
        }
    }
}

/// Which projects' sessions hooks may inject.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HookScope {
    /// Those of the prompt's own project.
    #[default]
    Project,
    /// Also others that match far better; never isolated ones.
    All,
}

#[derive(Debug, Clone)]
pub struct ConfigFile {
    pub values: ConfigValues,
    pub exists: bool,
    table: toml::Table,
}

/// What `recall config --init` writes: every setting with its default, as a comment.
const COMMENTED: &str = include_str!("commented.toml");

/// The text of a new config file, which changes nothing.
pub(crate) fn commented() -> String {
    COMMENTED.replace("#skip_tools = []", &format!("#skip_tools = {:?}", tools_of_no_memory()))
}

/// Reads the config file. A file named explicitly must exist; the default one may be missing.
pub fn read(path: &Path, named: bool) -> Result<ConfigFile> {
    match std::fs::read_to_string(path) {
        Ok(text) => parse(path, &text),
        Err(e) if e.kind() == ErrorKind::NotFound && !named => {
            Ok(ConfigFile { values: ConfigValues::default(), exists: false, table: toml::Table::default() })
        }
        Err(e) => Err(e).with_context(|| format!("cannot read the config file {}", path.display())),
    }
}

/// Parses the text of a config file; `path` is for messages.
///
/// # Errors
/// When it is not TOML, or has an unknown key or an unusable value.
pub fn parse(path: &Path, text: &str) -> Result<ConfigFile> {
    let values: ConfigValues = toml::from_str(text).map_err(|e| with_location(path, text, &e))?;
    check(&values).map_err(|(key, why)| anyhow!("{}:{}: `{key}`: {why}", path.display(), line_of(text, key)))?;
    let checked = check_folders(&values).and_then(|()| check_prices(&values.prices));
    checked.map_err(|(key, why)| anyhow!("{}:{}: `{key}`: {why}", path.display(), line_of(text, &key)))?;
    let table = text.parse().map_err(|e| with_location(path, text, &e))?;
    Ok(ConfigFile { values, exists: true, table })
}

/// Checks for values that parse but are unusable; the error has the key and the reason.
fn check(values: &ConfigValues) -> Result<(), (&'static str, String)> {
    let ensure = |holds: bool, key: &'static str, why: String| if holds { Ok(()) } else { Err((key, why)) };
    values.digest.check()?;
    let deadline = values.hooks.deadline_ms;
    ensure((10..=5_000).contains(&deadline), "hooks.deadline_ms", format!("must be 10 to 5000, is {deadline}"))?;
    if let Some(name) = &values.timezone {
        ensure(super::zone::named(name).is_some(), "timezone", format!("no time zone is called {name}"))?;
    }
    if values.projects.keys().any(|old| old.trim_end_matches('/').is_empty()) {
        return Err(("projects", "an empty path or `/` would move every project".to_owned()));
    }
    values.privacy.check()?;
    values.embeddings.check()?;
    let globs = [("exclude.paths", &values.exclude.paths), ("privacy.exclude_transcripts", &values.privacy.exclude_transcripts)];
    let patterns = [
        ("exclude.projects", &values.exclude.projects),
        ("privacy.exclude_projects", &values.privacy.exclude_projects),
        ("privacy.isolate", &values.privacy.isolate),
    ];
    for (key, patterns) in patterns {
        ProjectPatterns::read(patterns, Path::new("/")).map_err(|why| (key, why))?;
    }
    for (key, globs) in globs {
        for glob in globs {
            globset::Glob::new(glob).map_err(|e| (key, e.to_string()))?;
        }
    }
    Ok(())
}

/// Folders that are read: hooks and timers are started in others than a shell.
fn check_folders(values: &ConfigValues) -> Result<(), (String, String)> {
    let of_sources = Client::ALL.into_iter().filter_map(|client| {
        let folders = values.sources.of(client)?.dirs.as_ref()?;
        Some((format!("sources.{}.dirs", client.key()), folders))
    });
    let of_claude = values.claude_dirs.iter().map(|folders| ("claude_dirs".to_owned(), folders));
    let is_whole = |folder: &str| folder.starts_with('/') || folder == "~" || folder.starts_with("~/");
    for (key, folders) in of_claude.chain(of_sources) {
        if let Some(part) = folders.iter().find(|folder| !is_whole(folder)) {
            return Err((key, format!("must be whole paths, or begin with `~/`, is `{part}`")));
        }
    }
    Ok(())
}

/// Prices that no bill can have would let a run reserve nothing for a call.
fn check_prices(prices: &BTreeMap<String, Price>) -> Result<(), (String, String)> {
    for (model, price) in prices {
        if let Some((name, dollars)) = price.named().find(|(_, dollars)| !(dollars.is_finite() && *dollars >= 0.0)) {
            return Err((format!("prices.{model}.{name}"), format!("must be zero or more, is {dollars}")));
        }
    }
    Ok(())
}

/// Line number of a dotted key; 1 when it is written in another notation.
fn line_of(text: &str, dotted: &str) -> usize {
    let (table, name) = dotted.rsplit_once('.').unwrap_or(("", dotted));
    let mut current = String::new();
    for (at, line) in text.lines().map(str::trim).enumerate() {
        if let Some(header) = line.strip_prefix('[') {
            current = header.trim_end_matches(']').trim().replace('"', "");
        } else if let Some((key, _)) = line.split_once('=')
            && (key.trim() == dotted || current == table && key.trim() == name)
        {
            return at + 1;
        }
    }
    1
}

/// `file:line: key: what is wrong`
fn with_location(path: &Path, text: &str, error: &toml::de::Error) -> anyhow::Error {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let line = text[..at].matches('\n').count() + 1;
    let source = text.lines().nth(line - 1).unwrap_or_default();
    let key = source.split('=').next().unwrap_or_default().trim();
    anyhow!("{}:{line}: `{key}`: {}", path.display(), error.message())
}

impl ConfigFile {
    /// A value, or the path of a moved project, that begins with `~`.
    pub(crate) fn below_home(&self) -> Option<&str> {
        fn find(value: &toml::Value) -> Option<&str> {
            let is_below = |text: &&str| text.trim_start_matches('!').starts_with('~');
            match value {
                toml::Value::String(text) => Some(text.as_str()).filter(is_below),
                toml::Value::Array(all) => all.iter().find_map(find),
                toml::Value::Table(all) => {
                    all.iter().find_map(|(name, value)| Some(name.as_str()).filter(is_below).or_else(|| find(value)))
                }
                _ => None,
            }
        }
        self.table.values().find_map(find)
    }

    /// Every key with its effective value and where that came from.
    pub fn settings(&self, path: &Path) -> Vec<Setting> {
        let Ok(effective) = toml::Table::try_from(&self.values) else { return Vec::new() };
        let mut all = Vec::new();
        if self.values.timezone.is_none() {
            all.push(setting("timezone", "system", "default"));
        }
        flatten("", &effective, Some(&self.table), &path.display().to_string(), &mut all);
        all
    }
}

fn flatten(prefix: &str, effective: &toml::Table, given: Option<&toml::Table>, path: &str, all: &mut Vec<Setting>) {
    for (name, value) in effective {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let given_here = given.and_then(|t| t.get(name));
        match value {
            toml::Value::Table(inner) => flatten(&key, inner, given_here.and_then(|v| v.as_table()), path, all),
            _ => all.push(setting(&key, &value.to_string(), if given_here.is_some() { path } else { "default" })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_says_what_an_empty_one_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        let none = read(&path, false).unwrap();
        std::fs::write(&path, "").unwrap();
        let empty = read(&path, false).unwrap();
        assert_eq!((none.exists, empty.exists), (false, true));
        assert_eq!(toml::to_string(&none.values).unwrap(), toml::to_string(&empty.values).unwrap());
        assert_eq!(none.values.signal.skip_tools.names(), tools_of_no_memory());
        assert!(read(&path.with_file_name("other.toml"), true).is_err(), "a file that is named has to be there");
    }
}
