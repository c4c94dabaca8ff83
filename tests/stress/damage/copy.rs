//! The copy of the index: there when it is wanted, gone with what is forgotten.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::SystemTime;

use crate::damage::scene::{EARLY_NOTE, Scene, id, session};
use crate::support::data_folder;
use crate::support::{NOW, Ran, World};

const EXTRACT: [&str; 3] = ["digest", "--summarizer", "extract"];

fn copied_at(scene: &Scene) -> Option<SystemTime> {
    Some(fs::metadata(scene.copy()).ok()?.modified().expect("a time"))
}

fn at(time: &str) -> SystemTime {
    SystemTime::from(time.parse::<jiff::Timestamp>().expect("a time"))
}

fn digest_at(scene: &Scene, now: &str) -> Ran {
    let ran = scene.world.recall_with(EXTRACT, &[("RECALL_NOW", now)]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran
}

fn add(scene: &Scene, n: usize) {
    scene.world.transcript(&format!("-home-dev-src-shop/{}.jsonl", id(n)), session(n));
}

fn sessions_in_copy(scene: &Scene) -> i64 {
    let db = rusqlite::Connection::open_with_flags(scene.copy(), rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).expect("the copy");
    assert_eq!(db.query_row("PRAGMA integrity_check", [], |r| r.get::<_, String>(0)).expect("a check"), "ok");
    db.query_row("SELECT count(*) FROM session", [], |r| r.get(0)).expect("a count")
}

#[test]
fn it_is_made_by_a_digest_that_stored_something_at_most_once_a_day() {
    let scene = Scene::new();
    assert_eq!((copied_at(&scene), sessions_in_copy(&scene)), (Some(at(NOW)), 10), "by the run's clock");
    for copy in [scene.copy(), scene.checked()] {
        assert_eq!(fs::metadata(copy).expect("the copy").permissions().mode() & 0o777, 0o600);
    }
    digest_at(&scene, "2026-11-22T11:00:00Z");
    add(&scene, 14);
    digest_at(&scene, "2026-11-22T11:30:00Z");
    assert_eq!(copied_at(&scene), Some(at(NOW)), "within a day there is no other");
    // What was stored meanwhile is copied as soon as a day has passed, though this run stores nothing.
    digest_at(&scene, "2026-11-22T12:30:00Z");
    assert_eq!((copied_at(&scene), sessions_in_copy(&scene)), (Some(at("2026-11-22T12:30:00Z")), 13));
    let before = fs::metadata(scene.copy()).expect("the copy");
    digest_at(&scene, "2026-11-29T12:30:00Z");
    let after = fs::metadata(scene.copy()).expect("the copy");
    use std::os::unix::fs::MetadataExt;
    // It passed the check, so the other is the same, in a file of its own.
    let checked = fs::metadata(scene.checked()).expect("the copy");
    assert!(checked.ino() != after.ino() && checked.mtime() == after.mtime());
    assert!(fs::read(scene.copy()).expect("the copy") == fs::read(scene.checked()).expect("the copy"));
    assert_eq!((before.ino(), before.mtime()), (after.ino(), after.mtime()), "nothing new, nothing written");
    scene.run(&["remember", "--everywhere", "Deploys wait for the nightly backup"]);
    digest_at(&scene, "2026-11-30T12:30:00Z");
    assert_eq!(copied_at(&scene), Some(at("2026-11-30T12:30:00Z")), "a note is something, too");
    assert!(fs::read(scene.copy()).expect("the copy").windows(14).any(|w| w == b"nightly backup"));
    // A clock that was wrong holds nothing up.
    add(&scene, 15);
    digest_at(&scene, "2026-11-23T12:00:00Z");
    assert_eq!(copied_at(&scene), Some(at("2026-11-23T12:00:00Z")));
    let left: Vec<_> = crate::support::files_below(&scene.world.data_dir());
    assert!(!left.iter().any(|f| f.to_string_lossy().contains("unfinished")), "{left:?}");
}

#[test]
fn status_and_the_doctor_say_from_when_it_is_and_how_large() {
    let scene = Scene::new();
    let bytes = fs::metadata(scene.copy()).expect("the copy").len();
    let status = scene.world.status();
    assert_eq!((&status["copy"]["at"], &status["copy"]["bytes"]), (&1_795_262_400_000_i64.into(), &bytes.into()));
    let told = scene.run(&["status"]).out;
    assert!(told.contains(&format!("\nindex copy  {:.1} kB, made 2026-11-21 13:00", bytes as f64 / 1e3)), "{told}");
    assert_eq!(scene.world.findings("copy", &[]), [format!("ok: made less than a minute ago, {:.1} kB", bytes as f64 / 1e3)]);
    fs::remove_file(scene.copy()).expect("the copy");
    assert_eq!(scene.world.findings("copy", &[]), ["ok: none: the next digest makes one"]);
    assert!(scene.world.status().get("copy").is_none());
    digest_at(&scene, NOW);
    assert_eq!(sessions_in_copy(&scene), 12, "one that is gone is made again");
}

/// No file of the data folder holds it: neither the index, its log nor any copy.
fn assert_nowhere(scene: &Scene, text: &str, what: &str) {
    let held =
        data_folder::files(&scene.world).into_iter().find(|(_, bytes)| memchr::memmem::find(bytes, text.as_bytes()).is_some());
    assert!(held.is_none(), "{what}: `{text}` stands in {:?}", held.map(|(name, _)| name));
}

fn holds(scene: &Scene, text: &str) -> bool {
    data_folder::files(&scene.world)
        .iter()
        .any(|(name, bytes)| name.contains("copy") && memchr::memmem::find(bytes, text.as_bytes()).is_some())
}

#[test]
fn what_is_taken_out_is_in_no_copy_however_it_was_taken_out() {
    let scene = Scene::new();
    type Way = (&'static str, &'static str, fn(&Scene));
    let ways: [Way; 6] = [
        ("a session", "topic3 ", |s| assert_eq!(s.run(&["forget", "--yes", "--session", &id(3)]).code, 0)),
        ("a text", "topic4 importer", |s| assert_eq!(s.run(&["forget", "--yes", "--match", "topic4 importer"]).code, 0)),
        ("a note", "half up", |s| assert_eq!(s.run(&["forget", "--yes", "--match", EARLY_NOTE]).code, 0)),
        ("by age", "topic1 ", |s| {
            s.world.configure("[retention]\ndays = 18\n");
            digest_at(s, NOW);
        }),
        ("by a new rule", "topic5 ", |s| {
            s.world.configure("[privacy]\nexclude_patterns = [\"topic5 importer\"]\n");
            let ran = s.run(&EXTRACT);
            assert!(ran.code < 2, "{ran:#?}");
        }),
        ("by a project that is left out", "topic6 ", |s| {
            s.world.configure("[privacy]\nexclude_projects = [\"**/shop\"]\n");
            digest_at(s, NOW);
        }),
    ];
    for (what, text, take_out) in ways {
        scene.restore();
        scene.world.configure("");
        assert!(holds(&scene, text), "{what}: it is in the copy before");
        take_out(&scene);
        if what != "by a new rule" {
            assert_nowhere(&scene, text, what);
        } else {
            assert_nowhere(&scene, "topic5 importer", what);
        }
    }
}

/// The copy goes before the index is changed: cut short at any time, it never holds more than the index.
#[test]
fn a_forget_that_is_cut_short_leaves_no_copy() {
    let scene = Scene::new();
    let cut = scene.world.recall_with(["forget", "--yes", "--session", &id(3)], &[("RECALL_KILL_AT", "taken out:1")]);
    assert_eq!(cut.code, -1, "{cut:#?}");
    assert!(!scene.copy().exists() && !scene.checked().exists());
    // Also what was never read and is not to be.
    scene.restore();
    add(&scene, 30);
    assert_eq!(scene.run(&["forget", "--yes", "--session", &id(30)]).code, 0);
    fs::write(scene.index(), "damaged").expect("damage");
    scene.run(&["doctor", "--fix"]);
    assert!(!scene.holds().0.contains(&id(30)), "it does not come back from the copy's ignorance");
}

#[test]
fn a_copy_that_cannot_be_made_costs_the_digest_nothing_but_a_warning() {
    let scene = Scene::new();
    fs::remove_file(scene.copy()).expect("the copy");
    fs::create_dir_all(scene.copy().join("in the way")).expect("a folder");
    add(&scene, 14);
    let ran = scene.run(&EXTRACT);
    assert!(ran.code == 1 && ran.err.contains("cannot keep a copy of the index"), "{ran:#?}");
    assert!(scene.holds().0.contains(&id(14)));
    let left: Vec<_> = crate::support::files_below(&scene.world.data_dir());
    assert!(!left.iter().any(|f| f.to_string_lossy().contains("unfinished")), "{left:?}");
    // The other one in the way: the daily one is kept all the same, and the next run tries again.
    let scene = Scene::new();
    fs::remove_file(scene.checked()).expect("the copy");
    fs::create_dir_all(scene.checked().join("in the way")).expect("a folder");
    for n in [14, 15] {
        add(&scene, n);
        let ran = scene.run(&EXTRACT);
        assert!(
            ran.code == 1 && ran.err.contains("cannot keep a copy of the index") && ran.err.contains("copy-checked"),
            "{ran:#?}"
        );
        assert!(sessions_in_copy(&scene) > 11, "{ran:#?}");
    }
    // Where nothing was ever stored there is nothing to keep.
    let empty = World::new();
    assert_eq!(empty.recall(EXTRACT).code, 0);
    assert!(!empty.data_dir().join("recall.db.copy").exists());
}

#[test]
fn purging_takes_all_of_it() {
    let scene = Scene::new();
    crate::damage::kinds::cut(&scene, |len| len / 2);
    assert!(scene.run(&["doctor", "--fix"]).code < 2);
    let ran = scene.run(&["uninstall", "--purge", "--yes"]);
    assert!(ran.code == 0 && !scene.world.data_dir().exists(), "{ran:#?}");
}
