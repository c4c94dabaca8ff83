//! What is stored, and for whom.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rusqlite::Connection;

use crate::support::World;

#[test]
fn what_is_written_is_the_owners_alone_whatever_the_umask() {
    for umask in ["000", "022", "277"] {
        let world = World::with_fixtures(&["plain", "compact"]);
        let ran = world.shell(&format!("umask {umask}; exec \"$RECALL\" digest --summarizer extract"));
        assert_eq!(ran.code, 0, "umask {umask}: {ran:#?}");
        let mut seen = 0;
        for entry in walkdir::WalkDir::new(world.data_dir()) {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            let wanted = if entry.file_type().is_dir() { 0o700 } else { 0o600 };
            // A umask may take away more than asked for, and never gives anything to others.
            assert_eq!(mode & 0o077, 0, "umask {umask}: {} is {mode:o}", entry.path().display());
            assert!(umask == "277" || mode == wanted, "umask {umask}: {} is {mode:o}", entry.path().display());
            seen += 1;
        }
        assert!(seen > 6, "only {seen} files and folders were written");
    }
}

#[test]
fn a_data_folder_that_others_can_read_is_reported() {
    let world = World::with_fixtures(&["plain"]);
    fs::create_dir_all(world.data_dir()).unwrap();
    fs::set_permissions(world.data_dir(), fs::Permissions::from_mode(0o755)).unwrap();
    let ran = world.recall(["digest", "--summarizer", "extract"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains("others can read") && ran.err.contains("chmod 700"), "{ran:#?}");
}

/// A database that says it was written by a program of the far future.
fn newer_database(world: &World, journal: &str) {
    fs::create_dir_all(world.data_dir()).unwrap();
    fs::set_permissions(world.data_dir(), fs::Permissions::from_mode(0o700)).unwrap();
    let db = Connection::open(world.data_dir().join("recall.db")).unwrap();
    db.query_row(&format!("PRAGMA journal_mode = {journal}"), [], |_| Ok(())).unwrap();
    db.execute_batch("CREATE TABLE future (x); INSERT INTO future VALUES (1); PRAGMA user_version = 999;").unwrap();
}

#[test]
fn a_database_by_a_newer_program_is_refused_and_left_as_it_is() {
    for journal in ["wal", "delete"] {
        let world = World::with_fixtures(&["plain"]);
        newer_database(&world, journal);
        let file = world.data_dir().join("recall.db");
        let before = fs::read(&file).unwrap();
        for arguments in
            [&["digest"][..], &["digest", "--dry-run"], &["status"], &["search", "x"], &["show", "64b0b6d9"], &["export"]]
        {
            let ran = world.recall(arguments);
            assert_eq!(ran.code, 2, "{arguments:?}: {ran:#?}");
            assert!(ran.err.contains("newer recall") && ran.err.contains("999"), "{arguments:?}: {ran:#?}");
            assert_eq!(ran.out, "", "{arguments:?}");
        }
        assert!(fs::read(&file).unwrap() == before, "a database in journal mode {journal} was changed");
    }
}

#[test]
fn a_file_that_is_no_database_is_an_error_and_no_panic() {
    let world = World::with_fixtures(&["plain"]);
    fs::create_dir_all(world.data_dir()).unwrap();
    fs::write(world.data_dir().join("recall.db"), "this is no database, but long enough to be looked at as one".repeat(100))
        .unwrap();
    for arguments in [&["digest"][..], &["status"], &["export"]] {
        let ran = world.recall(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:#?}");
        assert!(ran.err.contains("recall.db") && !ran.err.contains("panicked"), "{ran:#?}");
    }
}

#[test]
fn what_is_deleted_can_be_given_back() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(world.count("PRAGMA auto_vacuum"), 2, "incremental");
}
