//! What the model is given of a session: how things stood at the end, and nothing that something later says again.

use serde_json::json;

use crate::support::rows::{Rows, bash, put};
use crate::support::stand_in::StandIn;

/// The only request for these sessions: instructions and record.
fn request(sessions: &[&Rows]) -> (String, String) {
    let stand_in = StandIn::good(&[]);
    for rows in sessions {
        put(&stand_in.world, &rows.id, &rows.text);
    }
    stand_in.recall(&["digest", "--summarizer", "claude"]);
    let call = stand_in.only_call();
    (call.value("--system-prompt").expect("instructions").to_owned(), call.stdin)
}

fn line<'t>(record: &'t str, words: &str) -> &'t str {
    let mut all = record.lines().filter(|line| line.contains(words));
    let found = all.next().unwrap_or_else(|| panic!("no line holds {words}:\n{record}"));
    assert_eq!(all.next(), None, "{words}");
    found
}

fn runs(rows: &mut Rows, tool: usize, command: &str, printed: &str, failed: bool) {
    rows.uses(tool, &bash(command));
    rows.result(tool, printed, failed);
}

#[test]
fn the_last_run_of_a_check_says_that_it_is_the_last_and_whether_files_changed_since() {
    let mut rows = Rows::new(1);
    rows.user(json!("Mend the order list."));
    runs(&mut rows, 1, "pytest tests/orders", "2 failed, 10 passed in 3.1s", true);
    rows.uses(
        2,
        &json!({"name": "Edit", "input": {"file_path": "/home/dev/src/shop/shop/db.py", "old_string": "a", "new_string": "b"}}),
    );
    rows.result(2, "The file has been updated.", false);
    runs(&mut rows, 3, "pytest tests/orders", "12 passed in 3.2s", false);
    rows.assistant("The order list works.");
    let (system, record) = request(&[&rows]);
    assert!(line(&record, "12 passed").ends_with("; its last run"), "{record}");
    assert!(!line(&record, "2 failed").contains("last run"), "{record}");
    assert!(system.contains("only if the line that says \"its last run\" shows it"), "{system}");

    rows.uses(
        4,
        &json!({"name": "Edit", "input": {"file_path": "/home/dev/src/shop/shop/db.py", "old_string": "b", "new_string": "c"}}),
    );
    rows.result(4, "The file has been updated.", false);
    rows.assistant("And tidied it.");
    let (_, record) = request(&[&rows]);
    assert!(line(&record, "12 passed").ends_with("; its last run, files were edited after it"), "{record}");
}

#[test]
fn commits_and_last_runs_have_room_before_what_was_merely_said() {
    let mut rows = Rows::new(1);
    rows.user(json!("Go through the list."));
    for n in 0..60 {
        rows.assistant(&format!(
            "The root cause of case {n} was the lock{n} of part{n}, which the worker{n} held. Decision: drop lock{n}."
        ));
    }
    runs(
        &mut rows,
        1,
        "git commit -qam 'Take the brass lock out'",
        "[main abc1234] Take the brass lock out\n 1 file changed",
        false,
    );
    runs(&mut rows, 2, "pytest tests/brass", "7 passed in 1.0s", false);
    for n in 60..120 {
        rows.assistant(&format!(
            "The root cause of case {n} was the lock{n} of part{n}, which the worker{n} held. Decision: drop lock{n}."
        ));
    }
    rows.user(json!("Good."));
    rows.assistant("All is done.");
    let stand_in = StandIn::good(&[]);
    stand_in.world.configure("[digest]\ninput_chars = 2000\n");
    put(&stand_in.world, &rows.id, &rows.text);
    stand_in.recall(&["digest", "--summarizer", "claude"]);
    let record = stand_in.only_call().stdin;
    line(&record, "Take the brass lock out");
    line(&record, "7 passed");
}

#[test]
fn a_recap_of_work_that_went_on_is_left_out_and_one_that_begins_or_ends_it_stays() {
    let recap = |words: &str| {
        json!({"type": "user", "isCompactSummary": true, "message": {"role": "user", "content":
            format!("This session is being continued from a previous conversation that ran out of context. Summary: {words}")}})
    };
    let mut rows = Rows::new(1);
    rows.row(recap("The heron stood before."));
    rows.user(json!("Mend the order list."));
    rows.assistant("The cursor was wrong.");
    rows.row(recap("The magpie lay between."));
    rows.user(json!("Now the export."));
    rows.assistant("The export streams.");
    rows.row(recap("The plover came last."));
    let (_, record) = request(&[&rows]);
    assert!(record.contains("heron") && record.contains("plover") && !record.contains("magpie"), "{record}");
}

#[test]
fn a_plan_that_was_written_again_is_told_once() {
    let plan = |tail: &str| {
        let text = format!(
            "# Move the export\n\n- read the rows by keyset, a thousand at a time\n- write them through the gzip stream\n- {tail}"
        );
        json!({"name": "ExitPlanMode", "input": {"plan": text}})
    };
    let mut rows = Rows::new(1);
    rows.user(json!("Plan the export."));
    rows.uses(1, &plan("keep the old path for a week, because partners read it"));
    rows.result(1, "User has approved your plan. You can now start coding.", false);
    rows.user(json!("Plan it once more, without the old path."));
    rows.uses(2, &plan("take the old path out at once, because nobody reads it"));
    rows.result(2, "User has approved your plan. You can now start coding.", false);
    rows.assistant("The plan stands.");
    let (_, record) = request(&[&rows]);
    assert!(record.contains("plan, written again later: Move the export"), "{record}");
    assert!(!record.contains("for a week") && record.contains("at once"), "{record}");
    line(&record, "through the gzip stream");
}

#[test]
fn a_short_session_is_put_into_fewer_words() {
    let mut rows = Rows::new(1);
    rows.user(json!("Mend the order list."));
    rows.assistant("The cursor was wrong.");
    assert!(request(&[&rows]).0.contains("50 to 120 words in all"));
    for n in 0..80 {
        rows.assistant(&format!(
            "The root cause of case {n} was the lock{n} of part{n}, which the worker{n} held for the queue{n}."
        ));
    }
    assert!(request(&[&rows]).0.contains("200 to 300 words in all"));
}
