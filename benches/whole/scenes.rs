//! The measurements and their baselines.

use std::cell::Cell;
use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use walkdir::WalkDir;

use crate::Args;
use crate::clock::{Contender, peak, quiet, race};
use crate::corpus::{self, Session, Size, Texts};
use crate::instructions;
use crate::table::{Table, megabytes};

const MEGABYTE: u64 = 1_000_000;
/// Bytes of a session in the tree of small files and in the index for the hooks.
const SMALL: u64 = 3_000;
/// Sessions of the tree of small files of which instructions are counted.
const COUNTED_SMALL: u64 = 500;
/// Rounds of hooks for each round of everything else.
const HOOKS: u64 = 40;

pub struct Bench<'a> {
    args: &'a Args,
    texts: Texts,
    root: TempDir,
    pub table: Table,
}

/// A Claude Code config directory and recall's data folder for it.
struct World {
    claude: PathBuf,
    data: PathBuf,
    sessions: Vec<Session>,
    bytes: u64,
}

impl<'a> Bench<'a> {
    pub fn new(args: &'a Args) -> Self {
        fs::create_dir_all(&args.folder).expect("the folder for the sessions");
        let mut root =
            tempfile::Builder::new().prefix("whole-").tempdir_in(&args.folder).expect("a folder below the target folder");
        root.disable_cleanup(args.keep);
        Self { args, texts: Texts::new(), root, table: Table::default() }
    }

    fn world(&self, name: &str, size: &Size) -> World {
        let root = self.root.path().join(name);
        let sessions = corpus::make(&root, size, &self.texts);
        self.found(&root, &root.join("claude"), sessions)
    }

    fn found(&self, root: &Path, claude: &Path, sessions: Vec<Session>) -> World {
        let files = WalkDir::new(claude.join("projects")).into_iter().flatten().filter(|entry| entry.file_type().is_file());
        let bytes = files.map(|entry| entry.metadata().map_or(0, |m| m.len())).sum();
        World { claude: claude.to_owned(), data: root.join("data"), sessions, bytes }
    }

    fn remove(&self, name: &str) {
        if !self.args.keep {
            fs::remove_dir_all(self.root.path().join(name)).expect("the sessions can be removed");
        }
    }

