//! Every path, environment variable and default. No other module reads the environment.

mod agent;
mod digest;
mod editors;
mod embeddings;
mod endpoint;
pub(crate) mod file;
mod hours;
pub(crate) mod inherited_env;
pub(crate) mod pause;
mod privacy;
mod project_matcher;
mod schedule;
mod sources;
mod team;
mod zone;

use std::collections::BTreeMap;
use std::env;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use etcetera::BaseStrategy;
use globset::{Glob, GlobSet, GlobSetBuilder};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

#[cfg(test)]
pub(crate) use self::privacy::OWN_TOOLS;
pub(crate) use crate::config::inherited_env::{DATA_DIR_VARIABLE, InheritedEnvironment, LOCATION_VARIABLES, PROGRAM};
pub(crate) use agent::{Agent, agent, agent_of_client};
pub(crate) use digest::{DigestConfig, SummarizerChoice};
pub(crate) use embeddings::{EmbeddingsConfig, EndpointApi};
pub(crate) use endpoint::{api_key, proxy_for};
pub(crate) use file::{HookScope, HooksConfig, PromptInjection, Retention, SignalConfig};
pub(crate) use hours::Hours;
pub(crate) use privacy::PrivacyConfig;
pub(crate) use project_matcher::ProjectMatcher;
pub(crate) use schedule::Schedule;
pub(crate) use sources::Sources;
pub(crate) use team::TeamConsent;

use crate::model::price::Price;
use crate::policy::{Policy, ProjectPatterns, View};
use crate::sys::data_folder;
use crate::sys::paths::path_aliases;
use crate::sys::projects::Projects;
use redact::RULES_VERSION;
use transcripts::client::{Client, InEditors};
use transcripts::privacy::Sanitizer;
use transcripts::session::{Millis, short_id};
use transcripts::source::discover::{ClientFolder, TranscriptFile};
use transcripts::source::source_of;

const DAY: Millis = 86_400_000;

/// Set for our own child, so that hooks in the user's settings recognise it.
pub(crate) const CHILD_VARIABLE: &str = "RECALL_CHILD";
/// The file that names the installed model in use.
pub(crate) const CURRENT_MODEL: &str = "current";
/// Set by the user for a session that gets no memory and is not stored.
const OFF_VARIABLE: &str = "RECALL_OFF";

#[derive(Debug, Clone)]
pub(crate) struct Config {
    /// Empty when `HOME` is not set: then every path was given explicitly, and nothing is looked for below a home.
    pub(crate) home: PathBuf,
    pub(crate) data_dir: PathBuf,
    pub(crate) config_file: PathBuf,
    pub(crate) claude_dirs: Vec<PathBuf>,
    /// The folders of clients other than Claude Code.
    other_folders: Vec<ClientFolder>,
    pub(crate) sources: Sources,
    pub(crate) time_zone: TimeZone,
    pub(crate) digest: DigestConfig,
    pub(crate) hooks: HooksConfig,
    pub(crate) privacy: PrivacyConfig,
    pub(crate) schedule: Schedule,
    /// Excluded projects.
    pub(crate) exclude_projects: ProjectPatterns,
    /// Projects whose sessions are shown only within the project itself.
    pub(crate) isolate: ProjectPatterns,
    /// Transcripts that are not read.
    pub(crate) exclude_transcripts: GlobSet,
    pub(crate) retention: Retention,
    pub(crate) signal: SignalConfig,
    pub(crate) embeddings: EmbeddingsConfig,
    pub(crate) moved_projects: Vec<(String, String)>,
    pub(crate) prices: BTreeMap<String, Price>,
    /// What of projects goes to the team's server, by path or address.
    #[cfg(feature = "team")]
    team: BTreeMap<String, TeamConsent>,
    /// The search path (`PATH`), on which `claude` is looked for.
    pub(crate) search_path: String,
    /// A fixed clock, for tests and reproducible runs.
    fixed_now: Option<Millis>,
    /// Paths and where they came from. With the values of the file they make up the effective settings.
    origins: Vec<Setting>,
    file: file::ConfigFile,
}

/// One effective value, for `recall config`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) origin: String,
}

