//! What people said beside sessions: notes, whether they are done, closed items, statements taken out, sessions forgotten.
//!
//! Of each, the word with the highest version counts, whoever said it; of two with the same version, that of the machine whose id is higher.
//! A version counts on from all that were seen, whatever clocks say. A note that was forgotten stays so whoever changed it meanwhile: above the
//! count, a version has a bit for that, and above the bit how often the note was said anew by somebody who knew that it was forgotten.
//! Two machines that change a note before they hear of each other: the text that loses is kept by its machine as another note.
//! A machine tells its own words only: one whose word was replaced tells it no more, so that no machine keeps what was changed or removed.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sync::{Machine, Record, RecordId};

use super::projects::{KnownProjects, PlacedProjects, ToldProject};
use super::state::{Said, SyncState};
use crate::analyze::denied::DeniedStatement;
use crate::app::notes::{MAX_LENGTH, as_kept_here, is_note_id};
use crate::config::Config;
use crate::model::author::Author;
use crate::model::digest::is_item_id;
use crate::model::note::Note;
use crate::store::notes::NewNote;
use crate::store::said_since::{ClosedItem, Denial};
use crate::store::transfer::ExportedNote;
use crate::store::{Reader, Writer};
use transcripts::privacy::Sanitizer;
use transcripts::session::Millis;

const NOTE: &str = "note";
/// A note that is done; the id is the note's.
const DONE: &str = "done";
/// An item of a session that was closed on request.
const CLOSED: &str = "closed";
/// A statement of a session that was taken out.
const WRONG: &str = "wrong";
/// A session that is forgotten on all machines.
const FORGOTTEN: &str = "forgotten";
/// Where in a version of a note stands that it is forgotten, and from where on how often it was said anew.
const FORGOTTEN_BIT: u32 = 39;
const ANEW_FROM: u32 = 40;
const COUNT: u64 = (1 << FORGOTTEN_BIT) - 1;
const KINDS: [&str; 5] = [NOTE, DONE, CLOSED, WRONG, FORGOTTEN];

/// Is it a word of a person's?
pub(super) fn is_said(id: &RecordId) -> bool {
    KINDS.contains(&id.kind.as_str())
}

#[derive(Serialize, Deserialize)]
struct ToldNote {
    project: ToldProject,
    note: ExportedNote,
    /// The version of the word that it was said over: who said it knew no later one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    over: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct ToldEnd {
    at: Millis,
    #[serde(default)]
    by: Author,
    /// The item's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    text: String,
}

