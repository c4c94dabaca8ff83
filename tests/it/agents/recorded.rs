//! Sessions that real clients recorded, each led through one of two scenes by a script, and what is kept of them. See `fixtures/README.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::support::{World, age, copy_tree, files_below, fixtures};

/// An agent whose clients were recorded.
pub struct Recorded {
    /// Its key, which exports have.
    pub agent: &'static str,
    /// The folder of its recordings, by version.
    pub fixtures: &'static str,
    /// Where it keeps its files, below the home.
    pub home: &'static str,
}

/// What a session holds that was read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub sessions: usize,
    pub prompts: usize,
    pub replies: usize,
    pub commands: usize,
    pub failed: usize,
    /// Files that were changed.
    pub files: BTreeSet<String>,
    pub commits: usize,
    pub subagents: usize,
    pub recaps: usize,
    /// Sessions that hold rows of another. What they share counts once.
    pub forks: usize,
    pub interrupted: usize,
}

/// Tokens of all calls of the model, as their client counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens {
    /// With what the cache held.
    pub input: u64,
    pub cached: u64,
    pub output: u64,
}

impl Recorded {
    /// A world in which its client of this version was at work.
    pub fn world(&self, version: &str) -> World {
        let world = World::new();
        copy_tree(&self.recording(version), &self.home_in(&world));
        self.age(&world);
        world
    }

    /// A world in which its client of this version was at work, and in which each of these texts in its files was replaced, as JSON has them.
    pub fn world_with(&self, version: &str, changes: &[(&str, String)]) -> World {
        let world = self.world(version);
        let files = files_below(&self.home_in(&world));
        for (text, other) in changes {
            let mut is_there = false;
            for file in &files {
                let old = fs::read_to_string(file).expect("a transcript");
                is_there |= old.contains(text);
                fs::write(file, old.replace(text, other)).expect("a transcript");
            }
            assert!(is_there, "{version}: {text}");
        }
        self.age(&world);
        world
    }

    fn recording(&self, version: &str) -> PathBuf {
        fixtures().join(self.fixtures).join(version)
    }

    pub fn home_in(&self, world: &World) -> PathBuf {
        world.home().join(self.home)
    }

    /// Makes its transcripts an hour old.
    pub fn age(&self, world: &World) {
        for file in files_below(&self.home_in(world)) {
            age(&file, Duration::from_secs(3600));
        }
    }

    /// What is read of this version, all of whose rows are known, and its tokens.
    pub fn read(&self, version: &str) -> (Counts, Tokens) {
        let world = self.world(version);
        let report = world.digest(&[]);
        assert_eq!((&report["rows_bad"], &report["rows_unknown"]), (&Value::from(0), &Value::from(0)), "{version}: {report}");
        (self.counts(&world), Tokens::of(&world))
    }

    pub fn counts(&self, world: &World) -> Counts {
        let mut counts = Counts::default();
        let mut seen = BTreeSet::new();
        let ran = world.recall(["export"]);
        let lines = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        for session in lines.filter(|line| line["session"].is_string()) {
            assert_eq!(session["agent"], self.agent);
            counts.add(&session, &mut seen);
        }
        let pages = world.pages();
        let sessions = pages.iter().filter(|(name, _)| name.contains("/sessions/"));
        let is_commit =
            |line: &&str| COMMITS.iter().any(|title| line.contains(&format!(" {title} ("))) && line.ends_with("no push seen)");
        counts.commits = sessions.map(|(_, page)| page.lines().filter(is_commit).count()).sum();
        counts
    }

    /// Neither the private prompt of a scene nor its key is in any file, nor in anything that is printed.
    pub fn keeps_no_secret(&self, version: &str) {
        let world = self.world(version);
        world.digest(&[]);
        for secret in SECRETS {
            let held: Vec<_> = files_below(&world.data_dir()).into_iter().filter(|file| holds(file, secret)).collect();
            assert!(held.is_empty(), "{version}: {secret}: {held:?}");
            let found = world.recall(["export"]).out + &world.recall(["search", secret]).out;
            assert!(!found.contains(secret), "{version}: {secret}");
        }
    }

