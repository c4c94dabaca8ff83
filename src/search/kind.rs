//! Kinds of text in a session: as labels of passages, and as values of the `kind:` filter.

use std::sync::LazyLock;

use crate::model::note::NoteKind;
use crate::model::search_column::SearchColumn;
use crate::model::section::{SECTIONS, Section};
use crate::store::search::TextKind;

/// A value of the `kind:` filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KindFilter(&'static KindSpec);

#[derive(Debug, PartialEq, Eq)]
struct KindSpec {
    name: &'static str,
    /// The index columns that hold its words, possibly among others.
    columns: Vec<SearchColumn>,
    said: Vec<TextKind>,
    /// What a model claims. Where a session has no claims, the user's words answer, in the column of what was asked.
    is_claimed: bool,
    /// The kinds of notes that are of this kind.
    notes: &'static [NoteKind],
}

fn plain(name: &'static str, column: SearchColumn, said: TextKind) -> KindSpec {
    KindSpec { name, columns: vec![column], said: vec![said], is_claimed: false, notes: &[] }
}

/// Statements of these sections, and notes, which are indexed as decisions.
fn claimed(name: &'static str, sections: &[Section], notes: &'static [NoteKind]) -> KindSpec {
    let mut columns: Vec<SearchColumn> = sections.iter().map(|section| section.spec().column).collect();
    columns.extend([SearchColumn::Decided, SearchColumn::Asked]);
    columns.sort_by_key(|column| *column as usize);
    columns.dedup();
    let mut said: Vec<TextKind> = sections.iter().copied().map(TextKind::Claim).collect();
    if sections.contains(&Section::Completed) {
        said.push(TextKind::Made);
    }
    KindSpec { name, columns, said, is_claimed: true, notes }
}

static KINDS: LazyLock<Vec<KindSpec>> = LazyLock::new(|| {
    // What the session's own rows say is found under the kinds of these.
    let found = SECTIONS.iter().filter(|spec| !spec.repeats_rows);
    let sections: Vec<Section> = found.clone().filter(|spec| spec.kind.is_some()).map(|spec| spec.section).collect();
    let of_sections = found.filter_map(|spec| Some(claimed(spec.kind?, &[spec.section], spec.notes)));
    let mut kinds = vec![
        plain("title", SearchColumn::Title, TextKind::Title),
        plain("prompt", SearchColumn::Asked, TextKind::Prompt),
        KindSpec { said: vec![TextKind::Reply, TextKind::Plan], ..plain("reply", SearchColumn::Said, TextKind::Reply) },
        KindSpec { columns: vec![SearchColumn::Said, SearchColumn::Noted], ..plain("plan", SearchColumn::Said, TextKind::Plan) },
    ];
    kinds.extend(of_sections);
    kinds.extend([
        plain("recap", SearchColumn::Noted, TextKind::Recap),
        claimed("observation", &sections, &NoteKind::ALL),
        plain("error", SearchColumn::Did, TextKind::Error),
        plain("command", SearchColumn::Did, TextKind::Command),
        plain("file", SearchColumn::Files, TextKind::File),
        KindSpec { notes: &NoteKind::ALL, ..plain("note", SearchColumn::Decided, TextKind::Note) },
        KindSpec {
            columns: vec![SearchColumn::Title, SearchColumn::Noted],
            ..plain("memory", SearchColumn::Noted, TextKind::Memory)
        },
    ]);
    // The kinds of notes that no section has.
    const ALL: &[NoteKind] = &NoteKind::ALL;
    for kind in ALL.chunks(1) {
        let name = kind[0].name();
        if kinds.iter().all(|known| known.name != name) {
            kinds.push(KindSpec { notes: kind, ..plain(name, SearchColumn::Decided, TextKind::Note) });
        }
    }
    kinds
});

impl KindFilter {
    /// Parses a kind's name, singular or plural, in any case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        KINDS.iter().find(|kind| name == kind.name || name.strip_suffix('s') == Some(kind.name)).map(Self)
    }

    pub(super) fn columns(self) -> &'static [SearchColumn] {
        &self.0.columns
    }

    pub(super) fn said(self) -> &'static [TextKind] {
        &self.0.said
    }

    /// Is a note with this name of its kind of this kind?
    pub(super) fn takes_note(self, kind: &str) -> bool {
        self.0.notes.iter().any(|note| note.name() == kind)
    }

    /// Do the user's words answer for it, where a session has no claims by a model?
    pub(crate) fn is_claimed(self) -> bool {
        self.0.is_claimed
    }

    /// Does the kind match only what was done (errors, commands, files, plans), not what was said?
    pub(super) fn matches_actions_only(self) -> bool {
        self.0.said.iter().any(|said| matches!(said, TextKind::Error | TextKind::Command | TextKind::File | TextKind::Plan))
    }
}

/// The names of all kinds.
pub(crate) fn kinds() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.name).collect()
}
