//! A session whose records lie in several files: copies that people keep, and files in which it went on elsewhere.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::evidence::account;
use crate::support::rows::{Rows, bash};
use crate::support::{NOW, World, age};

/// Two turns that close with a reply, each after work, and a third that is cut off.
fn session() -> Rows {
    let mut rows = Rows::new(1);
    for (turn, words) in ["Mend the pagination", "Mend the sluice too", "Publish all of it"].into_iter().enumerate() {
        rows.user(json!(words));
        rows.assistant("I look at it first.");
        rows.uses(turn, &bash("cargo test"));
        rows.result(turn, "test result: ok. 1 passed; 0 failed", false);
        if turn < 2 {
            rows.assistant(&format!("Turn {turn} is done."));
        }
    }
    rows
}

/// Reads these files, digesting after each of them, and tells the account and the pages.
fn told(files: &[(&str, String)]) -> (Value, Vec<(String, String)>) {
    let world = World::new();
    for (path, text) in files {
        world.transcript(path, text);
        world.digest(&["--summarizer", "extract"]);
    }
    (account(&world, &session().id), world.pages())
}

#[test]
fn a_record_that_two_files_hold_keeps_its_place() {
    let rows = session();
    let lines: Vec<&str> = rows.text.split_inclusive('\n').collect();
    let of = |numbers: &[usize]| numbers.iter().map(|n| lines[*n]).collect::<String>();
    let whole = told(&[("-home-dev-src-shop/whole.jsonl", rows.text.clone())]);
    let closings: Vec<Value> = whole.0["turns"].as_array().expect("turns").iter().map(|turn| turn["reply"].clone()).collect();
    let is = |n: usize, text: &str, cut_off: bool| closings[n]["text"] == text && closings[n]["cut_off"] == cut_off;
    assert!(
        is(0, "Turn 0 is done.", false) && is(1, "Turn 1 is done.", false) && is(2, "I look at it first.", true),
        "{closings:#?}"
    );

    // The closing reply alone; pieces of every turn; what comes first in another order than it was written; the end, where it went on.
    for copied in [&[4][..], &[1, 3, 4, 6, 9, 11], &[10], &[0, 1, 2], &[7, 8, 9, 10, 11, 12, 13]] {
        for copy in ["-home-dev-src-a/copy.jsonl", "-home-dev-src-z/copy.jsonl"] {
            let (copy, all) = ((copy, of(copied)), ("-home-dev-src-shop/whole.jsonl", rows.text.clone()));
            for files in [[copy.clone(), all.clone()], [all, copy]] {
                let (account, pages) = told(&files);
                assert_eq!(account["turns"], whole.0["turns"], "{copied:?}, {} first", files[0].0);
                assert_eq!(pages, whole.1, "{copied:?}, {} first", files[0].0);
            }
        }
    }
}

#[test]
fn a_session_that_went_on_in_another_file_is_one() {
    let rows = session();
    let lines: Vec<&str> = rows.text.split_inclusive('\n').collect();
    let whole = told(&[("-home-dev-src-shop/whole.jsonl", rows.text.clone())]);
    // Where it was copied from the first file, how far that goes, and where the other begins.
    for (until, from) in [(10, 10), (10, 0), (7, 5), (14, 3)] {
        let (first, second) = (lines[..until].concat(), lines[from..].concat());
        for [one, other] in [
            ["-home-dev-src-a/one.jsonl", "-home-dev-src-z/other.jsonl"],
            ["-home-dev-src-z/one.jsonl", "-home-dev-src-a/other.jsonl"],
        ] {
            let (first, second) = ((one, first.clone()), (other, second.clone()));
            for files in [[first.clone(), second.clone()], [second, first]] {
                let (account, pages) = told(&files);
                assert_eq!(account["turns"], whole.0["turns"], "{until}, {from}, {} first", files[0].0);
                assert_eq!(pages, whole.1, "{until}, {from}, {} first", files[0].0);
            }
        }
    }
}

