//! Publishing: a carrier holds of this machine what it is to hold, whenever a run is killed.
//!
//! ## Order
//!
//! Segments, `save` with the manifest that is about to be written, the manifest, `save` again, deletions. Before the manifest is written, readers
//! see what was published before; after it, what is published now. A run that finds on the carrier a manifest that this machine never wrote writes
//! nothing. Names of segments are random, so that no copy of this machine writes one with the hash of one that this machine wrote after the copy was
//! made; and one that both know is from before.
//!
//! A place at which something was published and that does not exist is not made anew: its disk may not be mounted.

use crate::carrier::{Carrier, Entry};
use crate::compact::{self, FULL};
use crate::error::Error;
use crate::file::{self, Unreadable};
use crate::key::Key;
use crate::manifest::{Manifest, batches, get_each};
use crate::names;
use crate::record::{Machine, Record, RecordId, Versions, usable};
use crate::segment::{self, Segment, Writer};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How many manifests are remembered beside the last one: as many as a month of hourly runs writes in the place of a disk that is away.
const REMEMBERED: usize = 600;

/// What this machine has published on one carrier. Keep it where `save` puts it, one for each carrier; without it nothing can be published under
/// the same id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Outbox {
    last: Option<Mark>,
    pending: Option<Mark>,
    /// What it published before, the latest at the end. A disk that comes back, or is restored, has one of these.
    earlier: Vec<Mark>,
}

/// A manifest that this machine wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    generation: u64,
    hash: String,
}

/// What a [`publish`](Outbox::publish) did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// Records that were loaded and written: new ones and new versions, and what the carrier had lost.
    pub records: usize,
    /// Records that the carrier no longer holds.
    pub withdrawn: usize,
    /// Segments that were written, also those that replace others.
    pub segments_written: usize,
    /// Bytes that were written, with the manifest.
    pub bytes: u64,
}

type Load<'a> = &'a mut dyn FnMut(&RecordId) -> anyhow::Result<Record>;
type Save<'a> = &'a mut dyn FnMut(&Outbox) -> anyhow::Result<()>;

impl Outbox {
    /// Brings what the carrier holds of this machine to exactly `now` (id → version). Calls `load` only for records that are new or have another
    /// version, and for those whose segment the carrier lost. `save` must have kept the outbox when it returns.
    ///
    /// After an error everything that was published before can still be read, and the next call carries on.
    pub fn publish(
        &mut self,
        carrier: &dyn Carrier,
        key: Option<&Key>,
        machine: &Machine,
        now: &BTreeMap<RecordId, u64>,
        load: &mut dyn FnMut(&RecordId) -> anyhow::Result<Record>,
        save: &mut dyn FnMut(&Outbox) -> anyhow::Result<()>,
    ) -> Result<Published, Error> {
        usable(machine)?;
        let listed: BTreeMap<String, u64> = self.list(carrier)?.into_iter().map(|entry| (entry.name, entry.bytes)).collect();
        let before = self.clone();
        let current = self.current(carrier, key, machine, &listed)?;
        let named = current.as_ref().map(|manifest| manifest.segments.as_slice()).unwrap_or_default();
        // What a killed run left: its segments would be left by the next one, too, if that is killed.
        let ours = |name: &&String| names::is_segment_or_part_of(name, &machine.id);
        delete(carrier, listed.keys().filter(ours), named)?;

        let mut work =
            Work { carrier, key, machine, now, load, writer: None, segments: Vec::new(), published: Published::default() };
        let plan = Plan::new(named, now, &listed);
        let nothing_held = current.is_none() && self.generation() == 0 && now.is_empty();
        // Readers that have seen a later one do not listen to an earlier one.
        let is_last = current.as_ref().is_some_and(|manifest| manifest.generation == self.generation());
        let same_name = current.as_ref().is_none_or(|manifest| manifest.machine == *machine);
        if nothing_held || (is_last && same_name && plan.changes_nothing()) {
            if *self != before {
                kept(self, save)?;
            }
            return Ok(work.published);
        }
        work.published.withdrawn = plan.withdrawn;
        work.write(plan)?;

        let manifest = Manifest::new(machine, self.generation() + 1, std::mem::take(&mut work.segments));
        let file = manifest.seal(key)?;
        let pending = self.pending.replace(Mark { generation: manifest.generation, hash: file::hash(&file) });
        self.remember(pending);
        kept(self, save)?;
        carrier.put(&names::manifest(&machine.id), &file)?;
        work.published.bytes += file.len() as u64;
        self.settle(save)?;
        delete(carrier, named.iter().map(|segment| &segment.name), &manifest.segments)?;
        Ok(work.published)
    }

    /// What is on the carrier.
    ///
    /// # Errors
    /// [`Error::Gone`] if this machine published there and the place does not exist.
    pub fn list(&self, carrier: &dyn Carrier) -> Result<Vec<Entry>, Error> {
        let listed = carrier.list()?;
        if listed.is_empty() && (self.last.is_some() || self.pending.is_some()) {
            carrier.check_there()?;
        }
        Ok(listed)
    }

