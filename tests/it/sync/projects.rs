//! One project over homes and machines.

use std::fs;

use serde_json::json;

use super::{EXTRACT, Machine, machines, settle};
use crate::support::rows::Rows;

/// A clone of the same repository somewhere in the home of a machine.
pub(super) fn clone_at(machine: &Machine, folder: &str) -> String {
    let root = machine.world.home().join(folder);
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::write(root.join(".git/config"), "[remote \"origin\"]\n\turl = git@example.com:acme/shop.git\n").unwrap();
    root.to_str().unwrap().to_owned()
}

pub(super) fn session_in(machine: &Machine, n: usize, cwd: &str) {
    let mut rows = Rows::new(n);
    rows.row(json!({"type": "user", "cwd": cwd, "message": {"role": "user", "content": format!("Polish lantern number {n}")}}));
    rows.row(json!({"type": "assistant", "cwd": cwd, "message": {"id": format!("msg_{n}"), "role": "assistant", "model": "claude-haiku-4-5-20251001",
        "content": [{"type": "text", "text": format!("Lantern number {n} shines.")}], "usage": {"input_tokens": 1, "output_tokens": 1}}}));
    machine.world.transcript(&format!("-shop/{}.jsonl", rows.id), &rows.text);
    machine.world.digest(&EXTRACT);
}

fn projects(machine: &Machine) -> Vec<String> {
    let mut all: Vec<String> = machine.list().iter().map(|one| one["project"].as_str().unwrap().to_owned()).collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn clones_of_one_repository_are_one_project_wherever_they_lie() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    let (there, here) = (clone_at(&laptop, "src/shop"), clone_at(&tower, "work/the-shop"));
    session_in(&laptop, 1, &there);
    session_in(&tower, 2, &here);
    settle(&[&laptop, &tower]);
    assert_eq!(projects(&tower), [here.as_str()]);
    assert_eq!(projects(&laptop), [there.as_str()]);
    let status = tower.sync(&["status"]).out;
    assert!(status.contains(&format!("{there} is {here} here")), "{status}");
    // A note for the project holds in the clone, too.
    let ran = laptop.world.command().args(["remember", "Lanterns are brass"]).current_dir(&there).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    settle(&[&laptop, &tower]);
    let told = tower.world.command().arg("context").current_dir(&here).output().unwrap();
    assert!(String::from_utf8_lossy(&told.stdout).contains("Lanterns are brass"), "{told:?}");
}

#[test]
fn a_project_that_comes_later_takes_its_sessions() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    let there = clone_at(&laptop, "src/shop");
    session_in(&laptop, 1, &there);
    settle(&[&laptop, &tower]);
    assert_eq!(projects(&tower), [there.as_str()], "as it is called there, as long as it is not here");
    let here = clone_at(&tower, "work/the-shop");
    session_in(&tower, 2, &here);
    settle(&[&laptop, &tower]);
    assert_eq!(projects(&tower), [here]);
}

#[test]
fn the_user_can_say_which_projects_are_the_same() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    let (there, here) = (laptop.world.home().join("a"), tower.world.home().join("b"));
    [&there, &here].iter().for_each(|folder| fs::create_dir_all(folder).unwrap());
    session_in(&laptop, 1, there.to_str().unwrap());
    session_in(&tower, 2, here.to_str().unwrap());
    settle(&[&laptop, &tower]);
    assert_eq!(projects(&tower).len(), 2);
    let nowhere = tower.sync(&["project", there.to_str().unwrap(), "nowhere"]);
    assert!(nowhere.code == 2 && nowhere.err.contains("is no folder of this machine"), "{nowhere:#?}");
    let ran = tower.sync(&["project", there.to_str().unwrap(), here.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    settle(&[&laptop, &tower]);
    assert_eq!(projects(&tower), [here.to_str().unwrap()]);
}
