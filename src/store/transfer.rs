//! Export and import of everything stored, in a format that outlives the database's own: for `recall export` and `recall import`.

mod exported;
pub(crate) mod streamed;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use anyhow::Result;
use rusqlite::{Transaction, params};

pub use self::exported::{Exported, ExportedClosing, ExportedDigest, ExportedNote, ExportedRow, ExportedSource, ExportedUsage};
use super::forget::readmit;
use super::ingest::remove_echoes;
use super::load::{self, SELECT_HEAD};
use super::notes::stored_author;
use super::origin;
use super::private_words::all_private_words_of;
use super::projects::ensure_project;
use super::session_row;
use super::undone::{self, Undone};
use super::{Reader, Writer, digests::NewDigest, packed::PackedAccount, packed::PackedDigest};
use crate::analyze::account::{AccountToStore, SessionAccount};
use crate::analyze::denied::DeniedStatement;
use crate::config::SummarizerChoice;
use crate::model::author::Author;
use crate::model::digest::OpenItem;
use crate::model::session_head::SessionHead;
use crate::model::stored_digest::StoredDigest;
use crate::store::chunk;
use crate::store::chunk::{
    ItemBuffer, ItemHeader, ItemLocation, MessageHash, PutOutcome, RecordIndex, StoredItem, StoredUsage, TextReader,
};
use crate::store::codec::list;
use transcripts::session::SessionFacts;
use transcripts::session::ToldElsewhere;
use transcripts::session::{Millis, RecordKey, hex};

impl Reader {
    pub fn export_session(&self, head: &SessionHead) -> Result<Exported> {
        let (digest, wrong) = (self.export_digest(head.pk)?, self.export_denied(head.pk)?);
        Ok(Exported { digest, wrong, dirty: head.dirty, ..self.export_without_digest(head)? })
    }

    /// A session as another machine is told of it: what came of it, without its items and without what was said of it since.
    pub(crate) fn export_what_came(&self, head: &SessionHead) -> Result<Exported> {
        let sources = self.export_sources(head.pk, |_| Vec::new())?;
        let usage = StoredUsage::of_session(&self.db, head.pk)?.into_values().map(exported_usage).collect();
        let (session, digest) = (self.load_session(head)?, self.export_digest(head.pk)?);
        // What was not digested yet is told of once it is.
        let account = match digest {
            Some(_) => AccountToStore::whole(&session, self.goes_on(head.pk)?),
            None => AccountToStore::default(),
        };
        let (machine, facts) = (String::new(), SessionFacts::of(&session));
        let told = ToldElsewhere { machine, facts, account: serde_json::to_value(account)? };
        let whole = self.export_common(head, sources, usage)?;
        Ok(Exported {
            digest,
            told: Some(told),
            titles: Vec::new(),
            asked: Vec::new(),
            closed_by_user: Vec::new(),
            closers: BTreeMap::new(),
            dirty: false,
            ..whole
        })
    }

