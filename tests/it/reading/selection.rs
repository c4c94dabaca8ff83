//! What the config says about what is read, and whose it is.

use crate::support::{World, assistant, files_below, user};

const S: &str = "55555555-aaaa-4aaa-8aaa-555555555555";

fn session(id: &str, cwd: &str) -> String {
    let (a, b) = (format!("{id}-u1"), format!("{id}-a1"));
    let rows = user(id, &a, "2026-11-20T10:00:00Z", "why is it slow?")
        + &assistant(id, &b, "2026-11-20T10:00:05Z", "Because of the index.");
    rows.replace("/home/dev/src/shop", cwd)
}

fn ids(world: &World) -> Vec<String> {
    world.exported().iter().map(|s| s["session"].as_str().unwrap().to_owned()).collect()
}

fn project_of(world: &World, id: &str) -> String {
    let all = world.exported();
    let session = all.iter().find(|s| s["session"] == id).unwrap_or_else(|| panic!("no session {id} in {all:#?}"));
    session["project"].as_str().unwrap().to_owned()
}

#[test]
fn excluded_projects_leave_no_word_in_the_index() {
    let world = World::with_fixtures(&["plain", "compact", "clear", "subagent"]);
    world.transcript("-other/other.jsonl", session("other-session", "/home/dev/src/other"));
    world.configure("[exclude]\nprojects = [\"/home/dev/src/shop\"]\n");
    world.digest(&["--summarizer", "extract"]);
    // Titles and the like name no working directory, and are left out all the same.
    assert_eq!(ids(&world), ["other-session"]);
    assert_eq!(world.items(), 2);
    let search = world.recall(["search", "accountant", "cent", "vat", "report"]);
    assert_eq!(search.out, "", "{search:#?}");
}

