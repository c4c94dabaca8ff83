//! `recall export` and `recall import`: a memory that moves to another machine.

use std::collections::HashMap;
use std::fs;

use recall::testing::model::digest::Digest;
use recall::testing::model::session::short_id;

use crate::support::{Ran, World, assistant, user};

const ALL: [&str; 7] = ["plain", "fork", "compact", "clear", "subagent", "hooks", "retry"];

fn digested() -> World {
    let world = World::with_fixtures(&ALL);
    world.digest(&["--summarizer", "extract"]);
    world
}

fn import(text: &str) -> (World, Ran) {
    let world = World::new();
    let ran = import_into(&world, text);
    (world, ran)
}

fn import_into(world: &World, text: &str) -> Ran {
    let file = world.root().join("memory.jsonl");
    fs::write(&file, text).unwrap();
    world.recall(["import", file.to_str().unwrap()])
}

fn exported(world: &World) -> String {
    let ran = world.recall(["export"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.out
}

#[test]
fn what_was_exported_comes_in_whole() {
    let source = digested();
    let text = exported(&source);
    let (target, ran) = import(&text);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.out.contains("imported 8 sessions, 0 were known"), "{ran:#?}");
    assert!(exported(&target) == text, "the export of the import is another");
    let rebuilt = target.recall(["digest", "--rebuild-pages"]);
    assert_eq!(rebuilt.code, 0, "{rebuilt:#?}");
    assert_eq!(target.pages(), source.pages());
    assert_eq!(target.recall(["search", "keyset"]).out, source.recall(["search", "keyset"]).out);
}

#[test]
fn importing_twice_changes_nothing() {
    let text = exported(&digested());
    let (target, _) = import(&text);
    let again = import_into(&target, &text);
    assert_eq!(again.code, 0, "{again:#?}");
    assert!(again.out.contains("imported 0 sessions, 8 were known"), "{again:#?}");
    assert!(exported(&target) == text);
}

#[test]
fn importing_where_it_came_from_changes_nothing() {
    let source = digested();
    let (text, pages) = (exported(&source), source.pages());
    assert!(import_into(&source, &text).out.contains("imported 0 sessions"));
    let report = source.digest(&["--summarizer", "extract", "--rebuild-pages"]);
    assert_eq!((&report["sessions_digested"], &report["pages_written"]), (&0.into(), &0.into()), "{report}");
    assert!(exported(&source) == text && source.pages() == pages);
}

#[test]
fn transcripts_read_after_the_import_bring_nothing_twice() {
    let (target, _) = import(&exported(&digested()));
    for name in ALL {
        crate::support::copy_tree(&crate::support::fixtures().join("claude-code-2.1.197").join(name), &target.claude_dir());
    }
    target.age_transcripts();
    let prompts = target.count("SELECT sum(prompts) FROM bundle");
    let report = target.digest(&["--summarizer", "extract"]);
    assert_eq!(report["rows_new"], 0, "{report}");
    assert_eq!(target.count("SELECT sum(prompts) FROM bundle"), prompts);
}

#[test]
fn lines_that_cannot_be_read_are_reported_and_the_others_come_in() {
    let text = exported(&digested());
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(2, "garbage");
    lines.insert(4, "{\"session\": 7}");
    let half = &lines[5][..lines[5].len() / 2];
    lines.insert(5, half);
    let (target, ran) = import(&(lines.join("\n") + "\n"));
    assert_eq!(ran.code, 1, "{ran:#?}");
    for place in ["line 3:", "line 5:", "line 6:"] {
        assert!(ran.err.contains(place), "{place} {ran:#?}");
    }
    assert!(exported(&target) == text);
}

#[test]
fn bytes_that_are_no_text_cost_their_line_only() {
    let text = exported(&digested());
    let (head, rest) = text.split_once('\n').unwrap();
    let world = World::new();
    let file = world.root().join("memory.jsonl");
    fs::write(&file, [head.as_bytes(), b"\n\xff\xfe\x00\n", rest.as_bytes()].concat()).unwrap();
    let ran = world.recall(["import", file.to_str().unwrap()]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(exported(&world) == text);
}

#[test]
fn what_is_no_export_is_refused() {
    for (text, words) in [
        ("", "nothing to import"),
        ("hello\n", "not a recall export"),
        ("{\"recall_export\":99}\n", "99"),
        ("{\"type\":\"user\"}\n", "not a recall export"),
    ] {
        let (_, ran) = import(text);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{text}: {ran:#?}");
        assert!(ran.err.contains(words), "{text}: {ran:#?}");
    }
    let world = World::new();
    let ran = world.recall(["import", "/no/such/file"]);
    assert!(ran.code == 2 && ran.err.contains("/no/such/file"), "{ran:#?}");
}

#[test]
fn an_export_can_be_piped_and_narrowed() {
    let source = digested();
    assert_eq!(source.recall(["export", "--project", "elsewhere"]).out.lines().count(), 1, "the head line alone");
    assert_eq!(source.recall(["export", "--project", "shop"]).out, exported(&source));
    let other = source.root().join("elsewhere");
    let script = format!("\"$RECALL\" export | RECALL_DATA_DIR={} \"$RECALL\" import -", other.display());
    let ran = source.shell(&script);
    assert!(ran.code == 0 && ran.out.contains("imported 8 sessions"), "{ran:#?}");
}

#[test]
fn titles_that_other_files_gave_a_session_come_along() {
    let world = World::with_fixtures(&["plain"]);
    // The last row of the session, named by a summary in a file of its own, as older clients wrote them.
    let text =
        fs::read_to_string(world.claude_dir().join("projects/-home-dev-src-shop/64b0b6d9-e371-40e8-affe-78e0505dfb3f.jsonl"))
            .unwrap();
    let last = text
        .lines()
        .rev()
        .find_map(|l| serde_json::from_str::<serde_json::Value>(l).ok().filter(|r| r["type"] == "assistant"))
        .unwrap();
    let summary = serde_json::json!({"type": "summary", "summary": "Orders that went missing", "leafUuid": last["uuid"]});
    world.transcript("-home-dev-src-shop/99999999-aaaa-4aaa-8aaa-999999999999.jsonl", format!("{summary}\n"));
    world.digest(&["--summarizer", "extract"]);
    let titled = |world: &World| world.recall(["show", "64b0b6d9", "--items"]).out;
    assert!(titled(&world).contains("Orders that went missing"), "{}", titled(&world));

    let (target, _) = import(&exported(&world));
    // Made again from what was imported, the digest is the same.
    target.digest(&["--summarizer", "extract", "--session", "64b0b6d9"]);
    assert_eq!(target.show("64b0b6d9")["digest"], world.show("64b0b6d9")["digest"]);
    assert_eq!(titled(&target), titled(&world));
}

/// Digests are called by eight hexadecimal digits, which two of some ten thousand share now and then.
#[test]
fn sessions_whose_digests_would_be_called_the_same_both_keep_theirs() {
    const SESSION: &str = "aaaaaaaa-1111-4111-8111-000000000000";
    let source = World::new();
    let talk = user(SESSION, "u1", "2026-11-20T10:00:00Z", "Good morning!")
        + &assistant(SESSION, "a1", "2026-11-20T10:00:05Z", "Good morning to you.");
    source.transcript(&format!("-p/{SESSION}.jsonl"), talk);
    source.digest(&["--summarizer", "extract"]);
    let text = exported(&source);
    let line: serde_json::Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    let digest: Digest = serde_json::from_value(line["digest"]["body"].clone()).unwrap();
    assert_eq!(digest.statements().count(), 0, "its words do not hang on the session");
    let body = serde_json::to_string(&digest).unwrap();

    let id = |n: usize| SESSION.replace("000000000000", &format!("{n:012}"));
    let mut seen = HashMap::new();
    let called = |n: &usize| short_id("d", &[&id(*n), "extract", &body]);
    let (one, other) = (0..).find_map(|n| seen.insert(called(&n), n).map(|before| (before, n))).unwrap();

    let (head, first) = text.split_once('\n').unwrap();
    let of = |n: usize, row: &str| {
        first.replace(SESSION, &id(n)).replace("\"u1\"", &format!("\"u{row}\"")).replace("\"a1\"", &format!("\"a{row}\""))
    };
    let (target, ran) = import(&format!("{head}\n{}{}", of(one, "1"), of(other, "2")));
    assert!(ran.out.contains("imported 2 sessions"), "{ran:#?}");
    for n in [one, other] {
        let shown = target.recall(["show", &id(n)]);
        assert!(shown.code == 0 && shown.out.contains("Good morning!"), "{shown:#?}");
    }
    let status: serde_json::Value = serde_json::from_str(&target.recall(["status", "--json"]).out).unwrap();
    assert_eq!(status["digests"], 2, "{status}");
}
