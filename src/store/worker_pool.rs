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
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::Result;

use super::{Reader, Writer};
use crate::store::legacy_titles::TitleCache;
use crate::sys::threads;

/// How many results of each thread may wait for delivery.
const RESULTS_AHEAD: usize = 8;
/// A thread that waits is woken once there are so many results, or inputs, for it.
const AT_ONCE: usize = 4;
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
        let desk = Desk::new(all.len());
        thread::scope(|scope| {
            let _closing = Closing(&desk);
            let mut started = 0;
            for _ in 0..threads {
                let (path, reopen, desk, make) = (&self.path, self.reopen, &desk, &make);
                let worker = move || work(|| reopen(path), desk, |store, at: usize| make(store, &all[at]));
                if threads::spawn(scope, worker).is_err() {
                    break;
                }
                started += 1;
            }
            if started == 0 {
                return self.map_in_turn(&ends, all, &make, &mut take);
            }
            desk.open(started * RESULTS_AHEAD);
            for one in all {
                let made = desk.take();
                if ends() {
                    break;
                }
                take(one, made.unwrap_or_else(|panic| resume_unwind(panic)))?;
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
        self.with_titles_known(|| {
            all.iter().take_while(|_| !ends()).try_for_each(|one| take(one, self.in_snapshot(|| make(self, one))))
        })
    }
}

impl Writer {
    /// Sets the maximum number of threads for [`Reader::map_in_order`], beside the one that consumes.
    pub(crate) fn set_threads(&mut self, threads: usize) {
        self.reader.threads = threads;
    }
}

type Made<R> = thread::Result<Result<R>>;

/// Where workers find what to do next, and lay down what they made.
///
/// Whoever waits is woken for several things at once where there are more: with many small sessions, threads that wake each other for every
/// one of them take longer for that than for a session.
struct Desk<R> {
    state: Mutex<DeskState<R>>,
    may_begin: Condvar,
    may_take: Condvar,
}

struct DeskState<R> {
    /// How many inputs there are.
    all: usize,
    /// How many results may lie here or be worked on.
    ahead: usize,
    /// The first input that no worker has begun.
    next: usize,
    /// The first whose result was not taken.
    awaited: usize,
    made: BTreeMap<usize, Made<R>>,
    /// Workers that wait for something to do.
    waiting: usize,
    /// The consumer waits.
    is_wanted: bool,
    is_closed: bool,
}

impl<R> DeskState<R> {
    /// How many inputs may be begun now.
    fn room(&self) -> usize {
        (self.awaited + self.ahead).min(self.all) - self.next
    }

    /// Is there what the consumer waits for, and is it worth waking it? If no worker makes anything, nobody else will.
    fn is_due(&self) -> bool {
        let is_all_made = self.made.len() == self.next - self.awaited;
        self.is_wanted && self.made.contains_key(&self.awaited) && (self.made.len() >= AT_ONCE || is_all_made)
    }
}

impl<R> Desk<R> {
    /// Closed to workers, until it is opened.
    fn new(all: usize) -> Self {
        let state =
            DeskState { all, ahead: 0, next: 0, awaited: 0, made: BTreeMap::new(), waiting: 0, is_wanted: false, is_closed: false };
        Self { state: Mutex::new(state), may_begin: Condvar::new(), may_take: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, DeskState<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, ahead: usize) {
        self.state().ahead = ahead;
        self.may_begin.notify_all();
    }

    /// Lays down what a worker made, and returns the place of the next input, for which it may wait; none at the end.
    fn next(&self, made: Option<(usize, Made<R>)>) -> Option<usize> {
        let mut state = self.state();
        if let Some((at, made)) = made {
            state.made.insert(at, made);
        }
        let next = loop {
            if state.is_closed || state.next == state.all {
                break None;
            }
            if state.room() > 0 {
                state.next += 1;
                break Some(state.next - 1);
            }
            if state.is_due() {
                self.may_take.notify_one();
            }
            state.waiting += 1;
            state = self.may_begin.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        };
        if state.is_due() {
            self.may_take.notify_one();
        }
        next
    }

    /// The result for the next input in order. Waits for it.
    fn take(&self) -> Made<R> {
        let mut state = self.state();
        loop {
            let awaited = state.awaited;
            let made = state.made.remove(&awaited);
            state.awaited += usize::from(made.is_some());
            let room = state.room();
            if state.waiting > 0 && (room >= AT_ONCE || room > 0 && made.is_none()) {
                self.may_begin.notify_all();
            }
            if let Some(made) = made {
                return made;
            }
            state.is_wanted = true;
            state = self.may_take.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.is_wanted = false;
        }
    }
}

/// Sends the workers home when the consumer ends, however it ends.
struct Closing<'d, R>(&'d Desk<R>);

impl<R> Drop for Closing<'_, R> {
    fn drop(&mut self) {
        self.0.state().is_closed = true;
        self.0.may_begin.notify_all();
    }
}

/// Computes results until there is nothing more to do.
fn work<R>(open: impl Fn() -> Result<Reader>, desk: &Desk<R>, make: impl Fn(&Reader, usize) -> Result<R>) {
    let mut store = None;
    let mut last = None;
    while let Some(at) = desk.next(last.take()) {
        // Without `catch_unwind`, a panic here would leave the consumer waiting for this result for ever.
        let made = catch_unwind(AssertUnwindSafe(|| {
            let store = match &mut store {
                Some(store) => store,
                none => none.insert(Reader { titles: RefCell::new(Some(TitleCache::default())), ..open()? }),
            };
            store.in_snapshot(|| make(store, at))
        }));
        last = Some((at, made));
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
