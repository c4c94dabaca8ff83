use super::*;
use rusqlite::ffi;

fn raised(code: i32, message: &str) -> String {
    let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some(message.to_owned()));
    let error = anyhow::Error::new(error).context("cannot store what was read").context("inner");
    format!("{:#}", explained(error, Path::new("/d/recall.db")))
}

#[test]
fn what_was_written_while_it_was_read_without_locks_is_not_called_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let index = dir.path().join("recall.db");
    fs::write(&index, "as it was").unwrap();
    let torn = || {
        let error = rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), None);
        explained(error.into(), &index).to_string()
    };
    read_without_locks(&index);
    assert!(torn().contains("is damaged"), "{}", torn());
    fs::write(dir.path().join("recall.db-wal"), "what a writer adds").unwrap();
    assert!(torn().contains("while it was read: try again") && !torn().contains("doctor"), "{}", torn());
    read_without_locks(&index);
    assert!(torn().contains("is damaged"), "nobody wrote since: {}", torn());
    fs::write(&index, "a page folded in").unwrap();
    assert!(torn().contains("while it was read: try again"), "{}", torn());
}

#[test]
fn what_sqlite_says_of_the_file_is_said_in_words_that_help() {
    for (code, message, told) in [
        (ffi::SQLITE_BUSY, "database is locked", "locked by another process"),
        (ffi::SQLITE_LOCKED, "database table is locked", "locked by another process"),
        (ffi::SQLITE_BUSY_SNAPSHOT, "database is locked", "locked by another process"),
        (ffi::SQLITE_CORRUPT, "database disk image is malformed", "`recall doctor --fix`"),
        (ffi::SQLITE_CORRUPT_VTAB, "database disk image is malformed", "`recall doctor --fix`"),
        (ffi::SQLITE_NOTADB, "file is not a database", "`recall doctor --fix`"),
        (ffi::SQLITE_ERROR, "no such table: session", "`recall doctor --fix`"),
        (ffi::SQLITE_FULL, "database or disk is full", "df -h"),
        (ffi::SQLITE_IOERR_WRITE, "disk I/O error", "disk"),
        (ffi::SQLITE_READONLY, "attempt to write a readonly database", "chown"),
    ] {
        let said = raised(code, message);
        assert!(said.contains(told) && said.contains("/d/recall.db"), "{message}: {said}");
        assert!(!said.contains("database is locked") && !said.contains("table is locked"), "{said}");
    }
    let other = raised(ffi::SQLITE_ERROR, "fts5: syntax error near \"\"");
    assert!(other.starts_with("inner: cannot store what was read: fts5: syntax error"), "what else fails says so itself: {other}");
}
