//! Hooks of many sessions while digests run: none fails, none hears of a lock, and no mark is lost.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use crate::scene::{assert_whole, begun, crowd, digesting, id, run, write};
use crate::support::{World, files_below};

const EVENTS: [(&str, &str); 3] =
    [("session-start", "SessionStart"), ("user-prompt-submit", "UserPromptSubmit"), ("session-end", "SessionEnd")];

/// What Claude Code tells the hooks of a session of its own.
fn payload(world: &World, event: &str, n: usize) -> String {
    let transcript = world.claude_dir().join(format!("projects/-home-dev-src-shop/{}.jsonl", id(n)));
    json!({
        "session_id": id(n), "transcript_path": transcript, "cwd": "/home/dev/src/shop", "hook_event_name": event,
        "permission_mode": "default", "source": "startup", "reason": "clear",
        "prompt": format!("Why did we decide to keep the rates of crowd{}?", n % 5),
    })
    .to_string()
}

/// Runs a hook; returns whether it had something to say.
fn fires(world: &World, n: usize, (event, name): (&str, &str)) -> bool {
    let ran = run(world, &["hook", event], &payload(world, name, n));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{event}: {ran:#?}");
    if !ran.out.is_empty() {
        let answer: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
        assert_eq!(answer["hookSpecificOutput"]["hookEventName"], name, "{answer:#}");
        assert!(answer["hookSpecificOutput"]["additionalContext"].as_str().is_some_and(|text| !text.is_empty()), "{answer:#}");
    }
    !ran.out.is_empty()
}

#[test]
fn fifty_hooks_beside_digests_are_all_answered_and_lose_no_mark() {
    let world = begun(5);
    let over = AtomicBool::new(false);
    let hooks = 50 * crowd();
    let (ended, told) = (std::sync::atomic::AtomicUsize::new(0), std::sync::atomic::AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let _going = digesting(scope, &world, &over);
        std::thread::scope(|crowd| {
            for lane in 0..10 {
                let (world, ended, told) = (&world, &ended, &told);
                crowd.spawn(move || {
                    for n in (lane..hooks).step_by(10) {
                        let (session, event) = (10_000 + n, EVENTS[n % 3]);
                        if event.0 == "session-end" {
                            write(world, session, 2);
                            ended.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        }
                        told.fetch_add(usize::from(fires(world, session, event)), std::sync::atomic::Ordering::SeqCst);
                    }
                });
            }
        });
    });
    let log = std::fs::read_to_string(world.data_dir().join("hooks.log")).unwrap_or_default();
    assert_eq!(log, "", "no hook complained, and none was too late");
    assert!(told.into_inner() > 0, "they had something to say");
    assert_whole(&world);
    // Every mark is used: the sessions ended as the hooks said, and no mark is left.
    for folder in ["new", "tmp"] {
        assert_eq!(files_below(&world.data_dir().join("marks").join(folder)), Vec::<std::path::PathBuf>::new());
    }
    let sql = "SELECT count(*) FROM session WHERE end_reason = 'clear'";
    assert_eq!(world.count(sql) as usize, ended.into_inner());
}

#[test]
fn with_the_deadline_that_users_have_hooks_lack_nothing_but_time() {
    let world = begun(5);
    // As users have it: a hook that is too late ends by itself, with nothing said.
    world.configure("");
    let over = AtomicBool::new(false);
    let told = std::sync::atomic::AtomicUsize::new(0);
    let hooks = 20 * crowd();
    std::thread::scope(|scope| {
        let _going = digesting(scope, &world, &over);
        std::thread::scope(|crowd| {
            for lane in 0..4 {
                let (world, told) = (&world, &told);
                crowd.spawn(move || {
                    for n in (lane..hooks).step_by(4) {
                        told.fetch_add(usize::from(fires(world, 20_000 + n, EVENTS[n % 2])), std::sync::atomic::Ordering::SeqCst);
                    }
                });
            }
        });
    });
    let log = std::fs::read_to_string(world.data_dir().join("hooks.log")).unwrap_or_default();
    let other: Vec<_> = log.lines().filter(|line| !line.contains("given up")).collect();
    assert!(other.is_empty(), "nothing but a lack of time keeps a hook from its answer: {other:#?}");
    println!("{hooks} hooks beside digests: {} told something, {} were out of time", told.into_inner(), log.lines().count());
    assert_whole(&world);
}
