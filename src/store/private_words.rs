//! The private words of sessions, as hashes.

use anyhow::Result;
use rusqlite::Connection;

use super::{Reader, chunk, load};
use crate::model::session_head::SessionHead;
use transcripts::privacy::echo::{PrivateWords, WordHash};

/// Adds a session's own private words.
pub(in crate::store) fn private_words_of(db: &Connection, session: &str, into: &mut PrivateWords) -> Result<()> {
    let mut query = db.prepare_cached("SELECT word FROM private_word WHERE session = ?1")?;
    let words: Vec<WordHash> = query.query_map([session], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
    into.add(session, words);
    Ok(())
}

/// The private words of a session and of the earlier sessions it shares records with.
pub(in crate::store) fn all_private_words_of(db: &Connection, head: &SessionHead) -> Result<PrivateWords> {
    let mut private_words = PrivateWords::default();
    private_words_of(db, &head.id, &mut private_words)?;
    for kin in chunk::earlier_forks(db, head)? {
        private_words_of(db, &load::head_of_fork(db, kin)?.id, &mut private_words)?;
    }
    Ok(private_words)
}

impl Reader {
    /// The private words of the sessions whose transcripts lie in a folder.
    pub(crate) fn private_words_in_folder(&self, folder: &str) -> Result<PrivateWords> {
        let sql = "SELECT DISTINCT s.id FROM source f JOIN session s ON s.pk = f.session
             WHERE f.file > ?1 || '/' AND f.file < ?1 || '0' AND s.id IN (SELECT session FROM private_word) ORDER BY s.id";
        let mut query = self.db.prepare_cached(sql)?;
        let sessions: Vec<String> = query.query_map([folder], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
        let mut private_words = PrivateWords::default();
        sessions.iter().try_for_each(|session| private_words_of(&self.db, session, &mut private_words))?;
        Ok(private_words)
    }
}
