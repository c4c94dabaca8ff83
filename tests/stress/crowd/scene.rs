//! Sessions that come while others work, and a digest that goes on as long as anybody else does.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::Duration;

use crate::support::chunks::items;
use crate::support::size::number;
use crate::support::timeout::ended;
use crate::support::{Ran, World, assistant, user};

pub fn crowd() -> usize {
    number("RECALL_CROWD", 1)
}

pub fn id(n: usize) -> String {
    format!("6{n:07}-1111-4111-8111-000000000000")
}

/// Puts the transcript of a session there, or another turn into it.
pub fn write(world: &World, n: usize, turns: usize) {
    let rows: String = (0..turns)
        .map(|turn| {
            let uuid = |part: usize| format!("{n:08}-0000-4000-8000-{:012}", turn * 10 + part);
            let at = |second: usize| format!("2026-11-20T{:02}:{:02}:{second:02}Z", n % 24, turn % 60);
            let prompt = format!("Why is the crowd{n} importer slow in step {turn}?");
            let reply =
                format!("I decided to keep the rates of crowd{n} in `cache{turn}.py`, because they were read for every row.");
            user(&id(n), &uuid(1), &at(0), &prompt) + &assistant(&id(n), &uuid(2), &at(30), &reply)
        })
        .collect();
    // In one step: a clock that stands still would have the file change now whenever it is looked at, and never settle.
    let beside = world.root().join(format!("{}.jsonl", id(n)));
    std::fs::write(&beside, rows).expect("the transcript");
    crate::support::age(&beside, Duration::from_secs(3600));
    let folder = world.claude_dir().join("projects/-home-dev-src-shop");
    std::fs::create_dir_all(&folder).expect("the project's folder");
    std::fs::rename(&beside, folder.join(format!("{}.jsonl", id(n)))).expect("the transcript in its place");
}

/// A world with some sessions digested, and hooks that have all the time there is.
pub fn begun(sessions: usize) -> World {
    let world = World::new();
    world.configure("[hooks]\ndeadline_ms = 5000\n");
    (0..sessions).for_each(|n| write(&world, n, 4));
    world.digest(&["--summarizer", "extract"]);
    world
}

/// Runs `recall`, with this on its stdin, and does not wait for ever.
pub fn run(world: &World, args: &[&str], stdin: &str) -> Ran {
    let mut command = world.process();
    command.args(args);
    ended(command, stdin, &format!("{args:?}"))
}

/// A run that did what it was to do and spoke of no lock.
pub fn good(ran: Ran, what: &str) -> Ran {
    assert_eq!(ran.code, 0, "{what}: {ran:#?}");
    unlocked(&ran, what);
    ran
}

pub fn unlocked(ran: &Ran, what: &str) {
    for bad in ["locked", "damaged", "panicked"] {
        assert!(!ran.err.contains(bad) && !ran.out.contains(bad), "{what}: {ran:#?}");
    }
}

/// Work that is done for as long as this one is there.
pub struct Going<'a>(&'a AtomicBool);

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Digests one after the other, each with new sessions and new turns in old ones, until what is returned is dropped.
pub fn digesting<'scope, 'env>(scope: &'scope Scope<'scope, 'env>, world: &'env World, over: &'env AtomicBool) -> Going<'env> {
    scope.spawn(move || {
        let mut n = 100;
        while !over.load(Ordering::SeqCst) {
            for new in n..n + 5 {
                write(world, new, 6);
            }
            write(world, n % 7, 5 + n / 10);
            n += 5;
            // Between two runs there is a time in which somebody else may have a turn.
            std::thread::sleep(Duration::from_millis(50));
            good(run(world, &["digest", "--summarizer", "extract"], ""), "the digest");
        }
    });
    Going(over)
}

/// All that was told is stored once: no session and no row is missing, none is there twice, and the file is whole.
pub fn assert_whole(world: &World) {
    good(run(world, &["digest", "--summarizer", "extract"], ""), "the last digest");
    let whole: String = world.database().query_row("PRAGMA integrity_check", [], |r| r.get(0)).expect("a check");
    assert_eq!(whole, "ok");
    let files = crate::support::files_below(&world.claude_dir().join("projects"));
    let rows: usize = files.iter().map(|file| std::fs::read_to_string(file).expect("a transcript").lines().count()).sum();
    let forgotten = world.count("SELECT count(*) FROM forgotten_session") as usize;
    assert_eq!(world.count("SELECT count(*) FROM session") as usize, files.len() - forgotten, "sessions");
    if forgotten == 0 {
        let keys: BTreeSet<Vec<u8>> = items(&world.database()).into_iter().map(|item| item.key).collect();
        assert_eq!(keys.len(), rows, "rows");
        assert_eq!(world.items() as usize, rows, "no row is there twice");
    }
    let without = "SELECT id || ' ' || coalesce(skip, '') || ' ' || dirty FROM session s
         WHERE NOT EXISTS (SELECT 1 FROM digest WHERE session = s.pk AND NOT superseded)";
    let database = world.database();
    let mut query = database.prepare(without).expect("sessions");
    let without: Vec<String> = query.query_map([], |r| r.get(0)).expect("sessions").map(|one| one.expect("a session")).collect();
    assert!(without.is_empty(), "without a digest: {without:#?}");
}
