//! Several machines that exchange over one folder: whatever each does, in any order, killed in the middle, with clocks years apart, while files
//! there are damaged or the folder is away, in homes of different names: once all have exchanged, all hold the same, and the same as one machine
//! that all transcripts lie on; no word is undone that nobody took back, and what was
//! forgotten is in no file.
//!
//! `RECALL_SEED` and `PROPTEST_CASES` (histories); `RECALL_WHOLE=1`: ten machines and longer histories.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::data_folder::places_of;
use crate::support::rows::{Rows, SHOP, bash, put};
use crate::support::size::{Dice, is_whole, letters, runs, seed};
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
    word_forgotten: bool,
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
    /// Texts of notes that somebody who knew them changed or removed, and items that were open or closed when somebody closed or opened them.
    replaced: BTreeSet<String>,
    /// Items that were closed and not opened again, or the other way round, if only one machine ever did either.
    items: BTreeMap<String, Item>,
    /// Files at the place that are damaged: what they held, and what they hold now.
    damaged: BTreeMap<PathBuf, (Vec<u8>, Vec<u8>)>,
    is_away: bool,
    /// The key of all machines; empty where nothing is encrypted.
    key: String,
    /// Each machine has the project in a home of its own, as a clone of one repository.
    has_homes: bool,
    told: Vec<String>,
}

/// An item that was closed or opened again.
struct Item {
    session: usize,
    by: usize,
    is_closed: bool,
    /// Several did, so that either may be the last.
    is_disputed: bool,
}

impl History {
    fn new(machines: usize, is_encrypted: bool, has_homes: bool, dice: Dice) -> Self {
        let share = tempfile::tempdir().unwrap();
        let machines: Vec<World> = (0..machines).map(|_| World::new()).collect();
        let mut all = Self {
            machines,
            share,
            dice,
            sessions: Vec::new(),
            notes: BTreeMap::new(),
            replaced: BTreeSet::new(),
            items: BTreeMap::new(),
            damaged: BTreeMap::new(),
            is_away: false,
            key: String::new(),
            has_homes,
            told: Vec::new(),
        };
        if is_encrypted {
            let ran = all.machines[0].recall(["sync", "add", all.place(), "--name", "m0"]);
            assert_eq!(ran.code, 0, "{ran:#?}");
            all.key = all.machines[0].recall(["sync", "key"]).out;
        }
        for n in usize::from(is_encrypted)..all.machines.len() {
            all.join(&all.machines[n], n);
        }
        if has_homes {
            all.machines.iter().for_each(|world| _ = clone_in(world));
        }
        all
    }

    /// Puts a transcript where this machine would have it.
    fn put(&self, world: &World, session: &Session) {
        let text = if self.has_homes { session.rows.text.replace(SHOP, &clone_in(world)) } else { session.rows.text.clone() };
        put(world, &session.id, &text);
    }

    fn place(&self) -> &str {
        self.share.path().to_str().unwrap()
    }

