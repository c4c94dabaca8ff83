//! What the model may cost: by the run, by the day, never unknown, and the first backlog for nothing.

use serde_json::json;

use crate::summarizer::failures::has_the_models_digest;
use crate::support::stand_in::{COMPACT, COST, PLAIN, RETRY, StandIn, form, report, said};
use crate::support::{assistant, files_below, fixtures, user};

/// A stand-in whose good answers cost this much.
fn that_costs(fixtures: &[&str], usd: f64) -> StandIn {
    StandIn::new(fixtures, "cat \"$here/good\"").with("good", &report(&form(), usd))
}

fn summarizers(stand_in: &StandIn, sessions: &[&str]) -> Vec<String> {
    sessions.iter().map(|s| stand_in.show(s)["summarizer"].as_str().expect("a name").to_owned()).collect()
}

/// Sessions of a project of one's own, a minute apart.
fn short_sessions(stand_in: &StandIn, count: usize) {
    for n in 1..=count {
        let (id, at) = (format!("{n:08}-0000-4000-8000-000000000000"), format!("2026-11-19T10:{n:02}:00Z"));
        let uuid = |row: usize| format!("{n:08}-0000-4000-8000-00000000000{row}");
        let rows = [
            user(&id, &uuid(1), &at, &format!("Question {n}: why is the feed empty?")),
            assistant(&id, &uuid(2), &at, "It filters on drafts."),
        ];
        stand_in.world.transcript(&format!("-home-dev-src-blog/{id}.jsonl"), rows.concat().replace("src/shop", "src/blog"));
    }
}

#[test]
fn a_call_that_could_cost_more_than_the_run_may_is_not_made() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.world.configure("[digest]\nmax_cost_usd = 0.000001\n");
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "a budget that is kept is no failure: {ran:#?}");
    assert!(stand_in.calls().is_empty());
    let status = stand_in.status();
    assert_eq!((&status["digests"], &status["waiting_for_model"], &status["spent_usd"]), (&json!(1), &json!(1), &json!(0.0)));
    assert!(stand_in.reasons().contains("over the budget of the run"), "{status:#}");
    stand_in.world.configure("");
    assert_eq!(stand_in.recall(&["digest"]).code, 0);
    has_the_models_digest(&stand_in);
}

#[test]
fn the_command_line_may_name_the_sum() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest", "--max-cost", "0"]);
    assert!(stand_in.calls().is_empty());
    stand_in.world.configure("[digest]\nmax_cost_usd = 0.0\nmax_cost_usd_per_day = 0.0\n");
    stand_in.recall(&["digest", "--max-cost", "0.5"]);
    stand_in.only_call();
}

#[test]
fn the_budget_of_a_run_is_for_all_its_calls_and_the_newest_session_comes_first() {
    // Room for one call's worst case, and not for another one's beside its cost.
    let stand_in = that_costs(&["plain", "compact", "retry"], 0.03);
    stand_in.world.configure("[digest]\nmodel = \"claude-haiku-4-5\"\nmax_cost_usd = 0.045\n");
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    stand_in.only_call();
    assert_eq!(summarizers(&stand_in, &[PLAIN, COMPACT, RETRY]), ["extract", "extract", "claude"]);
    assert!(stand_in.reasons().contains("over the budget of the run"), "{}", stand_in.reasons());
}

#[test]
fn the_budget_of_the_day_is_for_all_its_runs() {
    let stand_in = that_costs(&["plain"], 0.04);
    stand_in.world.configure("[digest]\nmodel = \"claude-haiku-4-5\"\nmax_cost_usd_per_day = 0.05\n");
    stand_in.recall(&["digest"]);
    stand_in.only_call();
    crate::support::copy_tree(&fixtures().join("claude-code-2.1.197/retry"), &stand_in.world.claude_dir());
    stand_in.world.age_transcripts();
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    stand_in.only_call();
    assert!(stand_in.reasons().contains("over the budget of the day"), "{}", stand_in.reasons());

    // The user's day ends at 23:00 UTC in winter.
    stand_in.world.recall_with(["digest"], &[("RECALL_NOW", "2026-11-21T22:59:00Z")]);
    stand_in.only_call();
    stand_in.world.recall_with(["digest"], &[("RECALL_NOW", "2026-11-21T23:01:00Z")]);
    assert_eq!(summarizers(&stand_in, &[PLAIN, RETRY]), ["claude", "claude"]);
}

