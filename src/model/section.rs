//! The sections of a model's digest: one row each, with all that a reader of digests needs to know of it.
//!
//! The prompt, the reader of replies, the check against the session, pages, briefs, starts, topics, search, the sanitizer, forgetting and
//! exports walk [`SECTIONS`]. A new section is a name in [`Section`] and a row here. Nothing else lists
//! them, but for the sections that are open items: their headings are read back in `render::page::read`, their ids in `model::digest`.

use crate::model::note::NoteKind;
use crate::model::search_column::SearchColumn;

/// The most that is stored of what a model or another tool says of a session: statements of a section, characters of each and of the title.
pub(crate) const MAX_STATEMENTS: usize = 24;
pub(crate) const MAX_STATEMENT_CHARS: usize = 600;
pub(crate) const MAX_TITLE_CHARS: usize = 120;

/// A section of a model's digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    Investigated,
    Learned,
    Completed,
    Decisions,
    Instructions,
    Files,
    Blockers,
    NextSteps,
    Questions,
    OtherWords,
}

/// Whose words can carry a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carriers {
    /// The user's: what they said, answered, refused or approved.
    User,
    /// The sentence that the user typed in which a model's quotation stands. It is told as it is.
    UserSentence,
    /// The assistant's, and its tasks; nothing that only repeats what a tool printed.
    Assistant,
    /// The assistant's, else what it did, with how that ended.
    Work,
    /// As [`Carriers::Work`], and also the user's.
    Anyone,
    /// A row that touched the file, or words that name it.
    Mentions,
    /// Nothing has to: it is told nowhere.
    Unchecked,
}

/// How a view shows a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Its place among the sections of the view.
    pub(crate) place: u8,
    /// Sections of one label stand under it together.
    pub(crate) label: &'static str,
    /// The most statements, and the most characters of each.
    pub(crate) most: usize,
    pub(crate) chars: usize,
    /// Where there is no room for all: does the end of the list go first? It says where the session ended.
    pub(crate) last_first: bool,
    /// How many lines of it go in before another section has its turn, where the view fills its room in turns.
    pub(crate) share: usize,
}

impl Shown {
    /// As many of the lines as the view shows, in their order.
    pub(crate) fn within(&self, mut lines: Vec<String>) -> Vec<String> {
        if self.last_first {
            lines.drain(..lines.len().saturating_sub(self.most));
        }
        lines.truncate(self.most);
        lines
    }
}

/// What shows a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// The page of a session. It is all that is left of a paid digest where the index is gone, so nothing is cut there.
    Page,
    /// The page of a day.
    Day,
    /// The brief of a session.
    Brief,
    /// The start of a session.
    Start,
}

/// What a topic tells of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TopicWords {
    /// What stands before a statement.
    pub(crate) label: &'static str,
    /// How many of the last statements tell where a session ended, where little of it was found.
    pub(crate) ends: usize,
    /// Words with which a model begins a statement that say no more than the label.
    pub(crate) repeats: &'static [&'static str],
}

/// All that is known of a section.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SectionSpec {
    pub(crate) section: Section,
    /// Its field in a model's reply, in stored digests and in exports.
    pub(crate) key: &'static str,
    /// What a model is asked to write there.
    pub(crate) asked: &'static str,
    /// Is it left out of a stored digest where it is empty? Digests of before it came stay as they are then, with their ids.
    pub(crate) left_out_empty: bool,
    /// What a model is asked to quote beside each statement; empty if nothing is.
    pub(crate) quoted: &'static str,
    /// Does a model name the rows behind each statement?
    pub(crate) cites: bool,
    pub(crate) carriers: Carriers,
    /// What a statement of it is called in results, topics and `kind:`; `None` if it is not told.
    pub(crate) kind: Option<&'static str>,
    /// The kinds of notes that `kind:` finds under the same name.
    pub(crate) notes: &'static [NoteKind],
    /// Where its words are indexed.
    pub(crate) column: SearchColumn,
    /// How much a passage of it counts against one of a reply.
    pub(crate) worth: f64,
    /// Do the session's own rows say the same? Then it is no passage where these are read.
    pub(crate) repeats_rows: bool,
    /// Are its statements open items, which can be closed?
    pub(crate) is_open: bool,
    /// Do its words tell whether two sessions are nearly the same?
    pub(crate) compares: bool,
    pub(crate) topic: TopicWords,
    page: Option<Shown>,
    day: Option<Shown>,
    brief: Option<Shown>,
    start: Option<Shown>,
}