/// What dates, ages and `~` in a query refer to.
#[derive(Debug, Clone)]
pub struct QueryContext {
    pub now: Millis,
    pub zone: TimeZone,
    /// What `~/` expands to.
    pub home: PathBuf,
}

/// Where the config file is, or would be.
///
/// # Errors
/// When there is no home directory to derive it from.
pub(crate) fn config_file() -> Result<PathBuf> {
    Ok(path_or_default("RECALL_CONFIG", || Ok(base("RECALL_CONFIG")?.config_dir().join("recall/config.toml")))?.0)
}

impl Config {
    /// Reads the environment and the config file.
    ///
    /// # Errors
    /// When a path is not given and there is no home directory to derive it from, a variable has no usable value, or the file has an
    /// unknown key or a wrong value.
    pub(crate) fn load() -> Result<Self> {
        let home = path_var("HOME")?.unwrap_or_default();
        let config_file = config_file()?;
        let (data_dir, data_origin) =
            path_or_default("RECALL_DATA_DIR", || Ok(base("RECALL_DATA_DIR")?.data_dir().join("recall")))?;
        let read = file::read(&config_file, path_var("RECALL_CONFIG")?.is_some())?;
        if let Some(value) = read.below_home().filter(|_| home.as_os_str().is_empty()) {
            bail!("{}: `{value}` is below the home directory, and HOME is not set", config_file.display());
        }
        let mut settings = vec![
            setting("config_file", &config_file.display().to_string(), if read.exists { "found" } else { "not there" }),
            setting("data_dir", &data_dir.display().to_string(), &data_origin),
        ];
        let claude_dirs = match &read.values.claude_dirs {
            Some(dirs) => dirs.iter().map(|d| expand(d, &home)).collect(),
            None => {
                let below_home = || Ok(path_var("HOME")?.with_context(|| no_home_message("CLAUDE_CONFIG_DIR"))?.join(".claude"));
                let (claude_default, claude_origin) = path_or_default("CLAUDE_CONFIG_DIR", below_home)?;
                settings.push(setting("claude_dirs", &format!("{:?}", [&claude_default]), &claude_origin));
                vec![claude_default]
            }
        };
        let mut other_folders = Vec::new();
        let config_home = path_var("XDG_CONFIG_HOME")?.unwrap_or_else(|| home.join(".config"));
        let editors = editors::user_folders(&home, &config_home);
        for client in Client::ALL {
            let Some(source) = read.values.sources.of(client) else { continue };
            let dirs: Vec<PathBuf> = match &source.dirs {
                Some(dirs) => dirs.iter().map(|d| expand(d, &home)).collect(),
                None => {
                    let (variable, folder) = client.home();
                    let named =
                        variable.map(|name| Ok::<_, anyhow::Error>(path_var(name)?.map(|path| (name, path)))).transpose()?;
                    let (dir, origin) = match named.flatten() {
                        Some((name, path)) => (client.home_in(path), format!("${name}")),
                        None => (home.join(folder), "default".to_owned()),
                    };
                    let own = Some(dir).filter(|_| client.in_editors() != InEditors::Only);
                    let shared = editors.iter().filter(|_| client.in_editors() != InEditors::Not).cloned();
                    let dirs: Vec<PathBuf> = own.into_iter().chain(shared).collect();
                    settings.push(setting(&format!("sources.{}.dirs", client.key()), &format!("{dirs:?}"), &origin));
                    // Without a home there is no default.
                    dirs.into_iter().filter(|dir| dir.is_absolute()).collect()
                }
            };
            other_folders.extend(dirs.into_iter().map(|path| ClientFolder { client, path }));
        }
        let time_zone = time_zone(read.values.timezone.as_deref(), &config_file)?;
        let patterns = |key: &str, list: &[String]| {
            ProjectPatterns::read(list, &home).map_err(|why| anyhow::anyhow!("{}: privacy.{key}: {why}", config_file.display()))
        };
        let globs = |key: &str, list: &[String]| globset(list, &home).with_context(|| format!("{}: {key}", config_file.display()));
        Ok(Self {
            exclude_projects: patterns("exclude_projects", &read.values.excluded_projects())?,
            isolate: patterns("isolate", &read.values.privacy.isolate)?,
            exclude_transcripts: globs("exclude_transcripts", &read.values.excluded_transcripts())?,
            privacy: read.values.privacy.clone(),
            retention: read.values.retention,
            sources: read.values.sources.clone(),
            signal: read.values.signal.clone(),
            embeddings: read.values.embeddings.clone(),
            moved_projects: moved_projects(&read.values.projects, &home),
            prices: read.values.prices.clone(),
            #[cfg(feature = "team")]
            team: read.values.team.clone(),
            digest: read.values.digest.clone(),
            hooks: read.values.hooks.clone(),
            schedule: read.values.schedule,
            fixed_now: fixed_now()?,
            search_path: env::var("PATH").unwrap_or_default(),
            origins: settings,
            file: read,
            home,
            data_dir,
            config_file,
            claude_dirs,
            other_folders,
            time_zone,
        })
    }

