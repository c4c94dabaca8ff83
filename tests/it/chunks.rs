//! The form in which the index holds what rows say: how large it gets, that it stays so however it came in, and that an index of the form
//! before comes through whole.

use std::collections::BTreeSet;

use crate::support::World;
use crate::support::chunks::{bundled, items};
use crate::support::rows::{Rows, bash, put};
use crate::support::size::{Dice, number};
use serde_json::json;

const WORDS: &str = "the a of to and in is that it for was on are with as be at this have from or had by not but what all were when we \
    there can an your which their said if do will each about how up out them then she many some so these would other into has more her two \
    parser ledger invoice cache sluice import retry header table column query index socket deadline fixture snapshot branch merge release";

/// How large the generated transcripts are, in megabytes.
fn megabytes() -> usize {
    number("RECALL_TREE_MB", 4)
}

fn sentence(dice: &mut Dice, words: usize) -> String {
    let all: Vec<&str> = WORDS.split_whitespace().collect();
    let word = |dice: &mut Dice| match dice.below(12) {
        0 => format!("{:x}", dice.below(1 << 20)),
        _ => all[dice.below(all.len() as u64) as usize].to_owned(),
    };
    (0..words).map(|_| word(dice)).collect::<Vec<_>>().join(" ")
}

/// A session as long as they are: prompts, replies, tools and what they print, which is most of it.
fn session(dice: &mut Dice, n: usize) -> String {
    let mut rows = Rows::new(n);
    for turn in 0..20 {
        rows.user(json!(sentence(dice, 30)));
        for step in 0..6 {
            let tool = n * 1000 + turn * 10 + step;
            rows.uses(tool, &bash(&format!("rg -n '{}' src/{}.rs", sentence(dice, 2), sentence(dice, 1))));
            rows.result(tool, &(0..160).map(|_| sentence(dice, 10) + "\n").collect::<String>(), false);
        }
        rows.assistant(&sentence(dice, 60));
    }
    rows.text
}

/// What the index holds, wherever the world lies.
fn holds(world: &World) -> BTreeSet<String> {
    let root = world.root().display().to_string();
    bundled(&world.database()).iter().map(|line| line.replace(&root, "")).collect()
}

fn id(n: usize) -> String {
    Rows::new(n).id
}

#[test]
fn the_index_is_a_small_share_of_the_transcripts() {
    let world = World::new();
    let index = || std::fs::metadata(world.data_dir().join("recall.db")).expect("the index").len();
    world.digest(&["--ingest-only"]);
    let empty = index();
    let (mut dice, mut bytes, mut n) = (Dice(7), 0, 0);
    while bytes < megabytes() << 20 {
        let text = session(&mut dice, n);
        bytes += text.len();
        put(&world, &id(n), &text);
        n += 1;
    }
    let report = world.digest(&["--ingest-only"]);
    assert_eq!(report["sessions_new"], n, "{report}");
    let share = (index() - empty) as f64 * 100.0 / bytes as f64;
    println!("{share:.2} % of {bytes} bytes");
    assert!(share < MOST, "{share:.2} % of {bytes} bytes");
    // What each session says lies together: a bundle for each beginning 64 KB, and not a row for each thing said.
    let (bundles, items) = (world.count("SELECT count(*) FROM bundle"), world.items());
    assert!(items > 100 * n as i64 && bundles <= 2 * n as i64, "{bundles} bundles of {items} items of {n} sessions");
}

/// In hundredths.
const MOST: f64 = 10.5;

#[test]
fn what_comes_bit_by_bit_lies_together_as_what_comes_at_once() {
    let (whole, bits) = (World::new(), World::new());
    let text = session(&mut Dice(3), 1);
    put(&whole, &id(1), &text);
    whole.digest(&["--ingest-only"]);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for upto in (0..lines.len()).step_by(20).skip(1).chain([lines.len()]) {
        put(&bits, &id(1), &lines[..upto].concat());
        bits.digest(&["--ingest-only"]);
    }
    assert_eq!(holds(&bits), holds(&whole));
    let bundles = |world: &World| world.count("SELECT count(*) FROM bundle");
    assert!(bundles(&bits) <= 2 * bundles(&whole), "{} bundles where {} would do", bundles(&bits), bundles(&whole));
}

#[test]
fn an_index_of_the_form_before_holds_the_same_after_it() {
    let world = World::with_fixtures(&["plain", "fork", "compact", "subagent", "retry"]);
    world.digest(&["--summarizer", "extract"]);
    let (before, kin) = (holds(&world), world.count("SELECT count(*) FROM kin"));
    let (exported, pages) = (world.recall(["export"]).out, world.pages());
    assert!(kin > 0, "a fork is kin to what it was made of");
    world.make_index_older();
    let report = world.digest(&["--summarizer", "extract", "--rebuild-pages"]);
    assert_eq!((&report["rows_new"], &report["sessions_digested"]), (&0.into(), &0.into()), "{report}");
    assert_eq!(holds(&world), before);
    assert_eq!(world.count("SELECT count(*) FROM kin"), kin);
    assert!(world.recall(["export"]).out == exported && world.pages() == pages);
}

#[test]
fn an_id_that_looks_like_a_hash_is_an_id() {
    // As some gateways make them.
    const ID: &str = "1a2b3c4d5e6f7a8b";
    let world = World::new();
    let mut rows = Rows::new(1);
    rows.user(json!("count the tokens"));
    rows.assistant("Counted.");
    let theirs = format!("msg_{}_1", &rows.id[..8]);
    assert!(rows.text.contains(&theirs), "{}", rows.text);
    put(&world, &id(1), &rows.text.replace(&theirs, ID));
    world.digest(&["--ingest-only"]);
    let before = holds(&world);
    // As older programs exported it.
    let mut exported = world.recall(["export"]).out;
    let hash = exported.split('"').find(|text| text.len() == 17 && text.starts_with('#')).expect("a message").to_owned();
    let other = World::new();
    exported = exported.replace(&hash, ID).replace(&*world.root().to_string_lossy(), &other.root().to_string_lossy());
    std::fs::write(other.root().join("all.jsonl"), exported).expect("the exported file");
    assert_eq!(other.recall(["import", "all.jsonl"]).code, 0);
    assert_eq!(holds(&other), before);
}

#[test]
fn rows_that_are_forgotten_leave_the_others_of_their_bundle() {
    let world = World::new();
    put(&world, &id(1), &session(&mut Dice(5), 1));
    world.digest(&["--ingest-only"]);
    let before = items(&world.database());
    let told = before.iter().find(|item| item.kind == "reply").expect("a reply");
    let words: serde_json::Value = serde_json::from_str(&told.text).expect("JSON");
    let words = words["data"].as_str().expect("words").split(' ').take(8).collect::<Vec<_>>().join(" ");
    let ran = world.recall(["forget", "--yes", "--match", &words]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let left = items(&world.database());
    assert_eq!(left.len(), before.len() - 1);
    assert!(
        left.iter().zip(before.iter().filter(|item| item.key != told.key)).all(|(a, b)| a.text == b.text && a.offset == b.offset)
    );
}
