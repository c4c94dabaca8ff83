//! A run that a hook started: nobody waits for it or reads what it prints, so it is bounded and gives way to everything else.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use fd_lock::{RwLock, RwLockWriteGuard};

use crate::stop;

/// How long it may wait for another run to end and then work.
const MOST: Duration = Duration::from_secs(120);
/// How long it may take to end at a safe place once it was asked to.
const GRACE: Duration = Duration::from_secs(30);
/// Between two looks at the lock.
const PAUSE: Duration = Duration::from_millis(250);
/// Added to the priority's number, of at most 19: only idle time is taken.
const NICE: i32 = 15;

/// Lowers the run's priority and bounds its time.
pub fn enter() {
    // Where that is refused the run is as good, only less polite.
    let _ = rustix::process::nice(NICE);
    thread::spawn(|| {
        thread::sleep(MOST);
        stop::ask();
        thread::sleep(GRACE);
        std::process::exit(2);
    });
}

/// The lock, once the run that holds it has ended: that one may have passed the transcript already. `None` when it does not end in time.
///
/// # Errors
/// When the lock cannot be taken.
pub fn wait_for(lock: &mut RwLock<std::fs::File>) -> Result<Option<RwLockWriteGuard<'_, std::fs::File>>> {
    let until = Instant::now() + MOST;
    // The borrow checker takes a guard that is returned from a loop for one that is kept: so whether it is free is asked first.
    while lock.try_write().is_err() {
        if Instant::now() >= until {
            return Ok(None);
        }
        thread::sleep(PAUSE);
    }
    lock.write().map(Some).context("cannot take the lock of the run")
}
