//! What the README shows is what the program does.

use std::fs;
use std::path::Path;

use crate::support::World;

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("the README")
}

#[test]
fn the_day_in_the_readme_is_the_one_the_fixture_gives() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let (_, page) = world.pages().into_iter().find(|(path, _)| path.ends_with("2026-11-17.md")).expect("the page of the day");
    assert!(readme().contains(&format!("````markdown\n{page}````\n")), "the README shows another page than:\n{page}");
}

#[test]
fn the_notes_in_the_readme_are_the_ones_the_fixture_gives() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let ran = world.recall_with(["context", "--cwd", "/home/dev/src/shop"], &[("RECALL_NOW", "2026-11-18T09:00:00Z")]);
    assert!(readme().contains(&format!("````markdown\n{}````\n", ran.out)), "the README shows other notes than:\n{}", ran.out);
}

#[test]
fn every_setting_in_the_readme_is_one_the_program_knows() {
    let readme = readme();
    let block = readme.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the settings");
    let world = World::new();
    world.configure(block);
    let ran = world.recall(["config", "--json"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let known: Vec<serde_json::Value> = serde_json::from_str(&ran.out).expect("the settings as JSON");
    for table in ["digest.", "embeddings.", "hooks.", "retention.", "signal."] {
        let keys: Vec<&str> = known.iter().filter_map(|s| s["key"].as_str()).filter(|k| k.starts_with(table)).collect();
        assert!(!keys.is_empty(), "{table}");
        for key in keys {
            let name = key.rsplit('.').next().unwrap_or(key);
            assert!(block.contains(&format!("\n{name} = ")), "the README does not name {key}");
        }
    }
}

#[test]
fn every_command_of_the_program_stands_in_the_readme() {
    let commands = World::new().commands();
    assert!(commands.len() > 25 && commands.iter().any(|name| name == "redact"), "{commands:?}");
    for command in commands {
        assert!(readme().contains(&format!("recall {command}")), "the README does not name `recall {command}`");
    }
}
