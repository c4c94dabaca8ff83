//! Notes: what someone asked to be remembered, independent of any session.

use anyhow::{Context, Result, bail};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::files_beside::FileIdentity;
use super::projects::ensure_project;
use super::{Reader, Writer, lives, search};
use crate::model::author::Author;
use crate::model::note::{EVERYWHERE, Note, NoteKind, StoredNote};
use crate::model::session_head::SessionHead;
use crate::store::document::Document;
use crate::store::erasure;
use crate::store::overtaken;
use text::phrase::PhraseMatcher;
use transcripts::session::{Millis, Project, unused_id};

/// Shortest id prefix that is accepted, in characters.
const MIN_PREFIX: usize = 4;
/// Who closes what a commit of a session names.
pub(super) const CLOSER: &str = "Claude";
/// Prefix of facts that mark days whose page must be rewritten because a note was added, changed or removed.
const CHANGED_DAY_FACT: &str = "noted:";

/// A note to be stored; its text has passed the sanitizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewNote {
    /// The project's key, or [`EVERYWHERE`].
    pub(crate) project: String,
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) at: Millis,
    pub(crate) author: Author,
    pub(crate) closed: Option<(Millis, Author)>,
}

const SELECT_NOTE: &str = "SELECT n.pk, n.id, p.key, n.kind, n.text, n.at, n.author, n.closed_at, n.closed_by FROM note n JOIN project p ON p.pk = n.project";

fn note(r: &Row<'_>) -> rusqlite::Result<Note> {
    let closed: Option<Millis> = r.get(7)?;
    Ok(Note {
        pk: r.get(0)?,
        id: r.get(1)?,
        project: Project { key: r.get(2)? },
        kind: r.get(3)?,
        text: r.get(4)?,
        at: r.get(5)?,
        author: read_author(r.get(6)?),
        closed: closed.map(|at| Ok::<_, rusqlite::Error>((at, read_author(r.get(8)?)))).transpose()?,
    })
}

/// An unreadable author counts as unknown: the note is worth more than the name below it.
pub(super) fn read_author(stored: Option<String>) -> Author {
    stored.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// The stored form of an author.
pub(super) fn stored_author(author: &Author) -> Option<String> {
    if *author == Author::Unknown { None } else { serde_json::to_string(author).ok() }
}

/// The notes of what is to be done in a project, oldest first, done or not.
pub(super) fn todos(db: &Connection, project: i64) -> Result<Vec<Note>> {
    all(db, "n.kind = ?1 AND n.project = ?2", params![NoteKind::Todo.name(), project])
}

impl Reader {
    pub(crate) fn note(&self, pk: i64) -> Result<Note> {
        let mut query = self.db.prepare_cached(&format!("{SELECT_NOTE} WHERE n.pk = ?1"))?;
        query.query_row([pk], note).context("the note is gone from the index")
    }

    /// All notes, oldest first.
    pub(crate) fn notes(&self) -> Result<Vec<Note>> {
        all(&self.db, "TRUE", params![])
    }

    /// The notes of a project and those for all projects, newest first.
    pub(crate) fn notes_for(&self, project: &str) -> Result<Vec<Note>> {
        let mut notes = all(&self.db, "p.key IN (?1, ?2)", params![project, EVERYWHERE])?;
        notes.reverse();
        Ok(notes)
    }

    /// The note that has this very id.
    pub(super) fn note_with_id(&self, id: &str) -> Result<Option<Note>> {
        Ok(all(&self.db, "n.id = ?1", params![id])?.pop())
    }

    /// The note that an open item with this own id is one with.
    pub(crate) fn note_of_item(&self, id: &str) -> Result<Option<Note>> {
        Ok(all(&self.db, "n.id = (SELECT life FROM open_item WHERE id = ?1)", params![id])?.pop())
    }

    /// Did a session close what the note is one with?
    pub(crate) fn is_done_in_session(&self, note: &Note) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM open_item o WHERE o.life = ?1 AND (
                 EXISTS (SELECT 1 FROM closing WHERE id = o.id) OR EXISTS (SELECT 1 FROM closed_item WHERE id = o.id)))";
        Ok(self.db.prepare_cached(sql)?.query_row([&note.id], |r| r.get(0))?)
    }

    /// Notes written at or after `from` and before `until`.
    pub(crate) fn notes_between(&self, from: Millis, until: Millis) -> Result<Vec<Note>> {
        all(&self.db, "n.at >= ?1 AND n.at < ?2", params![from, until])
    }

    /// The note whose id starts with `prefix`, if there is one.
    ///
    /// # Errors
    /// When more than one matches.
    pub(crate) fn look_up_note(&self, prefix: &str) -> Result<Option<Note>> {
        if !prefix.starts_with('m') || prefix.chars().count() < MIN_PREFIX {
            return Ok(None);
        }
        let found = all(&self.db, "substr(n.id, 1, ?2) = ?1", params![prefix, prefix.chars().count() as i64])?;
        match found.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one.clone())),
            many => {
                let ids: Vec<_> = many.iter().map(|note| note.id.as_str()).collect();
                bail!("`{prefix}` fits more than one note: {}", ids.join(", "))
            }
        }
    }

    /// Times whose day pages are out of date because of changed notes.
    pub(crate) fn outdated_days(&self) -> Result<Vec<Millis>> {
        let mut query = self.db.prepare("SELECT name FROM fact WHERE name GLOB ?1")?;
        let names: Vec<String> =
            query.query_map([format!("{CHANGED_DAY_FACT}*")], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok(names.iter().filter_map(|name| name.strip_prefix(CHANGED_DAY_FACT)?.parse().ok()).collect())
    }
}