#[derive(Serialize, Deserialize)]
struct ToldDenial {
    at: Millis,
    words: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct ToldForgotten {}

fn id(kind: &str, id: impl Into<String>) -> RecordId {
    RecordId { kind: kind.to_owned(), id: id.into() }
}

/// The id of something that belongs to a session.
fn id_in(kind: &str, session: &str, own: &str) -> RecordId {
    id(kind, format!("{session}/{own}"))
}

/// A word as the index holds it.
pub(super) struct StoredWord {
    /// As a record has it.
    body: String,
    /// Of what was said: the same wherever its project lies.
    hash: u64,
}

impl StoredWord {
    fn new(body: &impl Serialize) -> Result<Self> {
        let body = serde_json::to_string(body)?;
        Ok(Self { hash: hash_of(&body), body })
    }
}

/// All that the index holds of it.
pub(super) fn stored(index: &Reader, projects: &KnownProjects) -> Result<BTreeMap<RecordId, StoredWord>> {
    let mut all = BTreeMap::new();
    for note in index.notes()? {
        if let Some((at, by)) = &note.closed {
            all.insert(id(DONE, &note.id), StoredWord::new(&ToldEnd { at: *at, by: by.clone(), text: String::new() })?);
        }
        let project = projects.told(&note.project.key);
        let note = ExportedNote { closed_at: None, closed_by: None, ..ExportedNote::of(Note { pk: 0, ..note }) };
        let hash = hash_of(&serde_json::to_string(&note)?);
        all.insert(
            id(NOTE, &note.note),
            StoredWord { hash, ..StoredWord::new(&ToldNote { project, note: note.clone(), over: None })? },
        );
    }
    put_words_of_sessions(index, &mut all)?;
    for session in index.forgotten_sessions()? {
        all.insert(id(FORGOTTEN, session), StoredWord::new(&ToldForgotten {})?);
    }
    Ok(all)
}

/// What was closed and taken out of sessions.
fn put_words_of_sessions(index: &Reader, all: &mut BTreeMap<RecordId, StoredWord>) -> Result<()> {
    for item in index.items_closed_on_request()? {
        let end = ToldEnd { at: item.at, by: item.by, text: item.text };
        all.insert(id_in(CLOSED, &item.session, &item.id), StoredWord::new(&end)?);
    }
    for Denial { session, statement, at } in index.denials()? {
        let denial = ToldDenial { at, words: statement.to_bytes() };
        all.insert(id_in(WRONG, &session, &statement.id), StoredWord::new(&denial)?);
    }
    Ok(())
}

fn is_in_session(id: &RecordId) -> bool {
    id.kind == CLOSED || id.kind == WRONG
}

/// Is it a word on a session that is forgotten?
pub(super) fn is_of_forgotten(id: &RecordId, index: &Reader) -> Result<bool> {
    let session = id.id.split_once('/').filter(|_| is_in_session(id)).map(|(session, _)| session);
    session.map_or(Ok(false), |session| index.is_shut_out(session))
}

/// A word as it waits for what it belongs to: what is kept of an exchange holds no text.
pub(super) fn without_text(id: &RecordId, body: &str) -> Result<String> {
    if id.kind != CLOSED {
        return Ok(body.to_owned());
    }
    let end: ToldEnd = serde_json::from_str(body)?;
    Ok(serde_json::to_string(&ToldEnd { text: String::new(), ..end })?)
}

/// One of them.
pub(super) fn stored_one(index: &Reader, projects: &KnownProjects, id: &RecordId) -> Result<Option<StoredWord>> {
    Ok(stored(index, projects)?.remove(id))
}

/// The word that a session is forgotten.
pub(super) fn forgotten_word() -> Result<StoredWord> {
    StoredWord::new(&ToldForgotten {})
}

/// A word's body as a record has it.
fn with_over(word: &StoredWord, said: &Said) -> Result<String> {
    if said.over.is_none() {
        return Ok(word.body.clone());
    }
    let told: ToldNote = serde_json::from_str(&word.body)?;
    Ok(serde_json::to_string(&ToldNote { over: said.over, ..told })?)
}

/// A record of a note that is not forgotten.
fn told_note(record: &Record) -> Option<ToldNote> {
    let body = record.body.as_ref().filter(|_| record.id.kind == NOTE)?;
    serde_json::from_str(body.get()).ok()
}

/// Keeps what this machine has a note say as a note of its own, where another machine's `text` replaces it. Returns the id of that note.
pub(super) fn keep_replaced(id: &str, text: &str, store: &mut Writer) -> Result<Option<String>> {
    let Some(mine) = store.notes()?.into_iter().find(|note| note.id == id && note.text != text) else { return Ok(None) };
    let named = format!("Other version of {id}: {}", mine.text);
    let text = if named.chars().count() > MAX_LENGTH { mine.text } else { named };
    let new = NewNote { project: mine.project.key, kind: mine.kind, text, at: mine.at, author: mine.author, closed: mine.closed };
    // An exchange that was killed has kept it.
    let kept = store.save_note(&new, |note| note.project.key == new.project && note.text == new.text)?;
    Ok(Some(kept.id))
}

fn hash_of(text: &str) -> u64 {
    u64::from_le_bytes(blake3::hash(text.as_bytes()).as_bytes().first_chunk().copied().unwrap_or_default())
}

impl SyncState {
    /// Takes note of what was said, changed and taken back on this machine since the last exchange.
    pub(super) fn hear_own(&mut self, stored: &BTreeMap<RecordId, StoredWord>, index: &Reader) -> Result<()> {
        let me = self.me.id.clone();
        for (id, word) in stored {
            let hash = Some(word.hash);
            if self.said.get(id).is_none_or(|said| said.gone || said.hash != hash) {
                let version = self.next_version(id, false);
                let over = self.said.get(id).filter(|_| id.kind == NOTE).map(|said| said.version);
                self.said.insert(id.clone(), Said { version, machine: me.clone(), gone: false, hash, over, is_untold: true });
            }
        }
        let missing: Vec<RecordId> = self
            .said
            .iter()
            .filter(|(id, said)| said.hash.is_some() && !stored.contains_key(*id))
            .map(|(id, _)| id.clone())
            .collect();
        for id in missing {
            if was_taken_back(&id, index)? {
                let version = self.next_version(&id, true);
                self.said.insert(id, Said { version, machine: me.clone(), gone: true, hash: None, over: None, is_untold: true });
            } else if is_in_session(&id)
                && let Some(said) = self.said.get_mut(&id)
            {
                // It went with its session, and is not taken back where that comes again.
                said.hash = None;
            }
        }
        Ok(())
    }

