//! Cursor: made transcripts in the folders and the form that others report of its agent.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::recorded::{Counts, Recorded, Tokens};

use crate::support::{World, age, files_below};

pub const CURSOR: Recorded = Recorded { agent: "cursor", fixtures: "cursor", home: ".cursor" };
pub const VERSION: &str = "made";

/// What the scene in `fixtures/cursor` has the client do. Only its last session has results, as newer releases write them: nothing says of the others
/// that a test failed or that a commit was made. Tokens are written nowhere.
#[test]
fn what_was_done_is_what_is_read() {
    let files = ["larder/parse.py", "larder/units.py", "tests/test_parse.py"];
    let expected = Counts {
        sessions: 3,
        prompts: 3 + 1 + 2,
        replies: 5 + 1 + 2,
        commands: 3 + 1 + 2,
        failed: 1,
        files: files.iter().map(|name| format!("/home/dev/src/larder/{name}")).collect(),
        subagents: 1,
        interrupted: 1,
        ..Counts::default()
    };
    assert_eq!(CURSOR.read(VERSION), (expected, Tokens { input: 0, cached: 0, output: 0 }));
}

#[test]
fn nothing_that_is_secret_or_private_is_kept() {
    CURSOR.keeps_no_secret(VERSION);
}

#[test]
fn it_does_not_matter_in_which_pieces_transcripts_are_read() {
    CURSOR.reads_any_pieces(VERSION);
}

fn row(role: &str, blocks: &Value) -> String {
    format!("{}\n", json!({"role": role, "message": {"content": blocks}}))
}

pub fn asks(text: &str) -> String {
    let text = format!("<timestamp>Friday, Nov 20, 2026, 10:05 AM (UTC+1)</timestamp>\n<user_query>\n{text}\n</user_query>");
    row("user", &json!([{"type": "text", "text": text}]))
}

pub fn says(text: &str) -> String {
    row("assistant", &json!([{"type": "text", "text": text}]))
}

fn uses(name: &str, input: &Value) -> String {
    row("assistant", &json!([{"type": "tool_use", "name": name, "input": input}]))
}

pub fn transcript(world: &World, below: &str, text: &str) {
    let file = world.home().join(".cursor/projects").join(below);
    fs::create_dir_all(file.parent().expect("a parent")).expect("the folder");
    fs::write(file, text).expect("a transcript");
    for file in files_below(&world.home().join(".cursor")) {
        age(&file, Duration::from_secs(3600));
    }
}

