//! `cleanupPeriodDays`: how long Claude Code keeps its transcripts. It deletes older ones, without a word, when it starts.
//!
//! By then recall has stored what memory needs; the lines themselves, and `--resume`, are lost. The setting is the user's: recall shows the
//! change, and makes it when told to.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use transcripts::client::Client;

use super::diff::write_file_diff;
use super::file::FileSnapshot;
use super::{Host, settings};

/// The setting's name.
pub(crate) const KEY: &str = "cleanupPeriodDays";
/// The client's default, in days (docs; seen with 2.1.197 and 2.1.330).
pub(crate) const DEFAULT: i64 = 30;
/// What the doctor offers, in days: a year costs someone who works all day some gigabytes of disk.
pub(crate) const OFFERED: u64 = 365;

/// A change of a settings file that raises the number of days.
pub(crate) struct RetentionChange {
    file: FileSnapshot,
    after: String,
    /// The days that the file states now.
    now: Option<i64>,
}

impl RetentionChange {
    /// Works out the change of the user's settings.
    ///
    /// # Errors
    /// When the file cannot be read or is not what the client reads.
    pub(crate) fn plan(days: u64, host: &Host<'_>) -> Result<Self> {
        let path = host.environment.claude_dir(host.config).join("settings.json");
        let file = FileSnapshot::read(&path)?;
        let text = file.text()?;
        let broken = |broken| anyhow!("{}\nit is left as it is", settings::located(&path, Client::ClaudeCode, &broken));
        let now = settings::number(&text, KEY).map_err(broken)?;
        let after = settings::set_number(&text, KEY, days).map_err(broken)?;
        Ok(Self { file, after, now })
    }

    /// Does the file state that no transcripts are kept? That is a wish, and no number to raise.
    pub(crate) fn keeps_none(&self) -> bool {
        self.now.is_some_and(|days| days <= 0)
    }

    /// Does the file state a number of days?
    pub(crate) fn is_chosen(&self) -> bool {
        self.now.is_some()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.file.path
    }

    /// The change, as `diff -u` prints it.
    pub(crate) fn difference(&self) -> String {
        let mut printed = Vec::new();
        let written = write_file_diff(&mut printed, &self.file, Some(self.after.as_bytes()));
        written.map(|()| String::from_utf8_lossy(&printed).into_owned()).unwrap_or_default()
    }

    /// Makes the change, and prints it.
    ///
    /// # Errors
    /// When it would lower what is there, or the file was changed meanwhile or cannot be written.
    pub(crate) fn apply(&self, days: u64, out: &mut impl Write) -> Result<()> {
        let now = self.now.unwrap_or(DEFAULT);
        let path = self.path().display();
        if i64::try_from(days).is_ok_and(|days| days < now) {
            bail!(
                "Claude Code keeps transcripts for {now} days already, {}: recall only raises that",
                match self.now {
                    Some(_) => format!("by {path}"),
                    None => "its default".to_owned(),
                }
            );
        }
        if self.file.bytes.as_deref() == Some(self.after.as_bytes()) {
            writeln!(out, "{path} says so already")?;
            return Ok(());
        }
        write!(out, "{}", self.difference())?;
        self.file.write(self.after.as_bytes())?;
        writeln!(out, "kept      transcripts for {days} days, by {path}")?;
        Ok(())
    }
}
