//! What comes back of a damaged index: whatever SQLite can still read of it, added to a copy.
//!
//! Each row is read on its own, from both ends of its table, so an unreadable page costs what lies on it. What the copy has stays as it is
//! there, unless the damaged index has something later. Nothing is written to the damaged index, and its pages are never read by other
//! means than SQLite's: without a readable header or schema nothing of it comes back.

mod tables;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use rusqlite::types::Value;
use rusqlite::{Row, params, params_from_iter};

use self::tables::{DAYS, FORGOTTEN, FORMER, LATER_DAYS, PAGES, SPEND, Table};
use super::{Maintenance, WholeIndex};
use crate::analyze::denied::DeniedStatement;
use crate::model::author::Author;
use crate::model::digest::is_by_model;
use crate::model::session_head::SessionHead;
use crate::store::chunk::RecordIndex;
use crate::store::forget::{Permanence, RemovalPlan};
use crate::store::notes::{NewNote, stored_author};
use crate::store::transfer::Exported;
use crate::store::{Reader, Writer, error, schema};
use transcripts::session::{Millis, RecordKey};

/// What an index holds that a restored one should hold again, as far as it can be read.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Ids of sessions.
    pub(crate) sessions: BTreeSet<String>,
    /// Sessions that have a digest. If digests cannot be listed: those that have a page or were paid for.
    pub(crate) digests: BTreeSet<String>,
    /// When and by which summarizer these were made, as far as it can be read.
    pub(crate) stamps: BTreeMap<String, DigestStamp>,
    /// Hashes of the records of each session, ascending: to tell whether another index has all of them.
    pub(crate) records: BTreeMap<String, Vec<u32>>,
    /// Sessions for which the model was paid.
    pub(crate) paid: BTreeSet<String>,
    /// Ids of notes.
    pub(crate) notes: BTreeSet<String>,
    /// Ids of open items that the user settled.
    pub(crate) settled: BTreeSet<String>,
    /// Ids of what the user took out because it is not so.
    pub(crate) denied: BTreeSet<String>,
    /// Sessions of which only a digest is stored.
    pub(crate) bare: BTreeSet<String>,
    /// What could not be listed to the end.
    pub(crate) unread: BTreeSet<Category>,
}

/// When a digest was made, in milliseconds since 1970, and by which summarizer.
pub(crate) type DigestStamp = (Millis, String);

/// What an index holds, by how its loss concerns the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Category {
    Sessions,
    Digests,
    Notes,
    Settled,
    Denied,
    Spend,
    /// What must not come back.
    Forgotten,
}

impl Category {
    pub(crate) const ALL: [Self; 7] =
        [Self::Sessions, Self::Digests, Self::Notes, Self::Settled, Self::Denied, Self::Spend, Self::Forgotten];
}

impl Contents {
    /// What an index holds, as far as it can be read.
    pub(crate) fn of(index: &Reader) -> Self {
        index.contents()
    }

    /// Of an index that cannot be read at all.
    pub(crate) fn unreadable() -> Self {
        Self { unread: Category::ALL.into(), ..Self::default() }
    }

    /// Both together; `unread` is the first one's.
    #[must_use]
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.sessions.extend(other.sessions);
        self.digests.extend(other.digests);
        for (id, stamp) in other.stamps {
            let latest = self.stamps.entry(id).or_insert_with(|| stamp.clone());
            *latest = stamp.max(latest.clone());
        }
        for (id, records) in other.records {
            merge(self.records.entry(id).or_default(), records);
        }
        self.paid.extend(other.paid);
        self.notes.extend(other.notes);
        self.settled.extend(other.settled);
        self.denied.extend(other.denied);
        self.bare.extend(other.bare);
        self
    }

    /// Sessions that are there now with fewer records, or fewer of those that there were.
    pub(crate) fn shortened<'c>(&'c self, now: &'c Self) -> impl Iterator<Item = &'c String> {
        let lacks = |(id, records): &(&String, &Vec<u32>)| {
            let now = now.records.get(*id).map_or(&[][..], Vec::as_slice);
            records.iter().any(|record| now.binary_search(record).is_err())
        };
        self.records.iter().filter(|(id, _)| now.sessions.contains(*id)).filter(lacks).map(|(id, _)| id)
    }

    /// Sessions without their digest now, or with an earlier one.
    pub(crate) fn undigested<'c>(&'c self, now: &'c Self) -> impl Iterator<Item = &'c String> {
        let is_earlier = |id: &String| self.stamps.get(id).zip(now.stamps.get(id)).is_some_and(|(was, is)| is.0 < was.0);
        self.digests.iter().filter(move |id| !now.digests.contains(*id) || is_earlier(id))
    }

    /// Was the model paid for the session's digest?
    pub(crate) fn is_paid(&self, id: &str) -> bool {
        self.paid.contains(id) || self.stamps.get(id).is_some_and(|(_, summarizer)| is_by_model(summarizer))
    }

    /// Is nothing known of what it held?
    pub(crate) fn is_unknown(&self) -> bool {
        !self.unread.is_empty() && [&self.sessions, &self.digests, &self.notes].iter().all(|ids| ids.is_empty())
    }

    pub(crate) fn count(&self) -> Salvaged {
        Salvaged { sessions: self.sessions.len(), digests: self.digests.len(), notes: self.notes.len() }
    }
}

