//! The digest of a session: what it was about and what came of it.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Index, IndexMut};

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::section::{Carriers, SECTION_COUNT, Section};
use transcripts::session::{RecordKey, short_id};

/// The name of the summarizer that is no model, in digests and in the config.
pub(crate) const WITHOUT_MODEL: &str = "extract";

/// The name of another tool whose memory is imported: as the summarizer of its digests, and as the file of what it says was said.
pub(crate) const CLAUDE_MEM: &str = "claude-mem";

/// Who says what a summarizer's digest claims.
pub(crate) fn claimed_by(summarizer: &str) -> &'static str {
    if summarizer == CLAUDE_MEM { CLAUDE_MEM } else { "a model" }
}

/// Is this the word of a summarizer that asks a model, here or in another tool?
pub(crate) fn is_by_model(summarizer: &str) -> bool {
    summarizer != WITHOUT_MODEL
}

/// Did its digest cost a call of a model's here?
pub(crate) fn is_paid(summarizer: &str) -> bool {
    is_by_model(summarizer) && summarizer != CLAUDE_MEM
}

/// The title of a digest that has none.
pub(crate) const UNTITLED: &str = "Untitled session";

/// The digest of one session, made by a model or without one.
///
/// As JSON it is one object: title, request, a list for each section under its key, and the ids that it closes.
/// A statement that no row has to support is its bare text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Digest {
    pub title: String,
    pub request: String,
    pub statements: Statements,
    /// Ids of open items of earlier sessions that this session closed.
    pub closes: Vec<String>,
    /// What a model says it closed, and no row it cites supports: it stays open.
    pub closes_left_out: Vec<ClaimedClosing>,
    /// Statements of earlier sessions that its own words overtake, as a model says.
    pub replaces: Vec<ClaimedReplacement>,
    /// What a model says it overtakes, and no words of the session prove: it stands.
    pub replaces_left_out: Vec<ClaimedReplacement>,
}

/// That a session closed an open item, in a model's words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedClosing {
    pub id: String,
    #[serde(default)]
    pub rows: Vec<RecordKey>,
}

/// That a session overtakes a statement that was offered to a model, in its words. Ids stand for both sentences: no digest holds the words of
/// another session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedReplacement {
    /// Of the statement that no longer holds.
    pub id: String,
    /// Of the sentence of this session that proves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The sentence that says what holds now, as the model quotes it; empty if it quotes none. Not stored: what proves it is this session's own.
    #[serde(skip)]
    pub says: String,
    /// The record of that sentence; without one what the model cites.
    #[serde(default)]
    pub rows: Vec<RecordKey>,
}

/// The statements of a digest, by section.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statements([Vec<Claim>; SECTION_COUNT]);

/// A statement with the keys of the records that support it. Without any it is kept and told nowhere but by `recall show --items`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// What is told: the session's own words where a model chose them, else what a summarizer says.
    pub text: String,
    pub rows: Vec<RecordKey>,
    /// What the model said, where the session's words are told in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed: Option<String>,
}

impl Claim {
    /// A statement that no row supports yet.
    pub fn new(text: impl Into<String>) -> Self {
        Self::supported(text, Vec::new())
    }

    /// A statement that these rows support.
    pub fn supported(text: impl Into<String>, rows: Vec<RecordKey>) -> Self {
        Self { text: text.into(), rows, claimed: None }
    }

    /// What the summarizer said, whatever is told in its place.
    pub fn claimed(&self) -> &str {
        self.claimed.as_deref().unwrap_or(&self.text)
    }

    /// All texts in it.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.text.as_str()).chain(self.claimed.as_deref())
    }

    /// Does a row support it?
    pub(crate) fn is_supported(&self) -> bool {
        !self.rows.is_empty()
    }
}

impl Index<Section> for Digest {
    type Output = Vec<Claim>;

    fn index(&self, section: Section) -> &Vec<Claim> {
        &self.statements.0[section as usize]
    }
}

