//! A log of changes beside the index that is not its own, or was left there: nothing is folded in before the two are known to be whole.

use std::fs;
use std::path::{Path, PathBuf};

use crate::damage::kinds::noise;
use crate::damage::repair::{aside, assert_forgotten, notes};
use crate::damage::reported::{commands, is_readable, says_what_to_do};
use crate::damage::scene::{EARLY_NOTE, LATE_NOTE, Scene, all_but, id, session};
use crate::support::{World, files_below};

fn beside(scene: &Scene, end: &str) -> PathBuf {
    scene.world.data_dir().join(format!("recall.db{end}"))
}

/// The log that these statements leave beside a database.
fn log_of(db: &Path, sql: &str) -> Vec<u8> {
    let connection = rusqlite::Connection::open(db).expect("a database");
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").expect("a log");
    connection.execute_batch(sql).expect("statements");
    let mut log = db.as_os_str().to_owned();
    log.push("-wal");
    fs::read(log).expect("the log")
}

/// Logs of others, by name.
fn foreign(scene: &Scene) -> Vec<(&'static str, Vec<u8>)> {
    let folder = tempfile::tempdir().expect("a folder");
    let program = "CREATE TABLE a(x); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
         INSERT INTO a SELECT randomblob(500) FROM n";
    let other = World::new();
    for n in 40..80 {
        other.transcript(&format!("-home-dev-src-other/{}.jsonl", id(n)), session(n));
    }
    assert_eq!(other.recall(["digest", "--summarizer", "extract"]).code, 0);
    let changes = "UPDATE session SET grew_at = grew_at + 1; UPDATE digest SET made_at = made_at + 1";
    // The same index as it was when it was copied.
    let older = folder.path().join("older.db");
    fs::copy(scene.copy(), &older).expect("the copy");
    vec![
        ("another program's", log_of(&folder.path().join("program.db"), program)),
        ("another index's", log_of(&other.data_dir().join("recall.db"), changes)),
        ("an older state's", log_of(&older, &format!("{changes}; DELETE FROM doc"))),
    ]
}

fn all_is_there(scene: &Scene, what: &str) {
    scene.is_well();
    assert_eq!(scene.holds(), (all_but(&[]), notes(&[EARLY_NOTE, LATE_NOTE])), "{what}");
    assert_eq!(scene.world.count("SELECT count(*) FROM digest WHERE NOT superseded"), 12, "{what}: no digest is lost");
    assert_forgotten(scene, what);
}

#[test]
fn nothing_is_folded_into_an_index_from_a_log_of_anothers() {
    let scene = Scene::new();
    for (whose, log) in foreign(&scene) {
        for command in commands() {
            scene.restore();
            fs::write(beside(&scene, "-wal"), &log).expect("a log");
            let before = fs::read(scene.index()).expect("the index");
            let ran = scene.run(&command.iter().map(String::as_str).collect::<Vec<_>>());
            let what = format!("{whose} log and {command:?}");
            is_readable(&ran, &what);
            assert!(fs::read(scene.index()).expect("the index") == before, "{what}: it was written over: {ran:#?}");
            assert!(fs::read(beside(&scene, "-wal")).expect("the log").starts_with(&log[..1000]), "{what}: the log is kept");
            if ["digest", "forget", "remember"].contains(&command[0].as_str()) {
                assert_eq!(ran.code, 2, "{what}: {ran:#?}");
                says_what_to_do(&ran.err, &scene, &what);
            }
        }
    }
}