const fn shown(place: u8, label: &'static str, most: usize, chars: usize) -> Option<Shown> {
    Some(Shown { place, label, most, chars, last_first: false, share: 1 })
}

const fn last_first(place: u8, label: &'static str, most: usize, chars: usize, share: usize) -> Option<Shown> {
    Some(Shown { place, label, most, chars, last_first: true, share })
}

/// No limit beyond that of a stored statement.
const ALL: usize = usize::MAX;
const WHOLE: usize = MAX_STATEMENT_CHARS;

/// A section that nothing shows, as a base for the others.
const UNTOLD: SectionSpec = SectionSpec {
    section: Section::Questions,
    key: "",
    asked: "",
    left_out_empty: false,
    quoted: "",
    cites: false,
    carriers: Carriers::Unchecked,
    kind: None,
    notes: &[],
    column: SearchColumn::Noted,
    worth: 1.0,
    repeats_rows: false,
    is_open: false,
    compares: false,
    topic: TopicWords { label: "", ends: 0, repeats: &[] },
    page: None,
    day: None,
    brief: None,
    start: None,
};

/// How many sections there are.
pub(crate) const SECTION_COUNT: usize = Section::OtherWords as usize + 1;

/// In the order in which a model writes them.
pub(crate) static SECTIONS: [SectionSpec; SECTION_COUNT] = [
    SectionSpec {
        section: Section::Investigated,
        key: "investigated",
        asked: "what was looked into",
        cites: true,
        carriers: Carriers::Work,
        kind: Some("investigated"),
        worth: 0.8,
        repeats_rows: true,
        topic: TopicWords { label: "looked into: ", ends: 0, repeats: &[] },
        page: shown(4, "Looked into", ALL, WHOLE),
        ..UNTOLD
    },
    SectionSpec {
        section: Section::Learned,
        key: "learned",
        asked: "causes and facts found, each with its proof",
        cites: true,
        carriers: Carriers::Anyone,
        kind: Some("learned"),
        notes: &[NoteKind::Fact, NoteKind::Convention, NoteKind::Preference],
        worth: 1.15,
        compares: true,
        topic: TopicWords { label: "learned: ", ends: 2, repeats: &["learned", "lesson"] },
        page: shown(3, "Learned", ALL, WHOLE),
        brief: last_first(3, "Learned", ALL, 320, 1),
        start: last_first(3, "Learned", 4, 240, 1),
        ..UNTOLD
    },
    SectionSpec {
        section: Section::Completed,
        key: "completed",
        asked: "what was done and how it was checked; commits, pull requests",
        cites: true,
        carriers: Carriers::Work,
        kind: Some("outcome"),
        worth: 1.15,
        compares: true,
        topic: TopicWords { label: "outcome: ", ends: 3, repeats: &["outcome", "result"] },
        page: shown(0, "Done", ALL, WHOLE),
        day: last_first(0, "Outcome", 5, 240, 1),
        brief: last_first(0, "Outcome", ALL, 320, 2),
        start: last_first(0, "Outcome", 6, 240, 1),
        ..UNTOLD
    },
    SectionSpec {
        section: Section::Decisions,
        key: "decisions",
        asked: "what the user decided, agreed to or refused, and why",
        cites: true,
        carriers: Carriers::User,
        kind: Some("decision"),
        notes: &[NoteKind::Decision],
        column: SearchColumn::Decided,
        worth: 1.25,
        compares: true,
        topic: TopicWords { label: "decided: ", ends: 0, repeats: &["decision", "decided", "entscheidung"] },
        page: shown(1, "Decisions", ALL, WHOLE),
        day: shown(1, "Decisions", 5, 220),
        brief: last_first(1, "Decided", ALL, 320, 2),
        start: last_first(1, "Decided", 6, 240, 1),
        ..UNTOLD
    },
    SectionSpec {
        section: Section::Instructions,
        key: "standing_instructions",
        asked: "how the assistant is to work in later sessions too, by the user's words or corrections, as a short command; nothing for \
                this task or this time only, nothing that the product is to do",
        quoted: "the user's words for it, verbatim",
        left_out_empty: true,
        cites: true,
        carriers: Carriers::UserSentence,
        kind: Some("instruction"),
        repeats_rows: true,
        topic: TopicWords { label: "standing instruction: ", ends: 0, repeats: &[] },
        page: shown(2, "Standing instructions", ALL, WHOLE),
        ..UNTOLD
    },
    SectionSpec {
        section: Section::Files,
        key: "files",
        asked: "path/of/a/changed/file",
        carriers: Carriers::Mentions,
        column: SearchColumn::Files,
        ..UNTOLD
    },
    SectionSpec {
        section: Section::Blockers,
        key: "blockers",
        asked: "what stops the work",
        cites: true,
        carriers: Carriers::Work,
        kind: Some("blocker"),
        worth: 1.15,
        is_open: true,
        topic: TopicWords { label: "blocked: ", ends: 0, repeats: &["blocked", "blocker"] },
        page: shown(5, "Blockers", ALL, WHOLE),
        day: shown(2, "Blockers", ALL, 220),
        brief: Some(OPEN),
        start: shown(2, "Open", 12, 240),
        ..UNTOLD
    },
    SectionSpec {
        section: Section::NextSteps,
        key: "next_steps",
        asked: "what remains to be done",
        cites: true,
        carriers: Carriers::Assistant,
        kind: Some("next"),
        notes: &[NoteKind::Todo],
        worth: 1.05,
        is_open: true,
        compares: true,
        topic: TopicWords { label: "next: ", ends: 0, repeats: &["next", "next step", "next steps"] },
        page: shown(6, "Next", ALL, WHOLE),
        day: shown(3, "Next", ALL, 220),
        brief: Some(OPEN),
        start: shown(2, "Open", 12, 240),
        ..UNTOLD
    },
    SectionSpec {
        section: Section::Questions,
        key: "questions",
        asked: "five questions a developer may ask later that this session answers, in other words than its own",
        column: SearchColumn::Extra,
        ..UNTOLD
    },
    SectionSpec {
        section: Section::OtherWords,
        key: "other_words",
        asked: "fifteen to twenty words or short phrases that are not in the record, for somebody who looks for this session later and has \
                forgotten its terms: synonyms, everyday names, the symptom, the wider topic",
        left_out_empty: true,
        column: SearchColumn::Extra,
        ..UNTOLD
    },
];