#[test]
fn a_title_without_a_time_stays_behind_what_it_was_written_after() {
    let rows = session();
    let lines: Vec<&str> = rows.text.split_inclusive('\n').collect();
    let title = |text: &str| format!("{}\n", json!({"type": "custom-title", "customTitle": text, "sessionId": rows.id}));
    let whole = lines[..10].concat() + &title("The first name") + &lines[10..].concat() + &title("The second name");
    let copy = lines[9].to_owned() + &title("The first name");
    let named = |files: &[(&str, String)]| {
        let world = World::new();
        files.iter().for_each(|(path, text)| _ = world.transcript(path, text));
        world.digest(&["--summarizer", "extract"]);
        world.show(&rows.id)["digest"]["title"].clone()
    };
    let path = "-home-dev-src-shop/whole.jsonl";
    let alone = named(&[(path, whole.clone())]);
    assert_eq!(alone, "The second name");
    for other in ["-home-dev-src-a/copy.jsonl", "-home-dev-src-z/copy.jsonl"] {
        assert_eq!(named(&[(path, whole.clone()), (other, copy.clone())]), alone, "{other}");
    }
}

#[test]
fn a_subagents_conversation_in_two_files_is_one() {
    let main = session();
    let mut rows = Rows::new(1);
    for n in 0..4 {
        let message = json!({"role": "assistant", "id": format!("msg_{n}"), "content": [{"type": "text", "text": format!("Step {n} of the agent.")}]});
        let uuid = format!("00000000-0000-4000-8000-00000000000{n}");
        rows.row(json!({"type": "assistant", "uuid": uuid, "isSidechain": true, "agentId": "abc", "message": message}));
    }
    let lines: Vec<&str> = rows.text.split_inclusive('\n').collect();
    let items = |files: &[(String, String)]| {
        let world = World::new();
        world.transcript(&format!("-home-dev-src-shop/{}.jsonl", main.id), &main.text);
        files.iter().for_each(|(path, text)| _ = world.transcript(path, text));
        world.digest(&["--summarizer", "extract"]);
        let ran = world.recall(["show", "--items", "--json", &main.id]);
        let told: Value = serde_json::from_str(&ran.out).expect("JSON");
        let said = told["items"].as_array().expect("items").iter().map(|item| item["text"].to_string()).collect::<Vec<_>>();
        assert!(said.iter().any(|text| text.contains("Step 3")), "{said:?}");
        said
    };
    let path = |folder: &str| format!("-home-dev-src-{folder}/{}/subagents/agent-abc.jsonl", main.id);
    let whole = items(&[(path("shop"), rows.text.clone())]);
    for folder in ["a", "z"] {
        assert_eq!(items(&[(path("shop"), rows.text.clone()), (path(folder), lines[1].to_owned())]), whole, "{folder}");
    }
}

