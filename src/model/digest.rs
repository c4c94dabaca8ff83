//! The digest of a session: what it was about and what came of it.

use serde::{Deserialize, Serialize};

use crate::model::session::{RecordKey, short_id};

/// The name of the summarizer that is no model, in digests and in the config.
pub(crate) const WITHOUT_MODEL: &str = "extract";

/// The title of a digest that has none.
pub(crate) const UNTITLED: &str = "Untitled session";

/// The digest of one session, made by a model or by extraction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Digest {
    pub title: String,
    pub request: String,
    pub investigated: Vec<String>,
    pub learned: Vec<String>,
    pub completed: Vec<String>,
    pub decisions: Vec<Claim>,
    pub files: Vec<FileNote>,
    pub blockers: Vec<Claim>,
    pub next_steps: Vec<Claim>,
    /// Ids of open items of earlier sessions that this session closed.
    pub closes: Vec<String>,
    /// Questions that this session answers, in other words than its own. Indexed, never shown.
    pub questions: Vec<String>,
}

/// A statement with the keys of the records that support it. Without any it is shown as unverified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub text: String,
    pub rows: Vec<RecordKey>,
}

impl Claim {
    pub(crate) fn is_verified(&self) -> bool {
        !self.rows.is_empty()
    }
}

/// A file that a digest names. Verified if the session touched or mentioned it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileNote {
    pub path: String,
    pub verified: bool,
}

/// A next step or blocker that is not closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenItem {
    pub(crate) id: String,
    pub(crate) text: String,
    /// The key of its session's row in the index.
    pub(crate) session: i64,
}

impl Digest {
    /// All statements that need support from records.
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.decisions.iter().chain(&self.blockers).chain(&self.next_steps)
    }

    /// The whole text except title and questions, one statement per line, as it is embedded.
    pub(crate) fn text(&self) -> String {
        let lists = self.completed.iter().chain(&self.learned).chain(&self.investigated).map(String::as_str);
        let claims = self.claims().map(|c| c.text.as_str());
        let files = self.files.iter().map(|f| f.path.as_str());
        std::iter::once(self.request.as_str()).chain(lists).chain(claims).chain(files).collect::<Vec<_>>().join("\n")
    }

    /// All texts in it; no ids.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let lists = [&self.completed, &self.learned, &self.investigated, &self.questions];
        let lists = lists.into_iter().flatten().map(String::as_str);
        let claims = self.claims().map(|c| c.text.as_str());
        let files = self.files.iter().map(|f| f.path.as_str());
        [self.title.as_str(), self.request.as_str()].into_iter().chain(lists).chain(claims).chain(files)
    }

    /// Applies a function to every text and drops the texts that become empty.
    pub(crate) fn pass(&mut self, pass: impl Fn(&str) -> String) {
        for text in [&mut self.title, &mut self.request] {
            *text = pass(text);
        }
        if self.title.is_empty() {
            // Every digest has a title.
            self.title = UNTITLED.to_owned();
        }
        for list in [&mut self.investigated, &mut self.learned, &mut self.completed, &mut self.questions] {
            list.iter_mut().for_each(|text| *text = pass(text));
            list.retain(|text| !text.is_empty());
        }
        for list in [&mut self.decisions, &mut self.blockers, &mut self.next_steps] {
            list.iter_mut().for_each(|claim| claim.text = pass(&claim.text));
            list.retain(|claim| !claim.text.is_empty());
        }
        self.files.iter_mut().for_each(|file| file.path = pass(&file.path));
        self.files.retain(|file| !file.path.is_empty());
    }

    /// Replaces the ids of the items it closes, where `new_id` knows a new one.
    pub(crate) fn rename_closed(&mut self, new_id: impl Fn(&str) -> Option<String>) {
        for id in &mut self.closes {
            if let Some(new) = new_id(id) {
                *id = new;
            }
        }
    }

    /// The open items with their ids, which depend only on the session and the text.
    pub fn open_items<'a>(&'a self, session: &'a str) -> impl Iterator<Item = (String, &'static str, &'a Claim)> {
        let next = self.next_steps.iter().map(|c| ("next", c));
        let blocked = self.blockers.iter().map(|c| ("blocker", c));
        next.chain(blocked).map(move |(kind, claim)| (item_id(session, kind, &claim.text), kind, claim))
    }
}

/// The id of an open item after its text changed from `before` to `after`; `None` if `id` is not derived from `before`.
pub(crate) fn renamed_item_id(id: &str, session: &str, before: &str, after: &str) -> Option<String> {
    let kind = if id.starts_with('n') { "next" } else { "blocker" };
    (item_id(session, kind, before) == id).then(|| item_id(session, kind, after))
}

/// The id of an open item, `next` or `blocker`.
pub(crate) fn item_id(session: &str, kind: &str, text: &str) -> String {
    let prefix = if kind == "next" { "n" } else { "b" };
    short_id(prefix, &[session, kind, &text.to_lowercase()])
}
