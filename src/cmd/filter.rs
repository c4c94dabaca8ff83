//! `--project` and `--since`, the same for every command.

use std::path::Path;

use anyhow::{Context, Result, bail};
use globset::GlobSet;

use crate::config::{Config, globset};
use crate::session::{Millis, Project};

/// Which projects are meant. A pattern without a slash is matched against the last folder as well.
pub struct ProjectFilter(Option<GlobSet>);

impl ProjectFilter {
    pub fn new(pattern: Option<&str>, config: &Config) -> Result<Self> {
        Ok(Self(pattern.map(|p| globset(&[p.to_owned()], &config.home)).transpose().context("--project")?))
    }

    pub fn fits(&self, project: &Project) -> bool {
        self.0.as_ref().is_none_or(|globs| globs.is_match(Path::new(&project.key)) || globs.is_match(project.name()))
    }
}

/// The moment from which `--since` asks.
pub fn since(text: Option<&str>, config: &Config) -> Result<Millis> {
    text.map_or(Ok(Millis::MIN), |text| moment("--since", text, config))
}

/// The moment that `7d`, `12h`, `2w`, `30m` or a date stand for.
pub fn moment(option: &str, text: &str, config: &Config) -> Result<Millis> {
    if let Ok(age) = duration(text) {
        return Ok(config.now() - age);
    }
    let date: jiff::civil::Date =
        text.parse().with_context(|| format!("{option} {text}: give an age like 7d or a date like 2026-01-31"))?;
    Ok(date.to_zoned(config.time_zone.clone())?.timestamp().as_millisecond())
}

/// `90s`, `10m`, `12h`, `7d`, `2w` in milliseconds.
pub fn duration(text: &str) -> Result<Millis> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let count: Millis = digits.parse().with_context(|| format!("`{text}` is no time like 10m"))?;
    let unit = match &text[digits.len()..] {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 7 * 86_400_000,
        _ => bail!("`{text}` is no time like 10m"),
    };
    count.checked_mul(unit).filter(|ms| *ms >= 0).with_context(|| format!("`{text}` is out of range"))
}
