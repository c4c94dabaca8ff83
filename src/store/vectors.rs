//! Embedding vectors of documents: one vector space at a time, stored in chunks that are scanned as a whole.
//!
//! When a document is deleted, however that happens, a trigger marks its vectors as gone; they are removed before the file is next
//! rewritten, at the latest by `secure_erase`. A document that is made again from the same text takes over the vectors of its predecessor.

use std::collections::{BTreeMap, HashSet};

use anyhow::{Result, ensure};
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use super::{Reader, Writer};
use crate::model::vector::{QuantizedVector, QueryVector};
use transcripts::session::{hash_parts, hex};

/// About how many vectors a chunk holds. The vectors of one document are never split.
const CHUNK_VECTORS: usize = 256;
/// How much of the file is memory-mapped for a scan, in bytes, so that no pages are copied.
const MMAP_BYTES: i64 = 2 << 30;

/// A stored vector space.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VectorSpace {
    pub(crate) pk: i64,
    pub(crate) model: String,
    pub(crate) dims: usize,
    /// Of the probe vector; identifies the space to people.
    pub(crate) checksum: String,
    pub(crate) probe: QuantizedVector,
    /// Version of the splitting of texts into pieces.
    pub(crate) pieces: i64,
    /// Every document was embedded once or refused by the endpoint. Later documents may still be waiting.
    pub(crate) complete: bool,
}

/// A document to embed: a session's digest, a note, or a memory file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnembeddedDocument {
    pub(crate) doc: i64,
    pub(crate) session: Option<i64>,
    pub(crate) note: Option<i64>,
    pub(crate) memory_file: Option<i64>,
}

/// An embedded document: hash of its texts, and a vector for each text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EmbeddedDocument {
    pub(crate) doc: i64,
    pub(crate) text: [u8; 32],
    pub(crate) vectors: Vec<QuantizedVector>,
}

/// Vectors stored side by side.
#[derive(Default)]
struct VectorChunk {
    pk: Option<i64>,
    docs: Vec<u8>,
    scales: Vec<u8>,
    body: Vec<u8>,
}

impl VectorChunk {
    fn load(tx: &Transaction<'_>, pk: i64) -> Result<Self> {
        let sql = "SELECT docs, scales, body FROM vector_chunk WHERE pk = ?1";
        let chunk = |r: &rusqlite::Row<'_>| Ok(Self { pk: Some(pk), docs: r.get(0)?, scales: r.get(1)?, body: r.get(2)? });
        Ok(tx.prepare_cached(sql)?.query_row([pk], chunk)?)
    }

    fn len(&self) -> usize {
        self.docs.len() / 8
    }

    fn push(&mut self, doc: i64, vector: &QuantizedVector) {
        self.docs.extend(doc.to_le_bytes());
        self.scales.extend(vector.scale.to_le_bytes());
        self.body.extend(&vector.bytes);
    }

    /// The same without the vectors of the documents in `gone`.
    fn without(&self, gone: &HashSet<i64>, dims: usize) -> Self {
        let mut rest = Self { pk: self.pk, ..Self::default() };
        let kept = doc_numbers(&self.docs).enumerate().filter(|(_, doc)| !gone.contains(doc));
        for (at, _) in kept {
            rest.docs.extend(&self.docs[at * 8..at * 8 + 8]);
            rest.scales.extend(&self.scales[at * 4..at * 4 + 4]);
            rest.body.extend(&self.body[at * dims..(at + 1) * dims]);
        }
        rest
    }

    /// Writes the chunk, or deletes it when empty. Returns its number.
    fn store(&self, tx: &Transaction<'_>, space: i64) -> Result<i64> {
        let values = params![self.pk, space, self.len() as i64, self.docs, self.scales, self.body];
        if let (Some(pk), 0) = (self.pk, self.len()) {
            tx.prepare_cached("DELETE FROM vector_chunk WHERE pk = ?1")?.execute([pk])?;
            return Ok(pk);
        }
        let sql = "INSERT INTO vector_chunk VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO UPDATE SET vectors = ?3, docs = ?4, scales = ?5, body = ?6 RETURNING pk";
        Ok(tx.prepare_cached(sql)?.query_row(values, |r| r.get(0))?)
    }
}