    /// `recall` in a clean environment.
    fn recall(&self, world: &World, args: &[&str]) -> Command {
        let mut command = quiet(&self.args.recall);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.root.path());
        command.env("CLAUDE_CONFIG_DIR", &world.claude).env("RECALL_DATA_DIR", &world.data).args(args);
        command
    }

    /// This program as a baseline; see `baseline.rs`.
    fn baseline(&self, word: &str, world: &World) -> Command {
        let mut command = quiet(env::current_exe().expect("this program"));
        command.arg(word).arg(world.claude.join("projects"));
        command
    }

    fn tree(&self) -> World {
        let size = Size { files: self.args.files, bytes: self.args.megabytes * MEGABYTE };
        let Some(tree) = &self.args.tree else { return self.world("tree", &size) };
        let root = self.root.path().join("tree");
        let claude = root.join("claude");
        // One file will be appended to, so work on a copy.
        let mut sessions = Vec::new();
        for entry in WalkDir::new(tree.join("projects")).into_iter().flatten().filter(|entry| entry.file_type().is_file()) {
            let below = entry.path().strip_prefix(tree).expect("a path below the tree");
            let path = claude.join(below);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for sessions");
            fs::copy(entry.path(), &path).expect("a copy of a session");
            let modified = entry.metadata().ok().and_then(|m| m.modified().ok()).expect("its time");
            File::options().write(true).open(&path).and_then(|file| file.set_modified(modified)).expect("its time is kept");
            if below.components().count() == 3 {
                let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                sessions.push(Session { id, path, cwd: PathBuf::from("/home/dev/src/shop") });
            }
        }
        self.found(&root, &claude, sessions)
    }

    /// A tree of sessions: first ingest, digests, a run with nothing new, and a run after one file grew.
    pub fn reading(&mut self) {
        let world = self.tree();
        let what = format!("{} in {} files", megabytes(world.bytes), self.args.files);
        let (_, most) = self.cold(&world, &what);
        let data = fs::metadata(world.data.join("recall.db")).map_or(0, |m| m.len());
        let share = format!("{:.1} %", data as f64 / world.bytes as f64 * 100.0);
        self.table.row("the index after it", &megabytes(data), &megabytes(world.bytes), &share);
        self.table.row("memory, at most", &megabytes(most << 10), &what, "");
        let (took, most) = peak(self.recall(&world, &["digest", "--summarizer", "extract"]));
        self.table.row(
            "its first digests, no model",
            &format!("{:.1} s", took / 1e3),
            "",
            &format!("{} at most", megabytes(most << 10)),
        );
        self.again(&world);
        let size = fs::metadata(&self.args.recall).map_or(0, |m| m.len());
        self.table.row("the program itself", &megabytes(size), "", "");
        self.remove("tree");
    }

    /// Times the first ingest of a tree against the baselines.
    fn cold(&mut self, world: &World, what: &str) -> (f64, u64) {
        let ingest = || self.recall(world, &["digest", "--ingest-only"]);
        // This run also warms the file cache.
        let (_, most) = peak(ingest());
        let mut all = vec![
            Contender::new("tally", || self.baseline("tally", world)),
            Contender::new("recall", ingest).before(|_| fs::remove_dir_all(&world.data).expect("the data can be removed")),
        ];
        let mut missing = Vec::new();
        for (name, script) in PEERS {
            if found(name) {
                all.push(Contender::new(script, || peer(script, world)));
            } else {
                missing.push(name);
            }
        }
        race(self.args.rounds, &mut all);
        let times: Vec<_> = all.iter().map(|one| (one.name.clone(), one.median())).collect();
        drop(all);
        let took = times[1].1;
        self.table.ratio(&format!("first reading of {what}"), took, "a tally of the types of rows on all cores", times[0].1);
        for (name, other) in &times[2..] {
            self.table.ratio("the same", took, &format!("`{}`", name.replace("{}", "…")), *other);
        }
        missing.into_iter().for_each(|name| self.table.left_out(name));
        (took, most)
    }

    fn again(&mut self, world: &World) {
        // `--settle 0s`: digest what was written just now as well.
        let digest = || self.recall(world, &["digest", "--summarizer", "extract", "--settle", "0s"]);
        let ingest = || self.recall(world, &["digest", "--ingest-only"]);
        // A different session each time, so that none grows large.
        let grown = |round: u64| &world.sessions[(round as usize * 2 + 1) % world.sessions.len()];
        let rounds = self.args.rounds * 4;
        let mut all = [
            Contender::new("walk", || self.baseline("walk", world)),
            Contender::new("nothing", digest),
            Contender::new("appended", ingest).before(|round| corpus::append(grown(round), 1 << 20, round, &self.texts)),
            Contender::new("digested", digest)
                .before(|round| corpus::append(grown(round + rounds + 1), 1 << 20, round + rounds + 1, &self.texts)),
        ];
        race(rounds, &mut all);
        let [walk, nothing, appended, digested] = all.each_ref().map(Contender::median);
        drop(all);
        self.table.ratio("nothing new", nothing, "a walk with one stat a file", walk);
        for (what, took) in [("1 MB appended to one file", appended), ("the same, with its digest", digested)] {
            let more = format!("{:.0} ms more", took - nothing);
            self.table.row(what, &format!("{took:.0} ms"), "a run with nothing new", &more);
        }
    }

    pub fn small_files(&mut self) {
        let files = self.args.small_files;
        let world = self.world("small", &Size { files, bytes: files * SMALL });
        let ingest = || self.recall(&world, &["digest", "--ingest-only"]);
        let (took, most) = peak(ingest());
        let mut all = [Contender::new("walk", || self.baseline("walk", &world)), Contender::new("nothing", ingest)];
        race(self.args.rounds * 4, &mut all);
        let [walk, nothing] = all.each_ref().map(Contender::median);
        drop(all);
        let what = format!("first reading of {files} small files");
        self.table.row(
            &what,
            &format!("{:.1} s", took / 1e3),
            &megabytes(world.bytes),
            &format!("{} at most", megabytes(most << 10)),
        );
        self.table.ratio("nothing new in them", nothing, "a walk with one stat a file", walk);
        self.remove("small");
    }

    pub fn large_file(&mut self) {
        let world = self.world("large", &Size { files: 1, bytes: self.args.large_file * MEGABYTE });
        let (took, most) = peak(self.recall(&world, &["digest", "--summarizer", "extract"]));
        let what = format!("one session of {}, read and digested", megabytes(world.bytes));
        self.table.row(&what, &format!("{:.1} s", took / 1e3), "", &format!("{} at most", megabytes(most << 10)));
        self.remove("large");
    }

    /// One session of many short prompts, and one of a tenth as many: what is looked up for each prompt must not grow with them.
    pub fn prompts(&mut self) {
        let [(few, _), (many, most)] = [self.args.prompts / 10, self.args.prompts].map(|prompts| {
            let root = self.root.path().join("prompts");
            let world = self.found(&root, &root.join("claude"), vec![corpus::prompts(&root, prompts)]);
            let ran = peak(self.recall(&world, &["digest", "--ingest-only"]));
            self.remove("prompts");
            ran
        });
        self.table.ratio(&format!("one session of {} prompts", self.args.prompts), many, "of a tenth as many", few);
        self.table.row("memory of it, at most", &megabytes(most << 10), "", "");
    }

    /// Counts instructions of small runs. True if one takes too many; unless the counts are to be kept.
    pub fn instructions(&mut self) -> bool {
        let tree = self.world("tree", &Size { files: 20, bytes: 20 * MEGABYTE });
        let small = self.world("small", &Size { files: COUNTED_SMALL, bytes: COUNTED_SMALL * SMALL });
        let session = &small.sessions[small.sessions.len() - 1];
        let cwd = session.cwd.display().to_string();
        let runs: [(&str, &World, &[&str]); 6] = [
            ("reading 20 MB", &tree, &["digest", "--ingest-only", "--jobs", "1"]),
            ("its digests and pages", &tree, &["digest", "--summarizer", "extract", "--jobs", "1"]),
            ("nothing new", &tree, &["digest", "--summarizer", "extract", "--jobs", "1"]),
            ("a first run over small sessions", &small, &["digest", "--summarizer", "extract", "--jobs", "1"]),
            ("a search", &small, &["search", "order list"]),
            // The hook itself would be over its deadline: valgrind takes fifty times as long.
            ("what a session's start is told", &small, &["context", "--cwd", &cwd]),
        ];
        let kept = instructions::last_kept(&self.args.history);
        let (mut all, mut has_grown) = (Vec::new(), false);
        for (measure, world, words) in runs {
            let count = instructions::count(&self.recall(world, words));
            let before = kept.iter().find(|(known, _)| known == measure).map(|(_, count)| *count);
            let (against, ratio) = match before {
                Some(before) => (format!("{:.1} M", before as f64 / 1e6), format!("{:.2} ×", count as f64 / before as f64)),
                None => (String::new(), String::new()),
            };
            self.table.row(measure, &format!("{:.1} M", count as f64 / 1e6), &against, &ratio);
            has_grown |= before.is_some_and(|before| instructions::has_grown(count, before));
            all.push((measure.to_owned(), count));
        }
        match &self.args.record {
            Some(commit) => {
                instructions::keep(&self.args.history, commit, &all);
                false
            }
            None => has_grown,
        }
    }

    pub fn hooks(&mut self) {
        self.hooks_with(self.args.digests);
    }

    /// Times hooks with an index of so many digests; returns the milliseconds of a session's start.
    fn hooks_with(&mut self, digests: u64) -> f64 {
        let world = self.world("hooks", &Size { files: digests, bytes: digests * SMALL });
        let (took, _) = peak(self.recall(&world, &["digest", "--summarizer", "extract"]));
        self.table.row(&format!("first digests of {digests} small sessions"), &format!("{:.1} s", took / 1e3), "", "");
        let (shown, number) = (self.root.path().join("shown"), Cell::new(0_u64));
        let hook = |name: &'static str, event: &'static str| {
            let (bench, world, shown, number) = (&*self, &world, &shown, &number);
            let payload = bench.root.path().join(event);
            let written = payload.clone();
            let session = &world.sessions[world.sessions.len() - 1];
            let command = move || {
                let mut command = bench.recall(world, &["hook", name]);
                command
                    .stdin(File::open(&written).expect("a payload"))
                    .stdout(File::create(shown).expect("a file for what is said"));
                command
            };
            Contender::new(name, command).before(move |_| {
                number.set(number.get() + 1);
                // Marks that the last hook left would cost this one time.
                let marks =
                    WalkDir::new(world.data.join("marks/new")).into_iter().flatten().filter(|entry| entry.file_type().is_file());
                marks.for_each(|mark| fs::remove_file(mark.path()).expect("a mark can be removed"));
                fs::write(&payload, payload_of(event, number.get(), session)).expect("a payload");
            })
        };
        let mut all = [
            Contender::new("true", || quiet("/bin/true")),
            hook("session-end", "SessionEnd"),
            hook("session-start", "SessionStart"),
        ];
        race(self.args.rounds * HOOKS, &mut all);
        let [base, end, start] = all.each_ref().map(Contender::median);
        drop(all);
        let said = fs::metadata(&shown).map_or(0, |m| m.len());
        assert!(said > 500, "a session is told what was done: {said} bytes");
        self.table.ratio("hook at a session's end", end, "`/bin/true`", base);
        self.table.ratio(&format!("hook at a session's start, {digests} digests"), start, "`/bin/true`", base);
        self.remove("hooks");
        start
    }

    /// Ten times the tree, ten times the digests.
    pub fn growth(&mut self) {
        let size = |times| Size { files: self.args.files * times, bytes: self.args.megabytes * MEGABYTE * times };
        let [(once, little), (ten, much)] = [1, 10].map(|times| {
            let world = self.world("growth", &size(times));
            let ran = peak(self.recall(&world, &["digest", "--ingest-only"]));
            self.remove("growth");
            ran
        });
        self.table.ratio("first reading of ten times as much", ten, "of once as much", once);
        self.table.row("memory of it, at most", &megabytes(much << 10), &megabytes(little << 10), "");
        let (few, many) = (self.args.digests / 10, self.args.digests * 10);
        if few > 0 {
            let (little, much) = (self.hooks_with(few), self.hooks_with(many));
            self.table.ratio(&format!("a session's start, {many} digests"), much, &format!("with {few}"), little);
        }
    }
}

