//! Who reads the index holds a lock on it, by which others know that they are not the last: nothing that this process does beside its
//! connection gives that up.

use std::fs::OpenOptions;
use std::path::Path;
use std::process::Command;

use recall::testing::store::{WholeIndex, Writer, is_there};
use rustix::fs::{FlockOperation, fcntl_lock};

use crate::crowd::scene::begun;

type Look = fn(&Path);

/// Names the index to the process that stands beside.
const BESIDE: &str = "RECALL_HELD_INDEX";

/// Is it locked, as another process sees it? A process never sees its own locks.
fn is_held(index: &Path) -> bool {
    let mut beside = Command::new(std::env::current_exe().expect("this test"));
    let ran = beside
        .args(["--exact", "crowd::locks::looks_beside", "--ignored", "--nocapture"])
        .env(BESIDE, index)
        .output()
        .expect("a process");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && (said.contains("it is held") != said.contains("it is free")), "{ran:?}");
    said.contains("it is held")
}

#[test]
fn looking_at_the_index_lets_go_of_no_connection_to_it() {
    let world = begun(1);
    let index = world.data_dir().join("recall.db");
    let looks: [(&str, Look); 3] = [
        ("is there one", |index| assert!(is_there(index).expect("an index"))),
        ("another reader", |index| drop(WholeIndex::open_if_there(index).expect("an index"))),
        ("a writer", |index| drop(Writer::open(index).expect("an index"))),
    ];
    for (what, look) in looks {
        assert!(!is_held(&index), "before {what}");
        let held = WholeIndex::open_if_there(&index).expect("an index").expect("it is there");
        assert!(is_held(&index), "before {what}");
        look(&index);
        assert!(is_held(&index), "after {what}");
        drop(held);
    }
}

#[test]
#[ignore = "the process beside the test above, which starts it"]
fn looks_beside() {
    let Some(index) = std::env::var_os(BESIDE) else { return };
    let file = OpenOptions::new().read(true).write(true).open(index).expect("an index");
    let held = fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).is_err();
    println!("it is {}", if held { "held" } else { "free" });
}
