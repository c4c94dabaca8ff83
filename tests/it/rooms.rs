//! The rooms of `src/`: few, each on its floor, and imports go down only.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::files_below;

/// The floors from the bottom up. A room imports rooms of lower floors only: neither a higher one nor one of its own floor.
const FLOORS: [&[&str]; 12] = [
    &["text"],
    &["sys"],
    &["model"],
    &["analyze"],
    &["privacy"],
    &["config"],
    &["source"],
    &["store"],
    &["render", "search", "setup", "summarize"],
    &["app"],
    &["hook", "mcp"],
    &["cli"],
];

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

fn floor(room: &str) -> usize {
    FLOORS.iter().position(|floor| floor.contains(&room)).unwrap_or_else(|| panic!("{room} has no floor: give it one"))
}

#[test]
fn imports_go_down_only() {
    let up: Vec<_> = imports().into_iter().filter(|(from, to, _)| floor(from) <= floor(to)).collect();
    assert!(up.is_empty(), "these rooms import one that is not below them: {up:#?}");
}

#[test]
fn every_folder_of_src_is_a_room_with_a_floor() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let there: BTreeSet<String> = fs::read_dir(src)
        .expect("src")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .filter(|name| !["lib.rs", "main.rs", "testing.rs"].contains(&name.as_str()))
        .collect();
    let known: BTreeSet<String> = FLOORS.iter().flat_map(|floor| floor.iter().map(|room| (*room).to_owned())).collect();
    assert_eq!(there, known);
}
