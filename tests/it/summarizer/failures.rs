//! Answers that are none. The session keeps an extractive digest, waits for the model, and a later run gets the model's.

use serde_json::json;

use crate::support::stand_in::{COST, PLAIN, StandIn, form, report, said};

/// What must hold after every failure, and that it heals.
fn is_kept_without_the_model(stand_in: &StandIn, reason: &str) {
    let ran = stand_in.recall(&["digest", "--json"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    let told: serde_json::Value = serde_json::from_str(&ran.out).expect("one JSON object");
    assert_eq!((&told["sessions_digested"], &told["sessions_failed"]), (&json!(1), &json!(1)), "{ran:#?}");
    assert!(ran.err.contains(reason), "the run says why: {ran:#?}");
    assert!(ran.err.lines().all(|l| l.len() < 300), "and not at length: {ran:#?}");
    waits_with_an_extractive_digest(stand_in, reason);
    stand_in.now_answers_well();
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    has_the_models_digest(stand_in);
}

pub fn waits_with_an_extractive_digest(stand_in: &StandIn, reason: &str) {
    let shown = stand_in.show(PLAIN);
    assert_eq!((&shown["summarizer"], &shown["waits_for_model"]), (&json!("extract"), &json!(true)), "{shown:#}");
    assert!(stand_in.page(PLAIN).contains("keyset pagination"), "{}", stand_in.page(PLAIN));
    let status = stand_in.status();
    assert_eq!(status["waiting_for_model"], 1, "{status:#}");
    assert!(status["failing"][0]["error"].as_str().is_some_and(|why| why.contains(reason)), "{status:#}");
    assert!(stand_in.reasons().contains(reason), "{status:#}");
}

pub fn has_the_models_digest(stand_in: &StandIn) {
    assert_eq!(stand_in.show(PLAIN)["summarizer"], "claude");
    assert_eq!(stand_in.show(PLAIN)["digest"]["title"], form()["title"]);
    let status = stand_in.status();
    assert_eq!(
        (&status["waiting_for_model"], &status["failing"], &status["waiting_reasons"]),
        (&json!(0), &json!([]), &json!([])),
        "{status:#}"
    );
}

#[test]
fn prose_instead_of_the_form() {
    let prose =
        "The session was about orders that went missing. The developer moved the list to keyset pagination and all tests passed.";
    is_kept_without_the_model(&StandIn::says(&["plain"], &said(prose, COST)), "prose");
}

#[test]
fn prose_costs_what_it_costs() {
    let stand_in = StandIn::says(&["plain"], &said("All went well.", COST));
    stand_in.recall(&["digest"]);
    assert_eq!(stand_in.status()["spent_usd"], COST);
}

#[test]
fn half_a_form() {
    let whole = form().to_string();
    is_kept_without_the_model(&StandIn::says(&["plain"], &said(&whole[..whole.len() / 2], COST)), "not the JSON object");
}

#[test]
fn a_form_that_says_nothing_of_what_was_done() {
    let empty = json!({"title": "Orders", "request": "Find out why", "completed": [], "next_steps": ["look again"]});
    is_kept_without_the_model(&StandIn::says(&["plain"], &report(&empty, COST)), "says nothing of what was done");
}

#[test]
fn half_a_report_of_the_client() {
    let whole = report(&form(), COST);
    is_kept_without_the_model(&StandIn::says(&["plain"], &whole[..whole.len() / 2]), "did not print JSON");
}

#[test]
fn output_that_is_no_report_at_all() {
    is_kept_without_the_model(&StandIn::says(&["plain"], "Segmentation fault \u{1b}[31m(core dumped)\u{7}"), "did not print JSON");
}

#[test]
fn silence() {
    is_kept_without_the_model(&StandIn::new(&["plain"], "exit 0"), "without an answer");
}

#[test]
fn exit_code_1_with_the_reason_on_stderr() {
    let stand_in = StandIn::new(&["plain"], "echo 'Error: no space left on device' >&2; exit 1");
    is_kept_without_the_model(&stand_in, "exited with 1 without an answer: Error: no space left on device");
}

#[test]
fn an_error_the_client_reports() {
    let error = json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "total_cost_usd": 0.03, "errors": ["It broke"]});
    let stand_in = StandIn::new(&["plain"], "cat \"$here/said\"; exit 1").with("said", &error.to_string());
    is_kept_without_the_model(&stand_in, "error_during_execution");
}

/// What was paid for and would come again is not bought again, until the session grew or somebody asks for it.
#[test]
fn an_answer_that_the_same_request_would_bring_again_is_bought_once() {
    let half = &form().to_string()[..200];
    let reply = |stop: &str, words: &str| json!({"type": "result", "subtype": "success", "is_error": false, "stop_reason": stop, "result": words, "total_cost_usd": COST});
    let error = |kind: &str, words: &str| json!({"type": "result", "subtype": kind, "is_error": true, "result": words, "total_cost_usd": COST});
    for answer in [
        reply("refusal", "I can't help with that."),
        reply("max_tokens", half),
        error("error_max_turns", ""),
        error("error_max_budget_usd", ""),
        error("success", "API Error: Claude's response exceeded the 4000 output token maximum."),
        error("success", "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy"),
    ] {
        let stand_in = StandIn::new(&["plain"], "cat \"$here/said\"").with("said", &answer.to_string());
        let ran = stand_in.recall(&["digest"]);
        assert!(ran.code == 1 && ran.err.contains("ask the model again when the session grows"), "{answer}: {ran:#?}");
        let calls = stand_in.calls().len();
        for _ in 0..3 {
            assert_eq!(stand_in.recall(&["digest"]).code, 0, "{answer}");
        }
        assert_eq!((stand_in.calls().len(), &stand_in.status()["spent_usd"]), (calls, &json!(COST)), "{answer}");
        assert!(stand_in.reasons().contains("is no digest and would not be one the next time"), "{answer}: {}", stand_in.reasons());
        stand_in.now_answers_well();
        assert_eq!(stand_in.recall(&["digest", "--session", PLAIN]).code, 0, "{answer}: somebody asks for it");
        has_the_models_digest(&stand_in);
    }
}

