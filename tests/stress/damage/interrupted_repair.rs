//! A mending that is cut short, that others come across, or whose copy is older than what was forgotten.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::damage::kinds::{over, root_of};
use crate::damage::repair::{aside, assert_forgotten, by_name, notes};
use crate::damage::scene::{EARLY_NOTE, FORGOTTEN, GONE, Scene, all_but, id, living};
use crate::support::{Ran, files_below};

const POINTS: [&str; 5] = ["mended beside", "index set aside", "log set aside", "set aside", "mended"];

fn log(scene: &Scene) -> PathBuf {
    scene.world.data_dir().join("recall.db-wal")
}

/// What was stored last stands in the log alone, as after a power failure. The index itself is damaged.
fn damage_beside_a_log(scene: &Scene) {
    let db = rusqlite::Connection::open(scene.index()).expect("the index");
    db.execute_batch(
        "PRAGMA wal_autocheckpoint = 0; UPDATE note SET text = 'Only the log knows of this one' WHERE text LIKE 'The staging%'",
    )
    .expect("a note");
    let bytes = fs::read(log(scene)).expect("a log");
    drop(db);
    scene.restore();
    over(&scene.index(), root_of(scene, "file"), &[0; 4096]);
    fs::write(log(scene), bytes).expect("the log");
}

fn killed_at(scene: &Scene, point: &str) -> Ran {
    let ran = scene.world.recall_with(["doctor", "--fix"], &[("RECALL_KILL_AT", &format!("{point}:1"))]);
    assert_eq!(ran.code, -1, "{point}: {ran:#?}");
    ran
}

/// Cut short anywhere, the doctor is asked again, and all is as if he had not been disturbed.
#[test]
fn a_mending_that_is_cut_short_is_done_again() {
    let scene = Scene::new();
    for point in POINTS.into_iter().filter(|point| *point != "log set aside") {
        scene.restore();
        (by_name("the sessions' page zeroed").inflict)(&scene);
        let cut = killed_at(&scene, point);
        if point != "mended" {
            let digest = scene.run(&["digest", "--summarizer", "extract"]);
            assert!(digest.code == 2 && digest.err.contains("`recall doctor --fix`"), "{point}: {digest:#?}");
        }
        let ran = scene.run(&["doctor", "--fix"]);
        assert!(ran.code < 2, "{point}: {ran:#?}");
        assert!(
            (cut.err + &ran.err).contains("not in the repaired index: 2 sessions, at least 2 digests, 0 notes"),
            "{point}: {ran:#?}"
        );
        assert_eq!(scene.run(&["digest", "--summarizer", "extract"]).code, 0, "{point}");
        scene.is_well();
        let (sessions, told) = scene.holds();
        assert!(sessions.is_superset(&living()) && sessions.contains(&id(GONE)), "{point}: {sessions:?}");
        assert!(told.contains(EARLY_NOTE), "{point}: {told:?}");
        assert_forgotten(&scene, point);
        let names: Vec<_> =
            files_below(&scene.world.data_dir()).into_iter().filter(|f| f.to_string_lossy().contains(".mend")).collect();
        assert!(names.is_empty(), "{point}: {names:?}");
    }
}

/// What only the log knew comes back wherever it is cut, and the log lies beside the index it belongs to.
#[test]
fn the_log_of_a_damaged_index_is_never_parted_from_it() {
    let scene = Scene::new();
    for point in POINTS {
        scene.restore();
        damage_beside_a_log(&scene);
        killed_at(&scene, point);
        let ran = scene.run(&["doctor", "--fix"]);
        assert!(ran.code < 2, "{point}: {ran:#?}");
        scene.is_well();
        let (sessions, told) = scene.holds();
        assert_eq!(sessions, all_but(&[]), "{point}: {ran:#?}");
        assert_eq!(told, notes(&[EARLY_NOTE, "Only the log knows of this one"]), "{point}: {ran:#?}");
        let kept = aside(&scene);
        assert!(kept.len() == 2 && kept.contains(&format!("{}-wal", kept.iter().min().expect("a name"))), "{point}: {kept:?}");
    }
}

/// The user had enough of it and deleted the damaged one when a mended one waited.
#[test]
fn the_log_of_an_index_that_was_deleted_is_not_played_into_the_mended_one() {
    let scene = Scene::new();
    damage_beside_a_log(&scene);
    killed_at(&scene, "mended beside");
    fs::remove_file(scene.index()).expect("the index");
    assert!(fs::metadata(log(&scene)).is_ok_and(|log| log.len() > 0));
    let ran = scene.run(&["doctor", "--fix"]);
    assert!(ran.code < 2 && ran.out.contains("an earlier repair was cut short"), "{ran:#?}");
    scene.is_well();
    assert_eq!(scene.holds().0, all_but(&[]), "{ran:#?}");
    assert!(aside(&scene).iter().all(|name| name.ends_with("-wal")), "{:?}", aside(&scene));
}

