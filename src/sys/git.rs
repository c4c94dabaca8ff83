//! Asks the `git` program about a repository, and changes nothing: no lock, no network, no program that the repository's or the user's own
//! config names.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use subprocess::Exec;

use super::child_process::{ChildLimits, run, which};

/// What overrides a config that would run a program or ask somebody. `core.fsmonitor` and hooks run programs, `log.showSignature` runs the
/// signer's, and a partial clone would fetch what is missing.
const CONFIG: [&str; 10] = [
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false", "-c", "core.pager=cat", "-c",
    "log.follow=false",
];
/// The most bytes that are read of an answer.
const MAX_OUTPUT: usize = 16 << 20;

/// The git program, and until when it may be asked.
pub(crate) struct Git {
    program: PathBuf,
    search_path: String,
    root: PathBuf,
    until: Instant,
}

/// What git printed.
pub(crate) struct GitAnswer {
    pub(crate) printed: Vec<u8>,
    /// It was not cut off by a limit.
    pub(crate) whole: bool,
}

impl Git {
    /// For a repository with this root, for so long; `None` if there is no git, or no repository there.
    pub(crate) fn at(root: &Path, search_path: &str, budget: Duration) -> Option<Self> {
        root.join(".git").symlink_metadata().ok()?;
        let program = which("git", search_path)?;
        Some(Self { program, search_path: search_path.to_owned(), root: root.to_owned(), until: Instant::now() + budget })
    }

    /// The answer to a question; `None` if git fails, or no time is left. One that takes too long is cut off.
    pub(crate) fn ask(&self, arguments: &[impl AsRef<OsStr>]) -> Option<GitAnswer> {
        let time = self.until.checked_duration_since(Instant::now())?;
        let command = Exec::cmd(&self.program)
            .arg("-C")
            .arg(&self.root)
            .args(["--no-optional-locks", "--no-replace-objects", "--no-pager", "--literal-pathspecs"])
            .args(CONFIG)
            .args(arguments)
            .env_clear()
            .env("PATH", &self.search_path)
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_ALLOW_PROTOCOL", "");
        let limits = ChildLimits { time, output: MAX_OUTPUT, stop: || false };
        match run(command, &limits).ok()? {
            Ok(ended) => ended.status.success().then_some(GitAnswer { printed: ended.stdout, whole: true }),
            Err(killed) => Some(GitAnswer { printed: killed.ran.stdout, whole: false }),
        }
    }
}
