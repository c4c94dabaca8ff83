//! Lives of open items: which items of a project's sessions are one, and whether somebody closed it.
//!
//! The lives are found from all digests of a project, as near-duplicates are, so they do not depend on the order in which those were made.
//! Whether one is closed is read as it is: a closing of any of its items closes all of it. A life that a note is in has the note's id, and is
//! told as the note: who closes one of its items closes the note, and a session's closing becomes the note's when the lives are found.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::notes::{self, CLOSER, read_author};
use super::open_items::{ListedItem, Wordings, listed as listed_item};
use super::recent::NOT_REPEATED;
use super::{Reader, Writer};
use crate::analyze::lives::{SessionItems, lives};
use crate::analyze::without_model::UNANSWERED;
use crate::model::author::Author;
use crate::model::item_state::{Closer, Closing, ItemState, ItemStates};
use crate::model::note::Note;
use transcripts::session::Millis;

/// A session's place in its project: by its start, then by its id. Those without a time come last.
const IN_ORDER: &str = "coalesce(s.started_at, 9223372036854775807), s.id";

/// An open item that nobody closed, in its newest words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenItemLife {
    /// The id of its first mention.
    pub(crate) id: String,
    /// `next` or `blocker`.
    pub(crate) kind: String,
    pub(crate) text: String,
    /// The id of the last session that said it.
    pub(crate) session: String,
    /// The ends of the sessions that said it first and last.
    pub(crate) first_at: Millis,
    pub(crate) last_at: Millis,
}

/// One item of a life.
pub(super) struct Mention {
    pub(super) id: String,
    pub(super) session: i64,
    /// When its session ended.
    last_at: Option<Millis>,
    /// Somebody closed it, or something of its session in whose place it may stand now.
    may_be_closed: bool,
}

impl Reader {
    /// What is open in a project and nobody closed, the last said first, but for what is told as a note. Without a model only tasks of a list are known to be open, and those
    /// of a session that goes on are under way.
    pub(crate) fn open_lives(&self, project: i64) -> Result<Vec<OpenItemLife>> {
        let items = items_of(&self.db, project)?;
        let closed: HashSet<&String> =
            items.sessions.iter().flat_map(|session| &session.closes).chain(items.closed.keys()).collect();
        let sql = format!(
            "SELECT o.id, coalesce(o.life, o.id), o.kind, o.text, s.id, coalesce(s.last_at, 0),
                 o.verified AND {NOT_REPEATED} AND (d.summarizer <> 'extract' OR d.interim_until IS NULL AND o.text NOT GLOB '{UNANSWERED}*')
             FROM open_item o JOIN session s ON s.pk = o.session JOIN digest d ON d.session = s.pk AND d.superseded = 0
             WHERE s.project = ?1 AND NOT EXISTS (SELECT 1 FROM note n WHERE n.id = o.life) ORDER BY {IN_ORDER}, o.place"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        let mut rows = query.query([project])?;
        let mut lives: HashMap<String, (OpenItemLife, bool)> = HashMap::new();
        let mut over: HashSet<String> = HashSet::new();
        while let Some(r) = rows.next()? {
            let (id, life, tells): (String, String, bool) = (r.get(0)?, r.get(1)?, r.get(6)?);
            if closed.contains(&id) {
                over.insert(life.clone());
            }
            let last_at = r.get(5)?;
            let (kind, text, session) = (r.get(2)?, r.get(3)?, r.get(4)?);
            let said = OpenItemLife { id, kind, text, session, first_at: last_at, last_at };
            match lives.entry(life) {
                Entry::Vacant(place) => _ = place.insert((said, tells)),
                Entry::Occupied(mut known) if tells => {
                    let (first, told) = known.get_mut();
                    *first = OpenItemLife { id: first.id.clone(), first_at: first.first_at, ..said };
                    *told = true;
                }
                Entry::Occupied(_) => {}
            }
        }
        let open = lives.into_iter().filter(|(life, (_, tells))| *tells && !over.contains(life));
        let mut open: Vec<OpenItemLife> = open.map(|(_, (item, _))| item).collect();
        open.sort_by(|a, b| (b.last_at, &b.session, &a.id).cmp(&(a.last_at, &a.session, &b.id)));
        Ok(open)
    }

    /// How the open items of a session stand, in the order of its digest.
    pub(crate) fn item_states(&self, session: i64) -> Result<ItemStates> {
        let mut closings: HashMap<i64, BTreeMap<String, Closing>> = HashMap::new();
        let items = self.open_items_of(session)?;
        let states = items.into_iter().map(|item| self.item_state(&item, &mut closings));
        Ok(ItemStates(states.collect::<Result<_>>()?))
    }

    fn item_state(&self, item: &ListedItem, closings: &mut HashMap<i64, BTreeMap<String, Closing>>) -> Result<ItemState> {
        let mentions = self.mentions(item)?;
        let mut closed: Option<Closing> = None;
        // Few are: what a list of tasks leaves open is said in session after session.
        for one in mentions.iter().filter(|one| one.may_be_closed) {
            let of_session = match closings.entry(one.session) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(self.closings_of(one.session)?),
            };
            closed = closed.or_else(|| of_session.get(&one.id).cloned());
        }
        let first = mentions.first().filter(|first| first.session != item.session);
        let since = first.and_then(|first| first.last_at);
        if let Some(note) = self.note_of_item(&item.id)? {
            let own_end = mentions.iter().find(|one| one.id == item.id).and_then(|one| one.last_at);
            let noted = Some(note.at).filter(|at| own_end.is_none_or(|end| *at < end));
            let state = ItemState::of_note(&note);
            let since = since.into_iter().chain(noted).min();
            return Ok(ItemState { own: item.id.clone(), since, closed: closed.or(state.closed), ..state });
        }
        Ok(ItemState {
            own: item.id.clone(),
            id: mentions.first().map_or_else(|| item.id.clone(), |first| first.id.clone()),
            since,
            closed,
        })
    }