    /// A time in the user's zone.
    pub(crate) fn local(&self, at: Millis) -> Zoned {
        Timestamp::from_millisecond(at).unwrap_or_default().to_zoned(self.time_zone.clone())
    }

    /// A time in the user's zone, in a strftime format; dashes when there is none.
    pub(crate) fn local_time(&self, at: Option<Millis>, form: &str) -> String {
        let zoned = at.and_then(|at| Timestamp::from_millisecond(at).ok()).map(|t| t.to_zoned(self.time_zone.clone()));
        zoned.map_or_else(|| "----------".into(), |z| z.strftime(form).to_string())
    }

    /// A day in the user's zone, written like `19 Nov`; with the year if it is not the current one.
    pub(crate) fn short_day(&self, at: Millis) -> String {
        let year = |at: Millis| self.local_time(Some(at), "%Y");
        self.local_time(Some(at), if year(at) == year(self.now()) { "%-d %b" } else { "%-d %b %Y" })
    }

    /// Fingerprint of the zone that determines days: equal for zones with the same rules, whatever their names.
    pub(crate) fn zone_fingerprint(&self) -> String {
        zone::fingerprint(&self.time_zone)
    }

    /// What a query needs to interpret dates, ages and `~`.
    pub(crate) fn query_context(&self) -> QueryContext {
        QueryContext { now: self.now(), zone: self.time_zone.clone(), home: self.home.clone() }
    }

    /// The same at another time.
    pub(crate) fn as_of(&self, at: Millis) -> Self {
        Self { fixed_now: Some(at), ..self.clone() }
    }

    /// The same rules for transcripts in another folder and an index of their own, at a fixed time. Of other clients, of a model and of what is too
    /// old nothing counts, nor does `exclude_transcripts`: whoever puts transcripts there has seen to that.
    #[cfg(feature = "team")]
    pub(crate) fn apart(&self, data_dir: PathBuf, claude_dir: PathBuf, now: Millis) -> Self {
        let mut digest = self.digest.clone();
        digest.summarizer = SummarizerChoice::Extract;
        Self {
            data_dir,
            claude_dirs: vec![claude_dir],
            other_folders: Vec::new(),
            sources: Sources::default(),
            exclude_transcripts: GlobSet::empty(),
            retention: Retention::default(),
            digest,
            fixed_now: Some(now),
            ..self.clone()
        }
    }

    pub(crate) fn now(&self) -> Millis {
        self.fixed_now.unwrap_or_else(|| Timestamp::now().as_millisecond())
    }

    /// Start and end of the day that contains `now`, in the user's zone.
    pub(crate) fn day(&self, now: Millis) -> Range<Millis> {
        let zoned = Timestamp::from_millisecond(now).unwrap_or_default().to_zoned(self.time_zone.clone());
        let began =
            |day: Result<Zoned, jiff::Error>| day.and_then(|day| day.start_of_day()).map(|z| z.timestamp().as_millisecond());
        let (from, to) = (began(Ok(zoned.clone())), began(zoned.tomorrow()));
        from.unwrap_or(now.saturating_sub(DAY))..to.unwrap_or(Millis::MAX)
    }

