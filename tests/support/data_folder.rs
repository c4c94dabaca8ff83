//! All that lies in the data folder, unpacked: to see that something is nowhere.

use std::io::Read;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::support::{World, files_below};

/// Lines shorter than this may be anybody's.
const TELLING: usize = 12;
/// How every zstd frame begins.
const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The most that is unpacked of one frame, in bytes.
const MAX_FRAME: u64 = 4 << 20;

/// A place in the data folder, by name, and what lies there.
pub type Held = (String, Vec<u8>);

/// Every text, and every blob as it is and unpacked.
pub fn texts(world: &World) -> Vec<String> {
    columns(world).into_iter().map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned()).collect()
}

/// The same with the column each stands in, as `table.column`.
pub fn columns(world: &World) -> Vec<Held> {
    let database = world.database();
    let mut names = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").expect("the tables");
    let tables: Vec<String> = names.query_map([], |row| row.get(0)).expect("names").map(|name| name.expect("a name")).collect();
    tables.iter().flat_map(|table| columns_of(&database, table)).collect()
}

fn columns_of(database: &Connection, table: &str) -> Vec<Held> {
    let mut all = Vec::new();
    let mut rows = database.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap_or_else(|e| panic!("{table}: {e}"));
    let names: Vec<String> = rows.column_names().map(|name| format!("{table}.{name}")).collect();
    let mut rows = rows.query([]).expect("rows");
    while let Some(row) = rows.next().unwrap_or_else(|e| panic!("{table}: {e}")) {
        for (column, name) in names.iter().enumerate() {
            match row.get_ref(column).expect("a value") {
                ValueRef::Text(text) => all.push((name.clone(), text.to_vec())),
                ValueRef::Blob(blob) => {
                    all.push((name.clone(), blob.to_vec()));
                    all.extend(unpacked(blob).map(|text| (format!("{name} unpacked"), text.into_bytes())));
                }
                _ => {}
            }
        }
    }
    all
}

/// A body: a byte that says it is compressed, its length, a frame.
pub fn unpacked(blob: &[u8]) -> Option<String> {
    let (1, rest) = blob.split_first()? else { return None };
    let (size, frame) = rest.split_at_checked(4)?;
    let size = u32::from_le_bytes(size.try_into().ok()?) as usize;
    let text = zstd::bulk::decompress(frame, size).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The terms the full-text index knows, which outlive the rows they came from when they are not taken out with care.
pub fn terms(world: &World) -> Vec<String> {
    let database = world.database();
    database.execute_batch("CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'search', 'row')").expect("the terms");
    let mut rows = database.prepare("SELECT term FROM temp.terms").expect("the terms");
    rows.query_map([], |row| row.get(0)).expect("terms").map(|term| term.expect("a term")).collect()
}

/// Every file below the data folder as it is, and every compressed frame that lies anywhere in one, also in pages that no table holds
/// any more and in the log of changes.
pub fn files(world: &World) -> Vec<Held> {
    let mut all = Vec::new();
    let mut found = files_below(&world.data_dir());
    // The log of changes first: whoever closes a file of the index gives up all locks of its process on it, those of a reader in a test
    // as well, and a run may cut the log off from then on.
    found.sort_by_key(|file| !file.to_string_lossy().ends_with("-wal"));
    for file in found {
        let name = file.strip_prefix(world.data_dir()).expect("below the data folder").display().to_string();
        let Ok(bytes) = std::fs::read(&file) else { continue };
        all.extend(frames(&bytes).into_iter().map(|text| (format!("{name} unpacked"), text)));
        all.push((name.clone(), bytes));
        // A file's name is kept as its bytes are.
        all.push((format!("{name} (name)"), name.into_bytes()));
    }
    all
}

/// What can be unpacked of every frame, whole or torn.
fn frames(bytes: &[u8]) -> Vec<Vec<u8>> {
    let unpack = |at: usize| {
        let mut text = Vec::new();
        let frame = zstd::stream::read::Decoder::new(&bytes[at..]).ok()?.single_frame();
        // What comes before a tear is there for anybody to read.
        let _ = frame.take(MAX_FRAME).read_to_end(&mut text);
        (!text.is_empty()).then_some(text)
    };
    memchr::memmem::find_iter(bytes, &FRAME).filter_map(unpack).collect()
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

/// Where a word stands, in any case: in a column, in the vocabulary of the search, in a file.
pub fn places_of(world: &World, word: &str) -> Vec<String> {
    let word = word.to_lowercase();
    let all = columns(world).into_iter().chain(files(world));
    let holds = |bytes: &[u8]| memchr::memmem::find(&bytes.to_ascii_lowercase(), word.as_bytes()).is_some();
    let mut places: Vec<String> = all.filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name).collect();
    // The index holds words without their endings.
    let stem = &word[..word.len().min(6)];
    places.extend(terms(world).into_iter().filter(|term| term.starts_with(stem)).map(|term| format!("the vocabulary: {term}")));
    places
}

/// A word is nowhere in the data folder, which has an index.
pub fn assert_gone(world: &World, word: &str) {
    assert!(world.data_dir().join("recall.db").exists(), "there is an index");
    let places = places_of(world, word);
    assert!(places.is_empty(), "`{word}` still stands in {places:#?}");
}
