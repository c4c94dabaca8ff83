//! A model on this machine, run by `recall-embed`: a program of its own, so that this one stays small. It is started for each request and
//! ends with it; nothing runs when nothing is asked.
//!
//! The request goes to its stdin, a line of JSON for each kind of text, and the vectors come from its stdout. It gets no variables and needs
//! no network.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use subprocess::Exec;

use super::wire::{check_vectors, max_response_bytes};
use super::{TextRole, TextToEmbed};
use crate::config::Config;
use crate::sys::child_process::{self, ChildLimits, KillReason, which};
use crate::sys::shutdown;

/// How long it may take for a text, beside the time for a request.
const MILLIS_PER_TEXT: u64 = 500;

/// An installed model, and the program that runs it.
#[derive(Debug, Clone)]
pub(crate) struct LocalModel {
    folder: PathBuf,
    program: Option<PathBuf>,
    /// The program by the config.
    wanted: String,
    timeout: Duration,
}

#[derive(Deserialize)]
struct Reply {
    #[serde(default)]
    vectors: Vec<Vec<f32>>,
    error: Option<String>,
}

impl LocalModel {
    /// The installed model, if there is one and the config names no endpoint.
    pub(crate) fn of(config: &Config) -> Option<Self> {
        Some(Self::in_folder(config, config.local_model()?))
    }

    /// The model in a folder.
    pub(crate) fn in_folder(config: &Config, folder: PathBuf) -> Self {
        let settings = &config.embeddings;
        let timeout = Duration::from_secs(settings.timeout_seconds);
        Self { folder, program: program(config), wanted: settings.program.clone(), timeout }
    }

    /// What it is called: the name of its folder.
    pub(crate) fn name(&self) -> String {
        name_of(&self.folder)
    }

    /// What the program is called, for messages.
    pub(crate) fn program_name(&self) -> &str {
        &self.wanted
    }

    /// A vector for each text, in their order and all of one length.
    ///
    /// # Errors
    /// What is wrong, and whether the program answered: other texts may then succeed.
    pub(crate) fn embed(&self, texts: &[TextToEmbed<'_>]) -> Result<Vec<Vec<f32>>, (String, bool)> {
        let Some(program) = &self.program else {
            return Err((format!("`{}` was not found beside `recall` or on the PATH", self.wanted), false));
        };
        // Neighbours of one role go in one line.
        let groups: Vec<&[TextToEmbed<'_>]> = texts.chunk_by(|a, b| a.role == b.role).collect();
        let mut request = Vec::new();
        for group in &groups {
            let kind = if group[0].role == TextRole::Query { "query" } else { "passage" };
            let texts: Vec<&str> = group.iter().map(|one| one.text).collect();
            request.extend(json!({"kind": kind, "texts": texts}).to_string().into_bytes());
            request.push(b'\n');
        }
        let command = Exec::cmd(program).args(["run", "--model"]).arg(&self.folder).env_clear().cwd("/").stdin(request);
        let limits = ChildLimits {
            time: self.timeout + Duration::from_millis(MILLIS_PER_TEXT * texts.len() as u64),
            output: usize::try_from(max_response_bytes(texts.len())).unwrap_or(usize::MAX),
            stop: shutdown::requested,
        };
        let ran = child_process::run(command, &limits).map_err(|e| (format!("cannot be started: {e}"), false))?;
        let ran = ran.map_err(|killed| (cut(killed.why, limits.time), killed.why == KillReason::TooMuchOutput))?;
        let printed = String::from_utf8_lossy(&ran.stdout);
        // The first line says what model it is.
        let replies: Vec<&str> = printed.lines().skip(1).collect();
        if replies.len() < groups.len() && !ran.status.success() {
            let said = String::from_utf8_lossy(&ran.stderr);
            return Err((said.lines().last().unwrap_or("it printed no vectors").to_owned(), false));
        }
        let mut all = Vec::with_capacity(texts.len());
        for reply in replies {
            let reply: Reply = serde_json::from_str(reply).map_err(|e| (format!("its answer cannot be read: {e}"), true))?;
            match reply.error {
                Some(why) => return Err((why, true)),
                None => all.extend(reply.vectors),
            }
        }
        check_vectors(all, texts.len()).map_err(|why| (why, true))
    }
}

/// The model's name, from its folder.
pub(crate) fn name_of(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The program of the config: a bare name beside this one, as it is installed, or else on the search path.
pub(crate) fn program(config: &Config) -> Option<PathBuf> {
    let name = &config.embeddings.program;
    let beside = std::env::current_exe().ok().filter(|_| !name.contains('/')).map(|exe| exe.with_file_name(name));
    beside.filter(|path| path.is_file()).or_else(|| which(name, &config.search_path))
}

fn cut(why: KillReason, time: Duration) -> String {
    match why {
        KillReason::TimedOut => format!("no answer within {} seconds", time.as_secs()),
        KillReason::TooMuchOutput => "its answer is too long".to_owned(),
        KillReason::Stopped => "stopped".to_owned(),
    }
}
