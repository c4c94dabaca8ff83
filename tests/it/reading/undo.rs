//! What the user took back, and which titles were given in a session: rows of neither kind say so, only how they hang together.
//!
//! Words that begin with `loud` must be told, words that begin with `gone` must not.

use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::World;

const SESSION: &str = "5e551077-0000-4000-8000-000000000001";
const OTHER: &str = "5e551077-0000-4000-8000-000000000002";

/// A transcript whose rows name the rows that they follow.
#[derive(Clone)]
struct Tree {
    session: &'static str,
    count: usize,
    lines: Vec<String>,
}

impl Tree {
    fn new(session: &'static str) -> Self {
        Self { session, count: 0, lines: Vec::new() }
    }

    /// A row behind another one. Returns its id.
    fn row(&mut self, parent: &str, mut row: Value) -> String {
        self.count += 1;
        let id =
            format!("{}{:08x}-0000-4000-8000-000000000000", "", 0xa000 + self.count + 4096 * usize::from(self.session == OTHER));
        let fields = row.as_object_mut().expect("an object");
        fields.entry("parentUuid").or_insert(if parent.is_empty() { Value::Null } else { json!(parent) });
        for (name, value) in [
            ("sessionId", self.session.to_owned()),
            ("uuid", id.clone()),
            ("timestamp", format!("2026-11-20T{:02}:{:02}:00Z", 8 + self.count / 60, self.count % 60)),
            ("cwd", "/home/dev/src/shop".to_owned()),
            ("version", "2.1.330".to_owned()),
        ] {
            fields.entry(name).or_insert(json!(value));
        }
        self.lines.push(format!("{row}\n"));
        id
    }

    fn prompt(&mut self, parent: &str, text: &str) -> String {
        self.row(parent, json!({"type": "user", "message": {"role": "user", "content": text}}))
    }

    fn reply(&mut self, parent: &str, text: &str) -> String {
        let message = json!({"id": format!("msg_{}", self.count), "role": "assistant", "model": "claude-haiku-4-5-20251001",
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 10, "output_tokens": 5}});
        self.row(parent, json!({"type": "assistant", "message": message}))
    }

    /// A prompt, a tool use with two results, a reply, and the rows that a client writes behind a turn. Returns the last.
    fn turn(&mut self, parent: &str, word: &str) -> String {
        let prompt = self.prompt(parent, &format!("Mend {word}1, please."));
        let context = self.row(&prompt, json!({"type": "attachment", "attachment": {"type": "hook_success", "stdout": "x"}}));
        let used = |n: usize| json!({"type": "tool_use", "id": format!("toolu_{word}{n}"), "name": "Bash", "input": {"command": format!("./run.sh {word}{n}")}});
        let mut uses = context;
        let mut results = String::new();
        for n in [2, 3] {
            let message = json!({"id": format!("msg_{word}"), "role": "assistant", "content": [used(n)]});
            uses = self.row(&uses, json!({"type": "assistant", "message": message}));
        }
        for n in [2, 3] {
            let content = json!([{"type": "tool_result", "tool_use_id": format!("toolu_{word}{n}"), "is_error": true, "content": format!("Exit code 1\nerror: {word}4 is no number")}]);
            results = self.row(&uses, json!({"type": "user", "message": {"role": "user", "content": content}}));
        }
        let reply = self.reply(&results, &format!("{word}5 is mended."));
        let hooks = self.row(&reply, json!({"type": "system", "subtype": "stop_hook_summary"}));
        self.row(&hooks, json!({"type": "system", "subtype": "turn_duration", "durationMs": 5}))
    }

    fn compaction(&mut self, parent: &str, word: &str) -> String {
        let boundary = self.row("", json!({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "logicalParentUuid": parent}));
        let recap = format!(
            "This session is being continued from a previous conversation that ran out of context.\n\nSummary:\n1. {word} was mended."
        );
        let recap =
            self.row(&boundary, json!({"type": "user", "isCompactSummary": true, "message": {"role": "user", "content": recap}}));
        self.row(&recap, json!({"type": "attachment", "attachment": {"type": "hook_additional_context"}}))
    }

    fn path(&self) -> PathBuf {
        format!("-home-dev-src-shop/{}.jsonl", self.session).into()
    }

    fn put(&self, world: &World) {
        world.transcript(self.path().to_str().expect("UTF-8"), self.lines.concat());
    }
}