    /// The lives that a session without a digest continues, by the words of what it leaves open: what a digest would find.
    pub(crate) fn continued_lives(&self, project: i64, began_at: Millis, texts: &[&str]) -> Result<Vec<Option<ItemState>>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = items_of(&self.db, project)?;
        let name = |at: usize| format!("{at}");
        let items = texts.iter().enumerate().map(|(at, text)| (name(at), (*text).to_owned())).collect();
        found.sessions.push(SessionItems { began_at, items, ..SessionItems::default() });
        let lives = lives(&found.sessions, &found.closed);
        let state = |at: usize| -> Result<Option<ItemState>> {
            let Some(life) = lives.get(&name(at)) else { return Ok(None) };
            if let Some(note) = self.note_with_id(life)? {
                return Ok(Some(ItemState::of_note(&note)));
            }
            let Some(item) = self.open_item(life)? else { return Ok(None) };
            let since = self.mentions(&item)?.first().and_then(|first| first.last_at);
            Ok(Some(ItemState { since, ..self.item_state(&item, &mut HashMap::new())? }))
        };
        (0..texts.len()).map(state).collect()
    }

    /// All items of an item's life, first to last. It has none before the next digest found its life, or where they are hidden.
    pub(super) fn mentions(&self, item: &ListedItem) -> Result<Vec<Mention>> {
        let sql = format!(
            "SELECT o.id, o.session, s.last_at,
                 EXISTS (SELECT 1 FROM closing WHERE id = o.id) OR EXISTS (SELECT 1 FROM closed_item WHERE of = o.session)
                 OR EXISTS (SELECT 1 FROM user_closed WHERE id = o.id) OR EXISTS (SELECT 1 FROM user_closed WHERE of = o.session)
             FROM open_item o JOIN session s ON s.pk = o.session
             WHERE o.id = ?1 OR o.life = (SELECT life FROM open_item WHERE id = ?1) ORDER BY {IN_ORDER}, o.place"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        let mention =
            |r: &rusqlite::Row<'_>| Ok(Mention { id: r.get(0)?, session: r.get(1)?, last_at: r.get(2)?, may_be_closed: r.get(3)? });
        let mentions = query.query_map([&item.id], mention)?;
        Ok(mentions.collect::<rusqlite::Result<_>>()?)
    }

    /// What was closed of a session's items, and of those that say the same, in the order of closing.
    pub(crate) fn closings_told(&self, session: i64) -> Result<Vec<Closing>> {
        let recorded = self.recorded_closings(session)?.into_iter().map(|(_, closing)| closing);
        let mut all: Vec<Closing> =
            self.item_states(session)?.0.into_iter().filter_map(|state| state.closed).chain(recorded).collect();
        all.sort_by(|a, b| (a.at, &a.text).cmp(&(b.at, &b.text)));
        all.retain(|closing| !closing.text.is_empty());
        all.dedup_by(|a, b| a.text == b.text);
        Ok(all)
    }

    /// The words of what was closed of a session: of its items that are closed, and of what it had left open before a model said it otherwise.
    pub(crate) fn closed_texts(&self, session: i64) -> Result<Vec<String>> {
        let items = self.open_items_of(session)?;
        let states = self.item_states(session)?;
        let own = items.into_iter().filter(|item| states.is_closed(&item.id)).map(|item| item.text);
        let recorded = self.recorded_closings(session)?.into_iter().map(|(_, closing)| closing.text);
        Ok(own.chain(recorded).collect())
    }

    /// What was closed in a project, on request or by a session, in no order.
    pub(crate) fn project_closings(&self, project: &str) -> Result<Vec<Closing>> {
        let sql = "SELECT n.text, n.closed_at, n.closed_by, NULL FROM note n JOIN project p ON p.pk = n.project
             WHERE p.key = ?1 AND n.kind = 'todo' AND n.closed_at IS NOT NULL
             UNION SELECT u.text, u.at, u.author, NULL FROM user_closed u JOIN session s ON s.pk = u.of JOIN project p ON p.pk = s.project
             WHERE p.key = ?1
             UNION SELECT c.text, b.last_at, NULL, b.id FROM closed_item c JOIN session s ON s.pk = c.of
                 JOIN project p ON p.pk = s.project JOIN session b ON b.pk = c.session WHERE p.key = ?1
             UNION SELECT o.text, b.last_at, NULL, b.id FROM closing c JOIN open_item o ON o.id = c.id JOIN session s ON s.pk = o.session
                 JOIN project p ON p.pk = s.project JOIN session b ON b.pk = c.session WHERE p.key = ?1 AND b.project = s.project";
        let mut query = self.db.prepare_cached(sql)?;
        let closings = query.query_map([project], |r| {
            let by = match r.get(3)? {
                Some(session) => Closer::Session(session),
                None => Closer::Author(read_author(r.get(2)?)),
            };
            Ok(Closing { by, at: r.get(1)?, text: r.get(0)? })
        })?;
        Ok(closings.collect::<rusqlite::Result<_>>()?)
    }

    /// What of a session's items was closed as such, by their own ids: on request, or by a later session. An id that still exists stands for
    /// its item; where a digest was made anew, its words do.
    fn closings_of(&self, session: i64) -> Result<BTreeMap<String, Closing>> {
        let items = self.open_items_of(session)?;
        let mut all = BTreeMap::new();
        for (id, closing) in self.recorded_closings(session)? {
            for item in resolved(&items, &id, &closing.text) {
                all.entry(item.id.clone()).or_insert_with(|| closing.clone());
            }
        }
        Ok(all)
    }

    /// Closings of items of a session, with the ids that they name; those on request first.
    fn recorded_closings(&self, session: i64) -> Result<Vec<(String, Closing)>> {
        let sql = "SELECT id, text, at, author FROM user_closed WHERE of = ?1
             UNION SELECT u.id, u.text, u.at, u.author FROM user_closed u JOIN open_item o ON o.id = u.id WHERE o.session = ?1
             ORDER BY at, id";
        let mut query = self.db.prepare_cached(sql)?;
        let asked = query.query_map([session], |r| {
            let by = Closer::Author(read_author(r.get(3)?));
            Ok((r.get(0)?, Closing { by, at: r.get(2)?, text: r.get(1)? }))
        })?;
        let mut all: Vec<(String, Closing)> = asked.collect::<rusqlite::Result<_>>()?;
        let sql = "SELECT c.id, c.text, s.id, s.last_at, s.started_at FROM closed_item c LEFT JOIN session s ON s.pk = c.session WHERE c.of = ?1
             UNION SELECT o.id, o.text, s.id, s.last_at, s.started_at FROM open_item o JOIN closing c ON c.id = o.id
                 JOIN session s ON s.pk = c.session
             WHERE o.session = ?1 AND s.project = (SELECT project FROM session WHERE pk = ?1)
             ORDER BY 5, 3, 1";
        let mut query = self.db.prepare_cached(sql)?;
        let by_sessions = query.query_map([session], |r| {
            let by = Closer::Session(r.get::<_, Option<String>>(2)?.unwrap_or_default());
            Ok((r.get(0)?, Closing { by, at: r.get(3)?, text: r.get(1)? }))
        })?;
        for closing in by_sessions {
            all.push(closing?);
        }
        Ok(all)
    }
}

