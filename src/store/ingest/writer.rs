//! The statements that store a batch: files, unreadable lines, records, usage.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use anyhow::Result;
use rusqlite::{OptionalExtension, Transaction, params};

use super::echoes::Echoes;
use super::{IngestBatch, Ingested, OFFSET_SHIFT};
use crate::model::digest::{CLAUDE_MEM, WITHOUT_MODEL};
use crate::store::chunk;
use crate::store::chunk::{ItemBuffer, ItemLocation, MessageHash, PutOutcome, RecordIndex, StoredKeys, StoredUsage};
use crate::store::client_cost;
use crate::store::erasure;
use crate::store::ingest::source_facts::{SourceFacts, folder_key};
use crate::store::load::SHOWN_EARLIER_SESSIONS;
use crate::store::neighbours::PrivateSpan;
use crate::store::origin;
use crate::store::projects::ensure_project;
use crate::store::session_row;
use crate::store::undone;
use crate::sys::projects::Projects;
use transcripts::session::{Item, Millis, Record, RecordKey};

pub(super) struct IngestWriter<'t, 'b> {
    pub(crate) tx: &'t Transaction<'t>,
    pub(crate) gathered: ItemBuffer<'b>,
    pub(crate) whereabouts: RecordIndex,
    /// Are there any forgotten or private records?
    pub(crate) forgets: bool,
    /// Are there sessions that came from other machines?
    pub(crate) any_from_afar: bool,
    excludes: bool,
    pub(crate) projects: &'t Projects,
    /// The sessions of this transaction, and when the newest of the files seen so far grew.
    sessions: HashMap<String, (i64, Millis)>,
    /// Sessions that this transaction added.
    pub(crate) added: HashSet<i64>,
    sources: HashMap<(i64, Arc<str>, String), i64>,
    /// The previous record of this batch with its session and source: nearly always those of the next record too.
    last: Option<(&'b Record, i64, i64)>,
    pub(crate) done: Ingested,
    /// Sessions that gained records.
    pub(crate) touched: HashSet<i64>,
    /// Sessions that gained evidence, or of whose records another file is the owner now: what was said in them is the same.
    same_words: HashSet<i64>,
    /// Private spans of sessions, as far as they were looked up.
    pub(crate) private: HashMap<String, Vec<PrivateSpan>>,
    /// Sessions with private turns that were found in this transaction.
    pub(crate) newly_private: HashSet<String>,
    /// Private words of sessions.
    pub(crate) echoes: Echoes,
    /// Ids of sessions the user had forgotten.
    forgotten: HashSet<String>,
    /// Facts on each session's sources, in a stable order.
    pub(crate) notes: BTreeMap<(i64, i64), SourceFacts>,
    /// Sessions and folders that their records name, and since when.
    pub(crate) folders: BTreeMap<(&'b str, &'b str), Millis>,
    /// Sessions of which a file newly tells when they began.
    pub(crate) begun: BTreeSet<&'b str>,
}

impl<'t, 'b> IngestWriter<'t, 'b> {
    pub(crate) fn new(tx: &'t Transaction<'t>, projects: &'t Projects, known: (RecordIndex, StoredKeys)) -> Result<Self> {
        let any = |table| tx.query_row(&format!("SELECT EXISTS (SELECT 1 FROM {table})"), [], |r| r.get(0));
        let forgotten =
            tx.prepare("SELECT id FROM forgotten_session")?.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok(Self {
            tx,
            gathered: ItemBuffer::with_cache(known.1),
            whereabouts: known.0,
            forgets: any("forgotten_row")?,
            any_from_afar: any("origin")?,
            excludes: any("excluded_session")?,
            forgotten,
            projects,
            sessions: HashMap::new(),
            added: HashSet::new(),
            sources: HashMap::new(),
            last: None,
            done: Ingested::default(),
            touched: HashSet::new(),
            same_words: HashSet::new(),
            private: HashMap::new(),
            newly_private: HashSet::new(),
            echoes: Echoes::any(tx)?,
            notes: BTreeMap::new(),
            folders: BTreeMap::new(),
            begun: BTreeSet::new(),
        })
    }

