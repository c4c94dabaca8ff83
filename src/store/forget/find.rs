//! Finds where a text occurs in the index.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::{RemovalPlan, folder_of};
use crate::model::digest::Digest;
use crate::model::note::EVERYWHERE;
use crate::model::note::Note;
use crate::store::Reader;
use crate::store::chunk;
use crate::store::chunk::RecordIndex;
use crate::store::codec::unpack;
use crate::store::notes::read_author;
use crate::store::owned;
use text::phrase::PhraseMatcher;
use transcripts::session::RecordKey;

impl Reader {
    /// Finds the records and digests that contain a text. Sessions whose project, folder or branch contains it, or that are `named`
    /// elsewhere, are removed as a whole, because every record of theirs names it.
    pub(crate) fn find_text(&self, phrase: &PhraseMatcher, named: impl Fn(&str) -> bool) -> Result<RemovalPlan> {
        let mut doomed = RemovalPlan::default();
        self.find_named(phrase, named, &mut doomed)?;
        self.find_rows(phrase, &mut doomed)?;
        self.find_digests(phrase, &mut doomed)?;
        self.find_titles(phrase, &mut doomed)?;
        let held = |note: &Note| phrase.is_in(&note.text) || phrase.is_in(&note.project.key);
        doomed.notes = self.notes()?.iter().filter(|note| held(note)).map(|note| note.pk).collect();
        doomed.memory_files = self.memory_files_with(phrase)?;
        self.find_told_elsewhere(phrase, &mut doomed)?;
        Ok(doomed)
    }

    /// Finds sessions of which any part took place in a directory that is out, or whose project is, where no directory is known; and notes.
    pub(crate) fn find_in_folders(&self, is_out: impl Fn(&str) -> bool) -> Result<RemovalPlan> {
        let sql = "SELECT s.pk, coalesce(f.cwd, p.key) FROM session s JOIN project p ON p.pk = s.project JOIN source f ON f.session = s.pk
             UNION SELECT s.pk, m.folder FROM session_folder m JOIN session s ON s.id = m.session
                 WHERE EXISTS (SELECT 1 FROM source WHERE session = s.pk)";
        let mut query = self.db.prepare(sql)?;
        let mut rows = query.query([])?;
        let mut doomed = RemovalPlan::default();
        while let Some(r) = rows.next()? {
            if is_out(r.get_ref(1)?.as_str()?) {
                doomed.whole.insert(r.get(0)?);
            }
        }
        let notes = self.notes()?.into_iter().filter(|note| note.project.key != EVERYWHERE && is_out(&note.project.key));
        doomed.notes = notes.map(|note| note.pk).collect();
        Ok(doomed)
    }

    fn find_named(&self, phrase: &PhraseMatcher, named: impl Fn(&str) -> bool, doomed: &mut RemovalPlan) -> Result<()> {
        let sql = "SELECT s.pk, s.id, p.key, f.cwd, f.branches, f.file FROM session s JOIN project p ON p.pk = s.project
             LEFT JOIN source f ON f.session = s.pk";
        let mut query = self.db.prepare(sql)?;
        let mut rows = query.query([])?;
        while let Some(r) = rows.next()? {
            let branches: Vec<String> = serde_json::from_str(&r.get::<_, Option<String>>(4)?.unwrap_or_else(|| "[]".into()))?;
            let id: String = r.get(1)?;
            let folder = folder_of(&r.get::<_, Option<String>>(5)?.unwrap_or_default(), &id);
            let cwd: Option<String> = r.get(3)?;
            let names = [Some(r.get::<_, String>(2)?), cwd, Some(folder)].into_iter().flatten().chain(branches);
            if named(&id) || names.into_iter().any(|name| phrase.is_in(&name)) {
                doomed.whole.insert(r.get(0)?);
            }
        }
        let mut query = self.db.prepare("SELECT s.pk, m.folder FROM session_folder m JOIN session s ON s.id = m.session")?;
        let mut rows = query.query([])?;
        while let Some(r) = rows.next()? {
            if phrase.is_in(r.get_ref(1)?.as_str()?) {
                doomed.whole.insert(r.get(0)?);
            }
        }
        Ok(())
    }

    fn find_rows(&self, phrase: &PhraseMatcher, doomed: &mut RemovalPlan) -> Result<()> {
        chunk::for_each_stored_item(&self.db, |session, key, item| {
            if !doomed.whole.contains(&session) && item.texts().iter().any(|text| phrase.is_in(text)) {
                doomed.rows.entry(session).or_default().insert(key);
            }
            Ok(())
        })?;
        for (session, keys) in &doomed.rows {
            if self.owns_any(*session, keys)? {
                doomed.digests.insert(*session);
            }
        }
        Ok(())
    }

