//! A run started by a hook. Nothing waits for it or reads its output, so its time is bounded and it runs at low priority.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use fd_lock::{RwLock, RwLockWriteGuard};

use crate::analyze::eligibility::SETTLED_AFTER_END;
use crate::sys::failpoints::patience;
use crate::sys::shutdown;

/// Limit for waiting for another run, and then for the work itself.
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// Time to stop at a safe point after being asked to, before the process exits.
const GRACE: Duration = Duration::from_secs(30);
/// Poll interval of the lock.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Added to the nice value (at most 19): the run takes only idle CPU time.
const NICE_INCREMENT: i32 = 15;

/// Lowers the run's priority and bounds its time.
///
/// # Errors
/// When nothing could end it in time.
pub(crate) fn enter() -> Result<()> {
    // Best effort: a refused `nice` only makes the run less polite.
    let _ = rustix::process::nice(NICE_INCREMENT);
    let watch = || {
        thread::sleep(TIME_LIMIT);
        shutdown::ask();
        thread::sleep(GRACE);
        std::process::exit(2);
    };
    thread::Builder::new().spawn(watch).map(drop).context("cannot start the thread that limits how long a background run takes")
}

/// Waits until a session that has just ended is settled, and the client has written its last rows.
pub(crate) fn wait_until_settled() {
    thread::sleep(patience(Duration::from_millis(SETTLED_AFTER_END.unsigned_abs()) + POLL_INTERVAL));
}

/// Takes the lock after the run that holds it has ended, because that run may already have read past this transcript. `None` on
/// timeout.
pub(crate) fn wait_for_lock(lock: &mut RwLock<std::fs::File>) -> Result<Option<RwLockWriteGuard<'_, std::fs::File>>> {
    let until = Instant::now() + TIME_LIMIT;
    // Probe first: the borrow checker rejects returning the guard of `try_write` from inside the loop.
    while lock.try_write().is_err() {
        if Instant::now() >= until {
            return Ok(None);
        }
        thread::sleep(POLL_INTERVAL);
    }
    lock.write().map(Some).context("cannot take the lock of the run")
}
