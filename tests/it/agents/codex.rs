//! Codex: what its clients were told to do by a script, what they wrote down, and what is read of that. See `fixtures/README.md`.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use super::recorded::{Counts, Recorded, Tokens};
use crate::support::mcp_client::Peer;
use crate::support::{World, files_below, user};

const CODEX: Recorded = Recorded { agent: "codex", fixtures: "codex", home: ".codex" };

const VERSIONS: [&str; 7] = ["0.29.0", "0.55.0", "0.96.0", "0.128.0", "0.150.1", "0.169.0", "0.169.0-code"];

/// A world in which Codex of this version was at work.
pub fn world(version: &str) -> World {
    CODEX.world(version)
}

/// Its other scene.
const LARDER: [&str; 4] = ["larder-0.29.0", "larder-0.55.0", "larder-0.96.0", "larder-0.169.0-code"];

/// What the script had each client do, as its requests say. Where it has one, P7 is a fork of the first session; the prompt of P4 is private.
/// 0.29 and 0.55 cannot resume a session without a terminal, the script ends early at 0.96, and only code mode offers subagents. A command that
/// is mostly a key is not kept.
fn kitchen(version: &str) -> Counts {
    let files = |names: &[&str]| names.iter().map(|name| format!("/home/dev/kitchen/{name}")).collect();
    let both = || files(&["kitchen/amounts.py", "tests/test_amounts.py"]);
    let (sessions, prompts, replies, commands, failed, commits, subagents, recaps) = match version {
        "0.29.0" => (4, 4, 9, 6, 1, 0, 0, 0),
        "0.55.0" => (4, 4, 10, 6, 1, 0, 0, 1),
        "0.96.0" => (4, 6, 11, 3, 0, 1, 0, 1),
        "0.128.0" => (4, 6, 11, 7, 1, 1, 0, 1),
        "0.150.1" | "0.169.0" => (5, 7, 12, 7, 1, 1, 0, 1),
        _ => (5, 7, 13, 7, 1, 1, 1, 1),
    };
    let files = if version == "0.96.0" { files(&["tests/test_amounts.py"]) } else { both() };
    Counts { sessions, prompts, replies, commands, failed, files, commits, subagents, recaps, ..Counts::default() }
}

/// The same of the other scene, with the tokens that were sent. Its P5 is mostly a key, as is the command of it. 0.29 resumes into a file of its
/// own that begins with the rows of before, and writes no tokens; later forks begin with none of their parent's. 0.55 goes on after its
/// compaction by itself.
fn larder(version: &str) -> (Counts, Tokens) {
    let files = ["larder/parse.py", "tests/test_parse.py"].map(|name| format!("/home/dev/src/larder/{name}")).into();
    let (sessions, prompts, replies, commands, subagents, recaps, forks) = match version {
        "larder-0.29.0" => (6, 5, 10, 6, 0, 0, 2),
        "larder-0.55.0" => (4, 5, 11, 6, 0, 1, 0),
        "larder-0.96.0" => (4, 5, 11, 7, 1, 1, 0),
        _ => (5, 6, 12, 8, 1, 1, 0),
    };
    let tokens = match version {
        "larder-0.29.0" => Tokens { input: 0, cached: 0, output: 0 },
        "larder-0.55.0" => Tokens { input: 983_960, cached: 4000, output: 8319 }.without(&[(1310, 71)]),
        "larder-0.96.0" => Tokens { input: 978_110, cached: 4600, output: 7554 }.without(&[(1350, 75)]),
        _ => Tokens { input: 968_240, cached: 4600, output: 6566 }.without(&[(1340, 74)]),
    };
    let counts =
        Counts { sessions, prompts, replies, commands, failed: 1, files, commits: 1, subagents, recaps, forks, interrupted: 0 };
    (counts, tokens)
}

#[test]
fn what_was_done_is_what_is_read() {
    let read: BTreeMap<&str, Counts> = VERSIONS.into_iter().map(|version| (version, CODEX.read(version).0)).collect();
    assert_eq!(read, VERSIONS.into_iter().map(|version| (version, kitchen(version))).collect());
    let read: BTreeMap<&str, (Counts, Tokens)> = LARDER.into_iter().map(|version| (version, CODEX.read(version))).collect();
    assert_eq!(read, LARDER.into_iter().map(|version| (version, larder(version))).collect());
}

#[test]
fn nothing_that_is_secret_or_private_is_kept() {
    VERSIONS.iter().chain(&LARDER).for_each(|version| CODEX.keeps_no_secret(version));
}

#[test]
fn it_does_not_matter_in_which_pieces_rollouts_are_read() {
    VERSIONS.iter().chain(&LARDER).for_each(|version| CODEX.reads_any_pieces(version));
}