    pub(crate) fn effective(&self) -> Vec<Setting> {
        [self.origins.clone(), self.file.settings(&self.config_file)].concat()
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.data_dir.join(data_folder::INDEX)
    }

    /// The folders in which clients keep their files, of those whose sessions are read.
    pub(crate) fn client_folders(&self) -> Vec<ClientFolder> {
        let of_claude = self.claude_dirs.iter().map(|path| ClientFolder { client: Client::ClaudeCode, path: path.clone() });
        let mut all: Vec<ClientFolder> = of_claude.chain(self.other_folders.iter().cloned()).collect();
        all.retain(|folder| self.sources.reads(folder.client));
        all
    }

    /// The folders of clients other than Claude Code, whether or not their sessions are read.
    pub(crate) fn folders_of_others(&self) -> &[ClientFolder] {
        &self.other_folders
    }

    /// Config directories whose sessions count as the user's: those that are read, and the one Claude Code itself uses here.
    pub(crate) fn session_dirs(&self) -> Vec<PathBuf> {
        let mut dirs = self.claude_dirs.clone();
        dirs.extend(path_var("CLAUDE_CONFIG_DIR").ok().flatten());
        dirs
    }

    /// Working directory of our own `claude` child: no project's instructions apply there.
    pub(crate) fn child_dir(&self) -> PathBuf {
        self.data_dir.join(data_folder::CHILD)
    }

    /// The user's own prompt, which replaces the one that ships.
    pub(crate) fn prompt_override(&self) -> PathBuf {
        self.config_file.with_file_name("digest.md")
    }

    /// Is the folder, or the project it belongs to, excluded?
    pub(crate) fn excludes_folder(&self, folder: &str, projects: &Projects) -> bool {
        let patterns = &self.exclude_projects;
        !patterns.is_empty() && (patterns.fit(folder) || patterns.fit(&projects.key_of(folder)))
    }

    /// Does the config exclude folders, and can it not be known whether a transcript comes from one of them? It is not read then, until that can be
    /// known or none is excluded.
    pub(crate) fn may_exclude(&self, file: &TranscriptFile, projects: &Projects) -> bool {
        let source = source_of(file.place.client);
        if file.place.cwd.is_some() || self.exclude_projects.is_empty() || source.names_folders(&file.path) {
            return false;
        }
        let is_excluded = |folder: &String| self.excludes_folder(folder, projects);
        source.possible_folders(&file.path).is_none_or(|all| all.iter().any(is_excluded))
    }

    /// What of a project with this key and this address of its repository the user lets go to the server of their team.
    #[cfg(feature = "team")]
    pub(crate) fn team_consent(&self, key: &str, remote: &str) -> TeamConsent {
        team::consent(&self.team, key, remote, &self.home)
    }

    /// The names under `[team]` that fit none of these projects, each by its key and the address of its repository.
    #[cfg(feature = "team")]
    pub(crate) fn unknown_in_team(&self, projects: &[(&str, &str)]) -> Vec<String> {
        team::unknown(&self.team, projects, &self.home)
    }

    /// The pattern of `exclude_projects` that fits a folder, or the project it belongs to.
    pub(crate) fn excluded_by(&self, folder: &str, projects: &Projects) -> Option<&str> {
        let patterns = &self.exclude_projects;
        patterns.fitting(folder).or_else(|| patterns.fitting(&projects.key_of(folder)))
    }

    /// The same of `isolate`.
    pub(crate) fn isolated_by(&self, folder: &str, projects: &Projects) -> Option<&str> {
        self.isolate.fitting(folder).or_else(|| self.isolate.fitting(&projects.key_of(folder)))
    }

    /// What a caller with this view may see of the memory.
    pub(crate) fn policy(&self, view: View<'_>) -> Policy {
        Policy::new(self.exclude_projects.clone(), self.isolate.clone(), self.project_keys(), view)
    }

    /// The sanitizer that everything stored must pass.
    ///
    /// # Errors
    /// When a glob, pattern or rule in the config is invalid.
    pub(crate) fn sanitizer(&self) -> Result<Sanitizer> {
        self.privacy
            .sanitizer(self.signal.skip_tools.skipped(), &self.homes())
            .with_context(|| format!("{}: [privacy]", self.config_file.display()))
    }

