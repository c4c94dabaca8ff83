//! Which pages exist, and which are out of date.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Reader, Writer};
use crate::store::chunk::StoredUsage;
use crate::store::load::BEGINS_WITH_TIME;
use text::clean::id8;
use transcripts::session::SessionFacts;
use transcripts::session::{Millis, Tokens};

/// Name of the fact that holds the time zone by which page days are determined.
const ZONE_FACT: &str = "page-zone";

/// Name of the fact that pages may hold what the index does not.
const UNREAD_FACT: &str = "pages-unread";

/// Name of the fact that the index knows the session of every page.
const NO_ORPHANS_FACT: &str = "pages-no-orphans";

/// Name of the fact that an exchange may have changed the index, and pages and documents tell what it was before.
const LAG_FACT: &str = "pages-lag";

/// Why pages may hold what the index does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnreadPages {
    /// The index is new: they are those of another one.
    OfAnother,
    /// The index was mended, and they tell what it lost.
    OfMended,
    /// Either, and something was forgotten since.
    AfterForget,
}

/// True for a `session s` without a digest.
const HAS_NO_DIGEST: &str = "NOT EXISTS (SELECT 1 FROM digest WHERE session = s.pk AND superseded = 0)";

/// A recorded page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageRecord {
    /// Relative to the data folder.
    pub(crate) path: String,
    /// `None` for a day page.
    pub(crate) session: Option<i64>,
    /// `YYYY-MM-DD`
    pub(crate) day: String,
}

/// From the columns path, session and day.
fn page_record(r: &Row<'_>) -> rusqlite::Result<PageRecord> {
    Ok(PageRecord { path: r.get(0)?, session: r.get(1)?, day: r.get(2)? })
}

/// The ids of all sessions, read once: asking the index about each of many sessions would look through all ids for each.
#[derive(Debug)]
pub(crate) struct SessionIds {
    /// In order.
    ids: Vec<String>,
    /// The ends of those that begin with the time, each with its id, in order.
    ends: Vec<(String, String)>,
}

impl SessionIds {
    /// What [`Reader::shares_id8`] says of a session.
    pub(crate) fn shares_id8(&self, id: &str) -> bool {
        let shown = id8(id);
        let from = self.ids.partition_point(|other| *other < shown);
        let mut alike = self.ids[from..].iter().take_while(|other| other.starts_with(&shown));
        let from = self.ends.partition_point(|(end, _)| *end < shown);
        let mut ends_alike = self.ends[from..].iter().take_while(|(end, _)| *end == shown);
        alike.any(|other| other != id) || ends_alike.any(|(_, other)| other != id)
    }

    /// The session of which people see this; `None` if there is none, or another one, too.
    #[cfg(feature = "web")]
    pub(crate) fn of_id8(&self, shown: &str) -> Option<&str> {
        let from = self.ids.partition_point(|id| id.as_str() < shown);
        let begins = self.ids[from..].iter().take_while(|id| id.starts_with(shown));
        let from = self.ends.partition_point(|(end, _)| end.as_str() < shown);
        let ends = self.ends[from..].iter().take_while(|(end, _)| end == shown).map(|(_, id)| id);
        let mut all = begins.chain(ends);
        all.next().filter(|_| all.next().is_none()).map(String::as_str)
    }

    #[cfg(feature = "web")]
    pub(crate) fn all(&self) -> &[String] {
        &self.ids
    }
}

/// True when nothing is left of a session.
pub(super) const IS_EMPTY: &str =
    "NOT EXISTS (SELECT 1 FROM source WHERE session = session.pk) AND NOT EXISTS (SELECT 1 FROM digest WHERE session = session.pk)";

