//! What a run says before and after: how many digests are the model's, what waits for it, and that a dry run says the same.

use serde_json::{Value, json};

use crate::summarizer::many_sessions::Many;
use crate::support::answers::{Answered, answered};
use crate::support::stand_in::{form, report};
use crate::support::{Ran, World};

/// What a dry run and a run both count.
const COUNTS: [&str; 5] =
    ["digests_by_model", "digests_without_model", "waiting_for_model", "waiting_cost_usd", "left_without_model"];

fn json_of(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"))
}

/// The counts; those that are left out are 0.
fn counts(told: &Value) -> Vec<Value> {
    COUNTS.map(|key| told.get(key).cloned().unwrap_or(json!(0))).to_vec()
}

/// Sessions whose digests cost a thousandth of a dollar; the config is all there is.
fn cheap(count: usize, config: &str) -> Many {
    let many = Many::new(count, "cat \"$here/good\"");
    many.stand_in.put("good", &report(&form(), 0.001));
    many.stand_in.world.configure(config);
    many
}

#[test]
fn a_dry_run_and_the_run_say_the_same() {
    let claude: &[&str] = &["--summarizer", "claude"];
    let newest = &["--summarizer", "claude", "--newest", "3"];
    let few = &["--summarizer", "claude", "--limit", "3"];
    // How many sessions, the config, and the runs one after the other.
    let table: [(usize, &str, &[&[&str]]); 8] = [
        (3, "", &[&[], &[]]),
        (5, "[digest]\nmax_sessions = 2\n", &[&[], &[], &[]]),
        (6, "[digest]\nbacklog = 4\n", &[&[], &[], few, claude]),
        (6, "[digest]\nbacklog = 4\nmax_sessions = 3\n", &[claude, &[], claude]),
        (6, "[digest]\nbacklog = 4\n", &[newest, &[], newest, newest]),
        (5, "[digest]\nmax_cost_usd = 0.0\n", &[&[], claude]),
        (5, "[digest]\nmax_cost_usd = 0.04\n", &[&[], &[]]),
        (4, "[digest]\nsummarizer = \"extract\"\n", &[&[], claude]),
    ];
    for (count, config, runs) in table {
        let many = cheap(count, config);
        for (at, run) in runs.iter().enumerate() {
            let command = [&["digest", "--json"], *run].concat();
            let dry = json_of(&many.stand_in.recall(&[&command[..], &["--dry-run"]].concat()));
            let real = json_of(&many.stand_in.recall(&command));
            let (mut dry, mut real) = (dry, real);
            if at == 0 {
                // Which model answers, and so at what price, is known after the first answer only.
                (dry["waiting_cost_usd"], real["waiting_cost_usd"]) = (json!(null), json!(null));
            }
            assert_eq!(counts(&dry), counts(&real), "{count} {config} {run:?}: {dry:#} {real:#}");
            let (made, without) = (&real["digests_by_model"], &real["digests_without_model"]);
            assert_eq!(dry["calls"], *made, "{count} {config} {run:?}");
            assert_eq!(
                real["sessions_digested"].as_u64(),
                made.as_u64().zip(without.as_u64()).map(|(a, b)| a + b),
                "{count} {config} {run:?}"
            );
        }
    }
}

#[test]
fn a_run_says_who_made_the_digests_and_what_waits() {
    let many = cheap(5, "[digest]\nmax_sessions = 2\n");
    let ran = many.stand_in.recall(&["digest"]);
    assert!(ran.out.contains("5 sessions: 2 by the model, 3 without it, $0.0020"), "{ran:#?}");
    assert!(ran.out.contains("waiting   3 for the model to redo in a later run, about $0.0"), "{ran:#?}");
    many.stand_in.recall(&["digest"]);
    let ran = many.stand_in.recall(&["digest"]);
    assert!(
        ran.out.contains("1 by the model, 0 without it") && ran.out.contains("waiting   none for the model to redo in a later run"),
        "{ran:#?}"
    );
}

#[test]
fn what_the_model_does_not_reach_of_a_backlog_is_not_bought_unasked() {
    let many = cheap(6, "[digest]\nbacklog = 4\nmax_sessions = 2\n");
    let ran = many.stand_in.recall(&["digest", "--summarizer", "claude"]);
    assert!(ran.out.contains("2 by the model, 4 without") && ran.out.contains("left      4 without the model"), "{ran:#?}");
    (0..3).for_each(|_| _ = many.stand_in.recall(&["digest"]));
    assert_eq!(many.stand_in.calls().len(), 2, "no timer goes on with it");
    many.stand_in.recall(&["digest", "--summarizer", "claude"]);
    assert_eq!(many.stand_in.calls().len(), 4, "whoever asks again does");
    many.stand_in.recall(&["digest"]);
    assert_eq!(many.stand_in.calls().len(), 4);
}

