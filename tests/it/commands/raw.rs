//! `recall show --raw`: the rows of a session as its transcripts have them, without what is forgotten or private.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::support::rows::{FOLDER, Rows, bash};
use crate::support::{Ran, World, files_below};

const PLAIN: &str = "64b0b6d9-e371-40e8-affe-78e0505dfb3f";
const WITH_AGENT: &str = "f518df9a-b229-40f4-ae26-378c520c4ac8";

fn digested(rows: &Rows) -> World {
    let world = World::new();
    world.transcript(&format!("{FOLDER}/{}.jsonl", rows.id), &rows.text);
    world.digest(&["--summarizer", "extract"]);
    world
}

fn raw(world: &World, id: &str) -> Ran {
    world.recall(["show", "--raw", id])
}

/// The uuids of rows in their order.
fn uuids(text: &str) -> Vec<String> {
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|e| panic!("{e}: {line}")));
    rows.filter_map(|row| Some(row["uuid"].as_str()?.to_owned())).collect()
}

#[test]
fn the_conversation_comes_byte_for_byte() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let file = files_below(&world.claude_dir()).into_iter().find(|f| f.to_str().unwrap().contains(PLAIN)).unwrap();
    let transcript = fs::read_to_string(file).unwrap();
    let said: Vec<&str> =
        transcript.lines().filter(|l| l.contains("\"type\":\"user\"") || l.contains("\"type\":\"assistant\"")).collect();
    let ran = raw(&world, "64b0");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    assert_eq!(ran.out.lines().collect::<Vec<_>>(), said);
}

#[test]
fn subagents_come_along_and_a_file_that_is_gone_is_told() {
    let world = World::with_fixtures(&["subagent"]);
    world.digest(&["--summarizer", "extract"]);
    let whole = raw(&world, WITH_AGENT);
    let agents = |text: &str| text.lines().filter(|line| line.contains("\"isSidechain\":true")).count();
    assert_eq!(whole.code, 0, "{whole:#?}");
    assert!(agents(&whole.out) > 5, "{whole:#?}");
    let files = files_below(&world.claude_dir());
    let agent =
        files.iter().find(|f| f.to_str().unwrap().contains("/subagents/agent-") && f.extension().unwrap() == "jsonl").unwrap();
    fs::remove_file(agent).unwrap();
    let rest = raw(&world, WITH_AGENT);
    assert_eq!((rest.code, agents(&rest.out)), (1, 0), "{rest:#?}");
    assert!(whole.out.starts_with(&rest.out) && !rest.out.is_empty());
    assert!(rest.err.contains(agent.to_str().unwrap()) && rest.err.contains("is not there any more"), "{rest:#?}");
    for file in files {
        let _ = fs::remove_file(file);
    }
    let none = raw(&world, WITH_AGENT);
    assert_eq!((none.code, none.out.as_str()), (2, ""), "{none:#?}");
    assert!(none.err.contains("is not there any more") && none.err.contains("--full"), "{none:#?}");
    assert_eq!(world.recall(["show", WITH_AGENT]).code, 0, "the memory stays");
}

#[test]
fn rows_that_were_forgotten_are_left_out_and_so_is_what_repeats_them() {
    let mut rows = Rows::new(1);
    rows.user("Why is the importer slow?".into());
    rows.assistant("It reads the rates for every row.");
    rows.user("Ask the Zanzibarquux office about it.".into());
    rows.assistant("I wrote them a mail.");
    rows.text += &format!(
        "{}\n",
        json!({"type": "last-prompt", "lastPrompt": "Ask the Zanzibarquux office about it.", "sessionId": rows.id})
    );
    let world = digested(&rows);
    let before = raw(&world, &rows.id).out;
    assert!(before.contains("Zanzibarquux"));
    let forgot = world.recall(["forget", "--yes", "--match", "Zanzibarquux office"]);
    assert_eq!(forgot.code, 0, "{forgot:#?}");
    let ran = raw(&world, &rows.id);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!ran.out.contains("Zanzibarquux"), "{ran:#?}");
    let (had, left) = (uuids(&before), uuids(&ran.out));
    assert_eq!(left, [&had[..2], &had[3..]].concat(), "the others stay");
    world.recall(["forget", "--yes", "--session", &rows.id]);
    let ran = raw(&world, &rows.id);
    assert!(ran.code == 2 && ran.err.contains("you deleted the session"), "{ran:#?}");
}