impl Writer {
    /// Finds the life of each open item, in projects where something changed, or in `all`. Pages that show another id become out of date.
    pub(crate) fn find_lives(&mut self, all: bool) -> Result<()> {
        let changed = "SELECT project FROM session WHERE page_dirty
             UNION ALL SELECT n.project FROM note n JOIN fact f ON f.name = 'noted:' || n.at
             UNION ALL SELECT s.project FROM open_item o JOIN session s ON s.pk = o.session WHERE o.life IS NULL";
        self.in_projects(if all { "SELECT pk FROM project" } else { changed }, find_lives_of)
    }
}

/// The items that a closing with this id and these words means.
pub(super) fn resolved<'i>(items: &'i [ListedItem], id: &str, text: &str) -> Vec<&'i ListedItem> {
    if let Some(item) = items.iter().find(|item| item.id == id) {
        return vec![item];
    }
    let mut wordings = Wordings::default();
    wordings.extend([text]);
    items.iter().filter(|item| wordings.has(&item.text)).collect()
}

/// The sessions of a project that left something open or closed something, its notes, and what was closed on request.
struct ProjectItems {
    /// In order, with a place for each note by its time.
    sessions: Vec<SessionItems>,
    notes: Vec<Note>,
    /// What sessions closed, by own ids, with the session: in order.
    closed_in: Vec<(String, i64)>,
    closed: HashMap<String, Millis>,
    /// Each item's session, and its life as it is stored.
    stored: Vec<(String, i64, Option<String>)>,
}

