//! A digest when a session has ended, for machines without a timer: only where the user asked for it, and nothing waits for it.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::hooks::payloads::{S, configure, log, payload, write_talk};
use crate::support::World;

/// How long another process may take on a busy machine. No measure of speed.
const PATIENCE: Duration = Duration::from_secs(120);

/// The session ends; the run that this may start does not wait until the session is settled.
fn ends(world: &World) {
    let payload = payload(world, "SessionEnd", S, json!({"reason": "prompt_input_exit"})).to_string();
    let mut command = world.command();
    let ran =
        command.args(["hook", "session-end"]).env("RECALL_PATIENCE_MS", "500").write_stdin(payload).output().expect("it runs");
    assert_eq!((ran.status.code(), ran.stdout.len(), ran.stderr.len(), log(world).len()), (Some(0), 0, 0, 0), "{ran:#?}");
}

#[test]
fn it_is_digested_where_that_was_asked_for() {
    let (asked, not_asked) = (World::new(), World::new());
    configure(&asked, "digest_at_end = true\n");
    for world in [&asked, &not_asked] {
        write_talk(world, S, "2026-11-21T11:00:00Z", "Why does the kettle whistle?", "The valve is worn.");
        ends(world);
    }
    let started = Instant::now();
    while !asked.recall(["list"]).out.contains("kettle") || asked.recall(["list"]).out.contains("waiting") {
        assert!(started.elapsed() < PATIENCE, "it is never digested: {}", asked.recall(["status"]).out);
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!not_asked.data_dir().join("recall.db").exists(), "a mark and nothing else");
    let told = asked.recall(["doctor"]).out;
    assert!(told.contains("none: a digest runs when a session has ended"), "{told}");
}
