//! No test may see the machine's own user: only `support` starts `recall`, and with an environment of its own. And no test may be left
//! out: every file below `tests/` belongs to one of the two test binaries.

use std::fs;

use crate::support::{World, files_below};

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
fn every_file_of_tests_is_compiled() {
    let tests = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for file in files_below(&tests).into_iter().filter(|f| f.extension().is_some_and(|e| e == "rs")) {
        let (folder, stem) = (file.parent().expect("a folder"), file.file_stem().and_then(|s| s.to_str()).expect("UTF-8"));
        if stem == "main" {
            assert!(
                [tests.join("it"), tests.join("stress")].contains(&folder.to_owned()),
                "{} is a test binary of its own",
                file.display()
            );
            continue;
        }
        // `x/mod.rs` is declared where `x.rs` would be.
        let (folder, name) = if stem == "mod" {
            (folder.parent().expect("a folder"), folder.file_name().and_then(|s| s.to_str()).expect("UTF-8"))
        } else {
            (folder, stem)
        };
        let parents = if folder == tests {
            vec![tests.join("it/main.rs"), tests.join("stress/main.rs")]
        } else {
            vec![folder.join("mod.rs"), folder.join("main.rs")]
        };
        let declared = parents.iter().filter_map(|p| fs::read_to_string(p).ok()).any(|t| t.contains(&format!("mod {name};")));
        assert!(declared, "{} is no module of a test binary: declare it in {}", file.display(), folder.display());
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
