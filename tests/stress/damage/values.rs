//! Damage that the form of the file does not show: values that are none. What stops a digest the doctor finds and mends.

use std::fs;

use crate::damage::scene::{GONE, ONLY_HERE, Scene, all_but, id, living, put};
use crate::support::{World, assistant, user};

/// A change of the index behind the program's back.
fn change(scene: &Scene, sql: &str) {
    let db = rusqlite::Connection::open(scene.index()).expect("the index");
    db.execute_batch(sql).expect("a change");
}

const DAMAGES: [(&str, &str); 11] = [
    ("a folder that is no text", "UPDATE source SET cwd = CAST(x'ff' AS TEXT)"),
    ("a list that is none", "UPDATE source SET branches = '[\"main'"),
    ("a digest that is a text", "UPDATE digest SET body = 'text'"),
    ("a digest of bytes without a meaning", "UPDATE digest SET body = x'0700'"),
    ("what was used, of bytes without a meaning", "UPDATE bundle SET used = x'0700'"),
    ("words that cannot be unpacked", "UPDATE bundle SET said = x'01ff00000028b52ffd00'"),
    ("a note that is no text", "UPDATE note SET text = CAST(x'ff' AS TEXT)"),
    ("a row's key that is too short", "UPDATE bundle SET rows = substr(rows, 1, 12) WHERE pk = (SELECT min(pk) FROM bundle)"),
    ("fewer words than rows", "UPDATE bundle SET said = x'005b5d' WHERE pk = (SELECT min(pk) FROM bundle)"),
    (
        "a row of another kind than its words",
        "UPDATE bundle SET rows = CAST(substr(rows, 1, 1) || x'42' || substr(rows, 3) AS BLOB) WHERE pk = (SELECT min(pk) FROM bundle)",
    ),
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
    scene.remove_copies();
    change(&scene, "UPDATE digest SET body = 'text'");
    let ran = scene.run(&["doctor", "--fix"]);
    assert!(ran.code < 2, "{ran:#?}");
    assert_eq!(scene.run(&["digest", "--summarizer", "extract"]).code, 0);
    assert_eq!(scene.holds().0, all_but(&[]), "{ran:#?}");
    assert!(scene.run(&["show", &id(ONLY_HERE)]).out.contains("topic13"), "a digest was made of them anew");
}

/// A copy that a repair would not take does not replace one that it would. It is kept beside it: it has what came since.
#[test]
fn a_damaged_index_does_not_replace_the_copy_that_passed_the_check() {
    let scene = Scene::new();
    change(&scene, "UPDATE digest SET body = x'0700' WHERE session = (SELECT min(session) FROM digest)");
    let read = |copy: &std::path::Path| fs::read(copy).expect("the copy");
    let (daily, checked) = (read(&scene.copy()), read(&scene.checked()));
    let note = "Deploys wait for the nightly backup";
    scene.run(&["remember", "--everywhere", note]);
    for now in ["2026-11-25T12:00:00Z", "2026-11-25T13:00:00Z"] {
        let ran = scene.world.recall_with(["digest", "--summarizer", "extract"], &[("RECALL_NOW", now)]);
        let told = ran.err.contains("is damaged") && ran.err.contains("`recall doctor --fix`");
        assert!(ran.code == 1 && told, "every run says so: {ran:#?}");
    }
    assert!(read(&scene.checked()) == checked, "the good one stays");
    assert!(read(&scene.copy()) != daily && memchr::memmem::find(&read(&scene.copy()), note.as_bytes()).is_some());
    let told = scene.world.findings("copy", &[("RECALL_NOW", "2026-11-25T13:00:00Z")]);
    assert!(
        told[0].contains("made less than a minute ago")
            && told[0].contains("; the last one that passed the full check is 4 days old"),
        "{told:?}"
    );
    // Weeks later the index is gone: what the good copy lacks comes from the other.
    fs::write(scene.index(), "no database\n").expect("damage");
    let ran = scene.run(&["doctor", "--fix"]);
    assert!(ran.code < 2 && ran.out.contains("restored    the copy of 2026-11-21 13:00: "), "{ran:#?}");
    scene.is_well();
    let (sessions, notes) = scene.holds();
    assert!(sessions == all_but(&[]) && notes.contains(note), "{sessions:?} {notes:?}: {ran:#?}");
}

/// What can be read of a damaged copy is better than nothing.
#[test]
fn what_a_damaged_copy_still_holds_comes_back() {
    let scene = Scene::new();
    for copy in [scene.copy(), scene.checked()] {
        let copy = rusqlite::Connection::open(copy).expect("the copy");
        copy.execute_batch("UPDATE digest SET body = x'0700' WHERE session = (SELECT max(session) FROM digest)").expect("a change");
    }
    fs::write(scene.index(), "no database\n").expect("damage");
    let ran = scene.run(&["doctor", "--fix"]);
    assert!(ran.code < 2 && ran.out.contains("is damaged as well"), "{ran:#?}");
    scene.is_well();
    let (sessions, notes) = scene.holds();
    assert!(sessions.contains(&id(GONE)) && notes.contains(crate::damage::scene::EARLY_NOTE), "{sessions:?} {notes:?}: {ran:#?}");
    assert!(!sessions.contains(&id(crate::damage::scene::FORGOTTEN)), "what was forgotten is still known");
}

/// It is still a number, and what a session cost would be another sum.
#[test]
fn a_digit_of_what_was_used_that_became_another_is_found_and_mended() {
    let world = World::new();
    let (asked, at) = ("Why is the importer slow?", "2026-11-20T10:00:00Z");
    world.transcript("-p/one.jsonl", user(&id(1), "u1", at, asked) + &assistant(&id(1), "a1", at, "The rates are read too often."));
    world.digest(&["--summarizer", "extract"]);
    let good = world.root().join("good");
    put(&world.data_dir(), &good);
    let scene = Scene::of(world, good);
    let used = || scene.world.exported().iter().map(|one| one["usage"].clone()).collect::<Vec<_>>();
    let before = used();
    for copies in [true, false] {
        scene.restore();
        if !copies {
            scene.remove_copies();
        }
        let db = rusqlite::Connection::open(scene.index()).expect("the index");
        let mut body: Vec<u8> = db.query_row("SELECT used FROM bundle", [], |r| r.get(0)).expect("a bundle");
        let tokens = body.windows(4).position(|four| four == b",10,").expect("its ten tokens");
        body[tokens + 1] = b'9';
        db.execute("UPDATE bundle SET used = ?1", [body]).expect("a change");
        drop(db);
        let found = scene.world.findings("index", &[]);
        assert!(found[0].starts_with("problem: ") && found[0].contains("damaged: "), "copies {copies}: {found:?}");
        let ran = scene.run(&["doctor", "--fix"]);
        assert!(ran.code < 2, "copies {copies}: {ran:#?}");
        scene.is_well();
        assert_eq!(used(), before, "copies {copies}: {ran:#?}");
    }
}