    /// Lets the next [`publish`](Self::publish) make the place if it does not exist. What was published there is known if it comes back.
    pub fn begin_anew(&mut self) {
        let (last, pending) = (self.last.take(), self.pending.take());
        self.remember(last);
        self.remember(pending);
    }

    /// The manifest of this machine on the carrier: one that it published, or none. If it is the one that a killed run was about to write,
    /// that is the last one from now on. One that is damaged counts as none: nobody wrote it, so it says nothing of a second machine.
    fn current(
        &mut self,
        carrier: &dyn Carrier,
        key: Option<&Key>,
        machine: &Machine,
        listed: &BTreeMap<String, u64>,
    ) -> Result<Option<Manifest>, Error> {
        let name = names::manifest(&machine.id);
        let Some(bytes) = carrier.get(&[&name])?.pop().flatten() else {
            same_key_as_others(carrier, key, machine, listed)?;
            return Ok(None);
        };
        let opened = Manifest::open(&bytes, &machine.id, key);
        let mut hash = file::hash(&bytes);
        if let (Ok(manifest), None, false) = (&opened, key, self.wrote(&hash)) {
            // A changed bit may be one that means nothing: what is sealed to the same file is the same manifest.
            hash = file::hash(&manifest.seal(key)?);
        }
        let is = |mark: &Option<Mark>| mark.as_ref().is_some_and(|mark| mark.hash == hash);
        let is_known = self.wrote(&hash);
        match &opened {
            Err(Unreadable::Key(why)) if is_known || !same_key_as_others(carrier, key, machine, listed)? => {
                return Err(Error::WrongKey { name, why });
            }
            Err(_) if !is_known => {
                same_key_as_others(carrier, key, machine, listed)?;
                return Ok(None);
            }
            _ => {}
        }
        if is(&self.pending) {
            self.pending_is_last();
        } else if !is_known {
            return Err(Error::Doubled { name });
        }
        opened.map(Some).map_err(|unreadable| Error::Manifest { name, why: unreadable.why() })
    }

    /// Is this a file that it published, or was about to?
    fn wrote(&self, hash: &str) -> bool {
        self.marks().any(|mark| mark.hash == hash)
    }

    /// The highest that this machine ever gave to a manifest.
    fn generation(&self) -> u64 {
        self.marks().map(|mark| mark.generation).max().unwrap_or_default()
    }

    fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.earlier.iter().chain(&self.last).chain(&self.pending)
    }

    fn remember(&mut self, mark: Option<Mark>) {
        self.earlier.extend(mark);
        self.earlier.drain(..self.earlier.len().saturating_sub(REMEMBERED));
    }

    fn pending_is_last(&mut self) {
        let pending = self.pending.take();
        let before = std::mem::replace(&mut self.last, pending);
        self.remember(before);
    }

    /// What was about to be written is on the carrier.
    fn settle(&mut self, save: Save) -> Result<(), Error> {
        self.pending_is_last();
        kept(self, save)
    }
}

fn kept(outbox: &Outbox, save: Save) -> Result<(), Error> {
    save(outbox).map_err(|source| Error::Save { source })
}

/// Before the first file is written: a machine without the key must not write in the open what others encrypt. One file that cannot be read says
/// nothing as long as another can be. Returns whether one of another machine could be read.
fn same_key_as_others(
    carrier: &dyn Carrier,
    key: Option<&Key>,
    machine: &Machine,
    listed: &BTreeMap<String, u64>,
) -> Result<bool, Error> {
    let mut wrong = None;
    let others = listed.iter().filter_map(|(name, bytes)| Some((name.as_str(), *bytes, names::machine_of_manifest(name)?)));
    for batch in batches(others.filter(|(.., id)| *id != machine.id), |(_, bytes, _)| *bytes) {
        let names: Vec<&str> = batch.iter().map(|(name, ..)| *name).collect();
        for ((name, _, id), file) in batch.iter().zip(get_each(carrier, &names)?) {
            let Ok(Some(file)) = file else { continue };
            match Manifest::open(&file, id, key) {
                Ok(_) => return Ok(true),
                Err(Unreadable::Key(why)) => wrong = Some(Error::WrongKey { name: (*name).into(), why }),
                Err(Unreadable::Damaged(_)) => {}
            }
        }
    }
    wrong.map_or(Ok(false), Err)
}

/// Deletes those of `names` that are not among `named`.
fn delete<'a>(carrier: &dyn Carrier, names: impl Iterator<Item = &'a String>, named: &[Segment]) -> Result<(), Error> {
    let named: BTreeSet<&str> = named.iter().map(|segment| segment.name.as_str()).collect();
    let gone: Vec<&str> = names.map(String::as_str).filter(|name| !named.contains(name)).collect();
    if gone.is_empty() { Ok(()) } else { carrier.delete(&gone) }
}

/// What becomes of the segments that the carrier holds, and what is to be loaded.
struct Plan {
    kept: Vec<Segment>,
    /// Those that hold something that is to be forgotten, or was replaced.
    rewritten: Vec<Segment>,
    loaded: Vec<RecordId>,
    withdrawn: usize,
    dropped: usize,
}