impl IndexMut<Section> for Digest {
    fn index_mut(&mut self, section: Section) -> &mut Vec<Claim> {
        &mut self.statements.0[section as usize]
    }
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
    /// With these statements in a section.
    #[must_use]
    pub fn with(mut self, section: Section, statements: impl IntoIterator<Item = Claim>) -> Self {
        self[section].extend(statements);
        self
    }

    /// All statements with their sections.
    pub fn statements(&self) -> impl Iterator<Item = (Section, &Claim)> {
        Section::all().flat_map(|section| self[section].iter().map(move |claim| (section, claim)))
    }

    /// The statements that are told: those that a row supports.
    pub(crate) fn told(&self) -> impl Iterator<Item = (Section, &Claim)> {
        self.statements().filter(|(section, claim)| section.spec().kind.is_some() && claim.is_supported())
    }

    /// The statements of a section that are told.
    pub(crate) fn told_in(&self, section: Section) -> impl DoubleEndedIterator<Item = &Claim> {
        self[section].iter().filter(move |claim| section.spec().kind.is_some() && claim.is_supported())
    }

    /// Is all that it tells in the session's own words?
    pub(crate) fn is_quoted(&self) -> bool {
        let mut told = self.told().peekable();
        told.peek().is_some() && told.all(|(_, claim)| claim.claimed.is_some())
    }

    /// How its statements came about, as it is told: from a summarizer that is called so.
    pub(crate) fn told_by(&self, summarizer: &str) -> String {
        if self.is_quoted() { format!("chosen by {summarizer}") } else { format!("by {summarizer}") }
    }

    /// The statements that no row supports though one has to.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = (Section, &Claim)> {
        self.statements().filter(|(section, claim)| section.spec().kind.is_some() && !claim.is_supported())
    }

    /// What it is found by: the statements that are told, and those of sections that nobody is told.
    pub(crate) fn findable(&self) -> impl Iterator<Item = (Section, &Claim)> {
        self.statements().filter(|(section, claim)| section.spec().kind.is_none() || claim.is_supported())
    }

    /// All texts in it; no ids.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let statements = self.statements().flat_map(|(_, claim)| claim.texts());
        [self.title.as_str(), self.request.as_str()].into_iter().chain(statements)
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
        for list in &mut self.statements.0 {
            for claim in list.iter_mut() {
                claim.text = pass(&claim.text);
                claim.claimed = claim.claimed.as_deref().map(&pass).filter(|said| !said.is_empty());
            }
            list.retain(|claim| !claim.text.is_empty());
        }
    }

    /// Keeps the statements for which it holds.
    pub(crate) fn retain(&mut self, keep: impl Fn(Section, &Claim) -> bool) {
        for section in Section::all() {
            self[section].retain(|claim| keep(section, claim));
        }
    }

    /// Replaces the ids of the items it closes, where `new_id` knows a new one.
    pub(crate) fn rename_closed(&mut self, new_id: impl Fn(&str) -> Option<String>) {
        for id in self.closes.iter_mut().chain(self.closes_left_out.iter_mut().map(|claimed| &mut claimed.id)) {
            if let Some(new) = new_id(id) {
                *id = new;
            }
        }
    }

    /// The open items that are told, with their kinds and ids, which depend only on the session and the text.
    pub fn open_items<'a>(&'a self, session: &'a str) -> impl Iterator<Item = (String, &'static str, &'a Claim)> {
        let open = self.told().filter_map(|(section, claim)| Some((section.spec().open_kind()?, claim)));
        open.map(move |(kind, claim)| (item_id(session, kind, &claim.text), kind, claim))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("title", &self.title)?;
        map.serialize_entry("request", &self.request)?;
        for section in Section::all() {
            let spec = section.spec();
            if spec.left_out_empty && self[section].is_empty() {
                continue;
            }
            match spec.carriers {
                Carriers::Unchecked => {
                    map.serialize_entry(spec.key, &self[section].iter().map(|claim| &claim.text).collect::<Vec<_>>())?;
                }
                _ => map.serialize_entry(spec.key, &self[section])?,
            }
        }
        map.serialize_entry("closes", &self.closes)?;
        if !self.closes_left_out.is_empty() {
            map.serialize_entry("closes_left_out", &self.closes_left_out)?;
        }
        for (key, claimed) in [("replaces", &self.replaces), ("replaces_left_out", &self.replaces_left_out)] {
            if !claimed.is_empty() {
                map.serialize_entry(key, claimed)?;
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(DigestVisitor)
    }
}

