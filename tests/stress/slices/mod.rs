//! A growing file, cut anywhere, comes to the same pages and rows as the whole file read at once: a digest is made from the whole
//! stored session, and ids and dates come from the session, never from the run.

mod agents;
pub mod feeding;
pub mod sessions;

use crate::support::size::{is_whole, runs};
use crate::support::{assistant, tasks, user};
use feeding::{Outcome, assert_equal, sliced, ten_steps, whole, world, write};
use proptest::prelude::*;
use sessions::{CLAUDE, EXTRACT, FIXTURES, Files, large, recorded, synthetic};

fn everything() -> Files {
    recorded(&FIXTURES).into_iter().chain(synthetic()).collect()
}

#[test]
fn ten_slices_make_the_pages_and_rows_of_one_run_without_a_model() {
    let files = everything();
    assert_equal(&whole(&files, EXTRACT), &sliced(&files, &ten_steps(&files), EXTRACT));
}

#[test]
fn ten_slices_make_the_pages_and_rows_of_one_run_with_a_model() {
    let files = everything();
    let one = whole(&files, CLAUDE);
    assert!(one.pages.iter().any(|(_, p)| p.contains("summarizer: claude")), "the stand-in was asked: {one:#?}");
    assert_equal(&one, &sliced(&files, &ten_steps(&files), CLAUDE));
}

#[test]
fn a_cut_between_any_two_bytes_of_a_line_end_changes_nothing() {
    let files: Files = synthetic().into_iter().skip(1).take(1).collect();
    let one = whole(&files, EXTRACT);
    let bytes = &files[0].1;
    let ends = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n' || **b == b'\r').map(|(at, _)| at);
    let cuts: Vec<usize> = ends.flat_map(|at| [at, at + 1]).collect();
    // All of them, or every third: now before a line's end, now behind it.
    for cut in cuts.into_iter().step_by(if is_whole() { 1 } else { 3 }) {
        let world = world(EXTRACT);
        for there in [cut, bytes.len()] {
            write(&world, &files[0].0, &bytes[..there]);
            world.digest(EXTRACT);
        }
        assert_equal(&one, &Outcome::of(&world));
    }
}

#[test]
fn sessions_that_come_in_any_order_make_the_same_pages() {
    let files = synthetic();
    let one = whole(&files, CLAUDE);
    for order in [[3, 2, 1, 0], [1, 0, 3, 2], [2, 0, 1, 3]] {
        let mut there = vec![0; files.len()];
        let steps: Vec<Vec<usize>> = order
            .iter()
            .map(|file| {
                there[*file] = 1000;
                there.clone()
            })
            .collect();
        assert_equal(&one, &sliced(&files, &steps, CLAUDE));
    }
}

#[test]
fn a_session_that_tells_its_folder_late_is_still_one_with_its_project() {
    let mut files = synthetic();
    let a = "aaaa0000-1111-4111-8111-000000000001";
    let open = user(a, "00000000-0000-4000-8000-0000000000a1", "2026-11-20T08:00:00Z", "Make the import faster.")
        + &tasks(a, "00000000-0000-4000-8000-0000000000a4", "2026-11-20T08:04:00Z", &["Add a test for the currency cache"])
        + &assistant(a, "00000000-0000-4000-8000-0000000000a2", "2026-11-20T08:05:00Z", "I cached the rates.");
    let homeless = open.replace(r#""cwd":"/home/dev/src/shop","#, "");
    let whole_file = homeless.clone() + &user(a, "00000000-0000-4000-8000-0000000000a3", "2026-11-20T08:06:00Z", "Thanks.");
    files[0].1 = whole_file.clone().into_bytes();
    let at_first = (homeless.len() * 1000).div_ceil(whole_file.len());
    let steps = [vec![at_first, 1000, 1000, 1000], vec![1000; 4]];
    // Without a model: thanks change nothing of what the session left open.
    let one = whole(&files, EXTRACT);
    assert!(one.rows.iter().any(|r| r.starts_with("closed")), "a later session closed what it left open: {:#?}", one.rows);
    assert_equal(&one, &sliced(&files, &steps, EXTRACT));
}

#[test]
fn a_session_whose_rows_lie_in_two_files_is_the_same_in_whichever_order_they_are_read() {
    let id = "dddd0000-1111-4111-8111-000000000004";
    let at = |minute: u32| format!("2026-11-20T10:{minute:02}:00Z");
    let row = |n: u32| match n % 2 {
        0 => user(id, &format!("00000000-0000-4000-8000-0000000000d{n}"), &at(n), &format!("Question {n}: why is it slow?")),
        _ => assistant(
            id,
            &format!("00000000-0000-4000-8000-0000000000d{n}"),
            &at(n),
            &format!("Answer {n}: because the rates are read for every row."),
        ),
    };
    let rows = |numbers: &[u32]| numbers.iter().map(|n| row(*n)).collect::<String>().into_bytes();
    // The second began as a copy of the first and then went on by itself, a row short of what the first has.
    let files: Files = vec![
        (format!("projects/-home-dev-src-shop/{id}.jsonl").into(), rows(&[0, 1, 2, 3, 4, 5])),
        (format!("projects/-home-dev-src-shop-worktree/{id}.jsonl").into(), rows(&[2, 3, 4, 6, 7])),
    ];
    let one = whole(&files, EXTRACT);
    assert!(one.pages.iter().any(|(_, page)| page.contains("Question 6") && page.contains("Question 0")), "{one:#?}");
    for first in [vec![1000, 0], vec![0, 1000], vec![500, 1000], vec![1000, 300]] {
        let other = sliced(&files, &[first, vec![1000, 1000]], EXTRACT);
        assert_eq!(one.pages, other.pages);
    }
}

#[test]
fn files_larger_than_a_transaction_and_any_number_of_threads_make_the_same_rows() {
    let files: Files = everything().into_iter().chain(large()).collect();
    let one = whole(&files, &["--summarizer", "extract", "--jobs", "1"]);
    assert!(files.last().unwrap().1.len() > 9 << 20, "more than one transaction");
    assert!(one.pages.iter().any(|(_, page)| page.contains("· 100 prompts ·")));
    assert_equal(&one, &whole(&files, &["--summarizer", "extract", "--jobs", "8"]));
    assert_equal(&one, &sliced(&files, &ten_steps(&files)[7..], EXTRACT));
}

fn steps_of(count: usize) -> impl Strategy<Value = Vec<Vec<usize>>> {
    let file = prop::collection::vec(0usize..=1000, 4).prop_map(|mut cuts| {
        cuts.sort_unstable();
        cuts.push(1000);
        cuts
    });
    prop::collection::vec(file, count).prop_map(|files| (0..5).map(|step| files.iter().map(|cuts| cuts[step]).collect()).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: runs(2, 6), failure_persistence: None, max_shrink_iters: 12, ..ProptestConfig::default() })]

    #[test]
    fn any_cuts_make_the_pages_and_rows_of_one_run(steps in steps_of(recorded(&["fork", "clear", "subagent"]).len() + 4), model in any::<bool>()) {
        let files: Files = recorded(&["fork", "clear", "subagent"]).into_iter().chain(synthetic()).collect();
        let arguments = if model { CLAUDE } else { EXTRACT };
        assert_equal(&whole(&files, arguments), &sliced(&files, &steps, arguments));
    }
}
