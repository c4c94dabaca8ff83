//! Named points between two steps, at which a test kills the process: what a run leaves behind there, the next one has to cope with.
//!
//! Only in builds with debug assertions: in what is shipped no point does anything, and no variable can end a run. That is also why
//! this file may read the environment, which otherwise only `config` does.
//!
//! `RECALL_KILL_AT=<name>:<n>` kills the process, as `kill -9` does, when it passes the point for the nth time. `RECALL_POINTS=<file>`
//! has the name of every point that is passed written there, a line each, so that a test need not know the points.

/// The process is between two steps.
#[cfg(not(debug_assertions))]
#[inline]
pub fn point(_name: &str) {}

/// The process is between two steps.
#[cfg(debug_assertions)]
pub fn point(name: &str) {
    if let Some(file) = std::env::var_os("RECALL_POINTS") {
        note(&file, name);
    }
    let asked = std::env::var("RECALL_KILL_AT").unwrap_or_default();
    if let Some((at, nth)) = asked.rsplit_once(':')
        && at == name
        && nth.parse() == Ok(passed())
    {
        die();
    }
}

/// How often the point that is asked for was passed, with this time.
#[cfg(debug_assertions)]
fn passed() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static PASSED: AtomicU32 = AtomicU32::new(0);
    PASSED.fetch_add(1, Ordering::SeqCst) + 1
}

#[cfg(debug_assertions)]
fn note(file: &std::ffi::OsStr, name: &str) {
    use std::io::Write;
    // In one write: points are passed by several threads.
    let open = std::fs::OpenOptions::new().create(true).append(true).open(file);
    let _ = open.and_then(|mut file| file.write_all(format!("{name}\n").as_bytes()));
}

/// Nothing is flushed, dropped or handled: neither a panic nor an abort would be like that.
#[cfg(debug_assertions)]
fn die() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    // The signal may take a moment.
    loop {
        std::thread::park();
    }
}