/// All that is told of what is stored.
fn told(world: &World) -> String {
    let ids = [SESSION, OTHER].map(|id| ["--full", "--items", "--json", "--raw", ""].map(|how| (id, how)));
    let mut all: Vec<String> = world.pages().into_iter().map(|(_, page)| page).collect();
    for (id, how) in ids.into_iter().flatten() {
        let arguments = ["show", id, how];
        let ran = world.recall(arguments.iter().filter(|argument| !argument.is_empty()));
        all.push(ran.out);
    }
    all.push(world.recall(["context", "--cwd", "/home/dev/src/shop"]).out);
    for n in 1..6 {
        for word in ["gone", "gonetoo", "goneagain"] {
            all.push(format!("found: {}", world.recall(["search", &format!("{word}{n}"), "--json"]).out));
        }
    }
    // Whoever asks for a word says it.
    all.join("\n")
        .replace("\"query\": \"gone", "")
        .lines()
        .filter(|line| !line.contains("\"query\""))
        .map(|l| format!("{l}\n"))
        .collect()
}

fn check(trees: &[&Tree]) -> String {
    let world = World::new();
    trees.iter().for_each(|tree| tree.put(&world));
    let ran = world.recall(["digest", "--summarizer", "extract"]);
    assert!(ran.code < 2, "{ran:#?}");
    check_world(&world, trees)
}

fn check_world(world: &World, trees: &[&Tree]) -> String {
    let told = told(world);
    let gone: Vec<&str> = told.lines().filter(|line| line.contains("gone")).collect();
    assert!(gone.is_empty(), "{gone:#?}");
    let written = trees.iter().flat_map(|tree| tree.lines.iter()).cloned().collect::<String>();
    for word in written.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.starts_with("loud")) {
        assert!(told.contains(word), "{word}: {told}");
    }
    told
}

#[test]
fn a_prompt_that_was_taken_back_goes_with_all_that_followed_from_it() {
    let mut tree = Tree::new(SESSION);
    let first = tree.turn("", "loud");
    let second = tree.turn(&first, "gone");
    tree.turn(&second, "gonetoo");
    let instead = tree.turn(&first, "louder");
    // Twice at the same point, and what came of that is no exception.
    tree.turn(&instead, "goneagain");
    let last = tree.turn(&instead, "loudest");
    tree.turn(&last, "loudly");
    check(&[&tree]);
}

#[test]
fn also_before_a_compaction_and_right_behind_it() {
    let mut tree = Tree::new(SESSION);
    let first = tree.turn("", "loud");
    let behind = tree.compaction(&first, "loudone");
    tree.turn(&behind, "gone");
    let second = tree.turn(&behind, "louder");
    check(&[&tree]);
    let back = tree.compaction(&second, "gonetoo1");
    tree.turn(&back, "goneagain");
    // Back to before both.
    tree.lines = tree.lines.iter().map(|line| line.replace("loudone", "gonetoo2").replace("louder", "gonetoo")).collect();
    assert!(tree.lines[0].contains("\"parentUuid\":null"), "{}", tree.lines[0]);
    tree.turn(&first, "loudest");
    // The recap behind the first turn is no prompt: what hangs on it is known by the order.
    check_kept(&tree, &["loudest1", "loud5"]);
}

fn check_kept(tree: &Tree, words: &[&str]) {
    let world = World::new();
    tree.put(&world);
    assert!(world.recall(["digest", "--summarizer", "extract"]).code < 2);
    let told = told(&world);
    words.iter().for_each(|word| assert!(told.contains(word), "{word}: {told}"));
}

#[test]
fn nothing_else_is_taken_for_taken_back() {
    let mut tree = Tree::new(SESSION);
    let first = tree.turn("", "loud");
    let behind = tree.compaction(&first, "loudone");
    let second = tree.turn(&behind, "louder");
    // A command of the client's, a notice, a note of the user's shell and an attachment at the same place as the next prompt.
    for text in [
        "<command-name>/model</command-name>",
        "<task-notification>x</task-notification>",
        "<local-command-stdout>x</local-command-stdout>",
        "<bash-input>./run.sh loudbash</bash-input>",
    ] {
        tree.prompt(&second, text);
    }
    tree.row(&second, json!({"type": "attachment", "attachment": {"type": "queued_command", "commandMode": "prompt", "prompt": "And loudqueue."}}));
    let third = tree.turn(&second, "loudly");
    // Prompts that name no parent, or one that is not there.
    tree.turn("", "loudest");
    tree.turn("0000aaaa-0000-4000-8000-000000000000", "loudness");
    tree.turn(&third, "loudspeaker");
    check(&[&tree]);
}