impl Plan {
    fn new(named: &[Segment], now: &BTreeMap<RecordId, u64>, listed: &BTreeMap<String, u64>) -> Self {
        let (mut held, mut withdrawn, mut dropped) = (Versions::default(), 0, 0);
        let (mut kept, mut rewritten) = (Vec::new(), Vec::new());
        for segment in named {
            withdrawn += segment.records.iter().filter(|(id, _)| !now.contains_key(id)).count();
            let wanted: Vec<(RecordId, u64)> =
                segment.records.iter().filter(|(id, version)| now.get(id) == Some(version)).collect();
            if wanted.is_empty() || listed.get(&segment.name) != Some(&segment.bytes) {
                dropped += 1;
                continue;
            }
            let whole = wanted.len() == segment.records.len();
            wanted.iter().for_each(|(id, version)| _ = held.insert(id, *version));
            if whole { &mut kept } else { &mut rewritten }.push(segment.clone());
        }
        let loaded = now.keys().filter(|id| held.get(id).is_none()).cloned().collect();
        Self { kept, rewritten, loaded, withdrawn, dropped }
    }

    fn changes_nothing(&self) -> bool {
        self.rewritten.is_empty() && self.loaded.is_empty() && self.dropped == 0
    }
}

/// Segments on their way to the carrier.
struct Work<'a> {
    carrier: &'a dyn Carrier,
    key: Option<&'a Key>,
    machine: &'a Machine,
    now: &'a BTreeMap<RecordId, u64>,
    load: Load<'a>,
    writer: Option<Writer>,
    segments: Vec<Segment>,
    published: Published,
}

impl Work<'_> {
    /// Writes what the plan says; afterwards `segments` are all that the machine has.
    fn write(&mut self, plan: Plan) -> Result<(), Error> {
        self.copy(&plan.rewritten)?;
        for id in &plan.loaded {
            self.load(id)?;
        }
        // The last segment is not full: it is merged with others, or these with each other.
        let tail = self.writer.as_ref().map(Writer::len);
        let lengths: Vec<u64> = plan.kept.iter().map(|segment| segment.content).chain(tail).collect();
        let mut merged = compact::groups(&lengths);
        merged.sort_by_key(|group| !group.contains(&plan.kept.len()));
        let mut kept: Vec<Option<Segment>> = plan.kept.into_iter().map(Some).collect();
        for group in merged {
            if !group.contains(&kept.len()) {
                self.flush()?;
            }
            let sources: Vec<Segment> = group.iter().filter_map(|index| kept.get_mut(*index)?.take()).collect();
            self.copy(&sources)?;
        }
        self.flush()?;
        self.segments.extend(kept.into_iter().flatten());
        Ok(())
    }

    /// Writes again what of these segments is still wanted. Of one that the carrier does not have as it was written, the records are loaded.
    fn copy(&mut self, sources: &[Segment]) -> Result<(), Error> {
        for batch in batches(sources, |segment| segment.bytes) {
            let names: Vec<&str> = batch.iter().map(|segment| segment.name.as_str()).collect();
            for (segment, file) in batch.into_iter().zip(get_each(self.carrier, &names)?) {
                let now = self.now;
                let wanted = |id: &RecordId, version: u64| now.get(id) == Some(&version);
                let file = file.ok().flatten();
                match file.and_then(|file| segment.read(&file, &self.machine.id, self.key).ok()) {
                    Some(records) => {
                        let mut records = records.iter().filter(|record| wanted(&record.id, record.version));
                        records.try_for_each(|record| self.add(record))?;
                    }
                    None => {
                        let mut records = segment.records.iter().filter(|(id, version)| wanted(id, *version));
                        records.try_for_each(|(id, _)| self.load(&id))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn load(&mut self, id: &RecordId) -> Result<(), Error> {
        let record = (self.load)(id).map_err(|source| Error::Load { id: id.to_string(), source })?;
        if record.id != *id || self.now.get(id) != Some(&record.version) {
            let why = "it changed while it was read, or another was read in its place; publish again".into();
            return Err(Error::Record { id: id.to_string(), why });
        }
        self.published.records += 1;
        self.add(&record)
    }

    fn add(&mut self, record: &Record) -> Result<(), Error> {
        let line = segment::line(record)?;
        let full = |writer: &Writer| !writer.is_empty() && writer.len() + line.len() as u64 > FULL;
        if self.writer.as_ref().is_some_and(full) {
            self.flush()?;
        }
        if self.writer.is_none() {
            self.writer = Some(Writer::new(&self.machine.id)?);
        }
        if let Some(writer) = &mut self.writer {
            writer.push(&record.id, record.version, &line);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let (segment, file) = writer.finish(self.key)?;
        self.carrier.put(&segment.name, &file)?;
        self.published.segments_written += 1;
        self.published.bytes += file.len() as u64;
        self.segments.push(segment);
        Ok(())
    }
}
