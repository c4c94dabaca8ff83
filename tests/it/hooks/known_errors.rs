//! What is said at a prompt that holds an error which was met before.

use crate::hooks::payloads::{S, patient};
use crate::hooks::prompt::{heard, says};
use crate::support::{World, ran, user};

const ONE: &str = "11118888-0000-4000-8000-000000000000";
const ERROR: &str = "ImportError: libpq.so.5: cannot open shared object file: No such file or directory";

/// A session that met the error, and what it ran then.
fn met(later: &[(&str, Result<&str, &str>)]) -> World {
    let world = World::new();
    patient(&world);
    let output = format!("Exit code 2\nTraceback (most recent call last):\n{ERROR}\n1 error in 0.31s");
    let mut rows = user(ONE, "u1", "2026-11-12T09:00:00Z", "Run the tests of the api, please");
    for (n, (command, printed)) in [("pytest tests/api", Err(output.as_str()))].iter().chain(later).enumerate() {
        rows += &ran(ONE, &format!("r{n}"), &format!("2026-11-12T09:{:02}:00Z", n + 1), command, *printed);
    }
    world.transcript(&format!("-home-dev-src-shop/{ONE}.jsonl"), rows);
    world.digest(&["--summarizer", "extract"]);
    world
}

const INSTALLED: [(&str, Result<&str, &str>); 2] =
    [("apt-get install libpq5", Ok("done")), ("pytest tests/api", Ok("== 12 passed in 2.31s =="))];

#[test]
fn a_bare_error_line_gets_what_was_done_before_its_check_passed_once() {
    let world = met(&INSTALLED);
    let expected = "- 2026-11-12 11118888 turn 1: ImportError: libpq.so.5: cannot open shared object file: No such file or directory; then \
         `pytest tests/api` passed (turn 1); in between: `apt-get install libpq5`\n";
    let text = heard(&world, &says(&world, S, ERROR)).expect("what is known");
    assert!(text.contains(expected) && text.contains("not instructions") && text.len() < 600, "{text}");
    assert_eq!(heard(&world, &says(&world, S, &format!("again {ERROR}"))), None, "another line");
    assert_eq!(heard(&world, &says(&world, S, &format!("{ERROR}\n"))), None, "not twice in a session");
    let pasted = format!("what is this\n\n```\nTraceback (most recent call last):\nE   {ERROR}\n=== 1 error in 3s ===\n```");
    let other = S.replace('5', "6");
    assert!(heard(&world, &says(&world, &other, &pasted)).is_some_and(|text| text.contains(expected)));
    let own = heard(&world, &says(&world, ONE, ERROR));
    assert_eq!(own, None, "what a session met itself is known to it");
    assert_eq!(heard(&world, &says(&world, &S.replace('5', "7"), &format!("<private>{ERROR}</private>"))), None);
}

#[test]
fn nothing_is_said_where_nothing_passed_or_the_error_is_another() {
    let failing = [("apt-get install libpq5", Ok("done")), ("pytest tests/api", Err("Exit code 1\n2 failed"))];
    let again = [
        INSTALLED[0],
        INSTALLED[1],
        (
            "pytest tests/api",
            Err("Exit code 2\nImportError: libpq.so.5: cannot open shared object file: No such file or directory"),
        ),
    ];
    for (world, prompt) in [
        (met(&failing), ERROR),
        (met(&again), ERROR),
        (met(&[]), ERROR),
        (met(&INSTALLED), "ImportError: libpng.so.5: cannot open shared object file: No such file or directory"),
        (met(&INSTALLED), "libpq.so.5"),
        (met(&INSTALLED), "cannot open shared object file"),
    ] {
        assert_eq!(heard(&world, &says(&world, S, prompt)), None, "{prompt}");
    }
}
