//! The index that what can be saved goes into: the copy, where there is one.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::told::numbers;
use super::with;
use crate::config::Config;
use crate::store::mend::Held;
use crate::store::{Store, copy};
use crate::sys::private_files;

pub struct Base {
    pub store: Store,
    /// What the copy held. Without one, what was forgotten is not known by it.
    pub known: Held,
    pub told: String,
}

impl Base {
    /// The copy, where there is one that is whole; else an empty index, with what can be read of the copy.
    pub fn lay(index: &Path, at: &Path, config: &Config) -> Result<Self> {
        let copy = copy::beside(index, copy::COPY);
        let Some(found) = copy::find(index) else {
            return Self::new(Store::open(at)?, Held::default(), "nothing: there is no copy of the index".into());
        };
        let when = config.local_time(Some(found.at), "%Y-%m-%d %H:%M");
        // Its permissions come with it.
        fs::copy(&copy, at).with_context(|| format!("cannot copy {}", copy.display()))?;
        // One of an older program is brought up to date by that.
        if let Ok(store) = Store::open(at)
            && matches!(store.any_damage(), Ok(None))
        {
            let held = store.held();
            let numbers = numbers(&held.salvaged());
            return Self::new(store, held, format!("the copy of {when}: {numbers}"));
        }
        copy::LOGS.iter().map(|log| with(at, log)).chain([at.to_owned()]).try_for_each(|file| private_files::remove(&file))?;
        let mut store = Store::open(at)?;
        store.sync_later()?;
        let (held, salvaged) = match Store::open_aside(&copy) {
            Ok(copy) => (copy.held(), store.salvage(&copy)?),
            Err(_) => Default::default(),
        };
        Self::new(store, held, format!("what can be read of the copy of {when}, which is damaged as well: {}", numbers(&salvaged)))
    }

    /// Takes out what was forgotten since the copy was made: that is not lost. Returns whether there was any.
    pub fn forget_as(&mut self, damaged: &Store) -> Result<bool> {
        let any = self.store.forget_as(damaged)?;
        if any {
            let left = self.store.held();
            self.known.sessions.retain(|id| left.sessions.contains(id));
            self.known.digests.retain(|id| left.digests.contains(id));
        }
        Ok(any)
    }

    fn new(store: Store, known: Held, told: String) -> Result<Self> {
        // What counts is that it lasts when it is put in its place, and then all of it is synced.
        store.sync_later()?;
        Ok(Self { store, known, told })
    }
}
