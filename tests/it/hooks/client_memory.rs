//! Claude Code's own memory (`projects/<folder>/memory/MEMORY.md`), which the client tells every session: what it says is not told twice.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::hooks::payloads::{FOLDER, S, SHOP, patient, starts, told};
use crate::support::{World, assistant, user};

const ONE: &str = "aaaa1111-aaaa-4aaa-8aaa-aaaa11110000";

fn memory(world: &World) -> PathBuf {
    world.claude_dir().join(format!("projects/{FOLDER}/memory/MEMORY.md"))
}

/// Two notes, and a session with a decision.
fn with_notes() -> World {
    let world = World::new();
    patient(&world);
    fs::create_dir_all(memory(&world).parent().expect("a folder")).expect("the memory's folder");
    let rows = user(
        ONE,
        "11111111-aaaa-4aaa-8aaa-000000000001",
        "2026-11-20T08:00:00Z",
        "How shall the order list be paged, and where do logs go?",
    ) + &assistant(
        ONE,
        "11111111-aaaa-4aaa-8aaa-000000000002",
        "2026-11-20T08:01:00Z",
        "I decided to write the logs to the harbour disk rather than to stdout.",
    );
    world.transcript(&format!("{FOLDER}/{ONE}.jsonl"), rows);
    world.digest(&["--summarizer", "extract"]);
    for note in ["The staging port is always 8081", "Decided: use keyset pagination instead of offsets"] {
        let kept = world.recall(["remember", "--project", SHOP, note, "--kind", "convention"]);
        assert_eq!(kept.code, 0, "{kept:#?}");
    }
    world
}

#[test]
fn what_the_clients_memory_says_is_not_told_twice_at_a_sessions_start() {
    let world = with_notes();
    let before = told(&world, &starts(&world, S, "startup")).expect("notes");
    for said in ["keyset pagination instead of offsets", "harbour disk", "8081"] {
        assert!(before.contains(said), "{said}: {before}");
    }
    let text = "# Memory\n\n- [Paging](paging.md) — decided: use keyset pagination instead of offsets, from now on\n- The staging port is always 8081\n";
    fs::write(memory(&world), text).expect("the memory");
    let after = told(&world, &starts(&world, "66661111-aaaa-4aaa-8aaa-555511110000", "startup")).expect("notes");
    assert!(!after.contains("keyset pagination instead") && !after.contains("8081") && after.contains("harbour disk"), "{after}");
    // The order and the opposite of a statement are another statement.
    fs::write(memory(&world), "- Never use keyset pagination instead of offsets\n- The staging port is always 8082\n")
        .expect("the memory");
    let other = told(&world, &starts(&world, "77771111-aaaa-4aaa-8aaa-555511110000", "startup")).expect("notes");
    assert_eq!(other, before);
    assert_eq!(world.recall(["context", "--cwd", SHOP]).out, before);
    assert_eq!(fs::read_to_string(memory(&world)).expect("the memory").lines().count(), 2, "it is never written");
}

#[test]
fn an_instruction_is_known_by_what_it_wants_and_forbids() {
    let world = with_notes();
    for note in ["I told you: deploy with make ship, not with rsync", "Never deploy to staging 2 from a branch"] {
        let kept = world.recall(["remember", "--project", SHOP, note, "--kind", "convention"]);
        assert_eq!(kept.code, 0, "{kept:#?}");
    }
    fs::write(memory(&world), "- Deploy with make ship, never with rsync\n- Don't deploy to staging 1 from a branch\n")
        .expect("the memory");
    let start = told(&world, &starts(&world, S, "startup")).expect("notes");
    assert!(!start.contains("rsync") && start.contains("staging 2"), "{start}");
}

#[test]
fn a_memory_that_is_excluded_no_file_or_endless_stops_nothing() {
    let world = with_notes();
    let before = world.recall(["context", "--cwd", SHOP]).out;
    let says = "- decided to use keyset pagination instead of offsets\n";
    // What the client does not give to a session is told.
    fs::write(memory(&world), format!("{}{says}", "- x\n".repeat(300))).expect("the memory");
    assert_eq!(world.recall(["context", "--cwd", SHOP]).out, before);
    fs::write(memory(&world), format!("{}\n{says}", "é".repeat(50_000))).expect("the memory");
    assert_eq!(world.recall(["context", "--cwd", SHOP]).out, before);
    fs::remove_file(memory(&world)).expect("gone");
    fs::create_dir(memory(&world)).expect("a folder in its place");
    assert_eq!(world.recall(["context", "--cwd", SHOP]).out, before);
    fs::remove_dir(memory(&world)).expect("gone");
    rustix::fs::mknodat(rustix::fs::CWD, memory(&world), rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a pipe in its place");
    assert_eq!(world.recall(["context", "--cwd", SHOP]).out, before);
    fs::remove_file(memory(&world)).expect("gone");
    fs::write(memory(&world), says).expect("the memory");
    assert_ne!(world.recall(["context", "--cwd", SHOP]).out, before);
    world.configure("[exclude]\npaths = [\"**/memory/*\"]\n");
    assert_eq!(world.recall(["context", "--cwd", SHOP]).out, before);
    assert_eq!(json!(world.pages().iter().any(|(_, page)| page.contains("é"))), json!(false));
}
