//! A timer that fires while a digest runs.

use std::fs;
use std::time::Duration;

use crate::support::World;

#[test]
fn a_digest_that_is_started_during_another_does_nothing_and_no_harm() {
    let world = World::with_fixtures(&["plain", "retry"]);
    // A model that answers when it is told to, so that the first run is surely under way.
    let root = world.root().display().to_string();
    world.fake_claude(&format!(
        "#!/bin/sh\ncat >/dev/null\n: >'{root}/asked'\nwhile [ ! -e '{root}/answer' ]; do sleep 0.05; done\necho 'no model today' >&2\nexit 1\n"
    ));
    let first = world.process().args(["digest", "--summarizer", "claude", "--max-cost", "9"]).spawn().expect("recall starts");
    while !world.root().join("asked").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    for _ in 0..3 {
        let second = world.recall(["digest", "--json"]);
        assert!(second.code == 0 && second.err.contains("another run is under way"), "{second:#?}");
        assert!(second.out.contains("\"rows_new\":0"), "{second:#?}");
    }
    fs::write(world.root().join("answer"), "").unwrap();
    let status = first.wait_with_output().expect("it ends").status;
    assert!(status.code().is_some_and(|code| code < 2), "{status:?}");

    let alone = World::with_fixtures(&["plain", "retry"]);
    alone.digest(&["--summarizer", "extract"]);
    for what in ["session", "digest", "bundle", "file", "doc"] {
        let rows = |world: &World| world.count(&format!("SELECT count(*) FROM {what}"));
        assert_eq!(rows(&world), rows(&alone), "{what}");
    }
    let items = |world: &World| world.count("SELECT sum(items) FROM bundle");
    assert_eq!(items(&world), items(&alone));
    assert_eq!(world.database().query_row("PRAGMA integrity_check", [], |r| r.get::<_, String>(0)).unwrap(), "ok");
}
