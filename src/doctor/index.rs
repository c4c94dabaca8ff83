//! The index: there, whole, and how its sessions stand.

use anyhow::Result;

use super::{Depth, Finding, ago};
use crate::config::Config;
use crate::session::Millis;
use crate::store::status::Counts;
use crate::store::{OtherForm, Store};

/// Sessions the model failed on that are named.
const MAX_LISTED: usize = 3;
/// A clock may be off by this much.
const SKEW: Millis = 24 * 3_600_000;

pub fn findings(config: &Config, depth: Depth, now: Millis) -> Vec<Finding> {
    let path = config.database();
    if !path.exists() {
        return vec![Finding::warning("index", format!("none yet at {}", path.display()), "`recall digest` makes it")];
    }
    let opened = Store::open_read_only(&path).and_then(|store| Ok((store.counts(MAX_LISTED)?, store)));
    let (counts, store) = match opened {
        Ok(opened) => opened,
        Err(e) => return vec![Finding::problem("index", format!("{e:#}"), advice(&e))],
    };
    let size = std::fs::metadata(&path).map_or(0, |m| m.len());
    let mut all = vec![state_of(&counts, size, depth, &store)];
    all.extend(failing(&counts));
    all.extend(clock(&store, now).ok().flatten());
    all
}

const DAMAGED: &str = "keep recall.db aside and run `recall digest`: it reads what transcripts are still there, and `recall import` takes in an export";

/// What to do about an index that cannot be opened. Only a damaged one is to be put aside: it holds what no transcript holds any more.
fn advice(error: &anyhow::Error) -> &'static str {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    if error.downcast_ref::<OtherForm>().is_some() {
        return "upgrade recall: this one is older than what wrote the index";
    }
    let code = error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
    match code {
        Some(DatabaseCorrupt | NotADatabase) => DAMAGED,
        _ => "see that you may read and write it and that nothing else holds it, then try again",
    }
}

fn state_of(counts: &Counts, size: u64, depth: Depth, store: &Store) -> Finding {
    let found = format!("{:.1} MB, {} sessions, {} digests", size as f64 / 1e6, counts.sessions, counts.digests);
    if depth == Depth::Short {
        return Finding::ok("index", found);
    }
    match store.first_damage() {
        Ok(None) => Finding::ok("index", format!("{found}, whole")),
        Ok(Some(damage)) => Finding::problem("index", format!("{found}, damaged: {damage}"), DAMAGED),
        Err(e) => Finding::problem("index", format!("{found}, cannot be checked: {e:#}"), DAMAGED),
    }
}

fn failing(counts: &Counts) -> Option<Finding> {
    let (id, times, why) = counts.failing.first()?;
    let more = if counts.failing.len() > 1 { "; `recall status` names the others" } else { "" };
    let found = format!("the model failed {times} times on session {id}: {why}{more}");
    Some(Finding::warning(
        "digests",
        found,
        format!("it has a digest without the model; `recall digest --session {id}` tries again"),
    ))
}

/// Runs that took place in the future: then the clock is wrong now, or was.
fn clock(store: &Store, now: Millis) -> Result<Option<Finding>> {
    let Some((at, _)) = store.last_run()?.filter(|(at, _)| *at > now + SKEW) else { return Ok(None) };
    let found = format!("the last work was {} in the future", ago(now, at));
    Ok(Some(Finding::warning("clock", found, "set the clock: digests and budgets go by it")))
}
