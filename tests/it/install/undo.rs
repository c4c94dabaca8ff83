//! Uninstall when the world went on since, and the data folder.

use std::fs;
use std::os::unix::fs::symlink;

use super::fakes::{self, everything};
use crate::support::{Ran, World, age, fed};

#[test]
fn what_others_wrote_since_stays() {
    let world = World::new();
    let file = world.claude_dir().join("settings.json");
    fs::write(&file, "{\n  \"model\": \"opus\"\n}\n").unwrap();
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    let edited = fs::read_to_string(&file).unwrap().replace("\"opus\"", "\"sonnet\",\n  \"theme\": \"dark\"");
    fs::write(&file, edited).unwrap();
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\n  \"model\": \"sonnet\",\n  \"theme\": \"dark\"\n}\n");
    let again = world.recall(["uninstall"]);
    assert_eq!((again.code, again.out.as_str()), (0, "nothing is installed\n"), "{again:#?}");
}

#[test]
fn a_file_that_install_created_goes_only_when_nothing_else_is_in_it() {
    let world = World::new();
    let file = world.claude_dir().join("settings.json");
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    let theirs = fs::read_to_string(&file).unwrap().replacen('{', "{\n  \"theme\": \"dark\",", 1);
    fs::write(&file, &theirs).unwrap();
    // A second install writes to it again: it is not ours alone nevertheless.
    fs::write(&file, theirs.replace("\"timeout\": 5", "\"timeout\": 9")).unwrap();
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\n  \"theme\": \"dark\"\n}\n");
}

#[test]
fn without_its_notes_ours_is_found_all_the_same() {
    let world = World::new();
    let file = world.claude_dir().join("settings.json");
    fs::write(
        &file,
        r#"{"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"/gone/recall hook session-end"}]}],"Stop":[{"hooks":[{"type":"command","command":"recall hook stop"},{"type":"command","command":"theirs"}]}]}}"#,
    )
    .unwrap();
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"theirs"}]}]}}"#);
    assert!(!world.data_dir().exists());
}

#[test]
fn a_broken_file_keeps_nothing_else_from_being_undone() {
    let world = World::new();
    fakes::crontab(&world);
    let file = world.claude_dir().join("settings.json");
    assert_eq!(world.recall(["install", "--timer", "cron"]).code, 0);
    let broken = fs::read_to_string(&file).unwrap() + "}";
    fs::write(&file, &broken).unwrap();
    let ran = world.recall(["uninstall"]);
    assert!(ran.code == 1 && ran.err.contains("settings.json:") && ran.err.contains("by hand"), "{ran:#?}");
    assert_eq!((fs::read_to_string(&file).unwrap(), fakes::table(&world)), (broken.clone(), None));
    // Mended by hand, the next one takes out the rest.
    fs::write(&file, broken.strip_suffix('}').unwrap()).unwrap();
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert!(!file.exists() && !world.data_dir().exists());
}

#[test]
fn the_data_stays_unless_it_is_asked_for() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let data = everything(&world);
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert_eq!(everything(&world), data);

    // There is no terminal to ask on.
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    let before = everything(&world);
    let ran = world.recall(["uninstall", "--purge"]);
    assert!(ran.code == 2 && ran.err.contains("--yes"), "{ran:#?}");
    assert_eq!(everything(&world), before, "nothing is undone");
    let shown = world.recall(["uninstall", "--purge", "--dry-run"]);
    assert!(shown.out.contains("would delete"), "{shown:#?}");
    assert_eq!(everything(&world), before);

    assert_eq!(world.recall(["uninstall", "--purge", "--yes"]).code, 0);
    assert!(!world.data_dir().exists());
    let left = everything(&world);
    assert!(left.iter().all(|(path, _)| path.starts_with(world.claude_dir().join("projects"))), "{left:#?}");
}

#[test]
fn no_folder_is_deleted_that_is_not_surely_ours() {
    let refused = |world: &World, data: &str, why: &str| {
        let before = everything(world);
        let ran = world.recall_with(["uninstall", "--purge", "--yes"], &[("RECALL_DATA_DIR", data)]);
        assert!(ran.code == 2 && ran.err.contains(why), "{data}: {ran:#?}");
        assert_eq!(everything(world), before, "{data}");
    };
    let world = World::new();
    let path = |name: &str| world.root().join(name).to_str().unwrap().to_owned();
    fs::create_dir(path("photos")).unwrap();
    fs::write(path("photos") + "/cat.jpg", "meow").unwrap();
    refused(&world, &path("photos"), "does not look like");
    fs::write(path("home") + "/recall.db", "").unwrap();
    refused(&world, &path("home"), "holds more than");
    fs::write(path("install.json"), "{\"version\":1}").unwrap();
    refused(&world, &path("."), "holds more than");
    fs::create_dir_all(path("repository") + "/.git").unwrap();
    fs::write(path("repository") + "/recall.db", "").unwrap();
    refused(&world, &path("repository"), "holds more than");
    // Only looked at: a test must not depend on what it tests here.
    let root = world.recall_with(["uninstall", "--purge", "--dry-run"], &[("RECALL_DATA_DIR", "/")]);
    assert!(root.code == 2 && root.out.is_empty(), "{root:#?}");
}

