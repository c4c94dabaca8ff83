//! `recall todo`: what sessions left, beside the items and notes that can be closed.

use crate::support::{World, assistant, ran, user};

fn id(n: u32) -> String {
    format!("{n}{n}{n}{n}8888-0000-4000-8000-000000000000")
}

/// A session of a day in November in which this was said, and what followed.
fn session(world: &World, n: u32, prompt: &str, rows: &str) {
    let id = id(n);
    let said = user(&id, &format!("u{n}"), &format!("2026-11-{:02}T09:00:00Z", 10 + n), prompt);
    world.transcript(&format!("-home-dev-src-shop/{id}.jsonl"), said + rows);
}

fn replied(n: u32, text: &str) -> String {
    assistant(&id(n), &format!("a{n}"), &format!("2026-11-{:02}T09:30:00Z", 10 + n), text)
}

fn todo(world: &World, args: &[&str]) -> String {
    let ran = world.recall([&["todo"], args].concat());
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.out + &ran.err
}

#[test]
fn sessions_that_were_left_are_quoted_below_what_is_open() {
    let world = World::new();
    session(
        &world,
        1,
        "Review the change and address the comments, please",
        &replied(
            1,
            "Done: committed and pushed.\n\nStill open if you want them later: the denylist gap, and a reply to Ann. The docs are up to date.",
        ),
    );
    session(
        &world,
        2,
        "Push a branch and open a pull request, then wait until all checks pass",
        &ran(&id(2), "r2", "2026-11-12T09:10:00Z", "git push", Ok("done")),
    );
    session(
        &world,
        3,
        "Explain the importer to me, please",
        &replied(3, "It reads the orders.\n\nNext steps:\n\n1. Rotate the key.\n2. Tell Ann.\n\nWhat is stored stays stored."),
    );
    session(&world, 5, "Rotate the key, please", &replied(5, "Rotated.\n\n## Next steps:\n\n- None.\n\nNothing is left to do."));
    session(&world, 4, "Sort the orders, the oldest first", &replied(4, "Sorted. Shall I also sort what is still open?"));
    world.digest(&["--summarizer", "extract"]);
    let told = todo(&world, &[]);
    assert_eq!(
        told,
        "/home/dev/src/shop\n  33338888   2026-11-13  last reply: “Next steps: 1. Rotate the key. 2. Tell Ann.”\n  22228888   2026-11-12  the last turn has no final \
         reply; asked: “Push a branch and open a pull request, then wait until all checks pass”\n  11118888   2026-11-11  last reply: “Still open if you want \
         them later: the denylist gap, and a reply to Ann.”\nrecall: continue a session with `recall resume ID`\n"
    );
    let json: serde_json::Value = serde_json::from_str(&world.recall(["todo", "--json"]).out).expect("JSON");
    assert_eq!(json["sessions"].as_array().map(Vec::len), Some(3), "{json}");
    // What it goes on to close is not left.
    session(
        &world,
        2,
        "Push a branch and open a pull request, then wait until all checks pass",
        &(ran(&id(2), "r2", "2026-11-12T09:10:00Z", "git push", Ok("done")) + &replied(2, "All checks pass.")),
    );
    world.digest(&["--summarizer", "extract"]);
    assert!(!todo(&world, &[]).contains("22228888"));
}

#[test]
fn of_a_project_the_newest_three_are_told_and_older_ones_on_request() {
    let world = World::new();
    for n in 1..=4 {
        session(&world, n, "Review the change, please", &replied(n, &format!("Done.\n\nStill open: part {n}.")));
    }
    world.digest(&["--summarizer", "extract"]);
    let told = todo(&world, &[]);
    assert!(told.contains("part 4") && told.contains("part 2") && !told.contains("part 1"), "{told}");
    let later = world.recall_with(["todo"], &[("RECALL_NOW", "2027-03-01T12:00:00Z")]);
    assert!(later.err.contains("nothing from the last 30 days is open") && later.err.contains("`recall todo --all`"), "{later:#?}");
    let all = world.recall_with(["todo", "--all"], &[("RECALL_NOW", "2027-03-01T12:00:00Z")]);
    assert!(all.out.contains("part 4"), "{all:#?}");
}