/// Clients of 2.0 started agents with a session to warm their caches: nobody asked for them, and some began days later.
#[test]
fn an_agent_that_only_warms_up_is_no_part_of_the_session() {
    let world = World::new();
    world.transcript(&format!("-p/{S}.jsonl"), session(S, "/home/dev/src/shop"));
    let rows = user(S, "w1", "2026-11-21T10:30:00Z", "Warmup")
        + &assistant(S, "w2", "2026-11-21T10:30:02Z", "I am ready to explore this codebase.");
    let marked = rows.replace(r#""gitBranch":"main""#, r#""gitBranch":"main","isSidechain":true,"agentId":"c63fe96c""#);
    assert_ne!(marked, rows);
    let (first, second) = marked.split_at(marked.find('\n').expect("two rows") + 1);
    let warm_up = world.transcript("-p/agent-c63fe96c.jsonl", first);
    world.digest(&["--summarizer", "extract"]);
    // Read in two goes.
    std::fs::write(&warm_up, format!("{first}{second}")).expect("a transcript");
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(world.recall(["search", "ready", "explore"]).out, "");
    let listed = world.recall(["list"]).out;
    assert!(listed.contains("2026-11-20") && !listed.contains("2026-11-21"), "{listed}");
    assert!(world.pages().iter().all(|(name, text)| !name.contains("11-21") && !text.contains("subagent")), "{:#?}", world.pages());
    let costs: serde_json::Value = serde_json::from_str(&world.recall(["stats", "--cost", "--json"]).out).expect("JSON");
    assert_eq!(costs["total"]["input"], 20, "what it cost is counted: {costs}");
}

/// Some clients wrote only what such an agent replied.
#[test]
fn an_agent_that_greets_without_a_task_is_no_part_of_the_session() {
    let world = World::new();
    world.transcript(&format!("-p/{S}.jsonl"), session(S, "/home/dev/src/shop"));
    let greeting = assistant(S, "w2", "2026-11-21T10:30:02Z", "I am ready to explore this codebase.");
    let marked = greeting.replace(r#""gitBranch":"main""#, r#""gitBranch":"main","isSidechain":true,"agentId":"c63fe96c""#);
    let marked = marked.replace(r#""uuid":"w2""#, r#""uuid":"w2","parentUuid":null"#);
    assert_eq!(marked.matches("parentUuid").count(), 1);
    world.transcript("-p/agent-c63fe96c.jsonl", marked.clone());
    // What has a task before it is work.
    let worked =
        marked.replace("c63fe96c", "d74af07d").replace(r#""uuid":"w2","parentUuid":null"#, r#""uuid":"w3","parentUuid":"w1""#);
    world.transcript("-p/agent-d74af07d.jsonl", worked.replace("ready to explore", "done with the sluice"));
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(world.recall(["search", "ready", "explore"]).out, "");
    assert!(world.pages().iter().any(|(_, text)| text.contains("1 subagent")), "{:#?}", world.pages());
}

#[test]
fn excluded_projects_are_globs_and_hold_for_folders_below() {
    let world = World::new();
    for (id, cwd) in
        [("aaaa1111", "/home/dev/secret/one"), ("bbbb2222", "/home/dev/secret/two/deep"), ("cccc3333", "/home/dev/open")]
    {
        world.transcript(&format!("-p/{id}.jsonl"), session(id, cwd));
    }
    world.configure("[exclude]\nprojects = [\"**/secret/**\"]\n");
    world.digest(&["--ingest-only"]);
    assert_eq!(ids(&world), ["cccc3333"]);
}

#[test]
fn the_home_is_written_as_a_tilde() {
    let world = World::new();
    let cwd = world.home().join("private");
    world.transcript("-p/aaaa1111.jsonl", session("aaaa1111", cwd.to_str().unwrap()));
    world.configure("[exclude]\nprojects = [\"~/private\"]\n");
    world.digest(&["--ingest-only"]);
    assert!(ids(&world).is_empty());
}

#[test]
fn excluded_paths_are_not_even_opened() {
    let world = World::new();
    world.transcript("-keep/aaaa1111.jsonl", session("aaaa1111", "/home/dev/keep"));
    world.transcript("-drop/bbbb2222.jsonl", "garbage that would be counted\n");
    world.configure("[exclude]\npaths = [\"**/projects/-drop/**\"]\n");
    let report = world.digest(&["--ingest-only"]);
    assert_eq!((&report["files_seen"], &report["rows_bad"]), (&1.into(), &0.into()), "{report}");
    assert_eq!(ids(&world), ["aaaa1111"]);
}

#[test]
fn folders_of_one_repository_are_one_project() {
    let world = World::new();
    let repo = world.root().join("repo");
    std::fs::create_dir_all(repo.join(".git")).unwrap();
    for (id, below) in [("aaaa1111", "src/deep"), ("bbbb2222", ".claude/worktrees/fix")] {
        world.transcript(&format!("-{id}/{id}.jsonl"), session(id, repo.join(below).to_str().unwrap()));
    }
    world.digest(&["--ingest-only"]);
    let root = repo.to_str().unwrap();
    assert_eq!([project_of(&world, "aaaa1111"), project_of(&world, "bbbb2222")], [root, root]);
}

#[test]
fn moved_roots_are_one_project_with_where_they_moved() {
    let world = World::new();
    world.transcript("-old/aaaa1111.jsonl", session("aaaa1111", "/home/dev/old/api"));
    world.transcript("-new/bbbb2222.jsonl", session("bbbb2222", "/home/dev/new/api"));
    world.transcript("-almost/cccc3333.jsonl", session("cccc3333", "/home/dev/old/apiary"));
    world.configure("[projects]\n\"/home/dev/old/api\" = \"/home/dev/new/api\"\n");
    world.digest(&["--ingest-only"]);
    assert_eq!(project_of(&world, "aaaa1111"), "/home/dev/new/api");
    assert_eq!(project_of(&world, "bbbb2222"), "/home/dev/new/api");
    assert_eq!(project_of(&world, "cccc3333"), "/home/dev/old/apiary");
}

#[test]
fn a_root_that_moved_after_it_was_read_takes_its_sessions_along() {
    let world = World::new();
    world.transcript("-old/aaaa1111.jsonl", session("aaaa1111", "/home/dev/old/api"));
    world.digest(&["--summarizer", "extract"]);
    world.configure("[projects]\n\"/home/dev/old/api\" = \"/home/dev/new/api\"\n");
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(project_of(&world, "aaaa1111"), "/home/dev/new/api");
}

#[test]
fn ingest_only_stores_everything_and_digests_nothing() {
    let world = World::with_fixtures(&["plain"]);
    world.fake_claude("#!/bin/sh\ntouch \"$HOME/called\"\n");
    let report = world.digest(&["--ingest-only"]);
    assert_eq!(
        (&report["sessions_new"], &report["sessions_digested"], &report["pages_written"]),
        (&1.into(), &0.into(), &0.into()),
        "{report}"
    );
    assert!(files_below(&world.daily()).is_empty());
    assert!(!world.home().join("called").exists());
    assert_eq!(world.texts("64b0b6d9-e371-40e8-affe-78e0505dfb3f", "prompt").len(), 3);

    let later = world.digest(&["--summarizer", "extract"]);
    assert_eq!((&later["bytes_read"], &later["sessions_digested"]), (&0.into(), &1.into()), "{later}");
}

#[test]
fn sessions_of_the_data_folder_are_our_own_and_not_read() {
    let world = World::new();
    let child = world.data_dir().join("child");
    world.transcript(&format!("-p/{S}.jsonl"), session(S, child.to_str().unwrap()));
    world.digest(&["--summarizer", "extract"]);
    assert!(ids(&world).is_empty());
}
