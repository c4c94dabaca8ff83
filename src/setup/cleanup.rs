//! `cleanupPeriodDays`: for how long Claude Code keeps its transcripts. It deletes what is older, without a word, when it starts.
//!
//! What memory needs recall has kept by then; the rows themselves, and `--resume`, go. It is the user's setting: recall shows what it would
//! change, and changes it when told to.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, anyhow, bail};

use super::file::File;
use super::plan::{located, show_difference, text_of};
use super::{Host, settings};

/// The setting's name.
pub const KEY: &str = "cleanupPeriodDays";
/// What the client does without it, in days (docs; seen with 2.1.197 and 2.1.330).
pub const DEFAULT: i64 = 30;
/// What the doctor offers, in days: a year costs some gigabytes of disk for who works all day.
pub const OFFERED: u64 = 365;

/// The change of a settings file that raises it.
pub struct Raise {
    file: File,
    after: String,
    /// What the file says now.
    now: Option<i64>,
}

impl Raise {
    /// Works out the change of the user's settings.
    ///
    /// # Errors
    /// When the file cannot be read or is not what the client reads.
    pub fn plan(days: u64, host: &Host<'_>) -> Result<Self> {
        let path = host.around.claude_dir(host.config).join("settings.json");
        let file = File::read(&path)?;
        let text = text_of(&file)?;
        let broken = |broken| anyhow!("{}\nit is left as it is", located(&path, &broken));
        let now = settings::number(&text, KEY).map_err(broken)?;
        let after = settings::set_number(&text, KEY, days).map_err(broken)?;
        Ok(Self { file, after, now })
    }

    /// Is anything said about it, by the user or whoever set the file up?
    pub fn is_chosen(&self) -> bool {
        self.now.is_some()
    }

    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// What would change, as `diff -u` tells it.
    pub fn difference(&self) -> String {
        let mut told = Vec::new();
        let name = self.file.path.display().to_string();
        let written = show_difference(&mut told, &name, self.file.bytes.as_deref(), Some(self.after.as_bytes()));
        written.map(|()| String::from_utf8_lossy(&told).into_owned()).unwrap_or_default()
    }

    /// Makes the change, and shows it.
    ///
    /// # Errors
    /// When it would lower what is there, or the file was changed meanwhile or cannot be written.
    pub fn apply(&self, days: u64, out: &mut impl Write) -> Result<()> {
        let now = self.now.unwrap_or(DEFAULT);
        let path = self.path().display();
        if i64::try_from(days).is_ok_and(|days| days < now) {
            bail!("{path} keeps transcripts for {now} days already: recall only raises that");
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