    /// Pages are the same, in whatever pieces transcripts are read.
    pub fn reads_any_pieces(&self, version: &str) {
        let at_once = self.world(version);
        at_once.digest(&[]);
        let world = World::new();
        for part in 1..=4 {
            for file in files_below(&self.recording(version)) {
                let to = self.home_in(&world).join(file.strip_prefix(self.recording(version)).expect("a fixture"));
                fs::create_dir_all(to.parent().expect("a parent")).expect("the folder");
                let text = fs::read(&file).expect("a transcript");
                // The last piece may end within a line. What is no log is written whole.
                let is_log = file.extension().is_some_and(|end| end == "jsonl");
                let end = if is_log { text.len() * part / 4 } else { text.len() };
                fs::write(&to, &text[..end]).expect("a transcript");
            }
            self.age(&world);
            world.digest(&[]);
        }
        assert!(world.pages() == at_once.pages(), "{version}: {:#?}", world.pages());
    }
}

impl Counts {
    /// Adds what a session has more than those of before: the keys of their rows are in `seen`.
    fn add(&mut self, session: &Value, seen: &mut BTreeSet<(String, u64)>) {
        self.sessions += 1;
        let sources = session["sources"].as_array().expect("sources");
        // Of a session that lies in two places each source is there twice.
        let agents: BTreeSet<_> =
            sources.iter().filter_map(|source| source["agent"].as_str()).filter(|agent| !agent.is_empty()).collect();
        self.subagents += agents.len();
        let mut commands = BTreeSet::new();
        let (mut own, mut shares) = (Vec::new(), false);
        for row in sources.iter().flat_map(|source| source["rows"].as_array().expect("rows")) {
            let key = (row["key"].as_str().expect("a key").to_owned(), row["part"].as_u64().expect("a part"));
            let is_new = seen.insert(key);
            shares |= !is_new;
            own.extend(is_new.then_some(&row["item"]));
        }
        self.forks += usize::from(shares);
        for item in own {
            let data = &item["data"];
            match item["kind"].as_str().expect("a kind") {
                "prompt" => self.prompts += 1,
                "reply" => self.replies += 1,
                "recap" => self.recaps += 1,
                "interrupted" => self.interrupted += 1,
                "tool" if ["edited", "written"].iter().any(|how| data["file"]["how"] == *how) => {
                    self.files.extend(data["file"]["path"].as_str().map(str::to_owned));
                }
                "tool" if COMMANDS.iter().any(|name| data["name"] == *name) => {
                    self.commands += 1;
                    commands.insert(data["id"].as_str().expect("an id").to_owned());
                }
                "outcome" if data["ok"] == false && commands.contains(data["tool"].as_str().expect("an id")) => self.failed += 1,
                _ => {}
            }
        }
    }
}

impl Tokens {
    fn of(world: &World) -> Self {
        let ran = world.recall(["stats", "--json"]);
        let all = &serde_json::from_str::<Value>(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"))["total"];
        let count = |name: &str| all[name].as_u64().expect("a count");
        Self { input: count("input") + count("cache_read"), cached: count("cache_read"), output: count("output") }
    }

    /// Without those of calls of which nothing is kept; each of them read 200 from the cache.
    pub fn without(self, calls: &[(u64, u64)]) -> Self {
        calls.iter().fold(self, |all, (input, output)| Self {
            input: all.input - input,
            cached: all.cached - 200,
            output: all.output - output,
        })
    }
}

/// What the scenes have committed.
const COMMITS: [&str; 2] = ["Read fractions of a spoon", "Read mixed amounts in full"];
/// Their keys, and who is named in their private prompts.
const SECRETS: [&str; 4] = ["ghp_Zq8mTn4vXw2LrB7c", "ghp_cLq0tI1jkszp88r7", "Quill", "Zacharias"];
/// The tools that run commands.
const COMMANDS: [&str; 13] = [
    "Bash", "Shell", "bash", "run_commands", "exec_command", "shell", "shell_command", "local_shell", "container.exec",
    "run_shell_command", "execute_command", "run_in_terminal", "run_command",
];

fn holds(file: &Path, text: &str) -> bool {
    memchr::memmem::find(&fs::read(file).expect("a file"), text.as_bytes()).is_some()
}
