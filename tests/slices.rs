//! A growing file, cut anywhere, comes to the same pages and rows as the whole file read at once: a digest is made from the whole
//! stored session, and ids and dates come from the session, never from the run.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use support::{World, age, assistant, files_below, fixtures, user};

const FIXTURES: [&str; 6] = ["fork", "compact", "clear", "subagent", "hooks", "retry"];
const EXTRACT: &[&str] = &["--summarizer", "extract"];
const CLAUDE: &[&str] = &["--summarizer", "claude"];
const RICH: &str = "[digest]\nmax_sessions = 1000\nmax_cost_usd = 1000.0\nmax_cost_usd_per_day = 1000.0\nbacklog = 1000\n";

/// A stand-in whose reply is a function of its stdin alone: it cites rows, leaves something open and closes what it was shown.
const SCRIPTED: &str = r#"#!/usr/bin/env python3
import hashlib, json, re, sys
text = sys.stdin.read()
mark = hashlib.sha256(text.encode()).hexdigest()[:12]
shown = re.findall(r"^([nb][0-9a-f]{8}) ", text.split("<record-")[0], re.M)
reply = {
    "title": "Work " + mark, "request": "Asked " + mark, "completed": ["Done " + mark], "learned": ["Learned " + mark],
    "decisions": [{"text": "Decided " + mark, "rows": [1, 2]}],
    "files": re.findall(r"[\w/]+\.py", text)[:3],
    "blockers": [{"text": "Blocked " + mark[:2], "rows": [1]}],
    "next_steps": [{"text": "Next " + mark[2:4], "rows": [2]}, {"text": "Unsupported " + mark[4:6], "rows": []}],
    "closes": [i for i in shown if int(i[1], 16) % 2 == 0],
    "questions": ["what is " + mark + "?"],
}
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": json.dumps(reply), "total_cost_usd": 0.001}))
"#;

/// Transcripts by path below the config directory.
type Files = Vec<(PathBuf, Vec<u8>)>;

fn recorded(names: &[&str]) -> Files {
    let all = names.iter().flat_map(|name| {
        let root = fixtures().join("claude-code-2.1.197").join(name);
        files_below(&root).into_iter().map(move |f| (f.strip_prefix(&root).unwrap().to_owned(), fs::read(&f).unwrap()))
    });
    all.filter(|(path, _)| path.extension().is_some_and(|e| e == "jsonl")).collect()
}