#[test]
fn what_a_killed_call_could_have_cost_stays_spent() {
    let stand_in = StandIn::new(&["plain"], "sleep 300");
    stand_in.world.configure("[digest]\nmodel = \"claude-haiku-4-5\"\ntimeout_seconds = 1\nmax_cost_usd_per_day = 0.04\n");
    let ran = stand_in.recall(&["digest", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&ran.out).expect("one JSON object");
    let reserved = stand_in.status()["spent_usd"].as_f64().expect("a number");
    assert!(reserved > 0.02, "four thousand tokens of output alone cost two cents: {reserved}");
    assert_eq!(told["cost_usd"], reserved, "{ran:#?}");
    assert_eq!(stand_in.world.count("SELECT count(*) FROM spend WHERE actual_usd IS NULL"), 1);

    stand_in.now_answers_well();
    stand_in.recall(&["digest"]);
    stand_in.only_call();
    assert!(stand_in.reasons().contains("over the budget of the day"), "{}", stand_in.reasons());
}

#[test]
fn a_call_that_does_not_tell_its_cost_counts_with_its_worst() {
    let mut report: serde_json::Value = serde_json::from_str(&said(&form().to_string(), COST)).expect("JSON");
    report.as_object_mut().expect("an object").remove("total_cost_usd");
    let stand_in = StandIn::says(&["plain"], &report.to_string());
    assert_eq!(stand_in.recall(&["digest"]).code, 0);
    let shown = stand_in.show(PLAIN);
    assert_eq!((&shown["summarizer"], &shown["digest_cost_usd"]), (&json!("claude"), &json!(null)));
    assert!(stand_in.status()["spent_usd"].as_f64().is_some_and(|usd| usd > 0.02));
}

#[test]
fn a_client_that_sends_its_own_tools_along_is_reserved_for_as_such() {
    // Without `--tools ""` a request has some 100 KB more, 12 cents at the price of writing it to the cache.
    let scenario = "case \"$*\" in *--tools*) echo \"error: unknown option '--tools'\" >&2; exit 1;; esac; sleep 300";
    let stand_in = StandIn::new(&["plain"], scenario);
    stand_in.world.configure("[digest]\ntimeout_seconds = 1\n");
    stand_in.recall(&["digest"]);
    let reserved = stand_in.status()["spent_usd"].as_f64().expect("a number");
    assert!(reserved > 0.1, "{reserved}");
}

#[test]
fn a_client_whose_requests_are_too_large_for_the_budget_is_not_asked() {
    let scenario = "case \"$*\" in *--tools*) echo \"error: unknown option '--tools'\" >&2; exit 1;; esac; cat \"$here/good\"";
    let stand_in = StandIn::new(&["plain"], scenario).with("good", &report(&form(), COST));
    stand_in.world.configure("[digest]\nmodel = \"claude-haiku-4-5\"\nmax_cost_usd = 0.06\n");
    stand_in.recall(&["digest"]);
    assert!(stand_in.only_call().has("--tools"), "the one that found it out");
    assert_eq!(stand_in.show(PLAIN)["summarizer"], "extract");
    assert!(stand_in.reasons().contains("over the budget of the run"), "{}", stand_in.reasons());
}

#[test]
fn a_model_without_a_known_price_is_not_asked_until_it_has_one() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.world.configure("[digest]\nmodel = \"sonnet-99\"\n");
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(stand_in.calls().is_empty());
    assert_eq!(stand_in.status()["waiting_for_model"], 1);
    let reasons = stand_in.reasons();
    assert!(reasons.contains("sonnet-99") && reasons.contains("price") && reasons.contains("[prices]"), "{reasons}");

    stand_in.world.configure("[digest]\nmodel = \"sonnet-99\"\n[prices.\"sonnet-99\"]\ninput = 3.0\noutput = 15.0\n");
    assert_eq!(stand_in.recall(&["digest"]).code, 0);
    assert_eq!(stand_in.only_call().value("--model"), Some("sonnet-99"));
    has_the_models_digest(&stand_in);
}

