//! Who reads, writes, forgets and installs while digests run.

use std::sync::atomic::AtomicBool;

use serde_json::json;

use crate::crowd::scene::{assert_whole, begun, crowd, digesting, good, id, run, unlocked, write};
use crate::support::mcp_client::Peer;

#[test]
fn digests_that_are_started_at_once_store_everything_once() {
    let world = begun(3);
    for round in 0..2 * crowd() {
        (0..20).for_each(|n| write(&world, 100 + round * 20 + n, 5));
        let others: Vec<bool> = std::thread::scope(|scope| {
            let runs: Vec<_> =
                (0..4).map(|_| scope.spawn(|| good(run(&world, &["digest", "--summarizer", "extract"], ""), "a digest"))).collect();
            runs.into_iter().map(|run| run.join().expect("a digest").err.contains("another run is under way")).collect()
        });
        assert!(others.iter().any(|other| !other), "one of them did it");
        assert_whole(&world);
    }
}

#[test]
fn searches_and_a_client_are_answered_as_ever_while_digests_run() {
    let world = begun(10);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _going = digesting(scope, &world, &over);
        std::thread::scope(|readers| {
            for n in 0..8 {
                let world = &world;
                readers.spawn(move || {
                    for _ in 0..5 * crowd() {
                        let found = good(run(world, &["search", &format!("crowd{n}"), "--json"], ""), "a search");
                        let found: serde_json::Value =
                            serde_json::from_str(&found.out).unwrap_or_else(|e| panic!("{e}: {found:#?}"));
                        assert!(found.to_string().contains(&id(n)), "{found:#}");
                        good(run(world, &["show", &id(n)], ""), "a session");
                        good(run(world, &["status", "--json"], ""), "the state");
                        good(run(world, &["context", "--cwd", "/home/dev/src/shop"], ""), "what a session starts with");
                    }
                });
            }
            readers.spawn(|| {
                let mut peer = Peer::greet(&world);
                for n in 0..20 * crowd() {
                    let (found, _) = peer.call("search", json!({"query": format!("crowd{}", n % 8)}));
                    assert!(!found["results"].as_array().expect("results").is_empty(), "{found:#}");
                    peer.call("get", json!({"ids": [id(n % 8), id(8)]}));
                    peer.call("timeline", json!({"id": id(n % 8)}));
                    peer.call("status", json!({}));
                }
                assert!(peer.leave().err.is_empty());
            });
        });
    });
    assert_whole(&world);
}

#[test]
fn notes_of_people_and_clients_are_all_kept_while_digests_run() {
    let world = begun(5);
    let over = AtomicBool::new(false);
    // Notes that say nearly the same are one: these have no word in common.
    let note = |who: usize, n: usize| format!("Rule{who}x{n} decides alpha{who}x{n} before omega{who}x{n} and gamma{who}x{n}");
    let times = 20 * crowd();
    std::thread::scope(|scope| {
        let _going = digesting(scope, &world, &over);
        std::thread::scope(|writers| {
            for who in 0..2 {
                let world = &world;
                writers.spawn(move || {
                    for n in 0..times {
                        let kept = good(run(world, &["remember", "--everywhere", "--json", &note(who, n)], ""), "a note");
                        assert!(kept.out.contains("\"known\":false"), "{kept:#?}");
                    }
                });
            }
            writers.spawn(|| {
                let mut peer = Peer::greet(&world);
                for n in 0..times {
                    let (kept, _) = peer.call("remember", json!({"text": note(9, n)}));
                    assert_eq!(kept["known"], false, "{kept:#}");
                }
                assert!(peer.leave().err.is_empty());
            });
        });
    });
    assert_eq!(world.count("SELECT count(*) FROM note") as usize, 3 * times);
    assert_whole(&world);
}

#[test]
fn what_is_forgotten_while_digests_run_is_gone() {
    let world = begun(10);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _going = digesting(scope, &world, &over);
        for n in 0..5 {
            // It does not wait for a run, and says so.
            let mut tries = 0;
            loop {
                let ran = run(&world, &["forget", "--yes", "--session", &id(n)], "");
                unlocked(&ran, "forget");
                if ran.code == 0 {
                    break;
                }
                assert!(ran.code == 2 && ran.err.contains("a run is under way: try again"), "{ran:#?}");
                tries += 1;
                assert!(tries < 5_000, "it never gets its turn");
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
    });
    for n in 0..5 {
        let sql = format!("SELECT count(*) FROM session WHERE id = '{}'", id(n));
        assert_eq!(world.count(&sql), 0, "{n}");
    }
    assert_whole(&world);
}

#[test]
fn hooks_are_put_in_and_taken_out_while_digests_run() {
    let world = begun(5);
    let settings = world.claude_dir().join("settings.json");
    std::fs::write(&settings, "{\n  \"model\": \"opus\"\n}\n").expect("settings");
    let before = std::fs::read(&settings).expect("settings");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _going = digesting(scope, &world, &over);
        std::thread::scope(|others| {
            for _ in 0..3 {
                others.spawn(|| {
                    for _ in 0..5 * crowd() {
                        unlocked(&good(run(&world, &["install", "--timer", "none"], ""), "install"), "install");
                        let ran = run(&world, &["uninstall"], "");
                        assert!(ran.code < 2, "{ran:#?}");
                        unlocked(&ran, "uninstall");
                    }
                });
            }
        });
    });
    good(run(&world, &["uninstall"], ""), "uninstall");
    assert_eq!(std::fs::read(&settings).expect("settings"), before);
    assert_whole(&world);
}