#[test]
fn the_doctor_sets_a_log_of_anothers_aside_and_nothing_is_lost() {
    let scene = Scene::new();
    for (whose, log) in foreign(&scene) {
        scene.restore();
        fs::write(beside(&scene, "-wal"), &log).expect("a log");
        let before = fs::read(scene.index()).expect("the index");
        let ran = scene.run(&["doctor", "--fix"]);
        assert_eq!(ran.code, 1, "what the log held is not known: {ran:#?}");
        for part in
            ["set aside   ", "restored    the index itself, which is undamaged without the log: 12 sessions, 12 digests, 2 notes"]
        {
            assert!(ran.out.contains(part), "{whose}: {ran:#?}");
        }
        assert!(ran.out.contains("lost        nothing, as far as is known"), "{whose}: {ran:#?}");
        assert!(ran.err.contains("if the log belongs to this index, the latest data is missing"), "{whose}: {ran:#?}");
        all_is_there(&scene, whose);
        let kept: Vec<_> = aside(&scene);
        assert!(kept.len() == 1 && kept[0].ends_with("-wal"), "{whose}: {kept:?}");
        assert!(fs::read(scene.world.data_dir().join(&kept[0])).expect("the log") == log, "{whose}: as it was");
        assert!(before.len() > 4096 && scene.world.findings("index", &[]).iter().any(|f| f.contains(&kept[0])), "it is told of");
        assert_eq!(scene.run(&["digest", "--summarizer", "extract"]).code, 0, "{whose}");
        all_is_there(&scene, whose);
        // It may hold what is to be forgotten.
        assert_eq!(scene.run(&["forget", "--yes", "--session", &id(5)]).code, 0, "{whose}");
        assert_eq!(aside(&scene), [""; 0], "{whose}");
    }
}

#[test]
fn a_doctor_who_is_cut_short_sets_the_log_aside_the_next_time() {
    let scene = Scene::new();
    let (_, log) = foreign(&scene).remove(1);
    for point in ["log set aside", "mended"] {
        scene.restore();
        fs::write(beside(&scene, "-wal"), &log).expect("a log");
        let cut = scene.world.recall_with(["doctor", "--fix"], &[("RECALL_KILL_AT", &format!("{point}:1"))]);
        assert_eq!(cut.code, -1, "{point}: {cut:#?}");
        let ran = scene.run(&["doctor", "--fix"]);
        assert!(ran.code < 2, "{point}: {ran:#?}");
        all_is_there(&scene, point);
    }
}

#[test]
fn a_journal_beside_an_index_is_never_played_back() {
    let scene = Scene::new();
    for command in commands().into_iter().chain([vec!["doctor".into(), "--fix".into()]]) {
        scene.restore();
        let before = fs::read(scene.index()).expect("the index");
        // SQLite's own head of a journal of one page, with sums that are right for anything.
        let mut journal = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7".to_vec();
        for number in [1u32, 0, 1, 512, 4096] {
            journal.extend(number.to_be_bytes());
        }
        journal.resize(512, 0);
        journal.extend(1u32.to_be_bytes());
        let page = vec![0u8; 4096];
        journal.extend(&page);
        journal.extend(0u32.to_be_bytes());
        fs::write(beside(&scene, "-journal"), &journal).expect("a journal");
        let ran = scene.run(&command.iter().map(String::as_str).collect::<Vec<_>>());
        is_readable(&ran, "a journal");
        if command[0] == "doctor" {
            assert!(ran.out.contains("the index itself, which is undamaged without the log"), "{ran:#?}");
            all_is_there(&scene, "a journal");
        } else {
            assert_eq!(ran.code, 2, "{command:?}: {ran:#?}");
            says_what_to_do(&ran.err, &scene, "a journal");
            assert!(fs::read(scene.index()).expect("the index") == before, "{command:?}");
        }
    }
}

/// What a process left that was killed is folded in; what it stored last is there.
#[test]
fn a_log_of_its_own_is_taken_in() {
    let scene = Scene::new();
    let log = log_of(&scene.index(), "UPDATE note SET text = 'Only the log knows of this one' WHERE text LIKE 'The staging%'");
    scene.restore();
    fs::write(beside(&scene, "-wal"), &log).expect("a log");
    assert_eq!(scene.run(&["digest", "--summarizer", "extract"]).code, 0);
    assert_eq!(scene.holds().1, notes(&[EARLY_NOTE, "Only the log knows of this one"]));
    scene.is_well();
    // One that is none changes nothing.
    scene.restore();
    fs::write(beside(&scene, "-wal"), noise(50_000)).expect("noise");
    assert_eq!(scene.run(&["digest", "--summarizer", "extract"]).code, 0);
    all_is_there(&scene, "noise");
    assert!(files_below(&scene.world.data_dir()).iter().all(|file| !file.to_string_lossy().contains("damaged")));
}
