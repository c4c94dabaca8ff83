//! Resanitizing: stored texts pass the sanitizer again when its rules change.
//!
//! Works session by session, one transaction each; after an interruption the next run does it all again, and what is already clean stays
//! as it is. Where a text is only redacted, everything derived from it is redacted too. Where a text is removed, everything derived from
//! it is removed, because it may say the same in other words.

mod columns;
mod items;
pub(crate) mod open_items;

use anyhow::Result;
use rusqlite::{OptionalExtension, Transaction, params};

use super::{Reader, Writer, search};
use crate::model::digest::Digest;
use crate::store::codec::{pack, unpack};
use crate::store::denied;
use crate::store::erasure;
use crate::store::forget::removal;
use crate::store::near_duplicates;
use crate::store::{memory_files, observations, origin, overtaken};
use transcripts::privacy::Sanitizer;

/// Name of the fact that holds the rules by which stored texts were sanitized.
const RULES_FACT: &str = "rules";
/// Name of the fact that stored prompts were checked once for third-party text: earlier programs took it for the user's own.
const SPEAKERS_FACT: &str = "speakers";

impl Reader {
    /// Has everything stored passed the sanitizer with these rules?
    pub(crate) fn is_sanitized_by(&self, rules: &str) -> Result<bool> {
        let sql = "SELECT value FROM fact WHERE name = ?1";
        let known: Option<String> = self.db.query_row(sql, [RULES_FACT], |r| r.get(0)).optional()?;
        Ok(known.as_deref() == Some(rules))
    }
}

impl Writer {
    /// Passes everything stored through the sanitizer, whose rules are identified by `rules`. Returns how many texts changed.
    pub(crate) fn clean(&mut self, sanitizer: &Sanitizer, rules: &str) -> Result<u64> {
        let sessions: Vec<i64> =
            self.db.prepare("SELECT pk FROM session")?.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
        let sql = "SELECT EXISTS (SELECT 1 FROM fact WHERE name = ?1)";
        let knows_speakers: bool = self.db.query_row(sql, [SPEAKERS_FACT], |r| r.get(0))?;
        // First, while the words from which item ids were derived are still unchanged.
        let mut changed = self.resanitize_in_transaction(|tx| {
            overtaken::remove_all(tx)?;
            observations::remove_all(tx)?;
            crate::store::resanitize::open_items::clean(tx, sanitizer)
        })?;
        for session in sessions {
            changed += self.resanitize_in_transaction(|tx| clean_session(tx, session, sanitizer, knows_speakers))?;
        }
        changed += self.resanitize_in_transaction(|tx| columns::clean(tx, sanitizer))?;
        changed += self.resanitize_in_transaction(|tx| Self::resanitize_notes(tx, |text| sanitizer.clean(text)))?;
        changed += self.resanitize_in_transaction(|tx| memory_files::resanitize(tx, |text| sanitizer.clean(text)))?;
        for (name, value) in [(RULES_FACT, rules), (SPEAKERS_FACT, "1")] {
            self.db.execute("INSERT INTO fact VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2", [name, value])?;
        }
        Ok(changed)
    }

    fn resanitize_in_transaction(&mut self, clean: impl FnOnce(&Transaction<'_>) -> Result<u64>) -> Result<u64> {
        let tx = self.reader.db.transaction()?;
        let changed = clean(&tx)?;
        if changed > 0 {
            erasure::mark_erase_due(&tx)?;
        }
        tx.commit()?;
        Ok(changed)
    }
}

fn clean_session(tx: &Transaction<'_>, session: i64, sanitizer: &Sanitizer, knows_speakers: bool) -> Result<u64> {
    let cleaned = items::clean(tx, session, sanitizer, knows_speakers)?;
    let mut changed = cleaned.texts;
    if cleaned.left_out {
        removal::remove_derived(tx, session)?;
    } else {
        changed += clean_digests(tx, session, sanitizer)?;
    }
    changed += origin::resanitize(tx, session, |text| sanitizer.clean(text))?;
    if changed > 0 {
        search::remove_document(tx, session)?;
        tx.prepare_cached("UPDATE session SET page_dirty = 1 WHERE pk = ?1")?.execute([session])?;
        tx.prepare_cached(
            "UPDATE digest SET basis = NULL, account = NULL, account_rules = NULL WHERE session = ?1
                 AND NOT EXISTS (SELECT 1 FROM origin WHERE session = ?1)",
        )?
        .execute([session])?;
    }
    Ok(changed)
}

fn clean_digests(tx: &Transaction<'_>, session: i64, sanitizer: &Sanitizer) -> Result<u64> {
    let mut query = tx.prepare_cached("SELECT pk, superseded, body FROM digest WHERE session = ?1")?;
    let digests = query.query_map([session], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
    let digests: Vec<(i64, bool, Vec<u8>)> = digests.collect::<rusqlite::Result<_>>()?;
    let mut changed = 0;
    for (pk, superseded, body) in digests {
        let before: Digest = unpack(&body)?;
        let mut passed = before.clone();
        passed.pass(|text| sanitizer.clean(text));
        if passed == before {
            continue;
        }
        changed += 1;
        // By other words it would not be known for what is not so.
        let mut after = denied::not_denied(tx, session, before)?;
        after.pass(|text| sanitizer.clean(text));
        if !superseded {
            near_duplicates::drop_signature(tx, session)?;
        }
        tx.prepare_cached("UPDATE digest SET body = ?2, title = ?3 WHERE pk = ?1")?.execute(params![
            pk,
            pack(&after)?,
            after.title
        ])?;
    }
    Ok(changed)
}
