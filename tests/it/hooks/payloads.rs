//! What Claude Code tells a hook, and the sessions it tells of.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{World, assistant, files_below, user};

/// A session that no fixture holds.
pub const S: &str = "55551111-aaaa-4aaa-8aaa-555511110000";
/// The folder all fixtures worked in, and its name below `projects/`.
pub const SHOP: &str = "/home/dev/src/shop";
pub const FOLDER: &str = "-home-dev-src-shop";

/// Where Claude Code keeps a session of the shop's.
pub fn transcript(world: &World, session: &str) -> PathBuf {
    world.claude_dir().join(format!("projects/{FOLDER}/{session}.jsonl"))
}

/// The keys of every payload, for one event, with more of them on top.
pub fn payload(world: &World, event: &str, session: &str, more: Value) -> Value {
    let mut all = json!({
        "session_id": session, "transcript_path": transcript(world, session), "cwd": SHOP, "hook_event_name": event,
        "permission_mode": "default",
    });
    let fields = all.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    all
}

pub fn ends(world: &World, session: &str, reason: &str) -> Value {
    payload(world, "SessionEnd", session, json!({"reason": reason}))
}

pub fn starts(world: &World, session: &str, source: &str) -> Value {
    payload(world, "SessionStart", session, json!({"source": source, "model": "claude-opus-4-8"}))
}

/// Leaves the mark of a session's end.
pub fn end(world: &World, session: &str) {
    let ran = world.hook("session-end", ends(world, session, "prompt_input_exit").to_string());
    assert_eq!((ran.code, ran.out.as_str(), log(world).len()), (0, "", 0), "{ran:#?} {:?}", log(world));
}

/// The files of the marks that wait.
pub fn mark_files(world: &World) -> Vec<PathBuf> {
    files_below(&world.data_dir().join("marks/new"))
}

pub fn marks(world: &World) -> Vec<Value> {
    let read = |file: PathBuf| serde_json::from_slice(&fs::read(&file).expect("a mark")).expect("a whole mark");
    mark_files(world).into_iter().map(read).collect()
}

/// The lines of the hooks' log.
pub fn log(world: &World) -> Vec<String> {
    lines_of(&world.data_dir().join("hooks.log"))
}

pub fn lines_of(file: &Path) -> Vec<String> {
    fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// A session of one question and one answer, which began at this time.
pub fn talk(session: &str, at: &str, prompt: &str, reply: &str) -> String {
    turn(session, 1, at, prompt, reply)
}

/// The `n`th question of a session with its answer.
pub fn turn(session: &str, n: usize, at: &str, prompt: &str, reply: &str) -> String {
    let uuid = |part: usize| format!("{}{:04}", &session[..32], n * 10 + part);
    user(session, &uuid(1), at, prompt) + &assistant(session, &uuid(2), at, reply)
}

/// Puts such a session among the shop's transcripts.
pub fn write_talk(world: &World, session: &str, at: &str, prompt: &str, reply: &str) -> PathBuf {
    world.transcript(&format!("{FOLDER}/{session}.jsonl"), talk(session, at, prompt, reply))
}

/// As [`talk`], with a list of tasks that is left as it was.
pub fn talk_with_tasks(session: &str, at: &str, prompt: &str, tasks: &[&str], reply: &str) -> String {
    tasks_turn(session, 1, at, prompt, tasks, reply)
}

/// As [`turn`], with a list of tasks.
pub fn tasks_turn(session: &str, n: usize, at: &str, prompt: &str, tasks: &[&str], reply: &str) -> String {
    let uuid = |part: usize| format!("{}{:04}", &session[..32], n * 10 + part);
    user(session, &uuid(1), at, prompt)
        + &crate::support::tasks(session, &uuid(3), at, tasks)
        + &assistant(session, &uuid(2), at, reply)
}

/// Gives a session's start all the time there is: these machines are busy.
pub fn patient(world: &World) {
    configure(world, "");
}

/// The same with more of a config file.
pub fn configure(world: &World, more: &str) {
    world.configure(&format!("[hooks]\ndeadline_ms = 5000\n{more}"));
}

/// What a session starts with: `None` when nothing is said.
pub fn told(world: &World, payload: &Value) -> Option<String> {
    let ran = world.hook("session-start", payload.to_string());
    assert_eq!((ran.code, ran.err.as_str(), log(world)), (0, "", Vec::new()), "{ran:#?}");
    (!ran.out.is_empty()).then(|| context_in(&ran.out))
}

/// The text in an answer to the client.
pub fn context_in(out: &str) -> String {
    let answer: Value = serde_json::from_str(out).unwrap_or_else(|e| panic!("{e}: {out}"));
    answer["hookSpecificOutput"]["additionalContext"].as_str().expect("a text").to_owned()
}

/// What `recall context --json` says of a folder.
pub fn numbers(world: &World, cwd: &str, more: &[&str]) -> Value {
    let ran = world.recall(["context", "--json", "--cwd", cwd].iter().chain(more));
    assert_eq!(ran.code, 0, "{ran:#?}");
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"))
}