    /// Is anything stored of the session with this id?
    pub(crate) fn holds_session(&self, id: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM session WHERE id = ?1)";
        Ok(self.db.prepare_cached(sql)?.query_row([id], |r| r.get(0))?)
    }

    /// Was a transcript read that is named after this session?
    pub(crate) fn has_read_transcript_of(&self, id: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM file WHERE instr(path, '/' || ?1 || '.jsonl'))";
        Ok(self.db.prepare_cached(sql)?.query_row([id], |r| r.get(0))?)
    }

    /// Exports a session as it is stored, with the words of what was taken out and without the list of that: it may be what is damaged.
    pub(super) fn export_as_stored(&self, head: &SessionHead) -> Result<Exported> {
        let digest = self.export_whole_digest(head.pk)?;
        Ok(Exported { digest, dirty: head.dirty, ..self.export_without_digest(head)? })
    }

    /// The same of a session whose digest cannot be read: another one can be made.
    pub(super) fn export_without_digest(&self, head: &SessionHead) -> Result<Exported> {
        let mut rows = self.export_rows(head)?;
        let sources = self.export_sources(head.pk, |source| rows.remove(&source).unwrap_or_default())?;
        let usage = StoredUsage::of_session(&self.db, head.pk)?.into_values().map(exported_usage).collect();
        self.export_common(head, sources, usage)
    }

    /// Everything of a session except its digest, whether that is up to date, and what of both was taken out.
    fn export_common<R, U: Default>(
        &self,
        head: &SessionHead,
        sources: Vec<ExportedSource<R>>,
        usage: U,
    ) -> Result<Exported<R, U>> {
        let titles = self.export_titles(head.pk)?;
        let closed_by_user = self.user_closings(head.pk)?;
        let closers = self.closers_of(head.pk)?.into_iter().filter(|(_, by)| *by != Author::Unknown).collect();
        let asked = undone::prompts_if_any_undone(&self.db, &head.id)?;
        let words = self.private_words(head)?;
        let folders = self.folders_stored(head)?.into_iter().filter(|folder| !words.are_in(folder)).collect();
        Ok(Exported { sources, folders, usage, titles, asked, closed_by_user, closers, dirty: true, ..self.export_head(head)? })
    }

    /// Exports the digest of a session whose records cannot be read. Marked as final, because nothing is left to make another one from.
    pub(super) fn export_only_digest(&self, head: &SessionHead) -> Result<Exported> {
        let digest = self.export_whole_digest(head.pk)?.map(|digest| ExportedDigest { interim_until: None, ..digest });
        Ok(Exported { digest, dirty: false, ..self.export_head(head)? })
    }

    fn export_head<R, U: Default>(&self, head: &SessionHead) -> Result<Exported<R, U>> {
        let origin = self.origin_of(head.pk)?;
        let told = self.told_elsewhere(head.pk)?;
        Ok(Exported {
            session: head.id.clone(),
            project: head.project.key.clone(),
            started_at: (head.started_at != Millis::MAX).then_some(head.started_at),
            grew_at: head.grew_at,
            ended_at: head.ended_at,
            end_reason: head.end_reason.clone(),
            client: head.client,
            sources: Vec::new(),
            folders: Vec::new(),
            usage: U::default(),
            titles: Vec::new(),
            asked: Vec::new(),
            dirty: head.dirty,
            digest: None,
            closed_by_user: Vec::new(),
            closers: BTreeMap::new(),
            wrong: Vec::new(),
            told,
            origin,
        })
    }

    fn export_digest(&self, session: i64) -> Result<Option<ExportedDigest>> {
        let closed = self.export_closings(session)?;
        Ok(self.digest_of(session)?.map(|stored| exported_digest(stored, closed)))
    }

    fn export_whole_digest(&self, session: i64) -> Result<Option<ExportedDigest>> {
        let closed = self.export_closings(session)?;
        Ok(self.whole_digest_of(session)?.map(|stored| exported_digest(stored, closed)))
    }

    fn export_closings(&self, session: i64) -> Result<Vec<ExportedClosing>> {
        let sql = "SELECT c.id, s.id, c.text FROM closed_item c JOIN session s ON s.pk = c.of WHERE c.session = ?1 ORDER BY c.id";
        let mut query = self.db.prepare_cached(sql)?;
        let rows = query.query_map([session], |r| Ok(ExportedClosing { id: r.get(0)?, of: r.get(1)?, text: r.get(2)? }))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// What the user said is not so: id, words as they are stored, time.
    pub(super) fn export_denied(&self, session: i64) -> Result<Vec<(String, Vec<u8>, Millis)>> {
        let mut query = self.db.prepare_cached("SELECT id, words, at FROM wrong WHERE session = ?1 ORDER BY id")?;
        let all = query.query_map([session], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
        Ok(all.collect::<rusqlite::Result<_>>()?)
    }

    fn export_sources<R>(&self, session: i64, mut rows_of: impl FnMut(i64) -> R) -> Result<Vec<ExportedSource<R>>> {
        let sql = "SELECT pk, file, agent, first_at, last_at, cwd, branches, versions, evident, placed FROM source WHERE session = ?1 ORDER BY file, agent";
        let mut query = self.db.prepare_cached(sql)?;
        let mut rows = query.query([session])?;
        let mut sources = Vec::new();
        while let Some(r) = rows.next()? {
            sources.push(ExportedSource {
                file: r.get(1)?,
                agent: r.get(2)?,
                first_at: r.get(3)?,
                last_at: r.get(4)?,
                cwd: r.get(5)?,
                branches: list(&r.get::<_, String>(6)?)?,
                versions: list(&r.get::<_, String>(7)?)?,
                evident: r.get(8)?,
                placed: r.get(9)?,
                rows: rows_of(r.get(0)?),
            });
        }
        Ok(sources)
    }

    /// Items of a session, by source.
    fn export_rows(&self, head: &SessionHead) -> Result<HashMap<i64, Vec<ExportedRow>>> {
        let (mut texts, undone) = (TextReader::new(&self.db), Undone::of(&self.db, head)?);
        let mut all: HashMap<i64, Vec<ExportedRow>> = HashMap::new();
        for kept in chunk::items_of(&self.db, head.pk)? {
            all.entry(kept.source).or_default().push(exported_row(&mut texts, &undone, &kept)?);
        }
        Ok(all)
    }

    fn export_titles(&self, session: i64) -> Result<Vec<(RecordKey, String)>> {
        let titles = self.titles_of(|| Ok(chunk::items_of(&self.db, session)?.iter().map(|kept| kept.line.key).collect()))?;
        Ok(titles.into_iter().flat_map(|(leaf, texts)| texts.into_iter().map(move |text| (leaf, text))).collect())
    }
}

impl Writer {
    /// Imports one session. What is already here stays, so importing twice changes nothing. Returns whether anything was new.
    ///
    /// Importing forgotten records brings them back; private ones stay out.
    pub fn import_session(&mut self, exported: Exported) -> Result<bool> {
        let tx = self.reader.db.transaction()?;
        let sql = "SELECT EXISTS (SELECT 1 FROM forgotten_row WHERE key = ?1 AND private)";
        let exported = exported.without(|key| tx.prepare_cached(sql)?.query_row([key.0], |r| r.get(0)))?;
        let rows = exported.sources.iter().flat_map(|source| &source.rows).map(|row| row.key);
        let titles = exported.titles.iter().map(|(leaf, text)| RecordKey::of_title(*leaf, text));
        readmit(&tx, &exported.session, rows.chain(titles))?;
        let project = ensure_project(&tx, &exported.project)?;
        let known = session_row::find(&tx, &exported.session)?;
        let mut new = known.is_none();
        let session = match known {
            Some(session) => session,
            None => {
                let session = session_row::add(&tx, &exported.session, project, exported.client, exported.grew_at)?;
                // `page_dirty`, so that the session is removed again if none of its data is imported.
                let sql = "UPDATE session SET started_at = ?2, ended_at = ?3, end_reason = ?4, page_dirty = 1 WHERE pk = ?1";
                tx.execute(sql, params![session, exported.started_at, exported.ended_at, exported.end_reason])?;
                session
            }
        };
        let mut rows_new = import_rows(&tx, session, &exported)?;
        // Here it is kept in part, and what comes may be more.
        tx.execute("UPDATE excluded_session SET kept = 0 WHERE id = ?1", [&exported.session])?;
        for folder in &exported.folders {
            tx.execute(
                "INSERT INTO session_folder(session, folder) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET since = 0",
                [&exported.session, folder],
            )?;
        }
        for (leaf, text) in &exported.titles {
            rows_new |= tx.execute("INSERT INTO leaf_title VALUES (?1, ?2) ON CONFLICT DO NOTHING", params![leaf.0, text])? > 0;
        }
        for (file, asked) in &exported.asked {
            for one in asked {
                rows_new |= undone::note(&tx, &exported.session, file, one)?;
            }
        }
        for (id, text, at) in &exported.closed_by_user {
            let by = exported.closers.get(id).map(Author::resanitized).unwrap_or_default();
            let sql = "INSERT INTO user_closed(id, of, text, at, author) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
            new |= tx.execute(sql, params![id, session, text, at, stored_author(&by)])? > 0;
        }
        let mut denied = Vec::new();
        for (id, words, at) in &exported.wrong {
            if super::wrong::put(&tx, session, &DeniedStatement::from_bytes(id.clone(), words), *at)? {
                denied.push(id.as_str());
            }
        }
        let words = all_private_words_of(&tx, &load::head_of(&tx, session)?)?;
        let mut digest = exported.digest.as_ref();
        if !words.is_empty() && remove_echoes(&tx, session, &words)? {
            // The digest may mention them too.
            digest = None;
        }
        if rows_new {
            tx.execute("UPDATE session SET dirty = 1, unindexed = 1 WHERE pk = ?1", [session])?;
            mark_later_forks(&tx, session)?;
        }
        if let Some(from) = exported.origin.as_ref().filter(|_| new) {
            origin::put_origin(&tx, session, from, exported.told.as_ref())?;
        }
        tx.commit()?;
        new |= rows_new | !denied.is_empty();
        if let Some(digest) = digest
            && self.digest_of(session)?.is_none()
        {
            self.put_in_place(session, digest, exported.dirty)?;
            new = true;
        } else if !denied.is_empty() {
            self.retell_without(&self.session_head(session)?, &denied)?;
        }
        Ok(new)
    }

    /// Stores an exported digest as the session's own; `dirty` when records are newer than it.
    pub(super) fn put_in_place(&mut self, session: i64, digest: &ExportedDigest, dirty: bool) -> Result<()> {
        self.import_digest(session, digest)?;
        if dirty {
            self.db.execute("UPDATE session SET dirty = 1 WHERE pk = ?1", [session])?;
        }
        Ok(())
    }

    fn import_digest(&mut self, session: i64, digest: &ExportedDigest) -> Result<()> {
        let head = self.session_head(session)?;
        let account = match self.told_elsewhere(session)? {
            Some(_) => {
                let (session, goes_on) = (self.load_session(&head)?, digest.interim_until.is_some());
                Some(PackedAccount::new(AccountToStore::new(&session, SessionAccount::of(&session, goes_on)))?)
            }
            None => None,
        };
        let mut input_hash = [0; 32];
        for (byte, pair) in input_hash.iter_mut().zip(digest.input_hash.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair)?, 16)?;
        }
        let mut open = Vec::new();
        for closing in &digest.closed {
            open.extend(self.session_pk(&closing.of)?.map(|session| OpenItem {
                id: closing.id.clone(),
                text: closing.text.clone(),
                session,
            }));
        }
        let summarizer = SummarizerChoice::stored_word(&digest.summarizer);
        self.save_digest(
            &head,
            &NewDigest {
                summarizer,
                model: digest.model.clone(),
                input_hash,
                made_at: digest.made_at,
                cost_usd: digest.cost_usd,
                queued: digest.queued,
                interim_until: digest.interim_until,
                basis: None,
                open: &open,
                digest: PackedDigest::new(digest.body.clone(), account.as_ref())?,
                account: account.as_ref(),
            },
        )
    }
}