    /// Does the session own any of the records? Its digest knows nothing of the others.
    fn owns_any(&self, session: i64, keys: &BTreeSet<RecordKey>) -> Result<bool> {
        let head = self.session_head(session)?;
        Ok(owned::owned_items_with_undone(&self.db, &head)?.iter().any(|kept| keys.contains(&kept.line.key)))
    }

    /// Digests that contain the text, superseded ones included.
    fn find_digests(&self, phrase: &PhraseMatcher, doomed: &mut RemovalPlan) -> Result<()> {
        let mut query = self.db.prepare("SELECT session, pk, superseded, body FROM digest")?;
        let mut rows = query.query([])?;
        while let Some(r) = rows.next()? {
            let session = r.get(0)?;
            let digest: Digest = unpack(r.get_ref(3)?.as_blob()?).context("a stored digest cannot be read")?;
            if doomed.whole.contains(&session) || !digest.texts().any(|text| phrase.is_in(text)) {
                continue;
            }
            match r.get(2)? {
                // The digest that replaced it is worded differently, and it was paid for.
                true => _ = doomed.replaced.insert(r.get(1)?, session),
                false => _ = doomed.digests.insert(session),
            }
        }
        Ok(())
    }

    /// Sessions of other machines that contain the text. They go as a whole: there are no records here of which the rest could be told, and
    /// the machine that has them cannot be told the text.
    fn find_told_elsewhere(&self, phrase: &PhraseMatcher, doomed: &mut RemovalPlan) -> Result<()> {
        for (_, session) in self.sessions_from_afar()? {
            let told = self.told_elsewhere(session)?;
            if doomed.digests.remove(&session) || told.is_some_and(|told| told.texts().iter().any(|text| phrase.is_in(text))) {
                doomed.whole.insert(session);
            }
        }
        doomed.replaced.retain(|_, session| !doomed.whole.contains(session));
        Ok(())
    }

    /// Sessions with a title from another file's record that contains the text.
    fn find_titles(&self, phrase: &PhraseMatcher, doomed: &mut RemovalPlan) -> Result<()> {
        let mut query = self.db.prepare("SELECT leaf, text FROM leaf_title")?;
        let all: Vec<(RecordKey, String)> =
            query.query_map([], |r| Ok((RecordKey(r.get(0)?), r.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
        let mut whereabouts = RecordIndex::load(&self.db)?;
        for (leaf, _) in all.into_iter().filter(|(_, text)| phrase.is_in(text)) {
            let sessions = whereabouts.sessions_with(&self.db, leaf)?;
            doomed.digests.extend(sessions.difference(&doomed.whole));
        }
        Ok(())
    }
}

/// All tables that contain a text, whatever they are for.
pub(super) fn tables_with(db: &Connection, phrase: &PhraseMatcher) -> Result<Vec<String>> {
    // FTS5's own tables hold single words; they are removed with the documents.
    let mut names = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'search*' ORDER BY name")?;
    let names: Vec<String> = names.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut found = Vec::new();
    for name in names {
        let mut query = db.prepare(&format!("SELECT * FROM \"{name}\""))?;
        let authors: Vec<bool> = query.column_names().map(|name| AUTHOR_COLUMNS.contains(&name)).collect();
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let is_in = |at: usize, value| if authors[at] { is_author(value, phrase) } else { is_in(value, phrase) };
            let holds = |at: usize| row.get_ref(at).is_ok_and(|value| is_in(at, value));
            if (0..authors.len()).any(holds) {
                found.push(name);
                break;
            }
        }
    }
    Ok(found)
}

/// Columns with the author of something: only an agent's name in them is text.
const AUTHOR_COLUMNS: [&str; 2] = ["author", "closed_by"];

fn is_author(value: ValueRef<'_>, phrase: &PhraseMatcher) -> bool {
    value.as_str().is_ok_and(|text| read_author(Some(text.to_owned())).name_contains(phrase))
}

fn is_in(value: ValueRef<'_>, phrase: &PhraseMatcher) -> bool {
    match value {
        ValueRef::Text(text) => phrase.is_in(&String::from_utf8_lossy(text)),
        // Blobs that are keys or hashes do not unpack.
        ValueRef::Blob(blob) => unpack::<serde_json::Value>(blob).is_ok_and(|body| is_in_json(&body, phrase)),
        _ => false,
    }
}

fn is_in_json(value: &serde_json::Value, phrase: &PhraseMatcher) -> bool {
    match value {
        serde_json::Value::String(text) => phrase.is_in(text),
        serde_json::Value::Array(all) => all.iter().any(|one| is_in_json(one, phrase)),
        serde_json::Value::Object(all) => all.values().any(|one| is_in_json(one, phrase)),
        _ => false,
    }
}
