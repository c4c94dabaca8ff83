//! A world in which a command is run again and again from the same start, disturbed or not, and what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::faults::dump::dump;
use crate::faults::expected::Promised;
use crate::faults::interposer::{Call, Fault, interpose, record, recorded};
use crate::faults::sessions::WORD;
use crate::support::{Ran, World, copy_tree, files_below};

pub struct Scene {
    /// What what is tried here is counted under.
    pub name: String,
    pub world: World,
    /// What is run and then disturbed.
    pub args: Vec<String>,
    /// What is run after it, whatever happened.
    pub then: Vec<Vec<String>>,
    /// Where all of it takes place.
    folder: PathBuf,
    /// That folder as it is before.
    start: tempfile::TempDir,
    /// Where not everything has to be the same in the end: what has to be there.
    promised: Option<Promised>,
}

/// All that a data folder says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    rows: Vec<String>,
    /// Every file that is not the database, by its name, with what it holds.
    files: Vec<(PathBuf, String)>,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    pub killed: bool,
    /// How many calls were failed.
    pub failed: usize,
    pub ran: Ran,
}

/// Every fixture that holds a conversation.
pub const FIXTURES: [&str; 7] = ["plain", "compact", "fork", "clear", "retry", "subagent", "hooks"];

impl Scene {
    /// A world whose data folder is as it is now whenever the command begins.
    pub fn new(world: World, args: &[&str]) -> Self {
        let folder = world.data_dir();
        Self::in_folder(folder, world, args)
    }

    /// The same of another folder. Folders without a file in them do not come back.
    pub fn in_folder(folder: PathBuf, world: World, args: &[&str]) -> Self {
        let start = tempfile::tempdir().expect("a temporary folder");
        copy_tree(&folder, start.path());
        let name = args[..args.len().min(2)].join(" ");
        Self { name, world, args: owned(args), then: Vec::new(), folder, start, promised: None }
    }

    /// Under another name than that of the command.
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// With that alone in which it has to end.
    pub fn promising(mut self, promised: Promised) -> Self {
        self.promised = Some(promised);
        self
    }

    /// With a command that is run after it.
    pub fn then(mut self, args: &[&str]) -> Self {
        self.then.push(owned(args));
        self
    }

    /// Where all of it takes place.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Puts the folder back to the start.
    pub fn reset(&self) {
        self.put(self.start.path());
    }

    /// Puts another folder in its place.
    pub fn put(&self, other: &Path) {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).expect("the folder goes");
        }
        if fs::read_dir(other).expect("a folder").next().is_some() {
            fs::DirBuilder::new().mode(0o700).create(&self.folder).expect("the folder");
            copy_tree(other, &self.folder);
        }
    }

    fn command(&self, args: &[String]) -> Command {
        let mut command = self.world.process();
        command.args(args).stdin(std::process::Stdio::null());
        command
    }

    /// Runs the command with a fault.
    pub fn disturbed(&self, fault: Fault) -> Ended {
        let mut command = self.command(&self.args);
        interpose(&mut command, self.world.root(), fault);
        let log = tempfile::NamedTempFile::new().expect("a temporary file");
        record(&mut command, log.path(), Path::new(""));
        let ended = ended(command);
        let failed = recorded(log.path()).iter().filter(|call| call.what.starts_with("failed ")).count();
        Ended { failed, ..ended }
    }

    /// Runs the command with a variable, in place of a fault of the system.
    pub fn with(&self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Ended {
        let mut command = self.command(&self.args);
        command.env(name, value);
        ended(command)
    }

    /// The named points that the command passes, with how often, from the start.
    pub fn points(&self) -> BTreeMap<String, usize> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        self.reset();
        let ended = self.with("RECALL_POINTS", file.path());
        self.has_done(&self.args, &ended, "undisturbed");
        let mut points = BTreeMap::new();
        for name in fs::read_to_string(file.path()).expect("the points").lines() {
            *points.entry(name.to_owned()).or_default() += 1;
        }
        points
    }

    /// The command as a process that goes on.
    pub fn spawned(&self) -> std::process::Child {
        let mut command = self.command(&self.args);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        command.spawn().expect("recall starts")
    }

    /// Runs the command undisturbed, and notes every call that changes a file.
    pub fn recorded(&self, blobs: &Path) -> Vec<Call> {
        let (ended, calls) = self.record(blobs);
        self.has_done(&self.args, &ended, "undisturbed");
        calls
    }

    /// The same of a command that ends with a code of its own.
    pub fn recorded_ending(&self, code: i32, blobs: &Path) -> Vec<Call> {
        let (ended, calls) = self.record(blobs);
        assert_eq!(ended.ran.code, code, "{ended:#?}");
        calls
    }

    fn record(&self, blobs: &Path) -> (Ended, Vec<Call>) {
        let log = tempfile::NamedTempFile::new().expect("a temporary file");
        let mut command = self.command(&self.args);
        interpose(&mut command, self.world.root(), Fault::Nothing);
        record(&mut command, log.path(), blobs);
        (ended(command), recorded(log.path()))
    }

    /// Runs the command from the start, undisturbed.
    pub fn undisturbed(&self) -> State {
        self.reset();
        self.finish("undisturbed");
        self.state()
    }

    /// Runs the command until it has done what is to be done: once.
    pub fn finish(&self, after: &str) {
        // What others may be writing is left alone for an hour: it passes.
        let starts = |file: &Path, with: &str| file.file_name().is_some_and(|n| n.to_string_lossy().starts_with(with));
        for file in files_below(&self.folder).into_iter().filter(|f| starts(f, ".recall-tmp-")) {
            let long_ago = SystemTime::now() - Duration::from_secs(2 * 3600);
            fs::File::options().write(true).open(file).and_then(|f| f.set_modified(long_ago)).expect("the file's time");
        }
        for args in [&self.args].into_iter().chain(&self.then) {
            let ended = ended(self.command(args));
            self.has_done(args, &ended, after);
        }
    }

    /// The doctor finds more in such a world than what he is asked about.
    fn has_done(&self, args: &[String], ended: &Ended, how: &str) {
        let most = i32::from(args[0] == "doctor");
        assert!((0..=most).contains(&ended.ran.code), "{how}: {args:?}: {ended:#?}");
    }

    /// What is not as it has to be, in words.
    pub fn differs_from(&self, wanted: &State) -> Option<String> {
        self.differs(wanted, State::clone)
    }

    /// The same, with an eye closed to something.
    pub fn differs(&self, wanted: &State, seen: impl Fn(&State) -> State) -> Option<String> {
        match &self.promised {
            Some(promised) => promised.broken(&self.folder),
            None => seen(&self.state()).differs_from(&seen(wanted)),
        }
    }

    /// No byte of what was forgotten is left anywhere, where that is what the command does.
    pub fn holds_nothing_forgotten(&self, how: &str) {
        if !self.args.contains(&"--match".to_owned()) {
            return;
        }
        for file in files_below(&self.folder) {
            let bytes = fs::read(&file).expect("a file").to_ascii_lowercase();
            assert!(!bytes.windows(WORD.len()).any(|w| w == WORD.as_bytes()), "{how}: {} holds it still", file.display());
        }
    }

    pub fn state(&self) -> State {
        state_of(&self.folder)
    }

    /// Is there an index before the command begins?
    pub fn start_has_index(&self) -> bool {
        self.start.path().join("recall.db").exists()
    }

    /// What is there before the command begins.
    pub fn at_start(&self) -> State {
        state_of(self.start.path())
    }
}