#[test]
fn two_who_go_on_with_one_session_take_nothing_back() {
    let mut tree = Tree::new(SESSION);
    let first = tree.turn("", "loud");
    let one = tree.turn(&first, "louda");
    let other = tree.turn(&first, "loudb");
    let one = tree.turn(&one, "loudc");
    tree.turn(&other, "loudd");
    tree.turn(&one, "loude");
    check(&[&tree]);
}

#[test]
fn what_subagents_did_for_it_goes_too() {
    let mut tree = Tree::new(SESSION);
    let first = tree.turn("", "loud");
    tree.turn(&first, "gone");
    tree.turn(&first, "louder");
    let at = |needle: &str| {
        let line = tree.lines.iter().find(|line| line.contains(needle)).expect("a row");
        serde_json::from_str::<Value>(line).expect("JSON")["timestamp"].as_str().expect("a time").replace(":00Z", ":30Z")
    };
    let world = World::new();
    for (agent, needle, word) in [("a1", "Mend gone1", "goneagain"), ("b2", "Mend louder1", "loudagent")] {
        let row = |text: &str, n: usize| {
            let message =
                json!({"id": format!("msg_{agent}{n}"), "role": "assistant", "content": [{"type": "text", "text": text}]});
            json!({"type": "assistant", "isSidechain": true, "agentId": agent, "sessionId": SESSION, "timestamp": at(needle), "cwd": "/home/dev/src/shop",
                "uuid": format!("0000{agent}{n}0-0000-4000-8000-000000000000"), "message": message})
        };
        let lines = format!("{}\n{}\n", row(&format!("{word}1 was looked for."), 1), row(&format!("{word}2 was found."), 2));
        world.transcript(&format!("-home-dev-src-shop/{SESSION}/subagents/agent-{agent}.jsonl"), lines);
    }
    tree.put(&world);
    assert!(world.recall(["digest", "--summarizer", "extract"]).code < 2);
    check_world(&world, &[&tree]);
    let exported = world.recall(["search", "loudagent2", "--json"]).out;
    assert!(exported.contains(SESSION), "{exported}");
}

#[test]
fn a_fork_of_what_was_taken_back_tells_it() {
    let mut tree = Tree::new(SESSION);
    let first = tree.turn("", "loud");
    let second = tree.turn(&first, "loudfork");
    let kept = tree.lines.len();
    tree.turn(&first, "louder");
    let mut fork = Tree::new(OTHER);
    fork.lines = tree.lines[..kept].iter().map(|line| line.replace(SESSION, OTHER)).collect();
    fork.count = tree.count;
    let stamp = json!({"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-11-20T11:00:00Z", "sessionId": OTHER});
    fork.lines.insert(0, format!("{stamp}\n"));
    fork.turn(&second, "loudest");
    let world = World::new();
    [&tree, &fork].iter().for_each(|tree| tree.put(&world));
    assert!(world.recall(["digest", "--summarizer", "extract"]).code < 2);
    let of = |id: &str| world.recall(["show", id, "--full"]).out;
    assert!(!of(SESSION).contains("loudfork5") && of(SESSION).contains("louder5"), "{}", of(SESSION));
    assert!(of(OTHER).contains("loudfork5") && of(OTHER).contains("loudest5"), "{}", of(OTHER));
}

