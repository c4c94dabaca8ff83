//! Statements that later ones overtake, of sessions that have a digest and of notes.
//!
//! They are found from all statements of a project, as near-duplicates are, so they do not depend on the order in which digests were made.
//! Each goes with the digests and notes that say its two ends, and is told only while both do. What a model says of two sentences goes with its
//! digest, too.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::notes::read_author;
use super::{Reader, Writer};
use crate::analyze::account::SessionAccount;
use crate::analyze::overtaken::{ClaimedOvertaking, OVERTAKEN_RULES, Said, overtakings_with};
use crate::model::digest::{Digest, is_by_model};
use crate::model::note::NoteKind;
use crate::model::section::Section;
use crate::model::session_head::SessionHead;
use crate::model::since_then::{Overtaken, StatedBy, Statement, standing};
use crate::store::codec::unpack;
use crate::store::denied;
use transcripts::client::Client;
use transcripts::session::{Millis, short_id};

/// Name of the fact that holds the number of the rules by which they were found.
const RULES_FACT: &str = "overtaken rules";
/// Prefix of facts that name projects whose notes changed since.
const NOTED_FACT: &str = "overtaken noted:";
/// The sections of a model's digest whose statements say what holds.
const STATING: [Section; 3] = [Section::Decisions, Section::Learned, Section::Completed];

/// Both ends, each of a digest that stands or of a note.
const SELECT: &str = "SELECT o.id, o.at, o.said_by, o.text, s.id, s.client, n.id, n.author,
         o.later_at, o.later_said_by, o.later_text, ls.id, ls.client, ln.id, ln.author
     FROM overtaken o
     LEFT JOIN digest d ON d.pk = o.digest AND d.superseded = 0 AND d.account IS NOT NULL LEFT JOIN session s ON s.pk = d.session
     LEFT JOIN note n ON n.pk = o.note
     LEFT JOIN digest ld ON ld.pk = o.later_digest AND ld.superseded = 0 AND ld.account IS NOT NULL LEFT JOIN session ls ON ls.pk = ld.session
     LEFT JOIN note ln ON ln.pk = o.later_note
     WHERE coalesce(s.id, n.id) IS NOT NULL AND coalesce(ls.id, ln.id) IS NOT NULL";

impl Reader {
    /// What was overtaken in a project, in the order in which it was.
    pub(crate) fn overtaken_in(&self, project: &str) -> Result<Vec<Overtaken>> {
        self.project_pk(project)?.map_or(Ok(Vec::new()), |pk| all_in(&self.db, pk))
    }

    /// What was said in the sessions of a project, and noted for it, at that time or later.
    pub(crate) fn statements_since(&self, project: &str, since: Millis) -> Result<Vec<Statement>> {
        let Some(pk) = self.project_pk(project)? else { return Ok(Vec::new()) };
        let words = words_of(&self.db, pk)?;
        let all = words.places.iter().zip(&words.texts).filter(|((_, at, _), _)| *at >= since);
        all.map(|((of, at, place), text)| {
            let id = words.ids[*of].clone();
            let by = match place.said_by {
                Some("user") => StatedBy::User(id),
                Some("model") => StatedBy::Model(id),
                Some(_) => StatedBy::Assistant(id, place.client),
                None => {
                    let author = self.note_with_id(&id)?.map(|note| note.author).unwrap_or_default();
                    StatedBy::Note(id, author)
                }
            };
            Ok(Statement { by, at: *at, text: text.clone() })
        })
        .collect()
    }

    /// That with this id.
    pub(crate) fn overtaken_with_id(&self, id: &str) -> Result<Option<Overtaken>> {
        let mut query = self.db.prepare_cached(&format!("{SELECT} AND o.id = ?1"))?;
        Ok(query.query_row([id], overtaken).optional()?)
    }

    /// What these sessions said, and what is noted for the project, that was overtaken before a time: the ids of places, and the sentences.
    pub(crate) fn overtaken_before(&self, project: &str, sessions: &[i64], until: Millis) -> Result<HashSet<(String, String)>> {
        let Some(pk) = self.project_pk(project)? else { return Ok(HashSet::new()) };
        let list = sessions.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let sql = format!("{SELECT} AND o.later_at < ?1 AND (d.session IN ({list}) OR n.project = ?2)");
        let mut query = self.db.prepare(&sql)?;
        let all = query.query_map(params![until, pk], overtaken)?;
        all.map(|one| one.map(|one| (one.earlier.by.place().to_owned(), one.earlier.text)).map_err(Into::into)).collect()
    }

    /// What a session said that was overtaken, each with what stands now. Reads all of its project: who asks about many sessions asks
    /// [`OvertakenBySession`].
    pub(crate) fn overtaken_of(&self, head: &SessionHead) -> Result<Vec<Overtaken>> {
        OvertakenBySession::default().of(self, head)
    }
}