fn doc_numbers(bytes: &[u8]) -> impl Iterator<Item = i64> {
    bytes.as_chunks::<8>().0.iter().map(|doc| i64::from_le_bytes(*doc))
}

impl Reader {
    /// The current vector space, if there is one.
    pub(crate) fn vector_space(&self) -> Result<Option<VectorSpace>> {
        let sql = "SELECT pk, model, dims, checksum, probe, pieces, complete FROM vector_space ORDER BY pk DESC LIMIT 1";
        let space = |r: &rusqlite::Row<'_>| {
            Ok(VectorSpace {
                pk: r.get(0)?,
                model: r.get(1)?,
                dims: r.get::<_, i64>(2)? as usize,
                checksum: r.get(3)?,
                probe: from_bytes(r.get_ref(4)?.as_blob()?),
                pieces: r.get(5)?,
                complete: r.get(6)?,
            })
        };
        Ok(self.db.query_row(sql, [], space).optional()?)
    }

    /// Documents without vectors and with a number less than `below`, newest first.
    pub(crate) fn unembedded(&self, below: i64, most: usize) -> Result<Vec<UnembeddedDocument>> {
        let sql = "SELECT pk, session, note, memory_file FROM doc WHERE pk < ?1 AND NOT EXISTS (SELECT 1 FROM embedded WHERE doc = doc.pk)
             ORDER BY pk DESC LIMIT ?2";
        let mut query = self.db.prepare_cached(sql)?;
        let one = |r: &rusqlite::Row<'_>| {
            Ok(UnembeddedDocument { doc: r.get(0)?, session: r.get(1)?, note: r.get(2)?, memory_file: r.get(3)? })
        };
        Ok(query.query_map(params![below, most as i64], one)?.collect::<rusqlite::Result<_>>()?)
    }

    /// Number of documents with vectors (or that need none), and number of all documents.
    pub(crate) fn count_embedded(&self) -> Result<(u64, u64)> {
        let sql = "SELECT (SELECT count(*) FROM embedded WHERE NOT gone), (SELECT count(*) FROM doc)";
        Ok(self.db.query_row(sql, [], |r| Ok((r.get::<_, i64>(0)? as u64, r.get::<_, i64>(1)? as u64)))?)
    }

    /// The documents most similar to the query, best first, each with its similarity: at most the cosine of its nearest piece. Scans all vectors.
    pub(crate) fn similar(&self, space: &VectorSpace, query: &QueryVector, most: usize) -> Result<Vec<(i64, f64)>> {
        ensure!(query.dims() == space.dims, "what is looked for has another number of dimensions");
        self.db.pragma_update(None, "mmap_size", MMAP_BYTES)?;
        let mut statement = self.db.prepare_cached("SELECT docs, scales, body FROM vector_chunk WHERE space = ?1")?;
        let mut chunks = statement.query([space.pk])?;
        let mut best = Vec::new();
        while let Some(chunk) = chunks.next()? {
            let blob = |column| -> Result<&[u8]> { Ok(chunk.get_ref(column)?.as_blob()?) };
            score_chunk(query, (blob(0)?, blob(1)?, blob(2)?), &mut best);
        }
        let nearer = |a: &(i64, f64), b: &(i64, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if best.len() > most {
            best.select_nth_unstable_by(most, nearer);
            best.truncate(most);
        }
        best.sort_unstable_by(nearer);
        Ok(best)
    }
}

impl Writer {
    /// Replaces any space with a new, empty one.
    pub(crate) fn begin_space(&mut self, model: &str, probe: &QuantizedVector, pieces: i64) -> Result<VectorSpace> {
        let bytes = to_bytes(probe);
        let checksum = hex(&hash_parts(&[&bytes])[..6]);
        let tx = self.reader.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        tx.execute("DELETE FROM vector_space", [])?;
        let sql = "INSERT INTO vector_space(model, dims, checksum, probe, pieces) VALUES (?1, ?2, ?3, ?4, ?5) RETURNING pk";
        let values = params![model, probe.dims() as i64, checksum, bytes, pieces];
        let pk = tx.query_row(sql, values, |r| r.get(0))?;
        tx.commit()?;
        Ok(VectorSpace { pk, model: model.to_owned(), dims: probe.dims(), checksum, probe: probe.clone(), pieces, complete: false })
    }

