//! What the user did with a rule on one machine holds on the others.

use serde_json::{Value, json};

use super::{EXTRACT, Machine, machines, settle};
use crate::support::rows::{Rows, put};

/// A session on this machine in which the user says this.
fn say(machine: &Machine, n: usize, prompt: &str) {
    let mut rows = Rows::new(n);
    rows.user(json!(prompt));
    rows.assistant("Mended, and the tests pass.");
    put(&machine.world, &rows.id, &rows.text);
    machine.world.digest(&EXTRACT);
}

/// The rules that stand and those that were dismissed, by id and how often they were said.
fn rules(machine: &Machine) -> [Vec<(String, u64)>; 2] {
    let ran = machine.world.recall(["rules", "--project", "shop", "--json"]);
    let reply: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
    ["rules", "dismissed"].map(|list| {
        let rule = |rule: &Value| (rule["id"].as_str().unwrap().to_owned(), rule["times"].as_u64().unwrap());
        reply[list].as_array().unwrap().iter().map(rule).collect()
    })
}

fn recall(machine: &Machine, args: &[&str]) {
    let ran = machine.world.recall(args);
    assert_eq!(ran.code, 0, "{args:?}: {ran:#?}");
}

/// A rule that only both machines together have heard often enough to be one.
fn said_on_both(share: &std::path::Path) -> ([Machine; 2], String) {
    let [laptop, tower] = machines(share, ["laptop", "tower"]);
    say(&laptop, 1, "Build the cart page. No, pnpm, not npm.");
    say(&laptop, 4, "Please use pnpm instead of npm here.");
    say(&tower, 7, "Sort the orders. I told you: pnpm, not npm!");
    settle(&[&laptop, &tower]);
    let [standing, dismissed] = rules(&laptop);
    assert_eq!((standing.len(), standing[0].1, dismissed.len()), (1, 3, 0), "{standing:?}");
    assert_eq!(rules(&tower)[0], standing);
    let id = standing[0].0.clone();
    ([laptop, tower], id)
}

#[test]
fn a_rule_that_is_dismissed_on_one_machine_is_dismissed_on_all() {
    let share = tempfile::tempdir().unwrap();
    let ([laptop, tower], id) = said_on_both(share.path());
    recall(&tower, &["rules", "--dismiss", &id]);
    settle(&[&laptop, &tower]);
    for machine in [&laptop, &tower] {
        assert_eq!(rules(machine), [vec![], vec![(id.clone(), 3)]]);
    }
    // What is said of it later joins it, wherever that is.
    say(&laptop, 10, "Tidy the basket. Again: pnpm, not npm!");
    settle(&[&laptop, &tower]);
    for machine in [&laptop, &tower] {
        assert_eq!(rules(machine), [vec![], vec![(id.clone(), 4)]]);
    }
    // It is shown again on all, whoever undoes it.
    recall(&laptop, &["rules", "--dismiss", &id, "--undo"]);
    settle(&[&laptop, &tower]);
    for machine in [&laptop, &tower] {
        assert_eq!(rules(machine), [vec![(id.clone(), 4)], vec![]]);
    }
}

#[test]
fn a_rule_that_is_accepted_on_one_machine_is_a_note_on_all() {
    let share = tempfile::tempdir().unwrap();
    let ([laptop, tower], id) = said_on_both(share.path());
    recall(&laptop, &["rules", "--accept", &id]);
    settle(&[&laptop, &tower]);
    for machine in [&laptop, &tower] {
        assert_eq!(machine.notes().len(), 1);
        assert_eq!(rules(machine), [vec![], vec![]]);
    }
    assert_eq!(laptop.notes(), tower.notes());
}
