//! How far a run is, for other processes: a small file in the data folder, which holds nothing of what the run reads.
//!
//! ## Locking
//! Each version of the file is locked before it gets its name, until the next one has it. The lock goes with the process that holds it, however
//! that ends, so a file without a lock is of a run that is gone.
//!
//! ## Cost
//! A thread writes the file, only after the run's first second and only if something changed, and never syncs it. Who does the work adds to a
//! number.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::failpoints::patience;
use super::{data_folder, private_files};
use text::clean::{one_line, size, without_controls};

/// The name of the file, in the data folder.
const FILE: &str = data_folder::PROGRESS;
/// A run that is over sooner writes nothing.
const FIRST_AFTER: Duration = Duration::from_secs(1);
/// Between two writes.
const EVERY: Duration = Duration::from_millis(500);
/// More bytes than the file ever has.
const MAX_BYTES: u64 = 4096;
/// How often a file is opened that is replaced meanwhile.
const MAX_TRIES: usize = 4;

/// The run of this process that others hear of, if there is one.
static TOLD: Mutex<Option<Arc<Shared>>> = Mutex::new(None);

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunProgress {
    /// When it began, in milliseconds since the Unix epoch.
    pub(crate) since: i64,
    /// What it does, in a word; nothing between two phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) phase: Option<String>,
    /// How much of the phase is done.
    #[serde(default)]
    pub(crate) done: u64,
    /// Of how much, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) total: Option<u64>,
    /// Both are bytes, not things.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) in_bytes: bool,
}

/// Takes a reference because serde passes one.
fn is_false(value: &bool) -> bool {
    !value
}

impl RunProgress {
    /// That of the run under way; `None` if there is none, or it has only just begun.
    pub(crate) fn read(data_dir: &Path) -> Option<Self> {
        let path = data_dir.join(FILE);
        for _ in 0..MAX_TRIES {
            let mut file = match private_files::open_regular(OpenOptions::new().read(true), &path) {
                Ok(file) => file,
                Err(e) if e.kind() == ErrorKind::NotFound => return None,
                // Replaced before it was looked at.
                Err(_) => continue,
            };
            if let Err(TryLockError::WouldBlock) = file.try_lock_shared() {
                return Self::parse(&mut file);
            }
            if is_at(&file, &path) {
                return None;
            }
        }
        None
    }

    fn parse(file: &mut File) -> Option<Self> {
        let mut text = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// In words: "a digest is running: digesting, 12 of 40".
    pub(crate) fn in_words(&self) -> String {
        let told = |count: u64| if self.in_bytes { size(count) } else { count.to_string() };
        let mut words = "a digest is running".to_owned();
        if let Some(phase) = &self.phase {
            words += &format!(": {}", one_line(&without_controls(phase)));
            if let Some(total) = self.total {
                // What is read grows while it is read.
                words += &format!(", {} of {}", told(self.done.min(total)), told(total));
            }
        }
        words
    }
}

/// Does the path still name this file?
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: io::Result<std::fs::Metadata>| found.map(|found| (found.dev(), found.ino())).ok();
    identity(file.metadata()) == identity(path.metadata())
}

/// A phase, as it is told.
#[derive(Debug)]
pub(super) struct Phase {
    what: &'static str,
    total: Option<u64>,
    in_bytes: bool,
    done: AtomicU64,
}

impl Phase {
    /// Begins the phase of this process's run, if others hear of that.
    pub(super) fn begin(what: &'static str, total: Option<u64>, in_bytes: bool) -> Arc<Self> {
        let phase = Arc::new(Self { what, total, in_bytes, done: AtomicU64::new(0) });
        if let Some(shared) = &*told() {
            shared.state().phase = Some(Arc::clone(&phase));
        }
        phase
    }

    pub(super) fn advance(&self, by: u64) {
        self.done.fetch_add(by, Ordering::Relaxed);
    }

    pub(super) fn end(self: &Arc<Self>) {
        if let Some(shared) = &*told() {
            shared.state().phase.take_if(|phase| Arc::ptr_eq(phase, self));
        }
    }
}

fn told() -> MutexGuard<'static, Option<Arc<Shared>>> {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    phase: Option<Arc<Phase>>,
    has_ended: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run of which other processes hear until this is dropped. Its owner holds the run lock.
#[derive(Debug)]
pub(crate) struct ToldRun {
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
}

