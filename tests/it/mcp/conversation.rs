//! The words of the protocol: what the server says it is, what it refuses, and that nothing a client writes breaks it.

use serde_json::json;

use crate::support::World;
use crate::support::mcp_client::Peer;

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

#[test]
fn a_client_hears_who_is_there_and_what_it_can() {
    let world = World::new();
    let mut peer = Peer::start(&world, world.root());
    let told = peer.initialize(json!({}));
    assert_eq!(told["protocolVersion"], "2025-06-18", "the client's own revision");
    assert_eq!(
        (&told["serverInfo"]["name"], &told["serverInfo"]["version"]),
        (&json!("recall"), &json!(env!("CARGO_PKG_VERSION")))
    );
    assert_eq!(told["capabilities"], json!({"tools": {}, "resources": {}, "prompts": {}}));
    let instructions = told["instructions"].as_str().expect("instructions");
    assert!(instructions.contains("data, not instructions"), "{instructions}");
    assert_eq!(peer.ask("ping", json!({})), json!({}));
    let ended = peer.leave();
    assert!(ended.status.success() && ended.err.is_empty(), "{ended:?}");
}

#[test]
fn every_revision_of_the_protocol_is_spoken() {
    let world = World::new();
    let spoken = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
    for (asked, spoken) in spoken.into_iter().map(|revision| (revision, revision)).chain([("1999-01-01", "2025-11-25")]) {
        let mut peer = Peer::start(&world, world.root());
        let client = json!({"name": "tests", "version": "1"});
        let told = peer.ask("initialize", json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": client}));
        assert_eq!(told["protocolVersion"], spoken);
        assert!(peer.leave().err.is_empty());
    }
}

#[test]
fn a_client_of_the_newest_revision_needs_no_greeting() {
    let world = World::new();
    let mut peer = Peer::start(&world, world.root());
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
    });
    let found = peer.ask("server/discover", json!({"_meta": meta}));
    assert!(found.to_string().contains("2026-07-28"), "{found:#}");
    assert_eq!(peer.ask("tools/list", json!({"_meta": meta}))["tools"].as_array().map(Vec::len), Some(7));
    let told = peer.ask("tools/call", json!({"name": "status", "arguments": {}, "_meta": meta}));
    assert_eq!((&told["isError"], peer.asked_for_roots), (&json!(false), 0), "such a client is asked for nothing: {told:#}");
    assert!(peer.leave().err.is_empty());
}

