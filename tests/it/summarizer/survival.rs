//! A reply is paid for once: it is on disk before anything is made of it, and a run that died there is not repeated.

use std::fs;

use serde_json::json;

use crate::summarizer::failures::has_the_models_digest;
use crate::support::files_below;
use crate::support::stand_in::{COST, PLAIN, StandIn, eventually, form, refused, report};

#[test]
fn a_reply_that_was_on_disk_when_the_run_was_killed_is_not_paid_for_again() {
    let stand_in = StandIn::good(&["plain"]);
    // The client answers when it is told to: by then the database is locked, so that nothing can come of the reply.
    stand_in.now_does("until [ -e \"$here/go\" ]; do sleep 0.05; done; cat \"$here/good\"");
    let mut run = stand_in.world.process().arg("digest").spawn().expect("recall starts");
    eventually("the client was called", || !stand_in.calls().is_empty());
    let database = rusqlite::Connection::open(stand_in.world.data_dir().join("recall.db")).expect("the database");
    database.busy_timeout(std::time::Duration::from_secs(10)).expect("a time limit");
    database.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    stand_in.put("go", "");
    let replies = stand_in.world.data_dir().join("replies");
    let kept = || files_below(&replies).into_iter().find(|f| f.extension().is_some_and(|e| e == "json"));
    eventually("the reply is on disk", || kept().is_some());
    run.kill().expect("kill -9");
    run.wait().expect("it is gone");
    database.execute_batch("ROLLBACK").expect("the lock is gone");
    drop(database);
    assert_eq!(stand_in.world.count("SELECT count(*) FROM digest"), 0, "the kill came before the digest");
    let text = fs::read_to_string(kept().expect("the reply")).expect("the reply's text");
    assert!(text.contains("Orders go missing"), "{text}");

    stand_in.now_does("exit 1");
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    stand_in.only_call();
    has_the_models_digest(&stand_in);
    assert_eq!(stand_in.status()["spent_usd"], json!(COST), "paid for once");
    assert!(kept().is_none(), "the reply has done its work");
}

#[test]
fn no_reply_is_left_behind_after_a_run_but_one_that_was_paid_for_and_not_understood() {
    let free = refused("Not logged in · Please run /login", None);
    for (what, stand_in, count) in [
        ("good", StandIn::good(&["plain"]), 0),
        ("free", StandIn::says(&["plain"], &free), 0),
        ("not understood", StandIn::says(&["plain"], "nonsense"), 1),
    ] {
        stand_in.recall(&["digest"]);
        let left = files_below(&stand_in.world.data_dir().join("replies"));
        assert_eq!(left.len(), count, "{what}: {left:?}");
    }
}

/// What one version made nothing of lies there until one comes that does: here its file is given a form that is understood.
#[test]
fn a_reply_that_a_later_version_understands_is_not_bought_again() {
    for (what, stored) in [
        ("by itself", report(&form(), COST)),
        ("in a list, among lines of others", format!("npm notice\n[{{\"type\":\"system\"}},{}]\n", report(&form(), COST))),
    ] {
        let stand_in = StandIn::says(&["plain"], "{{ a form of tomorrow }}");
        assert_eq!(stand_in.recall(&["digest"]).code, 1, "{what}");
        let replies = files_below(&stand_in.world.data_dir().join("replies"));
        let [reply] = &replies[..] else { panic!("{what}: {replies:?}") };
        fs::write(reply, stored).expect("a form that is understood");
        stand_in.now_does("exit 1");
        let ran = stand_in.recall(&["digest"]);
        assert_eq!(ran.code, 0, "{what}: {ran:#?}");
        stand_in.only_call();
        has_the_models_digest(&stand_in);
        assert_eq!(stand_in.status()["spent_usd"], json!(COST), "{what}: paid for once, and settled");
        assert!(files_below(&stand_in.world.data_dir().join("replies")).is_empty(), "{what}: it has done its work");
    }
}

/// There is a digest of the same question already: the reply is not taken for that one's.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "named points are built into debug builds only")]
fn a_reply_that_was_asked_for_anew_is_not_paid_for_again_either() {
    let stand_in = StandIn::good(&["plain"]);
    assert_eq!(stand_in.recall(&["digest"]).code, 0);
    let anew = ["digest", "--summarizer", "claude", "--session", PLAIN];
    for (calls, point) in [(2, "reply stored:1"), (3, "digest stored:1")] {
        stand_in.now_answers_well();
        let killed = stand_in.world.recall_with(anew, &[("RECALL_KILL_AT", point)]);
        assert_eq!((killed.code, stand_in.calls().len()), (-1, calls), "{point}: {killed:#?}");
        stand_in.now_does("exit 1");
        let next: &[&str] = if calls == 2 { &anew } else { &["digest"] };
        let ran = stand_in.recall(next);
        assert_eq!((ran.code, stand_in.calls().len()), (0, calls), "{point}: {ran:#?}");
        let left = files_below(&stand_in.world.data_dir().join("replies"));
        assert!(left.is_empty(), "{point}: {left:?}");
        assert_eq!(stand_in.world.count("SELECT count(*) FROM fact WHERE name LIKE 'used reply:%'"), 0, "{point}");
    }
    has_the_models_digest(&stand_in);
}