fn find_lives_of(tx: &Transaction<'_>, project: i64) -> Result<()> {
    let found = items_of(tx, project)?;
    let lives = lives(&found.sessions, &found.closed);
    for (id, session, stored) in &found.stored {
        let life = lives.get(id);
        if life != stored.as_ref() {
            tx.prepare_cached("UPDATE open_item SET life = ?2 WHERE id = ?1")?.execute(params![id, life])?;
            tx.prepare_cached("UPDATE session SET page_dirty = 1 WHERE pk = ?1")?.execute([session])?;
        }
    }
    for (note, at, by) in closed_with_items(tx, &found, &lives)? {
        notes::close(tx, note, at, &by)?;
        outdate_pages_of(tx, &note.id)?;
    }
    Ok(())
}

/// The lives of a project where a note is new, changed or gone.
pub(super) fn find_lives_of_notes(tx: &Transaction<'_>, project: &str) -> Result<()> {
    let found: Option<i64> =
        tx.prepare_cached("SELECT pk FROM project WHERE key = ?1")?.query_row([project], |r| r.get(0)).optional()?;
    found.map_or(Ok(()), |project| find_lives_of(tx, project))
}

/// The pages of all sessions that say what a note says show how it stands.
pub(super) fn outdate_pages_of(db: &Connection, note: &str) -> Result<()> {
    let sql = "UPDATE session SET page_dirty = 1 WHERE pk IN (SELECT session FROM open_item WHERE life = ?1)";
    db.prepare_cached(sql)?.execute([note])?;
    Ok(())
}

/// The open notes whose life is closed by one of its items, with when and by whom.
fn closed_with_items<'n>(
    tx: &Transaction<'_>,
    found: &'n ProjectItems,
    lives: &HashMap<String, String>,
) -> Result<Vec<(&'n Note, Millis, Author)>> {
    let mut all = Vec::new();
    for note in found.notes.iter().filter(|note| note.closed.is_none()) {
        let is_of_note = |id: &String| lives.get(id) == Some(&note.id);
        if let Some((_, session)) = found.closed_in.iter().find(|(id, _)| is_of_note(id)) {
            let sql = "SELECT id, coalesce(last_at, started_at, 0) FROM session WHERE pk = ?1";
            let (session, at): (String, Millis) = tx.query_row(sql, [session], |r| Ok((r.get(0)?, r.get(1)?)))?;
            all.push((note, at, Author::agent(CLOSER, Some(&session))));
        } else if let Some((id, at)) = found.closed.iter().filter(|(id, _)| is_of_note(id)).min_by_key(|(id, at)| (*at, *id)) {
            let sql = "SELECT author FROM user_closed WHERE id = ?1";
            let by = tx.query_row(sql, [id], |r| Ok(read_author(r.get(0)?))).optional()?.unwrap_or_default();
            all.push((note, *at, by));
        }
    }
    Ok(all)
}

