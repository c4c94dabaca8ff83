//! What takes a machine of one's own to show: a full disk, and a home that only the list of users knows. Root and `unshare` make one
//! that ends with the test; what is mounted in it is seen by nobody else.

use std::fs;
use std::time::Instant;

use crate::hooks::payloads::{S, context_in, ends, patient, starts};
use crate::support::{Ran, World, files_below};

/// Runs a script as root of a mount namespace of its own.
fn in_own_mounts(world: &World, script: &str) -> Ran {
    assert!(
        std::env::var_os("RECALL_TEST_SYSTEM").is_some(),
        "set RECALL_TEST_SYSTEM=1 where this may run as root: it mounts file systems in a namespace of its own"
    );
    fs::write(world.root().join("script"), script).unwrap();
    let ran = world.shell("PATH=/usr/sbin:/usr/bin:/sbin:/bin exec unshare --mount /bin/sh -eu script");
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran
}

/// In a script: mounts a small file system as the data folder, and fills what is left of one.
const SMALL: &str = r#"
small() { mkdir -p -m 700 "$RECALL_DATA_DIR"; mount -t tmpfs -o "size=$1,mode=700" none "$RECALL_DATA_DIR"; }
fill() { cat /dev/zero > "$RECALL_DATA_DIR/full" 2>/dev/null || true; }
hook() { code=0; "$RECALL" hook "$1" < "$1" || code=$?; echo "code $code"; }
list() { (cd "$RECALL_DATA_DIR" && find . -type f | sort); }
"#;

#[test]
#[ignore = "needs root and mount: set RECALL_TEST_SYSTEM=1"]
fn a_full_disk_costs_a_mark_and_nothing_else() {
    let world = World::new();
    fs::write(world.root().join("session-end"), ends(&world, S, "other").to_string()).unwrap();
    let script = format!(
        "{SMALL}
        small 64k; fill; hook session-end; echo then; list
        rm \"$RECALL_DATA_DIR/full\"; hook session-end; echo freed; list; cat \"$RECALL_DATA_DIR\"/marks/new/*"
    );
    let started = Instant::now();
    let ran = in_own_mounts(&world, &script);
    assert!(started.elapsed().as_secs() < 5 && ran.err.is_empty(), "{ran:#?}");
    let (full, freed) = ran.out.split_once("freed\n").expect("both parts");
    // The log's own line may be lost with the mark; a torn mark may not be there.
    assert!(full.starts_with("code 0\nthen\n") && full.ends_with("code 0\n"), "{ran:#?}");
    assert!(!full.contains("marks/new/") && !full.contains("marks/tmp/"), "{ran:#?}");
    assert_eq!(freed.matches("./marks/new/").count(), 1, "{ran:#?}");
    let mark: serde_json::Value = serde_json::from_str(freed.lines().last().expect("the mark")).expect("a whole mark");
    assert_eq!(mark["session"], S);
    assert_eq!(files_below(&world.data_dir()).len(), 0, "all of it was in the namespace");
}

#[test]
#[ignore = "needs root and mount: set RECALL_TEST_SYSTEM=1"]
fn a_session_starts_on_a_full_disk() {
    let world = World::with_fixtures(&["plain"]);
    patient(&world);
    fs::write(world.root().join("session-start"), starts(&world, S, "startup").to_string()).unwrap();
    let script = format!(
        "{SMALL}
        small 40m; \"$RECALL\" digest --summarizer extract > /dev/null; fill
        hook session-start; rm \"$RECALL_DATA_DIR/full\"; echo freed; hook session-start"
    );
    let started = Instant::now();
    let ran = in_own_mounts(&world, &script);
    assert!(started.elapsed().as_secs() < 10 && ran.err.is_empty(), "{ran:#?}");
    let (full, freed) = ran.out.split_once("freed\n").expect("both parts");
    let answer = full.strip_suffix("code 0\n").expect("exit code 0");
    assert!(answer.is_empty() || context_in(answer).contains("keyset"), "{ran:#?}");
    let later = freed.strip_suffix("code 0\n").expect("exit code 0");
    // Once: the start that was answered on the full disk is not answered again.
    assert_ne!(answer.is_empty(), later.is_empty(), "{ran:#?}");
}

#[test]
#[ignore = "needs root and mount: set RECALL_TEST_SYSTEM=1"]
fn without_a_home_the_list_of_users_is_not_asked_for_one() {
    let world = World::new();
    for event in ["session-end", "session-start"] {
        fs::write(world.root().join(event), ends(&world, S, "other").to_string()).unwrap();
    }
    // The home of this very user, as an empty file system that nobody else sees.
    let script = format!(
        "{SMALL}
        home=$(getent passwd \"$(id -u)\" | cut -d: -f6); cp \"$RECALL\" recall; RECALL=$PWD/recall
        mount -t tmpfs none \"$home\"; unset HOME RECALL_DATA_DIR
        hook session-end; hook session-start; hook nonsense; (cd \"$home\" && find . -mindepth 1)"
    );
    fs::write(world.root().join("nonsense"), "").unwrap();
    let ran = in_own_mounts(&world, &script);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("code 0\ncode 0\ncode 0\n", ""), "{ran:#?}");
}
