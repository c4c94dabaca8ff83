//! Whatever the client does, a run ends, and none of the client's processes outlives it.

use crate::summarizer::failures::{has_the_models_digest, waits_with_an_extractive_digest};
use crate::support::stand_in::{COST, PLAIN, StandIn, eventually, form, is_alive, report};
use crate::support::timeout::at_once;

/// Two helpers that go on for longer than the tests wait for a run; `$call/pids` names them and the script.
const HELPERS: &str = "sleep 3000 & echo $! >> \"$call/pids\"; sleep 3000 & echo $! >> \"$call/pids\"; echo $$ >> \"$call/pids\"";
/// Long enough for the script to start its helpers on a busy machine.
const SHORT: &str = "[digest]\ntimeout_seconds = 3\n";

fn pids(stand_in: &StandIn) -> Vec<String> {
    let listed = stand_in.left_in_call(1, "pids").expect("the script started its helpers");
    listed.lines().map(str::to_owned).collect()
}

fn nothing_is_left(stand_in: &StandIn) {
    let pids = pids(stand_in);
    assert_eq!(pids.len(), 3, "{pids:?}");
    for pid in pids {
        eventually(&format!("process {pid} is gone"), || !is_alive(&pid));
    }
}

#[test]
fn a_client_that_stays_for_too_long_is_killed_with_all_its_processes() {
    at_once(&[one_that_hangs, one_that_hears_no_signal, one_that_closes_its_output], |stays| stays());
}

fn one_that_hangs() {
    let stand_in = StandIn::new(&["plain"], &format!("{HELPERS}; wait"));
    stand_in.world.configure(SHORT);
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    nothing_is_left(&stand_in);
    waits_with_an_extractive_digest(&stand_in, "took longer than 3 s and was killed");
    stand_in.now_answers_well();
    assert_eq!(stand_in.recall(&["digest"]).code, 0);
    has_the_models_digest(&stand_in);
}

fn one_that_hears_no_signal() {
    let stand_in = StandIn::new(&["plain"], &format!("trap '' TERM INT HUP; {HELPERS}; while :; do wait; done"));
    stand_in.world.configure(SHORT);
    assert_eq!(stand_in.recall(&["digest"]).code, 1);
    nothing_is_left(&stand_in);
}

fn one_that_closes_its_output() {
    let stand_in = StandIn::new(&["plain"], &format!("exec >/dev/null 2>&1; {HELPERS}; wait"));
    stand_in.world.configure(SHORT);
    assert_eq!(stand_in.recall(&["digest"]).code, 1);
    nothing_is_left(&stand_in);
    waits_with_an_extractive_digest(&stand_in, "took longer than 3 s");
}

#[test]
fn processes_that_a_client_leaves_behind_after_a_good_answer_go_too() {
    let helpers = HELPERS.replace("sleep 3000 &", "sleep 3000 >/dev/null 2>&1 &");
    let stand_in = StandIn::new(&["plain"], &format!("{helpers}; cat \"$here/good\"")).with("good", &report(&form(), COST));
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    has_the_models_digest(&stand_in);
    nothing_is_left(&stand_in);
}

#[test]
fn a_process_left_behind_that_holds_the_output_open_does_not_cost_the_answer() {
    let stand_in = StandIn::new(&["plain"], &format!("{HELPERS}; cat \"$here/good\"")).with("good", &report(&form(), COST));
    stand_in.world.configure("[digest]\ntimeout_seconds = 20\n");
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    has_the_models_digest(&stand_in);
    nothing_is_left(&stand_in);
}

#[test]
fn a_stopped_run_takes_its_client_with_it_and_the_next_one_goes_on() {
    let stand_in = StandIn::new(&["plain"], &format!("{HELPERS}; echo ready > \"$call/ready\"; wait"));
    let mut run = stand_in.world.process().arg("digest").spawn().expect("recall starts");
    eventually("the client is at work", || stand_in.left_in_call(1, "ready").is_some());
    let sent = std::process::Command::new("kill").args(["-INT", &run.id().to_string()]).status().expect("kill starts");
    assert!(sent.success());
    let ended = run.wait().expect("recall ends");
    assert_eq!(ended.code(), Some(1), "something was left undone");
    nothing_is_left(&stand_in);

    stand_in.now_answers_well();
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(stand_in.show(PLAIN)["summarizer"], "claude");
}

#[test]
fn two_calls_are_under_way_at_once_and_no_more() {
    // The third call counts after the second, which waits for it.
    let until_counted = |n: u32, other: u32| {
        format!(
            "tries=0; while [ $n = {n} ] && [ ! -s \"$here/calls/{other}/at_once\" ] && [ $tries -lt 1200 ]; do tries=$((tries + 1)); sleep 0.05; done"
        )
    };
    let (second, third) = (until_counted(2, 3), until_counted(3, 2));
    let count = "touch \"$here/running.$n\"; ls \"$here\" | grep -c running > \"$call/at_once\"";
    let scenario = format!("{third}; {count}; {second}; rm \"$here/running.$n\"; cat \"$here/good\"");
    let stand_in =
        StandIn::new(&["plain", "retry", "compact", "subagent", "hooks", "clear"], &scenario).with("good", &report(&form(), COST));
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let calls = stand_in.calls().len();
    assert_eq!(calls, 7);
    let at_once: Vec<String> =
        (1..=calls).filter_map(|n| stand_in.left_in_call(n, "at_once")).map(|s| s.trim().to_owned()).collect();
    assert_eq!(
        (at_once.iter().min().map(String::as_str), at_once.iter().max().map(String::as_str)),
        (Some("1"), Some("2")),
        "{at_once:?}"
    );
}
