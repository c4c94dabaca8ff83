//! Before a compaction: by default a mark and nothing else; where the user asked for it, an ingest in the background.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::hooks::payloads::{S, configure, log, payload, transcript, write_talk};
use crate::support::{World, user};

/// How long another process may take on a busy machine. No measure of speed.
const PATIENCE: Duration = Duration::from_secs(120);
const ON: &str = "ingest_before_compact = true\n";

/// The client is about to compact the session.
fn compacts(world: &World) {
    let ran = world.hook("pre-compact", payload(world, "PreCompact", S, json!({"trigger": "auto"})).to_string());
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str(), log(world).len()), (0, "", "", 0), "{ran:#?}");
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "never: {what}");
        sleep(Duration::from_millis(50));
    }
}

/// Is this stored of the session?
fn holds(world: &World, text: &str) -> bool {
    world.recall(["show", "--items", S]).out.contains(text)
}

fn is_under_way(world: &World) -> bool {
    let lock = fs::File::open(world.data_dir().join("lock")).map(fd_lock::RwLock::new);
    lock.is_ok_and(|lock| lock.try_read().is_err())
}

#[test]
fn what_a_client_drops_at_a_compaction_is_kept_where_that_was_asked_for() {
    let (asked, not_asked) = (World::new(), World::new());
    configure(&asked, ON);
    for world in [&asked, &not_asked] {
        write_talk(world, S, "2026-11-21T11:00:00Z", "Why does the kettle whistle?", "The valve is worn.");
        compacts(world);
    }
    wait_until("an ingest", || holds(&asked, "kettle"));
    wait_until("the end of the run", || !is_under_way(&asked));

    // Now the client rewrites the transcript.
    fs::write(transcript(&asked, S), user(S, &format!("{}9999", &S[..32]), "2026-11-21T11:30:00Z", "And the lid?")).unwrap();
    asked.digest(&[]);
    assert!(holds(&asked, "kettle") && holds(&asked, "lid"), "{}", asked.recall(["show", "--items", S]).out);
    assert!(!not_asked.data_dir().join("recall.db").exists(), "a mark and nothing else");
}

#[test]
fn it_waits_for_a_run_that_may_have_passed_the_transcript_already() {
    let world = World::new();
    configure(&world, ON);
    world.digest(&[]);
    let mut lock = fd_lock::RwLock::new(fs::File::options().write(true).open(world.data_dir().join("lock")).unwrap());
    let held = lock.write().unwrap();
    write_talk(&world, S, "2026-11-21T11:00:00Z", "Why does the kettle whistle?", "The valve is worn.");
    compacts(&world);
    #[cfg(target_os = "linux")]
    wait_until("a run of low priority in a group of its own", || background::is_apart(&world));
    assert!(!holds(&world, "kettle"));
    drop(held);
    wait_until("an ingest", || holds(&world, "kettle"));
    wait_until("the end of the run", || !is_under_way(&world));
}

/// The run as the system sees it.
#[cfg(target_os = "linux")]
mod background {
    use super::*;

    /// By how much the run is nicer than who started it, and the nicest that a process can be.
    const NICER: i32 = 15;
    const NICEST: i32 = 19;

    /// Is there a run for this world that leads a process group of its own, at a low priority?
    pub fn is_apart(world: &World) -> bool {
        let data = format!("RECALL_DATA_DIR={}", world.data_dir().display());
        let ours = fs::read_to_string("/proc/self/stat").expect("how nice the tests are");
        // Whoever runs the tests may have been nice already.
        let wanted = (niceness(&ours).expect("a number") + NICER).min(NICEST);
        fs::read_dir("/proc").unwrap().flatten().any(|process| {
            let read = |name: &str| fs::read(process.path().join(name)).unwrap_or_default();
            let is_ours = String::from_utf8_lossy(&read("environ")).split('\0').any(|variable| variable == data);
            let is_run = String::from_utf8_lossy(&read("cmdline")).contains("--in-background");
            let stat = String::from_utf8_lossy(&read("stat")).into_owned();
            is_ours && is_run && is_leader(&stat) && niceness(&stat) == Some(wanted)
        })
    }

    /// Fields of `/proc/PID/stat` behind the name: state, parent, group … the 17th is the niceness.
    fn fields(stat: &str) -> Vec<&str> {
        stat.rsplit(") ").next().unwrap_or_default().split(' ').collect()
    }

    fn is_leader(stat: &str) -> bool {
        fields(stat).get(2).copied() == stat.split(' ').next()
    }

    fn niceness(stat: &str) -> Option<i32> {
        fields(stat).get(16)?.parse().ok()
    }
}