/// Sessions made to be hard: no uuids, CRLF, open items that later sessions close, titles from elsewhere, rows out of order.
fn synthetic() -> Files {
    let project = |name: &str| PathBuf::from(format!("projects/-home-dev-src-shop/{name}.jsonl"));
    let (a, b, c) =
        ("aaaa0000-1111-4111-8111-000000000001", "bbbb0000-1111-4111-8111-000000000002", "cccc0000-1111-4111-8111-000000000003");
    let open = user(a, "00000000-0000-4000-8000-0000000000a1", "2026-11-20T08:00:00Z", "Make the import faster. ünïcödé ✓")
        + &assistant(
            a,
            "00000000-0000-4000-8000-0000000000a2",
            "2026-11-20T08:05:00Z",
            "I cached the rates, because they were read for every row.\n\nNext steps:\n- Add a test for the currency cache\n- Write the changelog entry for the import\n",
        )
        + &user(a, "00000000-0000-4000-8000-0000000000a3", "2026-11-20T08:06:00Z", "Fine. One more thing: the log is too chatty.")
        + &assistant(
            a,
            "00000000-0000-4000-8000-0000000000a4",
            "2026-11-20T08:09:00Z",
            "The log level is now warning.\n\nRemaining: add a test for the currency cache; the importer still reads the file twice.",
        );
    let closing =
        user(b, "00000000-0000-4000-8000-0000000000b1", "2026-11-20T09:00:00Z", "Now add the test for the currency cache.")
            .replace(r#","uuid":"00000000-0000-4000-8000-0000000000b1""#, "")
            .replace('\n', "\r\n")
            + &format!("{}\r\n", json!({"type": "ai-title", "aiTitle": "Test for the currency cache", "sessionId": b}))
            + &assistant(
                b,
                "00000000-0000-4000-8000-0000000000b2",
                "2026-11-20T09:05:00Z",
                "I added a test for the currency cache; it passes. Next: write the changelog entry for the import.",
            )
            .replace('\n', "\r\n")
            + "garbage in between\n"
            + &format!("{}\n", json!({"type": "hologram", "sessionId": b}))
            + &format!(
                "{}\n",
                json!({"type": "summary", "summary": "Currency cache tested", "leafUuid": "00000000-0000-4000-8000-0000000000a4"})
            )
            + &user(b, "00000000-0000-4000-8000-0000000000b3", "2026-11-20T09:02:00Z", "(written out of order)");
    let last = user(c, "00000000-0000-4000-8000-0000000000c1", "2026-11-20T23:30:00Z", "Write the changelog entry for the import.")
        + &assistant(
            c,
            "00000000-0000-4000-8000-0000000000c2",
            "2026-11-20T23:50:00Z",
            "I wrote the changelog entry for the import. The importer no longer reads the file twice.",
        );
    let old = concat!(
        r#"{"type":"user","timestamp":"2026-01-05T10:00:00.000Z","content":"make the build pass"}"#,
        "\n",
        r#"{"type":"tool_use","timestamp":"2026-01-05T10:00:02.000Z","tool_name":"Bash","tool_input":{"command":"cargo build"}}"#,
        "\n",
        r#"{"type":"tool_result","timestamp":"2026-01-05T10:00:09.000Z","tool_name":"Bash","tool_input":{"command":"cargo build"},"tool_output":{"output":"error[E0432]: unresolved import"}}"#,
    );
    let texts = [
        (project(a), open),
        (project(b), closing),
        (project(c), last),
        ("transcripts/ses_0123456789ab.jsonl".into(), old.to_owned()),
    ];
    texts.into_iter().map(|(path, text)| (path, text.into_bytes())).collect()
}

fn write(world: &World, path: &Path, bytes: &[u8]) {
    let file = world.claude_dir().join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, bytes).unwrap();
    age(&file, Duration::from_secs(3600));
}

fn world(arguments: &[&str]) -> World {
    let world = World::new();
    if arguments == CLAUDE {
        world.configure(RICH);
        world.fake_claude(SCRIPTED);
    }
    world
}

/// All that has to be equal: pages, stored sessions, and what was counted.
#[derive(Debug, PartialEq)]
struct Outcome {
    pages: Vec<(String, String)>,
    sessions: Vec<String>,
    rows: Vec<String>,
}

impl Outcome {
    fn of(world: &World) -> Self {
        let root = world.root().to_str().unwrap().to_owned();
        let stored = world.exported().into_iter().map(|s| s.to_string().replace(&root, "<world>")).collect();
        Self {
            pages: world.pages(),
            sessions: stored,
            rows: rows(world).into_iter().map(|r| r.replace(&root, "<world>")).collect(),
        }
    }
}

