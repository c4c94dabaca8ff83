//! Reads pages back: words of the user, and a model's digest, that a page still has when the index lost them.
//!
//! The lines are those that `day` and `lines` write. A line that is not in their form is skipped, and the user's own `## Notes` below them
//! is never read.

mod digest;

#[cfg(feature = "web")]
pub(crate) use self::digest::head;
pub(crate) use self::digest::{cost, digest, holds_digest};
use jiff::civil::Date;

use crate::model::author::Author;
use crate::model::digest::item_id;
use crate::model::note::NoteKind;
use crate::render::page::lines::UNVERIFIED;
use text::markdown::unescaped;

/// How many times `(done` is looked at on a line.
const MAX_DONE: usize = 20;

/// A note, as the page of its day shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteLine {
    pub id: String,
    /// Local time of day, `HH:MM`.
    pub clock: String,
    pub text: String,
    pub kind: String,
    /// The project's name, not its key.
    pub project: String,
    pub author: Author,
    pub closed_by: Option<Author>,
}

/// A settled open item, as its session's page shows it. A long text is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettledLine {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) by: Author,
    pub(crate) day: Option<Date>,
}

/// The notes on the page of a day.
pub(crate) fn notes(page: &str) -> Vec<NoteLine> {
    list(page, "## Remembered").filter_map(note).collect()
}

/// The settled open items on the page of a session.
pub(crate) fn settled(page: &str, session: &str) -> Vec<SettledLine> {
    let items = |(heading, kind)| list(page, heading).filter_map(move |line| settled_item(line, session, kind));
    [("## Blockers", "blocker"), ("## Next", "next")].into_iter().flat_map(items).collect()
}

/// The items of the list under a heading.
fn list<'p>(page: &'p str, heading: &'p str) -> impl Iterator<Item = &'p str> {
    let ours = page.lines().take_while(|line| line.trim_end() != "## Notes");
    let below = ours.skip_while(move |line| *line != heading).skip(1);
    below.take_while(|line| !line.starts_with('#')).filter_map(|line| line.strip_prefix("- "))
}

/// `12:00 text (kind, project, origin) ID`
fn note(line: &str) -> Option<NoteLine> {
    let (rest, id) = with_id(line)?;
    let (clock, rest) = rest.split_once(' ')?;
    let all = rest.strip_suffix(')')?;
    let (at, kind, rest) = all.rmatch_indices(" (").find_map(|(at, _)| {
        let (kind, rest) = all[at + 2..].split_once(", ")?;
        NoteKind::named(kind).map(|_| (at, kind, rest))
    })?;
    let (rest, closed_by) = match rest.rsplit_once("; done, ") {
        Some((rest, closer)) => (rest, Some(author(closer))),
        None => (rest, None),
    };
    let text = &all[..at];
    let at = rest.rfind(", by ").or_else(|| rest.rfind(", author not recorded"))?;
    let text = closed_by.as_ref().and_then(|_| struck(text)).unwrap_or(text);
    Some(NoteLine {
        id: id.to_owned(),
        clock: clock.to_owned(),
        text: unescaped(text),
        kind: kind.to_owned(),
        project: unescaped(&rest[..at]),
        author: author(&rest[at + 2..]),
        closed_by,
    })
}

/// `~~text~~ (done, by whom, day) ID`; without the text if it is empty. Not an open item of which that is the text.
fn settled_item(line: &str, session: &str, kind: &str) -> Option<SettledLine> {
    let (rest, id) = with_id(line)?;
    let (text, by) = settled_text(rest, id, session, kind)?;
    if item_id(session, kind, &unescaped(rest)) == id {
        return None;
    }
    let text = text.strip_suffix(UNVERIFIED).unwrap_or(text);
    let (by, day) = closer(by.strip_prefix(", ").unwrap_or_default());
    Some(SettledLine { id: id.to_owned(), text: unescaped(text), by, day })
}

/// Who settled an item and when, as far as the page says so. In which session it was done is none of that.
fn closer(text: &str) -> (Author, Option<Date>) {
    let (by, day) = text.rsplit_once(", ").unwrap_or(("", text));
    match day.parse() {
        Ok(day) => (author(by), Some(day)),
        Err(_) => (author(text), None),
    }
}

/// What is struck through, and what stands behind `done`. Where that stands more than once, in the text or in a name, the id tells which it is.
fn settled_text<'l>(rest: &'l str, id: &str, session: &str, kind: &str) -> Option<(&'l str, &'l str)> {
    let parts = rest.rmatch_indices("(done").filter_map(|(at, done)| {
        let text = rest[..at].trim_end();
        Some((if text.is_empty() { text } else { struck(text)? }, rest[at + done.len()..].strip_suffix(')')?))
    });
    let is_named = |text: &str| item_id(session, kind, &unescaped(text.strip_suffix(UNVERIFIED).unwrap_or(text))) == id;
    let all: Vec<_> = parts.take(MAX_DONE).collect();
    all.iter().find(|(text, _)| is_named(text)).or(all.first()).copied()
}

