//! Older clients, and none.

use serde_json::json;

use crate::summarizer::failures::has_the_models_digest;
use crate::support::stand_in::{COMPACT, COST, StandIn, form, report};

/// Refuses a call that holds one of these flags, as the client does.
fn without(flags: &[&str]) -> String {
    let flags = flags.join("|");
    format!(
        "for a in \"$@\"; do case \"$a\" in {flags}) echo \"error: unknown option '$a'\" >&2; exit 1;; esac; done; cat \"$here/good\""
    )
}

fn old_client(fixtures: &[&str], scenario: &str) -> StandIn {
    StandIn::new(fixtures, scenario).with("good", &report(&form(), COST))
}

#[test]
fn a_flag_the_client_does_not_know_is_left_out() {
    let stand_in = old_client(&["plain"], &without(&["--no-session-persistence"]));
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(ran.err, "");
    has_the_models_digest(&stand_in);
    let calls = stand_in.calls();
    assert_eq!(calls.len(), 2, "{calls:#?}");
    let expected: Vec<_> = calls[0].arguments.iter().filter(|a| *a != "--no-session-persistence").collect();
    assert_eq!(calls[1].arguments.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn tools_are_taken_away_by_name_where_they_cannot_be_switched_off() {
    let stand_in = old_client(&["plain"], &without(&["--tools"]));
    assert_eq!(stand_in.recall(&["digest"]).code, 0);
    let call = stand_in.calls().pop().expect("a call");
    let taken: Vec<&str> = call.value("--disallowedTools").expect("the flag").split(',').collect();
    for tool in ["Bash", "Edit", "Write", "Read", "WebFetch", "Task", "Agent"] {
        assert!(taken.contains(&tool), "{tool}: {taken:?}");
    }
}

#[test]
fn what_a_client_lacks_is_found_out_once_in_a_run() {
    let stand_in = old_client(&["plain", "retry", "compact"], &without(&["--strict-mcp-config", "--max-turns"]));
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(stand_in.calls().len(), 2 + 3);
    assert_eq!(stand_in.show(COMPACT)["summarizer"], "claude");
}

#[test]
fn an_old_client_that_knows_little_still_gets_the_instructions_and_the_record() {
    let scenario = "for a in \"$@\"; do case \"$a\" in -p|--output-format|--model) ;; -*) echo \"error: unknown option '$a'\" >&2; exit 1;; esac; done; cat \"$here/good\"";
    let stand_in = old_client(&["plain"], scenario);
    // Such a client adds its own instructions and tools to every request.
    let ran = stand_in.recall(&["digest", "--max-cost", "5"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    has_the_models_digest(&stand_in);
    let call = stand_in.calls().pop().expect("a call");
    assert_eq!(call.arguments, ["-p", "--output-format", "json", "--model", "haiku"]);
    assert!(call.stdin.contains("Answer with one JSON object and nothing else"), "{}", call.stdin);
    assert!(call.record().0.contains("orders go missing"), "{}", call.stdin);
}

#[test]
fn without_a_client_everything_is_digested_and_waits_for_one() {
    let stand_in = StandIn::good(&["plain"]);
    let nowhere = stand_in.world.root().join("empty");
    let path = [("PATH", nowhere.to_str().expect("a UTF-8 path"))];
    let ran = stand_in.world.recall_with(["digest"], &path);
    assert_eq!(ran.code, 0, "having no model is no error: {ran:#?}");
    let status = stand_in.status();
    assert_eq!(
        (&status["digests"], &status["waiting_for_model"], &status["failing"]),
        (&json!(1), &json!(1), &json!([])),
        "{status:#}"
    );
    assert!(stand_in.reasons().contains("`claude` was not found on the PATH"), "{status:#}");
    assert!(stand_in.calls().is_empty());

    assert_eq!(stand_in.recall(&["digest"]).code, 0);
    has_the_models_digest(&stand_in);
}

#[test]
fn a_client_that_was_asked_for_and_is_not_there_is_an_error_that_the_run_survives() {
    let stand_in = StandIn::good(&["plain"]);
    let nowhere = stand_in.world.root().join("empty");
    let ran =
        stand_in.world.recall_with(["digest", "--summarizer", "claude"], &[("PATH", nowhere.to_str().expect("a UTF-8 path"))]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains("`claude` was not found on the PATH"), "{ran:#?}");
    assert_eq!(stand_in.status()["waiting_for_model"], 1);
}

#[test]
fn a_client_that_cannot_be_started_is_said_once() {
    let stand_in = StandIn::good(&["plain", "retry", "compact"]);
    stand_in.world.fake_claude("#!/no/such/interpreter\n");
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert_eq!(ran.err.matches("cannot run").count(), 1, "{ran:#?}");
    assert_eq!(stand_in.status()["waiting_for_model"], 3);
    assert_eq!(stand_in.status()["spent_usd"], 0.0, "nothing was bought");
}

#[test]
fn the_config_may_name_another_command() {
    let stand_in = StandIn::good(&["plain"]);
    let named = stand_in.world.root().join("my claude");
    std::fs::rename(stand_in.world.bin().join("claude"), &named).expect("another place");
    stand_in.world.configure(&format!("[digest]\nclaude = \"{}\"\n", named.display()));
    assert_eq!(stand_in.recall(&["digest"]).code, 0);
    has_the_models_digest(&stand_in);
}