impl Writer {
    /// Stores a note, unless `is_known` says that one of its project, or one for all projects, is the same. The user's word takes
    /// precedence: a note of the same project in which an agent said the same is overwritten with the user's words and name.
    pub(crate) fn save_note(&mut self, new: &NewNote, is_known: impl Fn(&Note) -> bool) -> Result<StoredNote> {
        // One transaction, so that the same note sent twice at once is stored once.
        let tx = self.reader.db.transaction()?;
        FileIdentity::check(self.file, &self.reader.path)?;
        let near = all(&tx, "p.key IN (?1, ?2)", params![new.project, EVERYWHERE])?;
        if let Some(note) = near.into_iter().find(is_known) {
            if new.author.is_user() && !note.author.is_user() && note.project.key == new.project {
                overwrite(&tx, &note, new)?;
                find_lives(&tx, &new.project, [&note.kind, &new.kind])?;
                tx.commit()?;
                return Ok(StoredNote { id: note.id, known: false, project: note.project.key, author: new.author.clone() });
            }
            return Ok(StoredNote { id: note.id, known: true, project: note.project.key, author: note.author });
        }
        let id = id_of(&tx, new)?;
        insert(&tx, &id, new)?;
        find_lives(&tx, &new.project, [&new.kind])?;
        tx.commit()?;
        Ok(StoredNote { id, known: false, project: new.project.clone(), author: new.author.clone() })
    }

    /// Replaces the text of a note, which keeps its id, its author and its day.
    pub(crate) fn edit_note(&mut self, note: &Note, text: &str) -> Result<()> {
        let tx = self.reader.db.transaction()?;
        FileIdentity::check(self.file, &self.reader.path)?;
        // What stood there may have been a mistake that nobody is to find.
        erasure::mark_erase_due(&tx)?;
        tx.prepare_cached("UPDATE note SET text = ?2 WHERE pk = ?1")?.execute(params![note.pk, text])?;
        outdate_day(&tx, note.at)?;
        changed_in_project(&tx, note)?;
        index(&tx, note.pk)?;
        find_lives(&tx, &note.project.key, [&note.kind])?;
        tx.commit()?;
        Ok(())
    }

