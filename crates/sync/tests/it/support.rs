//! A carrier in memory that can fail, and machines that use it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use sync::{Carrier, Change, Entry, Error, History, Inbox, Key, Machine, Outbox, Published, Record, RecordId, Taken};

/// When a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fails {
    Before,
    After,
}

#[derive(Default)]
struct State {
    files: BTreeMap<String, Vec<u8>>,
    /// Calls until one fails, and how.
    fails: Option<(usize, Fails)>,
    writes: usize,
    gets: Vec<String>,
}

/// Files in memory; clones are the same carrier.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<State>>);

impl Memory {
    fn call<T>(&self, act: impl FnOnce(&mut State) -> T) -> Result<T, Error> {
        let mut state = self.0.lock().unwrap();
        let fails = match &mut state.fails {
            Some((0, how)) => Some(*how),
            Some((left, _)) => {
                *left -= 1;
                None
            }
            None => None,
        };
        if fails.is_some() {
            state.fails = None;
        }
        if fails == Some(Fails::Before) {
            return Err(broken());
        }
        let result = act(&mut state);
        if fails == Some(Fails::After) { Err(broken()) } else { Ok(result) }
    }

    pub fn fail(&self, after_calls: usize, how: Fails) {
        self.0.lock().unwrap().fails = Some((after_calls, how));
    }

    pub fn recover(&self) {
        self.0.lock().unwrap().fails = None;
    }

    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.0.lock().unwrap().files.clone()
    }

    /// Puts a file there that no machine wrote.
    pub fn plant(&self, name: &str, bytes: impl Into<Vec<u8>>) {
        self.0.lock().unwrap().files.insert(name.into(), bytes.into());
    }

    pub fn lose(&self, name: &str) {
        self.0.lock().unwrap().files.remove(name).expect("the file");
    }

    pub fn restore(&self, files: BTreeMap<String, Vec<u8>>) {
        self.0.lock().unwrap().files = files;
    }

    /// Calls of `put` and `delete` so far.
    pub fn writes(&self) -> usize {
        self.0.lock().unwrap().writes
    }

    /// Names that were asked for since the last call of this.
    pub fn take_gets(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().gets)
    }

    pub fn names(&self, end: &str) -> Vec<String> {
        self.files().into_keys().filter(|name| name.ends_with(end)).collect()
    }
}

fn broken() -> Error {
    Error::Io { what: "reach", path: "memory".into(), source: std::io::Error::other("it was told to fail") }
}

impl Carrier for Memory {
    fn list(&self) -> Result<Vec<Entry>, Error> {
        let entry = |(name, bytes): (&String, &Vec<u8>)| Entry { name: name.clone(), bytes: bytes.len() as u64 };
        self.call(|state| state.files.iter().map(entry).collect())
    }

    fn get(&self, names: &[&str]) -> Result<Vec<Option<Vec<u8>>>, Error> {
        self.call(|state| {
            state.gets.extend(names.iter().map(ToString::to_string));
            names.iter().map(|name| state.files.get(*name).cloned()).collect()
        })
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.call(|state| {
            state.writes += 1;
            state.files.insert(name.into(), bytes.into());
        })
    }

    fn delete(&self, names: &[&str]) -> Result<(), Error> {
        self.call(|state| {
            state.writes += 1;
            names.iter().for_each(|name| _ = state.files.remove(*name));
        })
    }

    fn check_there(&self) -> Result<(), Error> {
        Ok(())
    }

    fn history(&self) -> Result<Option<History>, Error> {
        Ok(None)
    }
}

/// What a machine holds of another, as version and body.
pub type Held = BTreeMap<RecordId, (u64, Option<String>)>;

/// A machine with all that it would keep on its disk.
pub struct Site {
    pub me: Machine,
    pub outbox: Outbox,
    pub inbox: Inbox,
    pub own: Held,
    pub held: BTreeMap<String, Held>,
    pub key: Option<Key>,
    pub loaded: usize,
}

impl Site {
    pub fn new(number: usize) -> Self {
        let me = Machine { id: format!("{number:032x}"), name: format!("machine {number}") };
        let (outbox, inbox) = (Outbox::default(), Inbox::default());
        Self { me, outbox, inbox, own: Held::new(), held: BTreeMap::new(), key: None, loaded: 0 }
    }

    pub fn write(&mut self, id: &str, version: u64, text: &str) {
        let body = serde_json::to_string(text).unwrap();
        self.own.insert(record_id(id), (version, Some(body)));
    }

    pub fn manifest(&self) -> String {
        format!("{}.manifest", self.me.id)
    }

    /// Whatever this keeps has been through JSON, as on a disk.
    pub fn publish(&mut self, carrier: &dyn Carrier) -> Result<Published, Error> {
        let now = self.own.iter().map(|(id, (version, _))| (id.clone(), *version)).collect();
        let (own, loaded) = (&self.own, &mut self.loaded);
        let mut saved = serde_json::to_vec(&self.outbox).unwrap();
        let mut load = |id: &RecordId| {
            *loaded += 1;
            let (version, body) = own[id].clone();
            let body = body.map(|body| serde_json::value::RawValue::from_string(body).unwrap());
            Ok(Record { id: id.clone(), version, body })
        };
        let mut save = |outbox: &Outbox| {
            saved = serde_json::to_vec(outbox)?;
            Ok(())
        };
        let done = self.outbox.publish(carrier, self.key.as_ref(), &self.me, &now, &mut load, &mut save);
        // A killed run remembers what it saved and nothing else.
        self.outbox = serde_json::from_slice(&saved).unwrap();
        done
    }

    pub fn read(&mut self, carrier: &dyn Carrier) -> Result<Taken, Error> {
        self.read_up_to(carrier, usize::MAX)
    }

    /// Reads, and takes no more than so many changes.
    pub fn read_up_to(&mut self, carrier: &dyn Carrier, changes: usize) -> Result<Taken, Error> {
        let (held, mut left) = (&mut self.held, changes);
        let mut take = |machine: &Machine, change: Change| {
            anyhow::ensure!(left > 0, "no more");
            left -= 1;
            let of_machine = held.entry(machine.id.clone()).or_default();
            match change {
                Change::Put(record) => {
                    let body = record.body.map(|body| body.get().to_owned());
                    of_machine.insert(record.id, (record.version, body));
                }
                Change::Withdrawn(id) => _ = of_machine.remove(&id),
            }
            Ok(())
        };
        let done = self.inbox.read(carrier, self.key.as_ref(), &self.me, &mut take);
        self.inbox = serde_json::from_slice(&serde_json::to_vec(&self.inbox).unwrap()).unwrap();
        done
    }

    /// What it holds of `other`.
    pub fn of(&self, other: &Self) -> Held {
        self.held.get(&other.me.id).cloned().unwrap_or_default()
    }
}

pub fn record_id(id: &str) -> RecordId {
    RecordId { kind: "note".into(), id: id.into() }
}
