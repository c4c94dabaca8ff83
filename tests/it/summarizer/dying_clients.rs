//! Clients that die, hang, or deal strangely with their pipes. The run ends, every session has a digest, what came whole counts.
//!
//! Who hangs here does so for much longer than the tests wait for a run.

use serde_json::json;

use crate::summarizer::failures::has_the_models_digest;
use crate::summarizer::many_sessions::Many;
use crate::support::stand_in::{COST, StandIn, form, report};
use crate::support::timeout::at_once;
use crate::support::{assistant, user};

/// Signals that end a shell, by their names and numbers on every system.
const SIGNALS: [(&str, u8); 12] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ILL", 4),
    ("TRAP", 5),
    ("ABRT", 6),
    ("FPE", 8),
    ("KILL", 9),
    ("SEGV", 11),
    ("PIPE", 13),
    ("ALRM", 14),
    ("TERM", 15),
];

/// Has a shell die of a signal, also where the tests were started with that ignored, as what a script starts in its background is. A shell
/// cannot undo that; `env` can, where it knows the option.
const DIE: &str = r#"die() {
    env --default-signal=$1 true 2>/dev/null && exec env --default-signal=$1 sh -c "kill -$1 \$\$; sleep 60"
    kill -$1 $$
}
"#;

#[test]
fn every_signal_leaves_a_digest_and_the_reason() {
    let cases = SIGNALS.iter().enumerate().map(|(at, (name, _))| format!("{}) die {name}; sleep 60;;\n", at + 1));
    let many = Many::new(SIGNALS.len(), &format!("{DIE}case $q in\n{}esac", cases.collect::<String>()));
    // Who names the model has it asked on, whatever the runs before brought.
    let told = many.digest_all_by(&["digest", "--summarizer", "claude"]);
    for (at, (name, number)) in SIGNALS.iter().enumerate() {
        let reason = many.reason(at + 1);
        assert!(reason.contains(&format!("was killed by signal {number} without an answer")), "{name}: {reason}");
        assert_eq!(many.show(at + 1)["summarizer"], "extract", "{name}");
    }
    // Three in a row end the model's part of a run.
    assert_eq!(told.matches("3 calls in a row without an answer: going on without the model").count(), SIGNALS.len() / 3, "{told}");
    assert_eq!(many.asked(), [1; SIGNALS.len()]);
}

#[test]
fn every_signal_after_half_an_answer_or_a_whole_one() {
    let count = SIGNALS.len();
    let half = SIGNALS.iter().enumerate().map(|(at, (name, _))| {
        format!("{}) head -c 300 \"$here/good\"; die {name};;\n{}) cat \"$here/good\"; die {name};;\n", at + 1, at + 1 + count)
    });
    let many = Many::new(2 * count, &format!("{DIE}case $q in\n{}esac", half.collect::<String>()));
    many.stand_in.put("good", &report(&form(), COST));
    many.digest_all();
    for (at, (name, number)) in SIGNALS.iter().enumerate() {
        let reason = many.reason(at + 1);
        assert!(reason.contains("did not print JSON") && reason.contains(&format!("signal {number}")), "{name}: {reason}");
        assert_eq!(many.show(at + 1 + count)["summarizer"], "claude", "{name}: what came whole counts");
    }
}

#[test]
fn a_client_that_hangs_does_not_hang_a_run_session_after_session() {
    let many = Many::new(40, "sleep 3000");
    many.configure("timeout_seconds = 1\n");
    let ran = many.stand_in.recall(&["digest"]);
    assert_eq!((ran.code, many.stand_in.calls().len()), (1, 3), "{ran:#?}");
    let status = many.stand_in.status();
    assert_eq!((&status["digests"], &status["waiting_for_model"]), (&json!(40), &json!(40)), "{status:#}");
    assert_eq!(many.stand_in.world.count("SELECT count(*) FROM spend WHERE actual_usd IS NULL"), 3, "each counts with its worst");
    many.stand_in.now_answers_well();
    assert_eq!(many.stand_in.recall(&["digest"]).code, 0);
    assert_eq!(many.stand_in.status()["waiting_for_model"], 0, "the next run goes on");
}

#[test]
fn a_client_that_stays_after_its_answer_has_answered() {
    let ways =
        ["sleep 3000", "exec >/dev/null 2>&1; sleep 3000", "trap '' TERM INT HUP; while :; do sleep 3000; done", "kill -STOP $$"];
    at_once(&ways, |stays| {
        let stand_in = StandIn::new(&["plain"], &format!("cat \"$here/good\"; {stays}"));
        stand_in.put("good", &report(&form(), COST));
        stand_in.world.configure("[digest]\ntimeout_seconds = 2\n");
        let ran = stand_in.recall(&["digest"]);
        assert_eq!(ran.code, 0, "{stays}: {ran:#?}");
        has_the_models_digest(&stand_in);
        assert_eq!(stand_in.status()["spent_usd"], COST, "{stays}: it told its price");
        stand_in.only_call();
    });
}

