//! The deadline of a hook: when it passes first, the process ends, with exit code 0 and nothing said.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::log;

/// Tells the watching thread what turned out.
pub struct Watch {
    pub started: Instant,
    deadline: Sender<Duration>,
}

impl Watch {
    /// It turned out how long the work may take, from its start.
    pub fn set_deadline(&self, deadline: Duration) {
        let _ = self.deadline.send(deadline);
    }
}

/// Does the work under a deadline; a panic is an error. The work keeps the main thread, whose memory is cheapest to have.
///
/// # Errors
/// What the work returns, or that it panicked.
pub fn watched<T>(name: &str, first: Duration, work: impl FnOnce(&Watch) -> Result<T>) -> Result<T> {
    let (deadline, changes) = channel();
    let watch = Watch { started: Instant::now(), deadline };
    let over = Arc::new(AtomicBool::new(false));
    let (event, started, shared) = (name.to_owned(), watch.started, over.clone());
    thread::Builder::new().spawn(move || keep(&event, started, first, &changes, &shared)).context("cannot start a thread")?;
    // The default would print to stderr; the log has it.
    std::panic::set_hook(Box::new(|_| {}));
    let done = catch_unwind(AssertUnwindSafe(|| work(&watch)));
    while over.swap(true, Ordering::SeqCst) {
        // Too late: the other thread is ending the process.
        thread::park();
    }
    match done {
        Ok(done) => done,
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
            bail!("panicked ({}): please report this", said.unwrap_or("no message"))
        }
    }
}

/// Ends the process when the deadline passes before the work is over.
fn keep(name: &str, started: Instant, mut deadline: Duration, changes: &Receiver<Duration>, over: &AtomicBool) {
    loop {
        match changes.recv_timeout(deadline.saturating_sub(started.elapsed())) {
            Ok(known) => deadline = known,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) if over.swap(true, Ordering::SeqCst) => return,
            Err(RecvTimeoutError::Timeout) => {
                log::note(name, &format!("not done within {} ms, given up", deadline.as_millis()));
                std::process::exit(0);
            }
        }
    }
}