fn exported_digest(stored: StoredDigest, closed: Vec<ExportedClosing>) -> ExportedDigest {
    ExportedDigest {
        closed,
        summarizer: stored.summarizer,
        model: stored.model,
        input_hash: hex(&stored.input_hash),
        made_at: stored.made_at,
        cost_usd: stored.cost_usd,
        queued: stored.queued,
        interim_until: stored.interim_until,
        body: stored.digest,
    }
}

fn exported_row(texts: &mut TextReader<'_>, undone: &Undone, kept: &StoredItem) -> Result<ExportedRow> {
    let ItemHeader { offset, part, key, at, .. } = kept.line;
    Ok(ExportedRow { offset, part, key, at, item: texts.take(kept)?, undone: undone.holds(kept) })
}

fn exported_usage(used: StoredUsage) -> ExportedUsage {
    ExportedUsage { message: used.message.to_string(), model: used.model.to_string(), tokens: used.tokens, minute: used.minute }
}

/// Marks later forks: records they share with an imported session now belong to it.
fn mark_later_forks(tx: &Transaction<'_>, session: i64) -> Result<()> {
    let head = tx.query_row(&format!("{SELECT_HEAD} WHERE s.pk = ?1"), [session], load::head)?;
    for later in chunk::later_forks(tx, &head)? {
        tx.execute("UPDATE session SET dirty = 1, unindexed = 1 WHERE pk = ?1", [later])?;
    }
    Ok(())
}