#[test]
fn private_turns_are_left_out_and_private_words_taken_out() {
    let mut rows = Rows::new(1);
    rows.user("Mend the list. <private>hush1</private> It is slow.".into());
    rows.assistant("It is mended.");
    rows.user("<private>Who is hush2?</private>".into());
    rows.assistant("hush3 is a customer.");
    rows.user(
        json!([{"type": "text", "text": "Now this: <private>hush4"}, {"type": "text", "text": "hush5</private> and the tests"}]),
    );
    rows.assistant("They pass.");
    let world = digested(&rows);
    let ran = raw(&world, &rows.id);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!ran.out.contains("hush"), "{ran:#?}");
    assert!(ran.out.contains("Mend the list.  It is slow.") && ran.out.contains("It is mended."), "{ran:#?}");
    // What was not touched is as it was.
    let untouched = rows.text.lines().nth(1).unwrap();
    assert!(ran.out.lines().any(|line| line == untouched), "{ran:#?}");
    let own: BTreeSet<String> = uuids(&rows.text).into_iter().collect();
    assert!(uuids(&ran.out).iter().all(|uuid| own.contains(uuid)), "{ran:#?}");
}

#[test]
fn a_turn_that_turned_private_after_the_digest_is_left_out_too() {
    let mut rows = Rows::new(1);
    rows.user("Mend the list.".into());
    rows.assistant("It is mended.");
    let world = digested(&rows);
    let before = raw(&world, &rows.id).out;
    rows.user("<private>Who is hush2?</private>".into());
    rows.assistant("hush3 is a customer.");
    world.transcript(&format!("{FOLDER}/{}.jsonl", rows.id), &rows.text);
    assert_eq!(raw(&world, &rows.id).out, before);
}

#[test]
fn secrets_and_what_private_files_hold_are_not_shown() {
    let mut rows = Rows::new(1);
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    rows.user(format!("Deploy with {token} please, and see why it fails: the others say that it worked for them yesterday, and that nothing has changed since.").into());
    rows.uses(1, &bash("cat .env"));
    rows.result(1, "PORT=hush1", false);
    rows.uses(2, &bash("rg PORT"));
    rows.result(2, "src/main.rs:3:PORT\n.env:1:PORT=hush2\nsrc/lib.rs:9:PORT", false);
    rows.assistant("The port is wrong.");
    let world = digested(&rows);
    let ran = raw(&world, &rows.id);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!ran.out.contains("hush") && !ran.out.contains(&token), "{ran:#?}");
    for kept in ["Deploy with [REDACTED", "see why it fails", "src/main.rs:3:PORT\\nsrc/lib.rs:9:PORT", "The port is wrong."] {
        assert!(ran.out.contains(kept), "{kept}: {ran:#?}");
    }
}

#[test]
fn a_project_whose_name_sounds_private_is_shown_as_any_other() {
    let mut rows = Rows::new(1);
    rows.user("Mend the list.".into());
    rows.assistant("It is mended.");
    rows.text = rows.text.replace("/home/dev/src/shop", "/home/dev/src/secret-service").replace("\"main\"", "\"rotate-secrets\"");
    let world = digested(&rows);
    assert_eq!(raw(&world, &rows.id).out, rows.text);
}

#[test]
fn a_session_needs_no_digest_to_be_shown_raw() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--ingest-only"]);
    assert_eq!(raw(&world, PLAIN).code, 0);
    let ran = world.recall(["show", "--raw", "--json", PLAIN]);
    assert_eq!(ran.code, 2, "rows are JSON already: {ran:#?}");
}

#[test]
fn titles_that_were_forgotten_or_tell_of_private_rows_are_left_out() {
    let mut rows = Rows::new(1);
    rows.user("Drain the lagoon.".into());
    rows.assistant("It is drained.");
    let leaf = rows.uuid.clone();
    rows.text += &format!("{}\n", json!({"type": "summary", "summary": "Draining the Zanzibarquux lagoon", "leafUuid": leaf}));
    rows.text += &format!("{}\n", json!({"type": "summary", "summary": "Draining a lagoon", "leafUuid": leaf}));
    let world = digested(&rows);
    assert!(raw(&world, &rows.id).out.contains("Zanzibarquux"));
    let forgot = world.recall(["forget", "--yes", "--match", "Zanzibarquux lagoon"]);
    assert_eq!(forgot.code, 0, "{forgot:#?}");
    let ran = raw(&world, &rows.id);
    assert!(!ran.out.contains("Zanzibarquux") && ran.out.contains("Draining a lagoon"), "{ran:#?}");
    // A title for a row that is forgotten goes with it.
    world.recall(["forget", "--yes", "--match", "It is drained"]);
    let ran = raw(&world, &rows.id);
    assert!(!ran.out.contains("Draining a lagoon") && ran.out.contains("Drain the lagoon"), "{ran:#?}");
}

