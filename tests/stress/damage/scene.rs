//! A world with an index, its copy, and what only one of them has.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::timeout::ended;
use crate::support::{Ran, World, assistant, files_below, numbered_reply, tasks, user};

/// In the copy and in the index; its transcript is gone.
pub const GONE: usize = 1;
/// Forgotten; its transcript is still there.
pub const FORGOTTEN: usize = 2;
/// Came after the copy was made.
pub const LATE: usize = 12;
/// Came after the copy was made, and its transcript is gone.
pub const ONLY_HERE: usize = 13;
/// What stands in the forgotten session and nowhere else.
pub const SECRET: &str = "quizzaciously";

pub const EARLY_NOTE: &str = "Invoices are always rounded half up, per line";
pub const LATE_NOTE: &str = "The staging database is reset every Sunday evening";

/// A session that went on after the copy was made; its transcript is gone.
pub const GREW: usize = 5;
/// The same, but its transcript has only its first turns by now.
pub const SHORTENED: usize = 6;

/// A world, and how its data folder looks when all is well.
pub struct Scene {
    pub world: World,
    good: PathBuf,
}

pub fn id(n: usize) -> String {
    format!("5{n:07}-1111-4111-8111-000000000000")
}

fn path_of(n: usize) -> String {
    format!("-home-dev-src-shop/{}.jsonl", id(n))
}

/// A session of some turns, of which every one says something of its own.
pub fn session(n: usize) -> String {
    let word = if n == FORGOTTEN { SECRET.to_owned() } else { format!("topic{n}") };
    let turns = (0..6).map(|turn| {
        let uuid = |part: usize| format!("{n:08}-0000-4000-8000-{:012}", turn * 10 + part);
        let at = |second: usize| format!("2026-11-{:02}T10:{turn:02}:{second:02}Z", 1 + n);
        let said = format!("Why is the {word} importer slow in step {turn}? It reads `orders{n}_{turn}.csv` again and again.");
        let told = format!(
            "I decided to keep the rates of {word} in `cache{turn}.py` for an hour, because they were read for every row of step {turn}."
        );
        user(&id(n), &uuid(1), &at(0), &said)
            + &tasks(&id(n), &uuid(3), &at(10), &[&format!("Add a test for step {turn} of {word}")])
            + &assistant(&id(n), &uuid(2), &at(30), &told)
    });
    turns.collect()
}

/// What a session gained later.
fn more(n: usize) -> String {
    let turns = (0..20).map(|turn| {
        let uuid = |part: usize| format!("{n:08}-0000-4000-8000-{:012}", 1000 + turn * 10 + part);
        let at = |second: usize| format!("2026-11-{:02}T11:{turn:02}:{second:02}Z", 1 + n);
        let said = format!("And how does the later step {turn} of topic{n} write `invoices{n}_{turn}.csv`?");
        let told = format!("It writes them once, and I decided to leave `write{turn}.py` of topic{n} alone for now.\n");
        user(&id(n), &uuid(1), &at(0), &said) + &assistant(&id(n), &uuid(2), &at(30), &told)
    });
    turns.collect()
}

impl Scene {
    pub fn new() -> Self {
        let world = World::new();
        world.configure("[hooks]\ndeadline_ms = 5000\n");
        for n in 1..LATE {
            world.transcript(&path_of(n), session(n));
        }
        let do_it = |args: &[&str]| {
            let ran = world.recall(args);
            assert_eq!(ran.code, 0, "{args:?}: {ran:#?}");
        };
        do_it(&["digest", "--summarizer", "extract"]);
        do_it(&["remember", "--everywhere", EARLY_NOTE]);
        // Who forgets has a copy made that knows it.
        do_it(&["forget", "--yes", "--session", &id(FORGOTTEN)]);
        for n in [LATE, ONLY_HERE] {
            world.transcript(&path_of(n), session(n));
        }
        do_it(&["remember", "--everywhere", LATE_NOTE]);
        do_it(&["digest", "--summarizer", "extract"]);
        for n in [GONE, ONLY_HERE] {
            fs::remove_file(world.claude_dir().join("projects").join(path_of(n))).expect("a transcript");
        }
        let good = world.root().join("good");
        put(&world.data_dir(), &good);
        Self { world, good }
    }

