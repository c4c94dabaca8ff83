//! Echoes of private text: the words of a fenced-off passage are removed from everything its session says, in whichever file, and
//! whenever that file is read.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::FencedText;
use super::writer::IngestWriter;
use crate::store::chunk;
use crate::store::chunk::{StoredItem, TextReader};
use crate::store::codec;
use crate::store::forget::removal;
use crate::store::load;
use crate::store::private_words::{all_private_words_of, private_words_of};
use transcripts::privacy::echo::{PrivateWords, distinctive, hashes, names_in};
use transcripts::session::{Item, RecordKey, hash_parts};

/// Private words of sessions, as far as this transaction needed them.
pub(super) struct Echoes {
    /// Does any session have private words?
    any: bool,
    known: HashMap<String, Rc<PrivateWords>>,
    /// Sessions that gained private words in this transaction.
    newly: BTreeSet<String>,
    /// Names said in public, by session and file.
    public: HashMap<(String, String), PublicNames>,
    pub(crate) new_titles: bool,
}

/// The names that a file says in public up to an offset.
struct PublicNames {
    names: HashSet<u64>,
    until: i64,
    /// What lies behind the offset is in this chunk or a later one.
    chunk: i64,
}

impl Default for PublicNames {
    fn default() -> Self {
        Self { names: HashSet::new(), until: i64::MIN, chunk: i64::MIN }
    }
}

impl PublicNames {
    /// Adds what a source says behind them up to an offset.
    fn extend(&mut self, db: &Connection, of: (i64, i64), upto: i64) -> Result<()> {
        let (mut new, mut last, mut beyond) = (Vec::new(), self.chunk, None);
        chunk::each_of_source_from(db, of, self.chunk, |kept| {
            last = kept.bundle;
            if kept.line.offset > upto {
                beyond = beyond.or(Some(kept.bundle));
            } else if kept.line.offset > self.until {
                new.push(kept);
            }
            Ok(())
        })?;
        let mut texts = TextReader::new(db);
        for kept in new {
            texts.take(&kept)?.texts().into_iter().for_each(|text| names_in(text, |name| _ = self.names.insert(name_hash(name))));
        }
        (self.until, self.chunk) = (upto, beyond.unwrap_or(last));
        Ok(())
    }
}

impl Echoes {
    pub(crate) fn any(tx: &Transaction<'_>) -> Result<Self> {
        let any = tx.query_row("SELECT EXISTS (SELECT 1 FROM private_word)", [], |r| r.get(0))?;
        Ok(Self { any, known: HashMap::new(), newly: BTreeSet::new(), public: HashMap::new(), new_titles: false })
    }
}

/// Removes echoes from everything stored of a session. Returns whether there were any.
pub(in crate::store) fn remove_echoes(tx: &Transaction<'_>, pk: i64, words: &PrivateWords) -> Result<bool> {
    let (mut texts, mut changes) = (TextReader::new(tx), Vec::<(StoredItem, Option<Item>)>::new());
    for kept in chunk::items_of(tx, pk)? {
        let item = texts.take(&kept)?;
        match words.clean_item(&item) {
            Some(Cow::Borrowed(_)) => {}
            other => changes.push((kept, other.map(Cow::into_owned))),
        }
    }
    let branches = remove_branch_echoes(tx, pk, words)?;
    if changes.is_empty() && !branches {
        return Ok(false);
    }
    chunk::replace_items(tx, pk, changes.into_iter())?;
    removal::remove_derived(tx, pk)?;
    Ok(true)
}

