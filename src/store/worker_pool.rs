//! A pool of threads that read the index, each through a connection of its own. Results are delivered in the order of the input.
//!
//! ## Invariants
//! - The result for one session may depend on what is stored but not on the results for other sessions, so the output does not depend on
//!   the number of threads.
//! - Where the system starts fewer threads than asked for, these do the work, or the caller alone.
//! - Only a few results wait for delivery, so memory stays bounded.
//! - Callers either hold the run lock or read an index that is not being written: no record or title is added meanwhile.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use anyhow::{Context, Result};

use super::{Reader, Writer};
use crate::store::legacy_titles::TitleCache;
use crate::sys::threads;

/// How many results of each thread may wait for delivery.
const RESULTS_AHEAD: usize = 8;
/// Batch size, in sessions. Readers are released between batches so that the write-ahead log can be checkpointed.
pub(crate) const BATCH_SESSIONS: usize = 2000;
/// Results are consumed by a single thread; more workers than this would wait for it, and each of them holds memory.
const MAX_THREADS: usize = 8;
/// For so few inputs, starting threads and opening connections costs more than it saves.
const MAX_SEQUENTIAL: usize = 4;

impl Reader {
    /// Computes a result for each input with `make`, which only reads, and passes the results to `take` in order, until `ends` returns
    /// true.
    ///
    /// # Errors
    /// The first one that `take` returns.
    ///
    /// # Panics
    /// When `make` panics.
    pub(crate) fn map_in_order<T: Sync, R: Send>(
        &self,
        ends: impl Fn() -> bool,
        all: &[T],
        make: impl Fn(&Self, &T) -> Result<R> + Sync,
        mut take: impl FnMut(&T, Result<R>) -> Result<()>,
    ) -> Result<()> {
        let threads = threads::affordable(self.threads.min(MAX_THREADS).min(all.len()));
        if threads < 2 || all.len() <= MAX_SEQUENTIAL {
            return self.map_in_turn(&ends, all, &make, &mut take);
        }
        let (feed, fed) = channel();
        let (send, receive) = channel();
        let fed = Mutex::new(fed);
        thread::scope(|scope| {
            // Dropped when consumption ends, however it ends; the workers then stop.
            let (feed, receive) = (feed, receive);
            let mut started = 0;
            for send in vec![send; threads] {
                let (path, reopen, fed, make) = (&self.path, self.reopen, &fed, &make);
                let worker = move || work(|| reopen(path), fed, &send, |store, at: usize| make(store, &all[at]));
                if threads::spawn(scope, worker).is_err() {
                    break;
                }
                started += 1;
            }
            if started == 0 {
                return self.map_in_turn(&ends, all, &make, &mut take);
            }
            let mut waiting = BTreeMap::new();
            let mut asked_for = 0..all.len();
            asked_for.by_ref().take(started * RESULTS_AHEAD).for_each(|at| _ = feed.send(at));
            for (at, one) in all.iter().enumerate() {
                while !waiting.contains_key(&at) {
                    let (other, made) = receive.recv().context("a thread that reads the index has ended")?;
                    waiting.insert(other, made);
                }
                if ends() {
                    break;
                }
                let Some(made) = waiting.remove(&at) else { continue };
                take(one, made.unwrap_or_else(|panic| resume_unwind(panic)))?;
                asked_for.next().into_iter().for_each(|at| _ = feed.send(at));
            }
            Ok(())
        })
    }

    /// The same by the caller's thread alone.
    fn map_in_turn<T, R>(
        &self,
        ends: &impl Fn() -> bool,
        all: &[T],
        make: &impl Fn(&Self, &T) -> Result<R>,
        take: &mut impl FnMut(&T, Result<R>) -> Result<()>,
    ) -> Result<()> {
        self.with_titles_known(|| all.iter().take_while(|_| !ends()).try_for_each(|one| take(one, make(self, one))))
    }
}

impl Writer {
    /// Sets the maximum number of threads for [`Reader::map_in_order`], beside the one that consumes.
    pub(crate) fn set_threads(&mut self, threads: usize) {
        self.reader.threads = threads;
    }
}

type WorkerResult<R> = (usize, thread::Result<Result<R>>);

/// Computes results until the input channel is closed.
fn work<R>(
    open: impl Fn() -> Result<Reader>,
    fed: &Mutex<Receiver<usize>>,
    send: &Sender<WorkerResult<R>>,
    make: impl Fn(&Reader, usize) -> Result<R>,
) {
    let mut store = None;
    loop {
        let next = fed.lock().map(|fed| fed.recv());
        let Ok(Ok(at)) = next else { return };
        // Without `catch_unwind`, a panic here would leave the consumer waiting for this result for ever.
        let made = catch_unwind(AssertUnwindSafe(|| {
            let store = match &mut store {
                Some(store) => store,
                none => none.insert(Reader { titles: RefCell::new(Some(TitleCache::default())), ..open()? }),
            };
            store.in_snapshot(|| make(store, at))
        }));
        if send.send((at, made)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn store(threads: usize) -> (tempfile::TempDir, Writer) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Writer::open(&folder.path().join("recall.db")).expect("an index");
        store.set_threads(threads);
        (folder, store)
    }

    #[test]
    fn what_comes_late_is_taken_in_its_turn() {
        let all: Vec<u64> = (0..60).collect();
        for threads in [1, 3, 100] {
            let (_folder, store) = store(threads);
            let mut taken = Vec::new();
            let make = |_: &Reader, at: &u64| {
                thread::sleep(Duration::from_millis((at * 7) % 5));
                Ok(at * 2)
            };
            let took = store.map_in_order(
                || false,
                &all,
                make,
                |at, made| {
                    taken.push((*at, made?));
                    Ok(())
                },
            );
            took.expect("all of them");
            assert_eq!(taken, all.iter().map(|at| (*at, at * 2)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_or_an_end_is_the_last_that_is_taken() {
        let all: Vec<usize> = (0..60).collect();
        for threads in [1, 3] {
            let (_folder, store) = store(threads);
            let mut taken = 0;
            let make = |_: &Reader, at: &usize| if *at == 20 { anyhow::bail!("no") } else { Ok(*at) };
            let failed = store.map_in_order(
                || false,
                &all,
                make,
                |_, made| {
                    made?;
                    taken += 1;
                    Ok(())
                },
            );
            assert_eq!((failed.is_err(), taken), (true, 20));
            let taken = std::cell::Cell::new(0);
            let ended = store.map_in_order(
                || taken.get() == 7,
                &all,
                |_, at| Ok(*at),
                |_, _| {
                    taken.set(taken.get() + 1);
                    Ok(())
                },
            );
            assert_eq!((ended.is_ok(), taken.get()), (true, 7));
        }
    }

    #[test]
    #[should_panic(expected = "in a thread")]
    fn a_panic_in_a_thread_ends_the_work() {
        let (_folder, store) = store(3);
        let all: Vec<usize> = (0..60).collect();
        let make = |_: &Reader, at: &usize| if *at == 20 { panic!("in a thread") } else { Ok(*at) };
        let _ = store.map_in_order(|| false, &all, make, |_, _| Ok(()));
    }
}
