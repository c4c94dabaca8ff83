//! `recall timeline`: what came before and after a session.

use serde_json::Value;

use crate::support::{World, assistant, tasks, user};

const PLAIN: &str = "64b0b6d9-e371-40e8-affe-78e0505dfb3f";

fn id(n: usize) -> String {
    format!("aa{n:02}0000-5ec0-4000-8000-000000000000")
}

/// Ten sessions of one project, one a day, and one of another.
fn world() -> World {
    let world = World::new();
    for n in 1..=10 {
        let at = format!("2026-11-{n:02}T10:00:00Z");
        let text = format!("Mend step {n} of the {} importer.", ["red", "green", "blue"][n % 3]);
        let left = format!("Measure step {n} with the file of the customer");
        let rows = user(&id(n), &format!("{n}u"), &at, &text)
            + &tasks(&id(n), &format!("{n}t"), &at, &[&left])
            + &assistant(&id(n), &format!("{n}a"), &at, &format!("Step {n} is mended in `step_{n}.py`."));
        world.transcript(&format!("-shop/{}.jsonl", id(n)), rows);
    }
    let other =
        user("bbbb1111", "u", "2026-11-05T11:00:00Z", "Elsewhere.") + &assistant("bbbb1111", "a", "2026-11-05T11:00:00Z", "Done.");
    world.transcript("-other/bbbb1111.jsonl", other.replace("/home/dev/src/shop", "/home/dev/src/other"));
    world.digest(&["--summarizer", "extract"]);
    world
}

fn told(world: &World, arguments: &[&str]) -> Value {
    let ran = world.recall(["timeline", "--json"].iter().chain(arguments));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    serde_json::from_str(&ran.out).unwrap()
}

fn ids(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_session_stands_between_those_before_and_after_it() {
    let world = World::with_fixtures(&["plain", "fork", "compact", "clear", "subagent", "hooks", "retry"]);
    world.digest(&["--summarizer", "extract"]);
    let ran = world.recall(["timeline", "e1f1ab06", "--after", "3"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    insta::assert_snapshot!("timeline", ran.out);
}

#[test]
fn the_nearest_of_its_project_are_listed_in_order_and_the_others_counted() {
    let world = world();
    let all = told(&world, &[&id(5)]);
    assert_eq!(ids(&all["before"]), [1, 2, 3, 4].map(id));
    assert_eq!(ids(&all["after"]), [6, 7, 8, 9, 10].map(id));
    assert_eq!((&all["more_before"], &all["more_after"]), (&0.into(), &0.into()));
    let few = told(&world, &[&id(5), "--before", "1", "--after", "2"]);
    assert_eq!((ids(&few["before"]), ids(&few["after"])), (vec![id(4)], vec![id(6), id(7)]));
    assert_eq!((&few["more_before"], &few["more_after"]), (&3.into(), &3.into()));
    let alone = told(&world, &[&id(5), "--before", "0", "--after", "0"]);
    assert_eq!((&alone["more_before"], &alone["more_after"]), (&4.into(), &5.into()));
    let shown = world.recall(["timeline", &id(5), "--before", "1", "--after", "2"]).out;
    assert!(shown.contains("… 3 more before") && shown.contains("… 3 more after"), "{shown}");
    let longest = shown.lines().map(str::len).max().unwrap();
    assert!(longest <= 175, "a line is some fifty tokens: {longest} bytes");
}

#[test]
fn a_line_says_when_what_and_how_much_is_open() {
    let world = world();
    world.recall(["close", &told_item(&world)]);
    let all = told(&world, &[&id(2)]);
    let (before, itself) = (&all["before"][0], &all["session"]);
    assert_eq!((&before["when"], &before["open"], &before["digested"]), (&"2026-11-01 11:00".into(), &0.into(), &true.into()));
    assert_eq!((&itself["id"], &itself["open"]), (&id(2).into(), &1.into()), "{itself}");
    let course = all["course"].as_array().unwrap();
    let first = &course[0];
    assert_eq!((&first["kind"], &first["prompt"], &first["when"]), (&"prompt".into(), &1.into(), &"11:00".into()), "{first}");
    assert!(first["text"].as_str().unwrap().contains("Mend step 2"), "{first}");
}

fn told_item(world: &World) -> String {
    let sql = "SELECT id FROM open_item WHERE text LIKE '%Measure step 1%'";
    world.database().query_row(sql, [], |row| row.get(0)).expect("an open item")
}

#[test]
fn a_session_without_a_digest_is_named_by_its_prompt() {
    let world = world();
    let at = "2026-11-11T10:00:00Z";
    let rows = user(&id(11), "11u", at, "Explain the invoices.") + &assistant(&id(11), "11a", at, "They are made at night.");
    world.transcript(&format!("-shop/{}.jsonl", id(11)), rows);
    world.digest(&["--ingest-only"]);
    let shown = world.recall(["timeline", &id(10)]).out;
    assert!(shown.contains("Explain the invoices. (no digest yet)"), "{shown}");
    let itself = world.recall(["timeline", &id(11)]);
    assert!(itself.code == 0 && itself.out.contains("> 2026-11-11 11:00  aa110000  Explain the invoices."), "{itself:#?}");
}

#[test]
fn a_long_session_is_told_by_its_beginning_and_its_end() {
    let world = World::new();
    let rows: String = (0..60)
        .map(|n| {
            let at = format!("2026-11-20T10:{n:02}:00Z");
            user(PLAIN, &format!("{n}u"), &at, &format!("Now part {n}, please."))
                + &assistant(PLAIN, &format!("{n}a"), &at, "Fixed.")
        })
        .collect();
    world.transcript(&format!("-shop/{PLAIN}.jsonl"), rows);
    world.digest(&["--summarizer", "extract"]);
    let ran = world.recall(["timeline", PLAIN]);
    for words in ["#1 “Now part 0, please.”", "#60 “Now part 59, please.”", "→ Fixed.", "… 47 left out\n"] {
        assert!(ran.out.contains(words), "{words}: {ran:#?}");
    }
    assert!(ran.out.lines().count() < 20, "{ran:#?}");
}

#[test]
fn an_id_that_is_no_ones_is_refused_and_nothing_is_written() {
    let world = world();
    let before = world.everything();
    let ran = world.recall(["timeline", "nobody"]);
    assert!(ran.code == 2 && ran.err.contains("nothing has the id"), "{ran:#?}");
    world.recall(["timeline", &id(3)]);
    world.recall(["show", &id(3), "--raw"]);
    let changed = crate::support::changed(&before, &world.everything());
    // Readers share memory and an empty log in files beside the index.
    assert!(
        changed.iter().all(|file| file.to_str().unwrap().ends_with("-shm") || file.to_str().unwrap().ends_with("-wal")),
        "{changed:?}"
    );
}

#[test]
fn without_an_id_it_is_that_of_the_newest_session_of_the_project() {
    let world = world();
    let newest = world.recall(["timeline", "--json"]);
    assert_eq!(newest.out, world.recall(["timeline", "--json", &id(10)]).out);
    assert_eq!(world.recall(["timeline", "--json", "-2"]).out, world.recall(["timeline", "--json", &id(9)]).out);
}
