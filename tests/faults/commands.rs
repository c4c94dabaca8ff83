//! The other commands that write: killed anywhere, at a power failure, on a failing disk, and given once more.

use std::fs;

use crate::disk::tries;
use crate::kills::Trials;
use crate::library::{Fault, When};
use crate::made::{HOLDER, WORD, first_run};
use crate::power::{Names, fails_anywhere};
use crate::scene::Scene;
use crate::size::{part, spread};
use crate::support::{World, assistant, user};

const DIGEST: [&str; 3] = ["digest", "--summarizer", "extract"];

/// A world with an index and pages, in which a command is given.
fn after_a_digest(args: &[&str]) -> Scene {
    let (first, _) = first_run("extract");
    first.finish("the run before");
    let world = first.world;
    let (page, text) = world.pages().pop().expect("a page");
    fs::write(world.data_dir().join(page), format!("{text}\n## Notes\n\nthe {WORD} again\nmine alone\n")).expect("a note");
    Scene::new(world, args).then(&DIGEST)
}

fn all() -> Vec<Scene> {
    let (exporting, _) = first_run("extract");
    exporting.finish("the run before");
    let export = exporting.world.recall(["export"]).out;
    let world = World::new();
    let file = world.root().join("export.jsonl");
    fs::write(&file, export).expect("the export");
    let import = ["import", file.to_str().expect("UTF-8")].map(str::to_owned);
    let import =
        Scene::new(world, &import.each_ref().map(String::as_str)).then(&["digest", "--rebuild-pages", "--summarizer", "extract"]);
    vec![
        after_a_digest(&["forget", "--match", WORD]),
        after_a_digest(&["forget", "--session", HOLDER]),
        after_a_digest(&["forget", "--project", "mill"]),
        import,
        after_a_digest(&["remember", "--kind", "decision", "--everywhere", "The gears are counted from one"]),
        after_a_digest(&["digest", "--rebuild-pages", "--summarizer", "extract"]),
    ]
}

#[test]
fn what_is_forgotten_stays_so_and_what_comes_in_comes_in_once_wherever_the_command_is_killed() {
    for scene in all() {
        let what = scene.args[..2].join(" ");
        let mut trials = Trials::of((scene, None));
        trials.at_calls(part(4));
        trials.at_points(part(1));
        trials.report(&what);
    }
}

#[test]
fn a_session_is_forgotten_or_it_is_not_when_the_command_is_killed_and_never_given_again() {
    let scene = after_a_digest(&["forget", "--session", HOLDER]);
    let forgotten = scene.undisturbed();
    scene.reset();
    let digest = |how: &str| {
        let ran = scene.world.recall(DIGEST);
        assert_eq!(ran.code, 0, "{how}: {ran:#?}");
        scene.state()
    };
    let as_it_was = digest("without the command");
    scene.reset();
    let blobs = tempfile::tempdir().expect("a temporary folder");
    let calls: Vec<usize> = (1..=scene.recorded(blobs.path()).len()).collect();
    let (mut gone, mut there) = (0, 0);
    for at in spread(&calls, part(20)) {
        scene.reset();
        scene.disturbed(Fault::Kill(at, When::After));
        let how = format!("killed after call {at} of {}", calls.len());
        let state = digest(&how);
        if state == as_it_was {
            there += 1;
        } else if let Some(difference) = state.differs_from(&forgotten) {
            panic!("{how}: neither as it was nor forgotten: {difference}");
        } else {
            gone += 1;
        }
    }
    println!("forget --session, killed and not given again: {there} as it was, {gone} forgotten");
    assert!(there > 0 && gone > 0);
}

#[test]
fn what_was_told_to_be_done_is_done_after_a_power_failure() {
    let mut tried = 0;
    for scene in all() {
        for names in [Names::AtOnce, Names::WithTheirFolder] {
            tried += fails_anywhere(&scene, None, names, part(2));
        }
    }
    println!("{tried} power failures, all made up for");
}

#[test]
fn commands_on_a_failing_disk_lose_nothing_and_succeed_when_it_is_well_again() {
    for scene in all() {
        tries(&scene, None, part(4));
    }
}

#[test]
fn forgetting_many_sessions_waits_for_the_disk_no_more_often_than_forgetting_one() {
    let waits = |sessions: usize| {
        let world = World::new();
        for n in 0..sessions {
            let id = format!("{n:08}-0000-4000-8000-000000000000");
            let (row, at) = (|half: u8| format!("{n:08}-0000-4000-8000-00000000000{half}"), "2026-11-20T10:00:00Z");
            let said = user(&id, &row(1), at, &format!("Question {n}: why is the importer slow?"))
                + &assistant(&id, &row(2), at, "I made it faster: it reads every file once now.");
            world.transcript(&format!("-home-dev-src-shop/{id}.jsonl"), said);
        }
        assert_eq!(world.recall(DIGEST).code, 0);
        let scene = Scene::new(world, &["forget", "--project", "shop"]);
        let blobs = tempfile::tempdir().expect("a temporary folder");
        let calls = scene.recorded(blobs.path());
        assert_eq!(scene.world.count("SELECT count(*) FROM session"), 0);
        calls.iter().filter(|call| call.what == "sync" && call.path.ends_with("recall.db-wal")).count()
    };
    assert_eq!(waits(1), waits(6));
}
