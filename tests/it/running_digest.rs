//! How far a digest is, as others see it while it runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::support::stand_in::{COST, StandIn, eventually, form, report};
use crate::support::web_client::WebServer;

/// Two sessions are ingested, and the model answers of one; with the other answer it waits until it is let go.
fn slow() -> StandIn {
    let wait = "[ \"$n\" = 1 ] || until [ -e \"$here/go\" ] || [ ! -d \"$here\" ]; do sleep 0.05; done; cat \"$here/good\"";
    let slow = StandIn::new(&["plain", "retry"], wait).with("good", &report(&form(), COST));
    slow.world.digest(&["--ingest-only"]);
    slow
}

/// A digest that waits for the second answer.
fn begun(slow: &StandIn) -> Child {
    let mut digest = slow.world.process();
    digest.arg("digest").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let digest = digest.spawn().expect("a digest");
    eventually("the digest is seen", || slow.status()["running"]["done"] == 1);
    digest
}

fn let_go(slow: &StandIn, digest: &mut Child) {
    slow.put("go", "");
    assert_eq!(digest.wait().expect("an end").code(), Some(0));
}

const WORDS: &str = "a digest is running: digesting, 1 of 2";

#[test]
fn a_digest_under_way_is_seen_by_others() {
    let slow = slow();
    let world = &slow.world;
    let file = world.data_dir().join("progress.json");
    let server = WebServer::entered(world, world.root());
    let mut events = server.events().map(|event| serde_json::from_str::<Value>(&event).expect("JSON"));
    assert_eq!(events.next().expect("an event").get("running"), None);
    for page in ["", "status.html"] {
        assert!(server.get(page).body.contains("<p class=\"hint\" id=\"running\" hidden></p>"), "{page}");
    }

    let mut digest = begun(&slow);
    let seen = slow.status()["running"].clone();
    let since = seen["since"].clone();
    assert!(since.is_i64(), "{seen}");
    assert_eq!(seen, json!({"since": since, "phase": "digesting", "done": 1, "total": 2}));
    // Of what the run reads, the file holds nothing.
    assert_eq!(serde_json::from_slice::<Value>(&fs::read(&file).expect("a file")).expect("JSON"), seen);
    assert_eq!(file.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
    let told = slow.recall(&["status"]).out;
    assert!(told.lines().any(|line| line.starts_with("now         ") && line.contains(WORDS)), "{told}");
    for page in ["", "status.html"] {
        let shown = server.get(page).body;
        assert!(shown.contains(&format!("<p class=\"hint\" id=\"running\">{WORDS}</p>")), "{page}: {shown}");
    }
    assert!(server.get("api/v1/status").body.contains("\"phase\":\"digesting\""));
    assert!(events.any(|event| event["running"] == WORDS));

    let_go(&slow, &mut digest);
    assert!(events.any(|event| event.get("running").is_none() && event["digests"] == 2));
    assert!(!file.exists());
    assert_eq!(slow.status().get("running"), None);
    assert!(!slow.recall(&["status"]).out.contains("a digest is running"));
}

#[test]
fn what_a_killed_digest_leaves_is_of_no_run() {
    let slow = slow();
    let world = &slow.world;
    let file = world.data_dir().join("progress.json");
    let mut digest = begun(&slow);
    digest.kill().and_then(|()| digest.wait()).expect("an end");
    assert!(file.exists());
    // The client that it asked still waits, and somebody else holds the run lock.
    let lock = fs::File::options().write(true).open(world.data_dir().join("lock")).expect("the lock");
    let mut lock = fd_lock::RwLock::new(lock);
    let held = lock.write().expect("the lock");
    assert_eq!(slow.status().get("running"), None);
    assert!(!slow.recall(&["status"]).out.contains("a digest is running"));
    drop(held);
    slow.put("go", "");
    assert_eq!(slow.recall(&["digest", "--ingest-only"]).code, 0);
    assert!(!file.exists(), "the next run clears up");
}

#[test]
fn a_purge_takes_what_a_killed_digest_left() {
    let slow = slow();
    let world = &slow.world;
    let mut digest = begun(&slow);
    digest.kill().and_then(|()| digest.wait()).expect("an end");
    slow.put("go", "");
    let ran = slow.recall(&["uninstall", "--purge", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!world.data_dir().exists());
}
