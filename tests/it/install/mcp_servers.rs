//! `recall install --mcp`: the server in the client's own files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::fakes::everything;
use crate::support::{Ran, World};

/// What a client that was used has in its file.
const CLIENTS: &str = r#"{
  "numStartups": 12,
  "oauthAccount": { "emailAddress": "dev@example.org" },
  "mcpServers": {
    "tickets": { "type": "http", "url": "https://tickets.example.org/mcp" }
  },
  "projects": {
    "/home/dev/src/shop": { "allowedTools": [], "mcpServers": {} }
  }
}"#;

fn client_file(world: &World) -> PathBuf {
    world.claude_dir().join(".claude.json")
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
}

/// Runs `recall` in a repository of the world's.
fn in_project(world: &World, args: &[&str]) -> Ran {
    let folder = world.root().join("src/shop");
    fs::create_dir_all(folder.join(".git")).expect("a repository");
    fs::create_dir_all(folder.join("deep/down")).expect("folders");
    Ran::of(world.command().current_dir(folder.join("deep/down")).args(args).output().expect("recall starts"))
}

fn entry(world: &World) -> Value {
    let environment = json!({"RECALL_DATA_DIR": world.data_dir()});
    json!({"type": "stdio", "command": world.program(), "args": ["mcp"], "env": environment})
}

#[test]
fn every_scope_has_its_place_and_gives_it_back_byte_for_byte() {
    for (scope, before) in [
        ("user", None),
        ("user", Some("{}")),
        ("user", Some(CLIENTS)),
        ("local", None),
        ("local", Some(CLIENTS)),
        ("project", None),
        ("project", Some("{\"mcpServers\":{\"other\":{\"command\":\"x\",\"args\":[]}}}\n")),
    ] {
        let world = World::new();
        in_project(&world, &["status"]);
        let root = world.root().join("src/shop").canonicalize().expect("the project");
        let file = if scope == "project" { root.join(".mcp.json") } else { client_file(&world) };
        if let Some(before) = before {
            fs::write(&file, before).expect("the file");
        }
        let was = everything(&world);
        let ran = in_project(&world, &["install", "--timer", "none", "--mcp", "--scope", scope]);
        let asks = |line: &&str| line.contains("`recall install --mcp --allow` adds \"mcp__recall\" to `permissions.allow`");
        assert_eq!(ran.err.lines().filter(asks).count(), 1, "{ran:#?}");
        let others: Vec<&str> = ran.err.lines().filter(|line| !asks(line)).collect();
        assert!(ran.code == 0 && others.iter().all(|line| *line == notice(&root).trim_end()), "{ran:#?}");
        assert!(ran.out.contains(&format!("mcp       {}: registered", file.display())), "{ran:#?}");
        let now = read(&file);
        let ours = match scope {
            "local" => &now["projects"][root.to_str().expect("UTF-8")]["mcpServers"]["recall"],
            _ => &now["mcpServers"]["recall"],
        };
        let expected =
            if scope == "project" { json!({"type": "stdio", "command": "recall", "args": ["mcp"]}) } else { entry(&world) };
        assert_eq!(ours, &expected, "{scope}: {now:#}");

        let again = in_project(&world, &["install", "--timer", "none", "--mcp", "--scope", scope]);
        assert!(again.out.contains("already registered"), "{again:#?}");
        let gone = in_project(&world, &["uninstall"]);
        assert_eq!(gone.code, 0, "{gone:#?}");
        assert_eq!(everything(&world), was, "{scope}: {before:?}");
    }
}

#[test]
fn calls_are_permitted_on_request_and_never_by_an_agent() {
    for before in [None, Some("{\"permissions\": {\"allow\": [\"Bash(ls:*)\"]}}\n")] {
        let world = World::new();
        let file = world.claude_dir().join("settings.json");
        if let Some(before) = before {
            fs::create_dir_all(world.claude_dir()).expect("a folder");
            fs::write(&file, before).expect("the file");
        }
        world.recall(["status"]);
        let was = everything(&world);
        let agent = world.recall_with(["install", "--timer", "none", "--mcp", "--allow"], &[("CLAUDECODE", "1")]);
        assert!(agent.code == 2 && agent.err.contains("let agents call recall without asking you"), "{agent:#?}");
        assert_eq!(everything(&world), was, "nothing was installed");
        let shown = world.recall(["install", "--timer", "none", "--mcp", "--allow", "--dry-run"]);
        assert!(shown.out.contains("mcp__recall") && everything(&world) == was, "{shown:#?}");
        // Hooks and server first, the permission later: it asks for itself only.
        assert_eq!(world.recall(["install", "--timer", "none", "--mcp"]).code, 0);
        let ran = world.recall(["install", "--timer", "none", "--mcp", "--allow"]);
        let lines: Vec<&str> = ran.out.lines().take(3).collect();
        let state = |what: &str, path: &Path, done: &str| format!("{what:<10}{}: {done}", path.display());
        let expected = [
            state("hooks", &file, "already installed"),
            state("mcp", &client_file(&world), "already registered"),
            state("permitted", &file, "mcp__recall"),
        ];
        assert_eq!((ran.code, lines), (0, expected.iter().map(String::as_str).collect()), "{ran:#?}");
        let allowed = read(&file)["permissions"]["allow"].clone();
        assert_eq!(allowed.as_array().and_then(|all| all.last()), Some(&json!("mcp__recall")), "{allowed}");
        let again = world.recall(["install", "--timer", "none", "--mcp", "--allow"]);
        assert!(again.code == 0 && !again.out.contains("permitted"), "{again:#?}");
        assert_eq!(world.recall(["uninstall"]).code, 0);
        assert_eq!(everything(&world), was, "{before:?}");
    }
}

