//! The other commands that write: killed anywhere, at a power failure, on a failing disk, and given once more.

use std::fs;

use crate::disk::tries;
use crate::kills::Trials;
use crate::made::{HOLDER, WORD, first_run};
use crate::power::{Names, fails_anywhere};
use crate::scene::Scene;
use crate::size::part;
use crate::support::World;

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
