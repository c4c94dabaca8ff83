//! A session in 500 to 1,000 tokens: what `recall show` prints. Short sessions are told in less, none in more.
//!
//! `brief` collects what the index holds of it, `write` chooses: of what was asked, what came of it, what was decided and why, what is
//! open, what failed and what helped, what was learned, and the files, each gets its share, and what one leaves the next may use.

mod write;

use anyhow::Result;

pub use self::write::{State, Told, write};
use crate::clean::{id8, one_line, plain, shorten};
use crate::config::Config;
use crate::context::told_by;
use crate::digest::{Digest, UNTITLED};
use crate::page::{Shown, day_of, session_page, session_page_name};
use crate::price::costs_by_model;
use crate::select::never;
use crate::session::{Item, Session};
use crate::store::Memory;
use crate::store::digests::Stored;
use crate::store::load::SessionHead;

/// The longest title of a session that has none of its own, in characters.
const TITLE: usize = 90;

/// The most a brief may take, in tokens by the estimate of [`crate::context::tokens`].
pub const MAX_TOKENS: usize = 1_000;

/// A session in at most [`MAX_TOKENS`]; one without a digest straight from its rows. `None` where nothing was said in it.
///
/// # Errors
/// When the index cannot be read.
pub fn brief(store: &Memory, config: &Config, head: &SessionHead) -> Result<Option<String>> {
    store.at_once(|| {
        let session = store.load_session(head)?;
        let stored = store.digest_of(head.pk)?;
        if stored.is_none() && session.entries.is_empty() {
            return Ok(None);
        }
        let never = never(&session).filter(|_| stored.is_none()).map(|why| why.to_string());
        let later = store.repeated_by(head.pk)?.map(|later| store.session_head(later)).transpose()?;
        let id = store.short_id(&head.id)?;
        let state = match &stored {
            None => State::Undigested,
            Some(stored) if stored.interim_until.is_some() => State::SoFar,
            Some(_) => State::Whole,
        };
        let told = Told {
            digest: &stored.map_or_else(|| titled(told_by(&session), &session), |stored| stored.digest),
            never: never.as_deref(),
            session: &session,
            state,
            closed: &store.closed_of(head.pk)?,
            repeated_by: later.map(|later| id8(&later.id)),
            id: &id,
        };
        Ok(Some(write(&told, &config.time_zone, MAX_TOKENS)))
    })
}

/// Where nobody asked for anything, the first words said are its title, as they are to the search.
fn titled(mut digest: Digest, session: &Session) -> Digest {
    let said = session.entries.iter().find_map(|entry| match &entry.item {
        Item::Reply(text) | Item::Recap(text) => Some(text),
        _ => None,
    });
    if let Some(said) = said.filter(|_| digest.title == UNTITLED) {
        digest.title = shorten(&one_line(&plain(said)), TITLE);
    }
    digest
}

/// Why there is no digest of a session, and what to do about it.
///
/// # Errors
/// When the index cannot be read.
pub fn without_digest(store: &Memory, head: &SessionHead) -> Result<String> {
    let id = &head.id;
    Ok(match never(&store.load_session(head)?) {
        Some(why) => format!("session {id} gets no digest: {why}"),
        None => format!("session {id} has no digest yet: `recall digest --session {id}` makes one"),
    })
}

/// A digested session's whole page, as `recall show --full` prints it.
///
/// # Errors
/// When the index cannot be read.
pub fn page(store: &Memory, config: &Config, head: &SessionHead, stored: &Stored, session: &Session) -> Result<String> {
    let day = day_of(session, &config.time_zone);
    let shown = Shown {
        session,
        digest: &stored.digest,
        digest_id: &stored.id,
        summarizer: &stored.summarizer,
        goes_on: stored.interim_until.is_some(),
        closed: &store.closings_of(head.pk)?,
        costs: costs_by_model(&session.usage, &config.prices),
        // Who asks for it wants to see all of it.
        repeated_by: None,
        page: session_page_name(session, &day, store.shares_prefix(&session.id, 8)?),
    };
    Ok(session_page(&shown, &config.time_zone))
}
