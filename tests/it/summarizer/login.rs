//! No login, over a limit, overloaded: what ends the model's part of a run, and what may pass.

use serde_json::json;

use crate::summarizer::failures::has_the_models_digest;
use crate::support::stand_in::{COMPACT, COST, PLAIN, RETRY, SIDE_BY_SIDE, StandIn, form, refused, report, said};

const ALL: [&str; 3] = [PLAIN, COMPACT, RETRY];
const NOT_LOGGED_IN: &str = "Not logged in · Please run /login";

fn refuses(fixtures: &[&str], words: &str, status: Option<u16>) -> StandIn {
    StandIn::new(fixtures, "cat \"$here/said\"; exit 1").with("said", &refused(words, status))
}

/// One call, one message, an extractive digest for every session; and all of it heals.
fn ends_the_models_part(stand_in: &StandIn, words: &str) {
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert_eq!(ran.err.matches(words).count(), 1, "{ran:#?}");
    assert!(ran.err.contains("without the model"), "{ran:#?}");
    stand_in.only_call();
    for session in ALL {
        assert_eq!(stand_in.show(session)["summarizer"], "extract");
    }
    let status = stand_in.status();
    assert_eq!((&status["digests"], &status["waiting_for_model"]), (&json!(3), &json!(3)), "{status:#}");
    assert!(stand_in.reasons().contains(words), "{status:#}");
    stand_in.now_answers_well();
    // When every limit is over.
    let ran = stand_in.world.recall_with(["digest"], &[("RECALL_NOW", "2026-11-22T12:00:01Z")]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    for session in ALL {
        assert_eq!(stand_in.show(session)["summarizer"], "claude");
    }
}

#[test]
fn not_logged_in() {
    ends_the_models_part(&refuses(&["plain", "retry", "compact"], NOT_LOGGED_IN, None), "Not logged in");
}

#[test]
fn a_key_that_is_not_accepted() {
    ends_the_models_part(
        &refuses(&["plain", "retry", "compact"], "Invalid API key · Fix external API key", Some(401)),
        "Invalid API key",
    );
}

#[test]
fn too_many_requests() {
    let words = "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.";
    ends_the_models_part(&refuses(&["plain", "retry", "compact"], words, Some(429)), "Request rejected (429)");
}

#[test]
fn a_limit_told_in_an_ordinary_successful_answer() {
    let stand_in = StandIn::says(&["plain", "retry", "compact"], &said("You've hit your limit · resets 3pm (Europe/Berlin)", 0.0));
    ends_the_models_part(&stand_in, "You've hit your limit");
}

#[test]
fn a_refusal_costs_nothing() {
    let stand_in = refuses(&["plain"], NOT_LOGGED_IN, None);
    stand_in.recall(&["digest"]);
    assert_eq!(stand_in.status()["spent_usd"], 0.0);
}

#[test]
fn days_without_a_login_do_not_make_a_session_wait_longer() {
    let stand_in = refuses(&["plain"], NOT_LOGGED_IN, None);
    for _ in 0..5 {
        assert_eq!(stand_in.recall(&["digest"]).code, 1);
    }
    stand_in.now_answers_well();
    assert_eq!(stand_in.recall(&["digest"]).code, 0);
    has_the_models_digest(&stand_in);
}

#[test]
fn prose_about_a_login_is_no_missing_login() {
    let stand_in =
        StandIn::says(&["plain", "retry"], &said("I fixed the authentication and the rate limit of the payment client.", COST));
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert_eq!(stand_in.calls().len(), 2, "both sessions are tried: {ran:#?}");
}

#[test]
fn calls_side_by_side_that_meet_the_same_limit_say_it_once() {
    // The first call succeeds; the two after it are under way before either is refused.
    let scenario = format!("{SIDE_BY_SIDE} [ \"$n\" = 1 ] && exec cat \"$here/good\"; cat \"$here/said\"; exit 1");
    let stand_in = StandIn::new(&["plain", "retry", "compact", "subagent", "hooks"], &scenario)
        .with("said", &refused(NOT_LOGGED_IN, None))
        .with("good", &report(&form(), COST));
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert_eq!(stand_in.calls().len(), 3, "those under way, and none after them");
    assert_eq!(ran.err.matches("Not logged in").count(), 1, "{ran:#?}");
    assert_eq!(stand_in.status()["waiting_for_model"], 4);
}

#[test]
fn what_may_pass_is_tried_again_in_the_same_run() {
    let scenario = "if [ \"$call\" = \"$here/calls/1\" ]; then cat \"$here/busy\"; exit 1; fi; cat \"$here/good\"";
    let stand_in = StandIn::new(&["plain"], scenario)
        .with("busy", &refused("API Error: Repeated 529 Overloaded errors", Some(529)))
        .with("good", &report(&form(), COST));
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(stand_in.calls().len(), 2);
    has_the_models_digest(&stand_in);
    assert_eq!(stand_in.status()["spent_usd"], COST);
}

#[test]
fn what_does_not_pass_after_some_tries_ends_the_models_part() {
    let words = "API Error: Unable to connect to API (ConnectionRefused)";
    let stand_in = refuses(&["plain", "retry"], words, None);
    let ran = stand_in.world.recall_with(["digest"], &[("RECALL_PATIENCE_MS", "100")]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    let tries = stand_in.calls().len();
    assert!((2..=4).contains(&tries), "one session, a few tries: {tries}");
    assert_eq!(stand_in.status()["waiting_for_model"], 2);
    assert!(stand_in.reasons().contains("Unable to connect"), "{}", stand_in.reasons());
}