/// Imports a session's items and usage. Returns whether anything was new.
fn import_rows(tx: &Transaction<'_>, session: i64, exported: &Exported) -> Result<bool> {
    let mut any_new = false;
    let mut gathered = ItemBuffer::default();
    let mut first = None;
    for source in &exported.sources {
        let (pk, new) = import_source(tx, &mut gathered, session, exported, source)?;
        first = first.or(Some(pk));
        any_new |= new;
    }
    for used in &exported.usage {
        let message = MessageHash::of_text(&used.message);
        let used = StoredUsage { message, model: used.model.as_str().into(), tokens: used.tokens, minute: used.minute };
        any_new |= gathered.put_usage(tx, session, first, used)?;
    }
    if any_new {
        let mut whereabouts = RecordIndex::load(tx)?;
        gathered.flush(tx, &mut whereabouts)?;
    }
    Ok(any_new)
}

/// Imports a source. Returns its number and whether anything was new.
fn import_source<'i>(
    tx: &Transaction<'_>,
    gathered: &mut ItemBuffer<'i>,
    session: i64,
    exported: &Exported,
    source: &'i ExportedSource,
) -> Result<(i64, bool)> {
    let sql = "INSERT INTO source(session, file, agent, first_at, last_at, cwd, branches, versions, evident, placed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT DO UPDATE SET file = file RETURNING pk";
    let lists = (serde_json::to_string(&source.branches)?, serde_json::to_string(&source.versions)?);
    let ExportedSource { first_at, last_at, cwd, evident, placed, .. } = source;
    let values = params![session, source.file, source.agent, first_at, last_at, cwd, lists.0, lists.1, evident, placed];
    let pk: i64 = tx.prepare_cached(sql)?.query_row(values, |r| r.get(0))?;
    if let Some(at) = exported.started_at {
        tx.execute("INSERT INTO start VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING", params![exported.session, source.file, at])?;
    }
    if let Some(at) = source.last_at {
        let sql = "UPDATE session SET last_at = ?2 WHERE pk = ?1 AND coalesce(last_at, ?2 - 1) < ?2";
        tx.prepare_cached(sql)?.execute([session, at])?;
    }
    let mut new = false;
    for row in &source.rows {
        let place = ItemLocation { session, source: pk, offset: row.offset, part: row.part };
        new |= gathered.put(tx, &place, row.key, row.at, Cow::Borrowed(&row.item), |_| Ok(false))? == PutOutcome::New;
    }
    Ok((pk, new))
}
