//! The other commands that write: killed anywhere, at a power failure, on a failing disk, and given once more.

use std::fs;
use std::os::unix::fs::FileExt;

use crate::faults::disk::tries;
use crate::faults::expected::{Promised, named};
use crate::faults::interposer::{Fault, When};
use crate::faults::kills::Trials;
use crate::faults::power::fails_anywhere;
use crate::faults::report::{Tried, add};
use crate::faults::sample::{Sample, part};
use crate::faults::scene::Scene;
use crate::faults::sessions::{GROWS, HOLDER, WORD, first_run, grow};
use crate::support::size::pairs;
use crate::support::{World, assistant, user};

/// Settings of the user's own.
const THEIRS: &str = "{\n  \"model\": \"opus\"\n}\n";

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
    let import = Scene::new(world, &import.each_ref().map(String::as_str))
        .then(&["digest", "--rebuild-pages", "--summarizer", "extract"])
        .named("import");
    vec![
        after_a_digest(&["forget", "--yes", "--match", WORD]),
        after_a_digest(&["forget", "--yes", "--session", HOLDER]),
        after_a_digest(&["forget", "--yes", "--project", "mill"]),
        import,
        after_a_digest(&["remember", "--kind", "decision", "--everywhere", "The gears are counted from one"]),
        after_a_digest(&["digest", "--rebuild-pages", "--summarizer", "extract"]),
        damaged(true),
        damaged(false),
        installed(&["uninstall"]),
        installed(&["uninstall", "--purge", "--yes"]),
    ]
}

/// The bytes of a page of the index.
const PAGE: usize = 4096;

/// An index with a page that cannot be read. Something was forgotten; after the copy was made a session went on and something was noted.
/// The transcript of one session is gone: it is in the copy, where there is one, and there alone.
fn damaged(with_copy: bool) -> Scene {
    let (first, _) = first_run("extract");
    first.finish("the run before");
    let world = first.world;
    let done = |args: &[&str]| {
        let ran = world.recall(args);
        assert_eq!(ran.code, 0, "{args:?}: {ran:#?}");
    };
    done(&["forget", "--yes", "--session", HOLDER]);
    let copy = world.data_dir().join("recall.db.copy");
    assert!(copy.is_file(), "forgetting makes a copy without it");
    let held_by_copy = named(&rusqlite::Connection::open(&copy).expect("the copy"));
    grow(&world);
    done(&["remember", "--everywhere", "The sluice is opened by hand"]);
    done(&DIGEST);
    let living = world
        .database()
        .prepare("SELECT 'session ' || id FROM session")
        .and_then(|mut query| query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<Vec<String>>>());
    let root = world.count("SELECT rootpage FROM sqlite_master WHERE name = 'session'") as u64;
    let index = fs::File::options().write(true).open(world.data_dir().join("recall.db")).expect("the index");
    index.write_all_at(&[0; PAGE], (root - 1) * PAGE as u64).expect("a page of nothing");
    let mut rows: std::collections::BTreeSet<String> = living.expect("the sessions").into_iter().collect();
    let forgotten = format!("session {HOLDER}");
    assert!(rows.contains(&format!("session {GROWS}")) && !rows.contains(&forgotten));
    if with_copy {
        fs::remove_file(world.claude_dir().join(format!("projects/-home-dev-src-mill/{GROWS}.jsonl"))).expect("its transcript");
        rows.extend(held_by_copy);
    } else {
        fs::remove_file(copy).expect("the copy");
    }
    let promised = Promised { rows, never: [forgotten].into() };
    let name = if with_copy { "doctor --fix" } else { "doctor --fix, no copy" };
    Scene::new(world, &["doctor", "--fix"]).then(&DIGEST).named(name).promising(promised)
}

/// The whole world after a digest and an install, because it is more than the data folder that is to be given back.
fn installed(args: &[&str]) -> Scene {
    let (first, _) = first_run("extract");
    first.finish("the run before");
    let world = first.world;
    fs::write(world.claude_dir().join("settings.json"), THEIRS).expect("the settings");
    for empty in [world.home(), world.bin()] {
        fs::write(empty.join("kept"), "").expect("a file, so that the folder comes back");
    }
    let ran = world.recall(["install", "--timer", "none"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    Scene::in_folder(world.root().to_owned(), world, args).named(&args.join(" "))
}

/// One test, because to build the scenes takes longer than to try a few of each.
#[test]
fn a_command_is_made_up_for_wherever_it_is_killed_the_power_fails_or_the_disk_does() {
    let mut sample = Sample::new("commands");
    let accidents: [fn(&mut Trials, &mut Sample); 3] = [
        |trials, sample| {
            trials.at_calls(part(4), sample);
            trials.at_points(part(1), sample);
            trials.report();
        },
        |trials, sample| fails_anywhere(&trials.scene, None, part(2), sample),
        |trials, sample| _ = tries(&trials.scene, None, part(4), sample),
    ];
    let mut scenes: Vec<Trials> = all().into_iter().map(|scene| Trials::of((scene, None))).collect();
    for (scene, accident) in pairs(scenes.len(), accidents.len()) {
        accidents[accident](&mut scenes[scene], &mut sample);
    }
}

#[test]
fn a_session_is_forgotten_or_it_is_not_when_the_command_is_killed_and_never_given_again() {
    let scene = after_a_digest(&["forget", "--yes", "--session", HOLDER]);
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
    let mut sample = Sample::new("forgetting, killed and not told again");
    // The first and the last: of each kind one.
    let ends = [1, calls.len()].into_iter();
    for at in ends.chain(sample.of(&calls, part(20))) {
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
    add(&scene.name, Tried { kills: there + gone, ..Tried::default() });
    assert!(there > 0 && gone > 0);
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
        let scene = Scene::new(world, &["forget", "--yes", "--project", "shop"]);
        let blobs = tempfile::tempdir().expect("a temporary folder");
        let calls = scene.recorded(blobs.path());
        assert_eq!(scene.world.count("SELECT count(*) FROM session"), 0);
        calls.iter().filter(|call| call.what == "sync" && call.path.ends_with("recall.db-wal")).count()
    };
    assert_eq!(waits(1), waits(6));
}
