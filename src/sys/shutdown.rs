//! Ctrl-C and SIGTERM: the first signal ends the run at the next safe point, the second one at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

static REQUESTED: AtomicBool = AtomicBool::new(false);

pub(crate) fn install_handlers() {
    // Without a handler, signals end the process; every stage survives that, so a failure here is ignored.
    let _ = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        crate::sys::messages::report("stopping after what is under way (press Ctrl-C again to stop immediately)");
    });
}

/// For a server: notified by the first Ctrl-C, SIGTERM or SIGHUP. A second one ends the process at once.
pub(crate) fn first_signal() -> Arc<Notify> {
    let told = Arc::new(Notify::new());
    let teller = Arc::clone(&told);
    let mut before = false;
    // If no handler can be set, a signal ends the process directly, which leaves nothing half done either.
    let _ = ctrlc::set_handler(move || {
        if std::mem::replace(&mut before, true) {
            std::process::exit(130);
        }
        teller.notify_one();
    });
    told
}

/// Leaves Ctrl-C to a program that has the terminal.
pub(crate) fn ignore() {
    let _ = ctrlc::set_handler(|| {});
}

/// Requests a stop at the next safe point, as a signal does.
pub(crate) fn ask() {
    REQUESTED.store(true, Ordering::SeqCst);
}

pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