#[test]
fn a_rollout_that_was_packed_or_put_away_is_the_same_session() {
    let world = world("0.128.0");
    world.digest(&[]);
    let before = (world.pages(), CODEX.counts(&world));
    for (n, file) in files_below(&CODEX.home_in(&world).join("sessions")).into_iter().enumerate() {
        if n % 2 == 0 {
            let packed = zstd::bulk::compress(&fs::read(&file).expect("a rollout"), 3).expect("a frame");
            fs::write(file.with_extension("jsonl.zst"), packed).expect("a packed rollout");
            fs::remove_file(&file).expect("the plain one goes");
        } else {
            let to = CODEX.home_in(&world).join("archived_sessions").join(file.file_name().expect("a name"));
            fs::create_dir_all(to.parent().expect("a parent")).expect("the folder");
            fs::rename(&file, to).expect("it is put away");
        }
    }
    CODEX.age(&world);
    assert_eq!(world.digest(&[])["rows_new"], 0);
    assert!((world.pages(), CODEX.counts(&world)) == before, "{:#?}", world.pages());
    // A new memory reads them as they lie there.
    fs::remove_dir_all(world.data_dir()).expect("no memory");
    world.digest(&[]);
    assert!((world.pages(), CODEX.counts(&world)) == before, "{:#?}", world.pages());
}

#[test]
fn a_review_is_told_as_a_request_and_what_was_found() {
    let world = CODEX.world("0.169.0");
    let id = "01a2059c-b240-7761-a3ba-28ca785d3559";
    let row = |second: u32, kind: &str, payload: Value| {
        format!("{}\n", json!({"timestamp": format!("2026-11-23T08:00:{second:02}Z"), "type": kind, "payload": payload}))
    };
    let finding = json!({"title": "[P1] Keep the last ladle", "body": "It is dropped where the spoons end.",
        "code_location": {"absolute_file_path": "/home/dev/kitchen/kitchen/amounts.py", "line_range": {"start": 41, "end": 44}}});
    let output = json!({"findings": [finding], "overall_explanation": "One ladle is lost."});
    let rows = [
        row(0, "session_meta", json!({"id": id, "timestamp": "2026-11-23T08:00:00Z", "cwd": "/home/dev/kitchen"})),
        row(1, "event_msg", json!({"type": "task_started", "turn_id": "t1"})),
        row(
            2,
            "event_msg",
            json!({"type": "entered_review_mode", "target": {"type": "uncommittedChanges"}, "user_facing_hint": "current changes"}),
        ),
        row(30, "event_msg", json!({"type": "exited_review_mode", "review_output": output})),
    ];
    let rollout = CODEX.home_in(&world).join(format!("sessions/2026/11/23/rollout-2026-11-23T08-00-00-{id}.jsonl"));
    fs::create_dir_all(rollout.parent().expect("a parent")).expect("the folder");
    fs::write(rollout, rows.concat()).expect("a rollout");
    CODEX.age(&world);
    let report = world.digest(&[]);
    assert_eq!((&report["rows_bad"], &report["rows_unknown"]), (&0.into(), &0.into()), "{report}");
    let shown = world.recall(["show", id]).out;
    for told in ["/review current changes", "One ladle is lost.", "Keep the last ladle"] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
}

fn is_named_wherever_a_session_is_a_line(world: &World, id: &str) {
    let lines = |args: &[&str]| world.recall(args).out;
    let found = lines(&["search", "spoon"]);
    let first = found.lines().next().expect("a result");
    assert!(first.ends_with("  (Codex)"), "{found}");
    let told = lines(&["timeline", id]);
    assert!(told.lines().any(|line| line.starts_with("> ") && line.contains(" (Codex)")), "{told}");
    let told: Value = serde_json::from_str(&lines(&["timeline", id, "--json"])).expect("JSON");
    assert_eq!((&told["session"]["agent"], &told["before"][0]["agent"]), (&"codex".into(), &"codex".into()), "{told}");
    let mut client = Peer::greet(world);
    let (told, text) = client.call("timeline", json!({"id": id}));
    assert!(told["this"]["agent"] == "codex" && text.contains(" (Codex)"), "{told} {text}");
    let (told, text) = client.call("search", json!({"query": "spoon"}));
    assert!(told["results"][0]["agent"] == "codex" && text.contains(" (codex)"), "{told} {text}");
}

