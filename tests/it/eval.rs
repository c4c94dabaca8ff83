//! `recall eval`: each session is told again what came before it, and that alone.

use serde_json::{Value, json};

use crate::support::World;
use crate::support::rows::{Rows, bash, put};

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

/// The `n`th session: asks, edits a file, runs the tests, and says how it ended.
fn session(world: &World, n: usize, prompt: &str, file: &str, check: &str, reply: &str) {
    let mut rows = Rows::new(n);
    rows.user(json!(prompt));
    rows.uses(1, &json!({"name": "Edit", "input": {"file_path": format!("/home/dev/src/shop/{file}"), "old_string": "a", "new_string": "b"}}));
    rows.result(1, "The file has been updated.", false);
    rows.uses(2, &bash(check));
    rows.result(2, "4 passed in 0.2s", false);
    rows.assistant(reply);
    put(world, &rows.id, &rows.text);
}

fn eval(world: &World, args: &[&str]) -> Value {
    let ran = world.recall(["eval", "--json"].iter().chain(args));
    assert_eq!(ran.code, 0, "{ran:#?}");
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"))
}

fn hits(all: usize, known: usize, told: usize) -> Value {
    json!({"all": all, "known": known, "told": told})
}

#[test]
fn a_session_is_measured_by_what_came_before_it_alone() {
    let world = World::new();
    let paged = "The order list is paged by key, because offsets were slow on large tables.";
    session(&world, 1, "Page the order list of the shop.", "src/paging.py", "pytest tests/orders -q", paged);
    // Three sessions a day: this one is of the next day.
    session(&world, 4, "Page the list of invoices as well.", "src/paging.py", "pytest tests/invoices", paged);
    session(&world, 7, "Make the shop's banner green.", "src/banner.css", "npm run lint", "The banner is green.");
    world.digest(&EXTRACT);
    let told = eval(&world, &[]);
    assert_eq!((&told["sessions"], &told["first_of_project"], &told["told"]), (&json!(3), &json!(1), &json!(2)), "{told:#}");
    // The third edits a file and runs a check that nobody knew; the first one's were known by nobody before it.
    assert_eq!(told["files"], hits(3, 1, 1), "{told:#}");
    assert_eq!(told["checks"], hits(3, 1, 1), "{told:#}");
    assert_eq!(told["said_again"], 1, "{told:#}");
    assert_eq!((&told["starts"]["all"], &told["starts"]["told"], &told["prompts"]["all"]), (&json!(3), &json!(2), &json!(3)));
    assert!(told["starts"]["most_tokens"].as_u64().expect("a number") > 50, "{told:#}");

    let table = world.recall(["eval"]).out;
    for line in [
        "3 sessions replayed, each with what came before it; for 1 of them, the project had no earlier session",
        ", of them 1 in earlier sessions, too; the context named 1 of those (100 %)",
    ] {
        assert!(table.contains(line), "{table}");
    }
    assert_eq!(eval(&world, &["--since", "2026-11-03"])["sessions"], 1);
    assert_eq!(eval(&world, &["--project", "mill"])["sessions"], 0);
    world.configure("[privacy]\nexclude_projects = [\"**/shop\"]\n");
    assert_eq!(eval(&world, &[])["sessions"], 0);
}

/// What a later session says, a later note, and what is open today do not count.
#[test]
fn nothing_that_came_later_is_told() {
    let world = World::new();
    session(&world, 1, "Make the shop's banner green.", "src/banner.css", "npm run lint", "The banner is green.");
    session(&world, 4, "Page the order list of the shop.", "src/paging.py", "pytest tests/orders", "It is paged by key.");
    world.digest(&EXTRACT);
    assert_eq!(world.recall(["remember", "--project", "/home/dev/src/shop", "Always run pytest on src/paging.py"]).code, 0);
    let told = eval(&world, &[]);
    assert_eq!((&told["files"], &told["checks"]), (&hits(2, 0, 0), &hits(2, 0, 0)), "{told:#}");
    assert_eq!(told["told"], 1, "the note of today is told to neither: {told:#}");
}

/// What was overtaken by then is told with what overtook it.
#[test]
fn an_overtaken_statement_is_counted_by_whether_it_is_told_alone() {
    let world = World::new();
    session(
        &world,
        1,
        "Cache the sessions.",
        "src/cache.py",
        "pytest",
        "The session cache of the ledger uses Redis, so that both workers share it.",
    );
    session(
        &world,
        4,
        "Run on one machine.",
        "src/cache.py",
        "pytest",
        "The session cache of the ledger no longer uses Redis, it is an in-process LRU.",
    );
    session(&world, 7, "Limit the session cache of the ledger.", "src/cache.py", "pytest", "It holds a hundred sessions.");
    world.digest(&EXTRACT);
    let told = eval(&world, &[]);
    assert_eq!((&told["overtaken"], &told["overtaken_alone"]), (&json!(1), &json!(0)), "{told:#}");
}
