//! The commands that control timers: `systemctl`, `launchctl`, `crontab`.

use anyhow::{Context, Result, bail};
use subprocess::{Exec, InputData, Redirection};

use crate::sys::child_process::{self, ChildLimits, which};
use text::clean::{one_line, shorten, without_controls};

/// How long a command may take; starting a timer can mean waiting for its manager.
const TIMEOUT_SECONDS: u64 = 30;

#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) succeeded: bool,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TimerCli<'a> {
    pub(crate) search_path: &'a str,
}

impl TimerCli<'_> {
    pub(crate) fn has(&self, name: &str) -> bool {
        which(name, self.search_path).is_some()
    }

    /// Runs a command and returns what it prints, whether it succeeds or not.
    ///
    /// # Errors
    /// When it is not found, or does not end in time.
    pub(crate) fn output(&self, command: &[&str], stdin: Option<&[u8]>) -> Result<CommandOutput> {
        let [name, arguments @ ..] = command else { bail!("no command") };
        let program = which(name, self.search_path).with_context(|| format!("`{name}` was not found on the PATH"))?;
        // Their output is parsed, so it must not be translated.
        let job = Exec::cmd(program).args(arguments).env("LC_ALL", "C");
        let job = match stdin {
            Some(bytes) => job.stdin(InputData::from_bytes(bytes.to_vec())),
            None => job.stdin(Redirection::Null),
        };
        let ran =
            child_process::run(job, &ChildLimits::seconds(TIMEOUT_SECONDS)).with_context(|| format!("cannot run `{name}`"))?;
        let Ok(ran) = ran else { bail!("`{}` did not end within {TIMEOUT_SECONDS} s", command.join(" ")) };
        let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
        Ok(CommandOutput { succeeded: ran.status.success(), stdout: ran.stdout, stderr })
    }

    /// Runs a command that must succeed.
    ///
    /// # Errors
    /// When it fails, with what it printed on stderr.
    pub(crate) fn run(&self, command: &[&str], stdin: Option<&[u8]>) -> Result<Vec<u8>> {
        let output = self.output(command, stdin)?;
        if !output.succeeded {
            let why = shorten(&one_line(&without_controls(&output.stderr)), 200);
            bail!("`{}` failed{}{why}", command.join(" "), if why.is_empty() { "" } else { ": " });
        }
        Ok(output.stdout)
    }

    /// The user's crontab; `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be read: then it must not be written either.
    pub(crate) fn crontab(&self) -> Result<Option<String>> {
        let output = self.output(&["crontab", "-l"], None)?;
        if output.succeeded {
            return Ok(Some(String::from_utf8(output.stdout).context("the crontab is not UTF-8")?));
        }
        // Debian, cronie and macOS; busybox.
        if output.stderr.contains("no crontab") || output.stderr.contains("can't open") {
            return Ok(None);
        }
        bail!("cannot read the crontab: {}", shorten(&one_line(&without_controls(&output.stderr)), 200))
    }

    /// Replaces the user's crontab, or removes it.
    ///
    /// # Errors
    /// When somebody changed it since it was read, or cron does not take it.
    pub(crate) fn write_crontab(&self, before: Option<&str>, after: Option<&str>) -> Result<()> {
        if self.crontab()?.as_deref() != before {
            bail!("the crontab was changed by somebody else just now: try again");
        }
        match after {
            Some(table) => self.run(&["crontab", "-"], Some(table.as_bytes())).map(drop),
            None => self.run(&["crontab", "-r"], None).map(drop),
        }
    }
}
