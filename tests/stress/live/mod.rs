//! Beside the real client, as a user would see it: hooks leave marks, a digest takes them up, and the next session starts with it.
//!
//! tmux is the terminal, a stand-in on loopback the service. `.ci/install-client DIR` installs the client and prints the path to put
//! into RECALL_TEST_CLAUDE.

mod scene;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::data_folder;
use crate::support::terminal::Terminal;
use scene::{ASKS, BEARS, EXCLAIM, FAREWELL, FIX, LANGUAGES, MOTTO, NEXT, PRIVATE, SETTINGS, Scene, UNRELATED};

#[test]
#[ignore = "needs tmux and the real client: set RECALL_TEST_CLAUDE"]
fn a_session_leaves_marks_and_the_next_one_starts_with_what_it_did() {
    let scene = Scene::new();
    scene.install("user");
    let client = &scene.client;

    let terminal = Terminal::start(client, &[]);
    terminal.say(FIX.0, FIX.1);
    terminal.say(EXCLAIM.0, EXCLAIM.1);
    terminal.say("/compact", "Compacted");
    terminal.say(LANGUAGES.0, LANGUAGES.1);
    terminal.submit("/clear");
    scene.wait_for_marks(2);
    terminal.say(FAREWELL.0, FAREWELL.1);
    terminal.submit("/exit");
    terminal.wait_for_the_end();
    assert_eq!(fs::read_to_string(client.project().join("greeting.txt")).expect("the file"), "hello world\n", "the tools ran");
    let [first, second] = marks_of_two_sessions(&scene);
    assert_no_text(&scene);

    let compacted = scene.request_with(LANGUAGES.0).injected();
    assert!(
        matches!(&compacted[..], [one] if one.contains("before its context was compacted") && one.contains(FIX.0)),
        "{compacted:#?}"
    );

    scene.digest();
    let context = scene.hook_says();
    assert!(context.contains(&first[..8]) && context.contains(&second[..8]), "both sessions are told of: {context}");
    assert_eq!(client.recall(&["context"]).out, context, "a person is shown the same");

    let terminal = Terminal::start(client, &[]);
    terminal.say(NEXT.0, NEXT.1);
    terminal.submit("/exit");
    terminal.wait_for_the_end();
    scene.request_with(NEXT.0).holds_in_its_place(&context);

    scene.digest();
    let stored = data_folder::texts(&client.world);
    assert!(stored.iter().any(|text| text.contains(NEXT.0)), "the session itself is stored: {stored:#?}");
    for text in [&context, &compacted[0]] {
        data_folder::assert_nowhere(&client.world, &stored, text);
    }
    // As the index has them: without words that say nothing.
    let found = ["state things", "kept recall"].map(|words| data_folder::found(&client.world, words) > 0);
    assert_eq!(found, [true, false], "in the index");
    for (page, text) in client.world.pages() {
        assert!(!text.contains("kept by recall"), "{page}: {text}");
    }

    scene.run("uninstall", &[]);
    assert_eq!(fs::read_to_string(client.settings()).expect("settings"), SETTINGS, "byte for byte");
}

/// The marks are those of a session that was compacted and cleared, and of one that was left: their ids.
fn marks_of_two_sessions(scene: &Scene) -> [String; 2] {
    let marks = scene.marks();
    let text = |mark: &Value, key: &str| mark[key].as_str().unwrap_or_else(|| panic!("no {key}: {mark:#}")).to_owned();
    let told: Vec<_> = marks.iter().map(|m| (text(m, "event"), text(m, "reason"))).collect();
    let expected = [("pre-compact", "manual"), ("session-end", "clear"), ("session-end", "prompt_input_exit")];
    assert_eq!(told, expected.map(|(event, reason)| (event.to_owned(), reason.to_owned())));
    for mark in &marks {
        let length = fs::metadata(text(mark, "transcript")).expect("the transcript").len();
        assert!((1..=length).contains(&mark["offset"].as_u64().expect("an offset")), "{length}: {mark:#}");
    }
    let ids: Vec<_> = marks.iter().map(|mark| text(mark, "session")).collect();
    assert!(ids[0] == ids[1] && ids[1] != ids[2], "{ids:?}");
    [ids[0].clone(), ids[2].clone()]
}

/// Nothing that anybody said is in what hooks leave.
fn assert_no_text(scene: &Scene) {
    for file in crate::support::files_below(&scene.client.world.data_dir()) {
        let left = String::from_utf8_lossy(&fs::read(&file).expect("a file")).into_owned();
        assert!(!left.to_lowercase().contains("greeting"), "{}: {left}", file.display());
    }
}

