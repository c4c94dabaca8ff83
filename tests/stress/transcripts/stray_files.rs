//! What lies among the transcripts and is none.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use crate::support::held::mkfifo;
use crate::support::unprivileged::{Plain, permit};
use crate::support::{Ran, World, timeout};
use crate::transcripts::{S, conversation, numbered, questions};

/// Runs `recall` and fails when it does not end.
fn ended(world: &World, args: &[&str]) -> Ran {
    let mut command = world.process();
    command.args(args);
    timeout::ended(command, "", &format!("{args:?}"))
}

#[test]
fn pipes_sockets_devices_and_links_never_hold_a_run_up() {
    let world = World::new();
    world.transcript(&format!("-p/{S}.jsonl"), conversation(S, 3));
    let dir = world.claude_dir().join("projects/-p");
    mkfifo(&dir.join("pipe.jsonl"));
    let _socket = UnixListener::bind(dir.join("socket.jsonl")).unwrap();
    for (name, target) in [("zero", "/dev/zero"), ("tty", "/dev/tty"), ("nowhere", "/no/such/file"), ("to-pipe", "pipe.jsonl")] {
        symlink(target, dir.join(format!("{name}.jsonl"))).unwrap();
    }
    fs::create_dir(dir.join("folder.jsonl")).unwrap();
    for _ in 0..2 {
        let ran = ended(&world, &["digest", "--summarizer", "extract"]);
        assert_eq!(ran.code, 1, "{ran:#?}");
        for name in ["pipe", "socket", "zero", "nowhere", "to-pipe"] {
            assert!(ran.err.contains(&format!("{name}.jsonl")), "{name} is not told: {ran:#?}");
        }
    }
    assert_eq!(questions(&world), numbered(0..3));
    for command in [
        &["doctor"][..],
        &["status"],
        &["digest", "--dry-run"],
        &["show", S, "--raw"],
        &["forget", "--match", "Question 1", "--dry-run"],
    ] {
        let ran = ended(&world, command);
        assert!(ran.code < 2 && !ran.err.contains("panicked"), "{command:?}: {ran:#?}");
    }
}

/// Copies of transcripts, a daemon's folder and keys lie beside the transcripts of newer clients. A pipe holds up whoever opens it.
#[test]
fn what_newer_clients_keep_beside_transcripts_is_never_opened() {
    let world = World::new();
    world.transcript(&format!("-p/{S}.jsonl"), conversation(S, 2));
    let claude = world.claude_dir();
    for (path, pipe) in [
        ("jobs/1/parent-transcript.jsonl", false),
        ("jobs/2/parent-transcript.jsonl", true),
        ("jobs/2/state.json", true),
        ("daemon/log.jsonl", true),
        ("daemon/control.sock", true),
        ("sessions/4711.key", true),
        ("sessions/4711.json", true),
        ("projects/-p/subagents/workflows/wf_1/journal.jsonl", false),
    ] {
        let file = claude.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        if pipe {
            mkfifo(&file);
        } else {
            fs::write(&file, conversation("99999999-0000-4000-8000-000000000000", 4)).unwrap();
        }
    }
    for command in [
        &["digest", "--summarizer", "extract"][..],
        &["doctor"],
        &["status"],
        &["show", S, "--raw"],
        &["forget", "--yes", "--match", "Question 3"],
    ] {
        let ran = ended(&world, command);
        assert!(ran.code < 2 && !ran.err.contains(".key") && !ran.err.contains("jobs/"), "{command:?}: {ran:#?}");
    }
    assert_eq!((questions(&world), world.exported().len()), (numbered(0..2), 1));
}

#[test]
fn a_pipe_where_a_known_transcript_was_holds_nobody_up() {
    let world = World::new();
    // Time enough for whoever does not wait.
    world.configure("[hooks]\ndeadline_ms = 5000\n");
    let file = world.transcript(&format!("-p/{S}.jsonl"), conversation(S, 3));
    world.digest(&["--ingest-only"]);
    fs::remove_file(&file).unwrap();
    mkfifo(&file);
    let raw = ended(&world, &["show", S, "--raw"]);
    assert!(raw.code == 2 && raw.err.contains("not a regular file"), "{raw:#?}");
    for command in [&["digest"][..], &["show", S], &["doctor"], &["context"]] {
        assert!(!ended(&world, command).err.contains("panicked"), "{command:?}");
    }
    for event in ["session-start", "user-prompt-submit", "session-end", "pre-compact"] {
        for source in ["startup", "resume", "compact"] {
            let name = match event {
                "session-start" => "SessionStart",
                "user-prompt-submit" => "UserPromptSubmit",
                "session-end" => "SessionEnd",
                _ => "PreCompact",
            };
            let payload = serde_json::json!({"hook_event_name": name, "session_id": S, "transcript_path": file, "cwd": "/home/dev/src/shop",
                "source": source, "prompt": "continue where we left off", "reason": "other"});
            let mut command = world.process();
            command.args(["hook", event]);
            let ran = timeout::ended(command, &payload.to_string(), event);
            assert_eq!(ran.code, 0, "{event} {source}: {ran:#?}");
            assert!(ran.out.is_empty() || serde_json::from_str::<serde_json::Value>(&ran.out).is_ok(), "{event}: {ran:#?}");
        }
    }
    let log = fs::read_to_string(world.data_dir().join("hooks.log")).unwrap_or_default();
    assert!(!log.contains("given up"), "a hook waited for the pipe: {log}");
}