#[test]
fn an_export_takes_along_what_was_taken_back() {
    let mut tree = Tree::new(SESSION);
    let first = tree.turn("", "loud");
    tree.turn(&first, "gone");
    tree.turn(&first, "louder");
    let world = World::new();
    tree.put(&world);
    assert!(world.recall(["digest", "--summarizer", "extract"]).code < 2);
    let file = world.root().join("export.jsonl");
    std::fs::write(&file, world.recall(["export"]).out).expect("the export");
    let other = World::new();
    let ran = other.recall(["import", file.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(other.recall(["digest", "--summarizer", "extract"]).code < 2);
    let raw_is_not_there = Tree { lines: Vec::new(), ..tree };
    let told = check_world(&other, &[&raw_is_not_there]);
    assert!(told.contains("loud5") && told.contains("louder5"), "{told}");
}

#[test]
fn a_hook_that_reads_the_end_of_a_transcript_tells_nothing_of_it_either() {
    let mut tree = Tree::new(SESSION);
    let first = tree.turn("", "loud");
    tree.turn(&first, "gone");
    tree.turn(&first, "louder");
    let world = World::new();
    tree.put(&world);
    let transcript = world.claude_dir().join("projects").join(tree.path());
    let payload = json!({"session_id": SESSION, "transcript_path": transcript, "cwd": "/home/dev/src/shop", "hook_event_name": "SessionStart", "source": "compact"});
    let ran = world.hook("session-start", payload.to_string());
    assert!(ran.out.contains("louder") && !ran.out.contains("gone"), "{ran:#?}");
}

fn rewound() -> Tree {
    let mut tree = Tree::new(SESSION);
    let first = tree.turn("", "loud");
    let second = tree.turn(&first, "gone");
    tree.turn(&second, "gonetoo");
    let instead = tree.turn(&first, "louder");
    let behind = tree.compaction(&instead, "loudone");
    tree.turn(&behind, "goneagain");
    tree.turn(&behind, "loudest");
    tree
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_does_not_matter_in_how_many_pieces_it_is_read(mut cuts in prop::collection::vec(0usize..1000, 1..4)) {
        let tree = rewound();
        let whole = tree.lines.concat();
        cuts.sort_unstable();
        let world = World::new();
        for cut in cuts {
            world.transcript(tree.path().to_str().expect("UTF-8"), &whole[..whole.len() * cut / 1000]);
            prop_assert!(world.recall(["digest", "--summarizer", "extract"]).code < 2);
        }
        tree.put(&world);
        prop_assert!(world.recall(["digest", "--summarizer", "extract"]).code < 2);
        let once = World::new();
        tree.put(&once);
        prop_assert!(once.recall(["digest", "--summarizer", "extract"]).code < 2);
        prop_assert_eq!(world.pages(), once.pages());
        check_world(&world, &[&tree]);
    }
}

fn title(session: &str, text: &str) -> String {
    format!("{}\n", json!({"type": "custom-title", "customTitle": text, "sessionId": session}))
}

#[test]
fn a_title_that_another_session_or_a_hook_gave_is_not_this_ones() {
    let command = |name: &str, arguments: &str| {
        format!(
            "<command-name>/{name}</command-name>\n<command-message>{name}</command-message>\n<command-args>{arguments}</command-args>"
        )
    };
    let mut first = Tree::new(SESSION);
    let last = first.turn("", "loud");
    first.lines.push(title(SESSION, "Loudtitle pager"));
    first.row(&last, json!({"type": "system", "subtype": "local_command", "content": command("rename", "Loudtitle pager")}));
    first.lines.push(title(SESSION, "Loudtitle pager"));

    let mut second = Tree::new(OTHER);
    second.lines.push(title(OTHER, "Loudtitle pager"));
    let cleared = second.prompt("", &command("clear", ""));
    let last = second.turn(&cleared, "loudly");
    second.lines.push(title(OTHER, "Loudtitle pager"));
    let world = World::new();
    [&first, &second].iter().for_each(|tree| tree.put(&world));
    assert!(world.recall(["digest", "--summarizer", "extract"]).code < 2);
    let titled = |id: &str| world.show(id)["digest"]["title"].as_str().unwrap_or_default().to_owned();
    assert_eq!(titled(SESSION), "Loudtitle pager");
    assert!(!world.recall(["show", OTHER, "--full"]).out.contains("Loudtitle"));
    assert!(!titled(OTHER).contains("Loudtitle"), "{}", titled(OTHER));

    // The user gives it the same name again.
    second.lines.push(title(OTHER, "Loudtitle pager"));
    second.row(&last, json!({"type": "system", "subtype": "local_command", "content": command("rename", "Loudtitle pager")}));
    second.put(&world);
    assert!(world.recall(["digest", "--summarizer", "extract"]).code < 2);
    assert_eq!(titled(OTHER), "Loudtitle pager");
}

#[test]
fn a_hooks_title_is_nobodys_and_one_given_at_the_start_is_the_users() {
    for (hooked, kept) in [(true, false), (false, true)] {
        let mut tree = Tree::new(SESSION);
        tree.lines.push(title(SESSION, "Given early"));
        let printed = if hooked {
            json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "sessionTitle": "Given early"}})
        } else {
            json!({})
        };
        let attached = json!({"type": "hook_success", "hookName": "SessionStart:startup", "stdout": printed.to_string()});
        let last = tree.row("", json!({"type": "attachment", "attachment": attached}));
        tree.turn(&last, "loud");
        tree.lines.push(title(SESSION, "Given early"));
        let world = World::new();
        tree.put(&world);
        assert!(world.recall(["digest", "--summarizer", "extract"]).code < 2);
        assert_eq!(world.show(SESSION)["digest"]["title"] == "Given early", kept, "{}", world.show(SESSION));
    }
}
