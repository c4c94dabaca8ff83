//! `recall show`: prints sessions in short, in full, as JSON, as stored items, or as their raw transcript lines.

use std::io::Write;

use anyhow::{Result, bail};
use serde_json::Value;

use super::reading::print_page;
use super::{day, open_memory, team};
use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::dropped::dropped;
use crate::app::open_memory::{OpenMemory, is_store_error};
use crate::app::show::{Detail, SessionItems, as_data, is_here, items, raw, show};
use crate::cli::args::{DayArgs, ShowArgs};
use crate::cli::meant;
use crate::config::Config;
use crate::model::page_path::parse_day;
use crate::sys::messages;
use text::clean::without_controls;

/// Character limits of an item's text: on a line, and in JSON.
const LINE_TEXT_CHARS: usize = 120;
const JSON_TEXT_CHARS: usize = 400;

pub(crate) fn run(args: &ShowArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let store = open_memory(config)?;
    if let [id] = args.ids.as_slice() {
        if let Some(day) = parse_day(id) {
            return day::run(&DayArgs { when: Some(day.to_string()) }, config, out);
        }
        let (ended, value) = show_one(id, args, config, &store, out)?;
        if let Some(value) = value {
            writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
        }
        return Ok(ended);
    }
    let mut values = Vec::new();
    let (mut ended, mut shown) = (Completion::Done, 0);
    for id in &args.ids {
        // With several ids, a missing one is reported and the others are still shown.
        match show_one(id, args, config, &store, out) {
            Ok((how, value)) => {
                shown += 1;
                values.extend(value);
                ended = if how == Completion::Done { ended } else { how };
            }
            Err(e) if shown == 0 && id == &args.ids[args.ids.len() - 1] || is_store_error(&e) => return Err(e),
            Err(e) => {
                messages::report(format!("{e:#}"));
                ended = Completion::Partly;
            }
        }
    }
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&values)?)?;
    }
    Ok(ended)
}

/// Shows one session. With `--json` its value is returned, so that the caller can put it among others.
fn show_one(
    id: &str,
    args: &ShowArgs,
    config: &Config,
    memory: &OpenMemory,
    out: &mut impl Write,
) -> Result<(Completion, Option<Value>)> {
    let id = &meant(memory, config, id)?;
    if args.team || team::is_joined(config) {
        let here = is_here(memory, id)?;
        if !here && args.team {
            return team::show(id, args, config, out);
        }
        if !here && let Err(e) = show(memory, config, id, Detail::Brief) {
            bail!("{e:#}; if a colleague shared it, `recall show --team {id}` asks the server of your team");
        }
    }
    if args.raw {
        return Ok((print_raw(id, config, memory, out)?, None));
    }
    if args.dropped {
        let reply = dropped(memory, id)?;
        if args.json {
            return Ok((Completion::Done, Some(serde_json::to_value(reply)?)));
        }
        out.write_all(reply.text(config).as_bytes())?;
        if let Some(told) = &reply.left_out {
            messages::report(format!("session {} is {told}", reply.session));
        }
        return Ok((Completion::Done, None));
    }
    if args.json {
        return Ok((Completion::Done, Some(as_data(memory, config, id, args.items.then_some(JSON_TEXT_CHARS))?)));
    }
    if args.items {
        print_items(&items(memory, id, LINE_TEXT_CHARS)?, config, out)?;
        return Ok((Completion::Done, None));
    }
    let detail = if args.full { Detail::Page } else { Detail::Brief };
    print_page(&show(memory, config, id, detail)?.text, out)?;
    if args.ids.len() > 1 {
        writeln!(out)?;
    }
    Ok((Completion::Done, None))
}

/// Prints the session's transcript lines, as far as the transcripts still exist.
fn print_raw(id: &str, config: &Config, memory: &OpenMemory, out: &mut impl Write) -> Result<Completion> {
    let copied = raw(memory, config, Asker::here(config).view(), id, out)?;
    copied.missing.iter().for_each(messages::report);
    Ok(if copied.missing.is_empty() { Completion::Done } else { Completion::Partly })
}

/// Prints one line per stored item, with the rule that kept it, and what a model said of the session that no row supports.
fn print_items(session: &SessionItems, config: &Config, out: &mut impl Write) -> Result<()> {
    for item in &session.items {
        let times = if item.times > 1 { format!(" ({} times)", item.times) } else { String::new() };
        let who = if item.agent.is_some() { "subagent: " } else { "" };
        writeln!(
            out,
            "{} {:.2} {:8} {:11} {:32} {who}{}{times}",
            config.local_time(item.at, "%Y-%m-%d %H:%M"),
            item.importance,
            json_name(&item.tier),
            item.kind,
            item.rule,
            without_controls(&item.text),
        )?;
    }
    if let Some(told) = &session.left_out {
        messages::report(format!("session {} is {told}", session.id));
    }
    if !session.unsupported.is_empty() {
        writeln!(out, "\nStatements of the model that no record supports (shown only here):")?;
    }
    for (kind, text) in &session.unsupported {
        writeln!(out, "{kind:12} {}", without_controls(text))?;
    }
    Ok(())
}

/// A value's name in JSON.
fn json_name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
