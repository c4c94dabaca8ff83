//! Runs what a server is asked, a call of a tool or a page: each on a thread of its own, a few at once, the rest in order of arrival. A cancelled call frees its
//! slot at once; its reads of the index are interrupted, and anything else it does ends by itself.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rusqlite::{ErrorCode, InterruptHandle};
use tokio::sync::Semaphore;

use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::policy::Policy;
use crate::sys::failpoints;

/// Calls that run at the same time.
const MAX_CONCURRENT: usize = 8;

/// Thread limit. Above `AT_ONCE`, since cancelled calls may occupy their threads for a while.
pub(crate) const MAX_THREADS: usize = 4 * MAX_CONCURRENT;

/// How long a statement waits for another process's transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// While opening waits for a lock, it checks for cancellation this often.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct Executor {
    places: Semaphore,
}

impl Default for Executor {
    fn default() -> Self {
        Self { places: Semaphore::new(MAX_CONCURRENT) }
    }
}

impl Executor {
    /// Runs the work when its turn comes, unless it is cancelled first.
    ///
    /// # Errors
    /// The error of the work, or that it was cancelled or panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        called_off: impl Future<Output = ()>,
        work: impl FnOnce(&ReadHandle) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let reading = ReadHandle::default();
        let worker = reading.clone();
        // However this ends: who asked may have gone.
        let _end = CancelOnDrop(reading.clone());
        let done = async {
            // Held by the waiting side, not by the thread, so that it is freed as soon as the call is cancelled.
            let _place = self.places.acquire().await.context("the server ends")?;
            let job = tokio::task::spawn_blocking(move || work(&worker));
            job.await.context("this call broke: please report it")?
        };
        tokio::select! {
            done = done => done,
            () = called_off => bail!("called off"),
        }
    }
}

/// Ends the reads of a call about which nobody asks any more.
struct CancelOnDrop(ReadHandle);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Cancellation handle of a call's reads.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadHandle {
    state: Arc<Mutex<CancelState>>,
}

#[derive(Default)]
struct CancelState {
    called_off: bool,
    handle: Option<InterruptHandle>,
}

impl std::fmt::Debug for CancelState {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("State").field("called_off", &self.called_off).finish_non_exhaustive()
    }
}

impl ReadHandle {
    /// Opens the index as it is: a reader does not upgrade it.
    ///
    /// # Errors
    /// If there is none, or it is unreadable or of another version; the error says what to do.
    pub(crate) fn memory(&self, config: &Config, policy: &Policy) -> Result<OpenMemory> {
        let patience = failpoints::patience(BUSY_TIMEOUT);
        let until = Instant::now() + patience;
        // Waits here, because SQLite's own waiting cannot be interrupted.
        let store = loop {
            match OpenMemory::as_it_is(config, policy, POLL_INTERVAL) {
                Err(e) if is_locked(&e) && Instant::now() < until => self.check()?,
                opened => break opened?,
            }
        };
        store.be_patient(patience)?;
        self.state().handle = Some(store.interrupt_handle());
        // The call may have been cancelled before the handle existed.
        self.check()?;
        Ok(store)
    }

    fn check(&self) -> Result<()> {
        if self.state().called_off { bail!("called off") } else { Ok(()) }
    }

    fn state(&self) -> MutexGuard<'_, CancelState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cancel(&self) {
        let mut state = self.state();
        state.called_off = true;
        if let Some(handle) = state.handle.take() {
            handle.interrupt();
        }
    }
}

/// Whether another process holds a lock that keeps readers out.
fn is_locked(error: &anyhow::Error) -> bool {
    let code = error.downcast_ref().and_then(rusqlite::Error::sqlite_error_code);
    matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use rusqlite::Connection;

    use super::*;

    #[test]
    fn a_call_about_which_nobody_asks_any_more_ends_its_reads() {
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().expect("a runtime");
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let (dropped, is_dropped) = mpsc::channel();
        let (ended, how) = mpsc::channel();
        let work = move |reading: &ReadHandle| {
            let index = Connection::open_in_memory()?;
            reading.state().handle = Some(index.get_interrupt_handle());
            let mut read = index.prepare("SELECT 1 UNION ALL SELECT 2")?;
            let mut rows = read.query([])?;
            rows.next()?;
            // In the middle of a read, the call is dropped.
            begun.send(()).expect("somebody who waits");
            is_dropped.recv()?;
            ended.send(rows.next().map(|_| ()).map_err(|e| e.sqlite_error_code()))?;
            Ok(())
        };
        runtime.block_on(async {
            let executor = Executor::default();
            tokio::select! {
                _ = executor.run(std::future::pending(), work) => panic!("it goes on until it is dropped"),
                begun = has_begun => begun.expect("a beginning"),
            }
        });
        dropped.send(()).expect("a read under way");
        assert_eq!(how.recv().expect("an end"), Err(Some(ErrorCode::OperationInterrupted)));
    }
}