    /// Where models for embeddings are installed, each in a folder of its name; the file [`CURRENT_MODEL`] there names the one in use.
    pub(crate) fn models_dir(&self) -> PathBuf {
        self.data_dir.join(data_folder::EMBEDDING_MODELS)
    }

    /// The folder of the installed model in use. `None` if there is none, or if the config names an endpoint: that is an explicit choice.
    pub(crate) fn local_model(&self) -> Option<PathBuf> {
        if self.embeddings.is_on() {
            return None;
        }
        let models = self.models_dir();
        let name = std::fs::read_to_string(models.join(CURRENT_MODEL)).ok()?;
        let folder = models.join(name.trim());
        (!name.trim().is_empty() && folder.is_dir()).then_some(folder)
    }

    /// Short id of the sanitizer's rules: texts that passed under another id must pass again.
    pub(crate) fn sanitizer_rules(&self) -> String {
        let PrivacyConfig { exclude_patterns, rules, .. } = &self.privacy;
        let paths = self.privacy.path_globs(&self.homes());
        let rules = (RULES_VERSION, privacy::PRIVATE_FILES, paths, exclude_patterns, rules, self.signal.skip_tools.names());
        short_id("r", &[&format!("{rules:?}")])
    }

    /// Messages for keys of the file that were renamed.
    pub(crate) fn renamed_keys(&self) -> Vec<String> {
        let exclude = &self.file.values.exclude;
        let given = [("projects", &exclude.projects, "exclude_projects"), ("paths", &exclude.paths, "exclude_transcripts")];
        let given = given.into_iter().filter(|(_, list, _)| !list.is_empty());
        let told = |(old, _, new): (&str, _, &str)| {
            format!("{}: `{old}` in [exclude] is called `{new}` in [privacy] now", self.config_file.display())
        };
        given.map(told).collect()
    }

    /// Patterns for projects that match none of these folders, each as a sentence.
    pub(crate) fn unmatched_patterns(&self, known: &[String]) -> Vec<String> {
        let lists = [("exclude_projects", &self.exclude_projects), ("isolate", &self.isolate)];
        let told = |key: &str, pattern: &str| format!("`{pattern}` in `privacy.{key}` fits none of the projects that are known");
        lists.iter().flat_map(|(key, list)| list.unmatched(known).map(|pattern| told(key, pattern)).collect::<Vec<_>>()).collect()
    }

    pub(crate) fn project_keys(&self) -> Projects {
        Projects::new(self.moved_projects.clone(), self.homes())
    }

    /// All paths of the user's home, if it is known.
    fn homes(&self) -> Vec<PathBuf> {
        if self.home.as_os_str().is_empty() { Vec::new() } else { path_aliases(&self.home) }
    }
}

/// Is this process part of our own `claude` child?
pub(crate) fn in_own_child() -> bool {
    env::var_os(CHILD_VARIABLE).is_some()
}

/// Is recall switched off for the session this process belongs to? (`RECALL_OFF=1 claude`)
pub(crate) fn is_switched_off() -> bool {
    env::var_os(OFF_VARIABLE).is_some_and(|value| !matches!(value.to_str(), Some("" | "0" | "false" | "no")))
}

/// The data folder alone, for what must work when the rest of the configuration does not.
///
/// # Errors
/// When neither the variable nor a home directory is set: nothing is ever written to a guessed place.
pub(crate) fn data_dir() -> Result<PathBuf> {
    Ok(path_or_default("RECALL_DATA_DIR", || Ok(base("RECALL_DATA_DIR")?.data_dir().join("recall")))?.0)
}

/// Where claude-mem keeps its database.
///
/// # Errors
/// When neither its variable nor a home directory is set.
pub(crate) fn claude_mem_database() -> Result<PathBuf> {
    const VARIABLE: &str = "CLAUDE_MEM_DATA_DIR";
    let below_home = || Ok(path_var("HOME")?.with_context(|| no_home_message(VARIABLE))?.join(".claude-mem"));
    Ok(path_or_default(VARIABLE, below_home)?.0.join("claude-mem.db"))
}

