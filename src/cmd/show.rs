//! `recall show`: one session's digest, as its page or as JSON, or what was kept of it.

use std::io::Write;

use anyhow::{Result, bail};
use serde_json::json;

use super::Ended;
use crate::cli::ShowArgs;
use crate::config::Config;
use crate::items::listed;
use crate::page::{Shown, day_of, session_page, session_page_name};
use crate::price::{costs_by_model, session_cost};
use crate::session::Session;
use crate::store::Store;
use crate::store::digests::Stored;
use crate::store::load::SessionHead;

/// Longest text of an item, in characters: on a line, and in JSON.
const LINE_TEXT: usize = 120;
const JSON_TEXT: usize = 400;

pub fn run(args: &ShowArgs, config: &Config, out: &mut impl Write) -> Result<Ended> {
    let store = Store::open_read_only(&config.database())?;
    let head = store.find_session(&args.id)?;
    if args.items && !args.json {
        return items(&store.load_session(&head)?, config, out);
    }
    let Some(stored) = store.digest_of(head.pk)? else {
        bail!("session {} has no digest yet: `recall digest --session {}` makes one", head.id, head.id);
    };
    let session = store.load_session(&head)?;
    if args.json {
        let value = as_json(args, config, &store, &head, &stored, &session)?;
        writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
        return Ok(Ended::Done);
    }
    let day = day_of(&session, &config.time_zone);
    let shown = Shown {
        session: &session,
        digest: &stored.digest,
        digest_id: &stored.id,
        summarizer: &stored.summarizer,
        goes_on: stored.interim_until.is_some(),
        closed: &store.closed_of(head.pk)?,
        costs: costs_by_model(&session.usage, &config.prices),
        // Who asks for it wants to see all of it.
        repeated_by: None,
        page: session_page_name(&session, &day, store.shares_prefix(&session.id, 8)?),
    };
    out.write_all(session_page(&shown, &config.time_zone).as_bytes())?;
    Ok(Ended::Done)
}

fn as_json(
    args: &ShowArgs,
    config: &Config,
    store: &Store,
    head: &SessionHead,
    stored: &Stored,
    session: &Session,
) -> Result<serde_json::Value> {
    let costs = costs_by_model(&session.usage, &config.prices);
    let cost = session_cost(&costs);
    let later = store.repeated_by(head.pk)?.map(|later| store.session_head(later)).transpose()?;
    let mut value = json!({
        "session": session.id,
        "project": session.project.key,
        "cwd": session.cwd,
        "began_at": session.began_at(),
        "ended_at": session.last_at(),
        "digest_id": stored.id,
        "summarizer": stored.summarizer,
        "model": stored.model,
        "made_at": stored.made_at,
        "digest_cost_usd": stored.cost_usd,
        "waits_for_model": stored.queued,
        "interim": stored.interim_until.is_some(),
        "repeated_by": later.map(|later| later.id),
        "session_cost_usd": cost.0,
        "session_cost_complete": !cost.1,
        "prompts": session.prompts().count(),
        "usage": session.usage,
        "cost_usd_by_model": costs,
        "digest": stored.digest,
    });
    if args.items {
        value["items"] = serde_json::to_value(listed(session, JSON_TEXT))?;
    }
    Ok(value)
}

/// One line for each item that was kept, and why.
fn items(session: &Session, config: &Config, out: &mut impl Write) -> Result<Ended> {
    for item in listed(session, LINE_TEXT) {
        let times = if item.times > 1 { format!(" ({} times)", item.times) } else { String::new() };
        let who = if item.agent.is_some() { "subagent: " } else { "" };
        writeln!(
            out,
            "{} {:.2} {:8} {:13} {:32} {who}{}{times}",
            config.local_time(item.at, "%Y-%m-%d %H:%M"),
            item.importance,
            name(&item.tier),
            name(&item.kind),
            item.rule,
            crate::clean::plain(&item.text),
        )?;
    }
    Ok(Ended::Done)
}

/// A value's name as JSON has it.
fn name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