    /// Deletes all vectors. Returns whether there were any.
    pub(crate) fn drop_vectors(&self) -> Result<bool> {
        // Usually there are none, and this check takes no write lock.
        let any: bool = self.db.query_row("SELECT EXISTS (SELECT 1 FROM vector_space)", [], |r| r.get(0))?;
        Ok(any && self.db.execute("DELETE FROM vector_space", [])? > 0)
    }

    pub(crate) fn complete_space(&self, space: i64) -> Result<()> {
        self.db.execute("UPDATE vector_space SET complete = 1 WHERE pk = ?1 AND NOT complete", [space])?;
        Ok(())
    }

    /// Stores vectors in one transaction.
    ///
    /// # Errors
    /// When a vector's dimensions differ from those of the space.
    pub(crate) fn save_vectors(&mut self, space: &VectorSpace, all: &[EmbeddedDocument]) -> Result<()> {
        let fits = |one: &EmbeddedDocument| one.vectors.iter().all(|vector| vector.dims() == space.dims);
        ensure!(all.iter().all(fits), "a vector of another number of dimensions");
        let tx = self.reader.db.transaction()?;
        let mut waiting = all.iter().filter(|one| !one.vectors.is_empty()).peekable();
        while waiting.peek().is_some() {
            let with_room = "SELECT pk FROM vector_chunk WHERE space = ?1 AND vectors < ?2 ORDER BY pk LIMIT 1";
            let found: Option<i64> =
                tx.prepare_cached(with_room)?.query_row(params![space.pk, CHUNK_VECTORS as i64], |r| r.get(0)).optional()?;
            let mut chunk = found.map_or_else(|| Ok(VectorChunk::default()), |pk| VectorChunk::load(&tx, pk))?;
            let mut taken = Vec::new();
            while let Some(one) = waiting.next_if(|_| chunk.len() < CHUNK_VECTORS) {
                one.vectors.iter().for_each(|vector| chunk.push(one.doc, vector));
                taken.push(one);
            }
            let pk = chunk.store(&tx, space.pk)?;
            taken.into_iter().try_for_each(|one| note(&tx, space.pk, Some(pk), one))?;
        }
        all.iter().filter(|one| one.vectors.is_empty()).try_for_each(|one| note(&tx, space.pk, None, one))?;
        tx.commit()?;
        Ok(())
    }

    /// Gives documents the vectors of deleted ones that had the same text. Returns the documents that got some.
    pub(crate) fn take_over_vectors(&mut self, space: &VectorSpace, texts: &[(i64, [u8; 32])]) -> Result<HashSet<i64>> {
        let tx = self.reader.db.transaction()?;
        let mut by_chunk: BTreeMap<i64, BTreeMap<i64, i64>> = BTreeMap::new();
        let mut done = HashSet::new();
        for (doc, text) in texts {
            let sql = "SELECT doc, chunk FROM embedded WHERE text = ?1 AND gone AND space = ?2 AND chunk IS NOT NULL LIMIT 1";
            let found: Option<(i64, i64)> =
                tx.prepare_cached(sql)?.query_row(params![text, space.pk], |r| Ok((r.get(0)?, r.get(1)?))).optional()?;
            if let Some((before, chunk)) = found {
                let sql = "UPDATE embedded SET doc = ?2, gone = 0 WHERE doc = ?1";
                tx.prepare_cached(sql)?.execute([before, *doc])?;
                by_chunk.entry(chunk).or_default().insert(before, *doc);
                done.insert(*doc);
            }
        }
        for (pk, renamed) in by_chunk {
            let mut chunk = VectorChunk::load(&tx, pk)?;
            chunk.docs = doc_numbers(&chunk.docs).flat_map(|doc| renamed.get(&doc).unwrap_or(&doc).to_le_bytes()).collect();
            chunk.store(&tx, space.pk)?;
        }
        tx.commit()?;
        Ok(done)
    }

