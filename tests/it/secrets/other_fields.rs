//! A session holds more than a conversation: titles, recaps, to-do lists, dialogs, branches, paths, other files, older layouts.

use serde_json::{Value, json};

use crate::secrets::forms::{Form, written};
use crate::secrets::kinds::{KINDS, Kind};
use crate::secrets::outputs::{given, kept, leaks, said};
use crate::secrets::places::Planted;
use crate::secrets::table::{CONFIG, started, tell};
use crate::support::rows::{FOLDER, Rows, SHOP, bash, put};
use crate::support::stand_in::{COST, StandIn, form, report};

/// What is planted where a text stands.
const IN_TEXTS: [&str; 8] =
    ["github personal", "aws secret access key", "postgres url", "jwt", "NAME=password", "cookie", "anthropic", "bearer header"];
/// What is planted where only a word stands.
const IN_WORDS: [&str; 3] = ["github personal", "stripe secret", "gitlab personal"];

/// A spot of a session and how something gets there.
type Spot = (&'static str, fn(&mut Rows, &str));

const TEXTS: &[Spot] = &[
    ("ai-title", |rows, text| rows.row(json!({"type": "ai-title", "aiTitle": text}))),
    ("custom-title", |rows, text| rows.row(json!({"type": "custom-title", "customTitle": text}))),
    ("summary", |rows, text| rows.row(json!({"type": "summary", "summary": text}))),
    ("summary of a conversation", |rows, text| {
        let leaf = rows.uuid.clone();
        rows.row(json!({"type": "summary", "summary": text, "leafUuid": leaf}));
    }),
    ("recap of a compaction", |rows, text| {
        let recap =
            format!("This session is being continued from a previous conversation.\n\nSummary:\n1. Request: mend it.\n2. {text}");
        rows.row(json!({"type": "user", "isCompactSummary": true, "message": {"role": "user", "content": recap}}));
    }),
    ("away summary", |rows, text| {
        rows.row(json!({"type": "system", "subtype": "away_summary", "content": format!("Where it stands. {text}")}));
    }),
    ("to-do", |rows, text| uses(rows, "TodoWrite", json!({"todos": [{"content": text, "status": "pending"}]}))),
    ("task", |rows, text| uses(rows, "TaskCreate", json!({"subject": text, "description": text}))),
    ("task that changes", |rows, text| uses(rows, "TaskUpdate", json!({"taskId": "1", "subject": text, "status": "in_progress"}))),
    ("task that was made", |rows, text| answered(rows, json!({"task": {"id": "2", "subject": text}}))),
    ("plan", |rows, text| uses(rows, "ExitPlanMode", json!({"plan": format!("# Plan\n\n1. Log in.\n2. {text}\n3. Look.")}))),
    ("question", |rows, text| uses(rows, "AskUserQuestion", json!({"questions": [{"question": format!("Is this it? {text}")}]}))),
    ("question with its answer", |rows, text| answered(rows, json!({"questions": [{"question": text}], "answers": {text: "yes"}}))),
    ("answer", |rows, text| answered(rows, json!({"questions": [{"question": "Which?"}], "answers": {"Which?": text}}))),
    ("refusal", |rows, text| {
        let said = format!(
            "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\n{text}"
        );
        rows.result(900, &said, true);
    }),
    ("message that waited", |rows, text| {
        rows.row(json!({"type": "attachment", "attachment": {"type": "queued_command", "commandMode": "prompt", "prompt": text}}));
    }),
    ("last-prompt", |rows, text| rows.row(json!({"type": "last-prompt", "lastPrompt": text}))),
    ("queue", |rows, text| rows.row(json!({"type": "queue-operation", "operation": "enqueue", "content": text}))),
    ("block of a prompt", |rows, text| {
        rows.user(json!([{"type": "text", "text": "Look at this."}, {"type": "text", "text": text}]))
    }),
    ("slash command", |rows, text| {
        rows.user(json!(format!(
            "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>{text}</command-args>"
        )));
    }),
    ("shell command of the user", |rows, text| rows.user(json!(format!("<bash-input>./login.sh '{text}'</bash-input>")))),
    ("output of the user's shell command", |rows, text| {
        rows.user(json!(format!("<bash-stdout>it is {text}</bash-stdout><bash-stderr></bash-stderr>")));
    }),
    ("thinking", |rows, text| rows.blocks(json!([{"type": "thinking", "thinking": text, "signature": ""}]))),
    ("subagent within the file", |rows, text| {
        let message = json!({"role": "assistant", "model": "m", "content": [{"type": "text", "text": text}]});
        rows.row(json!({"type": "assistant", "isSidechain": true, "message": message}));
    }),
    ("task of a subagent", |rows, text| {
        uses(rows, "Task", json!({"description": text, "prompt": text, "subagent_type": "Explore"}))
    }),
    ("address", |rows, text| uses(rows, "mcp__browser__open", json!({"url": format!("https://shop.example/?q={text}")}))),
    ("pattern", |rows, text| uses(rows, "Grep", json!({"pattern": text, "path": SHOP}))),
    ("notebook", |rows, text| uses(rows, "NotebookEdit", json!({"notebook_path": format!("{SHOP}/a.ipynb"), "new_source": text}))),
    ("result of a tool beside its output", |rows, text| {
        answered(rows, json!({"stdout": text, "stderr": text, "interrupted": false}))
    }),
    ("output in blocks", |rows, text| {
        rows.user(json!([{"type": "tool_result", "tool_use_id": "toolu_901", "is_error": true,
            "content": [{"type": "text", "text": format!("error: it is {text}")}]}]));
    }),
    ("pull request", |rows, text| rows.row(json!({"type": "pr-link", "prUrl": format!("https://git.shop.example/pull/7?{text}")}))),
    ("oldest user row", |rows, text| rows.row(json!({"type": "user", "content": text}))),
    ("oldest assistant row", |rows, text| rows.row(json!({"type": "assistant", "content": text}))),
    ("oldest tool row", |rows, text| rows.row(json!({"type": "tool_use", "tool_name": "bash", "tool_input": {"command": text}}))),
    ("oldest result row", |rows, text| {
        rows.row(json!({"type": "tool_result", "tool_name": "bash", "tool_input": {"command": text}, "tool_output": format!("error: 1 failed: {text}")}));
    }),
    ("message that is a string", |rows, text| rows.row(json!({"type": "assistant", "message": text}))),
    ("local command", |rows, text| rows.row(json!({"type": "system", "subtype": "local_command", "content": text}))),
    ("output of a hook", |rows, text| {
        rows.row(json!({"type": "attachment", "attachment": {"type": "hook_success", "stdout": text, "content": text}}));
    }),
    ("attached file", |rows, text| {
        rows.row(json!({"type": "attachment", "attachment": {"type": "file", "filename": "a", "content": text}}))
    }),
    ("row of an unknown type", |rows, text| rows.row(json!({"type": "novelty", "content": text, "message": {"content": text}}))),
    ("torn line", |rows, text| {
        rows.text += &format!("{{\"type\": \"user\", \"message\": {{\"content\": \"{}\n", text.replace('"', "'"))
    }),
];

const WORDS: &[Spot] = &[
    ("branch", |rows, word| {
        rows.row(json!({"type": "user", "gitBranch": format!("fix/{word}"), "message": {"role": "user", "content": "Go on."}}));
    }),
    ("folder", |rows, word| {
        rows.row(json!({"type": "user", "cwd": format!("{SHOP}/{word}"), "message": {"role": "user", "content": "And here."}}));
    }),
    ("file that was changed", |rows, word| {
        uses(rows, "Edit", json!({"file_path": format!("{SHOP}/out/{word}/a.py"), "old_string": "a", "new_string": "b"}));
    }),
    ("file that was written", |rows, word| uses(rows, "Write", json!({"file_path": format!("{SHOP}/{word}.py"), "content": "b"}))),
    ("file that was read", |rows, word| uses(rows, "Read", json!({"file_path": format!("{SHOP}/out/{word}.py")}))),
    ("tool", |rows, word| uses(rows, &format!("mcp__{word}__send"), json!({"text": "hello"}))),
    ("state of a task", |rows, word| uses(rows, "TaskUpdate", json!({"taskId": "1", "status": word}))),
    ("type of a row", |rows, word| rows.row(json!({"type": word, "content": "x"}))),
    ("version", |rows, word| {
        rows.row(json!({"type": "user", "version": word, "message": {"role": "user", "content": "With the new version."}}));
    }),
    ("model", |rows, word| {
        let message = json!({"id": "msg_odd", "role": "assistant", "model": word, "content": [{"type": "text", "text": "Done."}], "usage": {"input_tokens": 1, "output_tokens": 1}});
        rows.row(json!({"type": "assistant", "message": message}));
    }),
];

fn uses(rows: &mut Rows, name: &str, input: Value) {
    rows.uses(800, &json!({"name": name, "input": input}));
}

/// The result of a tool, in the form the client keeps beside the output.
fn answered(rows: &mut Rows, result: Value) {
    let content = json!([{"type": "tool_result", "tool_use_id": "toolu_800", "content": "done"}]);
    rows.row(json!({"type": "user", "message": {"role": "user", "content": content}, "toolUseResult": result}));
}

fn named(name: &str) -> &'static Kind {
    KINDS.iter().find(|kind| kind.name == name).unwrap_or_else(|| panic!("no kind {name}"))
}

