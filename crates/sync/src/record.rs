//! What is carried, and between whom.

use crate::error::Error;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

/// The most bytes of a machine's name, of a kind and of an id.
pub(crate) const NAME_BYTES: usize = 1024;

/// A machine that publishes records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// 32 hexadecimal digits in lower case, random: no two machines have the same.
    pub id: String,
    /// What people call it.
    pub name: String,
}

impl Machine {
    /// A machine that nobody knows yet.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn new(name: String) -> Result<Self, Error> {
        Ok(Self { id: crate::names::random_hex::<16>()?, name })
    }

    /// Whether other machines would take it: its id has the right form, and its name can be printed.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !crate::names::is_hex(&self.id, 32) {
            return Err("the id of the machine is not 32 hexadecimal digits in lower case".into());
        }
        if self.name.len() > NAME_BYTES || self.name.chars().any(char::is_control) {
            return Err(format!("the name of the machine has more than {NAME_BYTES} bytes or holds control characters"));
        }
        Ok(())
    }
}

/// What a record is known by on its machine. Other machines may have a record of the same kind and id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RecordId {
    /// What sort of record it is, in the words of the caller.
    pub kind: String,
    /// Which of its sort.
    pub id: String,
}

impl RecordId {
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.kind.len() > NAME_BYTES || self.id.len() > NAME_BYTES {
            return Err(format!("its kind or its id has more than {NAME_BYTES} bytes"));
        }
        Ok(())
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "{} {}", self.kind.escape_debug(), self.id.escape_debug())
    }
}

/// One version of a record.
#[derive(Clone, Debug)]
pub struct Record {
    /// What it is known by.
    pub id: RecordId,
    /// Another number for every other body. Nothing follows from which of two is the greater.
    pub version: u64,
    /// Any JSON; spaces and line breaks between its tokens may change on the way. `None`: the record is gone for good, which the other machines
    /// are to know.
    pub body: Option<Box<RawValue>>,
}

/// Records and their versions, as they stand in a file: by kind, then by id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Versions(BTreeMap<String, BTreeMap<String, u64>>);

impl Versions {
    pub(crate) fn get(&self, id: &RecordId) -> Option<u64> {
        self.0.get(&id.kind)?.get(&id.id).copied()
    }

    /// The version that stood there before.
    pub(crate) fn insert(&mut self, id: &RecordId, version: u64) -> Option<u64> {
        if let Some(of_kind) = self.0.get_mut(&id.kind) {
            return of_kind.insert(id.id.clone(), version);
        }
        self.0.entry(id.kind.clone()).or_default().insert(id.id.clone(), version)
    }

    pub(crate) fn remove(&mut self, id: &RecordId) {
        if let Some(of_kind) = self.0.get_mut(&id.kind) {
            of_kind.remove(&id.id);
            if of_kind.is_empty() {
                self.0.remove(&id.kind);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (RecordId, u64)> {
        self.0
            .iter()
            .flat_map(|(kind, ids)| ids.iter().map(|(id, version)| (RecordId { kind: kind.clone(), id: id.clone() }, *version)))
    }
}

/// `error`, of a machine that the caller gave.
pub(crate) fn usable(machine: &Machine) -> Result<(), Error> {
    machine.check().map_err(|why| Error::Machine { why })
}
