//! OpenCode: what its client was told to do by a script, what it wrote down, and what is read of that. See `fixtures/README.md`.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use serde_json::Value;

use super::recorded::{Counts, Recorded};
use crate::support::{World, files_below};

pub const OPENCODE: Recorded = Recorded { agent: "opencode", fixtures: "opencode", home: ".local/share/opencode" };
pub const VERSION: &str = "1.18.33";

/// The id of the session that was begun last, as a query.
const LAST_SESSION: &str = "(SELECT id FROM session ORDER BY time_created DESC LIMIT 1)";

fn database(world: &World) -> PathBuf {
    OPENCODE.home_in(world).join("opencode.db")
}

/// Has the client's database changed.
fn change(world: &World, sql: &str) {
    Connection::open(database(world)).expect("the database").execute_batch(sql).expect("a change");
}

/// Has the user send another prompt in the last session.
fn send(world: &World, text: &str) {
    let later = "1795011700000";
    let message = format!("{{\"role\":\"user\",\"time\":{{\"created\":{later}}}}}");
    change(
        world,
        &format!(
            "INSERT INTO message VALUES ('msg_z', {LAST_SESSION}, {later}, {later}, '{message}');
             INSERT INTO part VALUES ('prt_z', 'msg_z', {LAST_SESSION}, {later}, {later}, '{{\"type\":\"text\",\"text\":\"{text}\"}}');
             UPDATE session SET time_updated = {later} WHERE id = {LAST_SESSION};"
        ),
    );
}

#[test]
fn what_was_done_is_what_is_read() {
    let world = OPENCODE.world(VERSION);
    let report = world.digest(&[]);
    assert_eq!((&report["rows_bad"], &report["rows_unknown"]), (&Value::from(0), &Value::from(0)), "{report}");
    // The fork has the first session's rows, and a prompt and a reply of its own.
    let files = ["larder/parse.py", "tests/test_parse.py"].map(|name| format!("/home/dev/src/larder/{name}"));
    let (first, fork, delegated, again) = ((2, 4, 4, 1), (1, 1, 1, 0), (1, 3, 1, 0), (2, 4, 2, 0));
    let sum = |of: fn((usize, usize, usize, usize)) -> usize| of(first) + of(fork) + of(delegated) + of(again);
    let expected = Counts {
        sessions: 5,
        // Of what is said about the key the reply alone is kept, and neither the prompt nor the command, which are mostly a key.
        prompts: sum(|(prompts, ..)| prompts),
        replies: sum(|(_, replies, ..)| replies) + 1,
        commands: sum(|(_, _, commands, _)| commands),
        failed: sum(|(.., failed)| failed),
        files: files.into(),
        commits: 1,
        subagents: 1,
        recaps: 1,
        forks: 1,
        interrupted: 0,
    };
    assert_eq!(OPENCODE.counts(&world), expected);
    // What the stand-in counted for the turns, the helper, the compaction and the answer behind it, without the private session: 1,380 and 78.
    let stats: Value = serde_json::from_str(&world.recall(["stats", "--json", "--since", "2026-11-01"]).out).expect("JSON");
    let total = &stats["total"];
    assert_eq!((&total["input"], &total["cache_read"], &total["output"]), (&986_200.into(), &5000.into(), &8744.into()), "{stats}");
}

#[test]
fn nothing_that_is_secret_or_private_is_kept() {
    OPENCODE.keeps_no_secret(VERSION);
}

#[test]
fn only_what_changed_is_read_again_and_what_is_gone_is_kept() {
    let world = OPENCODE.world(VERSION);
    assert_eq!(world.digest(&[])["files_read"], 7);
    assert_eq!(world.digest(&[])["files_read"], 0);
    send(&world, "Add pounds, too");
    let report = world.digest(&[]);
    assert_eq!((&report["files_read"], &report["rows_new"]), (&1.into(), &1.into()), "{report}");
    assert!(world.recall(["search", "pounds"]).out.contains("Add pounds, too"));
    let before = OPENCODE.counts(&world);
    change(&world, "DELETE FROM session WHERE id LIKE 'ses_de29faad%'; DELETE FROM part WHERE session_id LIKE 'ses_de29faad%';");
    world.digest(&[]);
    assert_eq!(OPENCODE.counts(&world), before);
}

#[test]
fn it_does_not_matter_at_which_moments_the_database_is_read() {
    let at_once = OPENCODE.world(VERSION);
    at_once.digest(&[]);
    let world = OPENCODE.world(VERSION);
    for parts in [5, 19, 33, 64, 90, 121] {
        fs::copy(database(&OPENCODE.world(VERSION)), database(&world)).expect("the database");
        change(
            &world,
            &format!(
                "DELETE FROM part WHERE rowid > {parts};
                 DELETE FROM message WHERE NOT EXISTS (SELECT 1 FROM part WHERE message_id = message.id);
                 DELETE FROM session WHERE NOT EXISTS (SELECT 1 FROM part WHERE session_id = session.id);
                 UPDATE session SET time_updated = (SELECT max(time_updated) FROM part WHERE session_id = session.id)"
            ),
        );
        world.digest(&[]);
    }
    fs::copy(database(&OPENCODE.world(VERSION)), database(&world)).expect("the database");
    world.digest(&[]);
    assert!(world.pages() == at_once.pages(), "{:#?}", world.pages());
}

