//! What a timer is to run: the program, its environment, and what it writes to.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::Host;
use crate::config::Schedule;
use crate::sys::child_process::which;

/// Folders every system has its commands in.
const SYSTEM_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub program: String,
    /// What cron and launchd do not have, and systemd's user manager may have otherwise.
    pub environment: Vec<(&'static str, String)>,
    /// The data folder, and the folder `claude` keeps its login in.
    pub data_dir: String,
    pub claude_dir: String,
    pub home: String,
    pub schedule: Schedule,
}

impl Job {
    /// # Errors
    /// When a path is no text that could be written anywhere.
    pub fn new(host: &Host<'_>) -> Result<Self> {
        let (config, around) = (host.config, &host.around);
        let program = text(&around.program)?;
        let mut environment = vec![("HOME", text(&config.home)?), ("PATH", search_path(host)?)];
        let claude = around.claude_config_dir.as_ref().map(|dir| Ok::<_, anyhow::Error>(("CLAUDE_CONFIG_DIR", text(dir)?)));
        environment.extend(claude.transpose()?);
        environment.extend(around.carried.iter().cloned());
        environment.extend(around.time_zone.clone().map(|zone| ("TZ", zone)));
        if let Some((name, value)) = environment.iter().find(|(_, value)| value.contains(char::is_control)) {
            bail!("${name} is {value:?}: a timer cannot be given a line break");
        }
        Ok(Self {
            program,
            environment,
            data_dir: text(&config.data_dir)?,
            claude_dir: text(&around.claude_dir(config))?,
            home: text(&config.home)?,
            schedule: config.schedule,
        })
    }
}

/// A path as text without line breaks.
pub fn text(path: &Path) -> Result<String> {
    let text = path.to_str().filter(|t| !t.contains(char::is_control));
    Ok(text.with_context(|| format!("{path:?} is no path that could be written into a file"))?.to_owned())
}

/// The folders of `claude`, of the `node` it may need, and of the program; then the system's. A crontab's line has no room for more.
fn search_path(host: &Host<'_>) -> Result<String> {
    let folder = |program: Option<PathBuf>| program.and_then(|p| p.parent().map(Path::to_owned));
    let commands = [host.config.digest.claude.as_str(), "node"].map(|name| folder(which(name, &host.config.search_path)));
    let found = commands.into_iter().flatten().chain(folder(Some(host.around.program.clone())));
    let mut all: Vec<String> = Vec::new();
    for folder in found.filter(|f| f.is_absolute()).chain(SYSTEM_PATH.map(PathBuf::from)) {
        let folder = text(&folder)?;
        if !all.contains(&folder) {
            all.push(folder);
        }
    }
    Ok(all.join(":"))
}

/// Pieces that are the same in the tests of every timer.
#[cfg(test)]
pub fn odd() -> Job {
    Job {
        program: "/opt/it's 100%/recall".into(),
        environment: vec![
            ("HOME", "/home/x".into()),
            ("PATH", "/opt/it's 100%:/usr/bin:/bin".into()),
            ("RECALL_DATA_DIR", "/d&d".into()),
        ],
        data_dir: "/d&d".into(),
        claude_dir: "/home/x/.claude".into(),
        home: "/home/x".into(),
        schedule: Schedule::Minutes(20),
    }
}