    /// The caches for the next transaction.
    pub(crate) fn into_caches(self) -> (RecordIndex, StoredKeys) {
        (self.whereabouts, self.gathered.into_cache(self.sessions.into_values().map(|(pk, _)| pk)))
    }

    pub(crate) fn batch(&mut self, batch: &'b IngestBatch) -> Result<()> {
        let path = batch.file.stored_path();
        if !batch.is_part {
            self.note_file(batch, &path)?;
        }
        self.keep(batch, path.into())
    }

    /// Records how far a file is read, and what of it could not be read; and which sessions are out from here on.
    fn note_file(&mut self, batch: &'b IngestBatch, path: &str) -> Result<()> {
        self.record_file(batch, path)?;
        const FILE: &str = "(SELECT pk FROM file WHERE path = ?1)";
        if batch.replaced {
            self.tx.prepare_cached(&format!("DELETE FROM bad_line WHERE file = {FILE}"))?.execute([path])?;
            self.tx.prepare_cached(&format!("DELETE FROM unknown_row WHERE file = {FILE}"))?.execute([path])?;
            // Stored records outlive the file they came from: shift their offsets before those of the new file.
            self.flush_items()?;
            let sql = "UPDATE bundle SET moved = moved - ?2 WHERE source IN (SELECT pk FROM source WHERE file = ?1)";
            self.tx.prepare_cached(sql)?.execute(params![path, OFFSET_SHIFT])?;
            let sql = "UPDATE asked SET offset = offset - ?2 WHERE file = ?1";
            self.tx.prepare_cached(sql)?.execute(params![path, OFFSET_SHIFT])?;
        }
        for session in &batch.excluded {
            self.exclude(session)?;
        }
        // The names of its unknown rows are the excluded project's.
        let is_out = self.is_excluded(&batch.file.place.session)?;
        if is_out {
            self.tx.prepare_cached(&format!("DELETE FROM unknown_row WHERE file = {FILE}"))?.execute([path])?;
        }
        for (offset, why) in &batch.bad {
            let sql = format!("INSERT INTO bad_line VALUES ({FILE}, ?2, ?3) ON CONFLICT DO NOTHING");
            self.done.rows_bad += self.tx.prepare_cached(&sql)?.execute(params![path, *offset as i64, why])? as u64;
        }
        for (name, rows) in batch.unknown.iter().filter(|_| !is_out) {
            let sql =
                format!("INSERT INTO unknown_row VALUES ({FILE}, ?2, ?3) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows");
            self.tx.prepare_cached(&sql)?.execute(params![path, name, *rows as i64])?;
            // An unknown tag is part of a message whose own record type is known.
            self.done.rows_unknown += if name.starts_with('<') { 0 } else { *rows };
        }
        Ok(())
    }

    /// Stores what is kept of a batch.
    fn keep(&mut self, batch: &'b IngestBatch, path: Arc<str>) -> Result<()> {
        self.last = None;
        for (session, folders) in batch.folders.iter().filter(|(session, _)| !self.forgotten.contains(*session)) {
            for (folder, since) in folders {
                let known = self.folders.entry((session, folder)).or_insert(*since);
                *known = (*known).min(*since);
            }
        }
        for (session, at) in &batch.starts {
            if !self.is_out(batch, session)? {
                let sql = "INSERT INTO start VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
                if self.tx.prepare_cached(sql)?.execute(params![session, &*path, at])? > 0 {
                    self.begun.insert(session);
                }
            }
        }
        self.drop_brought(batch)?;
        self.note_private(batch)?;
        let mut fenced = batch.fenced.iter().peekable();
        for (offset, row) in &batch.rows {
            // Fenced text is compared with public text up to and including its own record.
            while let Some(before) = fenced.next_if(|fenced| fenced.offset < *offset) {
                self.clean_echoes(before, &path)?;
            }
            if !self.is_private(batch, row)? {
                self.row(batch, &path, *offset, row)?;
            }
        }
        for rest in fenced {
            self.clean_echoes(rest, &path)?;
        }
        self.record_client_costs(batch)?;
        self.record_prompts(batch, &path)
    }

