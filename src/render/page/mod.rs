//! The Markdown pages: one per day and one per session. Pure: the same session and digest give the same bytes.
//!
//! This file holds what both kinds share: their input, file names and dates. `day` and `session` render them, with helpers from `lines`.

mod account;
mod day;
mod day_list;
mod evidence;
mod lines;
mod links;
mod quotation;
pub(crate) mod read;
mod session;

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

pub use self::day::{DayEntry, DayEntryInput, UndigestedTotals, day_page};
pub(crate) use self::day_list::{ListedDay, day_list_page};
pub(crate) use self::links::{NeighbourDays, day_links, session_links};
pub use self::session::session_page;
pub(crate) use self::session::session_page_of;
use crate::model::digest::Digest;
use crate::model::item_state::ItemStates;
use crate::model::session_head::SessionHead;
use crate::model::since_then::Overtaken;
use crate::model::stored_digest::StoredDigest;
use transcripts::session::{Millis, Session};

/// A session with its digest, ready to render.
#[derive(Debug, Clone)]
pub struct SessionPageInput<'a> {
    pub session: &'a Session,
    pub digest: &'a Digest,
    pub digest_id: &'a str,
    pub summarizer: &'a str,
    /// Of a model's digest, how it was made.
    pub paid: Option<PaidDigest<'a>>,
    /// The session was still running when it was digested.
    pub goes_on: bool,
    /// How its open items stand.
    pub items: &'a ItemStates,
    /// What it said that was overtaken, with what stands now.
    pub overtaken: &'a [Overtaken],
    /// The session's own cost by model, in US dollars at list prices; `None` if a price is unknown.
    pub costs: BTreeMap<String, Option<f64>>,
    /// What it cost on each day, in US dollars, and whether part of that is unknown. Empty: all of it on its own day.
    pub costs_by_day: BTreeMap<String, (f64, bool)>,
    /// The page of a later near-duplicate session, relative to the data folder. If set, this page only links to it.
    pub repeated_by: Option<&'a str>,
    /// The file name of its page, in `sessions/` beside the day page.
    pub page: String,
}

/// By which model a digest was made, and for how much. Not when: pages are the same whenever digests run.
#[derive(Debug, Clone, Copy)]
pub struct PaidDigest<'a> {
    pub model: Option<&'a str>,
    /// In US dollars.
    pub cost_usd: Option<f64>,
    /// The session has grown since.
    pub is_outdated: bool,
}

impl<'a> PaidDigest<'a> {
    /// `None` if no model made it.
    pub(crate) fn of(stored: &'a StoredDigest, head: &SessionHead) -> Option<Self> {
        let paid = Self { model: stored.model.as_deref(), cost_usd: stored.cost_usd, is_outdated: head.has_grown() };
        stored.is_by_model().then_some(paid)
    }
}

/// The day a session belongs to: the local date of its first prompt, else of whatever tells when it was.
pub fn day_of(session: &Session, zone: &TimeZone) -> String {
    day_begun(session.began_at(), session.otherwise_at, zone)
}

/// The same, where only these times of it are known.
pub(crate) fn day_begun(began_at: Option<Millis>, otherwise_at: Millis, zone: &TimeZone) -> String {
    date(began_at.unwrap_or(otherwise_at), zone)
}

/// The local date, `YYYY-MM-DD`.
pub(crate) fn date(at: Millis, zone: &TimeZone) -> String {
    local(at, zone).strftime("%Y-%m-%d").to_string()
}

/// A day, `YYYY-MM-DD`, as pages write it: `Tuesday, 17 November 2026`.
fn in_words(day: &str) -> String {
    day.parse::<Date>().map_or_else(|_| day.to_owned(), |date| date.strftime("%A, %-d %B %Y").to_string())
}

fn local(at: Millis, zone: &TimeZone) -> Zoned {
    Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(zone.clone())
}

/// Local time of day, `HH:MM`.
pub(crate) fn clock(at: Option<Millis>, zone: &TimeZone) -> String {
    at.map_or_else(|| "--:--".into(), |at| local(at, zone).strftime("%H:%M").to_string())
}

/// From when to when a session was active; includes the end date if it is not the day of [`day_of`].
pub(crate) fn span(session: &Session, zone: &TimeZone) -> String {
    span_of(session.began_at(), session.last_at(), zone)
}

fn span_of(began: Option<Millis>, last: Option<Millis>, zone: &TimeZone) -> String {
    let ended = last.map(|at| date(at, zone));
    let later = ended.filter(|day| *day != date(began.unwrap_or(0), zone)).map(|day| day + " ").unwrap_or_default();
    format!("{}–{later}{}", clock(began, zone), clock(last, zone))
}