fn struck(text: &str) -> Option<&str> {
    text.strip_prefix("~~")?.strip_suffix("~~")
}

/// A line and the id at its end.
fn with_id(line: &str) -> Option<(&str, &str)> {
    let (rest, id) = line.strip_suffix('`')?.rsplit_once(" `")?;
    (!id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric())).then_some((rest, id))
}

/// The author that [`Author::text`] shows. Of a session only the start of its id is known.
fn author(text: &str) -> Author {
    let text = unescaped(text);
    match text.strip_prefix("by ") {
        Some("the user") => Author::User,
        Some(agent) => match agent.rsplit_once(", session ") {
            Some((name, session)) => Author::agent(name, Some(session)),
            None => Author::agent(agent, None),
        },
        None => Author::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::note::Note;
    use crate::render::page::day::note_line;
    use jiff::tz::TimeZone;
    use proptest::prelude::*;
    use transcripts::session::Project;

    fn authors() -> impl Strategy<Value = Author> {
        prop_oneof![
            Just(Author::Unknown),
            Just(Author::User),
            Just(Author::agent("Claude", Some("64b0b6d9"))),
            Just(Author::agent("by the way", None)),
        ]
    }

    proptest! {
        #[test]
        fn a_note_is_read_as_it_was_written(
            text in "[^\\x00-\\x1f]{1,60}",
            author in authors(),
            closer in proptest::option::of(authors()),
            project in prop_oneof![Just("/home/dev/src/shop"), Just("/a/b (c, d)"), Just("/a/by_the_*way*")],
        ) {
            let text = text::clean::one_line(&text::clean::without_controls(&text)).trim().to_owned();
            prop_assume!(!text.is_empty());
            let project = Project { key: project.into() };
            let closed = closer.clone().map(|by| (0, by));
            let stored =
                Note { pk: 1, id: "m12345678".into(), project, kind: "todo".into(), text: text.clone(), at: 0, author: author.clone(), closed };
            let page = format!("# Day\n\n## Remembered\n\n- {}\n\n## Notes\n\n- mine\n", note_line(&stored, &TimeZone::UTC));
            let read = notes(&page);
            prop_assert_eq!(read.len(), 1, "{}", page);
            prop_assert_eq!((&read[0].id, &read[0].clock, &read[0].text, &read[0].kind), (&stored.id, &"00:00".to_owned(), &text, &stored.kind));
            prop_assert_eq!((&read[0].project, &read[0].author, &read[0].closed_by), (&stored.project.name().to_owned(), &author, &closer));
        }

        #[test]
        fn no_page_is_too_odd(page in "\\PC{0,200}", lines in proptest::collection::vec("- [~`() ,;a-z0-9]{0,40}", 0..6)) {
            for page in [page, format!("## Remembered\n{}", lines.join("\n")), format!("## Next\n{}", lines.join("\n"))] {
                let _ = (notes(&page), settled(&page, "s"), holds_digest(&page, "s"));
            }
        }
    }

    #[test]
    fn settled_items_are_read_with_who_settled_them() {
        let page = "## Blockers\n\n- open `n1`\n- ~~Ask \\*Kim\\*~~ (done) `n2`\n\n## Next\n\n- ~~Test it *(unverified)*~~ (done, by Claude, session \
            64b0b6d9) `n3`\n- (done) `n4`\n- ~~Ship~~ (done, by the user, 2026-11-21) `n6`\n- ~~Cut~~ (done, in session 64b0b6d9, 2026-11-20) `n7`\n\n## Notes\n\n## Next\n- ~~mine~~ (done) `n5`\n";
        let item = |id: &str, text: &str, by| SettledLine { id: id.into(), text: text.into(), by, day: None };
        let on = |day: &str, item: SettledLine| SettledLine { day: Some(day.parse().unwrap()), ..item };
        let claude = Author::agent("Claude", Some("64b0b6d9"));
        assert_eq!(
            settled(page, "s"),
            [
                item("n2", "Ask *Kim*", Author::Unknown),
                item("n3", "Test it", claude),
                item("n4", "", Author::Unknown),
                on("2026-11-21", item("n6", "Ship", Author::User)),
                on("2026-11-20", item("n7", "Cut", Author::Unknown))
            ]
        );
    }
}