/// A file of a session: its path, its lines, and how many minutes ago it grew.
type CopiedFile = (&'static str, String, u64);

/// Reads the files of each run together, and tells all that is exported, shown and written of it.
fn kept(runs: &[Vec<CopiedFile>], jobs: &str) -> (Value, Value, Vec<(String, String)>) {
    let world = World::new();
    for files in runs {
        for (path, text, minutes) in files {
            age(&world.transcript(path, text), Duration::from_secs(60 * minutes));
        }
        world.digest(&["--summarizer", "extract", "--jobs", jobs]);
    }
    let exported = json!(world.exported()).to_string().replace(world.root().to_str().expect("UTF-8"), "");
    (serde_json::from_str(&exported).expect("JSON"), world.show(&session().id), world.pages())
}

/// The lines, each said to be of a folder, or of none.
fn placed(lines: &[&str], folders: &[Option<&str>]) -> String {
    let place = |(line, folder): (&&str, &Option<&str>)| {
        let mut row: Value = serde_json::from_str(line).expect("a row");
        row["cwd"] = json!(folder);
        format!("{row}\n")
    };
    lines.iter().zip(folders).map(place).collect()
}

#[test]
fn a_session_grew_when_the_newest_of_its_files_did() {
    let rows = session();
    let lines: Vec<&str> = rows.text.split_inclusive('\n').collect();
    let now = NOW.parse::<jiff::Timestamp>().expect("a time").as_millisecond();
    let (one, other) = ("-home-dev-src-a/one.jsonl", "-home-dev-src-z/other.jsonl");
    let files = |[first, second]: [u64; 2]| vec![(one, lines.concat(), first), (other, lines[5..].concat(), second)];
    for ages in [[40, 90], [90, 40]] {
        let [first, second] = [files(ages)[..1].to_vec(), files(ages)[1..].to_vec()];
        // A file that grew is read on, here after the other one.
        let begun = vec![(one, lines[..10].concat(), ages[0] + 100)];
        for runs in [
            vec![files(ages)],
            vec![first.clone(), second.clone()],
            vec![second.clone(), first.clone()],
            vec![begun.clone(), second.clone(), first.clone()],
            vec![begun, files(ages)],
        ] {
            assert_eq!(kept(&runs, "1").0[0]["grew_at"], now - 40 * 60_000, "{ages:?}: {runs:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Three files hold the session: its beginning up to where it was cut off, the rest from the beginning of a turn on, and a part.
    #[test]
    fn whichever_of_several_files_is_read_first_the_session_is_the_same(
        order in Just(vec![0usize, 1, 2]).prop_shuffle(), place in Just(vec![0usize, 1, 2]).prop_shuffle(),
        until in 0usize..14, (from, part) in (0usize..3, 0usize..3), end in 0usize..14,
    ) {
        let rows = session();
        let lines: Vec<&str> = rows.text.split_inclusive('\n').collect();
        let (from, part) = (from * 5, part * 5);
        let parts = [lines[..until.max(from)].concat(), lines[from..].concat(), lines[part..end.max(part)].concat()];
        let names = ["-home-dev-src-a/one.jsonl", "-home-dev-src-shop/two.jsonl", "-home-dev-src-z/three.jsonl"];
        let files: Vec<(&str, String)> = order.iter().map(|file| (names[place[*file]], parts[*file].clone())).collect();
        let whole = told(&[(names[1], rows.text.clone())]);
        let (account, pages) = told(&files);
        prop_assert_eq!(&account["turns"], &whole.0["turns"], "{:?}", files);
        prop_assert_eq!(pages, whole.1, "{:?}", files);
    }

    /// All that the index says of a session is the same, however its files are divided among runs.
    #[test]
    fn in_whatever_order_its_files_are_stored_all_of_the_session_is_the_same(
        order in Just(vec![0usize, 1, 2]).prop_shuffle(), ages in prop::collection::vec(20u64..3000, 3), (from, until) in (0usize..14, 1usize..15),
        folders in prop::collection::vec(prop::option::weighted(0.5, prop::sample::select(vec!["/home/dev/src/shop", "/home/dev/src/mill"])), 14),
        together in 0usize..3, nowhere in any::<bool>(),
    ) {
        let rows = session();
        let lines: Vec<&str> = rows.text.split_inclusive('\n').collect();
        let folders = if nowhere { vec![None; lines.len()] } else { folders };
        let text = |from: usize, until: usize| placed(&lines[from..until], &folders[from..until]);
        let files = [
            ("-home-dev-src-a/one.jsonl", text(0, until), ages[0]),
            ("-home-dev-src-shop/two.jsonl", text(0, lines.len()), ages[1]),
            ("-home-dev-src-z/three.jsonl", text(from, lines.len()), ages[2]),
        ];
        let at_once = kept(&[files.to_vec()], "1");
        let (first, rest) = order.split_at(together);
        let mut runs: Vec<Vec<CopiedFile>> = first.iter().map(|file| vec![files[*file].clone()]).collect();
        runs.push(rest.iter().map(|file| files[*file].clone()).collect());
        let divided = kept(&runs, "4");
        prop_assert_eq!(divided.0, at_once.0, "{:?}", runs);
        prop_assert_eq!(divided.1, at_once.1, "{:?}", runs);
        prop_assert_eq!(divided.2, at_once.2, "{:?}", runs);
    }
}