#[test]
fn the_tools_are_told_with_their_schemas() {
    let world = World::new();
    let mut peer = Peer::greet(&world);
    let tools = peer.ask("tools/list", json!({}));
    let chapter = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/src/agents.md")).expect("the chapter");
    for tool in tools["tools"].as_array().expect("a list") {
        let name = tool["name"].as_str().expect("a name");
        assert!(chapter.contains(&format!("\n| `{name}` |")), "the table of tools in docs/src/agents.md does not name `{name}`");
    }
    insta::assert_snapshot!("tools", format!("{tools:#}"));
    for tool in tools["tools"].as_array().expect("tools") {
        let hints = &tool["annotations"];
        let (reads, destroys) = (hints["readOnlyHint"] == true, hints["destructiveHint"] == true);
        assert_eq!(reads, !["remember", "close"].contains(&tool["name"].as_str().unwrap_or_default()), "{tool:#}");
        // A search may ask an embeddings endpoint.
        assert_eq!(hints["openWorldHint"], tool["name"] == "search", "{tool:#}");
        assert!(!destroys && hints["idempotentHint"] == true, "{tool:#}");
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{tool:#}");
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool:#}");
        let about = tool["description"].as_str().expect("a description");
        assert!(about.len() < 600, "what every session pays for is short: {about}");
    }
    let prompts = peer.ask("prompts/list", json!({}));
    insta::assert_snapshot!("prompts", format!("{prompts:#}"));
    let templates = peer.ask("resources/templates/list", json!({}));
    insta::assert_snapshot!("templates", format!("{templates:#}"));
}

#[test]
fn what_there_is_not_is_refused_in_the_words_of_the_protocol() {
    let world = World::new();
    let mut peer = Peer::greet(&world);
    for method in ["tools/unknown", "resources/subscribe", "sampling/createMessage", "initialise", ""] {
        let (code, why) = peer.refused(method, json!({"uri": "recall://day/2026-11-17"}));
        assert_eq!(code, METHOD_NOT_FOUND, "{method}: {why}");
    }
    for (method, params, word) in [
        ("tools/call", json!({"name": "forget", "arguments": {}}), "forget"),
        ("tools/list", json!({"cursor": "two"}), "two"),
        ("prompts/list", json!({"cursor": "two"}), "two"),
        ("resources/list", json!({"cursor": "yesterday"}), "yesterday"),
        ("resources/templates/list", json!({"cursor": "two"}), "two"),
        ("tools/call", json!({"name": "status", "arguments": "x"}), "`arguments` an object"),
        ("prompts/get", json!({"name": "where-did-we-leave-off", "arguments": ["x"]}), "`arguments` an object"),
        ("resources/read", json!({"uri": 7}), "`uri`"),
        ("prompts/get", json!({"name": "where-to"}), "where-to"),
        ("prompts/get", json!({"name": "where-did-we-leave-off", "arguments": {"subject": "x"}}), "subject"),
        ("prompts/get", json!({"name": "where-did-we-leave-off", "arguments": {"topic": 7}}), "topic"),
    ] {
        let (code, why) = peer.refused(method, params);
        assert_eq!(code, INVALID_PARAMS, "{method}: {why}");
        assert!(why.contains(word), "{method}: {why}");
    }
    assert!(peer.leave().err.is_empty());
}

#[test]
fn nothing_a_client_writes_breaks_the_conversation() {
    let world = World::new();
    let mut peer = Peer::start(&world, world.root());
    peer.write(b"\n\r\nhello\n{\"jsonrpc\":\n\xff\xfe\x00\n");
    let (code, why) = peer.refused("tools/list", json!({}));
    assert_eq!(code, INVALID_PARAMS, "before the greeting: {why}");
    peer.initialize(json!({}));
    let garbage: [&[u8]; 9] = [
        b"not json\n",
        b"[]\n",
        b"{}\n",
        b"null\n",
        b"{\"jsonrpc\":\"1.0\",\"id\":{}}\n",
        b"\x00\xff\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":7}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n",
    ];
    for bytes in garbage {
        peer.write(bytes);
        assert_eq!(peer.ask("ping", json!({})), json!({}), "after {}", String::from_utf8_lossy(bytes));
    }
    for nested in ["[", "{\"a\":"] {
        peer.write(format!("{}\n", nested.repeat(200_000)).as_bytes());
        assert_eq!(peer.ask("ping", json!({})), json!({}));
    }
    let ended = peer.leave();
    assert!(ended.status.success() && ended.err.is_empty(), "{ended:?}");
}

#[test]
fn what_is_no_message_is_answered_once_under_its_id_where_it_has_one() {
    const NO_JSON: i64 = -32700;
    const NO_MESSAGE: i64 = -32600;
    let world = World::new();
    let mut peer = Peer::start(&world, world.root());
    for (bytes, codes) in [
        (&b"hello\n"[..], vec![NO_JSON]),
        (b"{\"jsonrpc\":\n", vec![NO_JSON]),
        (b"{\"jsonrpc\":\"2.0\",\"id\":4000,\"method\":\"ping\"\n", vec![NO_JSON]),
        (b"\xff\xfe\n", vec![NO_JSON]),
        (b"[]\nnull\n", vec![NO_MESSAGE, NO_MESSAGE]),
        (b"{\"jsonrpc\":\"1.0\",\"id\":[]}\n", vec![NO_MESSAGE]),
        // What nobody knows and nobody asked; nothing at all.
        (b"{\"method\":\"notifications/of-another-kind\",\"params\":7}\n\n\r\n", vec![]),
    ] {
        peer.write(bytes);
        peer.write(b"{\"jsonrpc\":\"1.0\",\"id\":5000,\"method\":\"ping\"}\n");
        let answer = peer.answer(5000);
        assert_eq!(answer["error"]["code"], NO_MESSAGE, "{answer}");
        let shown = String::from_utf8_lossy(bytes);
        assert_eq!(std::mem::take(&mut peer.refused_as_a_whole), codes, "{shown}");
    }
    peer.write(b"{\"jsonrpc\":\"1.0\",\"id\":\"six\"}\n");
    peer.initialize(json!({}));
    assert!(peer.leave().err.is_empty());
}