/// Removes branch names that repeat private words.
fn remove_branch_echoes(tx: &Transaction<'_>, pk: i64, words: &PrivateWords) -> Result<bool> {
    let mut query = tx.prepare_cached("SELECT pk, branches FROM source WHERE session = ?1")?;
    let all: Vec<(i64, String)> = query.query_map([pk], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
    let mut changed = false;
    for (source, list) in all {
        let mut names = codec::list(&list)?;
        let before = names.len();
        names.retain(|name| !words.are_in(name));
        if names.len() < before {
            let sql = "UPDATE source SET branches = ?2 WHERE pk = ?1";
            tx.prepare_cached(sql)?.execute(params![source, serde_json::to_string(&names)?])?;
            changed = true;
        }
    }
    Ok(changed)
}

impl IngestWriter<'_, '_> {
    /// A session's own private words; empty for nearly all sessions.
    pub(crate) fn words_of(&mut self, session: &str) -> Result<Rc<PrivateWords>> {
        if let Some(known) = self.echoes.known.get(session) {
            return Ok(known.clone());
        }
        let mut private_words = PrivateWords::default();
        if self.echoes.any {
            private_words_of(self.tx, session, &mut private_words)?;
        }
        let private_words = Rc::new(private_words);
        self.echoes.known.insert(session.to_owned(), private_words.clone());
        Ok(private_words)
    }

    /// Stores hashes of the distinctive words of a fenced-off text, except those the session said in public before.
    pub(crate) fn clean_echoes(&mut self, fenced: &FencedText, path: &str) -> Result<()> {
        let mut names = distinctive(&fenced.text);
        names_in(&fenced.public, |name| _ = names.remove(name));
        if names.is_empty() {
            return Ok(());
        }
        let public = self.said_before(fenced, path)?;
        names.retain(|name| !public.contains(&name_hash(name)));
        let words = hashes(&fenced.session, names.iter().map(String::as_str));
        let mut insert = self.tx.prepare_cached("INSERT INTO private_word VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
        for word in &words {
            insert.execute(params![fenced.session, word])?;
        }
        self.echoes.any = true;
        let mut private_words = PrivateWords::clone(&*self.words_of(&fenced.session)?);
        if private_words.add(&fenced.session, words) {
            self.echoes.newly.insert(fenced.session.clone());
        }
        self.echoes.known.insert(fenced.session.clone(), Rc::new(private_words));
        Ok(())
    }

    /// The names the file says in public up to the fenced record.
    fn said_before(&mut self, fenced: &FencedText, path: &str) -> Result<&HashSet<u64>> {
        let sql =
            "SELECT s.pk, f.pk FROM session s JOIN source f ON f.session = s.pk WHERE s.id = ?1 AND f.file = ?2 AND f.agent = ''";
        let mut query = self.tx.prepare_cached(sql)?;
        let main: Option<(i64, i64)> = query.query_row(params![fenced.session, path], |r| Ok((r.get(0)?, r.get(1)?))).optional()?;
        drop(query);
        let public = (fenced.session.clone(), path.to_owned());
        if let Some(main) = main {
            self.flush_items()?;
            self.echoes.public.entry(public.clone()).or_default().extend(self.tx, main, fenced.offset as i64)?;
        }
        Ok(&self.echoes.public.entry(public).or_default().names)
    }

    /// Has the names read again: what they were read from has changed.
    pub(crate) fn forget_public_names(&mut self) {
        self.echoes.public.clear();
    }

    /// Removes echoes that were stored before their session gained the word, and echoes in later forks of such a session.
    pub(crate) fn clean_stored_echoes(&mut self) -> Result<()> {
        if !self.echoes.any {
            return Ok(());
        }
        let mut changed: BTreeSet<i64> = BTreeSet::new();
        for session in std::mem::take(&mut self.echoes.newly) {
            let Some(pk) = self.stored_session(&session)? else { continue };
            changed.insert(pk);
            changed.extend(chunk::forks_of(self.tx, pk)?);
        }
        let may_have_titles = !changed.is_empty() || self.echoes.new_titles;
        for pk in &self.touched {
            if !chunk::forks_of(self.tx, *pk)?.is_empty() {
                changed.insert(*pk);
            }
        }
        for pk in changed {
            let words = all_private_words_of(self.tx, &load::head_of(self.tx, pk)?)?;
            if !words.is_empty() && remove_echoes(self.tx, pk, &words)? {
                self.gathered.drop_session(pk);
                self.touched.insert(pk);
            }
        }
        if may_have_titles { self.clean_title_echoes() } else { Ok(()) }
    }

    /// Removes echoes from titles that other files give to records of sessions with private words.
    fn clean_title_echoes(&mut self) -> Result<()> {
        let mut query = self.tx.prepare_cached("SELECT leaf, text FROM leaf_title")?;
        let all: Vec<([u8; 16], String)> = query.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
        drop(query);
        for (leaf, text) in all {
            for pk in self.whereabouts.sessions_with(self.tx, RecordKey(leaf))? {
                let words = all_private_words_of(self.tx, &load::head_of(self.tx, pk)?)?;
                if !words.are_in(&text) {
                    continue;
                }
                let clean = words.clean(&text).into_owned();
                let sql = "UPDATE OR REPLACE leaf_title SET text = ?3 WHERE leaf = ?1 AND text = ?2";
                self.tx.prepare_cached(sql)?.execute(params![leaf, text, clean])?;
                removal::remove_derived_from_title(self.tx, &mut self.whereabouts, RecordKey(leaf))?;
                break;
            }
        }
        Ok(())
    }
}

fn name_hash(name: &str) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = hash_parts(&[name.as_bytes()]);
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}
