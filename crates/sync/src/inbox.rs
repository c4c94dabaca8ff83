//! Reading: what other machines published since, and no word of a file that is not what its machine wrote.
//!
//! ## Invariants
//!
//! An inbox knows of each machine which records were taken, in which versions. `started` are those of a run that failed: nobody knows whether the
//! caller kept them, so they are handed over again, and withdrawn if their machine withdrew them meanwhile.

use crate::carrier::Carrier;
use crate::error::Error;
use crate::file::{self, Unreadable};
use crate::key::Key;
use crate::manifest::{Manifest, batches, get_each};
use crate::names;
use crate::record::{Machine, Record, RecordId, Versions, usable};
use crate::segment::Segment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What this machine has read of each other one on one carrier. Keep it together with what was taken, after every [`read`](Inbox::read).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Inbox {
    machines: BTreeMap<String, Seen>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    machine: Machine,
    /// Of the last manifest that was read.
    generation: u64,
    /// Its hash if all of it was taken, else nothing.
    manifest: Option<String>,
    records: Versions,
    #[serde(default)]
    started: Versions,
}

/// What became of a record of another machine.
#[derive(Clone, Debug)]
pub enum Change {
    /// It is new, or has another version. [`Record::body`] is `None` if it is gone for good.
    Put(Record),
    /// The machine no longer publishes it. It may never have been taken.
    Withdrawn(RecordId),
}

/// What a [`read`](Inbox::read) did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Records that were taken, new or in another version.
    pub put: usize,
    /// Records that were withdrawn.
    pub withdrawn: usize,
    /// The machines that had published something since, and of which all was taken.
    pub machines: Vec<Machine>,
    /// Machines whose segments are not all there yet. The next `read` tries again.
    pub incomplete: Vec<Machine>,
    /// Files that were not read. What their machines publish in other files is read all the same.
    pub set_aside: Vec<SetAside>,
}

/// A file that is not what a machine of this carrier writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// Its name on the carrier.
    pub name: String,
    /// What is wrong with it.
    pub why: String,
}

type Take<'a> = &'a mut dyn FnMut(&Machine, Change) -> anyhow::Result<()>;

impl Inbox {
    /// Hands over what other machines published or withdrew since, machine by machine. A machine counts as read only when all of it was taken; what
    /// `take` got of it before is handed over again the next time, unless only files that could not be read are missing.
    ///
    /// If this fails, either undo what was taken and forget the inbox, or keep both. A machine whose manifest is not on the carrier keeps its
    /// records.
    pub fn read(
        &mut self,
        carrier: &dyn Carrier,
        key: Option<&Key>,
        me: &Machine,
        take: &mut dyn FnMut(&Machine, Change) -> anyhow::Result<()>,
    ) -> Result<Taken, Error> {
        usable(me)?;
        let listed = carrier.list()?.into_iter().map(|entry| (entry.name, entry.bytes)).collect();
        let place = Place { carrier, key, listed: &listed };
        let (mut taken, mut readable, mut wrong) = (Taken::default(), false, None);
        for (name, id, file) in place.manifests_but_of(me)? {
            let bytes = match file {
                Ok(bytes) => bytes,
                Err(why) => {
                    taken.set_aside(name, why);
                    continue;
                }
            };
            let hash = file::hash(&bytes);
            if self.machines.get(id).is_some_and(|seen| seen.manifest.as_ref() == Some(&hash)) {
                readable = true;
                continue;
            }
            match Manifest::open(&bytes, id, key) {
                Ok(manifest) => {
                    readable = true;
                    self.read_machine(&place, &manifest, hash, take, &mut taken)?;
                }
                Err(unreadable) => {
                    if let Unreadable::Key(why) = unreadable {
                        wrong = Some(Error::WrongKey { name: name.into(), why });
                    }
                    taken.set_aside(name, unreadable.why());
                }
            }
        }
        // One file that anybody put there must not keep us from reading the others.
        match wrong {
            Some(error) if !readable => Err(error),
            _ => Ok(taken),
        }
    }

    /// The machines of which something was read, and how many records of each are known.
    pub fn machines(&self) -> impl Iterator<Item = (&Machine, usize)> {
        let read = self.machines.values().filter(|seen| seen.manifest.is_some() || !seen.records.is_empty());
        read.map(|seen| (&seen.machine, seen.records.len()))
    }

    /// Counts what a machine published: goes up with each of its manifests, and is that of the last one that was read.
    pub fn generation(&self, machine: &str) -> Option<u64> {
        self.machines.get(machine).map(|seen| seen.generation)
    }

    /// Does a machine publish a record? `None` if not all that it published last was read.
    pub fn tells(&self, machine: &str, id: &RecordId) -> Option<bool> {
        let seen = self.machines.get(machine).filter(|seen| seen.manifest.is_some())?;
        Some(seen.records.get(id).is_some())
    }

    /// Forgets what was read of everybody, so that the next `read` hands over everything again. What was withdrawn meanwhile is then not mentioned.
    pub fn reset(&mut self) {
        self.machines.clear();
    }

    /// Has a record handed over again by the next `read`, from every machine that publishes it; where one publishes it no more, that is mentioned
    /// again. For a caller that kept only one machine's record of several with this id, and lost it.
    pub fn again(&mut self, id: &RecordId) {
        for seen in self.machines.values_mut() {
            if let Some(version) = seen.records.get(id) {
                seen.started.insert(id, version);
                seen.manifest = None;
            }
        }
    }

