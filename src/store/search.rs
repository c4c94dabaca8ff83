//! Full-text search over digests and prompts.
//!
//! The FTS table holds no text of its own: what a document said is made again from `digest` and `item`, for showing it and for
//! taking it out.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use rusqlite::{OptionalExtension, Transaction, params};

use super::Store;
use super::load::{NOT_OWNED_EARLIER, SessionHead};
use super::pack::unpack;
use crate::digest::Digest;
use crate::session::{Item, RowKey};
use crate::terms::index_text;

/// Weights of the columns title, body and extra in the rank.
const WEIGHTS: &str = "4.0, 1.0, 0.7";

/// How much better a rank has to be to be clearly better.
const CLEARLY: f64 = 1.2;

/// A document that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub session: SessionHead,
    pub kind: HitKind,
    /// The text to show a passage of.
    pub text: String,
    /// Smaller is better, as bm25 has it.
    pub rank: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitKind {
    Digest,
    Prompt,
}

struct Document {
    title: String,
    body: String,
    extra: String,
}

impl Document {
    fn of_digest(digest: &Digest) -> Self {
        Self { title: index_text(&digest.title), body: index_text(&digest.text()), extra: index_text(&digest.questions.join("\n")) }
    }

    fn of_prompt(text: &str) -> Self {
        Self { title: String::new(), body: index_text(text), extra: String::new() }
    }
}

pub(super) fn add_prompt(tx: &Transaction<'_>, session: i64, key: RowKey, part: i64, text: &str) -> Result<()> {
    add(tx, session, "prompt", key.0, part, &Document::of_prompt(text))
}

pub(super) fn add_digest(tx: &Transaction<'_>, session: i64, digest: &Digest) -> Result<()> {
    add(tx, session, "digest", [0; 16], 0, &Document::of_digest(digest))
}

/// Takes the current digest's document out. Must run while the digest is still there.
pub(super) fn remove_digest(tx: &Transaction<'_>, session: i64) -> Result<()> {
    let sql = "SELECT d.pk, g.body FROM doc d JOIN digest g ON g.session = d.session AND g.superseded = 0 WHERE d.session = ?1 AND d.kind = 'digest'";
    let found: Option<(i64, Vec<u8>)> = tx.prepare_cached(sql)?.query_row([session], |r| Ok((r.get(0)?, r.get(1)?))).optional()?;
    if let Some((pk, body)) = found {
        take_out(tx, pk, &Document::of_digest(&unpack(&body)?))?;
    }
    Ok(())
}

/// Takes a prompt's document out, if it has one.
pub(super) fn remove_prompt(tx: &Transaction<'_>, session: i64, key: RowKey, part: i64, text: &str) -> Result<()> {
    let sql = "SELECT pk FROM doc WHERE session = ?1 AND kind = 'prompt' AND key = ?2 AND part = ?3";
    let found: Option<i64> = tx.prepare_cached(sql)?.query_row(params![session, key.0, part], |r| r.get(0)).optional()?;
    found.map_or(Ok(()), |pk| take_out(tx, pk, &Document::of_prompt(text)))
}

