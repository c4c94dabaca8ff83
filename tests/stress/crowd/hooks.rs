//! Hooks of many sessions while digests run: none fails, none hears of a lock, and no mark is lost.

use std::sync::Barrier;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use serde_json::{Value, json};

use crate::crowd::scene::{assert_whole, begun, crowd, digesting, id, run, write};
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

/// What the hooks logged: what went wrong, and which of them were out of time.
fn complaints(world: &World) -> (Vec<String>, Vec<String>) {
    let log = std::fs::read_to_string(world.data_dir().join("hooks.log")).unwrap_or_default();
    log.lines().map(str::to_owned).partition(|line| !line.contains("given up"))
}

#[test]
fn fifty_hooks_at_once_beside_digests_are_all_answered_and_lose_no_mark() {
    const AT_ONCE: usize = 50;
    let world = begun(5);
    let over = AtomicBool::new(false);
    let told = AtomicUsize::new(0);
    let sessions = |round: usize| (0..AT_ONCE).map(move |lane| (10_000 + round * AT_ONCE + lane, EVENTS[lane % 3]));
    std::thread::scope(|scope| {
        let _going = digesting(scope, &world, &over);
        for round in 0..crowd() {
            sessions(round).filter(|(_, event)| event.0 == "session-end").for_each(|(session, _)| write(&world, session, 2));
            let barrier = Barrier::new(AT_ONCE);
            std::thread::scope(|hooks| {
                for (session, event) in sessions(round) {
                    let (world, told, barrier) = (&world, &told, &barrier);
                    hooks.spawn(move || {
                        barrier.wait();
                        told.fetch_add(usize::from(fires(world, session, event)), SeqCst);
                    });
                }
            });
        }
    });
    let (others, late) = complaints(&world);
    assert!(others.is_empty(), "nothing but a lack of time keeps a hook from its answer: {others:#?}");
    let told = told.into_inner();
    println!("{} hooks, {AT_ONCE} at once: {told} told something, {} were out of time", AT_ONCE * crowd(), late.len());
    assert!(told > 0, "they had something to say");
    assert_whole(&world);
    // Every mark is used: the sessions ended as the hooks said, and no mark is left.
    for folder in ["new", "tmp"] {
        let left = files_below(&world.data_dir().join("marks").join(folder));
        assert!(folder == "tmp" && !late.is_empty() || left.is_empty(), "{left:#?}");
    }
    let marked = world.count("SELECT count(*) FROM session WHERE end_reason = 'clear'") as usize;
    let ended = (0..crowd()).flat_map(sessions).filter(|(_, event)| event.0 == "session-end").count();
    let unmarked = late.iter().filter(|line| line.contains("session-end")).count();
    assert!(marked <= ended && marked + unmarked >= ended, "{marked} of {ended} marks, {late:#?}");
}

#[test]
fn with_the_deadline_that_users_have_hooks_lack_nothing_but_time() {
    let world = begun(5);
    // As users have it: a hook that is too late ends by itself, with nothing said.
    world.configure("");
    let over = AtomicBool::new(false);
    let told = AtomicUsize::new(0);
    let in_a_round = 20 * crowd();
    let mut rounds = 0;
    std::thread::scope(|scope| {
        let _going = digesting(scope, &world, &over);
        // Where others keep the machine busy, a round may have no time at all.
        while rounds == 0 || rounds < 20 && told.load(SeqCst) == 0 {
            std::thread::scope(|hooks| {
                for lane in 0..4 {
                    let (world, told) = (&world, &told);
                    hooks.spawn(move || {
                        for n in (lane..in_a_round).step_by(4) {
                            let session = 20_000 + rounds * in_a_round + n;
                            told.fetch_add(usize::from(fires(world, session, EVENTS[n % 2])), SeqCst);
                        }
                    });
                }
            });
            rounds += 1;
        }
    });
    let (others, late) = complaints(&world);
    assert!(others.is_empty(), "nothing but a lack of time keeps a hook from its answer: {others:#?}");
    let told = told.into_inner();
    println!("{} hooks beside digests: {told} told something, {} were out of time", rounds * in_a_round, late.len());
    assert!(told > 0, "some were in time");
    assert_whole(&world);
}
