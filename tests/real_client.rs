//! With the real client: it records a session, and `recall` digests it through it. A stand-in for the Messages API on loopback is
//! all that either of them talks to.
//!
//! `.ci/install-client DIR` installs the client and prints the path to put into RECALL_TEST_CLAUDE.

#[path = "support/messages_api.rs"]
mod messages_api;
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use messages_api::{Asked, Block, INPUT_TOKENS, MessagesApi, OUTPUT_TOKENS};
use support::{Ran, World, files_below};

const FIRST: &str = "The greeting check fails since this morning. Find out why and fix it.";
const SECOND: &str = "Say it with an exclamation mark, please.";
/// What our instructions begin with.
const OURS: &str = "You turn the record of one coding session into notes";
/// All of a request beside the session's own text.
const MOST_BYTES: usize = 4_500;

/// A project with a check that fails, a user whose hooks leave a trace, and the client on the search path.
struct Scene {
    world: World,
    api: MessagesApi,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { world: World::new(), api: MessagesApi::start(script) };
        let client = std::env::var_os("RECALL_TEST_CLAUDE").expect("RECALL_TEST_CLAUDE names the client's binary");
        symlink(client, scene.world.bin().join("claude")).expect("the client on the search path");
        fs::create_dir_all(scene.project()).expect("the project");
        fs::write(
            scene.project().join("check.sh"),
            "grep -qx 'hello world' greeting.txt || { echo 'FAILED: no greeting'; exit 1; }\necho ok\n",
        )
        .expect("a check");
        fs::write(scene.project().join("greeting.txt"), "helo world\n").expect("a file");
        let hook = |event: &str| json!([{"hooks": [{"type": "command", "command": format!("echo {event} >> '{}'", scene.trace().display())}]}]);
        let hooks: BTreeMap<_, _> =
            ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"].map(|event| (event, hook(event))).into();
        fs::write(scene.world.claude_dir().join("settings.json"), json!({"hooks": hooks}).to_string())
            .expect("the user's settings");
        scene
    }

    fn project(&self) -> PathBuf {
        self.world.root().join("src/greeter")
    }

    fn trace(&self) -> PathBuf {
        self.world.root().join("hooks.log")
    }

    /// What the user's hooks have left so far.
    fn hooks_fired(&self) -> String {
        fs::read_to_string(self.trace()).unwrap_or_default()
    }

    /// Variables of the client: where the service is, and a search path with the system's tools.
    fn service(&self) -> [(&'static str, String); 5] {
        [
            ("PATH", format!("{}:/usr/bin:/bin", self.world.bin().display())),
            ("ANTHROPIC_BASE_URL", self.api.url()),
            ("ANTHROPIC_API_KEY", "sk-ant-dummy-not-real".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ]
    }

    /// The client takes a turn in the project; the id of its session.
    fn turn(&self, prompt: &str, more: &[&str]) -> String {
        let mut command = assert_cmd::Command::new(self.world.bin().join("claude"));
        command.env_clear().envs(self.world.environment()).envs(self.service()).current_dir(self.project());
        command.args([
            "-p", "--model", "haiku", "--output-format", "json", "--permission-mode", "acceptEdits", "--allowedTools", "Bash,Write",
        ]);
        let output = command.args(more).write_stdin(prompt).timeout(Duration::from_secs(180)).output().expect("the client starts");
        let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:#?}"));
        assert_eq!(told["is_error"], false, "{told:#}");
        told["session_id"].as_str().expect("an id").to_owned()
    }

    /// `recall` at the real time, because the client's files have it.
    fn recall(&self, args: &[&str]) -> Ran {
        let service = self.service();
        let now = jiff::Timestamp::now().to_string();
        let mut variables: Vec<(&str, &str)> = service.iter().map(|(name, value)| (*name, value.as_str())).collect();
        variables.push(("RECALL_NOW", &now));
        self.world.recall_with(args, &variables)
    }

    fn show(&self, session: &str) -> Value {
        let ran = self.recall(&["show", "--json", session]);
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"))
    }

    /// All transcripts, by path.
    fn transcripts(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let files = files_below(&self.world.claude_dir().join("projects"));
        files.into_iter().map(|f| (f.clone(), fs::read(f).expect("a transcript"))).collect()
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
    let session = scene.turn(FIRST, &[]);
    let fired = scene.hooks_fired();
    assert_eq!(fired.lines().collect::<Vec<_>>(), ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"], "the hooks work");
    assert_eq!(fs::read_to_string(scene.project().join("greeting.txt")).expect("the file"), "hello world\n", "the tools ran");
    let (recorded, before) = (scene.transcripts(), scene.api.asked().len());

    let ran = scene.recall(&["digest", "--summarizer", "claude", "--settle", "0s"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    let shown = scene.show(&session);
    assert_eq!((&shown["summarizer"], &shown["digest"]["title"]), (&json!("claude"), &form()["title"]), "{shown:#}");
    assert_eq!(shown["model"], "claude-haiku-4-5-20251001");
    assert!(shown["digest_cost_usd"].as_f64().is_some_and(|usd| usd > 0.0), "{shown:#}");

    assert_eq!(scene.hooks_fired(), fired, "no hook of the user's fires");
    assert_eq!(scene.transcripts().keys().collect::<Vec<_>>(), recorded.keys().collect::<Vec<_>>(), "no transcript appears");
    assert_eq!(scene.transcripts(), recorded, "and none grows");

    let asked = scene.api.asked().split_off(before);
    assert_eq!(asked.len(), 1, "one request: {asked:#?}");
    let asked = &asked[0];
    assert_eq!(asked.tools(), [""; 0]);
    assert!(asked.body.get("thinking").is_none_or(|t| t["type"] == "disabled"), "{:#}", asked.body);
    assert!(is_digest_call(asked), "the system prompt is ours: {:#?}", asked.system());
    let record = condensed(asked);
    for said in [FIRST, "sh check.sh", "the check stays strict"] {
        assert!(record.contains(said), "{said}: {record}");
    }
    let beside = asked.bytes - record.len();
    assert!(beside < MOST_BYTES, "{beside} bytes beside the session: {:#}", asked.body);
    println!("{} bytes of request, {beside} of them beside the session", asked.bytes);
}

#[test]
#[ignore = "needs the real client: set RECALL_TEST_CLAUDE"]
fn a_second_run_asks_nothing_and_finds_no_session_of_its_own() {
    let scene = Scene::new();
    scene.turn(FIRST, &[]);
    assert_eq!(scene.recall(&["digest", "--settle", "0s"]).code, 0);
    let (asked, pages) = (scene.api.asked().len(), scene.world.pages());
    let again = scene.recall(&["digest", "--settle", "0s", "--json"]);
    let told: Value = serde_json::from_str(&again.out).unwrap_or_else(|e| panic!("{e}: {again:#?}"));
    assert_eq!((&told["bytes_read"], &told["sessions_new"], &told["pages_written"]), (&json!(0), &json!(0), &json!(0)), "{told:#}");
    assert_eq!((scene.api.asked().len(), scene.world.pages()), (asked, pages));
}

#[test]
#[ignore = "needs the real client: set RECALL_TEST_CLAUDE"]
fn the_rows_a_live_fork_copies_count_once() {
    let scene = Scene::new();
    let original = scene.turn(FIRST, &[]);
    let fork = scene.turn(SECOND, &["--resume", &original, "--fork-session"]);
    assert_ne!(original, fork);
    let copied = scene.transcripts().into_values().filter(|rows| String::from_utf8_lossy(rows).contains(FIRST)).count();
    assert_eq!(copied, 2, "both files hold the first prompt");
    let served = scene.api.asked().len() as u64;

    let ran = scene.recall(&["digest", "--summarizer", "claude", "--settle", "0s"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let both = [scene.show(&original), scene.show(&fork)];
    assert_eq!((&both[0]["prompts"], &both[1]["prompts"]), (&json!(1), &json!(1)), "{both:#?}");
    let sum = |key: &str| -> u64 {
        both.iter().flat_map(|s| s["usage"].as_object().expect("usage").values()).map(|t| t[key].as_u64().expect("tokens")).sum()
    };
    assert_eq!((sum("input"), sum("output")), (served * INPUT_TOKENS, served * OUTPUT_TOKENS), "{both:#?}");
    let cost: f64 = both.iter().map(|s| s["session_cost_usd"].as_f64().expect("a cost")).sum();
    // Haiku's list price: 1 dollar a million tokens of input, 5 a million of output.
    let price = (served * (INPUT_TOKENS + 5 * OUTPUT_TOKENS)) as f64 / 1e6;
    assert!((cost - price).abs() < 1e-9, "{cost} is not {price}: {both:#?}");

    let records: Vec<String> = scene.api.asked().iter().filter(|asked| is_digest_call(asked)).map(condensed).collect();
    assert_eq!(records.len(), 2);
    for (own, other) in [(FIRST, SECOND), (SECOND, FIRST)] {
        let of = |words: &str| records.iter().find(|record| record.contains(words)).expect("a record");
        assert!(!of(own).contains(other), "each is digested from what is its own: {records:#?}");
    }
}