/// The copy was to go before anything was forgotten, and a disk that lost power brought it back.
#[test]
fn a_copy_that_is_older_than_what_was_forgotten_brings_nothing_of_it_back() {
    let scene = Scene::new();
    let old = fs::read(scene.copy()).expect("the copy");
    assert_eq!(scene.run(&["forget", "--yes", "--session", &id(3)]).code, 0);
    assert_eq!(scene.run(&["forget", "--yes", "--match", "topic4 importer"]).code, 0);
    [scene.copy(), scene.checked()].iter().for_each(|copy| fs::write(copy, &old).expect("the copy"));
    over(&scene.index(), root_of(&scene, "file"), &[0; 4096]);
    let ran = scene.run(&["doctor", "--fix"]);
    assert!(ran.out.contains("restored    the copy of ") && ran.out.contains("lost        nothing"), "{ran:#?}");
    scene.is_well();
    assert_eq!(scene.run(&["digest", "--summarizer", "extract"]).code, 0);
    assert_eq!(scene.holds().0, all_but(&[3]), "{ran:#?}");
    assert_forgotten(&scene, "after mending");
    assert!(!scene.run(&["show", &id(4)]).out.contains("topic4 importer"));
    assert_eq!(scene.world.count("SELECT count(*) FROM page p JOIN session s ON s.pk = p.session WHERE s.id LIKE '50000003%'"), 0);
    for file in files_below(&scene.world.daily()) {
        assert!(!fs::read_to_string(&file).expect("a page").contains("topic3"), "{}", file.display());
    }
    for copy in [scene.copy(), scene.checked()] {
        assert!(fs::read(copy).expect("a copy") != old, "nor is it in the copies any more");
    }
}

/// What the mended index lost may be just what is to be forgotten.
#[test]
fn forgetting_what_is_not_found_takes_what_was_set_aside_as_well() {
    let scene = Scene::new();
    for what in
        [["--session", "50000099-1111-4111-8111-000000000000"], ["--project", "/home/dev/src/nowhere"], ["--before", "2020-01-01"]]
    {
        scene.restore();
        over(&scene.index(), root_of(&scene, "file"), &[0; 4096]);
        assert!(scene.run(&["doctor", "--fix"]).code < 2);
        let kept = aside(&scene);
        assert_eq!(kept.len(), 1);
        let rehearsed = scene.run(&["forget", "--dry-run", what[0], what[1]]);
        assert!(rehearsed.code == 0 && aside(&scene) == kept, "{rehearsed:#?}");
        let ran = scene.run(&["forget", "--yes", what[0], what[1]]);
        assert!(ran.code == 0 && ran.out.contains(&kept[0]) && ran.out.contains("nothing found"), "{ran:#?}");
        assert!(aside(&scene).is_empty(), "{what:?}");
    }
}

/// One of an older form that is too damaged to be brought up to date.
#[test]
fn of_an_older_form_that_cannot_be_brought_up_to_date_it_says_that_nothing_is_saved() {
    let scene = Scene::new();
    scene.world.make_index_older();
    over(&scene.index(), root_of(&scene, "session"), &[0; 4096]);
    let ran = scene.run(&["doctor", "--fix"]);
    assert!(
        ran.code == 1 && ran.err.contains("nothing is saved from it") && ran.out.contains("restored    the copy of "),
        "{ran:#?}"
    );
    scene.is_well();
    let (sessions, _) = scene.holds();
    assert!(sessions.is_superset(&living()) && sessions.contains(&id(GONE)) && !sessions.contains(&id(FORGOTTEN)), "{sessions:?}");
}

/// Waits until the process has opened the file.
fn wait_until_open(pid: u32, file: &std::path::Path) {
    let began = Instant::now();
    let is_open = || {
        let all = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        all.filter_map(|fd| fs::read_link(fd.path()).ok()).any(|to| to == file)
    };
    while !is_open() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never opens {}", file.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Who waits to write a note while the index is mended is not told that it is remembered when it is in the one that was set aside.
#[test]
#[cfg(target_os = "linux")]
fn a_note_that_waited_for_a_mending_is_not_promised_and_lost() {
    let scene = Scene::new();
    let held = rusqlite::Connection::open(scene.index()).expect("the index");
    held.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let mut command = scene.world.process();
    command.args(["remember", "--everywhere", "Deploys wait for the nightly backup"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("recall starts");
    wait_until_open(child.id(), &log(&scene).canonicalize().expect("a log"));
    // As a mending does it.
    fs::rename(scene.index(), scene.world.data_dir().join("recall.db.damaged-now")).expect("set aside");
    fs::rename(log(&scene), scene.world.data_dir().join("recall.db.damaged-now-wal")).expect("set aside");
    fs::copy(scene.copy(), scene.index()).expect("a mended one");
    held.execute_batch("ROLLBACK").expect("the lock is given back");
    let told: Vec<String> = BufReader::new(child.stderr.take().expect("stderr")).lines().map_while(Result::ok).collect();
    assert_eq!(child.wait().expect("it ends").code(), Some(2), "{told:?}");
    assert!(told.concat().contains("was repaired meanwhile: try again"), "{told:?}");
    assert_eq!(scene.run(&["remember", "--everywhere", "Deploys wait for the nightly backup"]).code, 0);
    assert!(scene.holds().1.contains("Deploys wait for the nightly backup"));
}