/// Puts another prompt in the place of the last turn: the client deletes what was taken back once a new prompt is sent.
fn replace_last_turn(world: &World) {
    let from = "1795011622800";
    change(
        world,
        &format!(
            "DELETE FROM part WHERE message_id IN (SELECT id FROM message WHERE session_id = {LAST_SESSION} AND time_created >= {from});
             DELETE FROM message WHERE session_id = {LAST_SESSION} AND time_created >= {from};"
        ),
    );
    send(world, "Leave it at that");
}

#[test]
fn what_the_user_took_back_is_no_prompt_any_more() {
    let world = OPENCODE.world(VERSION);
    world.digest(&[]);
    assert!(world.recall(["search", "carry on with the ounces"]).out.contains("carry on"));
    replace_last_turn(&world);
    world.digest(&[]);
    let page = world.recall(["show", "last"]).out;
    assert!(page.contains("Leave it at that") && !page.contains("carry on with the ounces"), "{page}");
}

#[test]
fn a_session_keeps_its_title_though_the_turn_before_it_is_gone() {
    let world = OPENCODE.world(VERSION);
    change(&world, &format!("UPDATE session SET title = 'Ounces and pounds' WHERE id = {LAST_SESSION}"));
    world.digest(&[]);
    replace_last_turn(&world);
    world.digest(&[]);
    let page = world.recall(["show", "last"]).out;
    assert!(page.starts_with("# Ounces and pounds") && page.contains("Leave it at that"), "{page}");
}

/// Has the user go back to before the last prompt of the last session, or forward again.
fn undo(world: &World, is_undone: bool) {
    let last = format!(
        "(SELECT id FROM message WHERE session_id = {LAST_SESSION} AND json_extract(data, '$.role') = 'user' ORDER BY time_created DESC LIMIT 1)"
    );
    let revert = if is_undone { format!("json_object('messageID', {last}, 'snapshot', 'abc')") } else { "NULL".to_owned() };
    change(world, &format!("UPDATE session SET revert = {revert}, time_updated = time_updated + 1000 WHERE id = {LAST_SESSION}"));
}

#[test]
fn what_the_user_took_back_last_is_undone_until_it_is_redone() {
    let fresh = OPENCODE.world(VERSION);
    undo(&fresh, true);
    fresh.digest(&[]);
    let undone = fresh.recall(["show", "last"]).out;
    assert!(undone.contains("turn 1 of 1") && !undone.contains("carry on with the ounces"), "{undone}");
    let world = OPENCODE.world(VERSION);
    world.digest(&[]);
    let before = world.recall(["show", "last"]).out;
    assert!(before.contains("carry on with the ounces"), "{before}");
    undo(&world, true);
    world.digest(&[]);
    assert_eq!(world.recall(["show", "last"]).out, undone);
    assert!(!world.recall(["show", "last", "--raw"]).out.contains("carry on with the ounces"));
    world.digest(&[]);
    assert_eq!(world.recall(["show", "last"]).out, undone);
    undo(&world, false);
    world.digest(&[]);
    assert_eq!(world.recall(["show", "last"]).out, before);
}

#[test]
fn the_database_of_a_running_client_is_read_and_nothing_is_left_beside_it() {
    let world = OPENCODE.world(VERSION);
    let before = files_below(&OPENCODE.home_in(&world));
    world.digest(&[]);
    assert_eq!(files_below(&OPENCODE.home_in(&world)), before);
    // What is in its log only.
    let client = Connection::open(database(&world)).expect("the database");
    client.pragma_update(None, "wal_autocheckpoint", 0).expect("a setting");
    client
        .execute_batch("UPDATE session SET title = 'Ounces and pounds', time_updated = 1795011700000 WHERE id LIKE 'ses_de29f25b%'")
        .expect("a title");
    let open = files_below(&OPENCODE.home_in(&world));
    assert_ne!(open, before);
    world.digest(&[]);
    assert!(world.recall(["list"]).out.contains("Ounces and pounds"), "{}", world.recall(["list"]).out);
    assert_eq!(files_below(&OPENCODE.home_in(&world)), open);
}

#[test]
fn a_database_that_cannot_be_read_is_named_and_the_others_are_digested() {
    let world = OPENCODE.world(VERSION);
    let beside = OPENCODE.home_in(&world).join("opencode-beta.db");
    fs::write(&beside, "SQLite format 3\0 and no more").expect("a file");
    let ran = world.recall(["digest"]);
    assert!(ran.code == 1 && ran.err.contains("opencode-beta.db"), "{ran:#?}");
    assert!(ran.out.contains("new sessions: 5 of OpenCode"), "{ran:#?}");
}

#[test]
fn a_session_is_named_by_the_end_of_its_id_and_continued_by_opencode() {
    let world = OPENCODE.world(VERSION);
    world.digest(&[]);
    let listed = world.recall(["list"]).out;
    assert!(listed.contains("  aueECGmM  larder  "), "{listed}");
    let shown = world.recall(["show", "aueECGmM", "--full"]).out;
    assert!(shown.contains("cd /home/dev/src/larder && opencode --session ses_de29f25bfffeBfj0fjaueECGmM"), "{shown}");
    let ran = world.recall(["resume", "aueECGmM", "--print"]);
    assert!(ran.code == 2 && ran.err.contains("began in /home/dev/src/larder, which is gone"), "{ran:#?}");
    let raw = world.recall(["show", "aueECGmM", "--raw"]).out;
    let first: Value = serde_json::from_str(raw.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["message"]["role"], "user");
}