#[test]
fn where_there_is_no_client_nothing_recommends_it() {
    let many = cheap(21, "");
    let nowhere = many.stand_in.world.root().join("empty");
    let without = |world: &World| world.recall_with(["digest"], &[("PATH", nowhere.to_str().expect("a UTF-8 path"))]);
    let ran = without(&many.stand_in.world);
    assert!(ran.err.contains("21 sessions are digested without the model: `claude` was not found"), "{ran:#?}");
    assert!(!format!("{}{}", ran.out, ran.err).contains("--summarizer claude"), "{ran:#?}");
}

#[test]
fn the_newest_sessions_of_a_backlog_are_bought_for_who_asks() {
    let many = cheap(8, "[digest]\nbacklog = 4\nmax_sessions = 1\n");
    many.stand_in.recall(&["digest"]);
    assert!(many.stand_in.calls().is_empty());
    let ran = many.stand_in.recall(&["digest", "--summarizer", "claude", "--newest", "3"]);
    assert!(ran.out.contains("3 by the model, 0 without") && ran.out.contains("left      5 without the model"), "{ran:#?}");
    assert_eq!(many.asked(), [0, 0, 0, 0, 0, 1, 1, 1]);
    many.stand_in.recall(&["digest"]);
    many.stand_in.recall(&["digest", "--summarizer", "claude", "--newest", "2"]);
    assert_eq!(many.asked(), [0, 0, 0, 1, 1, 1, 1, 1], "and then those before them");
    for wrong in [&["--newest", "2"][..], &["--newest", "2", "--summarizer", "extract"]] {
        let ran = many.stand_in.recall(&[&["digest"], wrong].concat());
        assert!(ran.code == 2 && ran.err.contains("--summarizer"), "{ran:#?}");
    }
}

fn on_a_terminal(many: &Many, args: &[&str], answer: &str) -> Answered {
    let world = &many.stand_in.world;
    answered(world, world.root(), &[], &[&["digest"], args].concat(), answer)
}

#[test]
fn on_a_terminal_a_first_run_over_a_backlog_asks_once() {
    for (answer, bought) in [("", 20), ("y", 20), ("n", 0), ("what?", 0)] {
        let many = cheap(23, "");
        let dry = many.stand_in.recall(&["digest", "--dry-run"]);
        let offered = dry.out.lines().find(|l| l.starts_with("would ask")).unwrap_or_else(|| panic!("{dry:#?}"));
        let price = offered.rsplit(' ').next().expect("a price");
        let ran = on_a_terminal(&many, &[], answer);
        let question = format!("There are 23 sessions. Digest the newest 20 with the model, for about {price}? [Y/n]");
        assert!(ran.code == 0 && ran.shown.contains(&question), "{answer}: {ran:#?}");
        assert_eq!(many.asked(), (1..=23).map(|n| usize::from(bought > 0 && n > 3)).collect::<Vec<_>>(), "{answer}");
        let status = many.stand_in.status();
        assert_eq!((&status["digests"], &status["waiting_for_model"]), (&json!(23), &json!(0)), "{status:#}");
        let again = on_a_terminal(&many, &[], "y");
        many.stand_in.recall(&["digest"]);
        assert!(!again.shown.contains("[Y/n]") && many.stand_in.calls().len() == bought, "{answer}: {again:#?}");
    }
}

#[test]
fn nobody_is_asked_who_chose_or_who_is_not_there() {
    for args in [&["--summarizer", "extract"][..], &["--summarizer", "auto"], &["--json"], &["--dry-run"]] {
        let many = cheap(21, "");
        let ran = on_a_terminal(&many, args, "y");
        assert!(!ran.shown.contains("[Y/n]") && many.stand_in.calls().is_empty(), "{args:?}: {ran:#?}");
    }
    let many = cheap(20, "");
    let ran = on_a_terminal(&many, &[], "n");
    assert!(!ran.shown.contains("[Y/n]") && many.stand_in.calls().len() == 20, "{ran:#?}");
    let many = cheap(21, "[digest]\nsummarizer = \"claude\"\n");
    let ran = on_a_terminal(&many, &[], "y");
    assert!(!ran.shown.contains("[Y/n]") && many.stand_in.calls().is_empty(), "{ran:#?}");
}
