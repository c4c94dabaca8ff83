//! Another program that holds the index: everybody hears what is going on, in words of ours.

use serde_json::json;

use crate::damage::scene::{Scene, id};
use crate::support::fed;
use crate::support::mcp_client::Peer;
use crate::support::timeout::ended;

/// Long enough for the commands that only wait for each other; nobody is to wait for the program that holds the lock.
const PATIENCE: (&str, &str) = ("RECALL_PATIENCE_MS", "300");

/// All of them wait at the same time.
#[test]
fn nobody_reads_that_a_database_is_locked() {
    let scene = Scene::new();
    let held = rusqlite::Connection::open(scene.index()).expect("the index");
    held.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE fact SET value = value;").expect("the lock");
    let gone = id(1);
    let commands: [&[&str]; 12] = [
        &["digest", "--summarizer", "extract"],
        &["status"],
        &["search", "importer"],
        &["show", &gone],
        &["timeline", &gone],
        &["context", "--cwd", "/home/dev/src/shop"],
        &["forget", "--yes", "--session", &gone],
        &["remember", "--everywhere", "Tabs are never used in this project"],
        &["close", "i1234567"],
        &["export"],
        &["doctor"],
        &["doctor", "--fix"],
    ];
    std::thread::scope(|scope| {
        for command in commands {
            let scene = &scene;
            scope.spawn(move || {
                let mut process = scene.world.process();
                process.args(command).envs([PATIENCE]);
                let ran = ended(process, "", &format!("{command:?}"));
                let text = format!("{}{}", ran.out, ran.err);
                assert!(!text.contains("database is locked") && !text.contains("panicked"), "{command:?}: {text}");
                // Two at once that want to write: one of them finds the other at work.
                let told = text.contains("is locked by another process") || text.contains("run is under way");
                assert!(told, "{command:?}: {ran:#?}");
                assert!(
                    ran.code == if command[0] == "doctor" { 1 } else { 2 } || text.contains("run is under way"),
                    "{command:?}: {ran:#?}"
                );
            });
        }
        scope.spawn(|| {
            let mut peer = Peer::start_with(&scene.world, scene.world.root(), &[PATIENCE]);
            peer.initialize(json!({}));
            let why = peer.fail("search", json!({"query": "importer"}));
            assert!(why.contains("is locked by another process"), "{why}");
            let why = peer.fail("remember", json!({"text": "Tabs are never used in this project"}));
            assert!(why.contains("is locked by another process"), "{why}");
            assert!(peer.leave().err.is_empty());
        });
        scope.spawn(|| {
            let mut hook = scene.world.process();
            hook.args(["hook", "session-start"]).envs([PATIENCE]);
            let payload = json!({"session_id": id(40), "transcript_path": scene.world.claude_dir().join(format!("projects/-home-dev-src-shop/{}.jsonl", id(40))), "cwd": "/home/dev/src/shop",
                "hook_event_name": "SessionStart", "permission_mode": "default", "source": "startup"});
            let ran = fed(hook, payload.to_string().as_bytes());
            assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
        });
    });
    let log = std::fs::read_to_string(scene.world.data_dir().join("hooks.log")).unwrap_or_default();
    assert!(!log.contains("database is locked") && log.contains("is locked by another process"), "{log}");
    held.execute_batch("ROLLBACK").expect("the lock is given back");
    drop(held);
    assert_eq!(scene.run(&["remember", "--everywhere", "Tabs are never used in this project"]).code, 0, "and then all is well");
}