#[test]
fn the_config_says_whether_codex_is_read_and_a_session_is_resumed_by_codex() {
    let world = world("0.169.0");
    world.configure("[sources.codex]\nread = false\n");
    assert_eq!(world.digest(&[])["files_seen"], 0);
    world.configure("");
    world.digest(&[]);
    let listed = world.recall(["list", "--agent", "codex", "--json"]);
    let newest: Value = serde_json::from_str(listed.out.lines().next().expect("a session")).expect("JSON");
    let id = newest["session"].as_str().expect("an id");
    assert_eq!(newest["agent"], "codex");
    assert_eq!(world.recall(["list", "--agent", "claude"]).out, "");
    // The last eight characters are its id in lists: the first ones are the time.
    let short = &id[28..];
    assert!(world.recall(["list"]).out.contains(&format!("  {short}  kitchen  ")), "{}", world.recall(["list"]).out);
    assert!(world.recall(["show", short]).out.contains("Codex's last reply"));
    is_named_wherever_a_session_is_a_line(&world, id);
    assert!(world.recall(["search", "agent:codex", "spoon"]).out.contains(short));
    assert_eq!(world.recall(["search", "agent:claude-code", "spoon"]).out, "");
    assert!(world.recall(["stats", "--by", "agent"]).out.contains("\nCodex "));
}

#[test]
fn a_digest_and_the_status_count_sessions_by_agent_once_there_are_two() {
    let world = world("0.55.0");
    let prompt = user("s1", "u1", "2026-11-20T09:00:00Z", "Add a spoon to the kitchen");
    world.transcript("-home-u-kitchen/s1.jsonl", prompt);
    let told = world.recall(["digest"]).out;
    assert!(told.contains("new sessions: 1 of Claude Code, 4 of Codex\n"), "{told}");
    let for_model = |world: &World| {
        let status = world.status();
        let agents = status["agents"].as_array().expect("agents");
        agents.iter().map(|agent| (agent["agent"].as_str().map(str::to_owned), agent["for_model"].as_bool())).collect::<Vec<_>>()
    };
    let of = |codex: bool| [(Some("claude-code".to_owned()), Some(true)), (Some("codex".to_owned()), Some(codex))];
    assert_eq!(for_model(&world), of(false));
    world.configure("[sources.codex]\nmodel = true\n");
    assert_eq!(for_model(&world), of(true));
}

/// A command that ran on was not seen to pass; once something waits for it, its end is told.
#[test]
fn a_check_that_runs_on_has_not_passed() {
    const ID: &str = "01a2059c-b240-7761-a3ba-28ca785d3559";
    let call = |id: &str, name: &str, arguments: Value| json!({"type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": id});
    let output = |id: &str, state: &str, printed: &str| json!({"type": "function_call_output", "call_id": id, "output": format!("Wall time: 1.0 seconds\n{state}\nOutput:\n{printed}")});
    let (failed, runs_on) = ("Process exited with code 101", "Process running with session ID 42");
    let says = "thread 'cart' panicked: cart total is 42";
    let mut rows = vec![
        call("c1", "exec_command", json!({"cmd": "cargo test"})),
        output("c1", failed, &format!("{says}\ntest result: FAILED. 3 passed; 1 failed")),
        call("c2", "exec_command", json!({"cmd": "cargo test"})),
        output("c2", runs_on, "Compiling cart"),
    ];
    let told = |rows: &[Value]| {
        let world = World::new();
        let row = |(n, (kind, payload)): (usize, (&str, Value))| {
            json!({"timestamp": format!("2026-11-20T10:{n:02}:00Z"), "type": kind, "payload": payload}).to_string() + "\n"
        };
        let meta = ("session_meta", json!({"id": ID, "cwd": "/home/dev/src/shop", "cli_version": "0.128.0"}));
        let asked = ("event_msg", json!({"type": "user_message", "message": "Mend the total of the cart"}));
        let done = ("event_msg", json!({"type": "agent_message", "message": "The total is mended."}));
        let calls = rows.iter().map(|row| ("response_item", row.clone()));
        let all: String = [meta, asked].into_iter().chain(calls).chain([done]).enumerate().map(row).collect();
        let file = world.home().join(format!(".codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-{ID}.jsonl"));
        fs::create_dir_all(file.parent().expect("a parent")).expect("the folder");
        fs::write(file, all).expect("a rollout");
        world.digest(&["--summarizer", "extract", "--settle", "0s"]);
        (world.recall(["how", "--project", "shop"]).out, world.recall(["fix", "--project", "shop", says]).out)
    };
    let (how, fix) = told(&rows);
    assert!(!how.contains("passed 1") && !fix.contains("passed"), "{how}\n{fix}");
    rows.push(call("c3", "write_stdin", json!({"session_id": 42, "chars": ""})));
    rows.push(output("c3", "Process exited with code 0", "test result: ok. 4 passed; 0 failed"));
    let (how, fix) = told(&rows);
    assert!(how.contains("`cargo test`: passed 1 of 2 runs") && fix.contains("then `cargo test` passed"), "{how}\n{fix}");
}
