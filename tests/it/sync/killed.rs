//! An exchange that is killed at a bad moment: what is said and done before the next one is neither lost nor undone by it.

use std::path::Path;

use serde_json::json;

use super::{EXTRACT, Machine, digested, machines, session, settle};
use crate::support::files_below;
use crate::support::rows::put;

/// An exchange that dies at a failpoint.
fn killed(machine: &Machine, at: &str) {
    let ran = machine.world.recall_with(["sync"], &[("RECALL_KILL_AT", &format!("{at}:1"))]);
    assert_eq!(ran.code, -1, "it passes `{at}`: {ran:#?}");
}

/// Two machines that share a note, which the first one said.
fn with_note(share: &Path) -> ([Machine; 2], String) {
    let [laptop, tower] = machines(share, ["laptop", "tower"]);
    laptop.remember(&["--everywhere", "The port is 8080"]);
    settle(&[&laptop, &tower]);
    let id = tower
        .world
        .recall(["export"])
        .out
        .lines()
        .skip(1)
        .find_map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["note"].as_str().map(str::to_owned))
        .unwrap();
    ([laptop, tower], id)
}

/// Each point of an exchange behind which something is kept.
const POINTS: [&str; 5] = ["own words kept", "heard", "told", "exchange counted", "exchange kept"];

#[test]
fn a_session_that_goes_on_after_a_kill_comes_over_as_it_is() {
    for point in POINTS {
        let share = tempfile::tempdir().unwrap();
        let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
        digested(&laptop, 1, "lantern");
        settle(&[&laptop, &tower]);
        let mut rows = session(1, "lantern");
        for (n, word) in ["chandelier", "candle"].into_iter().enumerate() {
            rows.user(json!(format!("And the {word}?")));
            rows.assistant(&format!("The {word} hangs again."));
            put(&laptop.world, &rows.id, &rows.text);
            laptop.world.recall(["digest", "--ingest-only"]);
            if n == 0 {
                laptop.world.recall_with(["digest"].iter().chain(&EXTRACT), &[("RECALL_KILL_AT", &format!("{point}:1"))]);
                tower.exchange();
            } else {
                laptop.world.digest(&EXTRACT);
            }
        }
        settle(&[&laptop, &tower]);
        assert!(tower.pages().iter().any(|(_, text)| text.contains("The candle hangs again.")), "{point}");
        assert_eq!(tower.pages(), laptop.pages(), "{point}");
    }
}

#[test]
fn a_page_that_was_half_written_does_not_stay() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    digested(&laptop, 1, "lantern");
    laptop.exchange();
    killed(&tower, "page replaced");
    let page = files_below(&tower.world.daily()).pop().unwrap();
    let half = page.with_file_name(".recall-tmp-0123456789ab");
    std::fs::write(&half, "half a page").unwrap();
    tower.exchange();
    tower.world.digest(&EXTRACT);
    assert!(!half.exists() && tower.pages() == laptop.pages(), "{:?}", tower.pages());
}

#[test]
fn pages_follow_what_a_killed_exchange_had_heard() {
    let share = tempfile::tempdir().unwrap();
    let ([laptop, tower], id) = with_note(share.path());
    tower.world.digest(&EXTRACT);
    let on_a_page = || tower.world.pages().iter().any(|(_, page)| page.contains("The port is 8080"));
    assert!(on_a_page());
    assert_eq!(laptop.world.recall(["forget", "--note", &id, "--yes"]).code, 0);
    laptop.exchange();
    killed(&tower, "heard");
    tower.exchange();
    assert!(!on_a_page(), "{:?}", tower.pages());
}

#[test]
fn a_note_that_is_forgotten_elsewhere_does_not_come_back_from_a_page_of_a_killed_exchange() {
    // Killed before anything else is done with the new index, and after an index was lost.
    for (loses, next) in [(false, "digest"), (true, "digest"), (false, "sync"), (true, "sync")] {
        let share = tempfile::tempdir().unwrap();
        let ([laptop, tower], id) = with_note(share.path());
        if loses {
            tower.world.digest(&EXTRACT);
            tower.world.lose_index();
            tower.exchange();
        }
        assert!(tower.world.pages().iter().any(|(_, page)| page.contains("The port is 8080")));
        assert_eq!(laptop.world.recall(["forget", "--note", &id, "--yes"]).code, 0);
        laptop.exchange();
        killed(&tower, "heard");
        tower.world.recall([next]);
        settle(&[&laptop, &tower]);
        tower.world.recall(["digest"].iter().chain(&EXTRACT));
        settle(&[&laptop, &tower]);
        assert_eq!((tower.notes(), laptop.notes()), (Vec::new(), Vec::new()), "{loses} {next}");
        assert!(tower.world.pages().iter().all(|(_, page)| !page.contains("The port is 8080")), "{:?}", tower.pages());
    }
}

#[test]
fn pages_and_search_follow_a_session_that_a_killed_exchange_had_heard_of() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    digested(&laptop, 1, "lantern");
    laptop.exchange();
    killed(&tower, "heard");
    tower.exchange();
    assert!(!tower.pages().is_empty());
    assert!(tower.world.recall(["search", "lantern"]).out.contains("00000001"));
}

#[test]
fn what_is_said_after_a_kill_stands() {
    for point in POINTS {
        let share = tempfile::tempdir().unwrap();
        let ([laptop, tower], id) = with_note(share.path());
        // The first to tell of it, and who heard of it.
        for (n, machine) in [&laptop, &tower].into_iter().enumerate() {
            let before = format!("The port is {n}8081");
            machine.remember(&["--edit", &id, &before]);
            killed(machine, point);
            let text = format!("The port is {n}9090");
            machine.remember(&["--edit", &id, &text]);
            settle(&[&laptop, &tower]);
            for machine in [&laptop, &tower] {
                assert_eq!(machine.notes(), [(text.clone(), false)], "{point}");
            }
        }
    }
}

#[test]
fn what_a_killed_exchange_heard_is_not_said_again_over_a_later_word() {
    for point in POINTS {
        let share = tempfile::tempdir().unwrap();
        let ([laptop, tower], id) = with_note(share.path());
        for (one, other) in [(&laptop, &tower), (&tower, &laptop)] {
            one.remember(&["--edit", &id, "The port is 7070"]);
            one.exchange();
            killed(other, point);
            one.remember(&["--edit", &id, "The port is 9090"]);
            settle(&[one, other]);
            for machine in [one, other] {
                assert_eq!(machine.notes(), [("The port is 9090".to_owned(), false)], "{point}");
            }
        }
    }
}

#[test]
fn pages_of_what_a_killed_exchange_heard_are_written_by_the_next() {
    for point in POINTS {
        let share = tempfile::tempdir().unwrap();
        let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
        digested(&laptop, 1, "lantern");
        killed(&tower, point);
        tower.exchange();
        assert_eq!(tower.pages(), laptop.pages(), "{point}");
    }
}

#[test]
fn a_session_that_a_killed_exchange_heard_goes_if_its_machine_withdraws_it_before_the_next() {
    for point in POINTS {
        let share = tempfile::tempdir().unwrap();
        let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
        digested(&laptop, 1, "lantern");
        killed(&tower, point);
        assert_eq!(laptop.sync(&["remove", share.path().to_str().unwrap()]).code, 0);
        tower.exchange();
        assert!(tower.ids().is_empty(), "{point}");
        assert!(tower.pages().is_empty(), "{point}");
    }
}