/// How many sessions, digests and notes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Salvaged {
    pub(crate) sessions: usize,
    pub(crate) digests: usize,
    pub(crate) notes: usize,
}

fn merge(records: &mut Vec<u32>, more: Vec<u32>) {
    records.extend(more);
    records.sort_unstable();
    records.dedup();
}

/// Tables in which what a category lists lies. SQLite compares each with its indexes: pages that a lost write left as they were before
/// show as rows that one of them has and the other has not.
const LISTED_IN: [(Category, &[&str]); 7] = [
    (Category::Sessions, &["session", "source", "bundle", "bundle_hash", "project"]),
    // Of a digest it is known by its session whose it was.
    (Category::Digests, &["digest", "session"]),
    (Category::Notes, &["note"]),
    (Category::Settled, &["user_closed"]),
    (Category::Denied, &["wrong"]),
    (Category::Spend, &["spend"]),
    (
        Category::Forgotten,
        &["forgotten_session", "forgotten_row", "excluded_session", "session_folder", "private_turn", "private_word"],
    ),
];

impl WholeIndex {
    /// Can its table of sessions be found?
    pub(crate) fn has_sessions_table(&self) -> bool {
        self.db.prepare("SELECT 1 FROM session").is_ok()
    }

    /// Is it of another program's format? A damaged index is not upgraded, and most of it cannot be read then.
    pub(crate) fn has_other_format(&self) -> bool {
        self.version().is_ok_and(|version| version != schema::FORMAT && version <= schema::LAST)
    }

    /// What a damaged index holds. A list is not taken for whole if its table and the indexes of that do not agree.
    pub(crate) fn contents_of_damaged(&self) -> Contents {
        let mut all = self.contents();
        let is_sound = |table: &&str| {
            let sql = format!("PRAGMA integrity_check('{table}')");
            self.db.query_row(&sql, [], |r| r.get::<_, String>(0)).is_ok_and(|found| found == "ok")
        };
        all.unread.extend(LISTED_IN.iter().filter(|(_, tables)| !tables.iter().all(is_sound)).map(|(part, _)| *part));
        if all.unread.contains(&Category::Digests) {
            self.add_digests_by_traces(&mut all);
            self.drop_shut_out(&mut all);
        }
        all
    }
}

