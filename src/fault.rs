//! What a test has go wrong: named points between two steps, at which it kills the process, to see that the next run copes with what is
//! left behind; and named faults, which do what no input can bring about.
//!
//! Only in builds with debug assertions: in what is shipped nothing of this does anything, and no variable can end a run. That is also
//! why this file may read the environment, which otherwise only `config` does.
//!
//! `RECALL_KILL_AT=<name>:<n>` kills the process, as `kill -9` does, when it passes the point for the nth time.
//! `RECALL_HOLD_AT=<name>:<pipe>` has it wait at the point for somebody who opens the pipe for writing, until they close it.
//! `RECALL_POINTS=<file>` has the name of every point that is passed written there, a line each, so that a test need not know the points.
//! `RECALL_FAULT=<name>` has a fault happen. `RECALL_STATEMENTS=<file>` has every statement that the index is asked written there, a line
//! each: so that a test can count them.

/// The process is between two steps.
#[cfg(not(debug_assertions))]
#[inline]
pub fn point(_name: &str) {}

/// What a test may want to go wrong here.
#[cfg(not(debug_assertions))]
#[inline]
pub fn happens(_name: &str, _what: impl FnOnce()) {}

/// What the index is asked may be of interest.
#[cfg(not(debug_assertions))]
#[inline]
pub fn statements(_db: &mut rusqlite::Connection) {}

/// The process is between two steps.
#[cfg(debug_assertions)]
pub fn point(name: &str) {
    if let Some(file) = std::env::var_os("RECALL_POINTS") {
        note(&file, name);
    }
    if asked_at("RECALL_HOLD_AT", name).is_some_and(|pipe| std::fs::read(pipe).is_err()) {
        panic!("RECALL_HOLD_AT names what cannot be read");
    }
    if asked_at("RECALL_KILL_AT", name).is_some_and(|nth| nth.parse() == Ok(passed())) {
        die();
    }
}

/// What a variable asks for at this point: it is `<name>:<what>`.
#[cfg(debug_assertions)]
fn asked_at(variable: &str, name: &str) -> Option<String> {
    let asked = std::env::var(variable).ok()?;
    let (at, what) = asked.split_once(':')?;
    (at == name).then(|| what.to_owned())
}

/// What a test may want to go wrong here.
#[cfg(debug_assertions)]
pub fn happens(name: &str, what: impl FnOnce()) {
    if std::env::var_os("RECALL_FAULT").is_some_and(|asked| asked == name) {
        what();
    }
}

/// Notes what the index is asked, where a test wants to know.
#[cfg(debug_assertions)]
pub fn statements(db: &mut rusqlite::Connection) {
    use rusqlite::trace::{TraceEvent, TraceEventCodes};
    if let Some(file) = std::env::var_os("RECALL_STATEMENTS") {
        let note = move |event: TraceEvent<'_>| {
            if let TraceEvent::Stmt(_, sql) = event {
                note(&file, &sql.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        };
        let _ = db.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(note));
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
