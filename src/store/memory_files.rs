//! Memory files that Claude Code keeps of its own for a project: found by search as sessions and notes are. They are read again whenever
//! they change, so no export holds them and no repair brings them back.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::{Reader, Writer, erasure, search};
use crate::model::memory_file::MemoryFile;
use crate::model::team_file::{TeamFile, is_team_file};
use crate::store::document::Document;
use text::phrase::PhraseMatcher;
use transcripts::session::{Millis, Project, RecordKey, unused_id};

/// What every id begins with, and the shortest prefix of one that is accepted, in characters.
const ID_PREFIX: &str = "k";
const MIN_PREFIX: usize = 4;

const SELECT: &str = "SELECT m.pk, m.id, p.key, m.path, m.at, m.text FROM memory_file m JOIN project p ON p.pk = m.project";

/// A memory file to be stored; its text has passed the sanitizer.
pub(crate) struct NewMemoryFile<'a> {
    pub(crate) path: &'a str,
    pub(crate) folder: &'a str,
    /// The project's number.
    pub(crate) project: i64,
    pub(crate) size: u64,
    pub(crate) stamp: i64,
    pub(crate) at: Millis,
    pub(crate) text: &'a str,
}

fn memory_file(r: &Row<'_>) -> rusqlite::Result<MemoryFile> {
    let project = Project { key: r.get(2)? };
    Ok(MemoryFile { pk: r.get(0)?, id: r.get(1)?, project, path: r.get(3)?, at: r.get(4)?, text: r.get(5)? })
}

fn all(db: &Connection, condition: &str, values: impl rusqlite::Params) -> Result<Vec<MemoryFile>> {
    let mut query = db.prepare_cached(&format!("{SELECT} WHERE {condition} ORDER BY m.path"))?;
    Ok(query.query_map(values, memory_file)?.collect::<rusqlite::Result<_>>()?)
}

impl Reader {
    /// All memory files of which something is kept, by path.
    pub(crate) fn memory_files(&self) -> Result<Vec<MemoryFile>> {
        all(&self.db, "m.text <> ''", [])
    }

    /// Those of a project that its team keeps, in the repository or on a server.
    pub(crate) fn team_files_of(&self, key: &str) -> Result<Vec<MemoryFile>> {
        let files = all(&self.db, "m.text <> '' AND p.key = ?1", [key])?;
        Ok(files.into_iter().filter(|file| is_team_file(&file.path)).collect())
    }

    /// The numbers of all files that teams keep.
    pub(crate) fn team_files(&self) -> Result<BTreeSet<i64>> {
        let mut query = self.db.prepare_cached("SELECT pk, path FROM memory_file WHERE text <> ''")?;
        let files = query.query_map([], |r| Ok((r.get::<_, i64>(0)?, r.get::<_, String>(1)?)))?;
        let files: Vec<(i64, String)> = files.collect::<rusqlite::Result<_>>()?;
        Ok(files.into_iter().filter(|(_, path)| is_team_file(path)).map(|(pk, _)| pk).collect())
    }

    pub(crate) fn memory_file(&self, pk: i64) -> Result<MemoryFile> {
        let mut query = self.db.prepare_cached(&format!("{SELECT} WHERE m.pk = ?1"))?;
        query.query_row([pk], memory_file).context("the memory file is gone from the index")
    }

    /// The memory file whose id starts with `prefix`, if there is one.
    ///
    /// # Errors
    /// When more than one matches.
    pub(crate) fn look_up_memory_file(&self, prefix: &str) -> Result<Option<MemoryFile>> {
        if !prefix.starts_with(ID_PREFIX) || prefix.chars().count() < MIN_PREFIX {
            return Ok(None);
        }
        let mut found = all(&self.db, "substr(m.id, 1, ?2) = ?1", params![prefix, prefix.chars().count() as i64])?;
        if found.len() > 1 {
            let ids: Vec<&str> = found.iter().map(|file| file.id.as_str()).collect();
            bail!("`{prefix}` fits more than one memory file: {}", ids.join(", "));
        }
        Ok(found.pop())
    }

