//! The pages people read: one a day, one a session. Pure: the same session and digest give the same bytes.
//!
//! Here is what is shown, where it lies and when it was; `day` and `session` write the two kinds of pages from the `lines` both have.

mod day;
mod lines;
mod session;

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

pub use self::day::{DayEntry, Told, Untold, day_page};
pub use self::session::session_page;
use crate::digest::Digest;
use crate::markdown::slug;
use crate::session::{Millis, Session};
use crate::store::closings::Closed;

/// A session with its digest, as pages show it.
#[derive(Debug, Clone)]
pub struct Shown<'a> {
    pub session: &'a Session,
    pub digest: &'a Digest,
    pub digest_id: &'a str,
    pub summarizer: &'a str,
    /// The session went on when it was digested.
    pub goes_on: bool,
    /// Its open items that are closed by now.
    pub closed: &'a [Closed],
    /// The session's own cost at list prices, by model; `None` where a price is unknown.
    pub costs: BTreeMap<String, Option<f64>>,
    /// The path of a later session's page that says nearly the same, from the data folder: then this one only leads there.
    pub repeated_by: Option<&'a str>,
    /// The name of its page, in `sessions/` beside the day's.
    pub page: String,
}

/// Where a session lives: the local day of its first prompt.
pub fn day_of(session: &Session, zone: &TimeZone) -> String {
    date(session.began_at().unwrap_or(0), zone)
}

fn date(at: Millis, zone: &TimeZone) -> String {
    local(at, zone).strftime("%Y-%m-%d").to_string()
}

/// `YYYY-MM-DD-<project>-<id8>.md`; ids that share their first eight characters get part of a hash as well.
pub fn session_page_name(session: &Session, day: &str, crowded: bool) -> String {
    let id8: String = session.id.chars().filter(char::is_ascii_alphanumeric).take(8).collect::<String>().to_lowercase();
    let plain = session.id.len() >= 8 && session.id.chars().take(8).all(|c| c.is_ascii_alphanumeric());
    let id = if crowded || !plain { crate::session::short_id(&format!("{id8}-"), &[&session.id]) } else { id8 };
    format!("{day}-{}-{id}.md", slug(session.project.name(), 40))
}

fn local(at: Millis, zone: &TimeZone) -> Zoned {
    Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(zone.clone())
}

/// The local time of day.
pub fn clock(at: Option<Millis>, zone: &TimeZone) -> String {
    at.map_or_else(|| "--:--".into(), |at| local(at, zone).strftime("%H:%M").to_string())
}

/// From when to when a session was active; with the day of its end where that is another one than [`day_of`].
pub fn span(session: &Session, zone: &TimeZone) -> String {
    span_of(session.began_at(), session.last_at(), zone)
}

fn span_of(began: Option<Millis>, last: Option<Millis>, zone: &TimeZone) -> String {
    let ended = last.map(|at| date(at, zone));
    let later = ended.filter(|day| *day != date(began.unwrap_or(0), zone)).map(|day| day + " ").unwrap_or_default();
    format!("{}–{later}{}", clock(began, zone), clock(last, zone))
}