/// Takes all of a session's documents out, before its rows go.
pub(super) fn remove_session(tx: &Transaction<'_>, session: i64) -> Result<()> {
    remove_digest(tx, session)?;
    let sql = "SELECT d.pk, i.body FROM doc d JOIN item i ON i.key = d.key AND i.session = d.session AND i.part = d.part WHERE d.session = ?1 AND d.kind = 'prompt'";
    let prompts: Vec<(i64, Vec<u8>)> =
        tx.prepare_cached(sql)?.query_map([session], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
    for (pk, body) in prompts {
        if let Item::Prompt(text) = unpack(&body)? {
            take_out(tx, pk, &Document::of_prompt(&text))?;
        }
    }
    Ok(())
}

fn take_out(tx: &Transaction<'_>, pk: i64, old: &Document) -> Result<()> {
    let sql = "INSERT INTO search(search, rowid, title, body, extra) VALUES ('delete', ?1, ?2, ?3, ?4)";
    tx.prepare_cached(sql)?.execute(params![pk, old.title, old.body, old.extra])?;
    tx.prepare_cached("DELETE FROM doc WHERE pk = ?1")?.execute([pk])?;
    Ok(())
}

fn add(tx: &Transaction<'_>, session: i64, kind: &str, key: [u8; 16], part: i64, document: &Document) -> Result<()> {
    let sql = "INSERT INTO doc(session, kind, key, part) VALUES (?1, ?2, ?3, ?4) RETURNING pk";
    let pk: i64 = tx.prepare_cached(sql)?.query_row(params![session, kind, key, part], |r| r.get(0))?;
    let sql = "INSERT INTO search(rowid, title, body, extra) VALUES (?1, ?2, ?3, ?4)";
    tx.prepare_cached(sql)?.execute(params![pk, document.title, document.body, document.extra])?;
    Ok(())
}

impl Store {
    /// Documents that hold any of the words, best first, one a session and kind.
    ///
    /// `query` is an FTS5 expression; `fits` says which sessions are wanted. Of sessions that say nearly the same, the last is enough,
    /// unless another says clearly more of what is looked for.
    pub fn search(&self, query: &str, limit: usize, fits: impl Fn(&SessionHead) -> bool) -> Result<Vec<Hit>> {
        let sql = format!(
            "SELECT d.session, d.kind, d.key, d.part, bm25(search, {WEIGHTS}) AS rank FROM search JOIN doc d ON d.pk = search.rowid
             WHERE search MATCH ?1 ORDER BY rank, d.session"
        );
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query([query])?;
        let (mut hits, mut repeated) = (Vec::new(), Vec::new());
        let mut ranks: HashMap<i64, f64> = HashMap::new();
        let mut seen = HashSet::new();
        while let Some(row) = rows.next()? {
            let (session, is_digest): (i64, bool) = (row.get(0)?, row.get::<_, String>(1)? == "digest");
            if hits.len() >= limit {
                break;
            }
            if seen.contains(&session) {
                continue;
            }
            let head = self.session_head(session)?;
            if !fits(&head) {
                seen.insert(session);
                continue;
            }
            let (kind, text) = match is_digest {
                true => (HitKind::Digest, self.digest_of(session)?.map(|stored| stored.digest.text())),
                false => (HitKind::Prompt, self.prompt_text(&head, RowKey(row.get(2)?), row.get(3)?)?),
            };
            let Some(text) = text else { continue };
            seen.insert(session);
            let hit = Hit { session: head, kind, text, rank: row.get(4)? };
            ranks.insert(session, hit.rank);
            match self.repeated_by(session)? {
                Some(later) => repeated.push((hit, later)),
                None => hits.push(hit),
            }
        }
        let says_more = |hit: &Hit, later: i64| ranks.get(&later).is_none_or(|rank| hit.rank < rank * CLEARLY);
        hits.extend(repeated.into_iter().filter(|(hit, later)| says_more(hit, *later)).map(|(hit, _)| hit));
        hits.sort_by(|a, b| a.rank.total_cmp(&b.rank));
        hits.truncate(limit);
        Ok(hits)
    }

    /// A prompt's text, unless the row belongs to another session that merely was copied here.
    fn prompt_text(&self, head: &SessionHead, key: RowKey, part: i64) -> Result<Option<String>> {
        let sql = format!("SELECT i.body FROM item i WHERE i.session = ?1 AND i.key = ?4 AND i.part = ?5 AND {NOT_OWNED_EARLIER}");
        let values = params![head.pk, head.started_at, head.id, key.0, part];
        let body: Option<Vec<u8>> = self.db.prepare_cached(&sql)?.query_row(values, |r| r.get(0)).optional()?;
        let item = body.map(|b| unpack::<Item>(&b)).transpose()?;
        Ok(item.and_then(|item| if let Item::Prompt(text) = item { Some(text) } else { None }))
    }
}
