//! Threads, where the system may refuse them: a limit of processes or of memory counts each with its stack. What threads would do side by
//! side is then done by fewer of them, or by the caller alone; nothing panics.

use std::io;
use std::sync::OnceLock;
use std::thread::{Builder, Scope};

use anyhow::{Result, anyhow};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// What a thread may come to reserve of a limited address space: its stack and an arena of the allocator, both with room to spare. A thread
/// that starts without them ends the process, and no code of ours is asked.
const ROOM: u64 = 512 << 20;

static MOST: OnceLock<usize> = OnceLock::new();
static SHARED: OnceLock<Option<ThreadPool>> = OnceLock::new();

/// Sets the size of the [`shared`] pool, before it is used.
pub(crate) fn set_most(threads: usize) {
    let _ = MOST.set(threads);
}

/// A pool for all of the process: of a thread for each core, or the number that was set. `None` if that is not more
/// than one.
pub(crate) fn shared() -> Option<&'static ThreadPool> {
    let is_worth_it = |pool: &ThreadPool| pool.current_num_threads() > 1;
    SHARED
        .get_or_init(|| if affordable(2) < 2 { None } else { pool(MOST.get().copied()).ok() })
        .as_ref()
        .filter(|pool| is_worth_it(pool))
}

/// As many of these threads as a limit of the address space has room for, and at least one.
pub(crate) fn affordable(threads: usize) -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current;
    let room = limit.map_or(usize::MAX, |bytes| usize::try_from(bytes / ROOM).unwrap_or(usize::MAX));
    threads.min(room.max(1))
}

/// A pool of at most so many threads, by default one for each core. Where they cannot be started it has half as many, and so on: what is
/// left over is needed for the work itself.
pub(crate) fn pool(most: Option<usize>) -> Result<ThreadPool> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let mut threads = affordable(most.unwrap_or_else(cores)).max(1);
    loop {
        match ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => return Ok(pool),
            Err(_) if threads > 1 => threads /= 2,
            Err(_) => return Err(refused()),
        }
    }
}

/// Starts a thread in a scope.
///
/// # Errors
/// When the system refuses it.
pub(crate) fn spawn<'s>(scope: &'s Scope<'s, '_>, work: impl FnOnce() + Send + 's) -> io::Result<()> {
    Builder::new().spawn_scoped(scope, work).map(drop)
}

/// Does the work in a thread of its own, or in this one where the system refuses it.
pub(crate) fn spawn_or_do<'s, T: Send + 's>(scope: &'s Scope<'s, '_>, input: T, work: impl Fn(T) + Clone + Send + 's) {
    let (give, take) = std::sync::mpsc::channel();
    let there = work.clone();
    match spawn(scope, move || take.recv().into_iter().for_each(there)) {
        Ok(()) => _ = give.send(input),
        Err(_) => work(input),
    }
}

fn refused() -> anyhow::Error {
    anyhow!(
        "the system lets recall start no thread: raise its limits of memory and processes (`ulimit -v`, `ulimit -u`), then try again"
    )
}
