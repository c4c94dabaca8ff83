//! A manifest: which segments a machine has, and what is in them.

use crate::carrier::Carrier;
use crate::error::Error;
use crate::file::{self, Unreadable};
use crate::key::Key;
use crate::names;
use crate::record::{Machine, Versions};
use crate::segment::Segment;
use serde::{Deserialize, Serialize};

const FORMAT: u32 = 1;
/// More than a machine needs for a terabyte.
const SEGMENTS: usize = 1 << 20;

/// What a machine has on a carrier.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    format: u32,
    pub(crate) machine: Machine,
    /// Counts up with every manifest that a machine writes.
    pub(crate) generation: u64,
    pub(crate) segments: Vec<Segment>,
}

impl Manifest {
    pub(crate) fn new(machine: &Machine, generation: u64, segments: Vec<Segment>) -> Self {
        Self { format: FORMAT, machine: machine.clone(), generation, segments }
    }

    /// The file that says so.
    pub(crate) fn seal(&self, key: Option<&Key>) -> Result<Vec<u8>, Error> {
        let name = names::manifest(&self.machine.id);
        let failed = |why: String| Error::Seal { name: name.clone(), why };
        let content = serde_json::to_vec(self).map_err(|error| failed(error.to_string()))?;
        if content.len() as u64 > file::MANIFEST_BYTES {
            return Err(failed(format!("there are too many records: their ids take more than {} bytes", file::MANIFEST_BYTES)));
        }
        file::seal(&content, key).map_err(failed)
    }

    /// The manifest of the machine with the id `machine`. All that others could have written into it is checked.
    pub(crate) fn open(bytes: &[u8], machine: &str, key: Option<&Key>) -> Result<Self, Unreadable> {
        let content = file::open(bytes, key, file::MANIFEST_BYTES)?;
        let manifest: Self = serde_json::from_slice(&content).map_err(|error| Unreadable::Damaged(format!("JSON: {error}")))?;
        manifest.check(machine).map_err(Unreadable::Damaged)?;
        Ok(manifest)
    }

    fn check(&self, machine: &str) -> Result<(), String> {
        if self.format != FORMAT {
            return Err(format!("it has format {}, and this program reads format {FORMAT}", self.format));
        }
        if self.machine.id != machine {
            return Err("it is the manifest of another machine".into());
        }
        self.machine.check()?;
        if self.segments.len() > SEGMENTS {
            return Err(format!("it names {} segments", self.segments.len()));
        }
        let (mut names, mut records) = (std::collections::BTreeSet::new(), Versions::default());
        for segment in &self.segments {
            if !names::is_segment_of(&segment.name, machine) || !names.insert(&segment.name) {
                return Err(format!("it names a segment twice, or one that is not its own: {}", segment.name.escape_debug()));
            }
            if segment.content > file::SEGMENT_BYTES || segment.bytes > crate::carrier::FILE_BYTES {
                return Err(format!("it names a segment that is larger than any: {}", segment.name));
            }
            for (id, version) in segment.records.iter() {
                id.check().map_err(|why| format!("it names a record that cannot be: {why}"))?;
                if records.insert(&id, version).is_some() {
                    return Err(format!("it names a record twice: {id}"));
                }
            }
        }
        Ok(())
    }

    /// All records of all segments.
    pub(crate) fn records(&self) -> Versions {
        let mut all = Versions::default();
        for (id, version) in self.segments.iter().flat_map(|segment| segment.records.iter()) {
            all.insert(&id, version);
        }
        all
    }
}

/// A file, nothing if it is not there, or why the carrier refuses it.
pub(crate) type Got = Result<Option<Vec<u8>>, String>;

/// The contents of these files, each by itself where one of them is refused.
pub(crate) fn get_each(carrier: &dyn Carrier, names: &[&str]) -> Result<Vec<Got>, Error> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    // A carrier that gives less than it was asked for does not have the rest.
    let filled = |mut files: Vec<Option<Vec<u8>>>, asked: usize| {
        files.resize(asked, None);
        files
    };
    match carrier.get(names) {
        Ok(files) => Ok(filled(files, names.len()).into_iter().map(Ok).collect()),
        Err(Error::Refused { .. }) => names
            .iter()
            .map(|name| match carrier.get(&[name]) {
                Ok(files) => Ok(Ok(filled(files, 1).pop().flatten())),
                Err(refused @ Error::Refused { .. }) => Ok(Err(refused.to_string())),
                Err(error) => Err(error),
            })
            .collect(),
        Err(error) => Err(error),
    }
}

/// Bytes that are asked for in one call, if there is more than one file.
const BATCH_BYTES: u64 = 16 << 20;

/// `items` in their order, in groups whose lengths come to what may be asked for at once.
pub(crate) fn batches<T>(items: impl IntoIterator<Item = T>, bytes: impl Fn(&T) -> u64) -> Vec<Vec<T>> {
    let (mut batches, mut room) = (Vec::<Vec<T>>::new(), 0);
    for item in items {
        let needs = bytes(&item);
        match batches.last_mut() {
            Some(batch) if needs <= room => {
                batch.push(item);
                room -= needs;
            }
            _ => {
                batches.push(vec![item]);
                room = BATCH_BYTES.saturating_sub(needs);
            }
        }
    }
    batches
}