/// What the export leaves out, by natural keys and in a fixed order.
fn rows(world: &World) -> Vec<String> {
    const TABLES: [&str; 13] = [
        "SELECT 'file', path, size, hex(head_hash), head_len, offset FROM file",
        "SELECT 'bad', f.path, b.offset, b.why FROM bad_line b JOIN file f ON f.pk = b.file",
        "SELECT 'unknown', f.path, u.type, u.rows FROM unknown_row u JOIN file f ON f.pk = u.file",
        "SELECT 'start', session, file, at FROM start",
        "SELECT 'session', s.id, p.key, s.started_at, s.grew_at, s.dirty || ' ' || s.page_dirty || ' ' || coalesce(s.skip, '') FROM session s JOIN project p ON p.pk = s.project",
        "SELECT 'source', s.id, o.file, o.agent, o.cwd, coalesce(o.first_at, '') || ' ' || coalesce(o.last_at, '') || o.branches || o.versions FROM source o JOIN session s ON s.pk = o.session",
        "SELECT 'item', s.id, o.file || o.agent, i.offset || ' ' || i.part, hex(i.key), coalesce(i.at, '') || i.kind || hex(i.body) FROM item i JOIN session s ON s.pk = i.session JOIN source o ON o.pk = i.source",
        "SELECT 'leaf', hex(leaf), text FROM leaf_title",
        "SELECT 'usage', s.id, u.message, u.model, u.input || ' ' || u.output, u.cache_write || ' ' || u.cache_write_hour || ' ' || u.cache_read FROM usage u JOIN session s ON s.pk = u.session",
        "SELECT 'digest', s.id, d.id, d.summarizer || coalesce(d.model, ''), hex(d.input_hash), d.queued || hex(d.body) FROM digest d JOIN session s ON s.pk = d.session WHERE NOT d.superseded",
        "SELECT 'open', o.id, s.id, o.kind || o.text, coalesce(o.at, ''), o.verified || ' ' || o.place FROM open_item o JOIN session s ON s.pk = o.session",
        "SELECT 'closed', c.id, s.id FROM closed_item c JOIN session s ON s.pk = c.session",
        "SELECT 'doc', s.id, d.kind, hex(d.key), d.part, '' FROM doc d JOIN session s ON s.pk = d.session UNION ALL SELECT 'page', p.path, coalesce(s.id, ''), p.day, '', '' FROM page p LEFT JOIN session s ON s.pk = p.session",
    ];
    let db = world.database();
    let mut all = Vec::new();
    for sql in TABLES {
        let mut query = db.prepare(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        let columns = query.column_count();
        let text =
            |r: &rusqlite::Row<'_>, at: usize| r.get_ref(at).map(|v| v.as_str().map_or_else(|_| format!("{v:?}"), str::to_owned));
        let found = query.query_map([], |r| (0..columns).map(|at| text(r, at)).collect::<Result<Vec<_>, _>>()).unwrap();
        all.extend(found.map(|r| r.unwrap().join(" ")));
    }
    all.sort();
    all
}

fn whole(files: &Files, arguments: &[&str]) -> Outcome {
    let world = world(arguments);
    for (path, bytes) in files {
        write(&world, path, bytes);
    }
    let ran = world.recall(["digest"].iter().chain(arguments));
    assert!(ran.code < 2, "{ran:#?}");
    Outcome::of(&world)
}

/// Feeds the files in steps: `shares[step][file]` is how much of the file, in thousandths, is there at that step.
fn sliced(files: &Files, shares: &[Vec<usize>], arguments: &[&str]) -> Outcome {
    let world = world(arguments);
    for step in shares {
        for ((path, bytes), share) in files.iter().zip(step) {
            let there = bytes.len() * share / 1000;
            if there > 0 {
                write(&world, path, &bytes[..there]);
            }
        }
        let ran = world.recall(["digest"].iter().chain(arguments));
        assert!(ran.code < 2, "{ran:#?}");
    }
    Outcome::of(&world)
}

fn assert_equal(one: &Outcome, other: &Outcome) {
    for ((name, a), (other_name, b)) in one.pages.iter().zip(&other.pages) {
        assert_eq!(name, other_name);
        assert!(a == b, "{name} differs:\n{a}\n-------- and\n{b}");
    }
    assert_eq!(one.pages.len(), other.pages.len());
    let missing: Vec<_> = one.rows.iter().filter(|r| !other.rows.contains(r)).collect();
    let added: Vec<_> = other.rows.iter().filter(|r| !one.rows.contains(r)).collect();
    assert!(missing.is_empty() && added.is_empty(), "only in the first: {missing:#?}\nonly in the second: {added:#?}");
    assert_eq!(one.sessions, other.sessions);
}

/// Ten steps in which each file grows at a pace of its own.
fn ten_steps(files: &Files) -> Vec<Vec<usize>> {
    let at = |step: usize, file: usize| {
        if step == 10 { 1000 } else { (step * (83 + (file * 37) % 31)).saturating_sub((file * 101) % 170).min(1000) }
    };
    (1..=10).map(|step| (0..files.len()).map(|file| at(step, file)).collect()).collect()
}

fn everything() -> Files {
    recorded(&FIXTURES).into_iter().chain(synthetic()).collect()
}

#[test]
fn ten_slices_make_the_pages_and_rows_of_one_run_without_a_model() {
    let files = everything();
    assert_equal(&whole(&files, EXTRACT), &sliced(&files, &ten_steps(&files), EXTRACT));
}

#[test]
fn ten_slices_make_the_pages_and_rows_of_one_run_with_a_model() {
    let files = everything();
    let one = whole(&files, CLAUDE);
    assert!(one.pages.iter().any(|(_, p)| p.contains("summarizer: claude")), "the stand-in was asked: {one:#?}");
    assert!(one.rows.iter().any(|r| r.starts_with("closed")), "open items were closed");
    assert_equal(&one, &sliced(&files, &ten_steps(&files), CLAUDE));
}

#[test]
fn a_cut_between_any_two_bytes_of_a_line_end_changes_nothing() {
    let files: Files = synthetic().into_iter().skip(1).take(1).collect();
    let one = whole(&files, EXTRACT);
    let bytes = &files[0].1;
    let ends = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n' || **b == b'\r').map(|(at, _)| at);
    for cut in ends.flat_map(|at| [at, at + 1]) {
        let world = world(EXTRACT);
        for there in [cut, bytes.len()] {
            write(&world, &files[0].0, &bytes[..there]);
            world.digest(EXTRACT);
        }
        assert_equal(&one, &Outcome::of(&world));
    }
}

#[test]
fn sessions_that_come_in_any_order_make_the_same_pages() {
    let files = synthetic();
    let one = whole(&files, CLAUDE);
    for order in [[3, 2, 1, 0], [1, 0, 3, 2], [2, 0, 1, 3]] {
        let mut there = vec![0; files.len()];
        let steps: Vec<Vec<usize>> = order
            .iter()
            .map(|file| {
                there[*file] = 1000;
                there.clone()
            })
            .collect();
        assert_equal(&one, &sliced(&files, &steps, CLAUDE));
    }
}

#[test]
fn a_session_that_tells_its_folder_late_is_still_one_with_its_project() {
    let mut files = synthetic();
    let a = "aaaa0000-1111-4111-8111-000000000001";
    let open = user(a, "00000000-0000-4000-8000-0000000000a1", "2026-11-20T08:00:00Z", "Make the import faster.")
        + &assistant(
            a,
            "00000000-0000-4000-8000-0000000000a2",
            "2026-11-20T08:05:00Z",
            "I cached the rates.\n\nNext steps:\n- Add a test for the currency cache\n",
        );
    let homeless = open.replace(r#""cwd":"/home/dev/src/shop","#, "");
    let whole_file = homeless.clone() + &user(a, "00000000-0000-4000-8000-0000000000a3", "2026-11-20T08:06:00Z", "Thanks.");
    files[0].1 = whole_file.clone().into_bytes();
    let at_first = (homeless.len() * 1000).div_ceil(whole_file.len());
    let steps = [vec![at_first, 1000, 1000, 1000], vec![1000; 4]];
    // Without a model: thanks change nothing of what the session left open.
    let one = whole(&files, EXTRACT);
    assert!(one.rows.iter().any(|r| r.starts_with("closed")), "a later session closed what it left open: {:#?}", one.rows);
    assert_equal(&one, &sliced(&files, &steps, EXTRACT));
}

fn steps_of(count: usize) -> impl Strategy<Value = Vec<Vec<usize>>> {
    let file = prop::collection::vec(0usize..=1000, 4).prop_map(|mut cuts| {
        cuts.sort_unstable();
        cuts.push(1000);
        cuts
    });
    prop::collection::vec(file, count).prop_map(|files| (0..5).map(|step| files.iter().map(|cuts| cuts[step]).collect()).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, max_shrink_iters: 12, ..ProptestConfig::default() })]

    #[test]
    fn any_cuts_make_the_pages_and_rows_of_one_run(steps in steps_of(recorded(&["fork", "clear", "subagent"]).len() + 4), model in any::<bool>()) {
        let files: Files = recorded(&["fork", "clear", "subagent"]).into_iter().chain(synthetic()).collect();
        let arguments = if model { CLAUDE } else { EXTRACT };
        assert_equal(&whole(&files, arguments), &sliced(&files, &steps, arguments));
    }
}
