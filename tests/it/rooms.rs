//! The rooms of `src/`: few, each on its floor, and imports go down only, by the table in `lib.rs`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::files_below;

/// A room with its floor, and the rooms that it may not import although they are below.
struct Room {
    name: String,
    floor: usize,
    forbidden: Vec<String>,
}

/// The table of rooms in `lib.rs`.
fn rooms() -> Vec<Room> {
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).expect("UTF-8");
    let mut all = Vec::new();
    for row in lib.lines().filter_map(|line| line.strip_prefix("//! | ")) {
        let [floor, names, _, may_not] = row.trim_end_matches('|').split('|').collect::<Vec<_>>()[..] else { continue };
        let Ok(floor) = floor.trim().parse() else { continue };
        let forbidden: Vec<String> = may_not.trim().strip_prefix("import ").map(quoted).unwrap_or_default();
        all.extend(quoted(names).into_iter().map(|name| Room { name, floor, forbidden: forbidden.clone() }));
    }
    assert!(all.len() > 10, "the table of rooms in lib.rs is not found any more");
    all
}

/// What stands between backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn room(name: &str) -> Room {
    rooms().into_iter().find(|room| room.name == name).unwrap_or_else(|| panic!("{name} stands in no row of lib.rs"))
}

/// Each room with the rooms that its files name, and one file that does.
fn imports() -> BTreeSet<(String, String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = BTreeSet::new();
    let is_code = |f: &std::path::PathBuf| {
        f.extension().is_some_and(|e| e == "rs") && !f.iter().any(|part| part == "tests") && !f.ends_with("tests.rs")
    };
    for file in files_below(&src).into_iter().filter(is_code) {
        let inside = file.strip_prefix(&src).expect("a file of src");
        let Some(room) = inside.parent().and_then(|p| p.iter().next()).and_then(|r| r.to_str()) else { continue };
        let text = fs::read_to_string(&file).expect("UTF-8");
        // Unit tests may build what they need with rooms above.
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let code = code.lines().map(|line| line.split("//").next().unwrap_or_default());
        for named in code.flat_map(|line| line.split("crate::").skip(1).map(str::to_owned).collect::<Vec<_>>()) {
            let name: String = named.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            if !name.is_empty() && name != room {
                all.insert((room.to_owned(), name, inside.display().to_string()));
            }
        }
    }
    assert!(all.len() > 100, "imports are not found any more: {all:?}");
    all
}

#[test]
fn imports_go_down_only() {
    let up: Vec<_> = imports().into_iter().filter(|(from, to, _)| room(from).floor <= room(to).floor).collect();
    assert!(up.is_empty(), "these rooms import one that is not below them: {up:#?}");
}

#[test]
fn no_room_imports_what_the_table_forbids_it() {
    assert_eq!(room("cli").forbidden, ["store", "search"], "the last column is read");
    let past: Vec<_> = imports().into_iter().filter(|(from, to, _)| room(from).forbidden.contains(to)).collect();
    assert!(past.is_empty(), "the table in lib.rs forbids these: {past:#?}");
}

#[test]
fn every_folder_of_src_is_a_room_with_a_floor() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let there: BTreeSet<String> = fs::read_dir(src)
        .expect("src")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .filter(|name| !["lib.rs", "main.rs", "testing.rs"].contains(&name.as_str()))
        .collect();
    let known: BTreeSet<String> = rooms().into_iter().map(|room| room.name).collect();
    assert_eq!(there, known);
}
