//! Sessions that are too long to be loaded, written row by row.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::Result;
use rusqlite::Connection;
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};

use super::{Exported, exported_row, exported_usage};
use crate::store::Store;
use crate::store::bundle::{self, Message, Texts, Used};
use crate::store::load::SessionHead;
use crate::store::undone::Undone;

impl Store {
    /// Writes a session as it is exported, without its line's end: one that is too long to be loaded row by row.
    ///
    /// # Errors
    /// When it cannot be read, before anything is written unless it is so long; or when it cannot be written.
    pub fn write_exported(&self, head: &SessionHead, out: &mut impl Write) -> Result<()> {
        if !self.is_long(head)? {
            return Ok(serde_json::to_writer(out, &self.export_session(head)?)?);
        }
        let failed = RefCell::default();
        let undone = Undone::of(&self.db, head)?;
        let rows = |source| Rows { db: &self.db, session: head.pk, source, undone: &undone, failed: &failed };
        let sources = self.export_sources(head.pk, rows)?;
        let exported = Exported {
            digest: self.export_digest(head.pk)?,
            dirty: head.dirty,
            ..self.export_beside(head, sources, Usage(Used::of_session(&self.db, head.pk)?))?
        };
        serde_json::to_writer(out, &exported).map_err(|e| failed.take().unwrap_or_else(|| e.into()))
    }

    /// Reads all that is exported of a session.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(in crate::store) fn read_through(&self, head: &SessionHead) -> Result<()> {
        if self.is_long(head)? { self.write_exported(head, &mut io::sink()) } else { self.export_session(head).map(drop) }
    }
}

/// The rows of a source, as they came in. They are read when they are written.
struct Rows<'a> {
    db: &'a Connection,
    session: i64,
    source: i64,
    undone: &'a Undone,
    /// Why one could not be read: what writes them does not keep that.
    failed: &'a RefCell<Option<anyhow::Error>>,
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut texts = Texts::new(self.db);
        let mut list = to.serialize_seq(None)?;
        let mut refused = None;
        let read = bundle::each_of_source(self.db, self.session, self.source, |kept| {
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
struct Usage(BTreeMap<Message, Used>);

impl Serialize for Usage {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.values().cloned().map(exported_usage))
    }
}
