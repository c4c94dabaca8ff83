//! `recall config`: what holds, where it came from, and errors that say where to look.

use std::fs;

use serde_json::Value;

use crate::support::{Ran, World};

/// Value and origin of one key.
fn setting(world: &World, variables: &[(&str, &str)], key: &str) -> (String, String) {
    let ran = world.recall_with(["config", "--json"], variables);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let all: Vec<Value> = serde_json::from_str(&ran.out).unwrap();
    let found = all.iter().find(|s| s["key"] == key).unwrap_or_else(|| panic!("no {key} in {all:#?}"));
    (found["value"].as_str().unwrap().to_owned(), found["from"].as_str().unwrap().to_owned())
}

/// Runs `recall config` and `recall digest` with this file: both refuse it with the same words.
fn refused(text: &str) -> (World, Ran) {
    let world = World::with_fixtures(&["plain"]);
    fs::create_dir_all(world.config_file().parent().unwrap()).unwrap();
    fs::write(world.config_file(), text).unwrap();
    let path = world.config_file().to_str().unwrap().to_owned();
    let ran = world.recall_with(["config"], &[("RECALL_CONFIG", &path)]);
    let digest = world.recall_with(["digest"], &[("RECALL_CONFIG", &path)]);
    assert_eq!((ran.code, digest.code, &ran.out), (2, 2, &String::new()), "{text}: {ran:#?} {digest:#?}");
    assert_eq!(ran.err, digest.err);
    assert!(!world.data_dir().exists(), "nothing is done with a config that is wrong");
    (world, ran)
}

#[test]
fn every_key_has_a_default() {
    let world = World::new();
    for (key, value) in [
        ("digest.summarizer", "\"auto\""),
        ("digest.model", "\"haiku\""),
        ("digest.max_cost_usd", "0.5"),
        ("digest.max_cost_usd_per_day", "1.0"),
        ("digest.settle_minutes", "10"),
        ("digest.backlog", "20"),
        ("privacy.exclude_projects", "[]"),
        ("privacy.isolate", "[]"),
        ("hooks.scope", "\"project\""),
        ("timezone", "system"),
    ] {
        assert_eq!(setting(&world, &[], key), (value.to_owned(), "default".to_owned()), "{key}");
    }
}

#[test]
fn values_are_shown_with_where_they_came_from() {
    let world = World::new();
    world.configure("timezone = \"Asia/Tokyo\"\n[digest]\nmax_sessions = 7\n[projects]\n\"/old\" = \"/new\"\n");
    let (file, from) = setting(&world, &[], "config_file");
    assert_eq!(from, "found");
    assert!(file.starts_with(world.home().to_str().unwrap()), "{file}");
    assert_eq!(setting(&world, &[], "digest.max_sessions"), ("7".to_owned(), file.clone()));
    assert_eq!(setting(&world, &[], "timezone"), ("\"Asia/Tokyo\"".to_owned(), file.clone()));
    assert_eq!(setting(&world, &[], "projects./old"), ("\"/new\"".to_owned(), file));
    assert_eq!(setting(&world, &[], "digest.model").1, "default");
    assert_eq!(setting(&world, &[], "data_dir"), (world.data_dir().to_str().unwrap().to_owned(), "$RECALL_DATA_DIR".to_owned()));
    assert_eq!(setting(&world, &[], "claude_dirs").1, "$CLAUDE_CONFIG_DIR");
}

#[test]
fn without_variables_the_platforms_folders_below_the_home_are_used() {
    let world = World::new();
    let home = world.home().to_str().unwrap().to_owned();
    let ran = world.shell("unset RECALL_DATA_DIR CLAUDE_CONFIG_DIR; exec \"$RECALL\" config");
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.out.contains(&format!("{home}/.claude")), "{ran:#?}");
    for line in ran.out.lines().filter(|l| l.starts_with("data_dir") || l.starts_with("config_file")) {
        assert!(line.contains(&home) && line.contains("recall"), "{line}");
    }
}

#[test]
fn a_config_file_that_was_named_must_be_there() {
    let world = World::new();
    let gone = world.root().join("gone.toml");
    let ran = world.recall_with(["config"], &[("RECALL_CONFIG", gone.to_str().unwrap())]);
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(ran.err.contains("gone.toml"), "{ran:#?}");
}