    /// Marks a note as done, or as open again with `None`, with the open items that are one with it. False when it was so already.
    pub(crate) fn close_note(&mut self, note: &Note, closed: Option<(Millis, Author)>) -> Result<bool> {
        let tx = self.reader.db.transaction()?;
        FileIdentity::check(self.file, &self.reader.path)?;
        let (at, by) = closing_columns(closed.as_ref());
        let sql = "UPDATE note SET closed_at = ?2, closed_by = ?3 WHERE pk = ?1 AND (closed_at IS NULL) = (?2 IS NOT NULL)";
        let changed = tx.execute(sql, params![note.pk, at, by])? > 0;
        if changed {
            if closed.is_none() {
                let sql = "DELETE FROM user_closed WHERE id IN (SELECT id FROM open_item WHERE life = ?1)";
                tx.execute(sql, [&note.id])?;
            }
            outdate_day(&tx, note.at)?;
            lives::outdate_pages_of(&tx, &note.id)?;
        }
        tx.commit()?;
        Ok(changed)
    }

    /// Stores an exported note under its original id. False when it is known.
    pub(crate) fn import_note(&mut self, id: &str, new: &NewNote) -> Result<bool> {
        let tx = self.reader.db.transaction()?;
        let sql =
            "SELECT EXISTS (SELECT 1 FROM note n JOIN project p ON p.pk = n.project WHERE n.id = ?1 OR p.key = ?2 AND n.text = ?3)";
        if tx.query_row(sql, params![id, new.project, new.text], |r| r.get(0))? {
            return Ok(false);
        }
        insert(&tx, id, new)?;
        tx.commit()?;
        Ok(true)
    }

    /// Passes all notes through the sanitizer again and removes those of which nothing is left. Returns how many changed.
    pub(super) fn resanitize_notes(tx: &Transaction<'_>, pass: impl Fn(&str) -> String) -> Result<u64> {
        let mut changed = 0;
        for note in all(tx, "TRUE", params![])? {
            let clean = pass(&note.text);
            if clean == note.text {
                continue;
            }
            changed += 1;
            if clean.is_empty() {
                remove(tx, &note)?;
                continue;
            }
            tx.execute("UPDATE note SET text = ?2 WHERE pk = ?1", params![note.pk, clean])?;
            changed_in_project(tx, &note)?;
            index(tx, note.pk)?;
            outdate_day(tx, note.at)?;
        }
        Ok(changed)
    }

    /// Those pages are written.
    pub(crate) fn days_written(&self, moments: &[Millis]) -> Result<()> {
        for at in moments {
            self.db.prepare_cached("DELETE FROM fact WHERE name = ?1")?.execute([format!("{CHANGED_DAY_FACT}{at}")])?;
        }
        Ok(())
    }
}

fn all(db: &Connection, condition: &str, values: impl rusqlite::Params) -> Result<Vec<Note>> {
    let mut query = db.prepare_cached(&format!("{SELECT_NOTE} WHERE {condition} ORDER BY n.at, n.pk"))?;
    Ok(query.query_map(values, note)?.collect::<rusqlite::Result<_>>()?)
}

/// An id derived from the text and the project, unique among notes.
fn id_of(tx: &Transaction<'_>, new: &NewNote) -> Result<String> {
    let mut others = tx.prepare_cached("SELECT EXISTS (SELECT 1 FROM note WHERE id = ?1)")?;
    Ok(unused_id("m", &[&new.project, &new.text.to_lowercase(), ""], |id| others.query_row([id], |r| r.get(0)))?)
}

