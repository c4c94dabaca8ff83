//! Accounts of sessions, stored beside their digests and with the same lifetime: whatever removes a digest, because its session changed or
//! something of it was forgotten, removes the account with it.

use anyhow::Result;
use rusqlite::{OptionalExtension, params};

use super::load::{self, SELECT_HEAD};
use super::{Reader, Writer, commands, failures, receipts, rules};
use crate::analyze::account::{ACCOUNT_RULES, AccountToStore, SessionAccount};
use crate::model::session_head::SessionHead;
use crate::store::codec::unpack;
use crate::store::packed::PackedAccount;

impl Reader {
    /// The account of a session that has a digest, shortened; `None` if it is yet to be made by today's rules.
    pub(crate) fn account_of(&self, session: i64) -> Result<Option<SessionAccount>> {
        let sql = "SELECT account FROM digest WHERE session = ?1 AND superseded = 0 AND account_rules = ?2";
        let body =
            self.db.prepare_cached(sql)?.query_row(params![session, ACCOUNT_RULES], |r| r.get::<_, Vec<u8>>(0)).optional()?;
        body.map(|body| unpack(&body)).transpose()
    }

    /// Sessions whose digest has no account by today's rules.
    pub(crate) fn without_account(&self) -> Result<Vec<SessionHead>> {
        let sql = format!(
            "{SELECT_HEAD} WHERE s.pk IN (SELECT session FROM digest WHERE superseded = 0 AND account_rules IS NULL
                 UNION ALL SELECT session FROM digest WHERE superseded = 0 AND account_rules < ?1
                 UNION ALL SELECT session FROM digest WHERE superseded = 0 AND account_rules > ?1) ORDER BY s.pk"
        );
        Ok(self.db.prepare(&sql)?.query_map([ACCOUNT_RULES], load::head)?.collect::<rusqlite::Result<_>>()?)
    }
}

impl Writer {
    /// Stores the account of a session that has a digest, and what was run and failed in it.
    pub(crate) fn save_account(&self, session: i64, packed: &PackedAccount) -> Result<()> {
        let sql = "SELECT pk FROM digest WHERE session = ?1 AND superseded = 0";
        let digest: Option<i64> = self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0)).optional()?;
        let Some(digest) = digest else { return Ok(()) };
        // First: an account says that they are there.
        self.save_beside_account(digest, packed)?;
        let sql = "UPDATE digest SET account = ?2, account_rules = ?3 WHERE pk = ?1";
        self.db.prepare_cached(sql)?.execute(params![digest, packed.body, ACCOUNT_RULES])?;
        Ok(())
    }

    /// Stores what is kept beside the account of a digest.
    pub(super) fn save_beside_account(&self, digest: i64, packed: &PackedAccount) -> Result<()> {
        let AccountToStore { account, failures, commands } = &packed.stored;
        rules::save(&self.db, digest, account, &packed.instructions)?;
        failures::save(&self.db, digest, failures)?;
        commands::save(&self.db, digest, commands)?;
        receipts::save(&self.db, digest, account.receipt.as_ref())
    }
}