/// A good answer is one, whatever is printed around it or said of its cost.
#[test]
fn an_answer_with_more_json_around_it_or_an_odd_cost_is_not_thrown_away() {
    let good = report(&form(), COST);
    let form = form().to_string();
    let says = |words: String| said(&words, COST);
    for (printed, spent) in [
        (says(format!("{form}\n\nOther facts: {{\"rows\": [1, 2]}}")), json!(COST)),
        (says(format!("The object {{as asked}} is this: {form} {{}}")), json!(COST)),
        (format!("{good}\n{{\"type\": \"update\", \"to\": \"2.1.400\"}}\n"), json!(COST)),
        (good.replacen(&format!("{COST}"), "NaN", 1), json!(null)),
        (good.replacen(&format!("{COST}"), "-Infinity", 1), json!(null)),
    ] {
        let stand_in = StandIn::says(&["plain"], &printed);
        let ran = stand_in.recall(&["digest"]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{printed}: {ran:#?}");
        has_the_models_digest(&stand_in);
        let told = &stand_in.status()["spent_usd"];
        // What is not told is counted as what was set aside for it.
        assert!(*told == spent || spent.is_null() && told.as_f64() >= Some(COST), "{printed}: {told}");
    }
}

#[test]
fn killed_by_a_signal() {
    is_kept_without_the_model(&StandIn::new(&["plain"], "kill -9 $$"), "killed by signal 9");
}

#[test]
fn killed_by_a_signal_in_the_middle_of_its_report() {
    let stand_in = StandIn::new(&["plain"], "head -c 200 \"$here/said\"; kill -9 $$").with("said", &report(&form(), COST));
    is_kept_without_the_model(&stand_in, "killed by signal 9");
}

#[test]
fn five_megabytes_of_output() {
    is_kept_without_the_model(&StandIn::new(&["plain"], "yes | head -c 5000000"), "printed more than 2 MiB");
}

#[test]
fn five_megabytes_of_complaints() {
    is_kept_without_the_model(&StandIn::new(&["plain"], "yes | head -c 5000000 >&2; cat \"$here/none\""), "without an answer: y");
}

#[test]
fn five_megabytes_of_complaints_around_an_answer_do_not_cost_it() {
    let stand_in = StandIn::new(&["plain"], "yes | head -c 3000000 >&2; cat \"$here/good\"; yes | head -c 2000000 >&2");
    stand_in.put("good", &report(&form(), COST));
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    has_the_models_digest(&stand_in);
    assert_eq!(stand_in.status()["spent_usd"], COST);
}

#[test]
fn a_client_that_reads_nothing_of_its_input_is_no_failure_of_ours() {
    // Its own record of the call is left out: it would read the input.
    let stand_in = StandIn::good(&["plain"]);
    let good = stand_in.world.root().join("stand-in/good");
    stand_in.world.fake_claude(&format!("#!/bin/sh\nexec 0<&-\n/bin/cat '{}'\n", good.display()));
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    has_the_models_digest(&stand_in);
}

#[test]
fn one_bad_answer_leaves_the_other_sessions_to_the_model() {
    let scenario = "if grep -q 'branch payment-retry' \"$call/stdin\"; then echo nonsense; else cat \"$here/good\"; fi";
    let stand_in = StandIn::new(&["plain", "retry", "compact"], scenario).with("good", &report(&form(), COST));
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    let status = stand_in.status();
    assert_eq!((&status["digests"], &status["waiting_for_model"]), (&json!(3), &json!(1)), "{status:#}");
}

#[test]
fn after_three_failures_the_model_is_asked_again_later_only_and_the_doctor_says_so() {
    let stand_in = StandIn::new(&["plain"], "exit 1");
    for _ in 0..4 {
        stand_in.recall(&["digest"]);
    }
    assert_eq!(stand_in.calls().len(), 3);
    let told = stand_in.world.findings("model", &[]);
    assert!(told.iter().any(|one| one.contains("3 runs in a row brought no usable answer")), "{told:?}");
    stand_in.now_answers_well();
    let day_later = stand_in.world.recall_with(["digest"], &[("RECALL_NOW", "2026-11-22T12:00:00Z")]);
    assert_eq!(day_later.code, 0, "{day_later:#?}");
    has_the_models_digest(&stand_in);
}

#[test]
fn a_session_asked_for_by_its_id_is_tried_in_spite_of_its_failures() {
    let stand_in = StandIn::new(&["plain"], "exit 1");
    for _ in 0..3 {
        stand_in.recall(&["digest"]);
    }
    stand_in.now_answers_well();
    let ran = stand_in.recall(&["digest", "--session", &PLAIN[..8]]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    has_the_models_digest(&stand_in);
}