fn payload_of(event: &str, number: u64, session: &Session) -> String {
    let (id, more) = match event {
        // Another session each time: a session is told a thing only once.
        "SessionStart" => (format!("{number:08}-0000-4000-8000-000000000000"), r#""source":"startup""#),
        _ => (session.id.clone(), r#""reason":"other""#),
    };
    let (path, cwd) = (session.path.with_file_name(format!("{id}.jsonl")), session.cwd.display());
    let path = path.display();
    format!(r#"{{"session_id":"{id}","transcript_path":"{path}","cwd":"{cwd}","hook_event_name":"{event}",{more}}}"#)
}

/// Programs that people run over the same files, and how; `{}` stands for the config directory.
const PEERS: [(&str, &str); 4] = [
    ("cat", "find {}/projects -type f -exec cat '{}' + "),
    ("wc", "find {}/projects -type f -exec wc -l '{}' + "),
    ("rg", "rg --no-config -uuu -c '\"type\"' {}/projects"),
    ("ccusage", "ccusage daily --json --offline"),
];

fn peer(script: &str, world: &World) -> Command {
    let mut command = quiet("/bin/sh");
    let claude = world.claude.display().to_string();
    command.arg("-c").arg(script.replacen("{}", &claude, 1)).env_clear();
    command.env("PATH", env::var_os("PATH").unwrap_or_default()).env("HOME", &world.data).env("CLAUDE_CONFIG_DIR", claude);
    command
}

fn found(program: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}