    /// Stores the costs the client last reported. Sessions that are not in the index are skipped.
    fn record_client_costs(&self, batch: &IngestBatch) -> Result<()> {
        for (session, by_model) in &batch.client_costs {
            if !self.is_out(batch, session)? {
                client_cost::record(self.tx, session, by_model.as_ref())?;
            }
        }
        Ok(())
    }

    /// Records where prompts stand. A prompt that replaces another one changes the session, even if nothing of it is stored.
    fn record_prompts(&mut self, batch: &IngestBatch, path: &str) -> Result<()> {
        for (session, asked) in &batch.asked {
            if !self.is_out(batch, session)? && undone::note(self.tx, session, path, asked)? {
                self.touched.extend(self.stored_session(session)?);
            }
        }
        let session = &batch.file.place.session;
        if let Some(back) = &batch.went_back
            && !self.is_out(batch, session)?
            && undone::note_went_back(self.tx, session, path, back.as_ref())?
        {
            self.touched.extend(self.stored_session(session)?);
        }
        Ok(())
    }

    fn record_file(&self, batch: &IngestBatch, path: &str) -> Result<()> {
        // Until the whole file is read its size is recorded as unknown, so that the next run continues a run that was stopped.
        let (size, stamp) = if batch.complete { (batch.file.size as i64, batch.file.stamp) } else { (-1, 0) };
        let checkpoint = &batch.checkpoint;
        let sql = "INSERT INTO file(path, size, mtime_ns, head_len, head_hash, offset, tail_hash, state) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT DO UPDATE SET size = ?2, mtime_ns = ?3, head_len = ?4, head_hash = ?5, offset = ?6, tail_hash = ?7, state = ?8";
        let values = params![
            path, size, stamp, checkpoint.head_len as i64, checkpoint.head_hash, checkpoint.offset as i64, checkpoint.tail_hash,
            batch.conversation
        ];
        self.tx.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    /// Excludes a session with a part in an excluded project. What it said before any directory was known is removed here, and after the
    /// ingest what it said in others.
    fn exclude(&mut self, session: &str) -> Result<()> {
        self.excludes = true;
        self.tx.prepare_cached("INSERT INTO excluded_session(id) VALUES (?1) ON CONFLICT DO NOTHING")?.execute([session])?;
        let sql = "SELECT pk FROM session WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM source WHERE session = session.pk AND cwd IS NOT NULL)";
        let found: Option<i64> = self.tx.prepare_cached(sql)?.query_row([session], |r| r.get(0)).optional()?;
        if let Some(pk) = found.filter(|pk| !self.notes.iter().any(|((s, _), notes)| s == pk && notes.cwd.is_some())) {
            erasure::mark_erase_due(self.tx)?;
            // From now on its forks own the records they share with it.
            let sql = "UPDATE session SET dirty = 1, unindexed = 1 WHERE pk IN (SELECT other FROM kin WHERE session = ?1)";
            self.tx.prepare_cached(sql)?.execute([pk])?;
            self.tx.prepare_cached("DELETE FROM page WHERE session = ?1")?.execute([pk])?;
            session_row::remove(self.tx, pk)?;
            self.gathered.drop_session(pk);
            self.sessions.retain(|_, (known, _)| *known != pk);
            self.added.remove(&pk);
            self.sources.retain(|(of, ..), _| *of != pk);
            self.notes.retain(|(of, _), _| *of != pk);
            self.touched.remove(&pk);
            self.same_words.remove(&pk);
        }
        Ok(())
    }

    fn is_excluded(&self, session: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM excluded_session WHERE id = ?1)";
        Ok(self.excludes && self.tx.prepare_cached(sql)?.query_row([session], |r| r.get(0))?)
    }

