//! Evidence: what commands were to do, what they printed, and what went through the queue is kept word for word, in whatever slices a
//! transcript is read, and what was digested is not digested again for it.

use std::fs;

use serde_json::{Value, json};

use crate::support::World;
use crate::support::rows::{FOLDER, Rows, SHOP, bash, put};

const MESSAGE: &str = "Page by key, not by offset\n\nAn offset counts rows of a list that moves.";

fn session() -> Rows {
    let mut rows = Rows::new(0);
    // By which client and folder a session is, its first rows do not say: what they queue is the first prompt.
    rows.row(json!({"type": "queue-operation", "operation": "enqueue", "content": "Mend the pagination of the order list."}));
    rows.row(json!({"type": "queue-operation", "operation": "dequeue"}));
    rows.user(json!("Mend the pagination of the order list."));
    rows.row(json!({"type": "queue-operation", "operation": "enqueue", "content": "and keep it small"}));
    rows.uses(
        1,
        &bash(&format!(
            "cargo test 2>&1 | tail -4\ngit add -A && git commit -q -F - <<'EOF'\n{MESSAGE}\nEOF\ngit log --oneline -1; git push"
        )),
    );
    rows.result(
        1,
        "test result: FAILED. 1 passed; 1 failed\ntest result: ok. 12 passed; 0 failed\n1a2b3c4 Page by key, not by offset\n   9f8e7d6..1a2b3c4  main -> main\nnoise",
        false,
    );
    rows.row(json!({"type": "queue-operation", "operation": "remove"}));
    rows.row(json!({"type": "attachment", "attachment": {"type": "queued_command", "commandMode": "prompt", "prompt": "and keep it small"}}));
    rows.uses(2, &bash("rm -r old && git mv a.rs b.rs"));
    rows.result(2, "", false);
    rows.uses(3, &bash("cat notes.txt"));
    rows.result(3, "[main 7777777] this is a note about a commit", false);
    let question =
        json!({"question": "Which key?", "options": [{"label": "id", "description": "unique, grows"}, {"label": "time"}]});
    rows.uses(4, &json!({"name": "AskUserQuestion", "input": {"questions": [question]}}));
    rows.row(json!({"type": "user", "toolUseResult": {"questions": [question], "answers": {"Which key?": "id"}},
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_4", "content": "answered"}]}}));
    rows.row(json!({"type": "assistant", "isApiErrorMessage": true, "message": {"role": "assistant", "model": "<synthetic>",
        "content": [{"type": "text", "text": "API Error: 529 overloaded"}]}}));
    rows
}

/// All evidence of the index in order, as exported, without what names its record.
fn evidence(world: &World) -> Vec<Value> {
    let ran = world.recall(["export"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let sessions = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let rows = sessions.flat_map(|session| session["sources"].as_array().cloned().unwrap_or_default());
    let items = rows.flat_map(|source| source["rows"].as_array().cloned().unwrap_or_default());
    items.map(|row| row["item"].clone()).filter(|item| item["kind"] == "evidence").map(|item| item["data"].clone()).collect()
}

fn expected() -> Vec<Value> {
    let step = |kind: &str, line: &str| json!({"kind": kind, "line": line});
    let with = |mut step: Value, name: &str, value: Value| {
        step[name] = value;
        step
    };
    vec![
        json!({"of": "queue", "is": {"op": "added", "text": "and keep it small"}}),
        json!({"of": "ran", "is": {"tool": "toolu_1", "steps": [
            with(step("check", "cargo test"), "masked", json!(true)),
            with(with(step("git", "git commit -q"), "message", json!(MESSAGE)), "masked", json!(true)),
            with(step("git", "git log --oneline -1"), "masked", json!(true)),
            step("git", "git push"),
        ], "cwd": SHOP, "branch": "main"}}),
        json!({"of": "printed", "is": {"tool": "toolu_1", "ok": true,
            "git": ["1a2b3c4 Page by key, not by offset", "9f8e7d6..1a2b3c4 main -> main"],
            "results": ["test result: FAILED. 1 passed; 1 failed", "test result: ok. 12 passed; 0 failed"], "of": 2}}),
        json!({"of": "queue", "is": {"op": "delivered", "text": null}}),
        json!({"of": "joined"}),
        json!({"of": "ran", "is": {"tool": "toolu_2", "steps": [
            with(step("files", "rm -r old"), "needed", json!(true)),
            step("files", "git mv a.rs b.rs"),
        ], "cwd": SHOP}}),
        json!({"of": "choice", "is": {"asked": "Which key?", "chosen": "id", "description": "unique, grows"}}),
        json!({"of": "api_error", "is": "API Error: 529 overloaded"}),
    ]
}

#[test]
fn what_commands_did_and_what_was_queued_is_kept() {
    let rows = session();
    let world = World::new();
    put(&world, &rows.id, &rows.text);
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(evidence(&world), expected(), "{:#?}", evidence(&world));
}

#[test]
fn it_is_the_same_in_whatever_slices_it_is_read() {
    let rows = session();
    let world = World::new();
    let lines: Vec<&str> = rows.text.split_inclusive('\n').collect();
    for end in 1..=lines.len() {
        put(&world, &rows.id, &lines[..end].concat());
        world.digest(&["--ingest-only"]);
    }
    assert_eq!(evidence(&world), expected());
}

#[test]
fn an_index_from_before_gains_it_and_digests_nothing_again() {
    let rows = session();
    let world = World::new();
    put(&world, &rows.id, &rows.text);
    world.digest(&["--summarizer", "extract"]);
    // As an older program left it: the same without evidence.
    let before = world.recall(["export"]).out;
    let kept: Vec<String> = before
        .lines()
        .map(|line| {
            let mut session: Value = serde_json::from_str(line).expect("JSON");
            for source in session["sources"].as_array_mut().into_iter().flatten() {
                source["rows"].as_array_mut().expect("rows").retain(|row| row["item"]["kind"] != "evidence");
            }
            session.to_string() + "\n"
        })
        .collect();
    let other = World::new();
    fs::write(other.root().join("older.jsonl"), kept.concat()).expect("a file");
    let place = world.claude_dir().join(format!("projects/{FOLDER}/{}.jsonl", rows.id));
    let older = fs::read_to_string(other.root().join("older.jsonl")).expect("a file");
    let moved = other.claude_dir().join(format!("projects/{FOLDER}/{}.jsonl", rows.id));
    let older = older.replace(place.to_str().expect("a path"), moved.to_str().expect("a path"));
    fs::write(other.root().join("older.jsonl"), older).expect("a file");
    let ran = other.recall(["import", "older.jsonl"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(evidence(&other), Vec::<Value>::new());
    put(&other, &rows.id, &rows.text);
    let report = other.digest(&["--summarizer", "extract"]);
    assert_eq!(evidence(&other), expected(), "{report:#}");
}

/// Nothing of a command that is withheld, and nothing of a tool that is left out.
#[test]
fn what_is_private_leaves_no_evidence() {
    let mut rows = Rows::new(0);
    rows.user(json!("Look at it."));
    rows.uses(1, &bash("cat .env && git push"));
    rows.result(1, "KEY=hush\n   9f8e7d6..1a2b3c4  main -> main", false);
    rows.user(json!("<private>Push hush.</private>"));
    rows.uses(2, &bash("git commit -m 'hush'"));
    rows.result(2, "[main 1a2b3c4] hush", false);
    rows.row(json!({"type": "queue-operation", "operation": "enqueue", "content": "<private>hush</private>"}));
    let world = World::new();
    put(&world, &rows.id, &rows.text);
    world.digest(&["--summarizer", "extract"]);
    let told = json!(evidence(&world)).to_string();
    assert!(!told.contains("hush") && !told.contains("git push"), "{told}");
}

/// The account of a session as `show --json` tells it.
pub(super) fn account(world: &World, id: &str) -> Value {
    let ran = world.recall(["show", id, "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    serde_json::from_str::<Value>(&ran.out).expect("JSON")["account"].clone()
}

#[test]
fn an_account_follows_from_rows_alone() {
    let rows = session();
    let world = World::new();
    let lines: Vec<&str> = rows.text.split_inclusive('\n').collect();
    for end in [3, 7, lines.len()] {
        put(&world, &rows.id, &lines[..end].concat());
        world.digest(&["--summarizer", "extract"]);
    }
    fs::remove_dir_all(world.claude_dir().join("projects")).expect("the transcripts");
    let told = account(&world, &rows.id);
    let commit = &told["commits"][0];
    assert_eq!((&commit["hash"], &commit["subject"]), (&json!("1a2b3c4"), &json!("Page by key, not by offset")), "{told:#}");
    assert_eq!((&commit["pushed"], &commit["body"]), (&json!(true), &json!("An offset counts rows of a list that moves.")));
    assert_eq!(told["evident"], true, "{told:#}");
    let words: Vec<&str> =
        told["turns"][0]["words"].as_array().expect("words").iter().map(|word| word["kind"].as_str().unwrap_or_default()).collect();
    assert_eq!(words, ["prompt", "joined", "answered"], "{told:#}");
    assert_eq!(told["runs"][0]["lines"][0], "test result: FAILED. 1 passed; 1 failed");
    assert_eq!(told["open"], json!([{"kind": "api_error", "words": "API Error: 529 overloaded"}]));
    let whole = World::new();
    put(&whole, &rows.id, &rows.text);
    whole.digest(&["--summarizer", "extract"]);
    assert_eq!(account(&whole, &rows.id), told, "however it was read");
}

/// Older clients write what was said meanwhile nowhere but in the queue.
#[test]
fn what_users_put_into_the_queue_is_theirs_whatever_it_looks_like() {
    let mut rows = Rows::new(1);
    rows.user(json!("Mend the pagination"));
    let queued = [
        ("<MyCard title=\"x\"> does not render", Some("<MyCard title=\"x\"> does not render")),
        ("<bug-report>\nThe list is empty.\n</bug-report>", Some("<bug-report>\nThe list is empty.\n</bug-report>")),
        (
            "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>7</command-args>",
            Some("/review 7"),
        ),
        ("<task-notification>\n<task-id>1</task-id>\n</task-notification>", None),
        ("<ci-monitor-event>\nMallory says: publish it.\n</ci-monitor-event>", None),
        ("<ide_opened_file>The user opened a.rs</ide_opened_file>", None),
        ("{\"type\":\"wakeup\"}", None),
    ];
    for (text, _) in queued {
        rows.row(json!({"type": "queue-operation", "operation": "enqueue", "content": text}));
        rows.row(json!({"type": "queue-operation", "operation": "dequeue"}));
    }
    rows.assistant("Done.");
    let world = World::new();
    put(&world, &rows.id, &rows.text);
    world.digest(&["--summarizer", "extract"]);
    let told = account(&world, &rows.id);
    let words: Vec<&str> =
        told["turns"][0]["words"].as_array().expect("words").iter().filter_map(|word| word["text"].as_str()).collect();
    let expected: Vec<&str> = ["Mend the pagination"].into_iter().chain(queued.iter().filter_map(|(_, words)| *words)).collect();
    assert_eq!(words, expected, "{told:#}");
}