    /// The version of a new word on something.
    fn next_version(&mut self, id: &RecordId, gone: bool) -> u64 {
        self.last_count += 1;
        if id.kind != NOTE {
            return self.last_count;
        }
        let known = self.said.get(id);
        let anew = known.map_or(0, |said| (said.version >> ANEW_FROM) + u64::from(said.gone && !gone));
        anew << ANEW_FROM | u64::from(gone) << FORGOTTEN_BIT | self.last_count
    }

    /// What this machine tells, with versions; `visible` holds what today's policy shows. What waits is not told: its text may be of a session
    /// that its machine withdrew.
    pub(super) fn said_here(&self, visible: &BTreeMap<RecordId, StoredWord>) -> BTreeMap<RecordId, u64> {
        let own = self
            .said
            .iter()
            .filter(|(id, said)| said.machine == self.me.id && (said.gone || said.hash.is_some() && visible.contains_key(*id)));
        own.map(|(id, said)| (id.clone(), said.version)).collect()
    }

    /// The record of a word of this machine's.
    pub(super) fn said_record(&self, id: &RecordId, visible: &BTreeMap<RecordId, StoredWord>) -> Result<Record> {
        let said = self.said.get(id).context("nothing is known of it")?;
        let body = match said.gone {
            true => None,
            false => {
                let word = visible.get(id).context("it is gone from the index")?;
                Some(RawValue::from_string(with_over(word, said)?)?)
            }
        };
        Ok(Record { id: id.clone(), version: said.version, body })
    }

    /// Is a word of another machine's later than what is known?
    pub(super) fn is_later(&mut self, machine: &Machine, record: &Record) -> bool {
        self.last_count = self.last_count.max(record.version & COUNT);
        let Some(said) = self.said.get(&record.id) else { return true };
        // The same word, which went from here with its session.
        let is_wanted_again = is_in_session(&record.id) && !said.gone && said.hash.is_none() && record.version == said.version;
        is_wanted_again || (record.version, &machine.id) > (said.version, &said.machine)
    }

    /// What another machine has a note say, if it said so without knowing what this machine has it say, and now replaces that.
    pub(super) fn text_over_unknown(&self, record: &Record) -> Option<String> {
        let mine = self.said.get(&record.id).filter(|said| said.machine == self.me.id && said.hash.is_some())?;
        let told = told_note(record)?;
        // A word that is told knows all up to the one that it was said over.
        let knew_less = told.over.is_some_and(|over| over < mine.version);
        (mine.is_untold || knew_less).then_some(told.note.text)
    }