impl Reader {
    /// What it holds, as far as it can be read.
    fn contents(&self) -> Contents {
        let mut all = Contents::default();
        let current = "session s JOIN digest d ON d.session = s.pk AND NOT d.superseded";
        if !self.add_ids(&mut all.digests, current, "s.id") {
            all.unread.insert(Category::Digests);
        }
        // Calls about a topic belong to no session.
        self.add_ids(&mut all.paid, "spend WHERE actual_usd > 0 AND session <> '' AND session NOT GLOB 'topic-*'", "session");
        if all.unread.contains(&Category::Digests) {
            self.add_digests_by_traces(&mut all);
        }
        self.add_stamps(&mut all.stamps);
        self.add_records(&mut all.records);
        for (ids, part, table, column) in [
            (&mut all.sessions, Category::Sessions, "session s", "s.id"),
            (&mut all.notes, Category::Notes, "note n", "n.id"),
            (&mut all.settled, Category::Settled, "user_closed c", "c.id"),
            (&mut all.denied, Category::Denied, "wrong w", "w.id"),
            (
                &mut all.bare,
                Category::Sessions,
                "session s WHERE NOT EXISTS (SELECT 1 FROM source f WHERE f.session = s.pk)",
                "s.id",
            ),
        ] {
            if !self.add_ids(ids, table, column) {
                all.unread.insert(part);
            }
        }
        // The list above is that of the index of ids, this one that of the table.
        if !self.add_ids(&mut all.sessions, "session s NOT INDEXED", "s.id") {
            all.unread.insert(Category::Sessions);
        }
        for (table, part) in
            [(&SPEND, Category::Spend)].into_iter().chain(FORGOTTEN.iter().map(|table| (table, Category::Forgotten)))
        {
            if !self.rows_from_both_ends(table.columns, table.name, table.order, |r| r.get::<_, Value>(0)).1 {
                all.unread.insert(part);
            }
        }
        self.drop_shut_out(&mut all);
        all
    }

    /// Forgotten sessions are not lost. Their names may remain until their pages are gone.
    fn drop_shut_out(&self, all: &mut Contents) {
        for id in self.shut_out_sessions() {
            for ids in [&mut all.sessions, &mut all.digests, &mut all.paid, &mut all.bare] {
                ids.remove(&id);
            }
            all.stamps.remove(&id);
            all.records.remove(&id);
        }
    }

    /// Sessions with a page or a paid call have, or had, a digest.
    fn add_digests_by_traces(&self, all: &mut Contents) {
        self.add_ids(&mut all.digests, "session s JOIN page p ON p.session = s.pk", "s.id");
        all.digests.extend(all.paid.iter().cloned());
    }

    fn add_stamps(&self, stamps: &mut BTreeMap<String, DigestStamp>) {
        let table = "digest d JOIN session s ON s.pk = d.session AND NOT d.superseded";
        let stamp = |r: &Row<'_>| Ok((r.get::<_, String>(0)?, (r.get(1)?, r.get(2)?)));
        for (id, stamp) in self.rows_from_both_ends("s.id, d.made_at, d.summarizer", table, "d.pk", stamp).0 {
            let latest = stamps.entry(id).or_insert_with(|| stamp.clone());
            *latest = stamp.max(latest.clone());
        }
    }

