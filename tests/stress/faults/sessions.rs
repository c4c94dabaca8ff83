//! Sessions beyond the fixtures: other projects, something private, one that goes on.

use std::fs;

use serde_json::json;

use crate::faults::paid_calls::Paid;
use crate::faults::scene::{FIXTURES, Scene};
use crate::support::{World, assistant, user};

/// A word that stands in one session only.
pub const WORD: &str = "kingfisher";

/// The session in which it stands.
pub const HOLDER: &str = "11111111-0000-4000-8000-000000000001";

/// The session that goes on between two runs.
pub const GROWS: &str = "11111111-0000-4000-8000-000000000002";

fn turn(session: &str, n: usize, project: &str, asked: &str, said: &str) -> String {
    let at = |second: usize| format!("2026-11-20T1{}:{:02}:{second:02}Z", n / 60, n % 60);
    // Of no other session: what is forgotten of one is forgotten under its keys.
    let key = |half: usize| format!("{}{}{half:04}{n:04}", &session[..24], &session[32..]);
    let rows = user(session, &key(1), &at(1), asked) + &assistant(session, &key(2), &at(9), said);
    rows.replace("/home/dev/src/shop", project)
}

/// Several short sessions of two more projects.
pub fn add(world: &World) {
    let of = |session: &str, project: &str, about: &str| {
        let asked = format!("Please fix {about}: the last test run failed and I want to know why before we release");
        let said = format!("I fixed {about} in src/lib.rs; all 12 tests pass. Next: look at the nightly job that still fails.");
        let closing =
            turn(session, 2, project, "Then write down what is left to do about it", "TODO: clean up the migration script.");
        turn(session, 1, project, &asked, &said) + &closing
    };
    let mill = |name: &str, text: String| world.transcript(&format!("-home-dev-src-mill/{name}.jsonl"), text);
    mill(HOLDER, of(HOLDER, "/home/dev/src/mill", &format!("the {WORD} parser")));
    mill(GROWS, of(GROWS, "/home/dev/src/mill", "the gear ratio"));
    let private = "11111111-0000-4000-8000-000000000003";
    let hidden = turn(private, 3, "/home/dev/src/mill", "<private>my salary is 1234</private>", "That stays between us.");
    mill(private, of(private, "/home/dev/src/mill", "the water wheel") + &hidden);
    let other = "11111111-0000-4000-8000-000000000004";
    world.transcript(&format!("-home-dev-src-tide/{other}.jsonl"), of(other, "/home/dev/src/tide", "the tide table"));
}

/// What a session gains between two runs.
pub fn grow(world: &World) {
    let path = format!("-home-dev-src-mill/{GROWS}.jsonl");
    let file = world.claude_dir().join("projects").join(&path);
    let mut text = fs::read_to_string(file).expect("the transcript");
    let asked = "And now the second gear: its teeth are counted wrongly as well, see the failing test";
    text += &turn(GROWS, 4, "/home/dev/src/mill", asked, "The second gear is counted rightly now; I changed src/gear.rs.");
    world.transcript(&path, text);
}

/// The first digest of a few projects, with the scripted `claude` where that is the summarizer.
pub fn first_run(summarizer: &str) -> (Scene, Option<Paid>) {
    let world = World::with_fixtures(&FIXTURES);
    add(&world);
    let paid = (summarizer == "claude").then(|| Paid::new(&world));
    (Scene::new(world, &["digest", "--summarizer", summarizer]).named(&format!("first digest, {summarizer}")), paid)
}

/// A digest when there was one before: a session has gone on and ended, with a mark that says so, another is new, and the user has
/// written something below a page.
pub fn later_run(summarizer: &str) -> (Scene, Option<Paid>) {
    let (first, paid) = first_run(summarizer);
    first.finish("the run before");
    let world = first.world;
    grow(&world);
    let new = "11111111-0000-4000-8000-000000000005";
    world.transcript(&format!("-home-dev-src-tide/{new}.jsonl"), turn(new, 5, "/home/dev/src/tide", NEW, "Done, in src/ebb.rs."));
    let transcript = world.claude_dir().join(format!("projects/-home-dev-src-mill/{GROWS}.jsonl"));
    let ended = json!({
        "session_id": GROWS, "transcript_path": transcript, "cwd": "/home/dev/src/mill", "hook_event_name": "SessionEnd", "reason": "other",
    });
    assert_eq!(world.hook("session-end", ended.to_string()).code, 0);
    assert_eq!(crate::support::files_below(&world.data_dir().join("marks/new")).len(), 1, "a mark");
    for (name, text) in world.pages().into_iter().filter(|(name, _)| name.contains(&GROWS[..8]) || !name.contains("sessions")) {
        fs::write(world.data_dir().join(name), text + "\n## Notes\n\nmine alone\n").expect("a note");
    }
    let args = first.args.iter().map(String::as_str).collect::<Vec<_>>();
    (Scene::new(world, &args).named(&format!("later digest, {summarizer}")), paid)
}

/// What a session is asked that is new.
const NEW: &str = "Please teach the tide table about the ebb, and say which ports it does not know";