#[test]
#[ignore = "needs the real client: set RECALL_TEST_CLAUDE"]
fn hooks_in_a_project_work_beside_those_of_another_tool_and_speak_once() {
    let scene = Scene::new();
    let client = &scene.client;
    let hooks = |commands: &[&str]| {
        let entries: Vec<_> =
            commands.iter().map(|c| format!(r#"{{"hooks": [{{"type": "command", "command": "{c}"}}]}}"#)).collect();
        format!("{{\n   \"hooks\": {{\n      \"SessionStart\": [\n         {}\n      ]\n   }}\n}}\n", entries.join(",\n         "))
    };
    let before = hooks(&[&scene.other("before")]);
    fs::create_dir_all(client.project().join(".claude")).expect("a folder");
    fs::write(scene.project_settings(), &before).expect("the project's settings");
    scene.install("project");
    scene.run("uninstall", &["--scope", "project"]);
    assert_eq!(fs::read_to_string(scene.project_settings()).expect("settings"), before, "byte for byte");
    scene.install("project");
    add_a_hook(&scene.project_settings(), &scene.other("after"));

    client.turn(FIX.0, &[]);
    assert_eq!(scene.marks().len(), 1, "{:#?}", scene.marks());
    scene.digest();
    let context = scene.hook_says();
    let one_scope = scene.turn_and_request(EXCLAIM.0);
    one_scope.holds_in_its_place(&context);
    assert_eq!(one_scope.injected_by_others(), ["noted by after", "noted by before"]);

    scene.install("user");
    let context = scene.hook_says();
    let both_scopes = scene.turn_and_request(NEXT.0);
    both_scopes.holds_in_its_place(&context);
    assert_eq!(both_scopes.injected_by_others(), ["noted by after", "noted by before"]);
    scene.run("uninstall", &["--scope", "user"]);
    assert_eq!(fs::read_to_string(client.settings()).expect("settings"), SETTINGS, "byte for byte");

    for args in [["marketplace", "add", env!("CARGO_MANIFEST_DIR")].as_slice(), &["install", "recall@recall"]] {
        let ran = client.claude(&[&["plugin"], args].concat());
        assert_eq!(ran.code, 0, "{ran:#?}");
    }
    scene.digest();
    let context = scene.hook_says();
    scene.turn_and_request(FAREWELL.0).holds_in_its_place(&context);
    assert_eq!(scene.marks().len(), 2, "the project's hook and the plugin's: {:#?}", scene.marks());

    scene.run("uninstall", &[]);
    let left: Value = serde_json::from_slice(&fs::read(scene.project_settings()).expect("settings")).expect("JSON");
    let others: Value = serde_json::from_str(&hooks(&["before", "after"])).expect("JSON");
    assert_eq!(left, others, "what others put in stays");
}

/// Another tool's installer adds its hook behind all others.
fn add_a_hook(path: &Path, command: &str) {
    let mut settings: Value = serde_json::from_slice(&fs::read(path).expect("settings")).expect("JSON");
    let entries = settings["hooks"]["SessionStart"].as_array_mut().expect("hooks");
    entries.push(json!({"hooks": [{"type": "command", "command": command}]}));
    fs::write(path, format!("{settings:#}")).expect("settings");
}

#[test]
#[ignore = "needs the real client: set RECALL_TEST_CLAUDE"]
fn a_resumed_session_hears_what_happened_elsewhere_and_a_fork_hears_nothing_twice() {
    let scene = Scene::new();
    scene.install("user");
    let client = &scene.client;
    let first = client.turn(FIX.0, &[]);
    let elsewhere = client.turn(EXCLAIM.0, &[]);
    scene.digest();

    client.turn(LANGUAGES.0, &["--resume", &first]);
    let resumed = scene.request_with(LANGUAGES.0).injected();
    let [heard] = &resumed[..] else { panic!("one text for a session that began with none: {resumed:#?}") };
    assert!(heard.contains(&elsewhere[..8]) && !heard.contains(&first[..8]), "{heard}");

    let fork = client.turn(FAREWELL.0, &["--resume", &first, "--fork-session"]);
    assert_ne!(fork, first);
    assert_eq!(scene.request_with(FAREWELL.0).injected(), resumed, "what the conversation holds already, and no more");

    scene.digest();
    let told = [&first, &elsewhere, &fork].map(|id| client.recall(&["show", "--json", id]).out);
    let prompts = told.map(|out| serde_json::from_str::<Value>(&out).unwrap_or_else(|e| panic!("{e}: {out}"))["prompts"].clone());
    assert_eq!(prompts, [json!(2), json!(1), json!(1)], "the rows a fork copied count once");
    data_folder::assert_nowhere(&client.world, &data_folder::texts(&client.world), heard);
}

#[test]
#[ignore = "needs tmux and the real client: set RECALL_TEST_CLAUDE"]
fn a_private_turn_and_a_private_file_leave_no_trace_of_what_they_said() {
    let scene = Scene::new();
    scene.install("user");
    let client = &scene.client;
    fs::write(client.project().join(".env"), "MOTTO=ginger-and-salt\n").expect("a private file");

    let terminal = Terminal::start(client, &[]);
    terminal.say(EXCLAIM.0, EXCLAIM.1);
    terminal.say(PRIVATE.0, PRIVATE.1);
    terminal.say(MOTTO.0, MOTTO.1);
    terminal.submit("/exit");
    terminal.wait_for_the_end();
    let transcripts: String = crate::support::files_below(&client.world.claude_dir().join("projects"))
        .into_iter()
        .map(|file| fs::read_to_string(file).expect("a transcript"))
        .collect();
    // Before a digest has seen the session, too.
    let mut told = vec![scene.hook_says()];
    scene.digest();
    told.extend([scene.hook_says(), client.recall(&["export"]).out]);
    told.extend(data_folder::texts(&client.world));
    told.extend(client.world.pages().into_iter().map(|(_, page)| page));
    for trace in ["Rosenhof", "ginger-and-salt"] {
        assert!(transcripts.contains(trace), "the client wrote it down: {transcripts}");
        let held: Vec<_> = told.iter().filter(|text| text.to_lowercase().contains(&trace.to_lowercase())).collect();
        assert!(held.is_empty(), "{trace}: {held:#?}");
    }
    for kept in [EXCLAIM.0, EXCLAIM.1, MOTTO.0, MOTTO.1, ".env"] {
        assert!(told.iter().any(|text| text.contains(kept)), "{kept} is kept: {told:#?}");
    }
}

#[test]
#[ignore = "needs the real client: set RECALL_TEST_CLAUDE"]
fn a_prompt_that_asks_for_the_past_carries_what_was_said_and_an_unrelated_one_nothing() {
    let scene = Scene::new();
    scene.install("user");
    let client = &scene.client;
    let fixed = client.turn(FIX.0, &[]);
    let decided = client.turn(EXCLAIM.0, &[]);
    scene.digest();
    // The start says nothing here: what there is comes with the prompt.
    client.world.configure("[hooks]\ndeadline_ms = 5000\nmax_inject_tokens = 0\n");

    let asked = scene.turn_and_request(ASKS.0);
    let texts = asked.injected();
    let [passages] = &texts[..] else { panic!("one text: {texts:#?}") };
    // The label says already what it is.
    let decision = EXCLAIM.1.trim_start_matches("Decision: ");
    assert!(passages.contains(decision) && passages.contains(&format!("[{}, ", &decided[..8])), "{passages}");
    assert!(!passages.contains(&fixed[..8]) && asked.says_it_came_with_the_prompt(passages), "{passages}");

    let texts = scene.turn_and_request(BEARS.0).injected();
    let [notice] = &texts[..] else { panic!("one text: {texts:#?}") };
    assert!(notice.contains(&format!(" {} ", &fixed[..8])) && notice.contains("relevance"), "{notice}");
    assert!(!notice.contains(FIX.1), "a notice does not say what it says: {notice}");

    assert_eq!(scene.turn_and_request(UNRELATED.0).injected(), [""; 0]);
    client.world.configure("[hooks]\ndeadline_ms = 5000\nprompt = \"off\"\nmax_inject_tokens = 0\n");
    client.turn(&format!("{} Really?", ASKS.0), &[]);
    let silent = client.api.asked().pop().expect("a request");
    assert!(!silent.body.to_string().contains("recall-context"), "switched off without an install: {:#}", silent.body);

    scene.digest();
    let stored = data_folder::texts(&client.world);
    assert!(stored.iter().any(|text| text.contains(ASKS.0)), "the prompt itself is stored, from the transcript: {stored:#?}");
    for text in [passages, notice] {
        let frame: Vec<&str> = text.lines().filter(|line| line.contains("found by recall") || line.contains("relevance")).collect();
        assert!(!frame.is_empty(), "{text}");
        data_folder::assert_nowhere(&client.world, &stored, &frame.join("\n"));
    }
}
