//! The real Claude Code calls the server; a stand-in for the Messages API is the model.

use std::fs;

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::data_folder;
use crate::support::messages_api::{Asked, Block};
use crate::support::terminal::Terminal;

const QUESTION: &str = "How did we fix the greeting?";
const FIX: (&str, &str) =
    ("The greeting check fails since this morning. Find out why.", "Decision: the greeting was misspelt, the check stays strict.");

/// The names that our tool can have.
const TOOLS: [&str; 2] = ["mcp__recall__search", "mcp__plugin_recall_recall__search"];
/// With newer clients a model asks this tool for the tools of servers before it can call them.
const FINDER: &str = "ToolSearch";

/// The model searches the memory when it is asked, by whichever name the tool has.
fn script(asked: &Asked) -> Vec<Block> {
    if !asked.messages().iter().any(|(_, texts)| texts.iter().any(|text| text.contains(QUESTION))) {
        return vec![Block::Text(FIX.1.to_owned())];
    }
    let is_called = |name: &str| results(asked, name).next().is_some();
    if TOOLS.into_iter().any(is_called) {
        return vec![Block::Text("It was misspelt.".to_owned())];
    }
    match TOOLS.into_iter().find(|name| asked.tools().contains(name)) {
        Some(tool) => vec![Block::Tool(tool, json!({"query": "greeting check misspelt"}))],
        None if asked.tools().contains(&FINDER) && !is_called(FINDER) => {
            vec![Block::Tool(FINDER, json!({"query": format!("select:{}", TOOLS.join(",")), "max_results": 5}))]
        }
        None => vec![Block::Text("There is no such tool.".to_owned())],
    }
}

/// What the tool of this name has returned so far in the conversation of a request.
fn results<'a>(asked: &'a Asked, tool: &'a str) -> impl Iterator<Item = &'a Value> {
    let blocks =
        || asked.body["messages"].as_array().into_iter().flatten().flat_map(|m| m["content"].as_array().into_iter().flatten());
    let calls: Vec<_> = blocks().filter(|b| b["type"] == "tool_use" && b["name"] == tool).map(|b| &b["id"]).collect();
    blocks().filter(move |b| b["type"] == "tool_result" && calls.contains(&&b["tool_use_id"]))
}