#[test]
fn a_data_folder_behind_a_link_goes_with_the_link() {
    let world = World::with_fixtures(&["plain"]);
    let real = world.root().join("big disk");
    fs::create_dir(&real).unwrap();
    symlink(&real, world.data_dir()).unwrap();
    world.digest(&["--summarizer", "extract"]);
    let ran = world.recall(["uninstall", "--purge", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!real.exists() && !world.data_dir().is_symlink());
}

#[test]
fn copies_of_what_came_and_went_go_too() {
    let world = World::new();
    fakes::crontab(&world);
    let (file, table) = (world.claude_dir().join("settings.json"), world.root().join("crontab"));
    fs::write(&file, "{\"model\":\"opus\"}").unwrap();
    fs::write(&table, "0 5 * * * theirs\n").unwrap();
    assert_eq!(world.recall(["install", "--timer", "cron"]).code, 0);
    // Deleted by its owner, and installed into anew; our block taken out by hand.
    fs::remove_file(&file).unwrap();
    assert_eq!(world.recall(["install"]).code, 0);
    fs::write(&table, "0 5 * * * theirs\n").unwrap();
    let ran = world.recall(["uninstall"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    assert!(!file.exists() && !world.data_dir().exists(), "{:?}", everything(&world));
    assert_eq!(fs::read_to_string(&table).unwrap(), "0 5 * * * theirs\n");
}

#[test]
fn hooks_a_team_committed_stay_unless_they_are_asked_for() {
    let world = World::new();
    let shop = world.root().join("shop");
    fs::create_dir_all(shop.join(".git")).unwrap();
    fs::create_dir_all(shop.join(".claude")).unwrap();
    let file = shop.join(".claude/settings.json");
    let theirs = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"command -v recall >/dev/null && recall hook stop || true"}]}]}}"#;
    fs::write(&file, theirs).unwrap();
    let run = |args: &[&str]| Ran::of(world.process().args(args).current_dir(&shop).output().unwrap());
    assert_eq!(run(&["install", "--timer", "none"]).code, 0);
    let ran = run(&["uninstall"]);
    assert!(ran.code == 0 && ran.err.contains("uninstall --scope project"), "{ran:#?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), theirs);
    assert!(!world.data_dir().exists());
    assert_eq!(run(&["uninstall", "--scope", "project"]).code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}");
}

#[test]
fn a_server_a_team_committed_stays_unless_it_is_asked_for_and_that_is_said() {
    let world = World::new();
    let shop = world.root().join("shop");
    fs::create_dir_all(shop.join(".git")).unwrap();
    let file = shop.join(".mcp.json");
    let theirs = r#"{"mcpServers":{"recall":{"type":"stdio","command":"recall","args":["mcp"]}}}"#;
    fs::write(&file, theirs).unwrap();
    let run = |args: &[&str]| Ran::of(world.process().args(args).current_dir(&shop).output().unwrap());
    assert_eq!(run(&["install", "--timer", "none"]).code, 0);
    let ran = run(&["uninstall"]);
    assert!(ran.code == 0 && ran.err.contains(".mcp.json keeps its server") && ran.err.contains("--scope project"), "{ran:#?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), theirs);
    assert_eq!(run(&["uninstall", "--scope", "project"]).code, 0);
    assert!(!fs::read_to_string(&file).unwrap().contains("recall"));
}

#[test]
fn a_purge_takes_nothing_that_is_not_recalls() {
    let world = World::new();
    let documents = world.root().join("documents");
    fs::create_dir(&documents).unwrap();
    fs::write(documents.join("thesis.md"), "years of work").unwrap();
    let data = [("RECALL_DATA_DIR", documents.to_str().unwrap())];
    assert_eq!(world.recall_with(["install", "--timer", "none"], &data).code, 0);
    let before = everything(&world);
    let ran = world.recall_with(["uninstall", "--purge", "--yes"], &data);
    assert!(ran.code == 2 && ran.err.contains("thesis.md"), "{ran:#?}");
    assert_eq!(everything(&world), before);
}

/// Each command with arguments with which it does its work. A command that is missing here fails the test below.
const COMMANDS: [(&str, &[&str]); 39] = [
    ("digest", &["--summarizer", "extract"]),
    ("day", &[]),
    ("list", &[]),
    ("show", &["last"]),
    ("serve", &["--export", "site"]),
    ("resume", &["--print"]),
    ("todo", &[]),
    ("report", &[]),
    ("close", &["i12345678"]),
    ("remember", &["Deploys go through the build server"]),
    ("wrong", &["last"]),
    ("rules", &[]),
    ("search", &["orders"]),
    ("timeline", &["last"]),
    ("context", &[]),
    ("why", &["orders"]),
    ("fix", &["error"]),
    ("how", &[]),
    ("install", &["--timer", "none", "--mcp"]),
    ("status", &[]),
    ("doctor", &["--fix"]),
    ("stats", &[]),
    ("forget", &["--yes", "--match", "zzzz"]),
    ("config", &[]),
    ("embed", &[]),
    ("eval", &[]),
    ("export", &[]),
    ("friction", &[]),
    ("import", &["--from", "claude-mem"]),
    ("mcp", &[]),
    ("redact", &[]),
    ("share", &[]),
    ("sync", &["add", "place"]),
    ("team", &[]),
    ("completions", &["bash"]),
    ("man", &[]),
    ("pause", &["1h"]),
    ("pause", &["--off"]),
    ("uninstall", &["--dry-run"]),
];

#[test]
fn a_purge_knows_whatever_a_command_leaves_in_the_data_folder() {
    let world = World::with_fixtures(&["plain"]);
    for name in world.commands() {
        assert!(COMMANDS.iter().any(|(known, _)| *known == name), "what does `recall {name}` leave there?");
    }
    fs::create_dir(world.root().join("place")).unwrap();
    for (name, args) in COMMANDS {
        let ran = fed(
            {
                let mut command = world.process();
                command.arg(name).args(args);
                command
            },
            b"",
        );
        assert!((0..=2).contains(&ran.code), "{name}: {ran:#?}");
        for event in ["session-start", "user-prompt-submit", "session-end", "pre-compact"] {
            world.hook(event, format!("{{\"session_id\":\"s-{name}\",\"cwd\":\"/x\",\"prompt\":\"Sort the orders\"}}"));
        }
        let ran = world.recall(["uninstall", "--purge", "--dry-run"]);
        assert!(ran.code == 0 && ran.out.contains("would delete"), "{name}: {ran:#?}");
    }
    // And what is left by those that were killed.
    for left in ["open-in-browser.html", ".claude-mem-abc123/claude-mem.db", ".recall-tmp-0123456789ab"] {
        let file = world.data_dir().join(left);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "text").unwrap();
    }
    assert_eq!(world.recall(["uninstall", "--purge", "--yes"]).code, 0);
    assert!(!world.data_dir().exists());
}

