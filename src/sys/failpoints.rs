//! Fault injection for tests: named points at which the process can be killed or held, and named faults that no input can cause.
//!
//! Compiled only with debug assertions: in a release build all of this is a no-op, and no variable can affect a run. That is also why this
//! file may read the environment, which otherwise only `config` does.
//!
//! - `RECALL_KILL_AT=<name>:<n>` kills the process, as `kill -9` does, when it passes the point for the nth time.
//! - `RECALL_HOLD_AT=<name>:<pipe>` blocks at the point until another process opens the pipe for writing and closes it.
//! - `RECALL_POINTS=<file>` appends the name of every point passed to the file, one per line, so that a test can discover the points.
//! - `RECALL_FAULT=<name>` triggers a fault.
//! - `RECALL_PATIENCE_MS=<number>` shortens the waits for a lock of the index, and before a call of the model is
//!   tried again, to so many milliseconds.
//! - `RECALL_STATEMENTS=<file>` appends every SQL statement to the file, one per line, so that a test can count them.
//! - `RECALL_STEPS=<file>` appends, whenever a statement has ended, how many instructions SQLite took for it, a tab and its text.

use std::time::Duration;

/// Marks a point between two steps.
#[cfg(not(debug_assertions))]
#[inline]
pub(crate) fn point(_name: &str) {}

/// Runs `what` if a test asks for this fault.
#[cfg(not(debug_assertions))]
#[inline]
pub(crate) fn happens(_name: &str, _what: impl FnOnce()) {}

/// The usual wait.
#[cfg(not(debug_assertions))]
#[inline]
pub(crate) fn patience(usual: Duration) -> Duration {
    usual
}

/// Logs SQL statements if a test asks for it.
#[cfg(not(debug_assertions))]
#[inline]
pub(crate) fn statements(_db: &mut rusqlite::Connection) {}

/// Marks a point between two steps.
#[cfg(debug_assertions)]
pub(crate) fn point(name: &str) {
    if let Some(file) = std::env::var_os("RECALL_POINTS") {
        note(&file, name);
    }
    if requested_at("RECALL_HOLD_AT", name).is_some_and(|pipe| std::fs::read(pipe).is_err()) {
        panic!("RECALL_HOLD_AT names what cannot be read");
    }
    if requested_at("RECALL_KILL_AT", name).is_some_and(|nth| nth.parse() == Ok(times_passed())) {
        kill_self();
    }
}

/// The part after the colon of a variable `<name>:<what>`, if it names this point.
#[cfg(debug_assertions)]
fn requested_at(variable: &str, name: &str) -> Option<String> {
    let asked = std::env::var(variable).ok()?;
    let (at, what) = asked.split_once(':')?;
    (at == name).then(|| what.to_owned())
}

/// Runs `what` if a test asks for this fault.
#[cfg(debug_assertions)]
pub(crate) fn happens(name: &str, what: impl FnOnce()) {
    if std::env::var_os("RECALL_FAULT").is_some_and(|asked| asked == name) {
        what();
    }
}

/// The usual wait, or a shorter one if a test asks for it.
#[cfg(debug_assertions)]
pub(crate) fn patience(usual: Duration) -> Duration {
    let asked = std::env::var("RECALL_PATIENCE_MS").ok().and_then(|ms| ms.parse().ok());
    asked.map_or(usual, |ms| usual.min(Duration::from_millis(ms)))
}

/// Logs SQL statements if a test asks for it.
#[cfg(debug_assertions)]
pub(crate) fn statements(db: &mut rusqlite::Connection) {
    use rusqlite::trace::{TraceEvent, TraceEventCodes};
    let one_line = |sql: &str| sql.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(file) = std::env::var_os("RECALL_STATEMENTS") {
        let note = move |event: TraceEvent<'_>| {
            if let TraceEvent::Stmt(_, sql) = event {
                note(&file, &one_line(sql));
            }
        };
        let _ = db.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(note));
    } else if let Some(file) = std::env::var_os("RECALL_STEPS") {
        let mut before = std::collections::HashMap::new();
        let note = move |event: TraceEvent<'_>| {
            if let TraceEvent::Profile(statement, _) = event {
                let sql = one_line(&statement.sql());
                note(&file, &format!("{}\t{sql}", steps_of(&statement, before.entry(sql.clone()).or_default())));
            }
        };
        let _ = db.trace_v2(TraceEventCodes::SQLITE_TRACE_PROFILE, Some(note));
    }
}

/// How many instructions a run of a statement took. SQLite adds them up over all runs; `before`: the sum at the end of the last one.
#[cfg(debug_assertions)]
fn steps_of(statement: &rusqlite::trace::StmtRef<'_>, before: &mut i32) -> i32 {
    use rusqlite::StatementStatus;
    let all = statement.get_status(StatementStatus::VmStep);
    let is_first = statement.get_status(StatementStatus::Run) <= 1 || all < *before;
    let last = std::mem::replace(before, all);
    if is_first { all } else { all - last }
}

/// How many times the requested point has been passed, including this time.
#[cfg(debug_assertions)]
fn times_passed() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static PASSED: AtomicU32 = AtomicU32::new(0);
    PASSED.fetch_add(1, Ordering::SeqCst) + 1
}

#[cfg(debug_assertions)]
fn note(file: &std::ffi::OsStr, name: &str) {
    use std::io::Write;
    // One write per line: several threads pass points.
    let open = std::fs::OpenOptions::new().create(true).append(true).open(file);
    let _ = open.and_then(|mut file| file.write_all(format!("{name}\n").as_bytes()));
}

/// Dies without flushing, dropping or unwinding, unlike a panic or an abort.
#[cfg(debug_assertions)]
fn kill_self() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    // The signal may take a moment to arrive.
    loop {
        std::thread::park();
    }
}