    /// A session goes from here because its machine tells of it no more: what was said of it waits for it to come again, without its text.
    pub(super) fn keep_words_of(&mut self, session: &str, index: &Reader) -> Result<()> {
        let is_of_it = |id: &RecordId| id.id.split_once('/').is_some_and(|(of, _)| of == session);
        let first = |kind| id_in(kind, session, "");
        let said = [CLOSED, WRONG].into_iter().flat_map(|kind| self.said.range(first(kind)..).take_while(|(id, _)| is_of_it(id)));
        let ids: Vec<RecordId> = said.filter(|(_, said)| said.hash.is_some()).map(|(id, _)| id.clone()).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let mut stored = BTreeMap::new();
        put_words_of_sessions(index, &mut stored)?;
        for id in ids {
            if let Some(said) = self.said.get_mut(&id) {
                said.hash = None;
            }
            if let Some(word) = stored.remove(&id) {
                let body = without_text(&id, &word.body)?;
                self.waiting.insert(id, body);
            }
        }
        Ok(())
    }

    /// Takes note of what [`Self::heard`] returned in an exchange that did not end.
    pub(super) fn take_note_of(&mut self, heard: Vec<(String, String)>) {
        for (id, said) in heard {
            let (Ok(id), Ok(said)) = (serde_json::from_str::<RecordId>(&id), serde_json::from_str::<Said>(&said)) else { continue };
            self.last_count = self.last_count.max(said.version & COUNT);
            if self.said.get(&id).is_none_or(|known| (said.version, &said.machine) > (known.version, &known.machine)) {
                self.said.insert(id, said);
            }
        }
    }

    /// Keeps what became of a word that was heard, and returns that as text: `stored` is what is stored of it now.
    pub(super) fn heard(&mut self, machine: &Machine, record: &Record, stored: Option<&StoredWord>) -> String {
        let hash = stored.map(|word| word.hash);
        let (gone, over) = (record.body.is_none(), told_note(record).and_then(|told| told.over));
        let said = Said { version: record.version, machine: machine.id.clone(), gone, hash, over, is_untold: false };
        let text = serde_json::to_string(&said).unwrap_or_default();
        self.said.insert(record.id.clone(), said);
        text
    }

    /// What waited for something else is stored now.
    pub(super) fn arrived(&mut self, id: &RecordId, stored: Option<&StoredWord>) {
        if let Some(said) = self.said.get_mut(id) {
            said.hash = stored.map(|word| word.hash);
        }
    }

    /// A machine tells a word no more. If it still counts, this machine tells it from now on: a word is not lost with the machine.
    pub(super) fn adopt(&mut self, machine: &Machine, id: &RecordId) {
        let me = self.me.id.clone();
        if let Some(said) = self.said.get_mut(id).filter(|said| said.machine == machine.id) {
            said.machine = me;
        }
    }
}

/// Is something that is not stored any more taken back, and not merely out of reach with what it belongs to?
fn was_taken_back(id: &RecordId, index: &Reader) -> Result<bool> {
    Ok(match id.kind.as_str() {
        DONE => index.notes()?.iter().any(|note| note.id == id.id),
        CLOSED | WRONG => match id.id.split_once('/') {
            Some((session, _)) => session_here(index, session)?.is_some(),
            None => false,
        },
        _ => true,
    })
}

/// The number of a session of which something is stored.
fn session_here(index: &Reader, session: &str) -> Result<Option<i64>> {
    let Some(pk) = index.session_pk(session)? else { return Ok(None) };
    Ok(if index.is_empty_session(pk)? { None } else { Some(pk) })
}

/// What came of a word.
pub(super) enum Outcome {
    Stored,
    /// What it belongs to is not here yet.
    Waits,
    /// It is not kept here.
    LeftOut,
    /// A session is to be forgotten.
    Forget(String),
}

/// Puts the words of other machines into the index.
pub(super) struct WordTaker<'a> {
    pub(super) config: &'a Config,
    pub(super) sanitizer: &'a Sanitizer,
    pub(super) known: &'a KnownProjects,
}