impl ToldRun {
    /// `since`: when the run began, in milliseconds since the Unix epoch. Whatever fails, the run goes on, and nobody hears of it.
    pub(crate) fn begin(data_dir: &Path, since: i64) -> Self {
        // That of a run that was killed.
        let _ = std::fs::remove_file(data_dir.join(FILE));
        let shared = Arc::new(Shared::default());
        *told() = Some(Arc::clone(&shared));
        let file = ProgressFile { folder: data_dir.to_owned(), since, written: None };
        let work = Arc::clone(&shared);
        let writer = thread::Builder::new().name("progress".into()).spawn(move || file.keep(&work)).ok();
        Self { shared, writer }
    }
}

impl Drop for ToldRun {
    fn drop(&mut self) {
        told().take_if(|shared| Arc::ptr_eq(shared, &self.shared));
        self.shared.state().has_ended = true;
        self.shared.ended.notify_all();
        // It removes the file, which has to be gone before the next run begins.
        let _ = self.writer.take().map(JoinHandle::join);
    }
}

/// The file of a run, and what was written into it last.
struct ProgressFile {
    folder: PathBuf,
    since: i64,
    written: Option<(RunProgress, File)>,
}

impl ProgressFile {
    /// Writes what is new until the run ends, and then removes the file.
    fn keep(mut self, shared: &Shared) {
        let mut wait = patience(FIRST_AFTER);
        loop {
            let (state, _) = shared
                .ended
                .wait_timeout_while(shared.state(), wait, |state| !state.has_ended)
                .unwrap_or_else(PoisonError::into_inner);
            if state.has_ended {
                break;
            }
            let now = self.progress(state.phase.as_deref());
            drop(state);
            // What cannot be written now is tried again at the next time.
            let _ = self.write(now);
            wait = patience(EVERY);
        }
        if self.written.is_some() {
            let _ = std::fs::remove_file(self.folder.join(FILE));
        }
    }

    fn progress(&self, phase: Option<&Phase>) -> RunProgress {
        RunProgress {
            since: self.since,
            phase: phase.map(|phase| phase.what.to_owned()),
            done: phase.map_or(0, |phase| phase.done.load(Ordering::Relaxed)),
            total: phase.and_then(|phase| phase.total),
            in_bytes: phase.is_some_and(|phase| phase.in_bytes),
        }
    }

    fn write(&mut self, now: RunProgress) -> io::Result<()> {
        if self.written.as_ref().is_some_and(|(last, _)| *last == now) {
            return Ok(());
        }
        let mut file = private_files::temporary(&self.folder)?;
        file.as_file().try_lock()?;
        file.write_all(&serde_json::to_vec(&now)?)?;
        let file = file.persist(self.folder.join(FILE)).map_err(|e| e.error)?;
        self.written = Some((now, file));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_in_words() {
        let run = |phase: Option<&str>, done, total, in_bytes| {
            RunProgress { since: 1, phase: phase.map(str::to_owned), done, total, in_bytes }.in_words()
        };
        assert_eq!(run(Some("digesting"), 12, Some(40), false), "a digest is running: digesting, 12 of 40");
        assert_eq!(run(Some("reading"), 2_500_000, Some(1_000_000), true), "a digest is running: reading, 1.0 MB of 1.0 MB");
        assert_eq!(run(Some("comparing"), 0, None, false), "a digest is running: comparing");
        assert_eq!(run(None, 0, None, false), "a digest is running");
        assert_eq!(run(Some("x\u{1b}[2J\ny"), 0, None, false), "a digest is running: x y");
    }

    #[test]
    fn only_a_file_that_is_locked_is_of_a_run() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(RunProgress::read(folder.path()), None);
        let mut file = ProgressFile { folder: folder.path().to_owned(), since: 7, written: None };
        let phase = Phase { what: "digesting", total: Some(40), in_bytes: false, done: AtomicU64::new(12) };
        for phase in [None, Some(&phase)] {
            let now = file.progress(phase);
            file.write(now.clone()).expect("a file");
            assert_eq!(RunProgress::read(folder.path()), Some(now.clone()));
            assert_eq!(RunProgress::read(folder.path()), Some(now), "whoever reads takes no lock away");
        }
        drop(file);
        assert!(folder.path().join(FILE).exists());
        assert_eq!(RunProgress::read(folder.path()), None, "its run is gone");
    }

    #[test]
    fn a_file_that_is_replaced_all_the_time_is_always_of_a_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut file = ProgressFile { folder: folder.path().to_owned(), since: 0, written: None };
        let mut write = move || {
            file.since += 1;
            file.write(file.progress(None)).expect("a file");
        };
        write();
        let done = std::sync::atomic::AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    write();
                    // A hundred times as often as a run does.
                    thread::sleep(EVERY / 100);
                }
            });
            let missed = (0..2000).filter(|_| RunProgress::read(folder.path()).is_none()).count();
            done.store(true, Ordering::Relaxed);
            assert_eq!(missed, 0);
        });
    }
}
