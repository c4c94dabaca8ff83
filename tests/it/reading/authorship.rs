//! Whose words they are: most rows in the user's name are not the user's.

use serde_json::json;

use crate::support::{World, assistant, user};

const S: &str = "66666666-aaaa-4aaa-8aaa-666666666666";
const COMPACT: &str = "959386ce-0cd8-4cbc-9d78-7e0a84b4bfae";
const RETRY: &str = "e1f1ab06-7af1-4a7a-b6b5-6ca5bb65c0e1";

fn attachment(uuid: &str, attachment: &serde_json::Value) -> String {
    let row =
        json!({"type": "attachment", "uuid": uuid, "sessionId": S, "timestamp": "2026-11-20T10:00:02Z", "attachment": attachment});
    format!("{row}\n")
}

fn usage(uuid: &str, message: &str, input: u64, output: u64) -> String {
    let row = json!({
        "type": "assistant", "uuid": uuid, "sessionId": S, "timestamp": "2026-11-20T10:00:03Z",
        "message": {"id": message, "role": "assistant", "model": "claude-haiku-4-5-20251001",
            "content": [{"type": "text", "text": format!("Part {uuid}.")}], "usage": {"input_tokens": input, "output_tokens": output}},
    });
    format!("{row}\n")
}

#[test]
fn what_hooks_injected_is_nobodys_word() {
    let world = World::with_fixtures(&["hooks"]);
    world.digest(&["--summarizer", "extract"]);
    let mark = "injected-by-a-hook:";
    let texts: Vec<String> = world.exported().iter().map(ToString::to_string).collect();
    assert!(!texts.is_empty() && !texts.iter().any(|t| t.contains(mark)), "{texts:#?}");
    for (name, page) in world.pages() {
        assert!(!page.contains(mark), "{name}:\n{page}");
    }
    assert_eq!(world.recall(["search", "injected-by-a-hook"]).out, "");
}

#[test]
fn recaps_and_echoes_of_slash_commands_are_no_prompts() {
    let world = World::with_fixtures(&["compact"]);
    world.digest(&["--summarizer", "extract"]);
    let prompts = world.texts(COMPACT, "prompt");
    assert_eq!(prompts.len(), 5, "{prompts:#?}");
    for prompt in &prompts {
        for sign in ["<command-name>", "<local-command", "This session is being continued", "Caveat:", "/compact"] {
            assert!(!prompt.contains(sign), "{prompt}");
        }
    }
    assert_eq!(world.texts(COMPACT, "recap").len(), 1);
    assert_eq!(world.show(COMPACT)["prompts"], 5);
}

#[test]
fn shell_commands_and_dialogs_of_the_user_are_no_prompts() {
    let world = World::with_fixtures(&["clear"]);
    world.digest(&["--summarizer", "extract"]);
    let all = world.exported();
    assert_eq!(all.len(), 2, "`/clear` begins a session of its own");
    for session in &all {
        let id = session["session"].as_str().unwrap();
        let prompts = world.texts(id, "prompt");
        assert_eq!(prompts.len(), 1, "{id}: {prompts:#?}");
        assert!(!prompts[0].contains('<'), "{prompts:#?}");
    }
}

#[test]
fn tool_results_are_no_prompts_and_their_raw_text_is_not_kept() {
    let world = World::with_fixtures(&["retry"]);
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(world.texts(RETRY, "prompt").len(), 3);
    let outcomes = world.texts(RETRY, "outcome");
    assert!(outcomes.iter().any(|o| o.contains("\"ok\":false")), "a failed command is remembered as one: {outcomes:#?}");
    let longest = outcomes.iter().map(String::len).max().unwrap_or(0);
    assert!(longest < 2_000, "an outcome of {longest} bytes is raw output");
}

#[test]
fn a_command_of_the_users_own_is_a_prompt_and_one_of_the_clients_is_none() {
    let world = World::new();
    let own =
        "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the parser</command-args>";
    let built_in =
        "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>opus</command-args>";
    let rows = user(S, "u1", "2026-11-20T10:00:00Z", own) + &user(S, "u2", "2026-11-20T10:00:01Z", built_in);
    world.transcript(&format!("-p/{S}.jsonl"), rows);
    world.digest(&["--ingest-only"]);
    assert_eq!(world.texts(S, "prompt"), ["/review the parser"]);
}

#[test]
fn what_was_typed_while_the_assistant_was_busy_is_a_prompt() {
    let world = World::new();
    let queued = attachment("q1", &json!({"type": "queued_command", "commandMode": "prompt", "prompt": "and add a test"}));
    let notice = attachment(
        "q2",
        &json!({"type": "queued_command", "commandMode": "task-notification", "prompt": "<task-notification>done</task-notification>"}),
    );
    let file = attachment("q3", &json!({"type": "file", "filename": "a.py", "content": "print(1)"}));
    world.transcript(&format!("-p/{S}.jsonl"), user(S, "u1", "2026-11-20T10:00:00Z", "fix it") + &queued + &notice + &file);
    world.digest(&["--ingest-only"]);
    assert_eq!(world.texts(S, "prompt"), ["fix it", "and add a test"]);
}

#[test]
fn tokens_count_once_a_message_with_its_largest_figures() {
    let world = World::new();
    let rows = user(S, "u1", "2026-11-20T10:00:00Z", "fix it")
        + &usage("a1", "msg_1", 100, 3)
        + &usage("a2", "msg_1", 100, 40)
        + &usage("a3", "msg_1", 100, 40)
        + &usage("a4", "msg_2", 7, 5)
        + &usage("a5", "msg_2", 0, 0);
    world.transcript(&format!("-p/{S}.jsonl"), rows);
    world.digest(&["--summarizer", "extract"]);
    let tokens = &world.show(S)["usage"]["claude-haiku-4-5-20251001"];
    assert_eq!((&tokens["input"], &tokens["output"]), (&107.into(), &45.into()), "{tokens}");
}

#[test]
fn usage_that_comes_with_a_later_run_joins_its_message() {
    let world = World::new();
    let first = user(S, "u1", "2026-11-20T10:00:00Z", "fix it") + &usage("a1", "msg_1", 100, 3);
    world.transcript(&format!("-p/{S}.jsonl"), &first);
    world.digest(&["--summarizer", "extract"]);
    world.transcript(&format!("-p/{S}.jsonl"), first + &usage("a2", "msg_1", 100, 40));
    world.digest(&["--summarizer", "extract"]);
    let tokens = &world.show(S)["usage"]["claude-haiku-4-5-20251001"];
    assert_eq!((&tokens["input"], &tokens["output"]), (&100.into(), &40.into()), "{tokens}");
}

#[test]
fn the_clients_own_notices_are_not_the_assistants_words() {
    let world = World::new();
    let notice =
        assistant(S, "a1", "2026-11-20T10:00:05Z", "API Error: 529 overloaded").replace("claude-haiku-4-5-20251001", "<synthetic>");
    world.transcript(&format!("-p/{S}.jsonl"), user(S, "u1", "2026-11-20T10:00:00Z", "fix it") + &notice);
    let report = world.digest(&["--summarizer", "extract"]);
    assert_eq!(world.texts(S, "reply"), Vec::<String>::new());
    assert_eq!((&report["sessions_digested"], &report["sessions_skipped"]), (&0.into(), &1.into()), "{report}");
}