/// What [`Reader::overtaken_of`] says of many sessions, while nothing changes it: each project is read once.
#[derive(Debug, Default)]
pub(crate) struct OvertakenBySession(Mutex<HashMap<String, Arc<ToldBySession>>>);

/// What was said and overtaken, each with what stands now, by the session's id.
type ToldBySession = BTreeMap<String, Vec<Overtaken>>;

impl OvertakenBySession {
    pub(crate) fn of(&self, store: &Reader, head: &SessionHead) -> Result<Vec<Overtaken>> {
        let told = self.in_project(store, &head.project.key)?;
        Ok(told.get(&head.id).cloned().unwrap_or_default())
    }

    /// The first who asks reads it; the others wait.
    fn in_project(&self, store: &Reader, project: &str) -> Result<Arc<ToldBySession>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(told) = known.get(project) {
            return Ok(told.clone());
        }
        let told = Arc::new(by_session(store.overtaken_in(project)?));
        known.insert(project.to_owned(), told.clone());
        Ok(told)
    }
}

fn by_session(all: Vec<Overtaken>) -> ToldBySession {
    let mut told = ToldBySession::new();
    for one in standing(all) {
        told.entry(one.earlier.by.place().to_owned()).or_default().push(one);
    }
    told
}

fn all_in(db: &Connection, project: i64) -> Result<Vec<Overtaken>> {
    let sql = format!(
        "{SELECT} AND coalesce(ls.project, ln.project) = ?1 AND o.id IN (
             SELECT l.id FROM session s CROSS JOIN digest d ON d.session = s.pk AND d.superseded = 0
                 CROSS JOIN overtaken l ON l.later_digest = d.pk WHERE s.project = ?1
             UNION ALL SELECT l.id FROM note n CROSS JOIN overtaken l ON l.later_note = n.pk WHERE n.project = ?1)
         ORDER BY o.later_at, o.id"
    );
    let mut query = db.prepare_cached(&sql)?;
    Ok(query.query_map([project], overtaken)?.collect::<rusqlite::Result<_>>()?)
}

fn overtaken(r: &Row<'_>) -> rusqlite::Result<Overtaken> {
    Ok(Overtaken { id: r.get(0)?, earlier: statement(r, 1)?, later: statement(r, 8)? })
}

/// An end, from this column on.
fn statement(r: &Row<'_>, from: usize) -> rusqlite::Result<Statement> {
    let (said_by, session): (Option<String>, Option<String>) = (r.get(from + 1)?, r.get(from + 3)?);
    let by = match (session, said_by.as_deref()) {
        (Some(session), Some("user")) => StatedBy::User(session),
        (Some(session), Some("model")) => StatedBy::Model(session),
        (Some(session), _) => StatedBy::Assistant(session, Client::named(r.get_ref(from + 4)?.as_str()?).unwrap_or_default()),
        (None, _) => StatedBy::Note(r.get::<_, Option<String>>(from + 5)?.unwrap_or_default(), read_author(r.get(from + 6)?)),
    };
    Ok(Statement { by, at: r.get(from)?, text: r.get(from + 2)? })
}

impl Writer {
    /// Finds what was overtaken, in projects where a session or a note changed; in `all` if the rules did. Pages that show another statement
    /// become out of date.
    pub(crate) fn find_overtaken(&mut self, all: bool) -> Result<()> {
        let sql = "SELECT value FROM fact WHERE name = ?1";
        let known: Option<String> = self.db.query_row(sql, [RULES_FACT], |r| r.get(0)).optional()?;
        let rules = OVERTAKEN_RULES.to_string();
        let is_new = known.as_ref() != Some(&rules);
        let changed = format!("SELECT project FROM session WHERE page_dirty UNION ALL {NOTED}");
        self.in_projects(if all || is_new { "SELECT pk FROM project" } else { &changed }, find_in)?;
        if is_new {
            self.db.execute("INSERT INTO fact VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2", [RULES_FACT, &rules])?;
        }
        Ok(())
    }

    /// The same where notes changed alone.
    pub(crate) fn find_overtaken_by_notes(&mut self) -> Result<()> {
        self.in_projects(NOTED, find_in)
    }
}

/// Removes all of it; the next digest finds it again from what is stored then.
pub(super) fn remove_all(tx: &Transaction<'_>) -> Result<()> {
    tx.execute("DELETE FROM overtaken", [])?;
    tx.execute("DELETE FROM fact WHERE name = ?1", [RULES_FACT])?;
    Ok(())
}

/// Projects whose notes changed since the last look.
const NOTED: &str =
    "SELECT CAST(substr(name, length('overtaken noted:') + 1) AS INTEGER) FROM fact WHERE name GLOB 'overtaken noted:*'";

