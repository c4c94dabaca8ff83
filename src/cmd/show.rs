//! `recall show`: one session's digest, as its page or as JSON.

use std::io::Write;

use anyhow::{Result, bail};
use serde_json::json;

use super::Ended;
use crate::cli::ShowArgs;
use crate::config::Config;
use crate::page::{Shown, day_of, session_page, session_page_name};
use crate::price::{costs_by_model, session_cost};
use crate::store::Store;

pub fn run(args: &ShowArgs, config: &Config, out: &mut impl Write) -> Result<Ended> {
    let store = Store::open_read_only(&config.database())?;
    let head = store.find_session(&args.id)?;
    let Some(stored) = store.digest_of(head.pk)? else {
        bail!("session {} has no digest yet: `recall digest --session {}` makes one", head.id, head.id);
    };
    let session = store.load_session(&head)?;
    let costs = costs_by_model(&session.usage, &config.prices);
    let cost = session_cost(&costs);
    if args.json {
        let later = store.repeated_by(head.pk)?.map(|later| store.session_head(later)).transpose()?;
        let value = json!({
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
        costs,
        // Who asks for it wants to see all of it.
        repeated_by: None,
        page: session_page_name(&session, &day, store.shares_prefix(&session.id, 8)?),
    };
    out.write_all(session_page(&shown, &config.time_zone).as_bytes())?;
    Ok(Ended::Done)
}
