//! `recall show --items`, and what becomes of tool uses: what is memory and what is not.

use serde_json::{Value, json};

use crate::support::{World, assistant, user};

const SESSION: &str = "aaaa1111-0000-4000-8000-000000000001";

/// A tool use and its result, as two rows.
fn tool(id: usize, name: &str, input: Value, failed: bool, output: &str) -> String {
    let minute = format!("2026-11-20T10:{id:02}:00Z");
    let row = |kind: &str, half: u8, content: Value| {
        let role = if kind == "assistant" { "assistant" } else { "user" };
        json!({"type": kind, "uuid": format!("{id:08}-0000-4000-8000-00000000000{half}"), "sessionId": SESSION, "timestamp": minute,
            "cwd": "/home/dev/src/shop", "message": {"role": role, "content": [content]}})
        .to_string()
            + "\n"
    };
    row("assistant", 1, json!({"type": "tool_use", "id": format!("t{id}"), "name": name, "input": input}))
        + &row("user", 2, json!({"type": "tool_result", "tool_use_id": format!("t{id}"), "is_error": failed, "content": output}))
}

fn bash(id: usize, command: &str, failed: bool, output: &str) -> String {
    tool(id, "Bash", json!({"command": command}), failed, output)
}

fn said(id: usize, by_user: bool, text: &str) -> String {
    let key = format!("{id:08}-0000-4000-8000-000000000003");
    let row = if by_user { user } else { assistant };
    row(SESSION, &key, &format!("2026-11-20T10:{id:02}:30Z"), text)
}

/// The rows of a session that fails, searches, installs what was missing and passes.
fn rows() -> String {
    [
        said(1, true, "The checkout tests fail since Monday. Find out why."),
        tool(2, "Grep", json!({"pattern": "checkout"}), false, "src/checkout.ts"),
        tool(3, "Read", json!({"file_path": "/home/dev/src/shop/src/checkout.ts"}), false, "1 export"),
        tool(4, "Skill", json!({"skill": "debugging"}), false, "loaded"),
        bash(5, "grep -rn checkout src | head", false, ""),
        bash(6, "npm test", true, "Error: Cannot find module 'stripe'\nTests: 2 failed, 10 passed"),
        said(7, false, "The root cause is a missing dependency: `stripe` is not in the lock file."),
        tool(8, "Read", json!({"file_path": "/home/dev/src/shop/src/checkout.ts"}), false, "1 export"),
        bash(9, "npm ci", false, "added 210 packages"),
        bash(10, "npm test", false, "Tests: 12 passed, 12 total"),
        said(11, true, "the **checkout tests** fail since monday, find out why"),
        said(12, false, "All 12 tests pass after `npm ci`."),
    ]
    .concat()
}

fn world() -> World {
    let world = World::new();
    world.transcript(&format!("-shop/{SESSION}.jsonl"), rows());
    world
}

fn items(world: &World) -> Vec<Value> {
    let ran = world.recall(["show", SESSION, "--items", "--json"]);
    let shown: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
    shown["items"].as_array().expect("items").clone()
}

fn texts(items: &[Value]) -> Vec<&str> {
    items.iter().filter_map(|item| item["text"].as_str()).collect()
}

#[test]
fn every_item_is_listed_once_with_what_it_is_worth_and_why() {
    let world = world();
    world.digest(&["--summarizer", "extract"]);
    let items = items(&world);
    let told: Vec<String> = items
        .iter()
        .map(|i| format!("{} {} {} {} {}", i["importance"], i["tier"], i["kind"], i["times"], i["text"]).replace('"', ""))
        .collect();
    insta::assert_snapshot!("items", told.join("\n"));
    // All rows that say the same stand behind the one that is listed.
    assert_eq!(items[0]["rows"], json!(["00000001-0000-4000-8000-000000000003", "00000011-0000-4000-8000-000000000003"]));
    let page = world.recall(["show", SESSION, "--items"]).out;
    assert_eq!(page.lines().count(), items.len(), "{page}");
    assert!(page.lines().next().is_some_and(|line| line.contains("strong") && line.ends_with("(2 times)")), "{page}");
}

#[test]
fn commands_of_any_shell_are_worth_the_same() {
    let listed = |shell: &str| {
        let world = World::new();
        let pushed = bash(13, "git commit -am 'lock stripe' && git push", false, "[main 1a2b3c4] lock stripe");
        let rows = (rows() + &pushed).replace(r#""Bash""#, &format!("\"{shell}\""));
        world.transcript(&format!("-shop/{SESSION}.jsonl"), rows);
        world.digest(&["--summarizer", "extract"]);
        items(&world)
    };
    let of_bash = listed("Bash");
    assert_eq!(listed("PowerShell"), of_bash);
    assert_eq!(of_bash.iter().filter(|item| item["kind"] == "tool").count(), 5, "{of_bash:#?}");
    assert_ne!(listed("Console"), of_bash, "a tool that nobody knows is no shell");
}

#[test]
fn what_was_kept_is_listed_before_there_is_a_digest() {
    let world = world();
    world.digest(&["--ingest-only"]);
    assert!(world.recall(["show", SESSION, "--items"]).out.contains("a test or build outcome"));
}

#[test]
fn the_config_says_which_tools_are_no_memory() {
    let stored = |config: &str| {
        let world = world();
        world.configure(config);
        world.digest(&["--ingest-only"]);
        let export = world.recall(["export"]).out;
        ["Grep", "Skill", "Bash"].map(|tool| export.contains(&format!("\"name\":\"{tool}\"")))
    };
    assert_eq!(stored(""), [false, false, true]);
    assert_eq!(stored("[signal]\nskip_tools = [\"Bash\"]\n"), [true, true, false]);
    assert_eq!(stored("[signal]\nskip_tools = [\"Sk*\"]\n"), [true, false, true]);
}

#[test]
fn what_a_compaction_or_a_subagent_says_again_is_no_second_item() {
    let world = World::new();
    // The same under keys of its own.
    let copy = |rows: String, group: &str| rows.replace("-8000-", group).replace(&SESSION.replace("-8000-", group), SESSION);
    world.transcript(&format!("-shop/{SESSION}.jsonl"), rows() + &copy(rows(), "-9000-"));
    let report = copy(said(12, false, "All 12 tests pass after `npm ci`."), "-a000-");
    world.transcript(&format!("-shop/{SESSION}/subagents/agent-a1.jsonl"), report);
    world.digest(&["--summarizer", "extract"]);
    let (twice, once) = (items(&world), {
        let world = self::world();
        world.digest(&["--summarizer", "extract"]);
        items(&world)
    });
    assert_eq!(texts(&twice), texts(&once));
    assert_eq!(twice.last().map(|item| &item["times"]), Some(&json!(3)), "{twice:#?}");
}