    fn add_records(&self, all: &mut BTreeMap<String, Vec<u32>>) {
        let hashes = |r: &Row<'_>| {
            let (hashes, _) = r.get_ref(1)?.as_blob()?.as_chunks::<4>();
            Ok((r.get::<_, String>(0)?, hashes.iter().map(|hash| u32::from_le_bytes(*hash)).collect::<Vec<_>>()))
        };
        let table = "bundle_hash h JOIN session s ON s.pk = h.session";
        for (id, more) in self.rows_from_both_ends("s.id, h.hashes", table, "h.bundle", hashes).0 {
            all.entry(id).or_default().extend(more);
        }
        all.values_mut().for_each(|records| merge(records, Vec::new()));
    }

    /// Adds the ids of a table, as far as they can be read. True if that is all of them.
    fn add_ids(&self, to: &mut BTreeSet<String>, table: &str, column: &str) -> bool {
        let (ids, all) = self.rows_from_both_ends(column, table, column, |r| r.get::<_, String>(0));
        to.extend(ids);
        all
    }

    /// The rows of a table as far as they can be read, and whether that is all of them. A row that is read from both ends is there twice.
    fn rows_from_both_ends<T>(
        &self,
        columns: &str,
        table: &str,
        order: &str,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> (Vec<T>, bool) {
        let mut all = Vec::new();
        let backwards = order.split(", ").map(|column| format!("{column} DESC")).collect::<Vec<_>>().join(", ");
        let whole = self.read_on(&format!("SELECT {columns} FROM {table} ORDER BY {order}"), &read, &mut all);
        if !whole {
            self.read_on(&format!("SELECT {columns} FROM {table} ORDER BY {backwards}"), &read, &mut all);
        }
        (all, whole)
    }

    /// Reads rows until one cannot be read; false then.
    fn read_on<T>(&self, sql: &str, read: &impl Fn(&Row<'_>) -> rusqlite::Result<T>, all: &mut Vec<T>) -> bool {
        let Ok(mut query) = self.db.prepare(sql) else { return false };
        let Ok(mut rows) = query.query([]) else { return false };
        loop {
            match rows.next() {
                Ok(Some(row)) => match read(row) {
                    Ok(value) => all.push(value),
                    Err(_) => return false,
                },
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    fn shut_out_sessions(&self) -> BTreeSet<String> {
        self.rows_from_both_ends("id", "forgotten_session", "id", |r| r.get(0)).0.into_iter().collect()
    }

    /// A session as far as it can be read: whole; else without its digest; else its digest alone.
    fn what_is_left(&self, pk: i64) -> Option<Exported> {
        let head = self.session_head(pk).ok().filter(|head| self.is_named_so(head))?;
        let whole = self.export_as_stored(&head).or_else(|_| self.export_without_digest(&head));
        whole.or_else(|_| self.export_only_digest(&head)).ok()
    }

    /// Is the session's id undamaged? One with a wrong byte is not found by its index, and looks unlike an id.
    fn is_named_so(&self, head: &SessionHead) -> bool {
        let looks_so = head.id.len() == 36 && head.id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        looks_so || self.looked_up(&head.id).is_ok_and(|found| found == Some(head.pk))
    }

    fn looked_up(&self, id: &str) -> Result<Option<i64>> {
        let mut query = self.db.prepare_cached("SELECT pk FROM session WHERE id = ?1")?;
        let mut rows = query.query([id])?;
        Ok(rows.next()?.map(|r| r.get(0)).transpose()?)
    }
}

impl Writer {
    /// Settles an open item of which a page says that it was, unless that is known. False also if its session is not stored, or went on in an
    /// excluded folder: the page may be of before.
    pub(crate) fn settle_again(&self, session: &str, (id, text): (&str, &str), at: Millis, by: &Author) -> Result<bool> {
        let sql = "INSERT INTO user_closed(id, of, text, at, author) SELECT ?1, pk, ?3, ?4, ?5 FROM session
             WHERE id = ?2 AND NOT EXISTS (SELECT 1 FROM closed_item WHERE id = ?1)
             AND NOT EXISTS (SELECT 1 FROM closing WHERE id = ?1)
             AND NOT EXISTS (SELECT 1 FROM excluded_session WHERE id = ?2) ON CONFLICT DO NOTHING";
        let new = self.db.prepare_cached(sql)?.execute(params![id, session, text, at, stored_author(by)])? > 0;
        self.db.prepare_cached("UPDATE session SET page_dirty = 1 WHERE id = ?1 AND ?2")?.execute(params![session, new])?;
        Ok(new)
    }
}

impl Maintenance {
    /// Deletes what the damaged index knows to be forgotten, because a copy may be older. Returns whether there was any.
    pub(crate) fn forget_as(&mut self, damaged: &WholeIndex) -> Result<bool> {
        let mut doomed = RemovalPlan::default();
        for id in damaged.shut_out_sessions() {
            if !self.is_shut_out(&id)? {
                doomed.whole.extend(self.looked_up(&id)?);
            }
        }
        let (keys, _) = damaged.rows_from_both_ends("key", "forgotten_row", "key", |r| r.get(0).map(RecordKey));
        let mut whereabouts = RecordIndex::load(&self.db)?;
        for key in keys {
            // Known to be forgotten here and stored all the same: a hand-made record that shares its key with another.
            if self.is_forgotten_row(key)? {
                continue;
            }
            for session in whereabouts.sessions_with(&self.db, key)? {
                doomed.rows.entry(session).or_default().insert(key);
            }
        }
        doomed.rows.retain(|session, _| !doomed.whole.contains(session));
        // Digests were made from such records.
        doomed.digests = doomed.rows.keys().copied().collect();
        let any = !doomed.is_empty();
        if any {
            self.take_out(&doomed, Permanence::ForGood)?;
        }
        Ok(any)
    }

    /// Adds what a damaged index, or a damaged copy, still gives. What cannot be read is skipped; the contents of both say what is missing.
    pub(crate) fn salvage(&mut self, damaged: &WholeIndex) -> Result<Salvaged> {
        let mut salvaged = Salvaged::default();
        let shut_out = damaged.shut_out_sessions();
        let (sessions, _) = damaged.rows_from_both_ends("pk", "session", "pk", |r| r.get::<_, i64>(0));
        for pk in BTreeSet::from_iter(sessions) {
            let Some(exported) = damaged.what_is_left(pk).filter(|exported| !shut_out.contains(&exported.session)) else {
                continue;
            };
            skipping(self.take_over(exported, &mut salvaged))?;
        }
        let (notes, _) = damaged.rows_from_both_ends("pk", "note", "pk", |r| r.get::<_, i64>(0));
        for pk in BTreeSet::from_iter(notes) {
            let Ok(note) = damaged.note(pk) else { continue };
            let (project, author, closed) = (note.project.key, note.author, note.closed);
            let new = NewNote { project, kind: note.kind, text: note.text, at: note.at, author, closed };
            let taken = self.import_note(&note.id, &new).map(|new| salvaged.notes += usize::from(new));
            skipping(taken)?;
        }
        self.deny_as(damaged)?;
        // After the sessions, because importing one lifts that it was forgotten.
        for table in FORGOTTEN.iter().chain([&SPEND, &PAGES, &DAYS, &LATER_DAYS, &FORMER]) {
            self.take_rows(damaged, table)?;
        }
        Ok(salvaged)
    }

    /// Takes out what the damaged index knows to be not so.
    fn deny_as(&mut self, damaged: &WholeIndex) -> Result<()> {
        let denial = |r: &Row<'_>| Ok((r.get::<_, String>(0)?, (r.get::<_, String>(1)?, r.get::<_, Vec<u8>>(2)?, r.get(3)?)));
        let table = "wrong w JOIN session s ON s.pk = w.session";
        let (all, _) = damaged.rows_from_both_ends("s.id, w.id, w.words, w.at", table, "s.id, w.id", denial);
        let mut of_sessions: BTreeMap<String, Vec<(String, Vec<u8>, Millis)>> = BTreeMap::new();
        for (session, denied) in all.into_iter().filter(|(_, (id, ..))| DeniedStatement::is_id(id)) {
            of_sessions.entry(session).or_default().push(denied);
        }
        for (session, denied) in of_sessions {
            if let Some(pk) = self.looked_up(&session)? {
                let head = self.session_head(pk)?;
                for (id, words, at) in denied {
                    self.deny(&head, &[DeniedStatement::from_bytes(id, &words)], at)?;
                }
            }
        }
        Ok(())
    }

    fn take_over(&mut self, exported: Exported, salvaged: &mut Salvaged) -> Result<()> {
        let known = self.looked_up(&exported.session)?;
        let had = known.map(|pk| self.digest_of(pk)).transpose()?.flatten().map(|digest| digest.made_at);
        let later = exported.digest.clone().filter(|digest| had.is_none_or(|at| at < digest.made_at));
        let (id, dirty) = (exported.session.clone(), exported.dirty);
        self.import_session(exported)?;
        salvaged.sessions += usize::from(known.is_none());
        if let Some(digest) = later {
            salvaged.digests += 1;
            if let Some(pk) = self.looked_up(&id)?.filter(|_| had.is_some()) {
                self.put_in_place(pk, &digest, dirty)?;
            }
        }
        Ok(())
    }

    fn take_rows(&mut self, damaged: &WholeIndex, table: &Table) -> Result<()> {
        let columns = table.columns.split(", ").count();
        let values = |r: &Row<'_>| (0..columns).map(|at| r.get(at)).collect::<rusqlite::Result<Vec<Value>>>();
        let (rows, _) = damaged.rows_from_both_ends(table.columns, table.name, table.order, values);
        let tx = self.reader.db.transaction()?;
        for row in rows {
            // A value of another type than the column's was never stored: it is part of the damage.
            let taken = tx.prepare_cached(table.insert)?.execute(params_from_iter(row));
            if let Err(e) = taken
                && e.sqlite_error_code() != Some(rusqlite::ErrorCode::ConstraintViolation)
            {
                return Err(e.into());
            }
        }
        Ok(tx.commit()?)
    }
}

/// What cannot be stored is part of the damage and is skipped, unless nothing can be stored any more.
fn skipping(taken: Result<()>) -> Result<()> {
    taken.or_else(|e| if error::is_store_error(&e) { Err(e) } else { Ok(()) })
}
