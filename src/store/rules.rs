//! Standing instructions of the user's, in the sessions whose account quotes them: those that rules find there, and those that a model's digest
//! names. Which of them recur is found from those that are shown.

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, params};

use super::{Reader, Writer, denied};
use crate::analyze::account::SessionAccount;
use crate::analyze::rules::{INSTRUCTION_RULES, Mention};
use crate::model::digest::WITHOUT_MODEL;
use crate::store::codec::unpack;
use crate::store::packed::Instruction;
use transcripts::session::Millis;

/// Name of the fact that holds the number of the rules by which they were found.
const RULES_FACT: &str = "rules of instructions";

impl Reader {
    /// The standing instructions that sessions of a project hold, in no order.
    pub(crate) fn rule_mentions(&self, project: &str) -> Result<Vec<Mention>> {
        self.rule_mentions_before(project, Millis::MAX)
    }

    /// The same, of digests that were made before a time.
    pub(crate) fn rule_mentions_before(&self, project: &str, until: Millis) -> Result<Vec<Mention>> {
        // Most sessions have none: `iif` asks after the digest's time only where there is one.
        let sql = "SELECT m.at, s.id, m.turn, m.text, m.wording FROM project p CROSS JOIN session s ON s.project = p.pk
             CROSS JOIN digest d ON d.session = s.pk AND d.superseded = 0 CROSS JOIN rule_mention m ON m.digest = d.pk
             WHERE p.key = ?1 AND iif(m.digest, d.made_at, 0) < ?2";
        let mut query = self.db.prepare_cached(sql)?;
        let mention = |r: &rusqlite::Row<'_>| {
            Ok(Mention {
                at: r.get(0)?,
                session: r.get(1)?,
                turn: usize::try_from(r.get::<_, i64>(2)?).unwrap_or_default(),
                text: r.get(3)?,
                wording: r.get(4)?,
            })
        };
        Ok(query.query_map(params![project, until], mention)?.collect::<rusqlite::Result<_>>()?)
    }

    /// The ids under which the user dismissed mentions of rules, in all sessions.
    pub(crate) fn dismissed_rules(&self) -> Result<Vec<String>> {
        let mut query =
            self.db.prepare_cached("SELECT w.id FROM wrong w JOIN session s ON s.pk = w.session WHERE w.id GLOB 'u*'")?;
        Ok(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }
}

impl Writer {
    /// Finds all of them anew if the rules by which they are found changed.
    pub(crate) fn find_rule_mentions(&self) -> Result<()> {
        let rules = INSTRUCTION_RULES.to_string();
        let known: Option<String> =
            self.db.query_row("SELECT value FROM fact WHERE name = ?1", [RULES_FACT], |r| r.get(0)).optional()?;
        if known.as_ref() == Some(&rules) {
            return Ok(());
        }
        let sql = "SELECT session FROM digest WHERE superseded = 0 AND account IS NOT NULL ORDER BY session";
        let sessions: Vec<i64> = self.db.prepare(sql)?.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
        self.in_transaction(|| {
            sessions.iter().try_for_each(|session| find_in(&self.db, *session))?;
            let sql = "INSERT INTO fact VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2";
            self.db.execute(sql, [RULES_FACT, &rules])?;
            Ok(())
        })
    }
}

/// Finds those of a session anew, in its account and its digest as they are stored and told. Without an account it has none.
pub(super) fn find_in(db: &Connection, session: i64) -> Result<()> {
    let sql = "SELECT pk, account FROM digest WHERE session = ?1 AND superseded = 0 AND account IS NOT NULL";
    let stored: Option<(i64, Vec<u8>)> = db.prepare_cached(sql)?.query_row([session], |r| Ok((r.get(0)?, r.get(1)?))).optional()?;
    let Some((digest, account)) = stored else { return Ok(()) };
    let account: SessionAccount = unpack(&account)?;
    save(db, digest, &account, &Instruction::all_in(&account))
}

/// Stores those that rules found in the account of a digest, and those that the digest names if it is a model's. Before the account is: one
/// that is cut short is made anew.
pub(super) fn save(db: &Connection, digest: i64, account: &SessionAccount, by_rules: &[Instruction]) -> Result<()> {
    db.prepare_cached("DELETE FROM rule_mention WHERE digest = ?1")?.execute([digest])?;
    let named = named(db, digest, account)?;
    if by_rules.is_empty() && named.is_empty() {
        return Ok(());
    }
    let sql = "SELECT coalesce(s.last_at, s.started_at, 0) FROM digest d JOIN session s ON s.pk = d.session WHERE d.pk = ?1";
    let last_at: Millis = db.prepare_cached(sql)?.query_row([digest], |r| r.get(0))?;
    // What is said twice in a session counts where it was said last; what both find is named.
    let sql = "INSERT OR REPLACE INTO rule_mention(digest, text, at, turn, wording) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut insert = db.prepare_cached(sql)?;
    for one in by_rules.iter().chain(&named) {
        insert.execute(params![digest, one.text, one.at.unwrap_or(last_at), one.turn as i64, one.wording])?;
    }
    Ok(())
}

/// Those that a model's digest names and that are not denied.
fn named(db: &Connection, digest: i64, account: &SessionAccount) -> Result<Vec<Instruction>> {
    let sql = "SELECT session, body FROM digest WHERE pk = ?1 AND summarizer <> ?2";
    let stored: Option<(i64, Vec<u8>)> =
        db.prepare_cached(sql)?.query_row(params![digest, WITHOUT_MODEL], |r| Ok((r.get(0)?, r.get(1)?))).optional()?;
    let Some((session, body)) = stored else { return Ok(Vec::new()) };
    Ok(Instruction::named_in(account, &denied::not_denied(db, session, unpack(&body)?)?))
}
