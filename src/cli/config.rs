//! `recall config`: the effective values, and where each one comes from; and a file to change them in.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};

use anyhow::{Context, Result, bail};

use crate::app::Completion;
use crate::app::settings::{SettingLine, SettingsReply, settings};
use crate::cli::args::ConfigArgs;
use crate::config::{self, Config};
use crate::sys::messages;
use text::clean::shorten;

/// Lists may hold hundreds of names.
const MAX_VALUE_CHARS: usize = 160;

/// Writes a config file in which every setting is a comment.
pub(crate) fn init(out: &mut impl Write) -> Result<Completion> {
    let file = config::config_file()?;
    let cannot = || format!("cannot write {}", file.display());
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(cannot)?;
    }
    let mut new = match File::create_new(&file) {
        Ok(new) => new,
        Err(e) if e.kind() == ErrorKind::AlreadyExists => bail!("{} already exists and was not changed", file.display()),
        Err(e) => return Err(e).with_context(cannot),
    };
    new.write_all(config::file::commented().as_bytes()).with_context(cannot)?;
    writeln!(out, "{}", file.display())?;
    messages::report("every setting is commented out: remove its `#` to change it");
    Ok(Completion::Done)
}

pub(crate) fn run(args: &ConfigArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let SettingsReply { settings, notices } = settings(config);
    notices.iter().for_each(messages::report);
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&settings)?)?;
        return Ok(Completion::Done);
    }
    let width = |of: fn(&SettingLine) -> &str| settings.iter().map(|s| of(s).chars().count()).max().unwrap_or(0).min(48);
    let (key, value) = (width(|s| &s.key), width(|s| &s.value));
    for s in &settings {
        let told = shorten(&s.value, MAX_VALUE_CHARS);
        let whole = if told == s.value { "" } else { ", whole with `--json`" };
        writeln!(out, "{:key$}  {told:value$}  {}{whole}", s.key, s.from)?;
    }
    Ok(Completion::Done)
}
