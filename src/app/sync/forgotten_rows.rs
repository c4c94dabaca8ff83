//! Records that were forgotten, by key: a transcript that lies on several machines loses them on all. The set only grows, so every machine
//! tells all that it knows: a record for each first byte of a key, with the keys as its body.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::value::to_raw_value;
use sync::{Record, RecordId};

use crate::store::Reader;
use transcripts::session::RecordKey;

/// The kind of these records.
pub(super) const ROWS: &str = "rows";

/// The keys that this machine knows, by record.
pub(super) struct ForgottenRows(BTreeMap<RecordId, Vec<RecordKey>>);

impl ForgottenRows {
    pub(super) fn of(index: &Reader) -> Result<Self> {
        let mut all: BTreeMap<RecordId, Vec<RecordKey>> = BTreeMap::new();
        for key in index.rows_forgotten_everywhere()? {
            let id = RecordId { kind: ROWS.to_owned(), id: format!("{:02x}", key.0[0]) };
            all.entry(id).or_default().push(key);
        }
        Ok(Self(all))
    }

    /// A set that grows has another version whenever it has another size.
    pub(super) fn versions(&self) -> impl Iterator<Item = (RecordId, u64)> {
        self.0.iter().map(|(id, keys)| (id.clone(), keys.len() as u64))
    }

    pub(super) fn record(&self, id: &RecordId) -> Result<Record> {
        let keys = self.0.get(id).context("nothing is known of it")?;
        let body: Vec<String> = keys.iter().map(ToString::to_string).collect();
        Ok(Record { id: id.clone(), version: keys.len() as u64, body: Some(to_raw_value(&body)?) })
    }
}

/// The keys of a record.
///
/// # Errors
/// When it holds anything else.
pub(super) fn keys(record: &Record) -> Result<BTreeSet<RecordKey>> {
    let body = record.body.as_ref().context("the record is malformed: it has no body")?;
    let keys: Vec<String> = serde_json::from_str(body.get()).context("it is no list of keys")?;
    keys.iter().map(|key| RecordKey::read(key).context("it is no list of keys")).collect()
}
