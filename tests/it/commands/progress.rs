//! Progress on a terminal: one line for each phase, no wider than the terminal, and nothing of it is left behind or within a message.

use crate::support::World;
use crate::support::answers::{at_terminal, on_stderr_terminal};
use crate::support::rows::{Rows, put};

/// Enough sessions for each phase to be drawn, and a settings file that is warned of.
fn world() -> World {
    let world = World::new();
    for n in 0..40 {
        let mut rows = Rows::new(n);
        rows.user(serde_json::json!(format!("Page the order list number {n} by key, the offset gets slow.")));
        rows.assistant(&"The order list is paged by key now. ".repeat(200));
        put(&world, &rows.id, &rows.text);
    }
    world
}

#[test]
fn each_phase_has_one_line_that_fits_and_is_gone_in_the_end() {
    for columns in [44, 80, 120] {
        let world = world();
        let screens = on_stderr_terminal(&world, (columns, 40), &["digest", "--summarizer", "extract", "--settle", "0s"]);
        let drawn = screens.iter().filter(|screen| !screen.trim().is_empty()).count();
        assert!(drawn > 0, "nothing is shown");
        for screen in &screens {
            // A line that wrapped, or was left behind, is a second one.
            let lines = screen.lines().filter(|line| line.contains(" of ") || line.contains("comparing")).count();
            assert!(lines <= 1, "{columns} columns:\n{screen}");
            assert!(!screen.contains(" 0s left"), "{screen}");
        }
        assert_eq!(screens.last().map(|screen| screen.trim()), Some(""), "what is left");
    }
}

#[test]
fn a_message_stands_on_a_line_of_its_own() {
    let world = world();
    world.transcript("-home-dev-src-shop/locked.jsonl", "");
    let file = world.claude_dir().join("projects/-home-dev-src-shop/locked.jsonl");
    std::fs::remove_file(&file).expect("a file");
    std::fs::create_dir(&file).expect("a folder where a transcript was");
    std::fs::write(world.root().join("unused"), "").expect("a file");
    let screens = on_stderr_terminal(&world, (80, 40), &["digest", "--summarizer", "claude", "--settle", "0s"]);
    let last = screens.last().expect("a screen");
    assert!(last.contains("recall: "), "{last}");
    for line in last.lines().filter(|line| !line.trim().is_empty()) {
        assert!(line.starts_with("recall: ") || !line.contains("recall: "), "{last}");
        assert!(!line.contains('█') && !line.contains('░'), "{last}");
    }
}

#[test]
fn messages_are_wrapped_on_a_terminal_and_stay_one_line_elsewhere() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let answered = at_terminal(&world, world.root(), &["show", "last"]);
    let lines: Vec<&str> = answered.shown.lines().map(|line| line.trim_end_matches('\r')).collect();
    assert_eq!(
        lines[..2],
        ["recall: this folder has no sessions, so `last` means a session of", "  /home/dev/src/shop"],
        "{lines:#?}"
    );
    let piped = world.recall(["show", "last"]).err;
    assert_eq!(piped, format!("{} {}\n", lines[0], lines[1].trim_start()));
}
