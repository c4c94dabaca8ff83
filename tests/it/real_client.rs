//! With the real client: it records a session, and `recall` digests it through it. A stand-in for the Messages API on loopback is
//! all that either of them talks to.
//!
//! `.ci/install-client DIR` installs the client and prints the path to put into RECALL_TEST_CLAUDE.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::messages_api::{Asked, Block, INPUT_TOKENS, OUTPUT_TOKENS};

const FIRST: &str = "The greeting check fails since this morning. Find out why and fix it.";
const SECOND: &str = "Say it with an exclamation mark, please.";
/// What our instructions begin with.
const OURS: &str = "You turn the record of one coding session into notes";
/// All of a request beside the session's own text.
const MOST_BYTES: usize = 4_500;

/// A project with a check that fails, and a user whose hooks leave a trace.
struct Scene {
    client: Client,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { client: Client::new(script) };
        let project = scene.client.project();
        let check = "grep -qx 'hello world' greeting.txt || { echo 'FAILED: no greeting'; exit 1; }\necho ok\n";
        fs::write(project.join("check.sh"), check).expect("a check");
        fs::write(project.join("greeting.txt"), "helo world\n").expect("a file");
        let trace = scene.trace().display().to_string();
        let hook = |event: &str| json!([{"hooks": [{"type": "command", "command": format!("echo {event} >> '{trace}'")}]}]);
        let hooks: BTreeMap<_, _> =
            ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"].map(|event| (event, hook(event))).into();
        fs::write(scene.client.settings(), json!({"hooks": hooks}).to_string()).expect("the user's settings");
        scene
    }

    fn trace(&self) -> PathBuf {
        self.client.world.root().join("hooks.log")
    }

    /// What the user's hooks have left so far.
    fn hooks_fired(&self) -> String {
        fs::read_to_string(self.trace()).unwrap_or_default()
    }

    fn show(&self, session: &str) -> Value {
        let ran = self.client.recall(&["show", "--json", session]);
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"))
    }
}

fn is_digest_call(asked: &Asked) -> bool {
    asked.system().iter().any(|text| text.contains(OURS))
}

/// What the model says: it finds and fixes the greeting, answers the second prompt, and fills the form.
fn script(asked: &Asked) -> Vec<Block> {
    let check = || Block::Tool("Bash", json!({"command": "sh check.sh", "description": "Run the check"}));
    let text = |words: &str| vec![Block::Text(words.to_owned())];
    if is_digest_call(asked) {
        return text(&form().to_string());
    }
    let exclaims = asked.body["messages"].to_string().contains(SECOND);
    match (exclaims, asked.step()) {
        (false, 0) => vec![Block::Text("I'll run the check first.".into()), check()],
        (false, 1) => vec![Block::Tool(
            "Bash",
            json!({"command": "echo 'hello world' > greeting.txt", "description": "Correct the greeting"}),
        )],
        (false, 2) => vec![check()],
        (false, _) => {
            text("The check passes. Cause: `greeting.txt` said `helo`. Decision: the file is corrected and the check stays strict.")
        }
        (true, _) => text("An exclamation mark would fail the check, so the greeting stays as it is."),
    }
}

fn form() -> Value {
    json!({
        "title": "Greeting check fails on a typo", "request": "Find out why the greeting check fails and fix it",
        "investigated": ["check.sh"], "learned": ["greeting.txt said `helo`"], "completed": ["greeting.txt corrected, check.sh passes"],
        "decisions": [{"text": "The greeting file is corrected and the check stays strict", "rows": [1]}],
        "files": ["greeting.txt"], "blockers": [], "next_steps": [], "closes": [], "questions": ["Which misspelling broke the salutation?"],
    })
}

/// The session's own text in a request: what stands inside the fence.
fn condensed(asked: &Asked) -> String {
    let prompt = asked.prompt();
    let (_, rest) = prompt.split_once("<record-").unwrap_or_else(|| panic!("no fence: {prompt}"));
    let (name, rest) = rest.split_once(">\n").expect("the end of the tag");
    rest.split_once(&format!("</record-{name}>")).expect("the closing tag").0.to_owned()
}

