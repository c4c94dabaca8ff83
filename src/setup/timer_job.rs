//! What a timer runs: the program, its environment, and the folders it writes to.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::Host;
use crate::config::Schedule;
use crate::inputs::sync_places;
use crate::sys::child_process::which;
use transcripts::client::Client;

/// The folders in which every system has commands.
const SYSTEM_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TimerJob {
    pub(crate) program: String,
    /// Variables that cron and launchd lack, and that systemd's user manager may have with other values.
    pub(crate) environment: Vec<(&'static str, String)>,
    pub(crate) data_dir: String,
    /// Where `claude` keeps its login.
    pub(crate) claude_dir: String,
    /// The folders over which machines exchange. They may be away.
    pub(crate) sync_dirs: Vec<String>,
    pub(crate) home: String,
    pub(crate) schedule: Schedule,
}

impl TimerJob {
    /// # Errors
    /// When a path or a variable cannot be written into a timer.
    pub(crate) fn new(host: &Host<'_>) -> Result<Self> {
        let (config, inherited) = (host.config, &host.environment);
        let program = path_text(&inherited.program)?;
        let mut environment = vec![("HOME", path_text(&config.home)?), ("PATH", search_path(host)?)];
        let claude =
            inherited.named_dir(Client::ClaudeCode).map(|dir| Ok::<_, anyhow::Error>(("CLAUDE_CONFIG_DIR", path_text(dir)?)));
        environment.extend(claude.transpose()?);
        environment.extend(inherited.location_variables.iter().cloned());
        environment.extend(inherited.time_zone.clone().map(|zone| ("TZ", zone)));
        if let Some((name, value)) = environment.iter().find(|(_, value)| value.contains(char::is_control)) {
            bail!("${name} is {value:?}: a timer cannot be given a line break");
        }
        let sync_dirs = sync_places::folders(&config.data_dir);
        Ok(Self {
            program,
            environment,
            data_dir: path_text(&config.data_dir)?,
            claude_dir: path_text(&inherited.claude_dir(config))?,
            sync_dirs: sync_dirs.iter().map(|dir| path_text(Path::new(dir))).collect::<Result<_>>()?,
            home: path_text(&config.home)?,
            schedule: config.schedule,
        })
    }
}

/// A path as text; an error where it is not UTF-8 or has control characters.
pub(crate) fn path_text(path: &Path) -> Result<String> {
    let text = path.to_str().filter(|t| !t.contains(char::is_control));
    Ok(text.with_context(|| format!("{path:?} contains characters that cannot be written into the timer's file"))?.to_owned())
}

/// The search path of a timer: the folders of `claude`, of the `node` it may need and of the program, then the system's. A crontab's line
/// has no room for more.
fn search_path(host: &Host<'_>) -> Result<String> {
    let folder = |program: Option<PathBuf>| program.and_then(|p| p.parent().map(Path::to_owned));
    let commands = [host.config.digest.claude.as_str(), "node"].map(|name| folder(which(name, &host.config.search_path)));
    let found = commands.into_iter().flatten().chain(folder(Some(host.environment.program.clone())));
    let mut all: Vec<String> = Vec::new();
    for folder in found.filter(|f| f.is_absolute()).chain(SYSTEM_PATH.map(PathBuf::from)) {
        let folder = path_text(&folder)?;
        if !all.contains(&folder) {
            all.push(folder);
        }
    }
    Ok(all.join(":"))
}

/// A job with odd paths, for the tests of every timer.
#[cfg(test)]
pub(crate) fn odd() -> TimerJob {
    TimerJob {
        program: "/opt/it's 100%/recall".into(),
        environment: vec![
            ("HOME", "/home/x".into()),
            ("PATH", "/opt/it's 100%:/usr/bin:/bin".into()),
            ("RECALL_DATA_DIR", "/d&d".into()),
        ],
        data_dir: "/d&d".into(),
        claude_dir: "/home/x/.claude".into(),
        sync_dirs: vec!["/home/x/it's 100%".into()],
        home: "/home/x".into(),
        schedule: Schedule::Minutes(20),
    }
}