#[test]
fn a_run_gives_the_model_no_more_sessions_than_it_may_and_the_newest_first() {
    let stand_in = StandIn::good(&["plain", "compact", "retry"]);
    stand_in.world.configure("[digest]\nmax_sessions = 1\n");
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(summarizers(&stand_in, &[PLAIN, COMPACT, RETRY]), ["extract", "extract", "claude"]);
    assert!(stand_in.reasons().contains("over the number of sessions for one run"), "{}", stand_in.reasons());
    stand_in.recall(&["digest"]);
    stand_in.recall(&["digest"]);
    assert_eq!(summarizers(&stand_in, &[PLAIN, COMPACT, RETRY]), ["claude", "claude", "claude"]);
}

#[test]
fn a_first_backlog_is_digested_without_the_model_and_its_price_is_told() {
    let stand_in = StandIn::good(&[]);
    short_sessions(&stand_in, 21);
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(stand_in.calls().is_empty());
    let status = stand_in.status();
    assert_eq!((&status["digests"], &status["waiting_for_model"]), (&json!(21), &json!(0)), "{status:#}");
    assert!(ran.err.contains("21 sessions") && ran.err.contains('$'), "what it would cost with the model: {ran:#?}");

    stand_in.recall(&["digest"]);
    assert!(stand_in.calls().is_empty(), "and it stays so until it is asked for");
    stand_in.recall(&["digest", "--summarizer", "claude", "--limit", "2"]);
    assert_eq!(stand_in.calls().len(), 2);
    assert_eq!(summarizers(&stand_in, &["00000021", "00000020", "00000019"]), ["claude", "claude", "extract"]);
}

#[test]
fn twenty_sessions_are_no_backlog() {
    let stand_in = that_costs(&[], 0.001);
    short_sessions(&stand_in, 20);
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(stand_in.status()["waiting_for_model"], 0);
    assert_eq!(stand_in.calls().len(), 20);
}

#[test]
fn a_dry_run_names_the_price_and_buys_nothing() {
    let stand_in = StandIn::good(&["plain", "retry"]);
    let told: serde_json::Value =
        serde_json::from_str(&stand_in.recall(&["digest", "--dry-run", "--json"]).out).expect("one JSON object");
    let (likely, worst) = (told["likely_cost_usd"].as_f64().expect("a price"), told["worst_cost_usd"].as_f64().expect("a price"));
    assert!(0.0 < likely && likely < worst && worst < 0.2, "{told:#}");
    assert_eq!(told["calls"], 2);
    let words = stand_in.recall(&["digest", "--dry-run"]);
    assert!(words.out.contains(&format!("about ${likely:.2}, at most ${worst:.2}")), "{words:#?}");
    assert!(stand_in.calls().is_empty());
    assert!(
        files_below(&stand_in.world.data_dir()).iter().all(|f| f.file_name().is_some_and(|n| n == "lock")),
        "nothing is written"
    );
}

#[test]
fn a_dry_run_promises_no_more_than_the_budget_allows() {
    let stand_in = StandIn::good(&["plain", "retry", "compact"]);
    let told = stand_in.recall(&["digest", "--dry-run", "--json", "--max-cost", "0.03"]);
    let told: serde_json::Value = serde_json::from_str(&told.out).unwrap_or_else(|e| panic!("{e}: {told:#?}"));
    assert!(told["worst_cost_usd"].as_f64().is_some_and(|usd| usd <= 0.03), "{told:#}");
}

#[test]
fn the_dry_run_of_a_backlog_names_the_price_of_the_model() {
    let stand_in = StandIn::good(&[]);
    short_sessions(&stand_in, 21);
    let ran = stand_in.recall(&["digest", "--dry-run"]);
    assert!(ran.out.contains("21 sessions: 0 by the model, 21 without it"), "{ran:#?}");
    let price = ran.out.lines().find(|l| l.contains("for 21 calls")).unwrap_or_else(|| panic!("{ran:#?}"));
    assert!(price.contains("with the model") && price.contains('$'), "{price}");
}