fn owned(args: &[&str]) -> Vec<String> {
    args.iter().map(|&a| a.to_owned()).collect()
}

fn state_of(folder: &Path) -> State {
    let is_index = |file: &Path| file.file_name().is_some_and(|n| n.to_string_lossy().starts_with("recall.db"));
    let of_sqlite = |file: &Path| ["-wal", "-shm"].iter().any(|end| file.to_string_lossy().ends_with(end));
    let read = |file: PathBuf| {
        // Of the index and its copy the rows count, not the bytes.
        let text =
            if is_index(&file) { String::new() } else { String::from_utf8_lossy(&fs::read(&file).expect("a file")).into_owned() };
        (file.strip_prefix(folder).expect("below").to_owned(), text)
    };
    let rows = rows(&folder.join("recall.db"));
    State { rows, files: files_below(folder).into_iter().filter(|file| !of_sqlite(file)).map(read).collect() }
}

/// Of a database, where there is one.
fn rows(database: &Path) -> Vec<String> {
    if !database.exists() {
        return Vec::new();
    }
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let db = rusqlite::Connection::open_with_flags(database, flags).expect("the database");
    let healthy: String = db.query_row("PRAGMA integrity_check", [], |r| r.get(0)).expect("a check");
    assert_eq!(healthy, "ok");
    dump(&db)
}

fn ended(mut command: Command) -> Ended {
    let output = command.output().expect("recall starts");
    Ended { killed: output.status.signal() == Some(9), failed: 0, ran: Ran::of(output) }
}

impl State {
    /// What sessions say and what people wrote: that which nobody may lose.
    pub fn contents(&self) -> BTreeSet<String> {
        let kept = ["item: ", "note: ", "user_closed: ", "forgotten_"];
        self.rows.iter().filter(|row| kept.iter().any(|k| row.starts_with(k))).cloned().collect()
    }

    /// Without the rows of a table.
    pub fn without(&self, table: &str) -> Self {
        let rows = self.rows.iter().filter(|row| !row.starts_with(table)).cloned().collect();
        Self { rows, files: self.files.clone() }
    }

    /// Without a file.
    pub fn without_file(&self, name: &str) -> Self {
        let files = self.files.iter().filter(|(file, _)| file != Path::new(name)).cloned().collect();
        Self { rows: self.rows.clone(), files }
    }

    /// Where it differs from what it is to be, in words.
    pub fn differs_from(&self, wanted: &Self) -> Option<String> {
        let only = |a: &[String], b: &[String]| a.iter().filter(|l| !b.contains(l)).take(8).cloned().collect::<Vec<_>>();
        let files =
            |state: &Self| state.files.iter().map(|(name, text)| format!("{}:\n{text}", name.display())).collect::<Vec<_>>();
        if self == wanted {
            return None;
        }
        let (extra, missing) = (only(&self.rows, &wanted.rows), only(&wanted.rows, &self.rows));
        let (more, less) = (only(&files(self), &files(wanted)), only(&files(wanted), &files(self)));
        Some(format!("rows too many: {extra:#?}\nrows missing: {missing:#?}\nfiles too many: {more:#?}\nfiles missing: {less:#?}"))
    }
}
