//! Time specs as people type them: an age such as `7d`, a date, `today` or `yesterday`.
//!
//! Errors are in our own words, and say what is accepted.

use anyhow::{Context, Result, bail};
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use transcripts::session::Millis;

const TIMES: &str = "give an age like 7d, 12h or 2w, a date like 2026-01-31, `today` or `yesterday`";
/// In milliseconds.
const DAY_MS: Millis = 86_400_000;
const LENGTHS: &str = "give a length of time like 30m, 12h or 7d";

/// The time that `7d`, `12h`, `2w`, `30m`, a date, `today` or `yesterday` stands for. A day stands for its beginning in this zone.
pub(crate) fn parse_time(text: &str, now: Millis, zone: &TimeZone) -> Result<Millis> {
    if let Some(age) = length(text) {
        return Ok(now.saturating_sub(age));
    }
    let begins = day(text, now, zone).and_then(|day| day.to_zoned(zone.clone()).ok());
    Ok(begins.with_context(|| format!("no time that recall knows: {TIMES}"))?.timestamp().as_millisecond())
}

/// The day that a date, `today`, `tomorrow`, `3d` or `2w` stands for, the latter from today on.
///
/// # Errors
/// When it is not of this form.
pub(crate) fn parse_day_ahead(text: &str, now: Millis, zone: &TimeZone) -> Result<Date> {
    let today = jiff::Timestamp::from_millisecond(now)?.to_zoned(zone.clone()).date();
    let after = |days: i64| today.checked_add(days.days()).ok();
    let days = |length: Millis| (length % DAY_MS == 0).then_some(length / DAY_MS);
    let found = match text.to_lowercase().as_str() {
        "today" => Some(today),
        "tomorrow" => after(1),
        _ => text.parse().ok().or_else(|| after(length(text).and_then(days)?)),
    };
    found.with_context(|| format!("`{text}` is not a day: give a date like 2026-01-31, `today`, `tomorrow`, 3d or 2w"))
}

fn day(text: &str, now: Millis, zone: &TimeZone) -> Option<Date> {
    let today = || Some(jiff::Timestamp::from_millisecond(now).ok()?.to_zoned(zone.clone()).date());
    match text.to_lowercase().as_str() {
        "today" => today(),
        "yesterday" => today()?.yesterday().ok(),
        _ => text.parse().ok(),
    }
}

/// A duration such as `90s`, `10m`, `12h`, `7d` or `2w`, in milliseconds.
///
/// # Errors
/// When it is not of this form, or out of range.
pub(crate) fn parse_duration(text: &str) -> Result<Millis> {
    match length(text) {
        Some(length) => Ok(length),
        None => bail!("`{text}` is not a valid duration: {LENGTHS}"),
    }
}

fn length(text: &str) -> Option<Millis> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let count: Millis = digits.parse().ok()?;
    let unit = match &text[digits.len()..] {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 7 * 86_400_000,
        _ => return None,
    };
    count.checked_mul(unit).filter(|ms| *ms >= 0)
}
