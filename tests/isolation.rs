//! No test may see the machine's own user: only `support` starts `recall`, and with an environment of its own.

mod support;

use std::fs;

use support::{World, files_below};

#[test]
fn only_the_support_module_starts_recall() {
    let tests = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let starts = ["CARGO_BIN_EXE", "cargo_bin"];
    let here = ["support/mod.rs", "isolation.rs"];
    for file in files_below(&tests).into_iter().filter(|f| f.extension().is_some_and(|e| e == "rs")) {
        let text = fs::read_to_string(&file).expect("a test");
        let allowed = here.iter().any(|h| file.ends_with(h));
        assert!(allowed || !starts.iter().any(|s| text.contains(s)), "{} starts recall by itself: use World", file.display());
    }
}

#[test]
fn a_world_shares_no_variable_and_no_folder_with_the_machine() {
    let world = World::new();
    for (name, value) in world.environment() {
        let is_path = name.ends_with("DIR") || name == "HOME";
        assert!(!is_path || value.starts_with(world.root().to_str().expect("UTF-8")), "{name}={value}");
    }
    let ran = world.recall(["config", "--json"]);
    let machine_home = std::env::var("HOME").unwrap_or_default();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(machine_home.len() < 2 || !ran.out.contains(&format!("\"{machine_home}")), "{ran:?}");
}
