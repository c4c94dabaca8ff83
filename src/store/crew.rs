//! Many sessions at once, on all cores: each thread reads by a connection of its own, and what it makes is taken in the order in which it
//! was asked for.
//!
//! What is made of one session may hang on what is stored, but not on what is made of others meanwhile: then the threads, however many,
//! change nothing. Results that wait are few, so memory stays bounded.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use anyhow::{Context, Result};

use super::Store;

/// How many results of a thread may wait for those before them.
const AHEAD: usize = 8;
/// Sessions after which nobody reads for a moment, for who works on many: until then the write-ahead log cannot begin anew.
pub const PART: usize = 2000;
/// One thread takes what all of them make; more than these would wait for it, and each holds something.
const MAX_THREADS: usize = 8;
/// So few are made sooner than threads and their connections are.
const FEW: usize = 4;

impl Store {
    /// With how many threads [`Store::each_in_order`] works at most, beside the one that takes.
    pub fn use_threads(&mut self, threads: usize) {
        self.threads = threads;
    }

    /// Makes something of each with `make`, which only reads, and gives it to `take`, in order, until `ends` says that it is enough.
    ///
    /// # Errors
    /// The first that `take` returns.
    ///
    /// # Panics
    /// When `make` does.
    pub fn each_in_order<T: Sync, R: Send>(
        &self,
        ends: impl Fn() -> bool,
        all: &[T],
        make: impl Fn(&Self, &T) -> Result<R> + Sync,
        mut take: impl FnMut(&T, Result<R>) -> Result<()>,
    ) -> Result<()> {
        if self.threads < 2 || all.len() <= FEW {
            return all.iter().take_while(|_| !ends()).try_for_each(|one| take(one, make(self, one)));
        }
        let threads = self.threads.min(MAX_THREADS).min(all.len());
        let (feed, fed) = channel();
        let (send, receive) = channel();
        let fed = Mutex::new(fed);
        thread::scope(|scope| {
            // Goes when the taking ends, however it does, and the threads with it.
            let (feed, receive) = (feed, receive);
            for send in vec![send; threads] {
                let (path, another, fed, make) = (&self.path, self.another, &fed, &make);
                scope.spawn(move || work(|| another(path), fed, &send, |store, at: usize| make(store, &all[at])));
            }
            let mut waiting = BTreeMap::new();
            let mut asked_for = 0..all.len();
            asked_for.by_ref().take(threads * AHEAD).for_each(|at| _ = feed.send(at));
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
}

type Done<R> = (usize, thread::Result<Result<R>>);

/// Makes what is asked for until nothing more is.
fn work<R>(
    open: impl Fn() -> Result<Store>,
    fed: &Mutex<Receiver<usize>>,
    send: &Sender<Done<R>>,
    make: impl Fn(&Store, usize) -> Result<R>,
) {
    let mut store = None;
    loop {
        let next = fed.lock().map(|fed| fed.recv());
        let Ok(Ok(at)) = next else { return };
        // Who waits for it would wait for ever.
        let made = catch_unwind(AssertUnwindSafe(|| {
            let store = match &mut store {
                Some(store) => store,
                none => none.insert(open()?),
            };
            store.at_once(|| make(store, at))
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

    fn store(threads: usize) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(&folder.path().join("recall.db")).expect("an index");
        store.use_threads(threads);
        (folder, store)
    }

    #[test]
    fn what_comes_late_is_taken_in_its_turn() {
        let all: Vec<u64> = (0..60).collect();
        for threads in [1, 3, 100] {
            let (_folder, store) = store(threads);
            let mut taken = Vec::new();
            let make = |_: &Store, at: &u64| {
                thread::sleep(Duration::from_millis((at * 7) % 5));
                Ok(at * 2)
            };
            let took = store.each_in_order(
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
            let make = |_: &Store, at: &usize| if *at == 20 { anyhow::bail!("no") } else { Ok(*at) };
            let failed = store.each_in_order(
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
            let ended = store.each_in_order(
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
        let make = |_: &Store, at: &usize| if *at == 20 { panic!("in a thread") } else { Ok(*at) };
        let _ = store.each_in_order(|| false, &all, make, |_, _| Ok(()));
    }
}
