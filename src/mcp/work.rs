//! Calls at work: each on a thread of its own, a few at once, the rest in the order they came. One that is called off is not waited
//! for, and what it reads of the index is interrupted.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rusqlite::InterruptHandle;
use tokio::sync::Semaphore;

use crate::config::Config;
use crate::store::Store;

/// Calls that work at the same time.
pub const AT_ONCE: usize = 8;

/// How long a statement waits for another process's transaction.
const BUSY: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Workers {
    places: Arc<Semaphore>,
}

impl Default for Workers {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl Workers {
    /// Does the work when its turn comes, unless it is called off.
    ///
    /// # Errors
    /// What the work returns, or that it was called off or broke.
    pub async fn run<T: Send + 'static>(
        &self,
        called_off: impl Future<Output = ()>,
        work: impl FnOnce(&Reading) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let reading = Reading::default();
        let worker = reading.clone();
        let done = async {
            let place = Arc::clone(&self.places).acquire_owned().await.context("the server ends")?;
            let job = tokio::task::spawn_blocking(move || {
                let _place = place;
                work(&worker)
            });
            job.await.context("this call broke: please report it")?
        };
        tokio::select! {
            done = done => done,
            () = called_off => {
                reading.call_off();
                bail!("called off")
            }
        }
    }
}

/// What a call reads, so that somebody else can stop it.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    called_off: bool,
    handle: Option<InterruptHandle>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("State").field("called_off", &self.called_off).finish_non_exhaustive()
    }
}

impl Reading {
    /// The index, as it is: nothing is brought up to date by somebody who only reads.
    ///
    /// # Errors
    /// When there is none, it cannot be read or is of another version, with what to do about it.
    pub fn store(&self, config: &Config) -> Result<Store> {
        let store = Store::open_as_it_is(&config.database(), BUSY)?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.called_off {
            bail!("called off");
        }
        state.handle = Some(store.interrupt_handle());
        Ok(store)
    }

    fn call_off(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.called_off = true;
        if let Some(handle) = state.handle.take() {
            handle.interrupt();
        }
    }
}