#[test]
fn a_process_that_left_the_group_and_holds_the_output_is_not_waited_for() {
    // What starts a session of its own cannot be found again; it must cost neither the answer nor the run.
    // It stays for as long as the test.
    let escape = "perl -e 'use POSIX; exit if fork; POSIX::setsid(); sleep 1 while -e $ARGV[0]' \"$here/good\"";
    let stand_in = StandIn::new(&["plain"], &format!("{escape}; cat \"$here/good\""));
    stand_in.put("good", &report(&form(), COST));
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    has_the_models_digest(&stand_in);
}

/// A session that is a lot to read.
fn long_session() -> StandIn {
    let stand_in = StandIn::new(&[], "");
    let id = "aaaaaaaa-0000-4000-8000-000000000001";
    let rows = (0..70).map(|n| {
        let at = format!("2026-11-19T10:{:02}:{:02}Z", n / 60, n % 60);
        let words: String = (0..85).map(|word| format!("word{n}x{word} ")).collect();
        user(id, &format!("aaaaaaaa-0000-4000-8000-0000001{n:05}"), &at, &format!("Question {n}: {words}"))
            + &assistant(id, &format!("aaaaaaaa-0000-4000-8000-0000002{n:05}"), &at, &format!("Because of {n}. {words}"))
    });
    stand_in.world.transcript(&format!("-home-dev-src-shop/{id}.jsonl"), rows.collect::<String>());
    stand_in.world.configure("[digest]\ninput_chars = 120000\ntimeout_seconds = 3\n");
    stand_in.put("good", &report(&form(), COST));
    stand_in
}

/// What a client does in place of reading its input, which is more than a pipe holds.
fn does_instead(script: &str) -> (StandIn, String) {
    let stand_in = long_session();
    let here = stand_in.world.root().join("stand-in");
    stand_in.world.fake_claude(&format!("#!/bin/sh\nhere='{}'\n{script}\n", here.display()));
    let ran = stand_in.recall(&["digest"]);
    assert!(ran.code < 2 && !ran.err.contains("panicked"), "{script}: {ran:#?}");
    let db = stand_in.world.database();
    let by: String = db.query_row("SELECT summarizer FROM digest WHERE superseded = 0", [], |r| r.get(0)).expect("a digest");
    let why: String = db.query_row("SELECT coalesce(skip, '') FROM session", [], |r| r.get(0)).expect("a session");
    (stand_in, if by == "claude" { by } else { why })
}

#[test]
fn the_request_is_more_than_a_pipe_holds() {
    let stand_in = long_session();
    stand_in.now_answers_well();
    assert_eq!(stand_in.recall(&["digest"]).code, 0);
    let given = stand_in.only_call().stdin.len();
    assert!(given > 75_000, "{given}");
}

#[test]
fn whatever_a_client_does_with_its_input_nobody_waits_for_ever() {
    let noise = "head -c 400000 /dev/zero | tr '\\0' 'x' >&2";
    let cases: &[(&str, &str)] = &[
        ("exit 0", "without an answer"),
        ("exit 7", "exited with 7"),
        ("exec 0<&-; cat \"$here/good\"", "claude"),
        ("cat \"$here/good\"", "claude"),
        ("head -c 1 >/dev/null; cat \"$here/good\"", "claude"),
        ("head -c 70000 >/dev/null; exec 0<&-; sleep 1; cat \"$here/good\"", "claude"),
        ("sleep 3000", "took longer than 3 s"),
        ("exec 0<&-; sleep 3000", "took longer than 3 s"),
        ("exec 1>&- 2>&-; sleep 3000", "took longer than 3 s"),
        ("exec 0<&- 1>&- 2>&-; sleep 3000", "took longer than 3 s"),
        ("kill -9 $$", "killed by signal 9"),
        ("head -c 300 \"$here/good\"; kill -9 $$", "did not print JSON"),
        // Both would wait for the other if one of them did not read while it writes.
        (&format!("{noise}; cat \"$here/good\"; cat >/dev/null"), "claude"),
        (&format!("{noise}; cat >/dev/null; cat \"$here/good\""), "claude"),
        // What stands around a report is none of it.
        ("cat; cat \"$here/good\"", "claude"),
        ("yes '          '", "printed more than 2 MiB"),
        ("cat \"$here/good\"; while :; do echo; sleep 0.2; done", "claude"),
    ];
    at_once(cases, |(script, what)| comes_to(script, what));
}

fn comes_to(script: &str, what: &str) {
    let (stand_in, came) = does_instead(script);
    let spent = stand_in.status()["spent_usd"].as_f64().expect("a sum");
    if what == "claude" {
        assert_eq!((came.as_str(), spent), (what, COST), "{script}");
    } else {
        assert!(came.contains(what), "{script}: {came}");
        assert!(spent > 0.02, "{script}: nobody knows what it cost: {spent}");
    }
}

#[test]
fn a_time_that_no_clock_can_tell_is_none() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.world.configure("[digest]\ntimeout_seconds = 9223372036854775807\n");
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    has_the_models_digest(&stand_in);
}