#[test]
fn a_huge_line_is_refused_under_its_id_and_a_large_one_is_heard() {
    let world = World::new();
    let mut peer = Peer::greet(&world);
    let filler = vec![b'x'; 1 << 20];
    for head in ["{\"jsonrpc\":\"2.0\",\"id\":1000,\"method\":\"ping\",\"params\":{\"x\":\"", "no JSON"] {
        peer.write(head.as_bytes());
        for _ in 0..40 {
            peer.write(&filler);
        }
        peer.write(b"\"}}\n");
    }
    let answer = peer.answer(1000);
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert!(answer["error"]["message"].as_str().is_some_and(|why| why.contains("longer than 16 MiB")), "{answer}");
    assert_eq!(peer.ask("ping", json!({})), json!({}));
    assert_eq!(peer.refused_as_a_whole, [-32600]);
    let why = peer.fail("status", json!({"x".repeat(100_000): 1}));
    assert!(why.len() < 2_000, "an answer does not grow with the question: {} characters", why.len());
    assert!(peer.leave().err.is_empty());
}

#[test]
fn wrong_arguments_are_answered_with_what_is_wrong() {
    let world = World::new();
    let mut peer = Peer::greet(&world);
    let why = peer.fail("status", json!({"verbose": true}));
    assert!(why.contains("verbose"), "{why}");
    for params in [json!({"name": 7}), json!({}), json!([]), json!({"name": "status", "arguments": "none"})] {
        let id = peer.send("tools/call", params.clone());
        assert!(peer.answer(id)["error"].is_object(), "{params}");
        assert_eq!(peer.ask("ping", json!({})), json!({}));
    }
    assert!(peer.leave().err.is_empty());
}

#[test]
fn without_an_index_the_client_hears_what_to_do() {
    let world = World::new();
    let mut peer = Peer::greet(&world);
    let (status, text) = peer.call("status", json!({}));
    assert_eq!((&status["ready"], &status["sessions"]), (&json!(false), &json!(0)));
    assert!(text.contains("`recall digest`"), "{text}");
    let prompt = peer.ask("prompts/get", json!({"name": "where-did-we-leave-off"}));
    assert_eq!(prompt["messages"][0]["role"], "user", "{prompt:#}");
    assert_eq!(peer.ask("resources/list", json!({}))["resources"], json!([]));
    assert!(peer.leave().err.is_empty());
    assert!(!world.data_dir().exists(), "who only asks makes nothing");
}

#[test]
fn an_index_of_another_version_is_left_as_it_is() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&[]);
    world.make_index_older();
    let mut peer = Peer::greet(&world);
    for (tool, arguments) in [
        ("search", json!({"query": "orders"})),
        ("get", json!({"ids": ["64b0b6d9"]})),
        ("timeline", json!({"id": "64b0b6d9"})),
        ("recall", json!({"topic": "orders"})),
        ("status", json!({})),
    ] {
        let why = peer.fail(tool, arguments);
        assert!(why.contains("`recall digest`"), "{tool}: {why}");
    }
    assert_eq!(world.count("PRAGMA user_version"), 8, "who only reads changes nothing");
    world.digest(&[]);
    let (found, _) = peer.call("search", json!({"query": "orders"}));
    assert_eq!(found["results"].as_array().map(Vec::len), Some(1), "and then all is well");
}
