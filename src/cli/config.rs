//! `recall config`: the effective values, and where each one comes from.

use std::io::Write;

use anyhow::Result;

use crate::app::Completion;
use crate::app::settings::{SettingLine, SettingsReply, settings};
use crate::cli::args::ConfigArgs;
use crate::config::Config;
use crate::sys::messages;

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
        writeln!(out, "{:key$}  {:value$}  {}", s.key, s.value, s.from)?;
    }
    Ok(Completion::Done)
}