#[test]
fn an_unknown_or_wrong_key_is_named_with_file_and_line() {
    let cases = [
        ("# a comment\n\n[digest]\nmodel = \"haiku\"\nmax_sesions = 7\n", 5, "max_sesions"),
        ("[digest]\nmax_sessions = \"seven\"\n", 2, "max_sessions"),
        ("[digest]\nsummarizer = \"oracle\"\n", 2, "summarizer"),
        ("[digest]\nmax_cost_usd = true\n", 2, "max_cost_usd"),
        ("colour = true\n", 1, "colour"),
        ("\n[exlude]\npaths = []\n", 2, "exlude"),
        ("[exclude]\npaths = [\n  \"a\",\n  7,\n]\n", 4, "7"),
        ("[prices.mine]\ninput = 1.0\noutput = 2.0\nouput = 3.0\n", 4, "ouput"),
        ("[digest]\nmodel = \n", 2, "model"),
    ];
    for (text, line, key) in cases {
        let (world, ran) = refused(text);
        let place = format!("{}:{line}:", world.config_file().display());
        assert!(ran.err.contains(&place) && ran.err.contains(key), "{place} {key}\n{text}\n{ran:#?}");
    }
}

#[test]
fn a_value_that_cannot_be_meant_is_named_with_file_and_line() {
    let cases = [
        ("[digest]\nmodel = \"haiku\"\nmax_cost_usd = -1.0\n", 3, "max_cost_usd"),
        ("[digest]\nparallel_calls = 0\n", 2, "parallel_calls"),
        ("[digest]\n\ntimeout_seconds = 0\n", 3, "timeout_seconds"),
        ("timezone = \"Atlantis/Central\"\n", 1, "timezone"),
        ("[prices.haiku]\ninput = 1.0\noutput = nan\n", 3, "prices.haiku.output"),
        ("[prices.\"some-model\"]\ninput = inf\noutput = 1.0\n", 2, "input"),
        ("[prices.haiku]\ninput = 1.0\noutput = 5.0\n\ncache_read = -0.1\n", 5, "cache_read"),
        ("[exclude]\nprojects = [\"[\"]\n", 2, "projects"),
        ("claude_dirs = ['~/.claude', 'notes/.claude']\n", 1, "claude_dirs"),
        ("[sources.codex]\ndirs = ['$HOME/codex']\n", 2, "sources.codex.dirs"),
        ("[projects]\n'/' = '/srv'\n", 1, "projects"),
    ];
    for (text, line, key) in cases {
        let (world, ran) = refused(text);
        let place = format!("{}:{line}:", world.config_file().display());
        assert!(ran.err.contains(&place) && ran.err.contains(key), "{place} {key}\n{text}\n{ran:#?}");
    }
}

/// The largest number that a config can hold is refused with the key's name, or does no harm.
#[test]
fn no_number_is_too_large() {
    let init = World::new();
    assert_eq!(init.recall(["config", "--init"]).code, 0);
    let text = fs::read_to_string(setting(&init, &[], "config_file").0).unwrap();
    let mut table = String::new();
    let mut tried = 0;
    for line in text.lines() {
        if line.starts_with('[') {
            table = line.trim_matches(['[', ']']).to_owned();
        }
        let Some((key, value)) = line.strip_prefix('#').and_then(|line| line.split_once(" = ")) else { continue };
        if key.contains(' ') || value.parse::<u64>().is_err() {
            continue;
        }
        tried += 1;
        let world = World::with_fixtures(&["plain"]);
        world.configure(&format!("[{table}]\n{key} = {}\n", i64::MAX));
        let commands: [&[&str]; 6] = [
            &["digest", "--dry-run"],
            &["digest", "--summarizer", "extract"],
            &["search", "orders"],
            &["context"],
            &["status"],
            &["doctor"],
        ];
        for command in commands {
            let ran = world.recall(command);
            let is_named = ran.code == 2
                && ran.err.contains(&format!("{key}`"))
                && ["must be", "expected"].iter().any(|word| ran.err.contains(word));
            assert!(!ran.err.contains("panicked") && (ran.code < 2 || is_named), "{table}.{key} {command:?}: {ran:#?}");
        }
    }
    assert!(tried >= 10, "{tried}");
}