impl WordTaker<'_> {
    /// # Errors
    /// When it is not what a machine says, or it cannot be stored.
    pub(super) fn take(
        &self,
        id: &RecordId,
        body: Option<&str>,
        store: &mut Writer,
        placed: &mut PlacedProjects,
    ) -> Result<Outcome> {
        match id.kind.as_str() {
            NOTE => self.note(&id.id, body, store, placed),
            DONE => self.done(&id.id, body, store),
            CLOSED => self.closed(&id.id, body, store),
            WRONG => denied(&id.id, body, store),
            _ => forgotten(&id.id, body, store),
        }
    }

    fn note(&self, id: &str, body: Option<&str>, store: &mut Writer, placed: &mut PlacedProjects) -> Result<Outcome> {
        ensure!(is_note_id(id), "it is no id of a note");
        let Some(body) = body else {
            store.remove_note(id)?;
            return Ok(Outcome::Stored);
        };
        let ToldNote { project, mut note, .. } = serde_json::from_str(body).context("it is no note")?;
        ensure!(note.note == id, "it is another note");
        note.project = self.known.here(&project, placed);
        let Ok(new) = as_kept_here(note, self.sanitizer, self.config) else {
            // Excluded here, or private.
            store.remove_note(id)?;
            return Ok(Outcome::LeftOut);
        };
        Ok(if store.put_note(id, &new)? { Outcome::Stored } else { Outcome::LeftOut })
    }

    fn done(&self, id: &str, body: Option<&str>, store: &mut Writer) -> Result<Outcome> {
        let end =
            body.map(|body| serde_json::from_str::<ToldEnd>(body).context("it does not say when a note was done")).transpose()?;
        let Some(note) = store.notes()?.into_iter().find(|note| note.id == id) else {
            return Ok(if end.is_some() { Outcome::Waits } else { Outcome::Stored });
        };
        store.close_note(&note, None)?;
        if let Some(end) = end {
            store.close_note(&note, Some((end.at, end.by.with_clean_name(|name| self.sanitizer.clean(name)))))?;
        }
        Ok(Outcome::Stored)
    }

    fn closed(&self, id: &str, body: Option<&str>, store: &mut Writer) -> Result<Outcome> {
        let (session, item) = id.split_once('/').filter(|(_, item)| is_item_id(item)).context("it is no item of a session")?;
        let Some(body) = body else {
            store.remove_closed_item(session, item)?;
            return Ok(Outcome::Stored);
        };
        let end: ToldEnd = serde_json::from_str(body).context("it does not say when an item was closed")?;
        if session_here(store, session)?.is_none() {
            return Ok(Outcome::Waits);
        }
        let item = ClosedItem {
            id: item.to_owned(),
            session: session.to_owned(),
            text: self.sanitizer.clean(&end.text),
            at: end.at,
            by: end.by.with_clean_name(|name| self.sanitizer.clean(name)),
        };
        Ok(if store.put_closed_item(&item)? { Outcome::Stored } else { Outcome::Waits })
    }
}

fn denied(id: &str, body: Option<&str>, store: &mut Writer) -> Result<Outcome> {
    let (session, own) =
        id.split_once('/').filter(|(_, own)| DeniedStatement::is_id(own)).context("it is no statement of a session")?;
    let head = session_here(store, session)?.map(|pk| store.session_head(pk)).transpose()?;
    let Some(body) = body else {
        head.map_or(Ok(()), |head| store.undeny(&head, &[own]))?;
        return Ok(Outcome::Stored);
    };
    let denial: ToldDenial = serde_json::from_str(body).context("it does not say what is wrong")?;
    ensure!(DeniedStatement::is_stored_form(&denial.words), "it does not say what is wrong");
    let Some(head) = head else { return Ok(Outcome::Waits) };
    store.deny(&head, &[DeniedStatement::from_bytes(own.to_owned(), &denial.words)], denial.at)?;
    Ok(Outcome::Stored)
}

fn forgotten(id: &str, body: Option<&str>, store: &mut Writer) -> Result<Outcome> {
    let is_id = !id.is_empty() && id.len() <= 100 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    ensure!(is_id, "it is no id of a session");
    match body {
        None => store.readmit_session(id).map(|()| Outcome::Stored),
        // An exchange may have been killed between the one and the other.
        Some(_) if store.is_shut_out(id)? && store.session_pk(id)?.is_none() => Ok(Outcome::Stored),
        Some(_) => Ok(Outcome::Forget(id.to_owned())),
    }
}