    /// Size and stamp of the files that were read, by path.
    pub(crate) fn memory_files_seen(&self) -> Result<BTreeMap<String, (u64, i64)>> {
        let mut query = self.db.prepare_cached("SELECT path, size, stamp FROM memory_file")?;
        let seen = query.query_map([], |r| Ok((r.get(0)?, (r.get::<_, i64>(1)? as u64, r.get(2)?))))?;
        Ok(seen.collect::<rusqlite::Result<_>>()?)
    }

    /// The number of the project whose memory lies in a folder of transcripts: that of the session there that was active last. `None` if no
    /// session of the folder is known.
    pub(crate) fn project_of_folder(&self, folder: &str) -> Result<Option<i64>> {
        let sql = "SELECT s.project FROM source f JOIN session s ON s.pk = f.session
             WHERE f.file > ?1 || '/' AND f.file < ?1 || '0' ORDER BY s.last_at DESC, s.id LIMIT 1";
        Ok(self.db.prepare_cached(sql)?.query_row([folder], |r| r.get(0)).optional()?)
    }

    /// Does the transcript of an excluded session lie in a folder? Claude may have written in its memory there what that session saw.
    pub(crate) fn holds_excluded(&self, folder: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM file f JOIN excluded_session e ON f.path = ?1 || '/' || e.id || '.jsonl')";
        Ok(self.db.prepare_cached(sql)?.query_row([folder], |r| r.get(0))?)
    }

    /// Was a memory file forgotten? It is not read again.
    pub(crate) fn is_forgotten_file(&self, path: &str) -> Result<bool> {
        self.is_forgotten_row(RecordKey::of_memory_file(path))
    }

    /// The files of projects that are out, and of folders in which a transcript of an excluded session lies.
    pub(crate) fn memory_files_out(&self, is_out: impl Fn(&str) -> bool) -> Result<BTreeSet<i64>> {
        let mut out = BTreeSet::new();
        let mut query = self.db.prepare("SELECT m.pk, p.key, m.folder FROM memory_file m JOIN project p ON p.pk = m.project")?;
        let mut rows = query.query([])?;
        let mut folders: BTreeMap<String, bool> = BTreeMap::new();
        while let Some(r) = rows.next()? {
            let folder: String = r.get(2)?;
            let is_near = match folders.get(&folder) {
                Some(known) => *known,
                None => self.holds_excluded(&folder)?,
            };
            folders.insert(folder, is_near);
            if is_near || is_out(r.get_ref(1)?.as_str()?) {
                out.insert(r.get(0)?);
            }
        }
        Ok(out)
    }

    /// The files whose paths are out.
    pub(crate) fn memory_files_at(&self, is_out: impl Fn(&str) -> bool) -> Result<BTreeSet<i64>> {
        let mut query = self.db.prepare("SELECT pk, path FROM memory_file")?;
        let files = query.query_map([], |r| Ok((r.get::<_, i64>(0)?, r.get::<_, String>(1)?)))?;
        let files: Vec<(i64, String)> = files.collect::<rusqlite::Result<_>>()?;
        Ok(files.into_iter().filter(|(_, path)| is_out(path)).map(|(pk, _)| pk).collect())
    }

    /// The files that contain a text, or whose path or project does.
    pub(crate) fn memory_files_with(&self, phrase: &PhraseMatcher) -> Result<BTreeSet<i64>> {
        let mut files = all(&self.db, "TRUE", [])?;
        files.retain(|file| [&file.text, &file.path, &file.project.key].into_iter().any(|text| phrase.is_in(text)));
        Ok(files.into_iter().map(|file| file.pk).collect())
    }
}