#[test]
fn a_session_is_one_of_the_project_that_its_folder_names() {
    let world = World::new();
    let rows = [
        asks("Round the amounts of the shopping list to whole grams"),
        says("I will round them in `shopping.py`."),
        uses("StrReplace", &json!({"path": "/src/larder/shopping.py", "old_string": "total", "new_string": "round(total)"})),
        uses("Shell", &json!({"command": "python3 -m unittest -q", "working_directory": "/src/larder"})),
        says("Amounts are rounded to whole grams now."),
        format!("{}\n", json!({"type": "turn_ended", "status": "success"})),
        asks("<private>for Zacharias Quill</private>"),
        says("Zacharias Quill will like it."),
    ]
    .concat();
    transcript(&world, "src-larder/agent-transcripts/5f1a/5f1a.jsonl", &rows);
    let found = uses("Grep", &json!({"pattern": "total"})) + &says("`total` stands in one place.");
    transcript(&world, "src-larder/agent-transcripts/5f1a/subagents/9b2c.jsonl", &(row("user", &json!("Look for total")) + &found));
    fs::write(world.home().join(".cursor/projects/src-larder/.workspace-trusted"), "{\"workspacePath\": \"/src/larder\"}")
        .expect("a file");
    let report = world.digest(&[]);
    assert_eq!(
        (&report["files_read"], &report["rows_bad"], &report["rows_unknown"]),
        (&2.into(), &0.into(), &0.into()),
        "{report}"
    );
    let listed = world.recall(["list", "--agent", "cursor", "--project", "/src/larder"]).out;
    assert!(listed.starts_with("2026-11-20 10:05  5f1a  larder  Round the amounts") && listed.contains("(Cursor)"), "{listed}");
    let shown = world.recall(["show", "5f1a", "--full"]).out;
    for part in ["Cursor's last reply", "Amounts are rounded to whole grams now.", "`shopping.py`"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // Whether the command passed is written nowhere.
    assert!(!shown.contains("python3 -m unittest -q` 10:05: “OK”") && !shown.contains("--resume"), "{shown}");
    let held = files_below(&world.data_dir())
        .into_iter()
        .filter(|file| memchr::memmem::find(&fs::read(file).expect("a file"), b"Quill").is_some());
    assert_eq!(held.count(), 0);
}

/// Hyphens stand for every sign of a path, so that a project's name may be that of several folders.
#[test]
fn nothing_is_kept_of_what_may_belong_to_an_excluded_project() {
    let kept = |there: &[&str], excluded: Option<&str>| {
        let world = World::new();
        let src = world.home().canonicalize().expect("the home").join("src");
        there.iter().for_each(|folder| fs::create_dir_all(src.join(folder)).expect("a folder"));
        let parts: Vec<_> = src.iter().skip(1).filter_map(|part| Some(part.to_str()?.trim_start_matches('.'))).collect();
        let rows = asks("Round the amounts of the shopping list") + &says("Rounded.");
        transcript(&world, &format!("{}-my-app/agent-transcripts/5f1a.jsonl", parts.join("-")), &rows);
        if let Some(folder) = excluded {
            world.configure(&format!("[privacy]\nexclude_projects = [\"{}\"]\n", src.join(folder).display()));
        }
        world.digest(&[]);
        CURSOR.counts(&world).sessions
    };
    let both = ["my/app", "my-app"];
    assert_eq!(kept(&both, Some("my-app")), 0);
    assert_eq!(kept(&both, Some("my/app")), 0);
    assert_eq!(kept(&both, Some("other")), 1);
    assert_eq!(kept(&both, None), 1);
    assert_eq!(kept(&["my-app"], Some("my-app")), 0);
    assert_eq!(kept(&["my-app"], Some("my/app")), 1);
    // The folder is gone.
    assert_eq!(kept(&[], Some("other")), 0);
    assert_eq!(kept(&[], None), 1);
}

#[test]
fn what_was_added_is_read_and_nothing_twice() {
    let rows = [asks("Round the amounts"), says("Rounded."), asks("go on"), says("Done."), asks("go on"), says("Done again.")];
    let at_once = World::new();
    transcript(&at_once, "src-larder/agent-transcripts/5f1a.jsonl", &rows.concat());
    at_once.digest(&[]);
    let world = World::new();
    for upto in 1..=rows.len() {
        transcript(&world, "src-larder/agent-transcripts/5f1a.jsonl", &rows[..upto].concat());
        world.digest(&[]);
    }
    assert!(world.pages() == at_once.pages(), "{:#?}", world.pages());
    let told = world.recall(["export"]).out.matches("\"data\":\"go on\"").count();
    assert_eq!(told, 2);
}

/// Its page is that of the day on which it was read: it counts there, too.
#[test]
fn a_session_without_times_counts_on_the_day_of_its_page() {
    let world = World::new();
    let row = |role: &str, text: &str| row(role, &json!([{"type": "text", "text": text}]));
    let rows = row("user", "<user_query>\nMend the pump\n</user_query>") + &row("assistant", "The pump is mended.");
    transcript(&world, "home-dev-src-shop/agent-transcripts/a1b2c3d4/a1b2c3d4.jsonl", &rows);
    world.digest(&["--summarizer", "extract"]);
    let (name, _) = world.pages().into_iter().find(|(name, _)| !name.contains("sessions/")).expect("a day");
    let day = name.rsplit('/').next().and_then(|name| name.strip_suffix(".md")).expect("a page").to_owned();
    let stats: Value =
        serde_json::from_str(&world.recall(["stats", "--by", "day", "--since", "2026-11-01", "--json"]).out).expect("JSON");
    assert_eq!((&stats["rows"][0]["name"], &stats["rows"][0]["turns"]), (&json!(day), &json!(1)), "{stats}");
    let report = world.recall(["report", "--for", "standup", "--since", "2026-11-01"]);
    assert!(report.out.contains("Mend the pump"), "{report:#?}");
}

/// Cursor writes down no tokens.
#[test]
fn what_is_not_written_down_cost_nobody_knows_how_much() {
    let world = World::new();
    transcript(
        &world,
        "home-dev-src-shop/agent-transcripts/a1b2c3d4/a1b2c3d4.jsonl",
        &(asks("Mend the pump") + &says("It is mended.")),
    );
    world.digest(&["--summarizer", "extract"]);
    let pages: Vec<String> = world.pages().into_iter().map(|(_, page)| page).filter(|page| page.contains("cost_usd: ")).collect();
    assert!(pages.len() == 2 && pages.iter().all(|page| page.contains("cost_usd: 0.00\ncost_complete: false\n")), "{pages:#?}");
    let stats = world.recall(["stats", "--since", "2026-11-01"]);
    let total = stats.out.lines().find(|line| line.starts_with("total")).expect("a total");
    assert!(total.ends_with("unknown"), "{stats:#?}");
    assert!(stats.err.contains("the tokens of 1 session are not all written down: the cost is more than is shown"), "{stats:#?}");
}
