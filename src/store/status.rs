//! Figures on what is stored, for `status`.

use anyhow::Result;

use super::Reader;
use super::receipts::ReceiptCounts;
use super::vectors::VectorSpace;
use transcripts::client::Client;
use transcripts::session::Millis;

#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct IndexCounts {
    pub(crate) files: i64,
    pub(crate) transcript_bytes: i64,
    pub(crate) sessions: i64,
    pub(crate) by_client: Vec<ClientCounts>,
    pub(crate) digests: i64,
    pub(crate) by_model: i64,
    pub(crate) from_claude_mem: i64,
    /// Digests of sessions that were ongoing when they were made.
    pub(crate) interim: i64,
    /// Digests made without the model that still wait for it.
    pub(crate) queued: i64,
    /// Sessions whose newest records no digest covers yet.
    pub(crate) waiting: i64,
    /// Reasons why sessions wait for a digest or for the model, with counts.
    pub(crate) waiting_reasons: Vec<(String, i64)>,
    /// Reasons why digests are without the model for good, with counts.
    pub(crate) without_model_reasons: Vec<(String, i64)>,
    /// Reasons why sessions have no digest for good, with counts.
    pub(crate) skipped: Vec<(String, i64)>,
    /// Sessions the model failed on: id, failures, last error.
    pub(crate) failing: Vec<(String, i64, String)>,
    pub(crate) bad_lines: i64,
    pub(crate) bad_at: Vec<(String, i64, String)>,
    pub(crate) unknown: Vec<(String, i64)>,
    pub(crate) spent_usd: f64,
    /// Remembered notes.
    pub(crate) notes: i64,
    pub(crate) receipts: ReceiptCounts,
    /// Embedding progress, if there is a vector space.
    pub(crate) vectors: Option<VectorCounts>,
}

/// The sessions of a client.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ClientCounts {
    pub(crate) client: Client,
    pub(crate) sessions: i64,
    /// When something last happened in any of them.
    pub(crate) last_at: Option<Millis>,
    /// Those whose newest records no digest covers yet.
    pub(crate) waiting: i64,
}

/// How many documents are embedded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VectorCounts {
    pub(crate) space: VectorSpace,
    pub(crate) embedded: u64,
    pub(crate) of: u64,
}