    fn read_machine(
        &mut self,
        place: &Place,
        manifest: &Manifest,
        hash: String,
        take: Take,
        taken: &mut Taken,
    ) -> Result<(), Error> {
        let machine = &manifest.machine;
        let seen = self.machines.entry(machine.id.clone()).or_insert_with(|| Seen::nothing(machine));
        // A carrier that went back: it will come forward again.
        if manifest.generation < seen.generation {
            return Ok(());
        }
        let known = seen.known();
        let is_new = |id: &RecordId, version: u64| known.get(id) != Some(version);
        let has_new = |segment: &&Segment| segment.records.iter().any(|(id, version)| is_new(&id, version));
        let needed: Vec<&Segment> = manifest.segments.iter().filter(has_new).collect();
        if needed.iter().any(|segment| !place.listed.contains_key(&segment.name)) {
            taken.incomplete.push(machine.clone());
            return Ok(());
        }
        let wanted = manifest.records();
        let mut step = Step { machine, known, started: &mut seen.started, take, taken };
        step.withdraw(&seen.records, &wanted)?;
        let complete = step.put(place, &needed)?;
        let records = step.known;
        // Handed over by a run that failed, and now in a file that cannot be read.
        let mut started = Versions::default();
        for (id, version) in seen.started.iter().filter(|(id, _)| records.get(id).is_none() && wanted.get(id).is_some()) {
            started.insert(&id, version);
        }
        let (machine, generation) = (machine.clone(), manifest.generation);
        if complete {
            taken.machines.push(machine.clone());
        }
        *seen = Seen { machine, generation, manifest: complete.then_some(hash), records, started };
        Ok(())
    }
}

impl Seen {
    fn nothing(machine: &Machine) -> Self {
        let (records, started) = (Versions::default(), Versions::default());
        Self { machine: machine.clone(), generation: 0, manifest: None, records, started }
    }

    /// What the caller has for certain.
    fn known(&self) -> Versions {
        let mut known = self.records.clone();
        self.started.iter().for_each(|(id, _)| known.remove(&id));
        known
    }
}

impl Taken {
    fn set_aside(&mut self, name: &str, why: String) {
        self.set_aside.push(SetAside { name: name.into(), why });
    }
}

/// Where files are read.
struct Place<'a> {
    carrier: &'a dyn Carrier,
    key: Option<&'a Key>,
    listed: &'a BTreeMap<String, u64>,
}

/// The name of a manifest, the id of its machine, and the file or why it is refused.
type Found<'a> = (&'a str, &'a str, Result<Vec<u8>, String>);

impl<'a> Place<'a> {
    fn manifests_but_of(&self, me: &Machine) -> Result<Vec<Found<'a>>, Error> {
        let manifests =
            self.listed.iter().filter_map(|(name, bytes)| Some((name.as_str(), *bytes, names::machine_of_manifest(name)?)));
        let mut found = Vec::new();
        for batch in batches(manifests.filter(|(.., id)| *id != me.id), |(_, bytes, _)| *bytes) {
            let names: Vec<&str> = batch.iter().map(|(name, ..)| *name).collect();
            for ((name, _, id), file) in batch.iter().zip(get_each(self.carrier, &names)?) {
                // What was deleted meanwhile is not there.
                found.extend(file.transpose().map(|file| (*name, *id, file)));
            }
        }
        Ok(found)
    }
}

/// A machine that is being read.
struct Step<'a> {
    machine: &'a Machine,
    known: Versions,
    started: &'a mut Versions,
    take: Take<'a>,
    taken: &'a mut Taken,
}

impl Step<'_> {
    fn hand_over(&mut self, id: &RecordId, version: u64, change: Change) -> Result<(), Error> {
        self.started.insert(id, version);
        (self.take)(self.machine, change).map_err(|source| Error::Take { machine: self.machine.name.clone(), source })
    }

    /// Before anything is put: what is to be forgotten does not wait for files that cannot be read.
    fn withdraw(&mut self, before: &Versions, wanted: &Versions) -> Result<(), Error> {
        let mut gone = Versions::default();
        for (id, version) in before.iter().chain(self.started.iter()).filter(|(id, _)| wanted.get(id).is_none()) {
            gone.insert(&id, version);
        }
        for (id, version) in gone.iter() {
            self.hand_over(&id, version, Change::Withdrawn(id.clone()))?;
            self.known.remove(&id);
            self.taken.withdrawn += 1;
        }
        Ok(())
    }

    /// Whether all of these segments could be read.
    fn put(&mut self, place: &Place, needed: &[&Segment]) -> Result<bool, Error> {
        let mut complete = true;
        for batch in batches(needed, |segment| segment.bytes) {
            let names: Vec<&str> = batch.iter().map(|segment| segment.name.as_str()).collect();
            for (segment, file) in batch.into_iter().zip(get_each(place.carrier, &names)?) {
                let Some(file) = file.transpose() else {
                    // Its machine has published again since the files were listed.
                    self.taken.incomplete.push(self.machine.clone());
                    return Ok(false);
                };
                match file.and_then(|file| segment.read(&file, &self.machine.id, place.key).map_err(Unreadable::why)) {
                    Ok(records) => self.put_records(records)?,
                    Err(why) => {
                        self.taken.set_aside(&segment.name, why);
                        complete = false;
                    }
                }
            }
        }
        Ok(complete)
    }

    fn put_records(&mut self, records: Vec<Record>) -> Result<(), Error> {
        for record in records {
            let (id, version) = (record.id.clone(), record.version);
            if self.known.get(&id) != Some(version) {
                self.hand_over(&id, version, Change::Put(record))?;
                self.known.insert(&id, version);
                self.taken.put += 1;
            }
        }
        Ok(())
    }
}
