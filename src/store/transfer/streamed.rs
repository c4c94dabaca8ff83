//! Sessions too long to be loaded, exported item by item.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use rusqlite::Connection;
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};

use super::{Exported, exported_row, exported_usage};
use crate::model::session_head::SessionHead;
use crate::store::Reader;
use crate::store::chunk;
use crate::store::chunk::{MessageHash, StoredUsage, TextReader};
use crate::store::undone::Undone;

impl Reader {
    /// Writes an exported session, without a line break at the end. Sessions too long to be loaded are streamed item by item.
    ///
    /// # Errors
    /// When the session cannot be read or written. A long session may then be partly written; of others nothing is.
    pub(crate) fn write_exported(&self, head: &SessionHead, out: &mut impl Write) -> Result<()> {
        if !self.is_long(head)? {
            return Ok(serde_json::to_writer(out, &self.export_session(head)?)?);
        }
        let failed = RefCell::default();
        let undone = Undone::of(&self.db, head)?;
        let rows = |source| StreamedItems { db: &self.db, session: head.pk, source, undone: &undone, failed: &failed };
        let sources = self.export_sources(head.pk, rows)?;
        let exported = Exported {
            digest: self.export_digest(head.pk)?,
            wrong: self.export_denied(head.pk)?,
            dirty: head.dirty,
            ..self.export_common(head, sources, StreamedUsage(StoredUsage::of_session(&self.db, head.pk)?))?
        };
        serde_json::to_writer(out, &exported).map_err(|e| failed.take().unwrap_or_else(|| e.into()))
    }

    /// Reads everything that would be exported of a session, beside its digest: also what tells its undone turns.
    pub(in crate::store) fn read_through(&self, head: &SessionHead) -> Result<()> {
        chunk::check_texts(&self.db, head.pk)?;
        let usage = StoredUsage::of_session(&self.db, head.pk)?;
        self.export_closings(head.pk)?;
        self.export_denied(head.pk)?;
        self.export_common(head, self.export_sources(head.pk, |_| ())?, StreamedUsage(usage)).map(drop)
    }
}

/// The items of a source in the order of ingest, read while they are serialised.
struct StreamedItems<'a> {
    db: &'a Connection,
    session: i64,
    source: i64,
    undone: &'a Undone,
    /// The read error, because the serialiser would only keep its text.
    failed: &'a RefCell<Option<anyhow::Error>>,
}

impl Serialize for StreamedItems<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut texts = TextReader::new(self.db);
        let mut list = to.serialize_seq(None)?;
        let mut refused = None;
        let read = chunk::each_of_source(self.db, self.session, self.source, |kept| {
            if refused.is_none() {
                refused = list.serialize_element(&exported_row(&mut texts, self.undone, &kept)?).err();
            }
            Ok(())
        });
        if let Some(e) = refused {
            return Err(e);
        }
        if let Err(e) = read {
            let told = S::Error::custom(&e);
            self.failed.replace(Some(e));
            return Err(told);
        }
        list.end()
    }
}

#[derive(Default)]
struct StreamedUsage(BTreeMap<MessageHash, StoredUsage>);

impl Serialize for StreamedUsage {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.values().cloned().map(exported_usage))
    }
}
