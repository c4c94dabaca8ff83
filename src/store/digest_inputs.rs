//! The inputs of a digest made without the model, besides the items of its session. With them a run can tell, without loading those
//! items, whether the digest still holds when only earlier sessions changed, and what the session left open.
//!
//! Stored without text: the id of an open item is a hash of its words, so equal ids mean equal words.

use std::collections::HashMap;

use anyhow::Result;
use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::open_items::ListedItem;
use super::{Reader, Writer};
use crate::analyze::account::ACCOUNT_RULES;
use crate::model::digest::{OpenItem, WITHOUT_MODEL};
use crate::model::session_head::SessionHead;
use transcripts::session::Millis;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DigestInputs {
    /// Inputs recorded by other rules are ignored.
    rules: u32,
    /// When the session began, by its own records.
    pub(crate) began: Option<Millis>,
    /// Ids of the open items that the digest was shown.
    pub(crate) shown: Vec<String>,
    /// Ids of the items that the session's own records leave open.
    pub(crate) left: Vec<String>,
}

impl DigestInputs {
    pub(crate) fn new(began: Option<Millis>, shown: &[OpenItem], left: &[OpenItem]) -> Self {
        let ids = |items: &[OpenItem]| items.iter().map(|item| item.id.clone()).collect();
        Self { rules: ACCOUNT_RULES, began, shown: ids(shown), left: ids(left) }
    }

    /// The same, with other open items shown.
    pub(crate) fn with_shown(self, shown: &[OpenItem]) -> Self {
        Self { shown: shown.iter().map(|item| item.id.clone()).collect(), ..self }
    }
}

impl Reader {
    /// The inputs of a session's digest, unless the session itself changed since.
    pub(crate) fn digest_inputs_of(&self, head: &SessionHead) -> Result<Option<DigestInputs>> {
        if head.has_grown() {
            return Ok(None);
        }
        let sql = "SELECT basis FROM digest WHERE session = ?1 AND superseded = 0 AND interim_until IS NULL";
        let found: Option<Option<String>> = self.db.prepare_cached(sql)?.query_row([head.pk], |r| r.get(0)).optional()?;
        let basis = found.flatten().and_then(|text| serde_json::from_str::<DigestInputs>(&text).ok());
        Ok(basis.filter(|basis| basis.rules == ACCOUNT_RULES))
    }

    /// The items that a session's own records leave open, where their ids and words are both on record.
    pub(crate) fn recorded_open_items(&self, head: &SessionHead) -> Result<Option<Vec<OpenItem>>> {
        let Some(basis) = self.digest_inputs_of(head)? else { return Ok(None) };
        let texts: HashMap<String, String> = self.open_items_of(head.pk)?.into_iter().map(|item| (item.id, item.text)).collect();
        let item = |id: String| texts.get(&id).cloned().map(|text| OpenItem { id, text, session: head.pk });
        Ok(basis.left.into_iter().map(item).collect())
    }
}

impl Reader {
    /// What a model says that a session leaves open, if its digest is older than that and no record came in since.
    pub(crate) fn claimed_open_items(&self, head: &SessionHead, made_before: Millis) -> Result<Option<Vec<OpenItem>>> {
        let sql =
            "SELECT EXISTS (SELECT 1 FROM digest WHERE session = ?1 AND superseded = 0 AND summarizer <> ?2 AND made_at < ?3)";
        if head.has_grown()
            || !self.db.prepare_cached(sql)?.query_row(params![head.pk, WITHOUT_MODEL, made_before], |r| r.get(0))?
        {
            return Ok(None);
        }
        let items = self.open_items_of(head.pk)?.into_iter();
        Ok(Some(items.map(|ListedItem { id, text, .. }| OpenItem { id, text, session: head.pk }).collect()))
    }
}

impl Writer {
    /// Records the inputs of a digest that still holds.
    pub(crate) fn record_digest_inputs(&self, session: i64, input_hash: &[u8; 32], basis: &DigestInputs) -> Result<()> {
        let sql = "UPDATE digest SET basis = ?2, input_hash = ?3 WHERE session = ?1 AND superseded = 0 AND summarizer = 'extract' AND interim_until IS NULL";
        self.db.prepare_cached(sql)?.execute(params![session, serde_json::to_string(basis)?, input_hash])?;
        Ok(())
    }
}
