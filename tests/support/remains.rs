//! Looks for a word in all that lies in the data folder: columns unpacked, the vocabulary of the search, the bytes of every file.

use std::fs;

use rusqlite::types::ValueRef;

use crate::support::{World, files_below};

/// Where the word stands, in any case.
pub fn places_of(world: &World, word: &str) -> Vec<String> {
    let word = word.to_lowercase();
    let mut places = in_columns(world, &word);
    places.extend(in_vocabulary(world, &word));
    places.extend(in_files(world, &word));
    places
}

/// It is nowhere.
pub fn assert_gone(world: &World, word: &str) {
    let places = places_of(world, word);
    assert!(places.is_empty(), "`{word}` still stands in {places:#?}");
}

fn in_columns(world: &World, word: &str) -> Vec<String> {
    let database = world.database();
    let mut names = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").expect("the tables");
    let tables: Vec<String> = names.query_map([], |row| row.get(0)).expect("names").map(|name| name.expect("a name")).collect();
    assert!(tables.len() > 20, "{tables:?}");
    let mut places = Vec::new();
    for table in tables {
        let mut query = database.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap_or_else(|e| panic!("{table}: {e}"));
        let columns: Vec<String> = query.column_names().map(str::to_owned).collect();
        let mut rows = query.query([]).expect("rows");
        while let Some(row) = rows.next().unwrap_or_else(|e| panic!("{table}: {e}")) {
            let holds = |at: usize| texts(row.get_ref(at).expect("a value")).iter().any(|text| text.to_lowercase().contains(word));
            places.extend((0..columns.len()).filter(|at| holds(*at)).map(|at| format!("{table}.{}", columns[at])));
        }
    }
    places
}

/// A value as it is, and unpacked: a byte that says whether it is compressed, then its length and a frame.
fn texts(value: ValueRef<'_>) -> Vec<String> {
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match value {
        ValueRef::Text(text) => vec![lossy(text)],
        ValueRef::Blob(blob) => {
            let unpacked = blob.strip_prefix(&[1]).and_then(|rest| {
                let (size, frame) = rest.split_at_checked(4)?;
                zstd::bulk::decompress(frame, u32::from_le_bytes(size.try_into().ok()?) as usize).ok()
            });
            std::iter::once(lossy(blob)).chain(unpacked.map(|text| lossy(&text))).collect()
        }
        _ => Vec::new(),
    }
}

fn in_vocabulary(world: &World, word: &str) -> Vec<String> {
    let database = world.database();
    database.execute_batch("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, search, row)").expect("the vocabulary");
    let mut query = database.prepare("SELECT term FROM temp.words").expect("its words");
    let words = query.query_map([], |r| r.get::<_, String>(0)).expect("words").map(|w| w.expect("a word"));
    // The index holds words without their endings.
    let stem = &word[..word.len().min(6)];
    words.filter(|w| w.starts_with(stem)).map(|w| format!("the vocabulary: {w}")).collect()
}

fn in_files(world: &World, word: &str) -> Vec<String> {
    let files = files_below(&world.data_dir());
    assert!(files.iter().any(|f| f.ends_with("recall.db")), "{files:?}");
    let holds = |file: &std::path::PathBuf| {
        let bytes = fs::read(file).expect("a file").to_ascii_lowercase();
        bytes.windows(word.len()).any(|part| part == word.as_bytes())
    };
    files.into_iter().filter(holds).map(|file| file.display().to_string()).collect()
}
