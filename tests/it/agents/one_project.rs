//! Two agents at work in one repository.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::hooks::payloads::patient;
use crate::support::{World, age, assistant, user};

const OF_CLAUDE: &str = "66661111-aaaa-4aaa-8aaa-666611110000";
const OF_CODEX: &str = "01a21cff-0000-7000-8000-0000abcd9876";
const NEXT: [&str; 2] = ["66661111-aaaa-4aaa-8aaa-666611112222", "01a21d00-0000-7000-8000-0000abcd0000"];

#[test]
fn sessions_of_claude_code_and_codex_are_one_project_and_each_start_tells_of_the_other() {
    let world = World::new();
    patient(&world);
    let root = world.root().canonicalize().expect("the world").join("src/shop");
    let server = root.join("server");
    fs::create_dir_all(root.join(".git")).expect("the repository");
    fs::create_dir_all(&server).expect("a folder in it");
    let (root, server) = (root.to_str().expect("UTF-8"), server.to_str().expect("UTF-8"));
    // One of them works in a folder of the repository.
    let rows = user(OF_CLAUDE, "u1", "2026-11-20T09:00:00Z", "Make the import of rates faster")
        + &assistant(OF_CLAUDE, "u2", "2026-11-20T09:05:00Z", "The rates are cached now; the importer still reads the file twice.");
    let claude = world.transcript(&format!("-src-shop/{OF_CLAUDE}.jsonl"), rows.replace("/home/dev/src/shop", root));
    let rollout = world.home().join(format!(".codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-{OF_CODEX}.jsonl"));
    let row = |kind: &str, payload: Value| {
        json!({"timestamp": "2026-11-20T10:00:00Z", "type": kind, "payload": payload}).to_string() + "\n"
    };
    let rows = [
        row("session_meta", json!({"id": OF_CODEX, "timestamp": "2026-11-20T10:00:00Z", "cwd": server, "cli_version": "0.169.0"})),
        row("event_msg", json!({"type": "user_message", "message": "Bill each order in whole cents"})),
        row("event_msg", json!({"type": "agent_message", "message": "Orders are billed in whole cents; refunds are left."})),
    ];
    fs::create_dir_all(rollout.parent().expect("a parent")).expect("the folder");
    fs::write(&rollout, rows.concat()).expect("a rollout");
    age(&rollout, Duration::from_secs(3600));
    world.digest(&[]);
    let projects: Vec<Value> = world.exported().iter().map(|session| session["project"].clone()).collect();
    assert!(projects.len() == 2 && projects[0] == projects[1] && !projects[0].is_null(), "{projects:?}");
    let start = |session: &str, transcript: &std::path::Path, cwd: &str| {
        let payload = json!({"session_id": session, "transcript_path": transcript, "cwd": cwd, "hook_event_name": "SessionStart",
            "source": "startup", "model": "gpt-5.5", "permission_mode": "default"});
        world.hook("session-start", payload.to_string()).out
    };
    let (said_to_claude, said_to_codex) = ("The rates are cached now", "Orders are billed in whole cents");
    let next = [
        (NEXT[0], claude.with_file_name(format!("{}.jsonl", NEXT[0])), root),
        (NEXT[1], rollout.with_file_name(format!("rollout-2026-11-21T12-00-00-{}.jsonl", NEXT[1])), server),
    ];
    for (session, transcript, cwd) in next {
        let told = start(session, &transcript, cwd);
        assert!(told.contains(said_to_claude) && told.contains(said_to_codex), "{}: {told}", transcript.display());
    }
    for (about, assistant) in [("rates", "Claude in session 66661111"), ("refunds", "Codex in session abcd9876")] {
        let told = world.recall(["why", "--project", root, about]).out;
        assert!(told.contains(&format!(", {assistant}, turn 1: ")), "{told}");
    }
}
