//! Several machines that exchange over one folder: whatever each does, in any order, killed in the middle, with clocks years apart: once all
//! have exchanged, all hold the same, and what was forgotten is in no file.
//!
//! `RECALL_SEED` and `PROPTEST_CASES` (histories); `RECALL_WHOLE=1`: ten machines and longer histories.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::data_folder::places_of;
use crate::support::rows::{Rows, bash, put};
use crate::support::size::{Dice, is_whole, runs, seed};
use crate::support::{Ran, World, files_below};

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];
/// Exchanges of all machines until nothing may change any more: news of news travel on.
const ROUNDS: usize = 4;

/// A session of the history.
struct Session {
    id: String,
    /// In all that is said of it, and in nothing else.
    word: String,
    rows: Rows,
    forgotten: bool,
    /// Its transcript lies on several machines: each tells of its own copy, so it does not go on.
    copied: bool,
}

struct History {
    machines: Vec<World>,
    share: tempfile::TempDir,
    dice: Dice,
    sessions: Vec<Session>,
    /// A word that stands in the note, whatever else it says, and whether the note was forgotten.
    notes: BTreeMap<String, bool>,
    told: Vec<String>,
}

impl History {
    fn new(machines: usize, dice: Dice) -> Self {
        let share = tempfile::tempdir().unwrap();
        let machines: Vec<World> = (0..machines).map(|_| World::new()).collect();
        let all = Self { machines, share, dice, sessions: Vec::new(), notes: BTreeMap::new(), told: Vec::new() };
        for n in 0..all.machines.len() {
            all.join(&all.machines[n], n);
        }
        all
    }

    /// Nothing is encrypted, so that what lies there can be looked through.
    fn join(&self, world: &World, n: usize) {
        let ran = world.recall(["sync", "add", self.share.path().to_str().unwrap(), "--unencrypted", "--name", &format!("m{n}")]);
        assert_eq!(ran.code, 0, "{ran:#?}");
    }

    fn any(&mut self) -> usize {
        self.dice.below(self.machines.len() as u64) as usize
    }

    fn run(&mut self, machine: usize, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        self.told.push(format!("m{machine}: {}", args.join(" ")));
        let ran = self.machines[machine].recall_with(args, variables);
        assert!(ran.code < 2 && !ran.err.contains("panicked"), "{:#?}\n{ran:#?}", self.told);
        ran
    }

    fn digest(&mut self, machine: usize) {
        self.run(machine, &["digest", EXTRACT[0], EXTRACT[1]], &[]);
    }

    /// One thing that somebody does somewhere.
    fn step(&mut self) {
        let machine = self.any();
        match self.dice.below(14) {
            0..=2 => self.begin(machine),
            3 => self.go_on(machine),
            4 => self.copy(machine),
            5 => self.remember(machine),
            6 => self.edit(machine),
            7 => self.close(machine),
            8 => self.forget_session(machine),
            9 => self.forget_word(machine),
            10 => self.kill(machine),
            11 => self.lose_index(machine),
            _ => _ = self.run(machine, &["sync"], &[]),
        }
    }

    fn begin(&mut self, machine: usize) {
        let n = self.sessions.len() + 1;
        let word = format!("quux{}zan", letters(n));
        let mut rows = Rows::new(n);
        rows.user(json!(format!("The {word} of the shop is wrong")));
        rows.uses(1, &bash(&format!("make {word}")));
        rows.result(1, "12 passed", false);
        rows.assistant(&format!("The {word} is mended."));
        put(&self.machines[machine], &rows.id, &rows.text);
        self.sessions.push(Session { id: rows.id.clone(), word, rows, forgotten: false, copied: false });
        self.digest(machine);
    }

    /// A session that goes on where its transcript is.
    fn go_on(&mut self, machine: usize) {
        let Some(at) = self.one_with_transcript(machine) else { return };
        let word = self.sessions[at].word.clone();
        let rows = &mut self.sessions[at].rows;
        rows.user(json!(format!("And the second {word}?")));
        rows.assistant(&format!("So is the second {word}."));
        let (id, text) = (rows.id.clone(), rows.text.clone());
        put(&self.machines[machine], &id, &text);
        self.digest(machine);
    }

