//! The brief of a session that `recall show` prints: 500 to 1,000 tokens, less for short sessions, never more.
//!
//! `brief` collects what the index holds. What a model digested `write` tells: the request, outcome, decisions with reasons, open items,
//! failures and their fixes, lessons and files. All else is quoted from the session's account (`render::quoted`), judging nothing. Room that one
//! part leaves goes to the others.

mod frame;
#[cfg(test)]
mod tests;
mod write;

use anyhow::Result;
use jiff::tz::TimeZone;

use self::frame::{BriefFrame, DigestCoverage, FrameFacts};
use self::write::{BriefInput, write};
use crate::analyze::account::SessionAccount;
use crate::analyze::eligibility::permanent_skip;
use crate::analyze::without_model;
use crate::config::Config;
use crate::model::digest::{Digest, UNTITLED};
use crate::model::price::costs_by_model;
use crate::model::session::{Item, Session};
use crate::render::page::{SessionPageInput, day_of, session_page, session_page_name};
use crate::render::quoted::{QuotedParts, Reader};
use crate::store::Memory;
use crate::store::digests::StoredDigest;
use crate::store::load::SessionHead;
use crate::text::budget::max_bytes;
use crate::text::clean::{id8, one_line, shorten, without_controls};

/// The longest title made from a session's first words, in characters.
const TITLE: usize = 90;

/// The token limit of a brief, by the estimate of [`crate::text::budget::tokens`].
pub(crate) const MAX_TOKENS: usize = 1_000;

/// The brief of a session in at most [`MAX_TOKENS`]; without a digest, straight from its records. `None` if nothing was said in it.
pub(crate) fn brief(store: &Memory, config: &Config, head: &SessionHead) -> Result<Option<String>> {
    store.in_snapshot(|| {
        let session = store.load_session(head)?;
        let stored = store.digest_of(head.pk)?;
        if stored.is_none() && session.entries.is_empty() {
            return Ok(None);
        }
        let never = permanent_skip(&session).filter(|_| stored.is_none()).map(|why| why.to_string());
        let later = store.repeated_by(head.pk)?.map(|later| store.session_head(later)).transpose()?;
        let id = store.short_id(&head.id)?;
        let state = match &stored {
            None => DigestCoverage::Undigested,
            Some(stored) if stored.interim_until.is_some() => DigestCoverage::SoFar,
            Some(_) => DigestCoverage::Whole,
        };
        let goes_on = match state {
            DigestCoverage::Whole => false,
            DigestCoverage::SoFar => true,
            DigestCoverage::Undigested => session.end_reason.is_none(),
        };
        let is_told_by_model = stored.as_ref().is_some_and(|stored| stored.is_by_model());
        let account = SessionAccount::of(&session, goes_on);
        let digest = match stored {
            Some(stored) => stored.digest,
            None => with_fallback_title(without_model::digest(&session, &account), &session),
        };
        let facts = FrameFacts {
            session: &session,
            title: &digest.title,
            state,
            never: never.as_deref(),
            repeated_by: later.map(|later| id8(&later.id)),
            id: &id,
        };
        let (zone, most) = (&config.time_zone, MAX_TOKENS);
        if !is_told_by_model {
            return Ok(Some(of_account(&facts, &account, zone, most)));
        }
        Ok(Some(write(&BriefInput { facts, digest: &digest, closed: &store.closed_item_ids(head.pk)? }, zone, most)))
    })
}

/// The brief of a session that no model digested.
fn of_account(facts: &FrameFacts<'_>, account: &SessionAccount, zone: &TimeZone, max_tokens: usize) -> String {
    let title = account.title.text().unwrap_or_else(|| facts.title.to_owned());
    let frame = BriefFrame::of(&FrameFacts { title: &title, ..facts.clone() }, zone);
    let room = max_bytes(max_tokens).saturating_sub(frame.head.len() + frame.foot.len());
    frame.head + &QuotedParts::new(account, zone, Reader::User).fill(room) + &frame.foot
}

/// Without a prompt, the first words said become the title, as in search.
fn with_fallback_title(mut digest: Digest, session: &Session) -> Digest {
    let said = session.entries.iter().find_map(|entry| match &entry.item {
        Item::Reply(text) | Item::Recap(text) => Some(text),
        _ => None,
    });
    if let Some(said) = said.filter(|_| digest.title == UNTITLED) {
        digest.title = shorten(&one_line(&without_controls(said)), TITLE);
    }
    digest
}

/// Why a session has no digest, and what to do about it.
pub(crate) fn no_digest_message(store: &Memory, head: &SessionHead) -> Result<String> {
    let id = &head.id;
    Ok(match permanent_skip(&store.load_session(head)?) {
        Some(why) => format!("session {id} gets no digest: {why}"),
        None => format!("session {id} has no digest yet: `recall digest --session {id}` makes one"),
    })
}

/// The whole page of a digested session, as `recall show --full` prints it.
pub(crate) fn page(
    store: &Memory,
    config: &Config,
    head: &SessionHead,
    stored: &StoredDigest,
    session: &Session,
) -> Result<String> {
    let day = day_of(session, &config.time_zone);
    let shown = SessionPageInput {
        session,
        digest: &stored.digest,
        digest_id: &stored.id,
        summarizer: &stored.summarizer,
        goes_on: stored.interim_until.is_some(),
        closed: &store.closed_items_of(head.pk)?,
        costs: costs_by_model(&session.usage, &config.prices),
        // `--full` shows everything, even of a near-duplicate.
        repeated_by: None,
        page: session_page_name(session, &day, store.shares_prefix(&session.id, 8)?),
    };
    Ok(session_page(&shown, &config.time_zone))
}
