//! What an administrator's policy forbids is not sent, and whoever shares hears what stays and why.

use super::over_postgres::{SHOP, consents, exchange, joined, remember, status, team_of};
use crate::support::postgres::Postgres;

/// `more`: kinds, the most bytes, closed. The server itself lets everything in: what is not there was not sent.
fn policy(server: &Postgres, more: &str) {
    server.admin(&format!("SELECT recall_team.set_policy('core', '{SHOP}', {more})"));
    server.admin(
        "CREATE OR REPLACE FUNCTION recall_team.refusal(of_team int, of_project bigint, of_kind text, of_body jsonb) RETURNS text LANGUAGE sql
         SECURITY DEFINER AS 'SELECT NULL::text'",
    );
}

#[test]
fn what_a_policy_forbids_is_not_sent_and_what_stays_is_told_before_and_after() {
    let Some(server) = team_of(&["anna"]) else { return };
    policy(&server, "ARRAY['convention', 'cure'], NULL, false");
    let anna = joined(&server, "anna");
    (1..=2).for_each(|n| anna.session(n));
    consents(&anna, "");
    let note = remember(&anna, "We use pnpm, never npm");
    let why = "the policy of the team lets no records of kind \"session\" in";
    let planned = anna.recall(&["team", "--dry-run"]).out;
    assert!(planned.contains("2 records to share") && planned.contains(&format!("2 records kept here: {why}")), "{planned}");
    assert!(!planned.contains("Mend part"), "{planned}");
    let ran = exchange(&anna);
    assert!(ran.out.contains("shared 2 records; kept here by the policy of your team: 4 records"), "{ran:#?}");
    let there = server.all_text();
    assert!(
        there.contains("pnpm") && there.contains("libpq") && !there.contains("Mend part") && !there.contains("claude-haiku"),
        "{there}"
    );
    let told = anna.recall(&["team", "status"]).out;
    assert!(told.contains("not shared: session 00000001") && told.contains(why), "{told}");
    assert_eq!(status(&anna)["projects"][0]["refused"].as_array().unwrap().len(), 4);
    // What changed and may not go there any more does not stay there as it was.
    policy(&server, "NULL, 120, false");
    let long = format!("We use bun, {}", "never pnpm, never npm, ".repeat(9));
    assert_eq!(anna.recall(&["remember", "--edit", &note, &long]).code, 0);
    let ran = exchange(&anna);
    assert!(ran.out.contains("withdrew 1 record"), "{ran:#?}");
    let there = server.all_text();
    assert!(!there.contains("pnpm") && there.contains("libpq"), "{there}");
    assert!(status(&anna).to_string().contains("no body of more than 120 bytes"), "{}", status(&anna));
    // A wider policy is heard of with the next exchange.
    policy(&server, "NULL, NULL, false");
    exchange(&anna);
    let there = server.all_text();
    assert!(there.contains("We use bun") && there.contains("Mend part 2") && there.contains("claude-haiku"), "{there}");
    assert_eq!(status(&anna)["projects"][0]["refused"].as_array().unwrap().len(), 0);
    // Nothing new, while what is there may be withdrawn.
    policy(&server, "NULL, NULL, true");
    remember(&anna, "The obelisk is the staging host");
    assert_eq!(anna.recall(&["forget", "--yes", "--note", &note]).code, 0);
    exchange(&anna);
    let there = server.all_text();
    assert!(!there.contains("obelisk") && !there.contains("We use bun") && there.contains("Mend part 2"), "{there}");
}
