//! The index as a file: whether it is sound, the copies kept of it, its erasure, and what comes back of it when it is damaged.

pub(crate) mod backup;
mod integrity;
pub(crate) mod orphaned_log;
mod restore;
mod vacuum;
mod whole_index;
mod write_lock;

use std::ops::{Deref, DerefMut};
use std::path::Path;

use anyhow::Result;

pub(in crate::store) use self::integrity::damage_of_pages;
pub(crate) use self::integrity::{any_damage, any_damage_with, damage_of_structure};
pub(crate) use self::restore::{Category, Contents, Salvaged};
pub(in crate::store) use self::vacuum::vacuum;
pub use self::whole_index::WholeIndex;
pub(crate) use self::write_lock::WriteLock;
use super::Writer;

/// An index to be written and to be taken care of as a file. Runs, `forget`, imports and repairs hold one, under the run lock.
pub(crate) struct Maintenance {
    writer: Writer,
}

impl Maintenance {
    /// As [`Writer::open`].
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Self { writer: Writer::open(path)? })
    }
}

impl Deref for Maintenance {
    type Target = Writer;

    fn deref(&self) -> &Writer {
        &self.writer
    }
}

impl DerefMut for Maintenance {
    fn deref_mut(&mut self) -> &mut Writer {
        &mut self.writer
    }
}
