//! Damage that the form of the file does not show: values that are none. What stops a digest the doctor finds and mends.

use std::fs;

use crate::damage::scene::{GONE, ONLY_HERE, Scene, all_but, id, living};

/// A change of the index behind the program's back.
fn change(scene: &Scene, sql: &str) {
    let db = rusqlite::Connection::open(scene.index()).expect("the index");
    db.execute_batch(sql).expect("a change");
}

const DAMAGES: [(&str, &str); 10] = [
    ("a folder that is no text", "UPDATE source SET cwd = CAST(x'ff' AS TEXT)"),
    ("a list that is none", "UPDATE source SET branches = '[\"main'"),
    ("a digest that is a text", "UPDATE digest SET body = 'text'"),
    ("a digest of bytes without a meaning", "UPDATE digest SET body = x'0700'"),
    ("what was used, of bytes without a meaning", "UPDATE bundle SET used = x'0700'"),
    ("words that cannot be unpacked", "UPDATE bundle SET said = x'01ff00000028b52ffd00'"),
    ("a note that is no text", "UPDATE note SET text = CAST(x'ff' AS TEXT)"),
    ("a row's key that is too short", "UPDATE bundle SET rows = substr(rows, 1, 12) WHERE pk = (SELECT min(pk) FROM bundle)"),
    ("fewer words than rows", "UPDATE bundle SET said = x'005b5d' WHERE pk = (SELECT min(pk) FROM bundle)"),
    ("no table of what repeats what", "DROP TABLE likeness"),
];

#[test]
fn what_stops_a_digest_is_found_and_mended_by_the_doctor() {
    let scene = Scene::new();
    for (what, sql) in DAMAGES {
        scene.restore();
        change(&scene, sql);
        let found = scene.world.findings("index", &[]);
        assert!(
            found[0].starts_with("problem: ") && found[0].contains("is damaged") | found[0].contains(", damaged: "),
            "{what}: {found:?}"
        );
        let ran = scene.run(&["doctor", "--fix"]);
        assert!(ran.code < 2 && ran.out.contains("restored    the copy of "), "{what}: {ran:#?}");
        scene.is_well();
        let (sessions, _) = scene.holds();
        assert!(sessions.is_superset(&living()) && sessions.contains(&id(GONE)), "{what}: {sessions:?}");
        assert_eq!(scene.run(&["digest", "--summarizer", "extract"]).code, 0, "{what}");
    }
}

#[test]
fn a_digest_that_meets_such_a_value_says_what_to_do() {
    let scene = Scene::new();
    change(&scene, "UPDATE digest SET body = 'text'; UPDATE session SET page_dirty = 1");
    let ran = scene.run(&["digest", "--summarizer", "extract"]);
    assert!(ran.code == 2 && ran.err.contains("recall.db is damaged") && ran.err.contains("`recall doctor --fix`"), "{ran:#?}");
}

/// Without a copy: what a value costs is what it stands for, not the session.
#[test]
fn a_session_whose_digest_is_damaged_keeps_its_rows() {
    let scene = Scene::new();
    fs::remove_file(scene.copy()).expect("the copy");
    change(&scene, "UPDATE digest SET body = 'text'");
    let ran = scene.run(&["doctor", "--fix"]);
    assert!(ran.code < 2, "{ran:#?}");
    assert_eq!(scene.run(&["digest", "--summarizer", "extract"]).code, 0);
    assert_eq!(scene.holds().0, all_but(&[]), "{ran:#?}");
    assert!(scene.run(&["show", &id(ONLY_HERE)]).out.contains("topic13"), "a digest was made of them anew");
}

/// A copy that a mending would not take does not replace one that it would.
#[test]
fn a_damaged_index_does_not_replace_its_copy() {
    let scene = Scene::new();
    change(&scene, "UPDATE digest SET body = x'0700' WHERE session = (SELECT max(session) FROM digest)");
    let before = fs::read(scene.copy()).expect("the copy");
    scene.run(&["remember", "--everywhere", "Deploys wait for the nightly backup"]);
    let ran = scene.world.recall_with(["digest", "--summarizer", "extract"], &[("RECALL_NOW", "2026-11-25T12:00:00Z")]);
    assert!(ran.code == 1 && ran.err.contains("is damaged") && ran.err.contains("`recall doctor --fix`"), "{ran:#?}");
    assert!(fs::read(scene.copy()).expect("the copy") == before, "the good one stays");
}

/// What can be read of a damaged copy is better than nothing.
#[test]
fn what_a_damaged_copy_still_holds_comes_back() {
    let scene = Scene::new();
    let copy = rusqlite::Connection::open(scene.copy()).expect("the copy");
    copy.execute_batch("UPDATE digest SET body = x'0700' WHERE session = (SELECT max(session) FROM digest)").expect("a change");
    drop(copy);
    fs::write(scene.index(), "no database\n").expect("damage");
    let ran = scene.run(&["doctor", "--fix"]);
    assert!(ran.code < 2 && ran.out.contains("is damaged as well"), "{ran:#?}");
    scene.is_well();
    let (sessions, notes) = scene.holds();
    assert!(sessions.contains(&id(GONE)) && notes.contains(crate::damage::scene::EARLY_NOTE), "{sessions:?} {notes:?}: {ran:#?}");
    assert!(!sessions.contains(&id(crate::damage::scene::FORGOTTEN)), "what was forgotten is still known");
}