#[test]
fn the_data_stays_while_something_is_not_undone() {
    let world = World::new();
    let file = world.claude_dir().join("settings.json");
    fs::write(&file, "{}").unwrap();
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{whole}}}")).unwrap();
    let ran = world.recall(["uninstall", "--purge", "--yes"]);
    assert!(ran.code == 1 && ran.err.contains("by hand") && ran.err.contains("is not deleted"), "{ran:#?}");
    // What it was before is still known.
    fs::write(&file, whole).unwrap();
    assert_eq!(world.recall(["uninstall", "--purge", "--yes"]).code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}");
    assert!(!world.data_dir().exists());
}

#[test]
fn a_command_of_the_users_own_that_calls_recall_too_stays_and_is_named() {
    let world = World::new();
    let own = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mytool; recall hook stop"}]}]}}"#;
    fs::write(world.claude_dir().join("settings.json"), own).unwrap();
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    let ran = world.recall(["uninstall"]);
    assert!(ran.code == 1 && ran.err.contains("mytool; recall hook stop") && ran.err.contains("by hand"), "{ran:#?}");
    assert_eq!(fs::read_to_string(world.claude_dir().join("settings.json")).unwrap(), own);
}

#[test]
fn what_a_killed_install_left_goes_and_no_file_of_the_users() {
    let world = World::new();
    let folder = world.claude_dir();
    let left = folder.join(".recall-tmp-0123456789ab");
    let theirs = [".recall-ignore", ".recall-backup", ".recall-notes2", ".recall-tmp-notes", ".recall-tmp-0123456789ab.json"];
    let theirs = theirs.map(|name| folder.join(name));
    for file in theirs.iter().chain([&left]) {
        fs::write(file, "some text").unwrap();
        age(file, std::time::Duration::from_secs(7200));
    }
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    assert!(!left.exists());
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert!(theirs.iter().all(|file| file.exists()), "{:?}", everything(&world));
}

#[test]
fn what_a_killed_uninstall_left_goes_also_where_nothing_is_left_to_be_done() {
    // With a memory: an uninstall that finds nothing at all makes no folder to work in.
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    for verb in ["install", "uninstall"] {
        let args: &[&str] = if verb == "install" { &["install", "--timer", "none"] } else { &["uninstall"] };
        assert_eq!(world.recall(args).code, 0);
        let left = [world.claude_dir(), world.home()].map(|folder| folder.join(".recall-tmp-0123456789ab"));
        for file in &left {
            fs::write(file, "what the settings were").unwrap();
            age(file, std::time::Duration::from_secs(7200));
        }
        assert_eq!(world.recall(args).code, 0);
        assert!(left.iter().all(|file| !file.exists()), "{verb}");
    }
}

#[test]
fn a_deletion_that_was_cut_short_at_its_end_is_ended_by_the_same_command() {
    let world = World::new();
    fs::create_dir_all(world.data_dir()).unwrap();
    fs::write(world.data_dir().join("lock"), "").unwrap();
    let ran = world.recall(["uninstall", "--purge", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!world.data_dir().exists());
}
