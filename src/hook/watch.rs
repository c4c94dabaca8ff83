//! The deadline of a hook: when it passes first, the process ends, with exit code 0 and nothing said.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};

use super::log;

/// Does the work under a deadline. It keeps the main thread, whose memory is cheapest to have; another one watches the time.
///
/// # Errors
/// What the work returns, or that no thread can be started.
pub fn watched<T>(name: &str, until: Instant, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let over = Arc::new(AtomicBool::new(false));
    let (event, shared) = (name.to_owned(), over.clone());
    thread::Builder::new().spawn(move || keep(&event, until, &shared)).context("cannot start a thread")?;
    let _in_time = InTime(over);
    work()
}

/// Ends the watch when the work is over, also when it panicked.
struct InTime(Arc<AtomicBool>);

impl Drop for InTime {
    fn drop(&mut self) {
        while self.0.swap(true, Ordering::SeqCst) {
            // Too late: the other thread is ending the process.
            thread::park();
        }
    }
}

/// Ends the process when the deadline passes before the work is over.
fn keep(name: &str, until: Instant, over: &AtomicBool) {
    let given = until.saturating_duration_since(Instant::now());
    while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        thread::park_timeout(left);
    }
    if !over.swap(true, Ordering::SeqCst) {
        log::note(name, &format!("not done within {} ms, given up", given.as_millis()));
        std::process::exit(0);
    }
}
