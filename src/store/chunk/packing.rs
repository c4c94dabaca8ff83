//! Packs items into chunks and writes them. Appends to a source's last chunk while it has room.

use std::borrow::Cow;

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, params};

use super::edit::ChunkContents;
use super::usage::{self, StoredUsage};
use super::{ItemHeader, ItemKind, MAX_CHUNK_BYTES};
use crate::store::chunk::{forks, item_header};
use crate::store::codec::pack_json;
use transcripts::session::Item;

/// The last chunk of a source, if it has room.
pub(super) fn last_with_room(db: &Connection, session: i64, source: Option<i64>) -> Result<Option<(i64, ChunkContents)>> {
    let sql = "SELECT pk FROM bundle WHERE session = ?1 AND source IS ?2 ORDER BY pk DESC LIMIT 1";
    let last: Option<i64> = db.prepare_cached(sql)?.query_row(params![session, source], |r| r.get(0)).optional()?;
    let Some(pk) = last else { return Ok(None) };
    Ok(ChunkContents::load_below(db, pk, MAX_CHUNK_BYTES / 2)?.map(|whole| (pk, whole)))
}

pub(super) struct ChunkTarget {
    pub(super) session: i64,
    pub(super) source: Option<i64>,
    /// The existing chunk that the first of the new ones replaces.
    pub(super) onto: Option<i64>,
}

pub(super) struct PackJob<'i> {
    pub(super) session: i64,
    pub(super) source: Option<i64>,
    pub(super) onto: Option<(i64, ChunkContents)>,
    pub(super) items: Vec<(ItemHeader, Cow<'i, Item>)>,
    pub(super) used: Vec<StoredUsage>,
}

impl PackJob<'_> {
    pub(super) fn pack(self) -> Result<(ChunkTarget, Vec<PackedChunk>)> {
        let (pk, whole) = self.onto.unzip();
        let whole = whole.unwrap_or_default();
        let used: Vec<StoredUsage> = whole.used.into_iter().chain(self.used).collect();
        let mut bundles = Vec::new();
        let mut open = ChunkBuilder::default();
        let old = whole.items.iter().map(|(line, item)| (*line, item));
        for (line, item) in old.chain(self.items.iter().map(|(line, item)| (*line, item.as_ref()))) {
            open.add(line, item)?;
            if open.said.len() + open.done.len() >= MAX_CHUNK_BYTES {
                bundles.push(std::mem::take(&mut open).close(if bundles.is_empty() { &used } else { &[] })?);
            }
        }
        if bundles.is_empty() || !open.lines.is_empty() {
            bundles.push(open.close(if bundles.is_empty() { &used } else { &[] })?);
        }
        Ok((ChunkTarget { session: self.session, source: self.source, onto: pk }, bundles))
    }
}

/// A chunk that is being filled.
#[derive(Default)]
struct ChunkBuilder {
    lines: Vec<ItemHeader>,
    said: Vec<u8>,
    done: Vec<u8>,
}

impl ChunkBuilder {
    fn add(&mut self, line: ItemHeader, item: &Item) -> Result<()> {
        let texts = if line.kind.is_done() { &mut self.done } else { &mut self.said };
        texts.push(if texts.is_empty() { b'[' } else { b',' });
        let from = texts.len();
        serde_json::to_writer(&mut *texts, item)?;
        let hash = blake3::hash(&texts[from..]);
        let [a, b, c, d, ..] = *hash.as_bytes();
        // 32 bits are enough: they only tell apart different texts under one key.
        self.lines.push(ItemHeader { sum: u32::from_be_bytes([a, b, c, d]), ..line });
        Ok(())
    }

    fn close(self, used: &[StoredUsage]) -> Result<PackedChunk> {
        let texts = |mut json: Vec<u8>| -> Result<Vec<u8>> {
            if json.is_empty() {
                return Ok(json);
            }
            json.push(b']');
            pack_json(&json)
        };
        Ok(PackedChunk {
            items: self.lines.len() as i64,
            prompts: self.lines.iter().filter(|line| line.kind == ItemKind::Prompt).count() as i64,
            hashes: forks::to_bytes(&forks::hashes(&self.lines, used)),
            rows: item_header::encode(&self.lines),
            used: usage::write(used)?,
            said: texts(self.said)?,
            done: texts(self.done)?,
        })
    }
}

/// A chunk, ready to be written.
pub(super) struct PackedChunk {
    items: i64,
    prompts: i64,
    hashes: Vec<u8>,
    rows: Vec<u8>,
    used: Vec<u8>,
    said: Vec<u8>,
    done: Vec<u8>,
}

impl PackedChunk {
    /// Everything in one chunk, however long.
    pub(crate) fn of(whole: &ChunkContents) -> Result<Self> {
        let mut open = ChunkBuilder::default();
        for (line, item) in &whole.items {
            open.add(*line, item)?;
        }
        open.close(&whole.used)
    }

    /// Inserts it as a new chunk, or replaces `onto`.
    pub(crate) fn write(&self, db: &Connection, session: i64, source: Option<i64>, onto: Option<i64>) -> Result<()> {
        let sql = "INSERT INTO bundle(pk, session, source, items, prompts, used, rows, said, done) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT DO UPDATE SET moved = 0, items = ?4, prompts = ?5, used = ?6, rows = ?7, said = ?8, done = ?9";
        let values = params![onto, session, source, self.items, self.prompts, self.used, self.rows, self.said, self.done];
        db.prepare_cached(sql)?.execute(values)?;
        let pk = onto.unwrap_or_else(|| db.last_insert_rowid());
        let sql = "INSERT INTO bundle_hash VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET hashes = ?3";
        db.prepare_cached(sql)?.execute(params![pk, session, self.hashes])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcripts::session::{FileTouch, RecordKey, ToolUse, Touch};

    /// A record's copies in forks are told by the hash of this text, and an older program may have stored one of them.
    #[test]
    fn a_tool_use_is_stored_in_the_words_in_which_it_always_was() {
        let stored = |how, (added, removed)| {
            let file = FileTouch { path: "/r/src/page.rs".into(), how, added, removed };
            let tool = ToolUse::new("toolu_1", "Edit", "src/page.rs", Some(file));
            let key = RecordKey([1; 16]);
            let header = ItemHeader { key, part: 0, offset: 0, at: None, kind: ItemKind::Tool, sum: 0 };
            let mut chunk = ChunkBuilder::default();
            chunk.add(header, &Item::Tool(tool)).expect("JSON");
            String::from_utf8(chunk.done).expect("text")
        };
        for (how, counts, file) in [
            (Touch::Read, (0, 0), r#""how":"read""#),
            (Touch::Edited, (3, 1), r#""how":"edited","added":3,"removed":1"#),
            (Touch::Written, (40, 0), r#""how":"written","added":40"#),
        ] {
            let whole = format!(
                r#"[{{"kind":"tool","data":{{"id":"toolu_1","name":"Edit","line":"src/page.rs","file":{{"path":"/r/src/page.rs",{file}}}}}}}"#
            );
            assert_eq!(stored(how, counts), whole);
        }
    }
}
