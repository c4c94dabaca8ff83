//! Ctrl-C and SIGTERM: the run ends at the next safe place; a second signal ends it at once.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

pub fn listen() {
    // Without a handler a signal ends the process, which every stage survives; so a failure here is no reason not to run.
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        crate::ui::tell("stopping after what is under way (once more to stop at once)");
    });
}

/// Asks the run to end at the next safe place, as a signal does.
pub fn ask() {
    ASKED.store(true, Ordering::SeqCst);
}

pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