impl Writer {
    /// Stores files, in place of what was read of them before, and removes others, by path.
    pub(crate) fn save_memory_files(&mut self, new: &[NewMemoryFile<'_>], gone: &[String]) -> Result<()> {
        let tx = self.reader.db.transaction()?;
        for (path, text) in gone.iter().map(|path| (path.as_str(), "")).chain(new.iter().map(|file| (file.path, file.text))) {
            if is_team_file(path) && takes_back(&tx, path, text)? {
                erasure::mark_erase_due(&tx)?;
            }
            remove_at(&tx, path)?;
        }
        for file in new {
            insert(&tx, file)?;
        }
        Ok(tx.commit()?)
    }
}

/// Does somebody of a team take back what a file says? Its head may change each day.
fn takes_back(tx: &Transaction<'_>, path: &str, text: &str) -> Result<bool> {
    let mut known = tx.prepare_cached("SELECT text FROM memory_file WHERE path = ?1")?;
    let known: Option<String> = known.query_row([path], |r| r.get(0)).optional()?;
    Ok(known.is_some_and(|known| !known.is_empty() && TeamFile::read(&known).text != TeamFile::read(text).text))
}

fn insert(tx: &Transaction<'_>, file: &NewMemoryFile<'_>) -> Result<()> {
    let mut others = tx.prepare_cached("SELECT EXISTS (SELECT 1 FROM memory_file WHERE id = ?1)")?;
    let id = unused_id(ID_PREFIX, &[file.path, ""], |id| others.query_row([id], |r| r.get(0)))?;
    let sql = "INSERT INTO memory_file(id, path, folder, project, size, stamp, at, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         RETURNING pk";
    let values = params![id, file.path, file.folder, file.project, file.size as i64, file.stamp, file.at, file.text];
    let pk: i64 = tx.prepare_cached(sql)?.query_row(values, |r| r.get(0))?;
    if file.text.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO doc(memory_file, project, began_at, last_at) VALUES (?1, ?2, ?3, ?3) RETURNING pk";
    let doc: i64 = tx.prepare_cached(sql)?.query_row(params![pk, file.project, file.at], |r| r.get(0))?;
    let stored = tx.prepare_cached(&format!("{SELECT} WHERE m.pk = ?1"))?.query_row([pk], memory_file)?;
    search::insert_words(tx, doc, &Document::of_memory_file(&stored))
}

fn remove_at(tx: &Transaction<'_>, path: &str) -> Result<()> {
    // Its document first, not by cascade: the trigger on `doc` removes its words from the search index.
    tx.prepare_cached("DELETE FROM doc WHERE memory_file = (SELECT pk FROM memory_file WHERE path = ?1)")?.execute([path])?;
    tx.prepare_cached("DELETE FROM memory_file WHERE path = ?1")?.execute([path])?;
    Ok(())
}

/// Takes a file out; `for_good`: it is not read again.
pub(super) fn remove(tx: &Transaction<'_>, file: &MemoryFile, for_good: bool) -> Result<()> {
    erasure::mark_erase_due(tx)?;
    if for_good {
        let sql = "INSERT INTO forgotten_row(key) VALUES (?1) ON CONFLICT DO NOTHING";
        tx.prepare_cached(sql)?.execute([RecordKey::of_memory_file(&file.path).0])?;
    }
    remove_at(tx, &file.path)
}

/// Takes out the files whose text the sanitizer changes: they are read again through it. Returns how many.
pub(super) fn resanitize(tx: &Transaction<'_>, pass: impl Fn(&str) -> String) -> Result<u64> {
    let changed: Vec<MemoryFile> = all(tx, "TRUE", [])?.into_iter().filter(|file| pass(&file.text) != file.text).collect();
    changed.iter().try_for_each(|file| remove(tx, file, false))?;
    Ok(changed.len() as u64)
}

/// Moves the files of one project to another.
pub(super) fn move_files(tx: &Transaction<'_>, from: i64, to: i64) -> Result<()> {
    tx.execute("UPDATE memory_file SET project = ?2 WHERE project = ?1", [from, to])?;
    tx.execute("UPDATE doc SET project = ?2 WHERE project = ?1 AND memory_file IS NOT NULL", [from, to])?;
    Ok(())
}