fn items_of(db: &Connection, project: i64) -> Result<ProjectItems> {
    let mut all = ProjectItems {
        sessions: Vec::new(),
        notes: notes::todos(db, project)?,
        closed_in: Vec::new(),
        closed: HashMap::new(),
        stored: Vec::new(),
    };
    let mut listed: HashMap<i64, Vec<ListedItem>> = HashMap::new();
    let sql = "SELECT o.id, o.session, o.kind, o.text, o.verified, o.life FROM open_item o JOIN session s ON s.pk = o.session
         WHERE s.project = ?1 ORDER BY o.session, o.place";
    let mut query = db.prepare_cached(sql)?;
    let mut rows = query.query([project])?;
    while let Some(r) = rows.next()? {
        let item = listed_item(r)?;
        all.stored.push((item.id.clone(), item.session, r.get(5)?));
        listed.entry(item.session).or_default().push(item);
    }
    let closes = closed_by_sessions(db, project, &listed)?;
    // Most sessions of a project have neither: their rows are not read.
    let with_either: BTreeSet<i64> = listed.keys().chain(closes.keys()).copied().collect();
    let mut query = db.prepare_cached("SELECT coalesce(started_at, 9223372036854775807), id FROM session WHERE pk = ?1")?;
    let begun = with_either.into_iter().map(|pk| query.query_row([pk], |r| Ok((r.get(0)?, r.get(1)?, pk))));
    let mut in_order: Vec<(Millis, String, i64)> = begun.collect::<rusqlite::Result<_>>()?;
    in_order.sort();
    for (began_at, _, pk) in in_order {
        let items = listed.get(&pk).into_iter().flatten().map(|item| (item.id.clone(), item.text.clone())).collect();
        let mut closes = closes.get(&pk).cloned().unwrap_or_default();
        // Whether a note is closed it says itself: it may be open again.
        closes.retain(|id| all.notes.iter().all(|note| note.id != *id));
        all.closed_in.extend(closes.iter().map(|id| (id.clone(), pk)));
        all.sessions.push(SessionItems { began_at, items, closes, is_note: false });
    }
    all.closed = closed_on_request(db, project, &listed)?;
    for note in &all.notes {
        let items = vec![(note.id.clone(), note.text.clone())];
        all.sessions.push(SessionItems { began_at: note.at, items, is_note: true, ..SessionItems::default() });
        all.closed.extend(note.closed.iter().map(|(at, _)| (note.id.clone(), *at)));
    }
    all.sessions.sort_by_key(|one| one.began_at);
    Ok(all)
}

/// The own ids of the items that each session of a project closed.
fn closed_by_sessions(
    db: &Connection,
    project: i64,
    listed: &HashMap<i64, Vec<ListedItem>>,
) -> Result<HashMap<i64, BTreeSet<String>>> {
    let mut all: HashMap<i64, BTreeSet<String>> = HashMap::new();
    let sql = "SELECT c.session, c.id FROM closing c JOIN session s ON s.pk = c.session WHERE s.project = ?1";
    let mut query = db.prepare_cached(sql)?;
    for named in query.query_map([project], |r| Ok((r.get(0)?, r.get(1)?)))? {
        let (session, id) = named?;
        all.entry(session).or_default().insert(id);
    }
    let sql = "SELECT c.session, c.id, c.text, c.of FROM closed_item c JOIN session s ON s.pk = c.session WHERE s.project = ?1";
    let mut query = db.prepare_cached(sql)?;
    let mut rows = query.query([project])?;
    while let Some(r) = rows.next()? {
        let (id, text, of): (String, String, i64) = (r.get(1)?, r.get(2)?, r.get(3)?);
        let items = listed.get(&of).map(Vec::as_slice).unwrap_or_default();
        all.entry(r.get(0)?).or_default().extend(resolved(items, &id, &text).into_iter().map(|item| item.id.clone()));
    }
    Ok(all)
}

/// When items of a project were closed on request, by their own ids.
fn closed_on_request(db: &Connection, project: i64, listed: &HashMap<i64, Vec<ListedItem>>) -> Result<HashMap<String, Millis>> {
    let known: HashSet<&String> = listed.values().flatten().map(|item| &item.id).collect();
    let sql = "SELECT u.id, u.text, u.at, u.of FROM user_closed u JOIN session s ON s.pk = u.of WHERE s.project = ?1";
    let mut query = db.prepare_cached(sql)?;
    let mut rows = query.query([project])?;
    let mut closed = HashMap::new();
    while let Some(r) = rows.next()? {
        let (id, text, at, of): (String, String, Millis, i64) = (r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?);
        if known.contains(&id) {
            closed.insert(id, at);
            continue;
        }
        let items = listed.get(&of).map(Vec::as_slice).unwrap_or_default();
        closed.extend(resolved(items, &id, &text).into_iter().map(|item| (item.id.clone(), at)));
    }
    Ok(closed)
}