#[test]
fn a_link_to_everything_is_no_reason_to_walk_it() {
    let world = World::new();
    world.transcript(&format!("-p/{S}.jsonl"), conversation(S, 3));
    let projects = world.claude_dir().join("projects");
    // What is walked would be told: a tree in which nothing can be read.
    let tree = world.root().join("tree");
    let deep = tree.join("a/b/c");
    fs::create_dir_all(&deep).unwrap();
    symlink("itself", deep.join("itself")).unwrap();
    symlink("/proc", deep.join("proc")).unwrap();
    symlink(&tree, projects.join("tree")).unwrap();
    symlink(&tree, projects.join("-p").join("tree")).unwrap();
    symlink("/", projects.join("root")).unwrap();
    let ran = ended(&world, &["digest", "--ingest-only"]);
    assert!(!ran.err.contains("itself") && !ran.err.contains("/proc/"), "{ran:#?}");
    assert_eq!(questions(&world), numbered(0..3));
}

#[test]
fn subagents_lie_as_deep_as_they_like() {
    let world = World::new();
    let row = conversation(S, 2).replace("\"type\"", "\"isSidechain\":true,\"type\"");
    world.transcript(&format!("-p/{S}.jsonl"), conversation(S, 3));
    world.transcript(&format!("-p/{S}/subagents/a/b/c/d/e/agent-7.jsonl"), row.replace("-u", "-x").replace("-a0", "-y0"));
    world.transcript(&format!("-p/{S}/tool-results/agent-8.jsonl"), "no row\n");
    let report = world.digest(&["--ingest-only"]);
    assert_eq!((&report["files_read"], &report["rows_bad"]), (&2.into(), &0.into()), "{report}");
    assert_eq!(world.count("SELECT count(*) FROM source WHERE agent = '7'"), 1);
}

#[test]
fn a_name_that_is_no_text_is_a_name() {
    let world = World::new();
    let dir = world.claude_dir().join("projects").join(OsStr::from_bytes(b"-caf\xe9"));
    fs::create_dir_all(&dir).unwrap();
    let file = dir.join(OsStr::from_bytes(b"\xff\xfe.jsonl"));
    fs::write(&file, format!("{}no row\n", conversation(S, 3))).unwrap();
    let ran = world.recall(["digest", "--ingest-only"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert_eq!(questions(&world), numbered(0..3));
    let again = world.recall(["digest", "--ingest-only"]);
    assert_eq!((again.code, again.err.as_str()), (0, ""), "a second run says nothing new: {again:#?}");
    assert_eq!(world.status()["bad_lines"], 1);
}

#[test]
fn names_that_differ_in_what_is_no_text_are_two() {
    let world = World::new();
    let dir = world.claude_dir().join("projects/-p");
    fs::create_dir_all(&dir).unwrap();
    for (n, name) in [b"\xff.jsonl", b"\xfe.jsonl"].iter().enumerate() {
        let id = format!("{n:08}-cccc-4ccc-8ccc-000000000000");
        fs::write(dir.join(OsStr::from_bytes(*name)), conversation(&id, n + 1)).unwrap();
    }
    assert_eq!(world.digest(&["--ingest-only"])["files_read"], 2);
    let offsets = "SELECT sum(moved) + sum(items) FROM bundle";
    let stored = (world.count("SELECT count(*) FROM file"), world.count(offsets));
    for _ in 0..3 {
        let again = world.digest(&["--ingest-only"]);
        assert_eq!((&again["files_read"], &again["bytes_read"]), (&0.into(), &0.into()), "{again}");
    }
    assert_eq!((2, world.count(offsets)), stored);
    assert_eq!(world.exported().len(), 2);
}

#[test]
fn a_name_of_many_bytes_or_with_signs_in_it_is_a_name() {
    let world = World::new();
    for (n, name) in ["a\nb", "a\u{1b}[31mb", "--help", "-", "..x", "a'b\"c`d", "a%sb", &"x".repeat(240)].iter().enumerate() {
        let id = format!("{n:08}-cccc-4ccc-8ccc-000000000000");
        world.transcript(&format!("{name}/{name}.jsonl"), conversation(&id, 1) + "no row\n");
    }
    let ran = world.recall(["digest", "--summarizer", "extract"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert_eq!(world.exported().len(), 8);
    assert!(ran.err.lines().all(|line| line.starts_with("recall: ")), "no name starts a line of its own: {ran:#?}");
    assert_eq!(world.recall(["digest"]).code, 0);
}

#[test]
fn a_file_that_may_not_be_read_is_told_and_read_once_it_may() {
    let world = World::new();
    let file = world.transcript(&format!("-p/{S}.jsonl"), conversation(S, 3));
    let other = "0000aaaa-1111-4111-8111-000000000000";
    let closed = world.transcript(&format!("-q/{other}.jsonl"), conversation(other, 2));
    let plain = Plain::new(&world);
    let run = || plain.run(&["digest", "--ingest-only"]);
    permit(&closed, 0o000);
    for _ in 0..2 {
        let ran = run();
        assert!(ran.code == 1 && ran.err.contains("0000aaaa") && ran.err.contains("denied"), "{ran:#?}");
    }
    assert_eq!(questions(&world), numbered(0..3));
    permit(file.parent().unwrap(), 0o000);
    let ran = run();
    assert!(ran.code == 1 && ran.err.contains("denied"), "{ran:#?}");
    permit(file.parent().unwrap(), 0o755);
    permit(&closed, 0o600);
    assert_eq!(run().code, 0);
    assert_eq!(world.exported().len(), 2);
}