    fn join(&self, world: &World, n: usize) {
        let name = format!("m{n}");
        let file = world.root().join("key");
        fs::write(&file, &self.key).unwrap();
        let how = if self.key.is_empty() { vec!["--unencrypted"] } else { vec!["--key", file.to_str().unwrap()] };
        let ran = world.recall(["sync", "add", self.place(), "--name", &name].iter().chain(&how));
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
        match self.dice.below(19) {
            12 => self.close_item(machine),
            13 => self.damage(),
            14 => self.heal(),
            15 => self.go_away_or_come_back(),
            16 => self.kill_at_point(machine),
            17 => self.forget_session_by_word(machine),
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
        let todo = json!({"content": format!("Tell the shop of the {word}"), "status": "pending", "activeForm": "Telling"});
        rows.uses(2, &json!({"name": "TodoWrite", "input": {"todos": [todo]}}));
        rows.result(2, "Todos have been modified", false);
        rows.assistant(&format!("The {word} is mended."));
        self.told.push(format!("m{machine}: session {word}"));
        self.sessions.push(Session { id: rows.id.clone(), word, rows, forgotten: false, word_forgotten: false, copied: false });
        self.put(&self.machines[machine], &self.sessions[n - 1]);
        self.digest(machine);
    }

    /// A session that goes on where its transcript is.
    fn go_on(&mut self, machine: usize) {
        let Some(at) = self.one_with_transcript(machine) else { return };
        let word = self.sessions[at].word.clone();
        let rows = &mut self.sessions[at].rows;
        rows.user(json!(format!("And the second {word}?")));
        rows.assistant(&format!("So is the second {word}."));
        self.told.push(format!("m{machine}: {word} goes on"));
        self.put(&self.machines[machine], &self.sessions[at]);
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
        self.told.push(format!("m{machine}: a copy of {}", session.word));
        self.put(&self.machines[machine], &self.sessions[at]);
        self.digest(machine);
    }

    fn one_with_transcript(&mut self, machine: usize) -> Option<usize> {
        let is_there = |session: &Session| {
            !session.forgotten
                && !session.word_forgotten
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
        self.replaced.extend(self.text_of(machine, &id));
        // No text is said twice.
        let times = self.told.len();
        self.run(machine, &["remember", "--edit", &id, &format!("Look at the {word} {times} times")], &[]);
    }

    fn text_of(&self, machine: usize, note: &str) -> Option<String> {
        notes_of(&self.machines[machine]).into_iter().find(|(id, ..)| id == note).map(|(_, text, _)| text)
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

    /// At one of the points at which an exchange has kept something.
    fn kill_at_point(&mut self, machine: usize) {
        let points = ["own words kept", "heard", "told", "exchange counted", "exchange kept"];
        let point = format!("{}:1", points[self.dice.below(points.len() as u64) as usize]);
        let command = if self.dice.below(2) == 0 { "sync" } else { "digest" };
        self.told.push(format!("m{machine}: {command}, killed at {point}"));
        let ran = self.machines[machine].recall_with([command], &[("RECALL_KILL_AT", &point)]);
        assert!(ran.code < 2 && !ran.err.contains("panicked"), "{:#?}\n{ran:#?}", self.told);
    }

    /// An open item is closed, or a closed one opened again.
    fn close_item(&mut self, machine: usize) {
        let known: Vec<usize> = (0..self.sessions.len()).filter(|at| !self.sessions[*at].forgotten).collect();
        let Some(at) = known.get(self.dice.below(known.len() as u64) as usize).copied() else { return };
        let word = self.sessions[at].word.clone();
        let closed = self.items.iter().find(|(_, item)| item.session == at && item.is_closed).map(|(id, _)| id.clone());
        let Some((id, undo)) = open_item(&self.machines[machine], &word).map(|id| (id, false)).or(closed.map(|id| (id, true)))
        else {
            return;
        };
        let listed = ids_of(&self.machines[machine]);
        if !listed.contains(&self.sessions[at].id) {
            return;
        }
        let undo_args: &[&str] = if undo { &["--undo"] } else { &[] };
        self.told.push(format!("m{machine}: close {id} {}", undo_args.join(" ")));
        let ran = self.machines[machine].recall(["close", id.as_str()].iter().chain(undo_args));
        assert!(!ran.err.contains("panicked"), "{ran:#?}");
        if ran.code == 0 {
            let is_disputed = self.items.get(&id).is_some_and(|item| item.is_disputed || item.by != machine);
            self.items.insert(id, Item { session: at, by: machine, is_closed: !undo, is_disputed });
        }
    }

    /// A session is forgotten by a word that it says.
    fn forget_session_by_word(&mut self, machine: usize) {
        let listed = ids_of(&self.machines[machine]);
        let known: Vec<usize> = (0..self.sessions.len())
            .filter(|at| {
                listed.contains(&self.sessions[*at].id) && !self.sessions[*at].forgotten && !self.sessions[*at].word_forgotten
            })
            .collect();
        let Some(at) = known.get(self.dice.below(known.len() as u64) as usize).copied() else { return };
        let word = self.sessions[at].word.clone();
        self.run(machine, &["forget", "--match", &word, "--yes"], &[]);
        self.sessions[at].word_forgotten = true;
    }

    /// A byte of a file at the place is another one, the file is cut off, or gone.
    fn damage(&mut self) {
        if self.is_away {
            return;
        }
        let files: Vec<PathBuf> =
            files_below(self.share.path()).into_iter().filter(|file| !self.damaged.contains_key(file)).collect();
        let Some(file) = files.get(self.dice.below(files.len() as u64) as usize).cloned() else { return };
        let bytes = fs::read(&file).unwrap();
        let at = self.dice.below(bytes.len() as u64) as usize;
        let mut bad = bytes.clone();
        match self.dice.below(2) {
            0 => bad[at] ^= 1 << self.dice.below(8),
            _ => bad.truncate(at),
        }
        self.told.push(format!("{} is damaged", file.display()));
        fs::write(&file, &bad).unwrap();
        self.damaged.insert(file, (bytes, bad));
    }

    /// What is damaged is put right, unless its machine has put something else there.
    fn heal(&mut self) {
        if self.is_away {
            return;
        }
        for (file, (good, bad)) in std::mem::take(&mut self.damaged) {
            if fs::read(&file).is_ok_and(|bytes| bytes == bad) {
                self.told.push(format!("{} is healed", file.display()));
                fs::write(&file, good).unwrap();
            }
        }
    }

    /// The folder is not mounted: a file lies in its place.
    fn go_away_or_come_back(&mut self) {
        let (there, gone) = (self.share.path().to_owned(), self.share.path().with_extension("gone"));
        self.told.push(format!("the place {}", if self.is_away { "is back" } else { "goes away" }));
        if self.is_away {
            fs::remove_file(&there).unwrap();
            fs::rename(&gone, &there).unwrap();
        } else {
            fs::rename(&there, &gone).unwrap();
            fs::write(&there, "").unwrap();
        }
        self.is_away = !self.is_away;
    }

    /// What was said since the last exchange would be lost with it, as without other machines.
    fn lose_index(&mut self, machine: usize) {
        // Not all of it has been told.
        if self.run(machine, &["sync"], &[]).code != 0 {
            return;
        }
        self.told.push(format!("m{machine}: loses its index"));
        self.machines[machine].lose_index();
        self.digest(machine);
    }

    /// All exchange until all have heard all, and what they hold is held against what happened.
    fn end(&mut self) {
        if self.is_away {
            self.go_away_or_come_back();
        }
        self.heal();
        // What records were forgotten of is digested anew, and that is told, too.
        for _ in 0..2 {
            for _ in 0..ROUNDS {
                for machine in 0..self.machines.len() {
                    self.run(machine, &["sync"], &[]);
                }
            }
            (0..self.machines.len()).for_each(|machine| self.digest(machine));
        }
        for machine in 0..self.machines.len() {
            self.run(machine, &["sync"], &[]);
        }
        for machine in 0..self.machines.len() {
            let ran = self.run(machine, &["sync"], &[]);
            assert_eq!((ran.code, ran.out.as_str()), (0, "nothing new\n"), "m{machine}\n{:#?}\n{ran:#?}", self.told);
        }
        // Somebody who joins now sees what all see.
        let fresh = &World::new();
        if self.has_homes {
            clone_in(fresh);
        }
        self.join(fresh, self.machines.len());
        let ran = fresh.recall(["sync"]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        let standing: BTreeSet<&String> = self.sessions.iter().filter(|one| !one.forgotten).map(|one| &one.id).collect();
        let (sessions, notes, pages) = (ids_of(fresh), notes_of(fresh), pages_of(fresh));
        // Of which a word was forgotten: gone as a whole where a machine did that which had no transcript of it.
        let maybe: BTreeSet<&String> = self.sessions.iter().filter(|one| one.word_forgotten).map(|one| &one.id).collect();
        let there: BTreeSet<&String> = sessions.iter().collect();
        assert_eq!(&there - &maybe, &standing - &maybe, "{:#?}", self.told);
        for (_, text, _) in &notes {
            assert!(!self.replaced.contains(text), "`{text}` was changed by somebody who knew it\n{:#?}", self.told);
        }
        for (id, item) in self.items.iter().filter(|(_, item)| !item.is_disputed) {
            let session = &self.sessions[item.session];
            if !session.forgotten && !session.word_forgotten && !session.copied {
                let is_open = open_item(fresh, &session.word).is_some();
                assert_eq!(is_open, !item.is_closed, "{id} of {}\n{:#?}", session.word, self.told);
            }
        }
        for (word, forgotten) in &self.notes {
            let with = notes.iter().filter(|(_, text, _)| text.contains(word)).count();
            assert_eq!(with, usize::from(!forgotten), "{word}: {notes:?}\n{:#?}", self.told);
        }
        for (n, world) in self.machines.iter().enumerate() {
            assert_eq!(ids_of(world), sessions, "m{n}\n{:#?}", self.told);
            assert_eq!(notes_of(world), notes, "m{n}\n{:#?}", self.told);
            assert_eq!(open_words(world), open_words(fresh), "m{n}\n{:#?}", self.told);
            for (ours, theirs) in pages_of(world).iter().zip(&pages) {
                assert_eq!(ours, theirs, "m{n}\n{:#?}", self.told);
            }
            assert_eq!(pages_of(world).len(), pages.len(), "m{n}\n{:#?}", self.told);
        }
        self.hold_against_one_machine(fresh);
        let there = if self.key.is_empty() { texts(self.share.path()) } else { String::new() };
        let gone = self.sessions.iter().filter(|one| one.forgotten || one.word_forgotten).map(|one| &one.word);
        for word in gone.chain(self.notes.iter().filter(|(_, forgotten)| **forgotten).map(|(word, _)| word)) {
            assert!(!there.contains(word), "{word} is at the place\n{:#?}", self.told);
            for (n, world) in self.machines.iter().enumerate() {
                assert_eq!(places_of(world, word), [""; 0], "m{n} {word}\n{:#?}", self.told);
            }
        }
    }
}

impl History {
    /// A machine that all transcripts lie on has the same sessions, with the same pages, but for what people said of them.
    fn hold_against_one_machine(&self, fresh: &World) {
        let one = World::new();
        let standing: Vec<&Session> = self.sessions.iter().filter(|one| !one.forgotten && !one.word_forgotten).collect();
        standing.iter().for_each(|session| self.put(&one, session));
        one.digest(&EXTRACT);
        let said_of: BTreeSet<usize> = self.items.values().map(|item| item.session).collect();
        let is_plain = |name: &str| {
            let mut plain = self.sessions.iter().enumerate().filter(|(at, one)| !said_of.contains(at) && !one.word_forgotten);
            plain.any(|(_, session)| name.contains(&session.id[..8]))
        };
        let of_sessions = |world: &World| -> BTreeMap<String, Vec<String>> {
            pages_of(world).into_iter().filter(|(name, _)| is_plain(name)).collect()
        };
        let (expected, there) = (of_sessions(&one), of_sessions(fresh));
        let plain =
            self.sessions.iter().enumerate().filter(|(at, one)| !said_of.contains(at) && !one.forgotten && !one.word_forgotten);
        assert_eq!(expected.len(), plain.count(), "each has a page\n{:#?}", self.told);
        assert_eq!(expected.keys().collect::<Vec<_>>(), there.keys().collect::<Vec<_>>(), "{:#?}", self.told);
        for (name, page) in &expected {
            assert_eq!(Some(page), there.get(name), "{name}\n{:#?}", self.told);
        }
    }
}

/// The clone of the project in a machine's home.
fn clone_in(world: &World) -> String {
    let clone = world.home().join("src/shop");
    if !clone.exists() {
        fs::create_dir_all(clone.join(".git")).unwrap();
        fs::write(clone.join(".git/config"), "[remote \"origin\"]\n\turl = git@example.com:acme/shop\n").unwrap();
    }
    clone.to_str().unwrap().to_owned()
}

/// The own id of the open item that names the word.
fn open_item(world: &World, word: &str) -> Option<String> {
    let open = world.recall(["todo"]).out;
    let line = open.lines().find(|line| line.contains(&format!("the {word}")))?;
    line.split_whitespace().find(|word| word.len() == 9 && word.starts_with('n')).map(str::to_owned)
}

/// What is open, in no order.
fn open_words(world: &World) -> Vec<String> {
    let open = world.recall(["todo"]).out;
    let mut lines: Vec<String> = open.replace(&clone_in(world), SHOP).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Id, text and whether it is done, of each note.
fn notes_of(world: &World) -> Vec<(String, String, bool)> {
    // An exchange that was killed early leaves an index without a table.
    if world.recall(["export"]).err.contains("there is no index at") {
        return Vec::new();
    }
    world.notes()
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
    let home = clone_in(world);
    let plain = |text: String| {
        let text = text.replace(&home, SHOP);
        let text = match text.split_once("\n## Resume\n\n```sh\n") {
            Some((before, after)) => before.to_owned() + after.split_once("```\n").unwrap_or_default().1,
            None => text,
        };
        // A session of which all that was said is forgotten counts where its transcript is.
        let begins = ["machine: ", "*On the machine ", "sessions_without_digest: "];
        let is_of_machine = |line: &&str| line.is_empty() || begins.iter().any(|begin| line.starts_with(begin));
        let without_machine = |line: &str| {
            let parts = line.split(" · ").filter(|part| !part.starts_with("on m"));
            parts.collect::<Vec<_>>().join(" · ")
        };
        let mut lines: Vec<String> = text.lines().filter(|line| !is_of_machine(line)).map(without_machine).collect();
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
        let mut history = History::new(machines, n % 3 == 2, n % 2 == 1, Dice(seed));
        for _ in 0..steps {
            history.step();
        }
        history.end();
    }
}
