//! Standing instructions of the user's, in the sessions whose account quotes them. Which of them recur is found from those that are shown.

use anyhow::Result;
use rusqlite::{OptionalExtension, params};

use super::{Reader, Writer};
use crate::analyze::rules::{INSTRUCTION_RULES, Mention};
use crate::model::session::Millis;
use crate::store::codec::unpack;
use crate::store::packed::Instruction;

/// Name of the fact that holds the number of the rules by which they were found.
const RULES_FACT: &str = "rules of instructions";

impl Reader {
    /// The standing instructions that sessions of a project hold, in no order.
    pub(crate) fn rule_mentions(&self, project: &str) -> Result<Vec<Mention>> {
        let sql = "SELECT m.at, s.id, m.turn, m.text FROM rule_mention m JOIN digest d ON d.pk = m.digest AND d.superseded = 0
             JOIN session s ON s.pk = d.session JOIN project p ON p.pk = s.project WHERE p.key = ?1";
        let mut query = self.db.prepare_cached(sql)?;
        let mention = |r: &rusqlite::Row<'_>| {
            Ok(Mention {
                at: r.get(0)?,
                session: r.get(1)?,
                turn: usize::try_from(r.get::<_, i64>(2)?).unwrap_or_default(),
                text: r.get(3)?,
            })
        };
        Ok(query.query_map([project], mention)?.collect::<rusqlite::Result<_>>()?)
    }

    /// The ids under which the user dismissed mentions of rules, in all sessions.
    pub(crate) fn dismissed_rules(&self) -> Result<Vec<String>> {
        let mut query =
            self.db.prepare_cached("SELECT w.id FROM wrong w JOIN session s ON s.pk = w.session WHERE w.id GLOB 'u*'")?;
        Ok(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }
}

impl Writer {
    /// Stores the standing instructions that a digest's account quotes. Before the account is: one that is cut short is made anew.
    pub(super) fn save_rule_mentions(&self, digest: i64, instructions: &[Instruction]) -> Result<()> {
        self.db.prepare_cached("DELETE FROM rule_mention WHERE digest = ?1")?.execute([digest])?;
        if instructions.is_empty() {
            return Ok(());
        }
        let sql = "SELECT coalesce(s.last_at, s.started_at, 0) FROM digest d JOIN session s ON s.pk = d.session WHERE d.pk = ?1";
        let last_at: Millis = self.db.prepare_cached(sql)?.query_row([digest], |r| r.get(0))?;
        // What is said twice in a session counts where it was said last.
        let mut insert =
            self.db.prepare_cached("INSERT OR REPLACE INTO rule_mention(digest, text, at, turn) VALUES (?1, ?2, ?3, ?4)")?;
        for one in instructions {
            insert.execute(params![digest, one.text, one.at.unwrap_or(last_at), one.turn as i64])?;
        }
        Ok(())
    }

    /// Finds all of them anew if the rules by which they are found changed.
    pub(crate) fn find_rule_mentions(&self) -> Result<()> {
        let rules = INSTRUCTION_RULES.to_string();
        let known: Option<String> =
            self.db.query_row("SELECT value FROM fact WHERE name = ?1", [RULES_FACT], |r| r.get(0)).optional()?;
        if known.as_ref() == Some(&rules) {
            return Ok(());
        }
        let sql = "SELECT pk FROM digest WHERE superseded = 0 AND account IS NOT NULL ORDER BY session";
        let digests: Vec<i64> = self.db.prepare(sql)?.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
        self.in_transaction(|| {
            let mut account = self.db.prepare("SELECT account FROM digest WHERE pk = ?1")?;
            for digest in digests {
                let body: Vec<u8> = account.query_row([digest], |r| r.get(0))?;
                self.save_rule_mentions(digest, &Instruction::all_in(&unpack(&body)?))?;
            }
            let sql = "INSERT INTO fact VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2";
            self.db.execute(sql, [RULES_FACT, &rules])?;
            Ok(())
        })
    }
}
