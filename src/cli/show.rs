//! `recall show`: prints sessions in short, in full, as JSON, as stored items, or as their raw transcript lines.

use std::io::Write;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::{open_memory, policy_here};
use crate::analyze::account::SessionAccount;
use crate::app::Completion;
use crate::app::notes;
use crate::app::raw_lines::copy;
use crate::cli::args::ShowArgs;
use crate::config::Config;
use crate::model::digest::{Claim, Digest};
use crate::model::price::{costs_by_model, session_cost};
use crate::model::session::Session;
use crate::render::brief::{brief, no_digest_message, page};
use crate::render::item_list::list_items;
use crate::store::Memory;
use crate::store::digests::StoredDigest;
use crate::store::error::is_store_error;
use crate::store::load::SessionHead;
use crate::store::notes::Note;
use crate::sys::messages;

/// Character limits of an item's text: on a line, and in JSON.
const LINE_TEXT_CHARS: usize = 120;
const JSON_TEXT_CHARS: usize = 400;

pub(crate) fn run(args: &ShowArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let store = open_memory(config)?;
    if let [id] = args.ids.as_slice() {
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
    store: &Memory,
    out: &mut impl Write,
) -> Result<(Completion, Option<Value>)> {
    if let Some(note) = store.look_up_note(id)? {
        return show_note(&note, args, config, out);
    }
    let head = store.find_session(id)?;
    if args.raw {
        return Ok((print_raw(store, config, &head, out)?, None));
    }
    if args.items && !args.json {
        print_items(&store.load_session(&head)?, config, out)?;
        if let Some(stored) = store.digest_of(head.pk)? {
            print_left_out(store, &stored.digest, out)?;
        }
        return Ok((Completion::Done, None));
    }
    if !args.json && !args.full {
        let Some(brief) = brief(store, config, &head)? else { bail!("nothing was said in session {}", head.id) };
        out.write_all(brief.as_bytes())?;
        separate(args, out)?;
        return Ok((Completion::Done, None));
    }
    let Some(stored) = store.digest_of(head.pk)? else {
        bail!(no_digest_message(store, &head)?);
    };
    let session = store.load_session(&head)?;
    if args.json {
        return Ok((Completion::Done, Some(as_json(args, config, store, &head, &stored, &session)?)));
    }
    out.write_all(page(store, config, &head, &stored, &session)?.as_bytes())?;
    separate(args, out)?;
    Ok((Completion::Done, None))
}

/// Shows a remembered note, which is short enough to be shown whole.
fn show_note(note: &Note, args: &ShowArgs, config: &Config, out: &mut impl Write) -> Result<(Completion, Option<Value>)> {
    if args.raw || args.items {
        bail!("{} is a note: no rows stand behind it", note.id);
    }
    if args.json {
        return Ok((Completion::Done, Some(notes::as_json(note))));
    }
    out.write_all(notes::show(note, config).as_bytes())?;
    separate(args, out)?;
    Ok((Completion::Done, None))
}

/// Prints an empty line between several sessions.
fn separate(args: &ShowArgs, out: &mut impl Write) -> Result<()> {
    if args.ids.len() > 1 { Ok(writeln!(out)?) } else { Ok(()) }
}

/// Prints the session's transcript lines, as far as the transcripts still exist.
fn print_raw(store: &Memory, config: &Config, head: &SessionHead, out: &mut impl Write) -> Result<Completion> {
    let copied = copy(store, &policy_here(config), config, head, out)?;
    if copied.rows == 0 {
        let why = if copied.missing.is_empty() {
            "its transcripts hold no row of it any more that may be shown".to_owned()
        } else {
            copied.missing.join("; ")
        };
        bail!("{why}: `recall show {} --full` has what was kept of the session", head.id);
    }
    for missing in &copied.missing {
        messages::report(missing);
    }
    Ok(if copied.missing.is_empty() { Completion::Done } else { Completion::Partly })
}

fn as_json(
    args: &ShowArgs,
    config: &Config,
    store: &Memory,
    head: &SessionHead,
    stored: &StoredDigest,
    session: &Session,
) -> Result<Value> {
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
        "prompts": session.count_prompts(),
        "usage": session.usage,
        "cost_usd_by_model": costs,
        "digest": stored.digest,
        "account": SessionAccount::of(session, stored.interim_until.is_some()),
    });
    value["open_items"] = open_items(store, head, &stored.digest)?;
    if session.left_out.items > 0 {
        value["left_out"] = serde_json::to_value(&session.left_out)?;
    }
    if args.items {
        value["items"] = serde_json::to_value(list_items(session, JSON_TEXT_CHARS))?;
    }
    Ok(value)
}

/// How the open items of a session stand.
fn open_items(store: &Memory, head: &SessionHead, digest: &Digest) -> Result<Value> {
    let items = store.item_states(head.pk)?;
    let state = |(own, kind, claim): (String, &str, &Claim)| {
        let closing = items.closing_of(&own);
        let closed = closing.map(|closing| json!({"at": closing.at, "by": closing.by}));
        json!({"id": items.id_of(&own), "kind": kind, "text": claim.text, "since": items.of(&own).and_then(|state| state.since), "closed": closed})
    };
    Ok(digest.open_items(&head.id).map(state).collect())
}

/// Prints one line per stored item, with the rule that kept it.
fn print_items(session: &Session, config: &Config, out: &mut impl Write) -> Result<()> {
    for item in list_items(session, LINE_TEXT_CHARS) {
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
            crate::text::clean::without_controls(&item.text),
        )?;
    }
    if let Some(told) = session.left_out.told() {
        messages::report(format!("session {} is {told}", session.id));
    }
    Ok(())
}

/// Prints what a model said of a session and no row supports.
fn print_left_out(store: &Memory, digest: &Digest, out: &mut impl Write) -> Result<()> {
    let claims = digest.left_out().map(|(section, claim)| (section.spec().kind.unwrap_or_default(), claim.text.clone()));
    let mut all: Vec<(&str, String)> = claims.collect();
    for claimed in &digest.closes_left_out {
        let item = store.open_item(&claimed.id)?.map(|item| item.text).unwrap_or_default();
        all.push(("closes", format!("{} {item}", claimed.id).trim_end().to_owned()));
    }
    if !all.is_empty() {
        writeln!(out, "\nSaid by a model, supported by no row, told nowhere else:")?;
    }
    all.iter().try_for_each(|(kind, text)| Ok(writeln!(out, "{kind:12} {}", crate::text::clean::without_controls(text))?))
}

/// A value's name in JSON.
fn json_name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