    /// A transcript that is taken along to another machine.
    fn copy(&mut self, machine: usize) {
        if self.sessions.is_empty() {
            return;
        }
        let at = self.dice.below(self.sessions.len() as u64) as usize;
        let session = &mut self.sessions[at];
        session.copied = true;
        put(&self.machines[machine], &session.id, &session.rows.text);
        self.digest(machine);
    }

    fn one_with_transcript(&mut self, machine: usize) -> Option<usize> {
        let is_there = |session: &Session| {
            !session.forgotten
                && !session.copied
                && files_below(&self.machines[machine].claude_dir()).iter().any(|file| file.to_string_lossy().contains(&session.id))
        };
        let there: Vec<usize> = (0..self.sessions.len()).filter(|at| is_there(&self.sessions[*at])).collect();
        there.get(self.dice.below(there.len() as u64) as usize).copied()
    }

    fn remember(&mut self, machine: usize) {
        let word = format!("nott{}zan", letters(self.notes.len() + 1));
        // A clock that is wrong by years.
        let now = ["2016-01-01T00:00:00Z", "2026-11-21T12:00:00Z", "2036-01-01T00:00:00Z"][self.dice.below(3) as usize];
        self.run(
            machine,
            &["remember", "--kind", "todo", "--everywhere", &format!("Look at the {word} once")],
            &[("RECALL_NOW", now)],
        );
        self.notes.insert(word, false);
    }

    /// Id and word of a note that this machine knows.
    fn a_note(&mut self, machine: usize) -> Option<(String, String)> {
        let known: Vec<(String, String)> = notes_of(&self.machines[machine])
            .into_iter()
            .filter_map(|(id, text, _)| Some((id, self.notes.keys().find(|word| text.contains(*word))?.clone())))
            .collect();
        known.get(self.dice.below(known.len() as u64) as usize).cloned()
    }

    fn edit(&mut self, machine: usize) {
        let Some((id, word)) = self.a_note(machine) else { return };
        let times = self.dice.below(1_000);
        self.run(machine, &["remember", "--edit", &id, &format!("Look at the {word} {times} times")], &[]);
    }

    fn close(&mut self, machine: usize) {
        let Some((id, _)) = self.a_note(machine) else { return };
        let undo: &[&str] = if self.dice.below(3) == 0 { &["--undo"] } else { &[] };
        self.run(machine, &[&["close", id.as_str()], undo].concat(), &[]);
    }

    fn forget_session(&mut self, machine: usize) {
        let listed = ids_of(&self.machines[machine]);
        let known: Vec<usize> = (0..self.sessions.len()).filter(|at| listed.contains(&self.sessions[*at].id)).collect();
        let Some(at) = known.get(self.dice.below(known.len() as u64) as usize).copied() else { return };
        let id = self.sessions[at].id.clone();
        self.run(machine, &["forget", "--session", &id, "--yes"], &[]);
        self.sessions[at].forgotten = true;
    }

    /// A note is forgotten by its words.
    fn forget_word(&mut self, machine: usize) {
        let Some((_, word)) = self.a_note(machine) else { return };
        self.run(machine, &["forget", "--match", &word, "--yes"], &[]);
        self.notes.insert(word, true);
    }

    fn kill(&mut self, machine: usize) {
        let after = Duration::from_millis(1 + self.dice.below(60));
        self.told.push(format!("m{machine}: sync, killed after {after:?}"));
        let _ = self.machines[machine].command().arg("sync").timeout(after).output();
    }

    /// What was said since the last exchange would be lost with it, as without other machines.
    fn lose_index(&mut self, machine: usize) {
        self.run(machine, &["sync"], &[]);
        self.told.push(format!("m{machine}: loses its index"));
        for file in fs::read_dir(self.machines[machine].data_dir()).unwrap().map(|entry| entry.unwrap().path()) {
            if file.file_name().unwrap().to_str().unwrap().starts_with("recall.db") {
                fs::remove_file(file).unwrap();
            }
        }
        self.digest(machine);
    }

