//! Calls at work: each on a thread of its own, a few at once, the rest in the order they came. One that is called off is not waited
//! for and gives its place to the next at once; what it reads of the index is interrupted, and what else it does ends by itself.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rusqlite::{ErrorCode, InterruptHandle};
use tokio::sync::Semaphore;

use crate::config::Config;
use crate::privacy::Policy;
use crate::store::Memory;

/// Calls that work at the same time.
const AT_ONCE: usize = 8;

/// Threads there are for them: calls that were called off may need theirs for a while.
pub const THREADS: usize = 4 * AT_ONCE;

/// How long a statement waits for another process's transaction.
const BUSY: Duration = Duration::from_secs(10);

/// How long opening waits until it looks whether it is called off.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct Workers {
    places: Semaphore,
}

impl Default for Workers {
    fn default() -> Self {
        Self { places: Semaphore::new(AT_ONCE) }
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
            // Held by the one who waits, not by the thread: it is free when nobody waits any more.
            let _place = self.places.acquire().await.context("the server ends")?;
            let job = tokio::task::spawn_blocking(move || work(&worker));
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
    pub fn memory(&self, config: &Config, policy: &Policy) -> Result<Memory> {
        let until = Instant::now() + BUSY;
        // SQLite's own waiting cannot be interrupted.
        let store = loop {
            match Memory::open_as_it_is(&config.database(), policy, LOOK) {
                Err(e) if is_locked(&e) && Instant::now() < until => self.check()?,
                opened => break opened?,
            }
        };
        store.wait_for_locks(BUSY)?;
        self.state().handle = Some(store.interrupt_handle());
        // It may have been called off before there was a handle.
        self.check()?;
        Ok(store)
    }

    fn check(&self) -> Result<()> {
        if self.state().called_off { bail!("called off") } else { Ok(()) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call_off(&self) {
        let mut state = self.state();
        state.called_off = true;
        if let Some(handle) = state.handle.take() {
            handle.interrupt();
        }
    }
}

/// Does another process keep everybody from the index?
fn is_locked(error: &anyhow::Error) -> bool {
    let code = error.downcast_ref().and_then(rusqlite::Error::sqlite_error_code);
    matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
