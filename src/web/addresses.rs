//! Where each page lies, relative to the first page: the same when it is served and in an export.

use jiff::ToSpan;
use jiff::civil::{Date, ISOWeekDate, Weekday};

use crate::app::stats::WEEK_NAME;
use text::markdown::slug;

pub(super) const DAYS: &str = "days.html";
pub(super) const SESSIONS: &str = "sessions.html";
pub(super) const PROJECTS: &str = "projects.html";
pub(super) const OPEN_ITEMS: &str = "open.html";
pub(super) const SEARCH: &str = "search.html";
pub(super) const TOLD: &str = "told.html";
pub(super) const STATUS: &str = "status.html";
/// Beside pages: forms go there, the stylesheet and so on lie there.
pub(super) const STYLE: &str = "asset/style.css";
pub(super) const SCRIPT: &str = "asset/page.js";
pub(super) const ICON: &str = "asset/icon.svg";
pub(super) const CLOSE: &str = "do/close";
pub(super) const WRONG: &str = "do/wrong";
pub(super) const NOT_WRONG: &str = "do/not-wrong";
pub(super) const FORGET: &str = "do/forget";
pub(super) const KEEP_RULE: &str = "do/keep-rule";
pub(super) const DISMISS_RULE: &str = "do/dismiss-rule";

const END: &str = ".html";
/// The name of what has an id that is no name of a file begins with this.
const BY_HASH: &str = "x-";
/// The most characters of a project's folder in an address.
const MAX_PROJECT_CHARS: usize = 40;

pub(super) fn day(day: Date) -> String {
    format!("day/{day}{END}")
}

/// The week in which a day lies.
pub(super) fn week(day: Date) -> String {
    format!("week/{}{END}", week_name(day))
}

/// By what a week goes, in addresses and figures.
pub(super) fn week_name(day: Date) -> String {
    day.strftime(WEEK_NAME).to_string()
}

/// The days of a week, Monday first; `None` if the name is that of no week.
pub(super) fn days_of_week(name: &str) -> Option<[Date; 7]> {
    let (year, week) = name.split_once("-W")?;
    let monday = ISOWeekDate::new(year.parse().ok()?, week.parse().ok()?, Weekday::Monday).ok()?.date();
    let days = std::array::from_fn(|at| monday.saturating_add((at as i64).days()));
    (week_name(monday) == name).then_some(days)
}

/// Is it the address of a session?
pub(super) fn is_session(address: &str) -> bool {
    address.starts_with("session/")
}

pub(super) fn session(id: &str) -> String {
    format!("session/{}{END}", name_of(id))
}

/// The stored rows of a session; one of them has the id of its key.
pub(super) fn rows(id: &str) -> String {
    format!("rows/{}{END}", name_of(id))
}

/// A note, or a memory file of Claude's.
pub(super) fn note(id: &str) -> String {
    format!("note/{}{END}", name_of(id))
}

pub(super) fn project(key: &str) -> String {
    format!("project/{}{END}", project_name(key))
}

/// The question whether to forget a session.
pub(super) fn forget(id: &str) -> String {
    format!("forget/{}{END}", name_of(id))
}

/// A page's name without its end; `None` if it is no page's.
pub(super) fn without_end(file: &str) -> Option<&str> {
    file.strip_suffix(END)
}

/// By what a project goes in an address.
pub(super) fn project_name(key: &str) -> String {
    let folder = key.rsplit('/').next().unwrap_or_default();
    format!("{}-{}", slug(folder, MAX_PROJECT_CHARS), hash(key))
}

/// By what a session or a note goes: its id, or a hash of one that is no name of a file.
pub(super) fn name_of(id: &str) -> String {
    let is_plain = !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if is_plain && !id.starts_with(BY_HASH) { id.to_owned() } else { format!("{BY_HASH}{}", hash(id)) }
}

/// Is it the name of something that only its hash names?
pub(super) fn is_by_hash(name: &str) -> bool {
    name.starts_with(BY_HASH)
}

/// How many folders a page lies below the first one.
pub(super) fn depth(address: &str) -> usize {
    address.matches('/').count()
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..12].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_week_is_read_back() {
        let day = |text: &str| text.parse::<Date>().unwrap();
        assert_eq!(week(day("2027-01-01")), "week/2026-W53.html");
        let days = days_of_week("2026-W53").unwrap();
        assert_eq!((days[0], days[6]), (day("2026-12-28"), day("2027-01-03")));
        for other in ["", "2026-W54", "2026-W1", "2026", "x-W01"] {
            assert_eq!(days_of_week(other), None, "{other}");
        }
    }

    #[test]
    fn an_address_is_a_path_of_plain_names() {
        for id in ["64b0b6d9-e371-40e8-affe-78e0505dfb3f", "ses_1", "../../etc/passwd", "", "a b", "x-1", "ä"] {
            let address = session(id);
            assert!(address.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_/.".contains(&b)), "{address}");
            assert_eq!((depth(&address), address.contains("..")), (1, false), "{address}");
        }
        assert_eq!(session("ses_1"), "session/ses_1.html");
        assert_ne!(project("/home/a/shop"), project("/home/b/shop"));
        assert_ne!(name_of("x-1"), "x-1", "it could be another's hash");
    }
}
