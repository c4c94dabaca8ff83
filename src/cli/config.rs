//! `recall config`: the effective values, and where each one comes from.

use std::io::Write;

use anyhow::Result;
use serde_json::json;

use crate::app::Completion;
use crate::app::known_folders::known_folders;
use crate::cli::args::ConfigArgs;
use crate::config::Config;
use crate::sys::messages;

pub(crate) fn run(args: &ConfigArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let settings = config.effective();
    let known = known_folders(config);
    let idle = if known.is_empty() { Vec::new() } else { config.unmatched_patterns(&known) };
    for told in config.renamed_keys().iter().chain(&idle) {
        messages::report(told);
    }
    if args.json {
        let all: Vec<_> = settings.iter().map(|s| json!({"key": s.key, "value": s.value, "from": s.origin})).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
        return Ok(Completion::Done);
    }
    let width = |of: fn(&crate::config::Setting) -> &str| settings.iter().map(|s| of(s).chars().count()).max().unwrap_or(0).min(48);
    let (key, value) = (width(|s| &s.key), width(|s| &s.value));
    for s in settings {
        writeln!(out, "{:key$}  {:value$}  {}", s.key, s.value, s.origin)?;
    }
    Ok(Completion::Done)
}
