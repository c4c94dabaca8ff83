//! Where pages lie in the data folder: that of a day is `daily/YYYY-MM/YYYY-MM-DD.md`, those of its sessions are
//! `daily/YYYY-MM/sessions/YYYY-MM-DD-PROJECT-ID.md`; `pages.md` lists the days. Whoever makes or reads such a path does it here. Paths are relative to the data folder.

use std::path::{Path, PathBuf};

use jiff::civil::Date;

use crate::sys::data_folder;
use text::clean::id8;
use text::markdown::slug;
use transcripts::session::{Project, short_id};

/// The list of the days that have a page; it links to them by their paths.
pub(crate) const DAY_LIST: &str = data_folder::DAY_LIST;
/// The same, as the page of a day links to it.
pub(crate) const DAY_LIST_FROM_DAY: &str = "../../pages.md";
/// The folder of all pages.
pub(crate) const PAGES: &str = data_folder::PAGES;
/// The folder of the pages of sessions, beside those of days.
const SESSIONS: &str = "sessions";
/// The most characters of a project's name in the name of a page.
const MAX_PROJECT_CHARS: usize = 40;

/// The folder of all pages of a data folder.
pub(crate) fn pages_folder(data_dir: &Path) -> PathBuf {
    data_dir.join(PAGES)
}

/// Where a file lies below the data folder; `None` where it does not, or its path is no text.
pub(crate) fn below(file: &Path, data_dir: &Path) -> Option<String> {
    Some(file.strip_prefix(data_dir).ok()?.to_str()?.to_owned())
}

/// The page of a day, `YYYY-MM-DD`.
pub(crate) fn of_day(day: &str) -> String {
    format!("{}/{day}.md", folder_of(day))
}

/// The page with this name of a session of a day.
pub(crate) fn of_session(day: &str, name: &str) -> String {
    format!("{}/{}", folder_of(day), from_day(name))
}

/// The page with this name of a session, as the page of its day links to it.
pub(crate) fn from_day(name: &str) -> String {
    format!("{SESSIONS}/{name}")
}

/// A page, as one links to it that lies so many folders below that of all pages: `up` leads there.
pub(crate) fn from_below(path: &str, up: &str) -> String {
    format!("{up}/{}", path.strip_prefix(PAGES).map_or(path, |path| path.trim_start_matches('/')))
}

/// The page of a day, as that of another day links to it.
pub(crate) fn day_from_day(day: &str) -> String {
    from_below(&of_day(day), "..")
}

/// The page of a day, as those of its sessions link to it.
pub(crate) fn day_from_session(day: &str) -> String {
    format!("../{day}.md")
}

fn folder_of(day: &str) -> String {
    format!("{PAGES}/{}", day.get(..7).unwrap_or(day))
}

/// Is it the page of a session, by the folder in which it lies?
pub(crate) fn is_of_session(file: &Path) -> bool {
    file.parent().is_some_and(|folder| folder.ends_with(SESSIONS))
}

/// The beginning of a session's id, of a link to its page.
fn session_of_page(link: &str) -> Option<&str> {
    let file = Path::new(link);
    let id = file.file_name()?.to_str()?.strip_suffix(".md")?.rsplit('-').next()?;
    (is_of_session(file) && id.len() == 8 && id.bytes().all(|b| b.is_ascii_hexdigit())).then_some(id)
}

/// What a link of a page leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkedPage<'a> {
    /// By the beginning of its id.
    Session(&'a str),
    Day(Date),
    DayList,
}

/// `None` if it leads to no page.
pub(crate) fn linked_page(link: &str) -> Option<LinkedPage<'_>> {
    let file = Path::new(link);
    if let Some(id) = session_of_page(link) {
        return Some(LinkedPage::Session(id));
    }
    if file.file_name().is_some_and(|name| name == DAY_LIST) {
        return Some(LinkedPage::DayList);
    }
    let is_page = file.extension().is_some_and(|end| end == "md");
    day_of_page(file).filter(|_| is_page).map(LinkedPage::Day)
}

/// The day whose page has this name.
pub(crate) fn day_of_page(file: &Path) -> Option<Date> {
    parse_day(file.file_stem()?.to_str()?)
}

/// The day with which the name of a page begins, be it a day's or a session's.
pub(crate) fn day_in_name(file: &Path) -> Option<String> {
    let day = file.file_name()?.to_str()?.get(..10)?;
    parse_day(day).map(|_| day.to_owned())
}

/// Parses a date in its canonical spelling only.
pub(crate) fn parse_day(text: &str) -> Option<Date> {
    text.parse::<Date>().ok().filter(|date| date.to_string() == text)
}

/// `YYYY-MM-DD-PROJECT-ID.md`, with the eight characters of the session's id that people see; ids with the same ones (`crowded`) get part of a
/// hash as well.
pub fn session_page_name(id: &str, project: &Project, day: &str, crowded: bool) -> String {
    format!("{day}-{}{}", slug(project.name(), MAX_PROJECT_CHARS), name_end(id, crowded))
}

fn name_end(session: &str, crowded: bool) -> String {
    let shown = id8(session);
    let id8: String = shown.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let plain = shown.len() == 8 && id8.len() == 8;
    let id = if crowded || !plain { short_id(&format!("{id8}-"), &[session]) } else { id8 };
    format!("-{id}.md")
}

/// Whether a file of this name may be the page of this session, on whatever day and in whatever project.
pub(crate) fn is_session_page_name(name: &str, session: &str) -> bool {
    [false, true].iter().any(|crowded| name.ends_with(&name_end(session, *crowded)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_is_read_back() {
        let day = "2026-11-17";
        let (of_day, of_session) = (of_day(day), of_session(day, "2026-11-17-shop-64b0b6d9.md"));
        assert_eq!(of_day, "daily/2026-11/2026-11-17.md");
        assert_eq!(of_session, "daily/2026-11/sessions/2026-11-17-shop-64b0b6d9.md");
        let (of_day, of_session) = (Path::new(&of_day), Path::new(&of_session));
        assert!(is_of_session(of_session) && !is_of_session(of_day));
        assert_eq!(day_of_page(of_day).map(|day| day.to_string()).as_deref(), Some(day));
        assert_eq!(day_of_page(of_session), None);
        for file in [of_day, of_session] {
            assert_eq!(day_in_name(file).as_deref(), Some(day));
            assert!(Path::new("/data").join(file).starts_with(pages_folder(Path::new("/data"))));
        }
        let links = ["sessions/2026-11-17-shop-64b0b6d9.md", &day_from_day(day), DAY_LIST_FROM_DAY, "https://x.dev/a", "notes.md"];
        let led = links.map(linked_page);
        let date = day.parse().unwrap();
        let expected = [Some(LinkedPage::Session("64b0b6d9")), Some(LinkedPage::Day(date)), Some(LinkedPage::DayList), None, None];
        assert_eq!(led, expected);
        assert_eq!(from_below(&of_session.to_string_lossy(), "../.."), "../../2026-11/sessions/2026-11-17-shop-64b0b6d9.md");
        assert!(is_session_page_name("2026-11-17-shop-64b0b6d9.md", "64b0b6d9-e371-40e8-affe-78e0505dfb3f"));
    }

    #[test]
    fn what_is_no_date_is_no_day() {
        for name in ["notes.md", "20261117.md", "2026-11-17T00:00.md", "2026-13-01.md", "é026-11-17.md", ""] {
            assert_eq!(day_of_page(Path::new(name)), None, "{name}");
        }
        assert_eq!(day_in_name(Path::new("2026-11-3.md")), None);
    }
}