#[test]
fn what_private_files_hold_is_not_shown_of_the_oldest_layout_either() {
    let world = World::new();
    let dir = world.claude_dir().join("transcripts");
    fs::create_dir_all(&dir).unwrap();
    let mut rows =
        format!("{}\n", json!({"type": "user", "timestamp": "2026-01-05T10:00:00.000Z", "content": "why does the build fail?"}));
    let uses = [
        ("read", json!({"filePath": "/r/.env"}), "PORT=hush1\n3 passed, 1 failed"),
        ("bash", json!({"command": "fetch bluebird"}), "hush2\n3 passed, 1 failed"),
        ("bash", json!({"command": "cargo build"}), "the port is taken\n3 passed, 1 failed"),
    ];
    // Twice: the oldest layout knows a use by what it was for.
    for (name, input, output) in uses.iter().chain(&uses) {
        let at = "2026-01-05T10:00:02.000Z";
        let called = json!({"type": "tool_use", "timestamp": at, "tool_name": name, "tool_input": input});
        let ended = json!({"type": "tool_result", "timestamp": at, "tool_name": name, "tool_input": input, "tool_output": output});
        rows += &format!("{called}\n{ended}\n");
    }
    fs::write(dir.join("ses_0123456789abcdef.jsonl"), rows).unwrap();
    world.configure("[privacy]\nexclude_patterns = [\"bluebird\"]\n");
    world.age_transcripts();
    world.digest(&["--summarizer", "extract"]);
    let ran = raw(&world, "ses_0123456789abcdef");
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!ran.out.contains("hush"), "{ran:#?}");
    assert_eq!(ran.out.matches("the port is taken").count(), 2, "{ran:#?}");
}

/// A row of what the model thought, as the client writes it.
fn thinks(rows: &mut Rows, text: &str) {
    rows.blocks(json!([{"type": "thinking", "thinking": text, "signature": "c2ln"}]));
}

#[test]
fn what_the_model_thought_of_something_forgotten_goes_with_it_and_so_does_its_output() {
    let mut rows = Rows::new(1);
    rows.user("Why is the importer slow?".into());
    thinks(&mut rows, "The importer reads rates.");
    rows.assistant("It reads the rates for every row.");
    rows.user("Ask the Zanzibarquux office about it.".into());
    thinks(&mut rows, "hush1 is in that office.");
    rows.assistant("I wrote them a mail.");
    rows.user("Look for it.".into());
    thinks(&mut rows, "hush2 may stand there.");
    rows.uses(1, &bash("cat zanzibarquux office.txt"));
    rows.result(1, "hush3 answered", false);
    rows.assistant("They answered.");
    rows.user("And now the tests.".into());
    thinks(&mut rows, "Tests are run by make.");
    rows.assistant("They pass.");
    let world = digested(&rows);
    let whole = raw(&world, &rows.id).out;
    assert_eq!(whole.matches("hush").count(), 3, "{whole}");
    let forgot = world.recall(["forget", "--yes", "--match", "Zanzibarquux office"]);
    assert_eq!(forgot.code, 0, "{forgot:#?}");
    let ran = raw(&world, &rows.id);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!ran.out.contains("hush") && !ran.out.contains("anzibarquux"), "{ran:#?}");
    for kept in ["importer reads rates", "I wrote them a mail.", "Look for it.", "They answered.", "Tests are run", "They pass."] {
        assert!(ran.out.contains(kept), "{kept}: {ran:#?}");
    }
}

#[test]
fn a_session_that_was_in_an_excluded_project_has_no_rows() {
    let mut rows = Rows::new(1);
    rows.text += &format!("{}\n", json!({"type": "custom-title", "customTitle": "hush1 and others", "sessionId": rows.id}));
    rows.row(json!({"type": "user", "cwd": "/home/dev/src/clinic", "message": {"role": "user", "content": "hush2?"}}));
    rows.user("Mend the list of the shop.".into());
    rows.assistant("It is mended.");
    let world = World::new();
    world.configure("[privacy]\nexclude_projects = [\"**/clinic\"]\n");
    world.transcript(&format!("{FOLDER}/{}.jsonl", rows.id), &rows.text);
    world.digest(&["--summarizer", "extract"]);
    let ran = raw(&world, &rows.id);
    assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains("excludes or isolates"), "{ran:#?}");
}