impl Reader {
    /// Counts everything; lists at most `listed` bad lines and failures.
    pub(crate) fn index_counts(&self, listed: usize) -> Result<IndexCounts> {
        let one = |sql: &str| -> Result<i64> { Ok(self.db.query_row(sql, [], |r| r.get(0))?) };
        let pairs = |sql: &str| -> Result<Vec<(String, i64)>> {
            Ok(self.db.prepare(sql)?.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?)
        };
        let reasons = |of: &str| {
            pairs(&format!(
                "SELECT s.skip, count(*) FROM session s LEFT JOIN digest d ON d.session = s.pk AND d.superseded = 0
                WHERE s.skip IS NOT NULL AND {of} GROUP BY s.skip ORDER BY count(*) DESC, s.skip"
            ))
        };
        let failing = "SELECT s.id, a.failures, a.error FROM attempt a JOIN session s ON s.pk = a.session WHERE a.failures > 0 ORDER BY a.last_at DESC, s.id LIMIT ?1";
        let bad = "SELECT f.path, b.offset, b.why FROM bad_line b JOIN file f ON f.pk = b.file ORDER BY f.path, b.offset LIMIT ?1";
        // One scan in storage order: rows are large because they hold the texts, and in the order of an index they are far apart.
        let of_digests =
            "SELECT count(*), count(*) FILTER (WHERE summarizer NOT IN ('extract', 'claude-mem')), count(interim_until),
                 count(*) FILTER (WHERE queued), count(*) FILTER (WHERE summarizer = 'claude-mem')
            FROM digest NOT INDEXED WHERE superseded = 0";
        let (digests, by_model, interim, queued, from_claude_mem) =
            self.db.query_row(of_digests, [], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?)))?;
        Ok(IndexCounts {
            files: one("SELECT count(*) FROM file")?,
            transcript_bytes: one("SELECT coalesce(sum(size), 0) FROM file WHERE size > 0")?,
            sessions: one("SELECT count(*) FROM session")?,
            digests,
            by_model,
            from_claude_mem,
            interim,
            queued,
            waiting: one("SELECT count(*) FROM session WHERE dirty")?,
            waiting_reasons: reasons("(s.dirty OR coalesce(d.queued, 0))")?,
            without_model_reasons: reasons("NOT s.dirty AND NOT d.queued")?,
            skipped: reasons("NOT s.dirty AND d.session IS NULL")?,
            failing: self
                .db
                .prepare(failing)?
                .query_map([listed as i64], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?
                .collect::<rusqlite::Result<_>>()?,
            bad_lines: one("SELECT count(*) FROM bad_line")?,
            bad_at: self
                .db
                .prepare(bad)?
                .query_map([listed as i64], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?
                .collect::<rusqlite::Result<_>>()?,
            unknown: self.unknown_record_types()?,
            by_client: self.sessions_by_client()?,
            spent_usd: self.spent()?,
            notes: one("SELECT count(*) FROM note")?,
            receipts: self.receipt_counts()?,
            vectors: self.vectors()?,
        })
    }

    /// Unknown record types with counts, most frequent first.
    pub(crate) fn unknown_record_types(&self) -> Result<Vec<(String, i64)>> {
        let sql = "SELECT type, sum(rows) FROM unknown_row WHERE type NOT LIKE '<%' GROUP BY type ORDER BY sum(rows) DESC, type";
        Ok(self.db.prepare(sql)?.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?)
    }

    /// What is stored of each client's sessions.
    pub(crate) fn sessions_by_client(&self) -> Result<Vec<ClientCounts>> {
        let sql = "SELECT client, count(*), max(last_at), count(*) FILTER (WHERE dirty) FROM session GROUP BY client";
        let of = |r: &rusqlite::Row<'_>| {
            let client = Client::named(r.get_ref(0)?.as_str()?).unwrap_or_default();
            Ok(ClientCounts { client, sessions: r.get(1)?, last_at: r.get(2)?, waiting: r.get(3)? })
        };
        let mut all = self.db.prepare(sql)?.query_map([], of)?.collect::<rusqlite::Result<Vec<_>>>()?;
        all.sort_by_key(|counts| counts.client);
        Ok(all)
    }

    /// The same in transcripts of one client. Those of which nothing else is stored count as the usual one's.
    pub(crate) fn unknown_record_types_of(&self, client: Client) -> Result<Vec<(String, i64)>> {
        let sql = "SELECT u.type, sum(u.rows) FROM unknown_row u JOIN file f ON f.pk = u.file
             WHERE u.type NOT LIKE '<%' AND coalesce((SELECT x.client FROM source s JOIN session x ON x.pk = s.session WHERE s.file = f.path LIMIT 1), ?2) = ?1
             GROUP BY u.type ORDER BY sum(u.rows) DESC, u.type";
        let of = [client.key(), Client::default().key()];
        Ok(self.db.prepare(sql)?.query_map(of, |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?)
    }

    /// Distinct versions of a client that wrote what is stored, unordered.
    pub(crate) fn client_versions(&self, client: Client) -> Result<Vec<String>> {
        let sql = "SELECT DISTINCT j.value FROM (SELECT DISTINCT s.versions FROM source s JOIN session x ON x.pk = s.session WHERE x.client = ?1) s,
             json_each(s.versions) j";
        Ok(self.db.prepare(sql)?.query_map([client.key()], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    fn vectors(&self) -> Result<Option<VectorCounts>> {
        let Some(space) = self.vector_space()? else { return Ok(None) };
        let (embedded, of) = self.count_embedded()?;
        Ok(Some(VectorCounts { space, embedded, of }))
    }
}
