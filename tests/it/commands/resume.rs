//! `recall resume`: a stored session goes on in Claude Code, where it began, as long as its transcript is there.

use std::fs;
use std::path::PathBuf;

use crate::support::answers::at_terminal;
use crate::support::{World, assistant, user};

const ID: &str = "5e55e55e-0000-4000-8000-000000000001";

/// A session in a folder that there is.
fn world() -> (World, PathBuf) {
    let world = World::new();
    let shop = world.root().join("the shop");
    fs::create_dir(&shop).expect("a folder");
    let told = user(ID, ID, "2026-11-20T10:00:00Z", "Page the order list by key.")
        + &assistant(ID, "5e55e55e-0000-4000-8000-000000000002", "2026-11-20T10:01:00Z", "The order list is paged by key now.");
    let told = told.replace("/home/dev/src/shop", shop.to_str().expect("UTF-8"));
    world.transcript(&format!("{}/{ID}.jsonl", folder_of(&shop)), told);
    world.digest(&["--summarizer", "extract"]);
    (world, shop)
}

/// As Claude Code names the folder of the transcripts of a folder.
fn folder_of(path: &std::path::Path) -> String {
    path.to_str().expect("UTF-8").chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

#[test]
fn without_a_terminal_the_command_is_printed() {
    let (world, shop) = world();
    for args in [&["resume"][..], &["resume", "last"], &["resume", "5e55"], &["resume", ID, "--print"]] {
        let ran = world.recall(args);
        assert_eq!((ran.code, ran.out), (0, format!("cd '{}' && claude --resume {ID}\n", shop.display())), "{args:?}");
    }
}

#[test]
fn on_a_terminal_the_client_takes_the_place_of_recall() {
    let (world, shop) = world();
    world.fake_claude("#!/bin/sh\necho \"in $PWD with $*\"; exit 7\n");
    let ended = at_terminal(&world, world.root(), &["resume", "5e55"]);
    assert_eq!((ended.code, ended.shown.trim()), (7, format!("in {} with --resume {ID}", shop.display()).as_str()));
}

#[test]
fn what_the_client_cannot_continue_is_said_before_it_starts() {
    let (world, shop) = world();
    fs::rename(&shop, world.root().join("elsewhere")).expect("moved");
    let ran = world.recall(["resume", "5e55"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("began in") && ran.err.contains("which is gone"), "{}", ran.err);
    let transcript = world.claude_dir().join("projects").join(folder_of(&shop)).join(format!("{ID}.jsonl"));
    fs::remove_file(transcript).expect("deleted");
    let ran = world.recall(["resume", "5e55"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("transcript of session 5e55e55e is gone") && ran.err.contains("`recall show 5e55e55e --full`"),
        "{}",
        ran.err
    );
}