pub(super) fn insert(tx: &Transaction<'_>, id: &str, new: &NewNote) -> Result<()> {
    let sql = "INSERT INTO note(id, project, kind, text, at, author, closed_at, closed_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        RETURNING pk";
    let (closed_at, closed_by) = closing_columns(new.closed.as_ref());
    let project = ensure_project(tx, &new.project)?;
    let values = params![id, project, new.kind, new.text, new.at, stored_author(&new.author), closed_at, closed_by];
    let pk = tx.prepare_cached(sql)?.query_row(values, |r| r.get(0))?;
    index(tx, pk)?;
    overtaken::note_changed(tx, project)?;
    outdate_day(tx, new.at)
}

fn closing_columns(closed: Option<&(Millis, Author)>) -> (Option<Millis>, Option<String>) {
    (closed.map(|(at, _)| *at), closed.and_then(|(_, author)| stored_author(author)))
}

/// Closes the open `todo` note with this id where a session of its project, or of any for a note for all projects, did what it wants after it
/// was written. `by` says in which session.
pub(super) fn close_named(db: &Connection, id: &str, session: &SessionHead) -> Result<()> {
    let sql = "SELECT n.pk, n.at FROM note n JOIN project p ON p.pk = n.project
         WHERE n.id = ?1 AND n.kind = ?2 AND n.closed_at IS NULL AND p.key IN (?3, ?4) AND n.at <= ?5";
    let done_at = session.last_at.unwrap_or(session.started_at);
    let wanted = params![id, NoteKind::Todo.name(), session.project.key, EVERYWHERE, done_at];
    let Some((pk, at)) = db.prepare_cached(sql)?.query_row(wanted, |r| Ok((r.get::<_, i64>(0)?, r.get(1)?))).optional()? else {
        return Ok(());
    };
    let (closed_at, by) = closing_columns(Some(&(done_at, Author::agent(CLOSER, Some(&session.id)))));
    db.prepare_cached("UPDATE note SET closed_at = ?2, closed_by = ?3 WHERE pk = ?1")?.execute(params![pk, closed_at, by])?;
    lives::outdate_pages_of(db, id)?;
    outdate_day(db, at)
}

/// Closes an open note at a time.
pub(super) fn close(tx: &Transaction<'_>, note: &Note, at: Millis, by: &Author) -> Result<()> {
    let sql = "UPDATE note SET closed_at = ?2, closed_by = ?3 WHERE pk = ?1 AND closed_at IS NULL";
    tx.prepare_cached(sql)?.execute(params![note.pk, at, stored_author(by)])?;
    outdate_day(tx, note.at)
}

/// Overwrites a note with what the user says now.
fn overwrite(tx: &Transaction<'_>, note: &Note, new: &NewNote) -> Result<()> {
    outdate_day(tx, note.at)?;
    outdate_day(tx, new.at)?;
    let sql = "UPDATE note SET kind = ?2, text = ?3, at = ?4, author = ?5, closed_at = NULL, closed_by = NULL WHERE pk = ?1";
    tx.prepare_cached(sql)?.execute(params![note.pk, new.kind, new.text, new.at, stored_author(&new.author)])?;
    changed_in_project(tx, note)?;
    index(tx, note.pk)
}

/// Removes a note and its search document.
pub(super) fn remove(tx: &Transaction<'_>, note: &Note) -> Result<()> {
    erasure::mark_erase_due(tx)?;
    outdate_day(tx, note.at)?;
    changed_in_project(tx, note)?;
    // Its document first, not by cascade: the trigger on `doc` removes its words from the search index.
    tx.prepare_cached("DELETE FROM doc WHERE note = ?1")?.execute([note.pk])?;
    tx.prepare_cached("DELETE FROM note WHERE pk = ?1")?.execute([note.pk])?;
    find_lives(tx, &note.project.key, [&note.kind])
}

/// Finds the lives of open items anew where a note of one of these kinds is one of them.
pub(super) fn find_lives<'k>(tx: &Transaction<'_>, project: &str, kinds: impl IntoIterator<Item = &'k String>) -> Result<()> {
    let is_item = kinds.into_iter().any(|kind| NoteKind::named(kind) == Some(NoteKind::Todo));
    if is_item { lives::find_lives_of_notes(tx, project) } else { Ok(()) }
}