struct DigestVisitor;

impl<'de> Visitor<'de> for DigestVisitor {
    type Value = Digest;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a digest")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Digest, A::Error> {
        let mut digest = Digest::default();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match (&*key, Section::with_key(&key)) {
                ("title", _) => digest.title = map.next_value()?,
                ("request", _) => digest.request = map.next_value()?,
                ("closes", _) => digest.closes = map.next_value()?,
                ("closes_left_out", _) => digest.closes_left_out = map.next_value()?,
                ("replaces", _) => digest.replaces = map.next_value()?,
                ("replaces_left_out", _) => digest.replaces_left_out = map.next_value()?,
                (_, Some(section)) => digest[section] = map.next_value()?,
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(digest)
    }
}

/// A statement as this program and older ones store it: older ones knew bare texts, and paths of files.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredClaim {
    Bare(String),
    Cited {
        text: String,
        #[serde(default)]
        rows: Vec<RecordKey>,
        #[serde(default)]
        claimed: Option<String>,
    },
    File {
        path: String,
    },
}

impl<'de> Deserialize<'de> for Claim {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(match StoredClaim::deserialize(from)? {
            StoredClaim::Bare(text) | StoredClaim::File { path: text } => Self::new(text),
            StoredClaim::Cited { text, rows, claimed } => Self { text, rows, claimed },
        })
    }
}

/// The id of an open item after its text changed from `before` to `after`; `None` if `id` is not derived from `before`.
pub(crate) fn renamed_item_id(id: &str, session: &str, before: &str, after: &str) -> Option<String> {
    let mut kinds = Section::all().filter_map(|section| section.spec().open_kind());
    let kind = kinds.find(|kind| item_id(session, kind, before) == id)?;
    Some(item_id(session, kind, after))
}

/// The id of a statement of a model: that of an open item, else one of its own. Of statements with the same words in one section both have it.
pub(crate) fn statement_id(session: &str, section: Section, text: &str) -> String {
    match section.spec().open_kind() {
        Some(kind) => item_id(session, kind, text),
        None => short_id("c", &[session, section.spec().key, &text.to_lowercase()]),
    }
}

/// The id of a model's title.
pub(crate) fn title_id(session: &str, title: &str) -> String {
    short_id("t", &[session, "title", &title.to_lowercase()])
}

/// Does it look like the id of an open item or of a note?
pub(crate) fn is_item_id(word: &str) -> bool {
    word.len() == 9
        && word.starts_with(['n', 'b', 'm'])
        && word[1..].bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// An id begins with the first letter of its item's kind.
pub(crate) fn item_id(session: &str, kind: &str, text: &str) -> String {
    short_id(&kind[..1], &[session, kind, &text.to_lowercase()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_of_an_older_program_is_read_and_written_as_it_was() {
        let stored = Digest { title: "The settings".into(), closes: vec!["n1".into()], ..Digest::default() };
        let json = serde_json::to_string(&stored).expect("JSON");
        assert!(!json.contains("replaces"), "{json}");
        assert_eq!(serde_json::from_str::<Digest>(&json).expect("a digest"), stored);
        let replaces = vec![ClaimedReplacement {
            id: "s1".into(),
            by: Some("s2".into()),
            says: String::new(),
            rows: vec![RecordKey([1; 16])],
        }];
        let newer = Digest { replaces, ..stored };
        let json = serde_json::to_string(&newer).expect("JSON");
        assert_eq!(serde_json::from_str::<Digest>(&json).expect("a digest"), newer);
    }
}