/// The platform's data and config directories below the home, for a path that `variable` does not give.
fn base(variable: &str) -> Result<impl BaseStrategy> {
    path_var("HOME")?.with_context(|| no_home_message(variable))?;
    etcetera::base_strategy::choose_native_strategy().context("cannot find the home directory")
}

fn no_home_message(variable: &str) -> String {
    format!("neither HOME nor {variable} is set: recall does not know where to read and write")
}

/// Current time in milliseconds since the epoch, or the fixed clock's.
pub(crate) fn now() -> Result<Millis> {
    Ok(fixed_now()?.unwrap_or_else(|| Timestamp::now().as_millisecond()))
}

/// Globs over paths or project keys; `~` is the home.
pub fn globset(patterns: &[String], home: &Path) -> Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        for home in homes(pattern, home) {
            set.add(Glob::new(&expand_tilde(pattern, &home)).with_context(|| format!("`{pattern}` is not a glob"))?);
        }
    }
    Ok(set.build()?)
}

fn time_zone(name: Option<&str>, config_file: &Path) -> Result<TimeZone> {
    match name {
        Some(name) => zone::named(name).with_context(|| format!("{}: timezone: unknown zone", config_file.display())),
        None => Ok(zone::local()),
    }
}

/// Project roots that were moved: every name an old root may have, and the name of the new one that a client records.
fn moved_projects(projects: &BTreeMap<String, String>, home: &Path) -> Vec<(String, String)> {
    let real = path_aliases(home).pop().unwrap_or_default();
    let names = |from: &str| homes(from, home).into_iter().map(|h| expand_tilde(from, &h)).collect::<Vec<_>>();
    projects.iter().flat_map(|(from, to)| names(from).into_iter().map(|from| (from, expand_tilde(to, &real)))).collect()
}

fn setting(key: &str, value: &str, origin: &str) -> Setting {
    Setting { key: key.into(), value: value.into(), origin: origin.into() }
}

/// The path from a variable, else the default, and which of them it was.
fn path_or_default(name: &str, default: impl FnOnce() -> Result<PathBuf>) -> Result<(PathBuf, String)> {
    Ok(match path_var(name)? {
        Some(path) => (path, format!("${name}")),
        None => (default()?, "default".into()),
    })
}

fn path_var(name: &str) -> Result<Option<PathBuf>> {
    let Some(value) = env::var_os(name).filter(|v| !v.is_empty()) else { return Ok(None) };
    Ok(Some(std::path::absolute(PathBuf::from(value)).with_context(|| format!("${name} is not a path"))?))
}

fn expand(path: &str, home: &Path) -> PathBuf {
    PathBuf::from(expand_tilde(path, home))
}

/// The homes `~` may stand for: a home behind a symlink has two names, and a client may record either.
fn homes(path: &str, home: &Path) -> Vec<PathBuf> {
    if path.starts_with('~') { path_aliases(home) } else { vec![home.to_owned()] }
}

fn expand_tilde(path: &str, home: &Path) -> String {
    match path.strip_prefix('~') {
        Some(rest) if !home.as_os_str().is_empty() && (rest.is_empty() || rest.starts_with('/')) => {
            format!("{}{rest}", home.display())
        }
        _ => path.to_owned(),
    }
}

fn fixed_now() -> Result<Option<Millis>> {
    let Ok(text) = env::var("RECALL_NOW") else { return Ok(None) };
    match Timestamp::from_str(&text) {
        Ok(at) => Ok(Some(at.as_millisecond())),
        Err(_) => bail!("RECALL_NOW is not a time like 2026-01-31T12:00:00Z"),
    }
}

/// The pager that the user chose; empty for none.
pub(crate) fn pager() -> String {
    let chosen = ["RECALL_PAGER", "PAGER"].into_iter().find_map(|name| env::var(name).ok());
    chosen.unwrap_or_else(|| "less".to_owned())
}

/// Can the terminal show styles, and does the user want them?
pub(crate) fn wants_styles() -> bool {
    let wants_none = env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    !wants_none && env::var_os("TERM").is_some_and(|term| term != "dumb")
}