    /// A world in which the model was paid for digests, some of them twice because their sessions went on after the copy was made. Also
    /// returns what the file of the index held at earlier moments.
    pub fn paid() -> (Self, Vec<Vec<u8>>) {
        let world = World::new();
        world.configure(
            "[hooks]\ndeadline_ms = 5000\n[digest]\nsummarizer = \"claude\"\nbacklog = 1000\nmax_sessions = 1000\n\
             max_cost_usd = 100.0\nmax_cost_usd_per_day = 100.0\n",
        );
        let reply = numbered_reply(0.001).replace("number SUM", "number %s").replace("work SUM", "work %s");
        let args = vec!["$n"; reply.matches("%s").count()].join(" ");
        world.fake_claude(&format!("#!/bin/sh\nn=$(cksum | cut -d' ' -f1)\nprintf '{}\\n' {args}\n", reply.replace('\\', "\\\\")));
        let mut states = Vec::new();
        let mut do_it = |args: &[&str], now: &str| {
            let ran = world.recall_with(args, &[("RECALL_NOW", now)]);
            assert_eq!(ran.code, 0, "{args:?}: {ran:#?}");
            states.push(fs::read(world.data_dir().join("recall.db")).expect("the index"));
        };
        for n in 1..LATE {
            world.transcript(&path_of(n), session(n));
        }
        do_it(&["digest", "--ingest-only"], "2026-11-21T09:00:00Z");
        do_it(&["digest", "--summarizer", "claude"], "2026-11-21T09:30:00Z");
        do_it(&["remember", "--everywhere", EARLY_NOTE], "2026-11-21T09:31:00Z");
        do_it(&["forget", "--yes", "--session", &id(FORGOTTEN)], "2026-11-21T09:32:00Z");
        for n in [GREW, SHORTENED, 7, 8] {
            world.transcript(&path_of(n), session(n) + &more(n));
        }
        for n in [LATE, ONLY_HERE] {
            world.transcript(&path_of(n), session(n));
        }
        do_it(&["remember", "--everywhere", LATE_NOTE], "2026-11-21T10:00:00Z");
        do_it(&["digest", "--ingest-only"], "2026-11-21T11:30:00Z");
        do_it(&["digest", "--summarizer", "claude"], "2026-11-21T12:00:00Z");
        states.pop();
        for n in [GONE, GREW, ONLY_HERE] {
            fs::remove_file(world.claude_dir().join("projects").join(path_of(n))).expect("a transcript");
        }
        world.transcript(&path_of(SHORTENED), session(SHORTENED));
        let good = world.root().join("good");
        put(&world.data_dir(), &good);
        (Self { world, good }, states)
    }

    /// A world whose good data folder lies there.
    pub fn of(world: World, good: PathBuf) -> Self {
        Self { world, good }
    }

    /// Makes the data folder as it was.
    pub fn restore(&self) {
        let data = self.world.data_dir();
        let _ = fs::remove_dir_all(&data);
        put(&self.good, &data);
    }

    pub fn index(&self) -> PathBuf {
        self.world.data_dir().join("recall.db")
    }

    /// The daily copy.
    pub fn copy(&self) -> PathBuf {
        self.world.data_dir().join("recall.db.copy")
    }

    /// The last copy that passed the full check.
    pub fn checked(&self) -> PathBuf {
        self.world.data_dir().join("recall.db.copy-checked")
    }

    pub fn remove_copies(&self) {
        [self.copy(), self.checked()].iter().for_each(|copy| fs::remove_file(copy).expect("the copy"));
    }

    /// Runs `recall` and does not wait for ever.
    pub fn run(&self, args: &[&str]) -> Ran {
        let mut command = self.world.process();
        command.args(args);
        ended(command, "", &format!("{args:?}"))
    }

    /// The ids of all sessions, and the texts of all notes, of an index that is well.
    pub fn holds(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let db = self.world.database();
        let all = |sql: &str| -> BTreeSet<String> {
            let mut query = db.prepare(sql).expect("a table");
            query.query_map([], |r| r.get(0)).expect("rows").map(|one| one.expect("a text")).collect()
        };
        (all("SELECT id FROM session"), all("SELECT text FROM note"))
    }

    pub fn is_well(&self) {
        let found = self.world.findings("index", &[]);
        assert!(found[0].starts_with("ok: ") && found[0].ends_with("intact"), "{found:?}");
    }
}

/// Sessions whose transcripts are there and were not forgotten.
pub fn living() -> BTreeSet<String> {
    (1..=LATE).filter(|n| ![GONE, FORGOTTEN].contains(n)).map(id).collect()
}

pub fn all_but(without: &[usize]) -> BTreeSet<String> {
    (1..=ONLY_HERE).filter(|n| *n != FORGOTTEN && !without.contains(n)).map(id).collect()
}

/// Copies a folder with the times of its files.
pub fn put(from: &Path, to: &Path) {
    for file in files_below(from) {
        let target = to.join(file.strip_prefix(from).expect("below"));
        fs::create_dir_all(target.parent().expect("a parent")).expect("a folder");
        fs::copy(&file, &target).expect("a copy");
        let time = file.metadata().and_then(|m| m.modified()).expect("a time");
        fs::File::options().write(true).open(&target).and_then(|f| f.set_modified(time)).expect("its time");
    }
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(to, fs::Permissions::from_mode(0o700)).expect("its permissions");
}