/// A note of this project came, changed or went.
pub(super) fn note_changed(tx: &Transaction<'_>, project: i64) -> Result<()> {
    let sql = "INSERT INTO fact VALUES (?1, '') ON CONFLICT DO NOTHING";
    tx.prepare_cached(sql)?.execute([format!("{NOTED_FACT}{project}")])?;
    Ok(())
}

/// Pages that show what a session overtakes, or a note, become out of date, and so do all that may show what follows from it.
pub(super) fn outdate_pages(db: &Connection, later: Later) -> Result<()> {
    let (column, key) = match later {
        Later::Session(pk) => ("later_digest IN (SELECT pk FROM digest WHERE session = ?1)", pk),
        Later::Note(pk) => ("later_note = ?1", pk),
    };
    let sql = format!(
        "UPDATE session SET page_dirty = 1 WHERE EXISTS (SELECT 1 FROM overtaken WHERE {column})
             AND pk IN (SELECT d.session FROM overtaken o JOIN digest d ON d.pk = o.digest)
             AND project IN (SELECT s.project FROM overtaken o JOIN digest d ON d.pk = o.digest JOIN session s ON s.pk = d.session WHERE {column})"
    );
    db.prepare_cached(&sql)?.execute([key])?;
    Ok(())
}

/// What overtakes something.
#[derive(Debug, Clone, Copy)]
pub(super) enum Later {
    Session(i64),
    Note(i64),
}

/// Where something was said: in a session with this digest, or in a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    digest: Option<i64>,
    note: Option<i64>,
    said_by: Option<&'static str>,
    /// Of a session: whose it is.
    client: Client,
}

/// What was said in a project, with its places.
#[derive(Default)]
struct ProjectWords {
    /// Which of the sessions and notes, when, and where.
    places: Vec<(usize, Millis, Place)>,
    texts: Vec<String>,
    /// Ids of the sessions, and of the notes behind them.
    ids: Vec<String>,
    /// What models say of two sentences.
    claimed: Vec<ClaimedOvertaking>,
}

impl ProjectWords {
    fn add(&mut self, at: Millis, place: Place, text: &str) {
        if !text.is_empty() {
            self.places.push((self.ids.len() - 1, at, place));
            self.texts.push(text.to_owned());
        }
    }

    fn add_account(&mut self, digest: i64, last_at: Millis, account: &SessionAccount) {
        let place = |said_by| Place { digest: Some(digest), note: None, said_by: Some(said_by), client: account.client };
        for turn in &account.turns {
            for word in &turn.words {
                self.add(word.at.or(turn.at).unwrap_or(last_at), place("user"), &word.text);
            }
            if let Some(reply) = turn.reply.as_ref().filter(|reply| !reply.cut_off) {
                self.add(reply.at.or(turn.at).unwrap_or(last_at), place("assistant"), &reply.text);
            }
        }
    }

    fn add_claims(&mut self, digest: i64, last_at: Millis, said: &Digest) {
        let place = Place { digest: Some(digest), note: None, said_by: Some("model"), client: Client::default() };
        // What is told in the session's words stands in its account.
        let claims = STATING.into_iter().flat_map(|section| said.told_in(section)).filter(|claim| claim.claimed.is_none());
        for claim in claims {
            self.add(last_at, place, &claim.text);
        }
        let proven = said.replaces.iter().filter_map(|one| Some((one.id.clone(), one.by.clone()?)));
        self.claimed.extend(proven.map(|(earlier, later)| ClaimedOvertaking { earlier, later }));
    }
}

fn find_in(tx: &Transaction<'_>, project: i64) -> Result<()> {
    let mut stored = stored_links(tx, project)?;
    let found = find_links(tx, project)?;
    // Most stand as they did: only what differs is written.
    let new: Vec<(String, Link)> = found.into_iter().filter(|(id, link)| stored.remove(id).as_ref() != Some(link)).collect();
    if !(stored.is_empty() && new.is_empty()) {
        // What pages of its sessions tell.
        let before = by_session(all_in(tx, project)?);
        for id in stored.keys().chain(new.iter().map(|(id, _)| id)) {
            tx.prepare_cached("DELETE FROM overtaken WHERE id = ?1")?.execute([id])?;
        }
        let sql = "INSERT OR IGNORE INTO overtaken VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        for (id, Link { earlier, later }) in &new {
            tx.prepare_cached(sql)?.execute(params![
                id, earlier.digest, earlier.note, earlier.at, earlier.said_by, earlier.text, later.digest, later.note, later.at,
                later.said_by, later.text
            ])?;
        }
        let after = by_session(all_in(tx, project)?);
        let outdate = "UPDATE session SET page_dirty = 1 WHERE id = ?1";
        for session in before.keys().chain(after.keys()).filter(|session| before.get(*session) != after.get(*session)) {
            tx.prepare_cached(outdate)?.execute([session])?;
        }
    }
    tx.prepare_cached("DELETE FROM fact WHERE name = ?1")?.execute([format!("{NOTED_FACT}{project}")])?;
    Ok(())
}