/// What is said to who installs in a project from a folder below it.
fn notice(root: &Path) -> String {
    format!("recall: the hooks are for sessions that are started in {}, not in a folder below it\n", root.display())
}

#[test]
fn without_the_clients_variable_its_file_lies_in_the_home() {
    let world = World::new();
    let run = |args: &[&str]| Ran::of(world.command().env_remove("CLAUDE_CONFIG_DIR").args(args).output().expect("recall starts"));
    assert_eq!(run(&["install", "--timer", "none", "--mcp"]).code, 0);
    let file = world.home().join(".claude.json");
    assert_eq!(read(&file)["mcpServers"]["recall"]["args"], json!(["mcp"]));
    assert_eq!(run(&["uninstall"]).code, 0);
    assert!(!file.exists());
    // A file by its former name is the one the client reads.
    let former = world.home().join(".claude/.config.json");
    fs::create_dir_all(world.home().join(".claude")).expect("a folder");
    fs::write(&former, "{\"numStartups\":1}").expect("the file");
    assert_eq!(run(&["install", "--timer", "none", "--mcp"]).code, 0);
    assert!(read(&former)["mcpServers"]["recall"].is_object() && !file.exists());
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() {
    let world = World::new();
    fs::write(client_file(&world), CLIENTS).expect("the client's file");
    let before = world.everything();
    let ran = world.recall(["install", "--timer", "none", "--mcp", "--dry-run"]);
    assert!(ran.out.contains("+    \"recall\": {") && ran.out.contains(".claude.json"), "{ran:#?}");
    assert_eq!(world.everything(), before);
    assert_eq!(world.recall(["install", "--timer", "none", "--mcp"]).code, 0);
    let before = world.everything();
    let ran = world.recall(["uninstall", "--dry-run"]);
    assert!(ran.out.contains("-    \"recall\": {"), "{ran:#?}");
    assert_eq!(world.everything(), before);
}

#[test]
fn what_the_client_writes_since_stays_and_no_copy_of_its_file_is_kept() {
    let world = World::new();
    fs::write(client_file(&world), CLIENTS).expect("the client's file");
    assert_eq!(world.recall(["install", "--timer", "none", "--mcp"]).code, 0);
    let held = crate::support::files_below(&world.data_dir());
    assert!(held.iter().all(|file| !fs::read_to_string(file).is_ok_and(|text| text.contains("dev@example.org"))), "{held:#?}");
    let mut now = read(&client_file(&world));
    now["numStartups"] = json!(13);
    now["mcpServers"]["later"] = json!({"command": "later", "args": []});
    fs::write(client_file(&world), format!("{now:#}")).expect("the client writes");
    assert_eq!(world.recall(["uninstall"]).code, 0);
    now["mcpServers"].as_object_mut().expect("servers").remove("recall");
    assert_eq!(read(&client_file(&world)), now);
}

#[test]
fn an_empty_file_of_the_clients_is_one_that_it_is_about_to_write() {
    let world = World::new();
    fs::write(client_file(&world), "").expect("the client begins");
    let before = everything(&world);
    let ran = world.recall(["install", "--timer", "none", "--mcp"]);
    assert!(ran.code == 2 && ran.err.contains(".claude.json is empty") && ran.err.contains("try again"), "{ran:#?}");
    assert_eq!(everything(&world), before, "nothing was installed");
    let install = world.process().args(["install", "--timer", "none", "--mcp"]).spawn().expect("recall starts");
    std::thread::sleep(std::time::Duration::from_millis(100));
    fs::write(client_file(&world), CLIENTS).expect("the client goes on");
    assert!(install.wait_with_output().expect("it ends").status.success());
    let now = read(&client_file(&world));
    assert_eq!((&now["numStartups"], &now["mcpServers"]["recall"]), (&json!(12), &entry(&world)));
}

#[test]
fn another_program_of_our_name_stays_and_is_named() {
    let world = World::new();
    let other = world.root().join("other/recall");
    fs::create_dir_all(world.root().join("other")).expect("a folder");
    fs::write(&other, "#!/bin/sh\n").expect("another program");
    let text = format!("{{\"mcpServers\": {{\"memory\": {{\"command\": \"{}\", \"args\": [\"mcp\"]}}}}}}", other.display());
    fs::write(client_file(&world), &text).expect("the client's file");
    assert_eq!(world.recall(["install", "--timer", "none", "--mcp"]).code, 0);
    let now = read(&client_file(&world));
    assert_eq!(now["mcpServers"]["memory"]["command"], json!(other), "{now:#}");
    assert_eq!(now["mcpServers"]["recall"], entry(&world));
    let ran = world.recall(["uninstall"]);
    assert!(ran.code == 0 && ran.err.contains("the server `memory` calls another program"), "{ran:#?}");
    assert_eq!(fs::read_to_string(client_file(&world)).expect("the client's file"), text);
}

#[test]
fn scopes_are_taken_out_one_by_one() {
    let world = World::new();
    for scope in ["user", "local"] {
        assert_eq!(in_project(&world, &["install", "--timer", "none", "--mcp", "--scope", scope]).code, 0);
    }
    assert_eq!(in_project(&world, &["uninstall", "--scope", "user"]).code, 0);
    let left = read(&client_file(&world));
    assert!(left.get("mcpServers").is_none() && left["projects"].to_string().contains("\"recall\""), "{left:#}");
    assert_eq!(in_project(&world, &["uninstall"]).code, 0);
    assert!(!client_file(&world).exists());
}

#[test]
fn an_install_mends_it_and_the_doctor_says_when() {
    let world = World::new();
    world.link_recall();
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    assert!(world.findings("mcp", &[])[0].starts_with("ok: not registered"), "{:?}", world.findings("mcp", &[]));
    assert!(!client_file(&world).exists(), "nobody asked for it");
    assert_eq!(world.recall(["install", "--timer", "none", "--mcp"]).code, 0);
    let well = world.findings("mcp", &[]);
    assert!(well[0].starts_with("ok: ") && well[0].contains("registered as `recall`"), "{well:?}");
    let text = fs::read_to_string(client_file(&world)).expect("the client's file");
    let program = read(&client_file(&world))["mcpServers"]["recall"]["command"].as_str().expect("a command").to_owned();
    fs::write(client_file(&world), text.replace(&program, "/gone/recall")).expect("an older program");
    let found = world.findings("mcp", &[]);
    assert!(found[0].starts_with("problem: ") && found[0].contains("/gone/recall is gone"), "{found:?}");
    // Without being asked again: what is there is kept right.
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    assert_eq!(fs::read_to_string(client_file(&world)).expect("the client's file"), text);
    fs::write(client_file(&world), text.replace("RECALL_DATA_DIR", "RECALL_CONFIG")).expect("other variables");
    assert!(world.findings("mcp", &[])[0].starts_with("warning: "), "{:?}", world.findings("mcp", &[]));
    world.recall(["doctor", "--fix"]);
    assert_eq!(fs::read_to_string(client_file(&world)).expect("the client's file"), text);
}

#[test]
fn a_registration_that_a_running_session_takes_back_is_told_and_mended() {
    let world = World::new();
    world.link_recall();
    fs::write(client_file(&world), CLIENTS).expect("the client's file");
    assert_eq!(world.recall(["install", "--timer", "none", "--mcp"]).code, 0);
    let registered = fs::read_to_string(client_file(&world)).expect("the client's file");
    fs::write(client_file(&world), CLIENTS).expect("what a session had read before");
    let found = world.findings("mcp", &[]);
    assert!(found[0].starts_with("warning: ") && found[0].contains("was registered there, but is missing now"), "{found:?}");
    world.recall(["doctor", "--fix"]);
    assert_eq!(fs::read_to_string(client_file(&world)).expect("the client's file"), registered);

    fs::write(client_file(&world), CLIENTS).expect("again");
    assert!(world.recall(["uninstall"]).code < 2);
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    assert!(world.findings("mcp", &[])[0].starts_with("ok: not registered"), "who does without it is not told that it is gone");
    world.recall(["doctor", "--fix"]);
    assert_eq!(fs::read_to_string(client_file(&world)).expect("the client's file"), CLIENTS);
}

#[test]
fn what_is_anothers_or_broken_is_left_alone() {
    for (text, word) in [
        ("{\"mcpServers\": {\"recall\": {\"command\": \"total-recall\", \"args\": [\"mcp\"]}}}", "another program's"),
        ("{\"mcpServers\": 7}", "no object"),
        ("{ // mine\n}", "comment"),
        ("{\"mcpServers\": {}", ""),
    ] {
        let world = World::new();
        fs::write(client_file(&world), text).expect("the client's file");
        let before = everything(&world);
        let ran = world.recall(["install", "--timer", "none", "--mcp"]);
        assert!(ran.code == 2 && ran.err.contains(".claude.json:1:") && ran.err.contains(word), "{text}: {ran:#?}");
        assert_eq!(everything(&world), before, "nothing was installed");
        let ran = world.recall(["install", "--timer", "none"]);
        assert_eq!(ran.code, 0, "without it all is well: {ran:#?}");
        assert_eq!(fs::read_to_string(client_file(&world)).expect("the client's file"), text);
        assert!(world.recall(["uninstall"]).code < 2);
        assert_eq!(fs::read_to_string(client_file(&world)).expect("the client's file"), text);
    }
}