impl Reader {
    /// Sessions whose pages are out of date, by start.
    pub(crate) fn sessions_with_outdated_pages(&self) -> Result<Vec<i64>> {
        let mut query = self.db.prepare("SELECT pk FROM session WHERE page_dirty ORDER BY started_at, id")?;
        Ok(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    /// The same, and all others that have a digest.
    pub(crate) fn digested_or_dirty(&self) -> Result<Vec<i64>> {
        let sql =
            "SELECT pk FROM session WHERE page_dirty OR EXISTS (SELECT 1 FROM digest WHERE session = session.pk AND superseded = 0)
             ORDER BY started_at, id";
        let mut query = self.db.prepare(sql)?;
        Ok(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    /// Goes through the tables of sessions and of pages, without a look at their rows. A run with nothing new reads none of them, and is to notice all
    /// the same that they are damaged.
    pub(crate) fn go_through_lists(&self) -> Result<()> {
        for list in ["session", "page"] {
            self.db.query_row(&format!("SELECT count(*) FROM {list} NOT INDEXED"), [], |_| Ok(()))?;
        }
        Ok(())
    }

    pub(crate) fn has_pages(&self) -> Result<bool> {
        Ok(self.db.query_row("SELECT EXISTS (SELECT 1 FROM page)", [], |r| r.get(0))?)
    }

    /// Visits the paths of all pages. Every run does: of the table nothing but an index is read.
    pub(crate) fn each_page(&self, mut visit: impl FnMut(&str)) -> Result<()> {
        let mut query = self.db.prepare("SELECT path FROM page INDEXED BY page_session")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            visit(row.get_ref(0)?.as_str()?);
        }
        Ok(())
    }

    pub(crate) fn page_at(&self, path: &str) -> Result<Option<PageRecord>> {
        let mut query = self.db.prepare_cached("SELECT path, session, day FROM page WHERE path = ?1")?;
        Ok(query.query_row([path], page_record).optional()?)
    }

    pub(crate) fn pages(&self) -> Result<Vec<PageRecord>> {
        let mut query = self.db.prepare("SELECT path, session, day FROM page ORDER BY path")?;
        let rows = query.query_map([], page_record)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The days that have a page of their own.
    pub(crate) fn days_with_page(&self) -> Result<BTreeSet<String>> {
        let mut query = self.db.prepare("SELECT day FROM page WHERE session IS NULL")?;
        Ok(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    /// The time zone by which page days were determined, if recorded.
    pub(crate) fn page_zone(&self) -> Result<Option<String>> {
        let mut query = self.db.prepare_cached("SELECT value FROM fact WHERE name = ?1")?;
        Ok(query.query_row([ZONE_FACT], |r| r.get(0)).optional()?)
    }

    /// Why pages may hold what the index does not; `None` if they do not.
    pub(crate) fn unread_pages(&self) -> Result<Option<UnreadPages>> {
        let mut query = self.db.prepare_cached("SELECT value FROM fact WHERE name = ?1")?;
        let why: Option<String> = query.query_row([UNREAD_FACT], |r| r.get(0)).optional()?;
        Ok(why.map(|why| match why.as_str() {
            "mended" => UnreadPages::OfMended,
            "forgotten" => UnreadPages::AfterForget,
            _ => UnreadPages::OfAnother,
        }))
    }

    /// Do pages tell what an exchange that was killed took out of the index?
    pub(crate) fn pages_may_lag(&self) -> Result<bool> {
        Ok(self.db.prepare_cached("SELECT 1 FROM fact WHERE name = ?1")?.exists([LAG_FACT])?)
    }

    /// Does the index know the session of every page? It also says no where nobody looked.
    pub(crate) fn has_no_orphans(&self) -> Result<bool> {
        Ok(self.db.prepare_cached("SELECT 1 FROM fact WHERE name = ?1")?.exists([NO_ORPHANS_FACT])?)
    }

    /// The pages of a session: one, or two while it moves to another day.
    pub(crate) fn pages_of(&self, session: i64) -> Result<Vec<PageRecord>> {
        let mut query = self.db.prepare_cached("SELECT path, session, day FROM page WHERE session = ?1")?;
        let rows = query.query_map([session], page_record)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Path of a session's page, if it has exactly one and that is up to date.
    pub(crate) fn current_page_of(&self, session: i64) -> Result<Option<String>> {
        let sql = "SELECT min(p.path) FROM page p JOIN session s ON s.pk = p.session WHERE s.pk = ?1 AND NOT s.page_dirty HAVING count(*) = 1";
        Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0)).optional()?.flatten())
    }

    /// Sessions that the page of this day shows: those with a page on it, and those that went on on it.
    pub(crate) fn sessions_of_day(&self, day: &str) -> Result<Vec<i64>> {
        let sql = "SELECT p.session FROM page p JOIN session s ON s.pk = p.session WHERE p.day = ?1
             UNION SELECT l.session FROM later_day l JOIN session s ON s.pk = l.session WHERE l.day = ?1 ORDER BY 1";
        let mut query = self.db.prepare_cached(sql)?;
        Ok(query.query_map([day], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    /// The days after that of its page whose pages show a session as well.
    pub(crate) fn later_days_of(&self, session: i64) -> Result<BTreeSet<String>> {
        let mut query = self.db.prepare_cached("SELECT day FROM later_day WHERE session = ?1")?;
        Ok(query.query_map([session], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    /// How many sessions went on on each day.
    pub(crate) fn gone_on_by_day(&self) -> Result<BTreeMap<String, usize>> {
        let mut query = self.db.prepare("SELECT day, count(*) FROM later_day GROUP BY day")?;
        Ok(query.query_map([], |r| Ok((r.get(0)?, r.get::<_, i64>(1)? as usize)))?.collect::<rusqlite::Result<_>>()?)
    }

    pub(crate) fn has_day_page(&self, day: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM page WHERE day = ?1 AND session IS NULL)";
        Ok(self.db.prepare_cached(sql)?.query_row([day], |r| r.get(0))?)
    }

    /// When a session began, if it has no digest.
    pub(crate) fn began_without_digest(&self, session: i64) -> Result<Option<Millis>> {
        let sql = format!("SELECT started_at FROM session s WHERE pk = ?1 AND {HAS_NO_DIGEST}");
        Ok(self.db.prepare_cached(&sql)?.query_row([session], |r| r.get(0)).optional()?.flatten())
    }

    /// The sessions without a digest that began at or after `from` and before `until`. Looks through all sessions: who asks about many days
    /// asks once for all of them.
    pub(crate) fn undigested(&self, from: Millis, until: Millis) -> Result<Undigested> {
        let sql = format!(
            "SELECT started_at, pk FROM session s WHERE started_at >= ?1 AND started_at < ?2 AND {HAS_NO_DIGEST} ORDER BY started_at, id"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        Ok(Undigested(query.query_map([from, until], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?))
    }

    /// The recorded facts and the path of the session's page, if nothing changed since.
    pub(crate) fn facts_of(&self, session: i64) -> Result<Option<(String, SessionFacts)>> {
        let sql = "SELECT min(p.path), min(p.facts) FROM page p JOIN session s ON s.pk = p.session
             WHERE s.pk = ?1 AND NOT s.page_dirty AND s.dirty <> 1 HAVING count(*) = 1";
        let found =
            self.db.prepare_cached(sql)?.query_row([session], |r| Ok((r.get(0)?, r.get::<_, Option<String>>(1)?))).optional()?;
        Ok(found.and_then(|(path, facts)| Some((path, serde_json::from_str(&facts?).ok()?))))
    }

    /// The id as it is shown: its first eight characters, or all of it when another session shares these.
    pub(crate) fn short_id(&self, id: &str) -> Result<String> {
        Ok(if self.shares_id8(id)? { id.to_owned() } else { id8(id) })
    }

    /// The ids of all sessions, for [`SessionIds::shares_id8`].
    pub(crate) fn session_ids(&self) -> Result<SessionIds> {
        let mut query = self.db.prepare("SELECT id FROM session ORDER BY id")?;
        let ids = query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
        let mut query = self.db.prepare(&format!("SELECT substr(s.id, -8), s.id FROM session s WHERE {BEGINS_WITH_TIME}"))?;
        let mut ends: Vec<(String, String)> =
            query.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
        ends.sort_unstable();
        Ok(SessionIds { ids, ends })
    }

    /// May what people see of a session's id mean another one, too? Looks at those that are shown alike, however many there are.
    pub(crate) fn shares_id8(&self, id: &str) -> Result<bool> {
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM session WHERE id >= ?1 AND id < ?1 || char(1114111) AND id <> ?2)
             OR EXISTS (SELECT 1 FROM session s WHERE {BEGINS_WITH_TIME} AND substr(s.id, -8) = ?1 AND id <> ?2)"
        );
        Ok(self.db.prepare_cached(&sql)?.query_row(params![id8(id), id], |r| r.get(0))?)
    }
}

/// Sessions without a digest, in the order in which they began, each with that time.
#[derive(Debug, Default)]
pub(crate) struct Undigested(Vec<(Millis, i64)>);

impl Undigested {
    /// Token usage by model of each of those that began at or after `from` and before `until`. Sessions without usage are left out.
    pub(crate) fn usage_between(&self, store: &Reader, from: Millis, until: Millis) -> Result<Vec<BTreeMap<String, Tokens>>> {
        let first = self.0.partition_point(|(began, _)| *began < from);
        let sessions = self.0[first..].iter().take_while(|(began, _)| *began < until);
        let all = sessions.map(|(_, pk)| StoredUsage::owned_by(&store.db, &store.session_head(*pk)?));
        Ok(all.collect::<Result<Vec<_>>>()?.into_iter().filter(|usage| !usage.is_empty()).collect())
    }
}

impl Writer {
    pub(crate) fn record_page_zone(&self, zone: &str) -> Result<()> {
        self.db.execute("INSERT INTO fact VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2", [ZONE_FACT, zone])?;
        Ok(())
    }

    /// From now on pages may be those of several time zones.
    pub(crate) fn drop_page_zone(&self) -> Result<()> {
        self.db.execute("DELETE FROM fact WHERE name = ?1", [ZONE_FACT])?;
        Ok(())
    }

    pub(crate) fn record_unread_pages(&self, why: UnreadPages) -> Result<()> {
        record_unread_pages(&self.db, why)
    }

    /// A run has read them.
    pub(crate) fn drop_unread_pages(&self) -> Result<()> {
        self.db.execute("DELETE FROM fact WHERE name = ?1", [UNREAD_FACT])?;
        Ok(())
    }

    /// From now on an exchange may change the index: pages and documents may lag behind until [`Writer::end_lag`].
    pub(crate) fn begin_lag(&self) -> Result<()> {
        self.db.execute("INSERT INTO fact VALUES (?1, '') ON CONFLICT DO NOTHING", [LAG_FACT])?;
        Ok(())
    }

    /// Pages and documents tell what the index does.
    pub(crate) fn end_lag(&self) -> Result<()> {
        self.db.execute("DELETE FROM fact WHERE name = ?1", [LAG_FACT])?;
        Ok(())
    }

    /// Holds until pages may again hold what the index does not.
    pub(crate) fn record_no_orphans(&self) -> Result<()> {
        self.db.execute("INSERT INTO fact VALUES (?1, '') ON CONFLICT DO NOTHING", [NO_ORPHANS_FACT])?;
        Ok(())
    }

    pub(crate) fn record_page(&self, page: &PageRecord) -> Result<()> {
        let sql = "INSERT INTO page(path, session, day) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET session = ?2, day = ?3";
        self.db.prepare_cached(sql)?.execute(params![page.path, page.session, page.day])?;
        Ok(())
    }

    /// Records that the page of a day shows a session that went on on it.
    pub(crate) fn record_later_day(&self, session: i64, day: &str) -> Result<()> {
        let sql = "INSERT INTO later_day(session, day) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        self.db.prepare_cached(sql)?.execute(params![session, day])?;
        Ok(())
    }

    pub(crate) fn drop_later_day(&self, session: i64, day: &str) -> Result<()> {
        self.db.prepare_cached("DELETE FROM later_day WHERE session = ?1 AND day = ?2")?.execute(params![session, day])?;
        Ok(())
    }

    /// Records the facts its day page shows of a session, as of its current records.
    pub(crate) fn record_facts(&self, session: i64, facts: &SessionFacts) -> Result<()> {
        let sql = "UPDATE page SET facts = ?2 WHERE session = ?1";
        self.db.prepare_cached(sql)?.execute(params![session, serde_json::to_string(facts)?])?;
        Ok(())
    }

    pub(crate) fn drop_page(&self, path: &str) -> Result<()> {
        self.db.execute("DELETE FROM page WHERE path = ?1", [path])?;
        Ok(())
    }

    /// Marks the pages of these sessions as up to date. Sessions of which nothing is left stay marked until `drop_empty_sessions` deletes them.
    pub(crate) fn mark_pages_written(&self, sessions: &[i64]) -> Result<()> {
        self.in_transaction(|| {
            let mut query =
                self.db.prepare_cached(&format!("UPDATE session SET page_dirty = 0 WHERE pk = ?1 AND NOT ({IS_EMPTY})"))?;
            sessions.iter().try_for_each(|pk| Ok(query.execute([pk]).map(drop)?))
        })
    }
}

pub(super) fn record_unread_pages(db: &Connection, why: UnreadPages) -> Result<()> {
    let why = match why {
        UnreadPages::OfAnother => "new",
        UnreadPages::OfMended => "mended",
        UnreadPages::AfterForget => "forgotten",
    };
    db.execute("INSERT INTO fact VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2", [UNREAD_FACT, why])?;
    db.execute("DELETE FROM fact WHERE name = ?1", [NO_ORPHANS_FACT])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_were_read_once_tell_what_the_index_tells() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Writer::open(&folder.path().join("recall.db")).expect("an index");
        store.db.execute("INSERT INTO project(key) VALUES ('/home/dev/app')", []).expect("a project");
        let of_time = ["01890000-0000-7000-8000-0000deadbeef", "01890001-0000-7000-8000-0000deadbeef", "ses_0189000000000abcdefgh"];
        let shared =
            [of_time[0], of_time[1], of_time[2], "11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "11111111-bbbb-4bbb-8bbb-bbbbbbbbbbbb"];
        let begins_others = ["deadbeef-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "abcdefgh-aaaa", "1111"];
        let alone = ["22222222-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "01890002-0000-7000-8000-000012345678", "1111-aaaa", "ä1111111"];
        let all: Vec<&str> = shared.iter().chain(&begins_others).chain(&alone).copied().collect();
        for id in &all {
            let sql = "INSERT INTO session(id, project, client, grew_at) VALUES (?1, 1, 'claude-code', 0)";
            store.db.execute(sql, [id]).expect("a session");
        }
        let ids = store.session_ids().expect("the ids");
        for id in &all {
            assert_eq!(ids.shares_id8(id), store.shares_id8(id).expect("an answer"), "{id}");
        }
        let told: Vec<&str> = all.iter().filter(|id| ids.shares_id8(id)).copied().collect();
        assert_eq!(told, [&shared[..], &begins_others[..]].concat());
    }
}
