//! The export format, and which parts of it an index accepts.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::model::author::Author;
use crate::model::digest::{Digest, renamed_item_id};
use crate::model::note::Note;
use crate::store::origin::Origin;
use transcripts::client::Client;
use transcripts::privacy::{ConversationState, Sanitizer};
use transcripts::session::ToldElsewhere;
use transcripts::session::{Item, Millis, RecordKey, Tokens};
use transcripts::undone_prompts::PromptLink;

/// An exported session with its items: one line of JSON. `R` and `U` allow writing the items of a source and the usage one by one instead
/// of holding them in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exported<R = Vec<ExportedRow>, U = Vec<ExportedUsage>> {
    pub session: String,
    pub project: String,
    pub started_at: Option<Millis>,
    pub grew_at: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<String>,
    /// Whose session it is; not written of Claude Code's.
    #[serde(rename = "agent", default, skip_serializing_if = "Client::is_usual")]
    pub client: Client,
    pub sources: Vec<ExportedSource<R>>,
    /// Folders in which it went on, besides those of its sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    pub usage: U,
    /// Titles from records of other files, each with the record it is for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub titles: Vec<(RecordKey, String)>,
    /// Positions of prompts, file by file, from which undone turns are determined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<(String, Vec<PromptLink>)>,
    /// Stored records are newer than the digest.
    #[serde(default)]
    pub dirty: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<ExportedDigest>,
    /// The session's open items that the user closed: id, text, time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed_by_user: Vec<(String, String, Millis)>,
    /// Who closed these, by id, where recorded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub closers: BTreeMap<String, Author>,
    /// Statements of the digest that the user said are not so: id, hashes of their words, time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<(String, Vec<u8>, Millis)>,
    /// What is told of it, where its items do not go along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<ToldElsewhere>,
    /// Where it came from, if its transcript was read on another machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// An exported note: one line of JSON, after the sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedNote {
    pub(crate) note: String,
    pub(crate) project: String,
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) at: Millis,
    /// Unknown in exports from before authors were recorded.
    #[serde(default)]
    pub(crate) author: Author,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) closed_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) closed_by: Option<Author>,
}

impl ExportedNote {
    pub(crate) fn of(note: Note) -> Self {
        let (closed_at, closed_by) = note.closed.unzip();
        let (id, project) = (note.id, note.project.key);
        Self { note: id, project, kind: note.kind, text: note.text, at: note.at, author: note.author, closed_at, closed_by }
    }

    /// When it was closed and by whom.
    pub(crate) fn closed(&self) -> Option<(Millis, Author)> {
        let by = self.closed_by.as_ref().map(Author::resanitized).unwrap_or_default();
        self.closed_at.map(|at| (at, by))
    }
}

/// An open item of an earlier session that this one closed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExportedClosing {
    pub(crate) id: String,
    /// The session that had left it open.
    pub(crate) of: String,
    pub(crate) text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExportedSource<R = Vec<ExportedRow>> {
    pub file: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    pub first_at: Option<Millis>,
    pub last_at: Option<Millis>,
    pub cwd: Option<String>,
    pub branches: Vec<String>,
    pub versions: Vec<String>,
    /// Every record was read with its evidence: what is not found did not happen.
    #[serde(default, skip_serializing_if = "is_false")]
    pub evident: bool,
    /// It was read with all of its folders.
    #[serde(default, skip_serializing_if = "is_false")]
    pub placed: bool,
    pub rows: R,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExportedRow {
    pub offset: i64,
    pub part: i64,
    pub key: RecordKey,
    pub at: Option<Millis>,
    pub item: Item,
    /// Part of an undone turn. For readers of the export only: an import goes by `asked`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub undone: bool,
}

fn is_false(is: &bool) -> bool {
    !is
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExportedUsage {
    pub(crate) message: String,
    pub(crate) model: String,
    pub(crate) tokens: Tokens,
    /// When it was written first, in minutes since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) minute: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExportedDigest {
    pub(crate) summarizer: String,
    pub(crate) model: Option<String>,
    pub(crate) input_hash: String,
    pub(crate) made_at: Millis,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) queued: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) interim_until: Option<Millis>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) closed: Vec<ExportedClosing>,
    pub(crate) body: Digest,
}

impl Exported {
    /// Passes the session through the sanitizer: another index, or an earlier program, may have let more in.
    pub fn pass(&mut self, sanitizer: &Sanitizer) {
        for source in &mut self.sources {
            let mut conversation = ConversationState::default();
            for names in [&mut source.branches, &mut source.versions] {
                names.iter_mut().for_each(|name| *name = sanitizer.clean(&*name));
                names.retain(|name| !name.is_empty());
            }
            source.rows.retain_mut(|stored| match sanitizer.sanitize_item(stored.key, stored.item.clone(), &mut conversation) {
                Some(item) => {
                    stored.item = item;
                    true
                }
                None => false,
            });
        }
        self.titles.iter_mut().for_each(|(_, text)| *text = sanitizer.clean(&*text));
        self.titles.retain(|(_, text)| !text.is_empty());
        for (id, text, _) in &mut self.closed_by_user {
            let closer = self.closers.remove(id);
            sanitize_closing(id, &self.session, text, sanitizer);
            self.closers.extend(closer.map(|by| (id.clone(), by.with_clean_name(|name| sanitizer.clean(name)))));
        }
        if let Some(told) = &mut self.told {
            told.pass(|text| sanitizer.clean(text));
        }
        if let Some(origin) = &mut self.origin {
            origin.name = sanitizer.clean(&origin.name);
        }
        if let Some(digest) = &mut self.digest {
            digest.body.pass(|text| sanitizer.clean(text));
            for closing in &mut digest.closed {
                let before = closing.id.clone();
                sanitize_closing(&mut closing.id, &closing.of, &mut closing.text, sanitizer);
                digest.body.rename_closed(|id| (id == before).then(|| closing.id.clone()));
            }
        }
    }

    /// Removes records known here to be private, titles for them, and then also the digest, which may mention them.
    pub(super) fn without(mut self, is_private: impl Fn(RecordKey) -> rusqlite::Result<bool>) -> Result<Self> {
        let mut gone = false;
        let mut stays = |keys: &[RecordKey]| -> rusqlite::Result<bool> {
            for key in keys {
                if is_private(*key)? {
                    gone = true;
                    return Ok(false);
                }
            }
            Ok(true)
        };
        for source in &mut self.sources {
            source.rows = keep(std::mem::take(&mut source.rows), |row| stays(&[row.key]))?;
        }
        self.titles = keep(self.titles, |(leaf, text)| stays(&[*leaf, RecordKey::of_title(*leaf, text)]))?;
        if gone {
            self.digest = None;
        }
        Ok(self)
    }
}

/// Sanitizes the words of a closed item and updates its id to match.
fn sanitize_closing(id: &mut String, session: &str, text: &mut String, sanitizer: &Sanitizer) {
    let clean = sanitizer.clean(&*text);
    if let Some(new) = renamed_item_id(id, session, text, &clean).filter(|_| clean != *text) {
        *id = new;
    }
    *text = clean;
}

fn keep<T>(all: Vec<T>, mut stays: impl FnMut(&T) -> rusqlite::Result<bool>) -> rusqlite::Result<Vec<T>> {
    let mut kept = Vec::new();
    for one in all {
        if stays(&one)? {
            kept.push(one);
        }
    }
    Ok(kept)
}