/// A client whose project has a session in the memory: its id.
fn scene() -> (Client, String) {
    let client = Client::new(script).with_recall();
    client.settle_in();
    let session = client.turn(FIX.0, &[]);
    let ran = client.recall(&["digest", "--summarizer", "extract", "--settle", "0s"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    (client, session)
}

/// Asks the question; what the tool's result says in the client's next request.
fn answer(client: &Client, tool: &str, args: &[&str]) -> String {
    let before = client.api.asked().len();
    client.turn(QUESTION, &[&["--allowedTools", tool], args].concat());
    let asked = client.api.asked().split_off(before);
    let all: Vec<&Value> = asked.iter().flat_map(|one| results(one, tool)).collect();
    let [result] = &all[..] else {
        panic!("one result: {all:#?}; tools: {:?}", asked.iter().map(Asked::tools).collect::<Vec<_>>())
    };
    assert_ne!(result["is_error"], true, "{result:#}");
    result["content"].to_string()
}

#[test]
#[ignore = "needs the real client: set RECALL_TEST_CLAUDE"]
fn the_client_searches_and_the_session_comes_back_in_its_request() {
    let (client, session) = scene();
    let config = client.world.root().join("mcp.json");
    let environment = json!({"RECALL_DATA_DIR": client.world.data_dir()});
    let servers = json!({"mcpServers": {"recall": {"command": client.world.program(), "args": ["mcp"], "env": environment}}});
    fs::write(&config, servers.to_string()).expect("a config");
    let path = config.to_str().expect("UTF-8");
    let told = answer(&client, "mcp__recall__search", &["--mcp-config", path, "--strict-mcp-config"]);
    assert!(told.contains(&session[..8]) && told.contains("misspelt"), "{told}");
    println!("the client hands over: {told}");
}

#[test]
#[ignore = "needs the real client: set RECALL_TEST_CLAUDE"]
fn what_install_registers_is_what_the_client_starts() {
    let (client, session) = scene();
    for scope in ["user", "local"] {
        let ran = client.recall(&["install", "--timer", "none", "--mcp", "--scope", scope]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        let listed = client.claude(&["mcp", "list"]);
        assert!(listed.out.lines().any(|line| line.starts_with("recall: ") && line.contains("Connected")), "{scope}: {listed:#?}");
        let told = answer(&client, "mcp__recall__search", &[]);
        assert!(told.contains(&session[..8]), "{scope}: {told}");
        let ran = client.recall(&["uninstall"]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        let listed = client.claude(&["mcp", "list"]);
        assert!(!listed.out.contains("recall"), "{scope}: {listed:#?}");
    }
}

#[test]
#[ignore = "needs tmux and the real client: set RECALL_TEST_CLAUDE"]
fn what_a_client_that_runs_meanwhile_writes_back_can_be_mended() {
    let (client, _) = scene();
    let file = client.world.claude_dir().join(".claude.json");
    let registered = || {
        let text = fs::read_to_string(&file).expect("the client's file");
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        (value["mcpServers"]["recall"].is_object(), value["numStartups"].as_u64().unwrap_or_default())
    };
    let terminal = Terminal::start(&client, &[]);
    terminal.say(FIX.0, FIX.1);
    assert_eq!(client.recall(&["install", "--timer", "none", "--mcp"]).code, 0);
    // It writes its file when a turn ends, when it ends, and when another one starts.
    terminal.say(FIX.0, FIX.1);
    terminal.submit("/exit");
    terminal.wait_for_the_end();
    // A client that was about to write when install did may write what it had read before.
    let mended = (!registered().0).then(|| client.recall(&["doctor", "--fix"]));
    assert!(registered().0, "what the client took back is mended: {mended:#?}");
    let listed = client.claude(&["mcp", "list"]);
    assert!(listed.out.contains("recall: "), "{listed:#?}");

    let before = registered().1;
    let terminal = Terminal::start(&client, &[]);
    terminal.say(FIX.0, FIX.1);
    assert!(registered().1 > before, "the client writes its file");
    assert_eq!(client.recall(&["uninstall"]).code, 0);
    terminal.say(FIX.0, FIX.1);
    terminal.submit("/exit");
    terminal.wait_for_the_end();
    if registered().0 {
        client.recall(&["uninstall"]);
    }
    assert!(!registered().0, "what the client put back goes again");
}

#[test]
#[ignore = "needs the real client: set RECALL_TEST_CLAUDE"]
fn what_the_memory_told_a_session_is_not_taken_in_again() {
    let (client, session) = scene();
    assert_eq!(client.recall(&["install", "--timer", "none", "--mcp"]).code, 0);
    let told = answer(&client, "mcp__recall__search", &[]);
    assert!(told.contains(&session[..8]), "{told}");
    let before = client.api.asked().len();
    client.turn("/mcp__recall__where-did-we-leave-off greeting", &[]);
    let asked = client.api.asked().split_off(before);
    let prompt = asked.iter().map(|one| one.body["messages"].to_string()).find(|text| text.contains("leave off on this: greeting"));
    let prompt = prompt.unwrap_or_else(|| panic!("the prompt is expanded: {asked:#?}"));
    assert!(prompt.contains(FIX.1) && prompt.contains(&session[..8]), "{prompt}");

    let ran = client.recall(&["digest", "--summarizer", "extract", "--settle", "0s"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    let stored = data_folder::texts(&client.world);
    assert!(stored.iter().any(|text| text.contains(QUESTION)), "the session itself is stored");
    for trace in ["mcp__recall__search", "kept by recall", "greeting check misspelt"] {
        let held: Vec<_> = stored.iter().filter(|text| text.contains(trace)).collect();
        assert!(held.is_empty(), "{trace}: {held:#?}");
    }
}

#[test]
#[ignore = "needs the real client: set RECALL_TEST_CLAUDE"]
fn the_plugin_brings_the_server() {
    let (client, session) = scene();
    for args in [["marketplace", "add", env!("CARGO_MANIFEST_DIR")].as_slice(), &["install", "recall@recall"]] {
        let ran = client.claude(&[&["plugin"], args].concat());
        assert_eq!(ran.code, 0, "{ran:#?}");
    }
    let told = answer(&client, "mcp__plugin_recall_recall__search", &[]);
    assert!(told.contains(&session[..8]), "{told}");
}
