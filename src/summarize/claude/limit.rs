//! Recognises the client's notice of a subscription limit and when that limit ends. Pure.

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use transcripts::session::Millis;

const HOUR: Millis = 3_600_000;
/// How long to wait when a notice does not say when the limit ends: a session window, or a `DAY` for a weekly limit.
const SESSION_WINDOW: Millis = 5 * HOUR;
const DAY: Millis = 24 * HOUR;
/// Longer than any window: a later end is not believed.
pub(crate) const MAX_WAIT: Millis = 8 * DAY;

/// Does a text in lower case say that a limit is reached? Clients of several years say it in many ways ("You've hit your weekly limit",
/// "You're out of extra usage · resets 4am", "spend limit reached", "Claude AI usage limit reached|…"): what names something that is
/// limited and says that it is used up, or when it is there again, is one.
pub(super) fn names_limit(lower: &str) -> bool {
    const LIMITED: [&str; 5] = ["limit", "extra usage", "usage credits", "out of usage", "quota"];
    const USED_UP: [&str; 6] = ["hit your", "reached your", "limit reached", "quota reached", "out of", "resets"];
    LIMITED.iter().any(|word| lower.contains(word)) && USED_UP.iter().any(|word| lower.contains(word))
}

/// When the limit that this notice announces ends; `None` when the text is not such a notice.
pub(crate) fn limit_ends_at(said: &str, now: Millis, zone: &TimeZone) -> Option<Millis> {
    let lower = said.to_lowercase();
    if !names_limit(&lower) && !lower.contains("usage limit") {
        return None;
    }
    let told = epoch_time(&lower).or_else(|| clock_time(&lower, said, now, zone)).filter(|at| (now..=now + MAX_WAIT).contains(at));
    let is_long = ["week", "month", "spend", "credits"].iter().any(|word| lower.contains(word));
    let window = if is_long { DAY } else { SESSION_WINDOW };
    Some(told.unwrap_or(now + window))
}

/// `Claude AI usage limit reached|1795269600`
fn epoch_time(said: &str) -> Option<Millis> {
    let digits: String = said.rsplit_once('|')?.1.chars().take_while(char::is_ascii_digit).collect();
    digits.parse::<Millis>().ok()?.checked_mul(1000)
}

/// `resets 3pm (Europe/Berlin)`, `resets at 3:30pm`, `resets Nov 24, 9am (UTC)`: the next time that matches.
fn clock_time(lower: &str, said: &str, now: Millis, zone: &TimeZone) -> Option<Millis> {
    let (_, after) = lower.split_once("resets")?;
    let theirs = said.rsplit_once('(').and_then(|(_, rest)| rest.split_once(')')).and_then(|(name, _)| TimeZone::get(name).ok());
    let zone = theirs.unwrap_or_else(|| zone.clone());
    let words: Vec<&str> = after.split([' ', ',', '(']).filter(|word| !word.is_empty()).collect();
    let time = words.iter().find_map(|word| time_of(word))?;
    let here = Timestamp::from_millisecond(now).ok()?.to_zoned(zone.clone()).datetime();
    let at = |day: DateTime| day.date().to_datetime(time).to_zoned(zone.clone()).ok().map(|z| z.timestamp().as_millisecond());
    let day = words.windows(2).find_map(|pair| day_of(pair[0], pair[1], here));
    let first = at(day.unwrap_or(here))?;
    if day.is_none() && first <= now { at(here.checked_add(Span::new().days(1)).ok()?) } else { Some(first) }
}

/// `3pm`, `11:30am`
fn time_of(word: &str) -> Option<Time> {
    let (digits, later) = word.strip_suffix("pm").map(|d| (d, 12)).or_else(|| word.strip_suffix("am").map(|d| (d, 0)))?;
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    let hour = hour.parse::<i8>().ok().filter(|hour| (1..=12).contains(hour))?;
    Time::new(hour % 12 + later, minute.parse().ok()?, 0, 0).ok()
}

/// `nov 24`, of this year or the next.
fn day_of(month: &str, day: &str, here: DateTime) -> Option<DateTime> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let month = (1..).zip(MONTHS).find(|(_, name)| month.starts_with(name))?.0;
    let date = |year: i16| jiff::civil::Date::new(year, month, day.parse().ok()?).ok();
    let this = date(here.year())?;
    Some(if this < here.date() { date(here.year() + 1)? } else { this }.to_datetime(Time::midnight()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_over_when_it_says_so_or_after_its_window() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
        let now = at("2026-11-21T12:00:00Z");
        let over = |said: &str| limit_ends_at(said, now, &TimeZone::get("America/New_York").unwrap());
        for (said, until) in [
            ("You've hit your limit · resets 3pm (Europe/Berlin)", "2026-11-21T14:00:00Z"),
            ("You've hit your limit · resets 11:30am (Europe/Berlin)", "2026-11-22T10:30:00Z"),
            ("You've hit your limit · resets 3pm", "2026-11-21T20:00:00Z"),
            ("You've hit your weekly limit · resets Nov 24, 9am (UTC)", "2026-11-24T09:00:00Z"),
            ("Claude AI usage limit reached|1795269600", "2026-11-21T14:00:00Z"),
            // Implausible or not given.
            ("You've hit your limit · resets Jan 1, 1970, 0am (UTC)", "2026-11-21T17:00:00Z"),
            ("Claude AI usage limit reached|0", "2026-11-21T17:00:00Z"),
            ("Claude AI usage limit reached|99999999999999999999", "2026-11-21T17:00:00Z"),
            ("5-hour limit reached ∙ resets never", "2026-11-21T17:00:00Z"),
            ("claude says: You're out of extra usage · resets 4am (UTC)", "2026-11-22T04:00:00Z"),
            ("You've reached your weekly limit", "2026-11-22T12:00:00Z"),
            ("You're out of usage credits. Run /usage-credits to keep using Opus", "2026-11-22T12:00:00Z"),
            ("Acme spend limit reached · resets Aug 8", "2026-11-22T12:00:00Z"),
            ("You've hit your fast limit · resets 3pm (Europe/Berlin)", "2026-11-21T14:00:00Z"),
            ("You've hit your weekly limit · resets Monday", "2026-11-22T12:00:00Z"),
        ] {
            assert_eq!(over(said), Some(at(until)), "{said}");
        }
        for other in [
            "Credit balance is too low",
            "Reached maximum number of turns (1)",
            "Not logged in · Please run /login",
            "API Error: exceeds your account's rate limit",
            "",
        ] {
            assert_eq!(over(other), None, "{other}");
        }
    }
}
