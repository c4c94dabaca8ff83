//! Time specs as people type them: an age such as `7d`, or a date.

use anyhow::{Context, Result, bail};
use jiff::tz::TimeZone;

use crate::model::session::Millis;

/// The time that `7d`, `12h`, `2w`, `30m` or a date stands for.
pub(crate) fn parse_time(text: &str, now: Millis, zone: &TimeZone) -> Result<Millis> {
    if let Ok(age) = parse_duration(text) {
        return Ok(now.saturating_sub(age));
    }
    let date: jiff::civil::Date = text.parse().context("give an age like 7d or a date like 2026-01-31")?;
    Ok(date.to_zoned(zone.clone())?.timestamp().as_millisecond())
}

/// A duration such as `90s`, `10m`, `12h`, `7d` or `2w`, in milliseconds.
///
/// # Errors
/// When it is not of this form, or out of range.
pub(crate) fn parse_duration(text: &str) -> Result<Millis> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let count: Millis = digits.parse().with_context(|| format!("`{text}` is no time like 10m"))?;
    let unit = match &text[digits.len()..] {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 7 * 86_400_000,
        _ => bail!("`{text}` is no time like 10m"),
    };
    count.checked_mul(unit).filter(|ms| *ms >= 0).with_context(|| format!("`{text}` is out of range"))
}
