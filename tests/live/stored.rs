//! All that lies in the database, unpacked: to see that something is nowhere.

use rusqlite::types::ValueRef;

use crate::support::World;

/// Lines shorter than this may be anybody's.
const TELLING: usize = 12;

/// Every text, and every blob as it is and unpacked.
pub fn texts(world: &World) -> Vec<String> {
    let database = world.database();
    let mut names = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").expect("the tables");
    let tables: Vec<String> = names.query_map([], |row| row.get(0)).expect("names").map(|name| name.expect("a name")).collect();
    let mut all = Vec::new();
    for table in tables {
        let mut rows = database.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap_or_else(|e| panic!("{table}: {e}"));
        let columns = rows.column_count();
        let mut rows = rows.query([]).expect("rows");
        while let Some(row) = rows.next().unwrap_or_else(|e| panic!("{table}: {e}")) {
            for column in 0..columns {
                match row.get_ref(column).expect("a value") {
                    ValueRef::Text(text) => all.push(String::from_utf8_lossy(text).into_owned()),
                    ValueRef::Blob(blob) => {
                        all.push(String::from_utf8_lossy(blob).into_owned());
                        all.extend(unpacked(blob));
                    }
                    _ => {}
                }
            }
        }
    }
    all
}

/// A body: a byte that says it is compressed, its length, a frame.
fn unpacked(blob: &[u8]) -> Option<String> {
    let (1, rest) = blob.split_first()? else { return None };
    let (size, frame) = rest.split_at_checked(4)?;
    let size = u32::from_le_bytes(size.try_into().ok()?) as usize;
    let text = zstd::bulk::decompress(frame, size).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// No line of it is stored, nor exported.
pub fn assert_nowhere(world: &World, stored: &[String], text: &str) {
    let exported = world.recall(["export"]);
    assert_eq!(exported.code, 0, "{exported:#?}");
    for line in text.lines().filter(|line| line.len() >= TELLING) {
        assert!(!exported.out.contains(line), "exported: {line}");
        let held: Vec<_> = stored.iter().filter(|one| one.contains(line)).collect();
        assert!(held.is_empty(), "`{line}` is stored: {held:#?}");
    }
}

/// How many documents of the index hold these words in a row.
pub fn found(world: &World, words: &str) -> i64 {
    let count =
        world.database().query_row("SELECT count(*) FROM search WHERE search MATCH ?", [format!("\"{words}\"")], |r| r.get(0));
    count.unwrap_or_else(|e| panic!("{words}: {e}"))
}
