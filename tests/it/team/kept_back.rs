//! Sessions that somebody keeps from their team.

use serde_json::json;

use super::over_postgres::{consents, exchange, joined, remember, status, team_of};
use crate::share::Member;
use crate::support::rows::Rows;

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

/// A session that says this, and leaves something open.
fn leaves(member: &Member, n: usize, asked: &str, open: &str) {
    let mut rows = Rows::new(n);
    rows.user(json!(asked));
    rows.uses(1, &json!({"name": "TodoWrite", "input": {"todos": [{"content": open, "status": "pending"}]}}));
    rows.result(1, "Todos have been modified", false);
    rows.assistant("The cart is built.");
    let text = rows.text.replace("/home/dev/src/shop", member.clone.to_str().unwrap());
    member.world.transcript(&format!("-shop/{}.jsonl", rows.id), text);
    member.world.digest(&EXTRACT);
}

#[test]
fn a_session_that_is_kept_back_goes_from_the_server_and_stays_away_until_that_is_undone() {
    let Some(server) = team_of(&["anna"]) else { return };
    let anna = joined(&server, "anna");
    leaves(&anna, 1, "Ask the obelisk for a raise", "Write to the pagoda");
    leaves(&anna, 2, "Build the minaret of the cart", "Paint the minaret");
    remember(&anna, "The queue is called orders");
    consents(&anna, "");
    exchange(&anna);
    assert!(["obelisk", "pagoda", "minaret"].iter().all(|word| server.all_text().contains(word)));
    let ran = anna.recall(&["team", "withdraw", "--session", "00000001"]);
    assert!(ran.code == 0 && ran.out.contains("withdrew 3 records"), "{ran:#?}");
    let undo = "recall team withdraw --session 00000001 --undo";
    assert!(ran.out.contains(undo), "{ran:#?}");
    let is_away = || {
        let there = server.all_text();
        assert!(!there.contains("obelisk") && !there.contains("pagoda"), "{there}");
        assert!(there.contains("minaret") && there.contains("called orders"), "{there}");
    };
    is_away();
    // Also when it goes on, and when she left and came back.
    leaves(&anna, 1, "Ask the obelisk for a longer raise", "Write to the pagoda");
    exchange(&anna);
    is_away();
    assert_eq!(anna.recall(&["team", "leave"]).code, 0);
    server.admin("SELECT recall_team.add_member('core', 'anna'); SELECT recall_team.set_access('core', 'anna', 'example.com/acme/shop', true, true)");
    assert_eq!(anna.recall(&["team", "join", &server.address("anna")]).code, 0);
    exchange(&anna);
    is_away();
    let refused = status(&anna)["projects"][0]["refused"].clone();
    let line = refused.as_array().unwrap().iter().find(|one| one["kind"] == "session").unwrap_or_else(|| panic!("{refused}"));
    assert!(line["id"].as_str().unwrap().starts_with("00000001") && line["why"].as_str().unwrap().contains(undo), "{refused}");
    assert!(anna.recall(&["team", "status"]).out.contains(undo));
    // No agent shares it again.
    let by_agent = |args: &[&str]| anna.world.command().args(args).env("CLAUDECODE", "1").output().unwrap().status.code();
    assert_eq!(by_agent(&["team", "withdraw", "--session", "00000001", "--undo"]), Some(2));
    let ran = anna.recall(&["team", "withdraw", "--session", "00000001", "--undo"]);
    assert!(ran.code == 0 && ran.out.contains("shared 3 records"), "{ran:#?}");
    assert!(server.all_text().contains("obelisk"));
    assert_eq!(anna.recall(&["team", "withdraw", "--session", "00000001", "--undo"]).code, 2, "it is kept back no more");
}

#[test]
fn no_command_or_cure_comes_from_a_session_that_is_kept_back() {
    let Some(server) = team_of(&["anna"]) else { return };
    let anna = joined(&server, "anna");
    (1..=2).for_each(|n| anna.session(n));
    assert_eq!(anna.recall(&["team", "withdraw", "--session", "00000002"]).code, 0, "also before anything is shared");
    consents(&anna, "");
    exchange(&anna);
    let there = server.all_text();
    assert!(there.contains("Mend part 1") && !there.contains("Mend part 2"), "{there}");
    let kinds: Vec<String> = status(&anna)["projects"][0]["shared"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["session", "usage"], "one session supports no cure");
}

#[test]
fn a_server_that_is_away_hears_of_it_later() {
    let Some(server) = team_of(&["anna"]) else { return };
    let anna = joined(&server, "anna");
    anna.session(1);
    consents(&anna, "");
    exchange(&anna);
    server.stop();
    let ran = anna.recall(&["team", "withdraw", "--session", "00000001"]);
    assert!(ran.code == 2 && ran.err.contains("the next exchange"), "{ran:#?}");
    server.resume();
    exchange(&anna);
    assert!(!server.all_text().contains("Mend part 1"));
}