/// Blockers and next steps stand together in a brief.
const OPEN: Shown = Shown { place: 2, label: "Open", most: ALL, chars: 320, last_first: false, share: 2 };

impl Section {
    /// Its row.
    pub(crate) fn spec(self) -> &'static SectionSpec {
        &SECTIONS[self as usize]
    }

    /// Each section, in the order in which a model writes them.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        SECTIONS.iter().map(|spec| spec.section)
    }

    /// The section whose field in a reply has this name.
    pub fn with_key(key: &str) -> Option<Self> {
        SECTIONS.iter().find(|spec| spec.key == key).map(|spec| spec.section)
    }

    /// The section whose statements have this kind.
    pub(crate) fn of_kind(kind: &str) -> Option<Self> {
        SECTIONS.iter().find(|spec| spec.kind == Some(kind)).map(|spec| spec.section)
    }

    /// How a view shows it.
    pub(crate) fn shown(self, view: View) -> Option<&'static Shown> {
        let spec = self.spec();
        match view {
            View::Page => spec.page.as_ref(),
            View::Day => spec.day.as_ref(),
            View::Brief => spec.brief.as_ref(),
            View::Start => spec.start.as_ref(),
        }
    }
}

impl SectionSpec {
    /// What its statements are called as open items.
    pub(crate) fn open_kind(&self) -> Option<&'static str> {
        self.kind.filter(|_| self.is_open)
    }
}

/// What a view shows, in its order: the sections that stand under one label, and how.
pub(crate) fn shown_in(view: View) -> Vec<(&'static Shown, Vec<Section>)> {
    let mut all: Vec<(&'static Shown, Section)> =
        Section::all().filter_map(|section| Some((section.shown(view)?, section))).collect();
    all.sort_by_key(|(shown, _)| shown.place);
    let mut groups: Vec<(&'static Shown, Vec<Section>)> = Vec::new();
    for (shown, section) in all {
        match groups.last_mut() {
            Some((before, sections)) if before.label == shown.label => sections.push(section),
            _ => groups.push((shown, vec![section])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_section_has_its_own_row() {
        for (place, spec) in SECTIONS.iter().enumerate() {
            assert_eq!(spec.section as usize, place, "{}", spec.key);
            assert_eq!(Section::with_key(spec.key), Some(spec.section));
        }
    }
}