    /// Removes the vectors of deleted documents. Returns the number of those documents.
    pub(crate) fn drop_gone_vectors(&self) -> Result<usize> {
        let gone = "SELECT chunk, doc FROM embedded WHERE gone ORDER BY chunk";
        let all: Vec<(Option<i64>, i64)> =
            self.db.prepare_cached(gone)?.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
        if all.is_empty() {
            return Ok(0);
        }
        let tx = self.db.unchecked_transaction()?;
        let mut by_chunk: BTreeMap<i64, HashSet<i64>> = BTreeMap::new();
        for (chunk, doc) in &all {
            if let Some(chunk) = chunk {
                by_chunk.entry(*chunk).or_default().insert(*doc);
            }
        }
        tx.execute("DELETE FROM embedded WHERE gone", [])?;
        for (pk, docs) in by_chunk {
            let sql = "SELECT s.pk, s.dims FROM vector_chunk c JOIN vector_space s ON s.pk = c.space WHERE c.pk = ?1";
            let (space, dims): (i64, i64) = tx.query_row(sql, [pk], |r| Ok((r.get(0)?, r.get(1)?)))?;
            VectorChunk::load(&tx, pk)?.without(&docs, dims as usize).store(&tx, space)?;
        }
        tx.commit()?;
        Ok(all.len())
    }
}

/// Adds the documents of a chunk to `best`, each with its similarity. All vectors of a document lie one after the other.
fn score_chunk(query: &QueryVector, (docs, scales, body): (&[u8], &[u8], &[u8]), best: &mut Vec<(i64, f64)>) {
    let scales = scales.as_chunks::<4>().0.iter().map(|scale| f32::from_le_bytes(*scale));
    let mut of_one: Option<(i64, NearestPieces)> = None;
    for ((doc, scale), vector) in doc_numbers(docs).zip(scales).zip(body.chunks_exact(query.dims())) {
        let cosine = query.cosine(scale, vector);
        match &mut of_one {
            Some((last, nearest)) if *last == doc => nearest.add(cosine),
            _ => best.extend(of_one.replace((doc, NearestPieces::of(cosine))).map(|(doc, nearest)| (doc, nearest.similarity()))),
        }
    }
    best.extend(of_one.map(|(doc, nearest)| (doc, nearest.similarity())));
}

/// How many of the nearest pieces of a document count beside the nearest, and how much: a session in which much is near is more likely the
/// one than one in which a single sentence happens to be.
const NEAREST_PIECES: usize = 5;
const NEAREST_PIECES_SHARE: f64 = 0.3;

/// The cosines of the nearest pieces of a document, highest first.
struct NearestPieces {
    all: [f64; NEAREST_PIECES],
    count: usize,
}

impl NearestPieces {
    fn of(cosine: f64) -> Self {
        let mut nearest = Self { all: [0.0; NEAREST_PIECES], count: 0 };
        nearest.add(cosine);
        nearest
    }

    fn add(&mut self, cosine: f64) {
        let place = self.all[..self.count].iter().position(|known| cosine > *known).unwrap_or(self.count);
        if place < NEAREST_PIECES {
            self.count = (self.count + 1).min(NEAREST_PIECES);
            self.all[place..self.count].rotate_right(1);
            self.all[place] = cosine;
        }
    }

    fn similarity(&self) -> f64 {
        let mean = self.all[..self.count].iter().sum::<f64>() / self.count as f64;
        (1.0 - NEAREST_PIECES_SHARE) * self.all[0] + NEAREST_PIECES_SHARE * mean
    }
}

fn note(tx: &Transaction<'_>, space: i64, chunk: Option<i64>, one: &EmbeddedDocument) -> Result<()> {
    let sql = "INSERT INTO embedded(doc, space, chunk, text) VALUES (?1, ?2, ?3, ?4)";
    tx.prepare_cached(sql)?.execute(params![one.doc, space, chunk, one.text])?;
    Ok(())
}

fn to_bytes(vector: &QuantizedVector) -> Vec<u8> {
    [&vector.scale.to_le_bytes()[..], &vector.bytes].concat()
}

fn from_bytes(bytes: &[u8]) -> QuantizedVector {
    let (scale, bytes) = bytes.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
    QuantizedVector { scale: f32::from_le_bytes(*scale), bytes: bytes.to_vec() }
}

#[cfg(test)]
mod tests;
