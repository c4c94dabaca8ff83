//! A segment: a first line that says whose and which it is, then a record a line.

use crate::file::{self, Unreadable};
use crate::key::Key;
use crate::names;
use crate::record::{Record, RecordId, Versions};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The file is bound to its machine and its name: under another name it is refused.
#[derive(Serialize, Deserialize)]
struct FirstLine<'a> {
    #[serde(borrow)]
    machine: Cow<'a, str>,
    #[serde(borrow)]
    segment: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    id: Cow<'a, str>,
    version: u64,
    /// Missing: gone for good. A body that is `null` is a body.
    #[serde(borrow, default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    body: Option<Cow<'a, RawValue>>,
}

fn present<'de: 'a, 'a, D: Deserializer<'de>>(from: D) -> Result<Option<Cow<'a, RawValue>>, D::Error> {
    <&'a RawValue>::deserialize(from).map(|body| Some(Cow::Borrowed(body)))
}

/// A segment as a manifest names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Segment {
    /// The name of the file.
    pub(crate) name: String,
    /// The length of the file.
    pub(crate) bytes: u64,
    /// The length of its content before it was compressed.
    pub(crate) content: u64,
    /// BLAKE3 of the file.
    pub(crate) hash: String,
    /// What it holds.
    pub(crate) records: Versions,
}

impl Segment {
    /// Its records, if `file` is the file that the manifest means.
    pub(crate) fn read(&self, file: &[u8], machine: &str, key: Option<&Key>) -> Result<Vec<Record>, Unreadable> {
        let damaged = |why: &str| Unreadable::Damaged(why.into());
        if file.len() as u64 != self.bytes || file::hash(file) != self.hash {
            return Err(damaged("it is not the file that the manifest names: damaged, or exchanged for another"));
        }
        let content = file::open(file, key, self.content)?;
        let records = parse(&content, machine, &self.name)?;
        let mut held = Versions::default();
        let doubled = records.iter().any(|record| held.insert(&record.id, record.version).is_some());
        if doubled || held != self.records {
            return Err(damaged("it holds other records than the manifest says"));
        }
        Ok(records)
    }
}

fn parse(content: &[u8], machine: &str, name: &str) -> Result<Vec<Record>, Unreadable> {
    let failed = |error: serde_json::Error| Unreadable::Damaged(format!("JSON: {error}"));
    let mut lines = content.split_inclusive(|byte| *byte == b'\n');
    let first: FirstLine = serde_json::from_slice(lines.next().unwrap_or_default()).map_err(failed)?;
    if first.machine != machine || first.segment != name {
        return Err(Unreadable::Damaged("it is a file of another machine or of another name".into()));
    }
    let record = |line: &[u8]| {
        let line: Line = serde_json::from_slice(line).map_err(failed)?;
        let id = RecordId { kind: line.kind.into_owned(), id: line.id.into_owned() };
        Ok(Record { id, version: line.version, body: line.body.map(Cow::into_owned) })
    };
    lines.map(record).collect()
}

/// A segment that is being written.
pub(crate) struct Writer {
    name: String,
    content: Vec<u8>,
    records: Versions,
}

impl Writer {
    /// An empty one with a name of its own.
    pub(crate) fn new(machine: &str) -> Result<Self, crate::Error> {
        let name = names::segment(machine)?;
        let mut content = Vec::new();
        push(&mut content, &FirstLine { machine: machine.into(), segment: name.as_str().into() });
        Ok(Self { name, content, records: Versions::default() })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Bytes so far.
    pub(crate) fn len(&self) -> u64 {
        self.content.len() as u64
    }

    /// Adds a line that [`line`] made.
    pub(crate) fn push(&mut self, id: &RecordId, version: u64, line: &[u8]) {
        self.content.extend_from_slice(line);
        self.records.insert(id, version);
    }

    /// The file, and how the manifest names it.
    pub(crate) fn finish(self, key: Option<&Key>) -> Result<(Segment, Vec<u8>), crate::Error> {
        let file = file::seal(&self.content, key).map_err(|why| crate::Error::Seal { name: self.name.clone(), why })?;
        let (bytes, content) = (file.len() as u64, self.content.len() as u64);
        Ok((Segment { name: self.name, bytes, content, hash: file::hash(&file), records: self.records }, file))
    }
}

/// A record as a line of a segment, with its line break.
pub(crate) fn line(record: &Record) -> Result<Vec<u8>, crate::Error> {
    let refused = |why: String| crate::Error::Record { id: record.id.to_string(), why };
    record.id.check().map_err(refused)?;
    let body = record.body.as_deref().map(one_line);
    let (kind, id) = (record.id.kind.as_str().into(), record.id.id.as_str().into());
    let mut line = Vec::new();
    push(&mut line, &Line { kind, id, version: record.version, body });
    if line.len() as u64 + 1024 > file::SEGMENT_BYTES {
        return Err(refused(format!("it has {} bytes, and {} is the most", line.len(), file::SEGMENT_BYTES - 1024)));
    }
    Ok(line)
}

/// The same JSON without line breaks, which can stand only between its tokens.
fn one_line(body: &RawValue) -> Cow<'_, RawValue> {
    if !body.get().contains(['\n', '\r']) {
        return Cow::Borrowed(body);
    }
    RawValue::from_string(body.get().replace(['\n', '\r'], " ")).map_or(Cow::Borrowed(body), Cow::Owned)
}

fn push(content: &mut Vec<u8>, line: &impl Serialize) {
    // Strings, numbers and JSON: nothing in them can fail to be written to memory.
    serde_json::to_writer(&mut *content, line).expect("a line");
    content.push(b'\n');
}