/// A statement that overtakes another, as it is stored.
#[derive(Debug, PartialEq, Eq)]
struct Link {
    earlier: LinkEnd,
    later: LinkEnd,
}

#[derive(Debug, PartialEq, Eq)]
struct LinkEnd {
    digest: Option<i64>,
    note: Option<i64>,
    at: Millis,
    said_by: Option<String>,
    text: String,
}

impl LinkEnd {
    fn new((_, at, place): (usize, Millis, Place), text: String) -> Self {
        Self { digest: place.digest, note: place.note, at, said_by: place.said_by.map(str::to_owned), text }
    }

    /// From this column on.
    fn read(r: &Row<'_>, from: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            digest: r.get(from)?,
            note: r.get(from + 1)?,
            at: r.get(from + 2)?,
            said_by: r.get(from + 3)?,
            text: r.get(from + 4)?,
        })
    }
}

/// Those whose later statement is of this project, by their ids.
fn stored_links(tx: &Transaction<'_>, project: i64) -> Result<BTreeMap<String, Link>> {
    let sql =
        "SELECT id, digest, note, at, said_by, text, later_digest, later_note, later_at, later_said_by, later_text FROM overtaken
         WHERE later_digest IN (SELECT d.pk FROM digest d JOIN session s ON s.pk = d.session WHERE s.project = ?1)
             OR later_note IN (SELECT pk FROM note WHERE project = ?1)";
    let mut query = tx.prepare_cached(sql)?;
    let links =
        query.query_map([project], |r| Ok((r.get(0)?, Link { earlier: LinkEnd::read(r, 1)?, later: LinkEnd::read(r, 6)? })))?;
    Ok(links.collect::<rusqlite::Result<_>>()?)
}

/// Those that the words of a project make and that models found in them, but those that the user denied; each once.
fn find_links(tx: &Transaction<'_>, project: i64) -> Result<Vec<(String, Link)>> {
    let words = words_of(tx, project)?;
    let said: Vec<Said<'_>> =
        words.places.iter().zip(&words.texts).map(|((of, at, _), text)| Said { of: *of, at: *at, text }).collect();
    let mut denied = tx.prepare_cached("SELECT id FROM wrong")?;
    // Of two with one id the first counts.
    let mut known: HashSet<String> = denied.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut links = Vec::new();
    for found in overtakings_with(&said, &words.ids, &words.claimed) {
        let (earlier, later) = (words.places[found.earlier], words.places[found.later]);
        let id = short_id("o", &[&words.ids[earlier.0], &found.earlier_sentence, &words.ids[later.0], &found.later_sentence]);
        if known.insert(id.clone()) {
            let earlier = LinkEnd::new(earlier, found.earlier_sentence);
            links.push((id, Link { earlier, later: LinkEnd::new(later, found.later_sentence) }));
        }
    }
    Ok(links)
}

fn words_of(db: &Connection, project: i64) -> Result<ProjectWords> {
    let mut all = ProjectWords::default();
    let sql = "SELECT s.pk, s.id, d.pk, coalesce(s.last_at, s.started_at, 0), d.summarizer, d.body, d.account
         FROM session s JOIN digest d ON d.session = s.pk AND d.superseded = 0 AND d.account IS NOT NULL
         WHERE s.project = ?1 ORDER BY s.started_at, s.id";
    let mut query = db.prepare_cached(sql)?;
    let mut rows = query.query([project])?;
    while let Some(r) = rows.next()? {
        let (session, digest, last_at): (i64, i64, Millis) = (r.get(0)?, r.get(2)?, r.get(3)?);
        all.ids.push(r.get(1)?);
        all.add_account(digest, last_at, &unpack(&r.get::<_, Vec<u8>>(6)?)?);
        if is_by_model(&r.get::<_, String>(4)?) {
            all.add_claims(digest, last_at, &denied::not_denied(db, session, unpack(&r.get::<_, Vec<u8>>(5)?)?)?);
        }
    }
    let mut query = db.prepare_cached("SELECT pk, id, at, text FROM note WHERE project = ?1 AND kind <> ?2 ORDER BY at, id")?;
    let mut rows = query.query(params![project, NoteKind::Todo.name()])?;
    while let Some(r) = rows.next()? {
        all.ids.push(r.get(1)?);
        let text: String = r.get(3)?;
        all.add(r.get(2)?, Place { digest: None, note: Some(r.get(0)?), said_by: None, client: Client::default() }, &text);
    }
    Ok(all)
}