/// What it overtakes, and what overtakes it, is found anew.
fn changed_in_project(tx: &Transaction<'_>, note: &Note) -> Result<()> {
    overtaken::outdate_pages(tx, overtaken::Later::Note(note.pk))?;
    let project = tx.prepare_cached("SELECT project FROM note WHERE pk = ?1")?.query_row([note.pk], |r| r.get(0))?;
    overtaken::note_changed(tx, project)
}

/// Moves the notes of one project to another. The pages of their days name the project, so they become out of date.
pub(super) fn move_notes(tx: &Transaction<'_>, from: i64, to: i64) -> Result<()> {
    let moments = tx.prepare("SELECT at FROM note WHERE project = ?1")?.query_map([from], |r| r.get(0))?.collect::<Vec<_>>();
    moments.into_iter().try_for_each(|at| outdate_day(tx, at?))?;
    tx.execute("UPDATE note SET project = ?2 WHERE project = ?1", [from, to])?;
    [from, to].into_iter().try_for_each(|project| overtaken::note_changed(tx, project))?;
    tx.execute("UPDATE doc SET project = ?2 WHERE project = ?1 AND note IS NOT NULL", [from, to])?;
    Ok(())
}

/// Removes agents' names that contain the text from notes and closings; their author becomes unknown.
pub(super) fn remove_author_names(tx: &Transaction<'_>, phrase: &PhraseMatcher) -> Result<()> {
    let closed_by = |note: &Note| note.closed.as_ref().is_some_and(|(_, by)| by.name_contains(phrase));
    for note in all(tx, "TRUE", params![])?.iter().filter(|note| note.author.name_contains(phrase) || closed_by(note)) {
        let by = |author: &Author| if author.name_contains(phrase) { None } else { stored_author(author) };
        let closer = note.closed.as_ref().and_then(|(_, closer)| by(closer));
        tx.execute("UPDATE note SET author = ?2, closed_by = ?3 WHERE pk = ?1", params![note.pk, by(&note.author), closer])?;
        outdate_day(tx, note.at)?;
    }
    let mut query = tx.prepare("SELECT id, of, author FROM user_closed WHERE author IS NOT NULL")?;
    let closings = query.query_map([], |r| Ok((r.get::<_, String>(0)?, r.get::<_, i64>(1)?, read_author(r.get(2)?))))?;
    for (id, of, _) in closings.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().filter(|(.., by)| by.name_contains(phrase)) {
        tx.execute("UPDATE user_closed SET author = NULL WHERE id = ?1", [id])?;
        tx.execute("UPDATE session SET page_dirty = 1 WHERE pk = ?1", [of])?;
    }
    Ok(())
}

/// Marks the page of a day as out of date.
fn outdate_day(db: &Connection, at: Millis) -> Result<()> {
    db.prepare_cached("INSERT INTO fact VALUES (?1, '') ON CONFLICT DO NOTHING")?.execute([format!("{CHANGED_DAY_FACT}{at}")])?;
    Ok(())
}

/// Adds a note to the search index, replacing its previous document.
pub(super) fn index(tx: &Transaction<'_>, pk: i64) -> Result<()> {
    let (project, text, at): (i64, String, Millis) = tx
        .prepare_cached("SELECT project, text, at FROM note WHERE pk = ?1")?
        .query_row([pk], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
    tx.prepare_cached("DELETE FROM doc WHERE note = ?1")?.execute([pk])?;
    let sql = "INSERT INTO doc(note, project, began_at, last_at) VALUES (?1, ?2, ?3, ?3) RETURNING pk";
    let doc: i64 = tx.prepare_cached(sql)?.query_row(params![pk, project, at], |r| r.get(0))?;
    search::insert_words(tx, doc, &Document::of_note(&text))
}
