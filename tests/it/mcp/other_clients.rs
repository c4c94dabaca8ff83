//! Other people's clients talk to the server: the client of the PyPI package `mcp`, and the command line of the npm inspector.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Ran, World, fed};

const TOOLS: [&str; 7] = ["search", "timeline", "get", "recall", "remember", "close", "status"];
const SESSION: &str = "64b0b6d9";
const NOTE: &str = "Deploys of the shop go through the blue gateway, never directly";

/// RECALL_TEST_MCP_CLIENTS names the folder; `.ci/install-mcp-clients DIR` fills it.
fn clients() -> PathBuf {
    std::env::var_os("RECALL_TEST_MCP_CLIENTS").expect("RECALL_TEST_MCP_CLIENTS names the clients' folder").into()
}

/// Every tool with an input that is good, with a word of what comes back, and one that is bad, with a word of why.
fn calls(world: &World) -> Vec<(&'static str, Value, &'static str, Value, &'static str)> {
    let kept = world.recall(["remember", "--kind", "todo", "--json", "Check the page size once more"]);
    let todo: Value = serde_json::from_str(&kept.out).unwrap_or_else(|e| panic!("{e}: {kept:#?}"));
    vec![
        ("search", json!({"query": "keyset pagination", "limit": 5}), SESSION, json!({"query": "orders", "limit": 0}), "limit"),
        ("timeline", json!({"id": SESSION, "before": 2, "after": 2}), SESSION, json!({"id": "ffffffff"}), "ffffffff"),
        ("get", json!({"ids": [SESSION], "detail": "full"}), "keyset", json!({"ids": []}), "1 to 10"),
        ("recall", json!({"topic": "pagination of the order list", "max_tokens": 400}), SESSION, json!({"topic": ""}), "topic"),
        ("remember", json!({"text": NOTE, "kind": "convention"}), "\"known\":false", json!({"text": "ok"}), "not remembered"),
        ("close", json!({"ids": [todo["id"]]}), "\"open\":false", json!({"ids": []}), "1 to 20"),
        ("status", json!({}), "\"sessions\":2", json!({"verbose": true}), "verbose"),
    ]
}

#[test]
#[ignore = "needs the clients of .ci/install-mcp-clients: set RECALL_TEST_MCP_CLIENTS"]
fn the_client_of_the_python_package_lists_and_calls_everything() {
    let world = World::digested(&["plain", "retry"]);
    let calls = calls(&world);
    let steps: Vec<Value> =
        [json!(["list_tools"]), json!(["list_prompts"]), json!(["list_resources"]), json!(["list_resource_templates"])]
            .into_iter()
            .chain(
                calls
                    .iter()
                    .cloned()
                    .flat_map(|(tool, good, _, bad, _)| [json!(["call_tool", tool, good]), json!(["call_tool", tool, bad])]),
            )
            .chain([
                json!(["call_tool", "forget", {}]),
                json!(["read_resource", "recall://day/2026-11-17"]),
                json!(["read_resource", "recall://day/../recall.db"]),
                json!(["get_prompt", "where-did-we-leave-off", {"topic": "pagination"}]),
                json!(["get_prompt", "where-to", {}]),
                json!(["send_ping"]),
            ])
            .collect();
    let environment: Value = world
        .environment()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let asked = json!({"command": world.program(), "args": ["mcp"], "env": environment, "cwd": world.root(), "steps": steps});
    let mut command = std::process::Command::new(clients().join("venv/bin/python"));
    command.env_clear().envs(world.environment()).current_dir(world.root());
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp/client.py"));
    let ran = fed(command, asked.to_string().as_bytes());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    let mut told = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|e| panic!("{e}: {line}")));
    let mut next = || told.next().unwrap_or_else(|| panic!("more was asked: {ran:#?}"));

    assert_eq!(next()["serverInfo"]["name"], "recall");
    let tools = next();
    let names: Vec<_> =
        tools["tools"].as_array().expect("tools").iter().map(|tool| tool["name"].as_str().expect("a name")).collect();
    assert_eq!(names.len(), TOOLS.len());
    assert!(TOOLS.iter().all(|tool| names.contains(tool)), "{names:?}");
    assert_eq!(next()["prompts"][0]["name"], "where-did-we-leave-off");
    assert!(next()["resources"].to_string().contains("recall://day/2026-11-17"));
    assert_eq!(next()["resourceTemplates"][0]["uriTemplate"], "recall://day/{date}");
    for (tool, _, holds, _, why) in calls {
        let (good, bad) = (next(), next());
        assert!(good["isError"] == false && good["structuredContent"].to_string().contains(holds), "{tool}: {good:#}");
        assert!(bad["isError"] == true && bad["content"][0]["text"].to_string().contains(why), "{tool}: {bad:#}");
    }
    for word in ["forget", "", "recall.db", "", "where-to"] {
        let answer = next();
        assert_eq!(answer.get("raised").is_some(), !word.is_empty(), "{answer:#}");
        assert!(answer.to_string().contains(word), "{word}: {answer:#}");
    }
    next();
    assert_eq!(next(), json!({"at_once": 20}));
}