#[test]
#[ignore = "needs the real client: set RECALL_TEST_CLAUDE"]
fn a_recorded_session_is_digested_through_the_client_in_one_small_quiet_request() {
    let scene = Scene::new();
    let reported = scene.client.reported_turn(FIRST, &[]);
    let session = reported["session_id"].as_str().expect("an id").to_owned();
    let fired = scene.hooks_fired();
    assert_eq!(fired.lines().collect::<Vec<_>>(), ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"], "the hooks work");
    assert_eq!(
        fs::read_to_string(scene.client.project().join("greeting.txt")).expect("the file"),
        "hello world\n",
        "the tools ran"
    );
    let (recorded, before) = (scene.client.transcripts(), scene.client.api.asked().len());

    let ran = scene.client.recall(&["digest", "--summarizer", "claude", "--settle", "0s"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    let shown = scene.show(&session);
    assert_eq!((&shown["summarizer"], &shown["digest"]["title"]), (&json!("claude"), &form()["title"]), "{shown:#}");
    // Which model `haiku` is depends on the client's release.
    let models: Vec<_> = reported["modelUsage"].as_object().expect("usage by model").keys().collect();
    assert_eq!(models, [shown["model"].as_str().expect("a model")], "{reported:#}");
    assert!(shown["digest_cost_usd"].as_f64().is_some_and(|usd| usd > 0.0), "{shown:#}");

    assert_eq!(scene.hooks_fired(), fired, "no hook of the user's fires");
    assert_eq!(scene.client.transcripts().keys().collect::<Vec<_>>(), recorded.keys().collect::<Vec<_>>(), "no transcript appears");
    assert_eq!(scene.client.transcripts(), recorded, "and none grows");

    let asked = scene.client.api.asked().split_off(before);
    assert_eq!(asked.len(), 1, "one request: {asked:#?}");
    let asked = &asked[0];
    assert_eq!(asked.tools(), [""; 0]);
    let thinks = asked.body.get("thinking").is_some_and(|t| t["type"] != "disabled");
    assert!(!thinks || asked.body["output_config"]["effort"] == "low", "no thinking, or as little as can be: {:#}", asked.body);
    assert!(is_digest_call(asked), "the system prompt is ours: {:#?}", asked.system());
    let record = condensed(asked);
    for said in [FIRST, "sh check.sh", "the check stays strict"] {
        assert!(record.contains(said), "{said}: {record}");
    }
    let beside = asked.bytes - record.len();
    assert!(beside < MOST_BYTES, "{beside} bytes beside the session: {:#}", asked.body);
    println!("{} bytes of request, {beside} of them beside the session", asked.bytes);
}

/// What the user's own settings, memory and style may do to a digest: nothing.
#[test]
#[ignore = "needs the real client: set RECALL_TEST_CLAUDE"]
fn a_user_who_is_told_all_and_tells_claude_much_has_the_same_digest_for_the_same_bytes() {
    let scene = Scene::new();
    let session = scene.client.turn(FIRST, &[]);
    let digest = |label: &str| {
        let before = scene.client.api.asked().len();
        let ran = scene.client.recall(&["digest", "--summarizer", "claude", "--settle", "0s", "--session", &session]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{label}: {ran:#?}");
        let shown = scene.show(&session);
        assert_eq!((&shown["summarizer"], &shown["digest"]["title"]), (&json!("claude"), &form()["title"]), "{label}: {shown:#}");
        let mut asked = scene.client.api.asked().split_off(before);
        assert_eq!(asked.len(), 1, "{label}: {asked:#?}");
        asked.remove(0)
    };
    let plain = digest("plain");

    let claude = scene.client.world.claude_dir();
    let rules = "- Answer in rhymes and never in JSON. MARKOFTHEUSER\n".repeat(700);
    assert!(rules.len() > 35_000);
    fs::create_dir_all(claude.join("rules")).expect("a folder");
    fs::create_dir_all(claude.join("output-styles")).expect("a folder");
    fs::write(claude.join("CLAUDE.md"), &rules).expect("what Claude is told");
    fs::write(claude.join("rules/style.md"), &rules).expect("what Claude is told");
    let style = format!("---\nname: Rhymes\ndescription: rhymes\n---\n{rules}");
    fs::write(claude.join("output-styles/rhymes.md"), style).expect("a style");
    let mut settings: Value = serde_json::from_slice(&fs::read(scene.client.settings()).expect("settings")).expect("JSON");
    for (name, value) in [("verbose", json!(true)), ("viewMode", json!("verbose")), ("outputStyle", json!("Rhymes"))] {
        settings[name] = value;
    }
    fs::write(scene.client.settings(), settings.to_string()).expect("settings");
    // The client's own file, where older ones look for it; newer ones move it into the settings.
    let state = claude.join(".claude.json");
    let mut own: Value = fs::read(&state).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_else(|| json!({}));
    own["verbose"] = json!(true);
    fs::write(state, own.to_string()).expect("the client's state");
    let told = scene.client.claude(&["-p", SECOND, "--model", "haiku", "--output-format", "json"]);
    assert!(told.out.trim_start().starts_with('['), "the client is told to tell all: {}", told.out);
    assert!(
        scene.client.api.asked().last().is_some_and(|asked| asked.body.to_string().contains("MARKOFTHEUSER")),
        "and what to do"
    );

    let told_much = digest("told much");
    let beside = |asked: &Asked| asked.bytes - condensed(asked).len();
    assert!(!told_much.body.to_string().contains("MARKOFTHEUSER"), "{:#}", told_much.body);
    assert!(beside(&told_much).abs_diff(beside(&plain)) < 100, "{} and {} bytes", beside(&told_much), beside(&plain));
    assert!(beside(&told_much) < MOST_BYTES, "{} bytes", beside(&told_much));
    println!("beside the session: {} bytes, and {} with a large CLAUDE.md, rules and a style", beside(&plain), beside(&told_much));
}

#[test]
#[ignore = "needs the real client: set RECALL_TEST_CLAUDE"]
fn a_second_run_asks_nothing_and_finds_no_session_of_its_own() {
    let scene = Scene::new();
    scene.client.turn(FIRST, &[]);
    assert_eq!(scene.client.recall(&["digest", "--settle", "0s"]).code, 0);
    let (asked, pages) = (scene.client.api.asked().len(), scene.client.world.pages());
    let again = scene.client.recall(&["digest", "--settle", "0s", "--json"]);
    let told: Value = serde_json::from_str(&again.out).unwrap_or_else(|e| panic!("{e}: {again:#?}"));
    assert_eq!((&told["bytes_read"], &told["sessions_new"], &told["pages_written"]), (&json!(0), &json!(0), &json!(0)), "{told:#}");
    assert_eq!((scene.client.api.asked().len(), scene.client.world.pages()), (asked, pages));
}

#[test]
#[ignore = "needs the real client: set RECALL_TEST_CLAUDE"]
fn the_rows_a_live_fork_copies_count_once() {
    let scene = Scene::new();
    let reported = scene.client.reported_turn(FIRST, &[]);
    let served_first = scene.client.api.asked().len() as u64;
    let original = reported["session_id"].as_str().expect("an id").to_owned();
    let fork = scene.client.turn(SECOND, &["--resume", &original, "--fork-session"]);
    assert_ne!(original, fork);
    let copied = scene.client.transcripts().into_values().filter(|rows| String::from_utf8_lossy(rows).contains(FIRST)).count();
    assert_eq!(copied, 2, "both files hold the first prompt");
    let served = scene.client.api.asked().len() as u64;

    let ran = scene.client.recall(&["digest", "--summarizer", "claude", "--settle", "0s"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let both = [scene.show(&original), scene.show(&fork)];
    assert_eq!((&both[0]["prompts"], &both[1]["prompts"]), (&json!(1), &json!(1)), "{both:#?}");
    let sum = |key: &str| -> u64 {
        both.iter().flat_map(|s| s["usage"].as_object().expect("usage").values()).map(|t| t[key].as_u64().expect("tokens")).sum()
    };
    assert_eq!((sum("input"), sum("output")), (served * INPUT_TOKENS, served * OUTPUT_TOKENS), "{both:#?}");
    let cost: f64 = both.iter().map(|s| s["session_cost_usd"].as_f64().expect("a cost")).sum();
    // Every reply has the same tokens, so the client's own sum for the first turn is the measure of all.
    let of_first = reported["total_cost_usd"].as_f64().expect("a cost");
    let price = of_first / served_first as f64 * served as f64;
    assert!(of_first > 0.0 && (cost - price).abs() < 1e-9, "{cost} is not {price}: {both:#?}");

    let records: Vec<String> = scene.client.api.asked().iter().filter(|asked| is_digest_call(asked)).map(condensed).collect();
    assert_eq!(records.len(), 2);
    for (own, other) in [(FIRST, SECOND), (SECOND, FIRST)] {
        let of = |words: &str| records.iter().find(|record| record.contains(words)).expect("a record");
        assert!(!of(own).contains(other), "each is digested from what is its own: {records:#?}");
    }
}

#[test]
#[ignore = "needs the real client: set RECALL_TEST_CLAUDE"]
fn every_row_that_the_client_writes_is_known() {
    let scene = Scene::new();
    let session = scene.client.turn(FIRST, &[]);
    scene.client.turn(SECOND, &["--resume", &session]);
    assert_eq!(scene.client.recall(&["digest", "--summarizer", "extract", "--settle", "0s"]).code, 0);
    let status = scene.client.recall(&["status", "--json"]);
    let told: Value = serde_json::from_str(&status.out).unwrap_or_else(|e| panic!("{e}: {status:#?}"));
    assert_eq!((&told["unknown_rows"], &told["bad_lines"]), (&json!({}), &json!(0)), "types of rows that recall does not know");
    assert_eq!(scene.show(&session)["prompts"], 2, "and both prompts are there");
}
