//! Who makes a digest is the user's choice.

use serde_json::json;

use crate::summarizer::failures::has_the_models_digest;
use crate::support::stand_in::{PLAIN, StandIn, form};

#[test]
fn a_digest_asked_for_without_the_model_is_final() {
    let stand_in = StandIn::good(&["plain"]);
    let ran = stand_in.recall(&["digest", "--summarizer", "extract"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(stand_in.show(PLAIN)["waits_for_model"], false);
    assert_eq!(stand_in.recall(&["digest"]).code, 0);
    assert!(stand_in.calls().is_empty());
    assert_eq!(stand_in.show(PLAIN)["summarizer"], "extract");
}

#[test]
fn asking_for_the_model_redoes_what_was_made_without_it() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest", "--summarizer", "extract"]);
    let ran = stand_in.recall(&["digest", "--summarizer", "claude"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    has_the_models_digest(&stand_in);
    stand_in.recall(&["digest", "--summarizer", "claude"]);
    stand_in.only_call();
}

#[test]
fn a_session_that_waits_for_the_model_stops_waiting_when_the_user_says_so() {
    let stand_in = StandIn::new(&["plain"], "exit 1");
    stand_in.recall(&["digest"]);
    assert_eq!(stand_in.status()["waiting_for_model"], 1);
    let ran = stand_in.recall(&["digest", "--summarizer", "extract"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(stand_in.status()["waiting_for_model"], 0);
    stand_in.recall(&["digest"]);
    stand_in.only_call();
}

#[test]
fn a_digest_by_the_model_is_replaced_when_one_without_it_is_asked_for() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest"]);
    let ran = stand_in.recall(&["digest", "--summarizer", "extract", "--session", PLAIN]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(stand_in.show(PLAIN)["summarizer"], "extract");
    assert_eq!(stand_in.recall(&["digest"]).code, 0);
    stand_in.only_call();
}

#[test]
fn the_config_may_choose_to_go_without_the_model() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.world.configure("[digest]\nsummarizer = \"extract\"\n");
    assert_eq!(stand_in.recall(&["digest"]).code, 0);
    assert!(stand_in.calls().is_empty());
    let shown = stand_in.show(PLAIN);
    assert_eq!((&shown["summarizer"], &shown["waits_for_model"]), (&json!("extract"), &json!(false)));
}

#[test]
fn naming_a_session_makes_its_digest_anew() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest"]);
    let ran = stand_in.recall(&["digest", "--session", &PLAIN[..8]]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(stand_in.calls().len(), 2);
    assert_eq!(stand_in.show(PLAIN)["digest"]["title"], form()["title"]);
}