    /// All exchange until all have heard all, and what they hold is held against what happened.
    fn end(&mut self) {
        for _ in 0..ROUNDS {
            for machine in 0..self.machines.len() {
                self.run(machine, &["sync"], &[]);
            }
        }
        // It writes the pages of what was noted since.
        (0..self.machines.len()).for_each(|machine| self.digest(machine));
        // Somebody who joins now sees what all see.
        let fresh = World::new();
        self.join(&fresh, self.machines.len());
        let ran = fresh.recall(["sync"]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        let standing: BTreeSet<&String> = self.sessions.iter().filter(|one| !one.forgotten).map(|one| &one.id).collect();
        let (sessions, notes, pages) = (ids_of(&fresh), notes_of(&fresh), pages_of(&fresh));
        assert_eq!(sessions.iter().collect::<BTreeSet<_>>(), standing, "{:#?}", self.told);
        for (word, forgotten) in &self.notes {
            let with = notes.iter().filter(|(_, text, _)| text.contains(word)).count();
            assert_eq!(with, usize::from(!forgotten), "{word}: {notes:?}\n{:#?}", self.told);
        }
        for (n, world) in self.machines.iter().enumerate() {
            assert_eq!(ids_of(world), sessions, "m{n}\n{:#?}", self.told);
            assert_eq!(notes_of(world), notes, "m{n}\n{:#?}", self.told);
            for (ours, theirs) in pages_of(world).iter().zip(&pages) {
                assert_eq!(ours, theirs, "m{n}\n{:#?}", self.told);
            }
            assert_eq!(pages_of(world).len(), pages.len(), "m{n}\n{:#?}", self.told);
        }
        let there = texts(self.share.path());
        let gone = self.sessions.iter().filter(|one| one.forgotten).map(|one| &one.word);
        for word in gone.chain(self.notes.iter().filter(|(_, forgotten)| **forgotten).map(|(word, _)| word)) {
            assert!(!there.contains(word), "{word} is at the place\n{:#?}", self.told);
            for (n, world) in self.machines.iter().enumerate() {
                assert_eq!(places_of(world, word), [""; 0], "m{n} {word}\n{:#?}", self.told);
            }
        }
    }
}

/// A number in letters, so that no word is the beginning of another.
fn letters(n: usize) -> String {
    n.to_string().bytes().map(|digit| (b'a' + digit - b'0') as char).collect()
}

fn exported(world: &World) -> Vec<Value> {
    let ran = world.recall(["export"]);
    ran.out.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Id, text and whether it is done, of each note.
fn notes_of(world: &World) -> Vec<(String, String, bool)> {
    if !world.data_dir().join("recall.db").exists() {
        return Vec::new();
    }
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let notes = exported(world).into_iter().filter(|row| row["note"].is_string());
    let mut notes: Vec<_> = notes.map(|row| (text(&row, "note"), text(&row, "text"), row["closed_at"].is_number())).collect();
    notes.sort();
    notes
}

fn ids_of(world: &World) -> Vec<String> {
    let ran = world.recall(["list", "--json", "--limit", "1000"]);
    let rows = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut ids: Vec<String> = rows.map(|row| row["session"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

/// Pages without what tells on which machine a session was, and how one there is taken up again.
fn pages_of(world: &World) -> Vec<(String, Vec<String>)> {
    let plain = |text: String| {
        let text = match text.split_once("\n## Resume\n\n```sh\n") {
            Some((before, after)) => before.to_owned() + after.split_once("```\n").unwrap_or_default().1,
            None => text,
        };
        let is_of_machine = |line: &&str| line.starts_with("machine: ") || line.starts_with("*On the machine ") || line.is_empty();
        let mut lines: Vec<String> = text.lines().filter(|line| !is_of_machine(line)).map(str::to_owned).collect();
        // Notes of one moment, which this clock makes many of, stand in the order in which a machine heard of them.
        lines.sort();
        lines
    };
    world.pages().into_iter().map(|(name, text)| (name, plain(text))).collect()
}

/// Everything that machines left at the place.
fn texts(share: &Path) -> String {
    let mut all = String::new();
    for file in files_below(share) {
        let bytes = fs::read(&file).unwrap();
        let packed = bytes.strip_prefix(b"sync 1 plain\n").unwrap_or_else(|| panic!("{} is none of ours", file.display()));
        all += &String::from_utf8(zstd::decode_all(packed).unwrap()).unwrap();
    }
    all
}

#[test]
fn whatever_machines_do_in_the_end_all_hold_the_same() {
    let (machines, steps) = if is_whole() { (10, 60) } else { (3, 24) };
    for n in 0..runs(3, 12) {
        let seed = seed().wrapping_mul(1_000).wrapping_add(u64::from(n));
        eprintln!("RECALL_SEED begins at {seed}");
        let mut history = History::new(machines, Dice(seed));
        for _ in 0..steps {
            history.step();
        }
        history.end();
    }
}
