//! When the model is left alone: after runs that brought nothing, over a limit, at hours that the user keeps, and for a first backlog.

use serde_json::json;

use crate::summarizer::failures::has_the_models_digest;
use crate::summarizer::many_sessions::Many;
use crate::support::Ran;
use crate::support::stand_in::{COST, PLAIN, StandIn, form, refused, report, said};

fn digest_at(stand_in: &StandIn, now: &str) -> Ran {
    let ran = stand_in.world.recall_with(["digest"], &[("RECALL_NOW", now)]);
    assert!(ran.code < 2, "{ran:#?}");
    ran
}

fn doctor_says(stand_in: &StandIn, now: &str) -> Vec<String> {
    stand_in.world.findings("model", &[("RECALL_NOW", now)])
}

#[test]
fn after_three_runs_without_one_usable_answer_the_model_is_left_alone_for_a_day_and_the_doctor_says_so() {
    for what in ["echo nonsense", "exit 1", "cat \"$here/prose\""] {
        let many = Many::new(9, what);
        let stand_in = &many.stand_in;
        // The doctor asks the client for its version, which is no call of the model.
        let asked = || many.asked().iter().sum::<usize>();
        stand_in.put("prose", &said("All went well.", COST));
        // Of each run three sessions at most: some that never failed are always left.
        stand_in.world.configure("[digest]\nbacklog = 1000\nmax_sessions = 3\n");
        for minute in 0..3 {
            assert_eq!(doctor_says(stand_in, "2026-11-21T12:00:00Z"), [""; 0], "{what}: run {minute}");
            digest_at(stand_in, &format!("2026-11-21T12:0{minute}:00Z"));
        }
        let calls = asked();
        assert_eq!(calls, 9, "{what}");
        digest_at(stand_in, "2026-11-21T12:03:00Z");
        let ran = digest_at(stand_in, "2026-11-22T12:01:00Z");
        assert_eq!((asked(), ran.code), (calls, 0), "{what}: {ran:#?}");
        let told = doctor_says(stand_in, "2026-11-22T12:01:00Z");
        assert!(
            matches!(&told[..], [one] if one.contains("3 runs in a row brought no usable answer") && one.contains("2026-11-22 13:02")),
            "{told:?}"
        );
        assert_eq!(stand_in.status()["waiting_for_model"], 9, "{what}: they wait");

        stand_in.put("good", &report(&form(), COST));
        many.now_does("cat \"$here/good\"");
        digest_at(stand_in, "2026-11-22T12:02:00Z");
        assert_eq!(doctor_says(stand_in, "2026-11-22T12:02:00Z"), [""; 0], "{what}: it works again");
        digest_at(stand_in, "2026-11-22T12:03:00Z");
        assert!(asked() > calls + 3, "{what}: and is asked as before");
    }
}

#[test]
fn who_names_the_model_means_it_though_it_is_left_alone() {
    let stand_in = StandIn::new(&["plain"], "echo nonsense");
    (0..4).for_each(|_| _ = stand_in.recall(&["digest"]));
    assert_eq!(stand_in.calls().len(), 3);
    stand_in.now_answers_well();
    assert_eq!(stand_in.recall(&["digest", "--session", PLAIN]).code, 0);
    has_the_models_digest(&stand_in);
}

#[test]
fn what_cost_nothing_is_tried_again_by_every_run() {
    let stand_in = StandIn::says(&["plain"], &refused("Not logged in · Please run /login", None));
    (0..5).for_each(|_| _ = stand_in.recall(&["digest"]));
    assert_eq!(stand_in.calls().len(), 5);
}

#[test]
fn over_a_limit_the_model_is_not_asked_before_its_window_is_over() {
    for notice in [
        refused("You've hit your limit · resets 3pm (Europe/Berlin)", Some(429)),
        said("Claude AI usage limit reached|1795269600", 0.0),
    ] {
        let stand_in = StandIn::says(&["plain", "retry"], &notice);
        let ran = digest_at(&stand_in, "2026-11-21T12:00:00Z");
        assert!(ran.err.contains("called again after 2026-11-21 15:00"), "{ran:#?}");
        stand_in.now_answers_well();
        let ran = digest_at(&stand_in, "2026-11-21T13:59:00Z");
        assert_eq!((stand_in.calls().len(), ran.code), (1, 0), "{ran:#?}");
        let told = doctor_says(&stand_in, "2026-11-21T13:59:00Z");
        assert!(matches!(&told[..], [one] if one.contains("not called until 2026-11-21 15:00")), "{told:?}");
        digest_at(&stand_in, "2026-11-21T14:01:00Z");
        has_the_models_digest(&stand_in);
    }
}

#[test]
fn at_hours_that_the_user_keeps_the_model_is_not_asked() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.world.configure("[digest]\nnot_between = \"09:00-18:00\"\n");
    for now in ["2026-11-22T08:00:00Z", "2026-11-22T16:59:00Z"] {
        assert_eq!(digest_at(&stand_in, now).code, 0);
        assert!(stand_in.calls().is_empty(), "{now}");
        assert_eq!(stand_in.status()["waiting_for_model"], 1, "{now}");
    }
    assert!(stand_in.reasons().contains("not asked between 09:00-18:00"), "{}", stand_in.reasons());
    digest_at(&stand_in, "2026-11-22T17:00:00Z");
    has_the_models_digest(&stand_in);
    stand_in.world.configure("[digest]\nnot_between = \"9 to 5\"\n");
    let ran = stand_in.recall(&["digest"]);
    assert!(ran.code == 2 && ran.err.contains("not_between") && ran.err.contains("09:00-18:00"), "{ran:#?}");
}

#[test]
fn a_first_backlog_without_a_client_is_not_bought_once_there_is_one() {
    let many = Many::new(25, "cat \"$here/good\"");
    many.stand_in.put("good", &report(&form(), COST));
    many.stand_in.world.configure("");
    many.digest_all_without_the_model();
    let status = many.stand_in.status();
    assert_eq!((&status["digests"], &status["waiting_for_model"]), (&json!(25), &json!(0)), "{status:#}");
    assert_eq!(many.stand_in.recall(&["digest"]).code, 0);
    assert!(many.stand_in.calls().is_empty(), "nobody asked for it");
    many.stand_in.recall(&["digest", "--summarizer", "claude", "--limit", "2"]);
    assert_eq!(many.stand_in.calls().len(), 2, "until somebody does");
}

/// What is left of a backlog is few enough for the model.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "named points are built into debug builds only")]
fn a_first_backlog_that_was_cut_short_is_still_one() {
    // Digests without the model are stored 200 at a time.
    let many = Many::new(215, "cat \"$here/good\"");
    many.stand_in.put("good", &report(&form(), COST));
    many.stand_in.world.configure("");
    let killed = many.stand_in.world.recall_with(["digest"], &[("RECALL_KILL_AT", "digests stored:1")]);
    assert_eq!(killed.code, -1, "{killed:#?}");
    assert_eq!(many.stand_in.status()["digests"], 200);
    assert_eq!(many.stand_in.recall(&["digest"]).code, 0);
    let status = many.stand_in.status();
    assert_eq!((&status["digests"], &status["waiting_for_model"]), (&json!(215), &json!(0)), "{status:#}");
    assert!(many.stand_in.calls().is_empty());
}