/// A secret for a spot, as a text holds it or as it is.
fn planted(kind: &str, spot: &str, is_text: bool) -> (String, Planted) {
    let kind = named(kind);
    let grown = kind.grown(spot);
    let text = match kind.shape {
        _ if !is_text => grown.text,
        crate::secrets::kinds::Shape::Text => written(Form::Start, kind, &grown.text),
        _ => written(Form::Assigned, kind, &grown.text),
    };
    let form = if is_text { "in a text" } else { "as it is" };
    (text, Planted { kind: kind.name, place: spot.to_owned(), form: form.to_owned(), parts: grown.parts })
}

/// A session in which a kind stands in every spot.
fn everywhere(n: usize, kind: &str, spots: &[Spot], is_text: bool) -> (Rows, Vec<Planted>) {
    let mut rows = Rows::new(n);
    let mut all = Vec::new();
    rows.user(json!("The list of orders breaks on the first page; please mend it."));
    for (spot, put) in spots {
        let (text, one) = planted(kind, spot, is_text);
        put(&mut rows, &text);
        all.push(one);
    }
    rows.assistant("The list of orders is mended; all 14 tests pass.");
    (rows, all)
}

#[test]
fn nor_from_any_other_part_of_a_session() {
    let stand_in = StandIn::new(&[], "cat \"$here/good\"");
    let world = &stand_in.world;
    world.configure(CONFIG);
    stand_in.put("good", &report(&form(), COST));
    let mut all = Vec::new();
    let mut ids = Vec::new();
    for (n, (kind, is_text)) in IN_TEXTS.map(|kind| (kind, true)).into_iter().chain(IN_WORDS.map(|kind| (kind, false))).enumerate()
    {
        let (rows, planted) = everywhere(n, kind, if is_text { TEXTS } else { WORDS }, is_text);
        put(world, &rows.id, &rows.text);
        all.extend(planted);
        ids.push(rows.id);
    }
    for (n, kind) in IN_TEXTS.into_iter().enumerate() {
        all.extend(a_subagents_file(&stand_in, &ids[n], n, kind));
    }
    let ran = world.recall(["digest", "--json"]);
    assert!(ran.code < 2, "{ran:#?}");
    let mut sinks = said("digest", &ran).to_vec();
    for args in [&["status", "--json"][..], &["export"], &["context", "--cwd", SHOP], &["search", "orders"], &["doctor", "--json"]]
    {
        sinks.extend(said(args[0], &world.recall(args)));
    }
    for id in &ids {
        for how in ["--json", "--raw"] {
            sinks.extend(said(how, &world.recall(["show", id, how])));
        }
        sinks.extend(said("hook session-start (compact)", &started(world, id, "compact")));
    }
    sinks.extend(given(&stand_in.calls()));
    sinks.extend(kept(world));
    tell(&all, &leaks(&all, &sinks));
}

/// What a subagent said and did, in its own file.
fn a_subagents_file(stand_in: &StandIn, session: &str, n: usize, kind: &str) -> Vec<Planted> {
    let mut rows = Rows::new(100 + n);
    let uuids = rows.id.clone();
    rows.id = session.to_owned();
    let mut all = Vec::new();
    for spot in ["subagent's task", "subagent's words", "subagent's command", "subagent's output"] {
        let (text, one) = planted(kind, spot, true);
        all.push(one);
        match spot {
            "subagent's task" => rows.user(json!(text)),
            "subagent's words" => rows.assistant(&format!("I have looked at it. {text}")),
            "subagent's command" => rows.uses(700, &bash(&format!("./login.sh '{text}'"))),
            _ => rows.result(700, &format!("Exit code 1\nerror: {text}"), true),
        }
    }
    // Rows have ids of their own in every file of a session.
    let text = rows.text.replace(&format!("\"uuid\":\"{}", &session[..24]), &format!("\"uuid\":\"{}", &uuids[..24]));
    stand_in.world.transcript(&format!("{FOLDER}/{session}/subagents/agent-a{n}.jsonl"), text);
    all
}