    /// Is nothing of the session stored from this batch: was it forgotten, or is it excluded, and the batch not of what is kept of it?
    fn is_out(&self, batch: &IngestBatch, session: &str) -> Result<bool> {
        Ok(self.forgotten.contains(session) || !batch.is_part && self.is_excluded(session)?)
    }

    /// Was it forgotten, through its session or its key, or is the record private?
    fn is_forgotten(&self, session: &str, key: RecordKey) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM forgotten_row WHERE key = ?1)";
        Ok(self.forgotten.contains(session) || self.forgets && self.tx.prepare_cached(sql)?.query_row([key.0], |r| r.get(0))?)
    }

    fn row(&mut self, batch: &IngestBatch, path: &Arc<str>, offset: u64, row: &'b Record) -> Result<()> {
        if self.is_forgotten(&row.session, row.key)? {
            return Ok(());
        }
        let (session, source) = match self.last.filter(|(last, ..)| last.session == row.session && last.agent == row.agent) {
            Some((_, session, source)) => (session, source),
            // What it says elsewhere may tell of what it did in the excluded project.
            None if self.is_out(batch, &row.session)? => return self.note_earlier(batch, path, row),
            None => {
                let session = self.session(batch, row)?;
                if self.any_from_afar {
                    origin::came_here(self.tx, session)?;
                }
                (session, self.source(session, path, row)?)
            }
        };
        self.last = Some((row, session, source));
        let words = self.words_of(&row.session)?;
        self.notes.entry((session, source)).or_default().add(row, &words);
        let (mut new, mut evidence) = (false, false);
        for (part, item) in row.parts.iter().zip(&row.items) {
            if let Item::Title(title) = item
                && let Some(leaf) = title.leaf
            {
                new |= self.leaf_title(leaf.0, &title.text)?;
                continue;
            }
            let place = ItemLocation { session, source, offset: offset as i64, part: *part };
            let of_evidence = matches!(item, Item::Evidence(_));
            if let Some(item) = words.clean_item(item) {
                let is_new = self.item(place, path, row, item)?;
                *if of_evidence { &mut evidence } else { &mut new } |= is_new;
            }
        }
        if let Some(usage) = &row.usage {
            let used = StoredUsage {
                message: MessageHash::of_id(&usage.message),
                model: usage.model.as_str().into(),
                tokens: usage.tokens,
                minute: row.at.map(|at| at.div_euclid(60_000)),
            };
            new |= self.gathered.put_usage(self.tx, session, Some(source), used)?;
        }
        self.done.rows_new += u64::from(new || evidence);
        if new {
            self.touched.insert(session);
        } else if evidence {
            self.same_words.insert(session);
        }
        Ok(())
    }

    /// A file that was not read for the part of a session that is kept has some of it, too: that is read again.
    fn note_earlier(&self, batch: &IngestBatch, path: &str, row: &Record) -> Result<()> {
        if batch.file.place.session == row.session && batch.file.place.agent.is_none() {
            let sql = "UPDATE excluded_session SET kept = 0 WHERE id = ?1 AND kept AND ?2 < cut_at AND NOT EXISTS (
                 SELECT 1 FROM source f JOIN session s ON s.pk = f.session WHERE s.id = ?1 AND f.file = ?3)";
            self.tx.prepare_cached(sql)?.execute(params![row.session, row.at, path])?;
        }
        Ok(())
    }

    /// Of two files of a session that hold the same record, the smaller path owns it, whichever was read first.
    fn item(&mut self, place: ItemLocation, path: &str, row: &Record, item: Cow<'b, Item>) -> Result<bool> {
        let tx = self.tx;
        let yields = |other: i64| {
            let sql = "SELECT ?2 < file FROM source WHERE pk = ?1";
            Ok(tx.prepare_cached(sql)?.query_row(params![other, path], |r| r.get(0))?)
        };
        let put = self.gathered.put(tx, &place, row.key, row.at, item, yields)?;
        if put == PutOutcome::TakenOver {
            self.same_words.insert(place.session);
        }
        Ok(put == PutOutcome::New)
    }

    /// Writes the buffered items.
    pub(crate) fn flush_items(&mut self) -> Result<()> {
        self.gathered.flush(self.tx, &mut self.whereabouts)
    }

    fn leaf_title(&mut self, leaf: [u8; 16], text: &str) -> Result<bool> {
        if self.is_forgotten("", RecordKey(leaf))? || self.is_forgotten("", RecordKey::of_title(RecordKey(leaf), text))? {
            return Ok(false);
        }
        self.echoes.new_titles = true;
        let new = self
            .tx
            .prepare_cached("INSERT INTO leaf_title VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
            .execute(params![leaf, text])?
            > 0;
        if new {
            // Sessions that gain records in this same transaction are marked by `mark_dirty`.
            for session in self.whereabouts.sessions_with(self.tx, RecordKey(leaf))? {
                self.tx.prepare_cached("UPDATE session SET dirty = 1, unindexed = 1 WHERE pk = ?1")?.execute([session])?;
            }
        }
        Ok(new)
    }

    /// The session of a record. It grew when the newest of its files did, in whatever order these are stored.
    fn session(&mut self, batch: &IngestBatch, row: &Record) -> Result<i64> {
        let seen = self.sessions.get(&row.session).copied();
        if let Some((pk, grew_at)) = seen
            && grew_at >= batch.grew_at
        {
            return Ok(pk);
        }
        let pk = match self.stored_session(&row.session)? {
            Some(pk) => {
                if seen.is_none() {
                    self.drop_told_by_others(pk, &row.session)?;
                }
                let grew = "UPDATE session SET grew_at = max(grew_at, ?2) WHERE pk = ?1";
                self.tx.prepare_cached(grew)?.execute(params![pk, batch.grew_at])?;
                pk
            }
            None => self.add_session(batch, row)?,
        };
        self.sessions.insert(row.session.clone(), (pk, batch.grew_at));
        Ok(pk)
    }

    /// The number of a session, if it is stored.
    pub(crate) fn stored_session(&self, id: &str) -> Result<Option<i64>> {
        self.sessions.get(id).map_or_else(|| session_row::find(self.tx, id), |(pk, _)| Ok(Some(*pk)))
    }

    /// A new session. Its project is that of the first folder that is known; which one it is in the end, all its sources tell.
    fn add_session(&mut self, batch: &IngestBatch, row: &Record) -> Result<i64> {
        let client = batch.file.place.client;
        *self.done.sessions_new.entry(client).or_default() += 1;
        let key = match &row.cwd {
            Some(cwd) => self.projects.key_of(cwd),
            None => folder_key(&batch.file.stored_path()),
        };
        let pk = session_row::add(self.tx, &row.session, ensure_project(self.tx, &key)?, client, batch.grew_at)?;
        self.added.insert(pk);
        self.gathered.begin_session(pk);
        Ok(pk)
    }

    /// Prompts that another tool told of are in the transcript, too, which knows better.
    fn drop_told_by_others(&mut self, session: i64, id: &str) -> Result<()> {
        let sql = "DELETE FROM source WHERE session = ?1 AND file = ?2";
        if self.tx.prepare_cached(sql)?.execute(params![session, CLAUDE_MEM])? > 0 {
            self.tx.execute("DELETE FROM start WHERE session = ?1 AND file = ?2", [id, CLAUDE_MEM])?;
            self.gathered.drop_session(session);
        }
        Ok(())
    }

    fn source(&mut self, session: i64, path: &Arc<str>, row: &Record) -> Result<i64> {
        let agent = row.agent.clone().unwrap_or_default();
        let key = (session, path.clone(), agent);
        let pk = match self.sources.get(&key) {
            Some(pk) => *pk,
            None => {
                let pk = self.ensure_source(session, path, &key.2)?;
                self.sources.insert(key, pk);
                pk
            }
        };
        Ok(pk)
    }

    /// The row of a source, which is made where there is none. Files are read from their beginning since evidence and folders are kept, so
    /// all of it was seen.
    fn ensure_source(&self, session: i64, file: &str, agent: &str) -> Result<i64> {
        let sql = "SELECT pk FROM source WHERE session = ?1 AND file = ?2 AND agent = ?3";
        let values = params![session, file, agent];
        if let Some(pk) = self.tx.prepare_cached(sql)?.query_row(values, |r| r.get(0)).optional()? {
            self.tx.prepare_cached("UPDATE source SET evident = 1, placed = 1 WHERE pk = ?1")?.execute([pk])?;
            return Ok(pk);
        }
        let sql = "INSERT INTO source(session, file, agent, evident, placed, since) VALUES (?1, ?2, ?3, 1, 1, 9223372036854775807)";
        Ok(self.tx.prepare_cached(sql)?.insert(values)?)
    }

    /// Sessions that gained records need a new digest, and so do their forks.
    pub(crate) fn mark_dirty(&self) -> Result<()> {
        for session in self.same_words.difference(&self.touched) {
            // So is what is left open, and what a model is given: its digest was paid for and stays, with an account that is made again.
            let sql = "UPDATE digest SET account_rules = NULL WHERE session = ?1 AND superseded = 0 AND summarizer <> ?2";
            let of_model = self.tx.prepare_cached(sql)?.execute(params![session, WITHOUT_MODEL])? > 0;
            let sql = "UPDATE session SET unindexed = 1, page_dirty = page_dirty OR ?2, dirty = CASE WHEN ?2 THEN dirty ELSE 1 END WHERE pk = ?1";
            self.tx.prepare_cached(sql)?.execute(params![session, of_model])?;
        }
        let any_digest: bool =
            self.tx.prepare_cached("SELECT EXISTS (SELECT 1 FROM digest WHERE superseded = 0)")?.query_row([], |r| r.get(0))?;
        for session in &self.touched {
            // A session without a digest only counts in its day page. One that is new is dirty as it is.
            if self.added.contains(session) {
                self.tx.prepare_cached("UPDATE session SET page_dirty = 1 WHERE pk = ?1")?.execute([session])?;
            } else {
                let sql = "UPDATE session SET dirty = 1, unindexed = 1, skip = NULL,
                 page_dirty = page_dirty OR NOT EXISTS (SELECT 1 FROM digest WHERE session = ?1 AND superseded = 0) WHERE pk = ?1";
                self.tx.prepare_cached(sql)?.execute([session])?;
            }
            let sql = "UPDATE session SET dirty = 1, unindexed = 1, skip = NULL WHERE pk = ?1 AND NOT (dirty = 1 AND unindexed)";
            for fork in chunk::forks_of(self.tx, *session)? {
                self.tx.prepare_cached(sql)?.execute([fork])?;
            }
            if !any_digest {
                continue;
            }
            // The next sessions of the project were shown this session's open items.
            let sql = format!(
                "UPDATE session SET dirty = 2 WHERE dirty = 0 AND pk IN (SELECT n.pk FROM session n JOIN session s ON s.pk = ?1
                     WHERE n.project = s.project AND (n.started_at, n.id) > (s.started_at, s.id) ORDER BY n.started_at, n.id LIMIT {SHOWN_EARLIER_SESSIONS})
                 AND EXISTS (SELECT 1 FROM digest WHERE session = session.pk AND superseded = 0)"
            );
            self.tx.prepare_cached(&sql)?.execute([session])?;
        }
        Ok(())
    }
}
