//! What sessions took: shared with the team, and summed by its server.

use serde_json::Value;

use super::over_postgres::{SHOP, consents, exchange, joined, keys_of, listed, status, team_of};
use crate::share::Member;

fn stats(member: &Member, by: &str) -> Value {
    let ran = member.recall(&["stats", "--team", "--by", by, "--json"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    serde_json::from_str(&ran.out).unwrap()
}

/// Name, sessions and tokens of each row.
fn rows(reply: &Value) -> Vec<(String, u64, u64)> {
    let row = |row: &Value| {
        let tokens = ["input", "output", "cache_write", "cache_read"].map(|kind| row[kind].as_u64().unwrap());
        (row["name"].as_str().unwrap().to_owned(), row["sessions"].as_u64().unwrap(), tokens.iter().sum())
    };
    reply["rows"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn what_sessions_took_is_summed_by_the_server_and_holds_no_word() {
    let Some(server) = team_of(&["anna", "ben", "carl"]) else { return };
    let (anna, ben, carl) = (joined(&server, "anna"), joined(&server, "ben"), joined(&server, "carl"));
    (1..=2).for_each(|n| anna.session(n));
    ben.session(9);
    consents(&ben, "");
    exchange(&ben);
    consents(&anna, "usage = false\n");
    exchange(&anna);
    assert_eq!(rows(&stats(&anna, "author")).len(), 1, "Anna shares sessions and not what they took");
    consents(&anna, "");
    let planned = anna.recall(&["team", "--dry-run"]).out;
    assert!(planned.contains("usage       2026-11-20") || planned.contains("usage       2026-"), "{planned}");
    exchange(&anna);
    let there = status(&anna)["projects"][0]["shared"].clone();
    assert_eq!(there.as_array().unwrap().iter().filter(|one| one["kind"] == "usage").count(), 2, "{there}");
    let bodies = server.admin("SELECT body::text || coalesce(search, '') FROM recall_team.record WHERE kind = 'usage'");
    assert!(bodies.contains("claude-haiku") && !bodies.contains("Mend") && !bodies.contains("make check"), "{bodies}");

    let by_author = stats(&ben, "author");
    let own = ben.recall(&["stats", "--by", "model", "--json"]);
    let own: Value = serde_json::from_str(&own.out).unwrap();
    let mine = by_author["rows"].as_array().unwrap().iter().find(|row| row["name"] == "ben").unwrap();
    for figure in ["sessions", "input", "output", "cache_write", "cache_read", "cost_usd"] {
        assert_eq!(mine[figure], own["total"][figure], "{figure}: as `recall stats` counts it");
    }
    let one = mine["input"].as_u64().unwrap() + mine["output"].as_u64().unwrap();
    assert_eq!(rows(&by_author), [("anna".to_owned(), 2, 2 * one), ("ben".to_owned(), 1, one)]);
    assert_eq!(rows(&stats(&ben, "project")), [(SHOP.to_owned(), 3, 3 * one)]);
    assert_eq!(rows(&stats(&ben, "model")), [("claude-haiku-4-5-20251001".to_owned(), 3, 3 * one)]);
    assert_eq!(rows(&stats(&ben, "day")).iter().map(|row| row.2).sum::<u64>(), 3 * one);
    assert_eq!(keys_of(&by_author), listed("stats --team"));
    let table = ben.recall(&["stats", "--team", "--by", "author"]).out;
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].contains("sessions") && lines[0].contains("cost") && lines[1].starts_with("anna"), "{table}");
    assert!(!table.contains("commits") && lines.last().unwrap().starts_with("total"), "{table}");

    // Who may not read the project sums nothing of it.
    server.admin(&format!("SELECT recall_team.set_access('core', 'carl', '{SHOP}', false, false)"));
    assert_eq!(rows(&stats(&carl, "author")), []);
    // What is kept back, forgotten or not shared any more is in no sum.
    assert_eq!(anna.recall(&["team", "withdraw", "--session", "00000001"]).code, 0);
    assert_eq!(rows(&stats(&ben, "author"))[0], ("anna".to_owned(), 1, one));
    assert_eq!(anna.recall(&["forget", "--yes", "--session", "00000002"]).code, 0);
    exchange(&anna);
    assert_eq!(rows(&stats(&ben, "author")), [("ben".to_owned(), 1, one)]);
    consents(&ben, "sessions = false\n");
    exchange(&ben);
    assert_eq!(rows(&stats(&ben, "author")), []);
    assert_eq!(server.admin("SELECT 1 FROM recall_team.record WHERE kind = 'usage' AND NOT deleted"), "");
}

#[test]
fn without_an_answer_of_the_server_there_is_no_sum_and_that_is_said() {
    let Some(server) = team_of(&["anna"]) else { return };
    let anna = joined(&server, "anna");
    anna.session(1);
    let ran = anna.recall(&["stats", "--team", "--by", "branch"]);
    assert!(ran.code == 2 && ran.err.contains("author, project, day or model"), "{ran:#?}");
    let ran = anna.recall(&["stats", "--by", "author"]);
    assert!(ran.code == 2 && ran.err.contains("recall stats --team --by author"), "{ran:#?}");
    server.stop();
    let ran = anna.recall(&["stats", "--team"]);
    assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains("your team's server: "), "{ran:#?}");
}
