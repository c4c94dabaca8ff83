//! Deadline of a hook: once it passes, the process ends with exit code 0 and no output.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::app::hook_state::log;

/// Runs the work under a deadline. The work keeps the main thread, whose memory is cheapest; another thread watches the time.
pub(crate) fn with_deadline<T>(name: &str, until: Instant, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let over = Arc::new(AtomicBool::new(false));
    let (event, shared) = (name.to_owned(), over.clone());
    thread::Builder::new().spawn(move || watch(&event, until, &shared)).context("cannot start a thread")?;
    let _in_time = WatchGuard(over);
    work()
}

/// Ends the watch when the work is over, even if it panicked.
struct WatchGuard(Arc<AtomicBool>);

impl Drop for WatchGuard {
    fn drop(&mut self) {
        while self.0.swap(true, Ordering::SeqCst) {
            // Too late: the other thread is already ending the process.
            thread::park();
        }
    }
}

/// Ends the process if the deadline passes before the work is over.
fn watch(name: &str, until: Instant, over: &AtomicBool) {
    let given = until.saturating_duration_since(Instant::now());
    while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        thread::park_timeout(left);
    }
    if !over.swap(true, Ordering::SeqCst) {
        log::note(name, &format!("not done within {} ms, given up", given.as_millis()));
        std::process::exit(0);
    }
}