#[test]
fn the_configured_time_zone_beats_the_environments() {
    let world = World::with_fixtures(&["plain"]);
    world.configure("timezone = \"Asia/Tokyo\"\n");
    world.digest(&["--summarizer", "extract"]);
    // 22:23 UTC on the 17th.
    assert!(world.pages().iter().any(|(name, _)| name == "daily/2026-11/2026-11-18.md"), "{:?}", world.pages());
}

#[test]
fn configured_config_directories_are_read_and_the_command_line_beats_them() {
    let world = World::with_fixtures(&["plain"]);
    let other = world.root().join("other");
    fs::create_dir_all(other.join("projects")).unwrap();
    world.configure(&format!("claude_dirs = [{other:?}]\n"));
    assert_eq!(world.digest(&["--ingest-only"])["files_seen"], 0);
    let here = world.claude_dir();
    assert_eq!(world.digest(&["--ingest-only", "--claude-dir", here.to_str().unwrap()])["files_seen"], 1);
}

#[test]
fn a_new_file_holds_every_setting_as_a_comment_and_changes_nothing() {
    let world = World::new();
    let before = world.recall(["config", "--json"]);
    let ran = world.recall(["config", "--init"]);
    let file = setting(&world, &[], "config_file").0;
    assert_eq!((ran.code, ran.out.trim()), (0, file.as_str()), "{ran:#?}");
    let text = fs::read_to_string(&file).unwrap();
    let values = |out: &str| -> Vec<(String, String)> {
        let all: Vec<Value> = serde_json::from_str(out).unwrap();
        let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
        all.iter().map(|one| (text(one, "key"), text(one, "value"))).collect()
    };
    let after = world.recall(["config", "--json"]);
    assert_eq!(values(&before.out), values(&after.out));
    // With every comment away it says the same: the defaults that it names are those that hold.
    let said = text.lines().map(|line| match line.strip_prefix('#') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_lowercase()) => rest,
        _ => line,
    });
    fs::write(&file, said.collect::<Vec<_>>().join("\n")).unwrap();
    let all = world.recall(["config", "--json"]);
    assert_eq!(values(&before.out), values(&all.out));
    let told: Vec<Value> = serde_json::from_str(&all.out).unwrap();
    let by_default: Vec<&Value> = told.iter().filter(|one| one["from"] == "default").collect();
    // Where a client keeps its files depends on the machine.
    let depends = |key: &str| ["timezone", "claude_dirs"].contains(&key) || key.starts_with("sources.") && key.ends_with(".dirs");
    assert!(by_default.iter().all(|one| depends(one["key"].as_str().unwrap())), "{by_default:#?}");
}

#[test]
fn a_file_that_is_there_is_not_written_over() {
    let world = World::new();
    world.configure("[digest]\nmax_sessions = 7\n");
    let ran = world.recall(["config", "--init"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("already exists and was not changed"), "{}", ran.err);
    assert_eq!(setting(&world, &[], "digest.max_sessions").0, "7");
    let named = world.root().join("elsewhere/recall.toml");
    let variables = [("RECALL_CONFIG", named.to_str().unwrap())];
    assert_eq!(world.recall_with(["config", "--init"], &variables).code, 0);
    assert_eq!(setting(&world, &variables, "digest.max_sessions").0, "40");
}

#[test]
fn a_config_of_an_older_recall_means_what_it_meant() {
    let world = World::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/config-42cbbc7.toml");
    let ran = world.recall_with(["config", "--json"], &[("RECALL_CONFIG", file)]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let all: Vec<Value> = serde_json::from_str(&ran.out).expect("JSON");
    let (mut section, mut read) = (String::new(), 0);
    for line in fs::read_to_string(file).expect("the fixture").lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = format!("{}.", name.trim_end_matches(']'));
        } else if let Some((key, value)) = line.split_once(" = ") {
            let setting =
                all.iter().find(|one| one["key"] == format!("{section}{key}")).unwrap_or_else(|| panic!("no {section}{key}"));
            assert_eq!((setting["value"].as_str(), setting["from"].as_str()), (Some(value), Some(file)), "{section}{key}");
            read += 1;
        }
    }
    assert_eq!(read, 32, "every setting of the fixture");
    // What was renamed still holds, and its new name is told.
    for (old, new) in [("projects", "exclude_projects"), ("paths", "exclude_transcripts")] {
        assert!(ran.err.contains(&format!("`{old}` in [exclude] is called `{new}` in [privacy]")), "{}", ran.err);
    }
}