/// The inspector's command line against the server, for one method.
fn inspect(world: &World, args: &[&str]) -> Ran {
    let mut command = std::process::Command::new(clients().join("node_modules/.bin/mcp-inspector"));
    let node = std::env::var("PATH").expect("a search path");
    command.env_clear().env("PATH", node).env("HOME", world.home()).current_dir(world.root()).arg("--cli");
    for (name, value) in world.environment() {
        command.arg("-e").arg(format!("{name}={value}"));
    }
    command.arg(world.program()).arg("mcp").args(args);
    fed(command, b"")
}

#[test]
#[ignore = "needs the clients of .ci/install-mcp-clients: set RECALL_TEST_MCP_CLIENTS"]
fn the_inspectors_command_line_lists_and_calls_everything() {
    let world = World::digested(&["plain", "retry"]);
    let listed = inspect(&world, &["--method", "tools/list"]);
    assert_eq!(listed.code, 0, "{listed:#?}");
    let tools: Value = serde_json::from_str(&listed.out).unwrap_or_else(|e| panic!("{e}: {listed:#?}"));
    assert_eq!(tools["tools"].as_array().map(Vec::len), Some(TOOLS.len()), "{tools:#}");
    for (tool, good, holds, bad, why) in calls(&world) {
        for (arguments, word, fails) in [(good, holds, false), (bad, why, true)] {
            let mut args = vec!["--method".to_owned(), "tools/call".to_owned(), "--tool-name".to_owned(), tool.to_owned()];
            for (name, value) in arguments.as_object().expect("an object") {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                args.extend(["--tool-arg".to_owned(), format!("{name}={text}")]);
            }
            let ran = inspect(&world, &args.iter().map(String::as_str).collect::<Vec<_>>());
            let told = format!("{}{}", ran.out, ran.err);
            let answer: Value = serde_json::from_str(&ran.out).unwrap_or_default();
            assert_eq!(answer["isError"] == true || ran.code != 0, fails, "{tool} {arguments}: {ran:#?}");
            assert!(told.replace([' ', '\n'], "").contains(&word.replace(' ', "")), "{tool} {arguments}: {ran:#?}");
        }
    }
    for (method, word) in [
        ("resources/list", "recall://day/2026-11-17"),
        ("prompts/list", "where-did-we-leave-off"),
        ("resources/templates/list", "{date}"),
    ] {
        let ran = inspect(&world, &["--method", method]);
        assert!(ran.code == 0 && ran.out.contains(word), "{method}: {ran:#?}");
    }
    let ran = inspect(&world, &["--method", "resources/read", "--uri", "recall://day/2026-11-17"]);
    assert!(ran.code == 0 && ran.out.contains("keyset"), "{ran:#?}");
}
