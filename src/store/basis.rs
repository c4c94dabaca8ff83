//! What a digest without the model was made of, beside the rows of its session: to tell without them whether it holds where only sessions
//! before it changed, and what its session left open.
//!
//! No text: ids of open items are hashes of their words, and of what has the words of an id the id tells that they are the ones.

use std::collections::HashMap;

use anyhow::Result;
use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::Store;
use super::load::SessionHead;
use crate::digest::OpenItem;
use crate::session::Millis;

/// What a digest that was made by other rules says of itself counts for nothing.
const RULES: &str = env!("CARGO_PKG_VERSION");

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    rules: String,
    /// When the session began, by its rows.
    pub began: Option<Millis>,
    /// Ids of the items that it was shown as open.
    pub shown: Vec<String>,
    /// Ids of the items that its rows alone leave open.
    pub left: Vec<String>,
}

impl Basis {
    pub fn new(began: Option<Millis>, shown: &[OpenItem], left: &[OpenItem]) -> Self {
        let ids = |items: &[OpenItem]| items.iter().map(|item| item.id.clone()).collect();
        Self { rules: RULES.to_owned(), began, shown: ids(shown), left: ids(left) }
    }
}

impl Store {
    /// What the digest of a session was made of, if nothing of the session changed since.
    pub fn basis_of(&self, head: &SessionHead) -> Result<Option<Basis>> {
        if head.dirty && !head.only_shown {
            return Ok(None);
        }
        let sql = "SELECT basis FROM digest WHERE session = ?1 AND superseded = 0 AND interim_until IS NULL";
        let found: Option<Option<String>> = self.db.prepare_cached(sql)?.query_row([head.pk], |r| r.get(0)).optional()?;
        let basis = found.flatten().and_then(|text| serde_json::from_str::<Basis>(&text).ok());
        Ok(basis.filter(|basis| basis.rules == RULES))
    }

    /// What the rows of a session left open, where that is on record with the words.
    pub fn left_on_record(&self, head: &SessionHead) -> Result<Option<Vec<OpenItem>>> {
        let Some(basis) = self.basis_of(head)? else { return Ok(None) };
        let texts: HashMap<String, String> = self.items_of(head.pk)?.into_iter().map(|item| (item.id, item.text)).collect();
        let item = |id: String| texts.get(&id).cloned().map(|text| OpenItem { id, text, session: head.pk });
        Ok(basis.left.into_iter().map(item).collect())
    }

    /// Notes what a digest that holds is made of.
    pub fn note_basis(&self, session: i64, basis: &Basis) -> Result<()> {
        let sql = "UPDATE digest SET basis = ?2 WHERE session = ?1 AND superseded = 0 AND summarizer = 'extract' AND interim_until IS NULL";
        self.db.prepare_cached(sql)?.execute(params![session, serde_json::to_string(basis)?])?;
        Ok(())
    }
}
