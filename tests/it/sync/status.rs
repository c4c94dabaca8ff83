//! What `recall sync status` says, the key in a file, and the sample on the page of the book.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use serde_json::Value;

use super::projects::{clone_at, session_in};
use super::{Machine, digested, machines, settle};
use crate::support::World;

fn status(machine: &Machine) -> Value {
    serde_json::from_str(&machine.sync(&["status", "--json"]).out).unwrap()
}

#[test]
fn the_status_says_when_and_with_whom_there_was_an_exchange() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    let before = status(&laptop);
    assert!(before["places"][0]["exchanged_at"].is_null(), "{before:#}");
    assert!(laptop.sync(&["status"]).out.contains("no exchange yet"));
    digested(&laptop, 1, "lantern");
    let at = |machine: &Machine, now: &str| {
        let ran = machine.world.recall_with(["sync"], &[("RECALL_NOW", now)]);
        assert_eq!(ran.code, 0, "{ran:#?}");
    };
    at(&tower, "2026-11-22T08:00:00Z");
    at(&tower, "2026-11-22T09:00:00Z");
    let now = status(&tower);
    let (place, text) = (&now["places"][0], tower.sync(&["status"]).out);
    assert_eq!((&now["machine"], &place["encrypted"]), (&"tower".into(), &true.into()));
    assert_eq!(place["machines"][0]["name"], "laptop");
    // A session, and that the machine is there; the other one has told that only.
    assert_eq!((&place["machines"][0]["records"], &place["records"]), (&2.into(), &1.into()), "{now:#}");
    assert!(place["exchanged_at"].as_i64().unwrap() - place["machines"][0]["news_at"].as_i64().unwrap() == 3_600_000, "{now:#}");
    assert!(text.contains(", encrypted, last exchange 2026-11-22 10:00\n"), "{text}");
    assert!(text.contains("2 records, last news 2026-11-22 09:00\n"), "{text}");
    assert!(text.contains("1 record (this machine)\n"), "{text}");
    // What is read again because the index is another one is no news.
    fs::remove_file(tower.world.data_dir().join("recall.db")).unwrap();
    at(&tower, "2026-11-23T09:00:00Z");
    assert_eq!(tower.ids().len(), 1);
    assert_eq!(status(&tower)["places"][0]["machines"][0]["news_at"], place["machines"][0]["news_at"]);
    // Its own id is what the other one knows it by.
    settle(&[&laptop, &tower]);
    assert_eq!(status(&laptop)["places"][0]["machines"][0]["id"], now["id"]);
}

#[test]
fn a_place_that_nobody_encrypts_is_said_to_be_open() {
    let world = World::new();
    let place = world.root().join("share");
    let machine = Machine { world, share: place.clone() };
    assert_eq!(machine.sync(&["add", place.to_str().unwrap(), "--unencrypted"]).code, 0);
    let text = machine.sync(&["status"]).out;
    assert!(text.contains(", not encrypted, no exchange yet"), "{text}");
    assert!(!text.contains("projects"), "none differ: {text}");
}

#[test]
fn a_key_in_a_file_can_be_read_by_its_owner_only_and_takes_the_place_of_nothing() {
    let share = tempfile::tempdir().unwrap();
    let [laptop] = machines(share.path(), ["laptop"]);
    let folder = laptop.world.root().join("out");
    fs::create_dir(&folder).unwrap();
    let (file, link, theirs) = (folder.join("key.txt"), folder.join("link"), folder.join("theirs"));
    let write = |to: &std::path::Path| laptop.sync(&["key", "--output", to.to_str().unwrap()]);
    let ran = write(&file);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let key = laptop.sync(&["key"]).out;
    assert_eq!(fs::read_to_string(&file).unwrap(), key);
    assert!(!ran.out.contains(key.trim()), "{ran:#?}");
    assert!(ran.out.contains("Delete it"), "{ran:#?}");
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    // Whatever is there stays, also behind a link.
    fs::write(&theirs, "theirs").unwrap();
    std::os::unix::fs::symlink(&theirs, &link).unwrap();
    for taken in [&file, &theirs, &link] {
        let ran = write(taken);
        assert_eq!(ran.code, 2, "{ran:#?}");
    }
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
    // Another machine reads it, also one that its owner made less private.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
    let tower = Machine { world: World::new(), share: share.path().to_owned() };
    let ran = tower.sync(&["add", share.path().to_str().unwrap(), "--name", "tower", "--key", file.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:#?}");
}

#[test]
fn the_sample_in_the_book_is_what_the_program_prints() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = ["laptop", "tower"].map(|_| Machine { world: World::new(), share: share.path().to_owned() });
    let place = |machine: &Machine| {
        let folder = machine.world.home().join("Sync");
        fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(share.path(), folder.join("recall")).unwrap();
        folder.join("recall").to_str().unwrap().to_owned()
    };
    let (there, here) = (clone_at(&laptop, "src/shop"), clone_at(&tower, "work/shop"));
    session_in(&laptop, 1, &there);
    session_in(&laptop, 2, &there);
    session_in(&tower, 3, &here);
    laptop.remember(&["--everywhere", "Tabs are four wide"]);
    let ran = |machine: &Machine, args: &[&str]| {
        let ran = machine.sync(args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
        [&laptop, &tower].iter().fold(ran.out, |text, one| text.replace(one.world.home().to_str().unwrap(), "/home/anna"))
    };
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/src/guide/machines.md")).unwrap();
    let added = ran(&laptop, &["add", &place(&laptop), "--name", "laptop"]);
    let (file, key) = (laptop.world.home().join("key.txt"), tower.world.root().join("key.txt"));
    let wrote = ran(&laptop, &["key", "--output", file.to_str().unwrap()]).replace("/home/anna/", "");
    let sent = ran(&laptop, &[]);
    fs::rename(file, &key).unwrap();
    let joined = ran(&tower, &["add", &place(&tower), "--name", "tower", "--key", key.to_str().unwrap()]);
    let (exchanged, status) = (ran(&tower, &[]), ran(&tower, &["status"]));
    for (command, printed) in [
        ("laptop$ recall sync add ~/Sync/recall", added),
        ("laptop$ recall sync key --output key.txt", wrote),
        ("laptop$ recall sync", sent),
        ("tower$ recall sync add ~/Sync/recall --key key.txt", joined),
        ("tower$ recall sync", exchanged),
        ("tower$ recall sync status", status),
    ] {
        assert!(page.contains(&format!("{command}\n{printed}")), "{command}\n{printed}");
    }
}

#[test]
fn what_is_set_up_during_a_run_is_refused_and_not_lost() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, _tower] = machines(share.path(), ["laptop", "tower"]);
    let place = share.path().to_str().unwrap();
    let lock = std::fs::File::open(laptop.world.data_dir().join("lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    for args in
        [&["sync", "add", place, "--name", "desk"][..], &["sync", "project", "/a", "/b"], &["sync", "remove", place], &["sync"]]
    {
        let ran = laptop.world.recall(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:#?}");
        assert!(ran.err.contains("a run is under way: try again"), "{args:?}: {ran:#?}");
    }
    drop(lock);
    let ran = laptop.world.recall(["sync", "add", place, "--name", "desk"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
}

#[test]
fn who_deletes_the_data_hears_what_stays_elsewhere() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, _tower] = machines(share.path(), ["laptop", "tower"]);
    laptop.exchange();
    let ran = laptop.world.recall(["uninstall", "--purge", "--dry-run"]);
    assert!(ran.err.contains("`recall sync remove PLACE` before this") && !ran.err.contains("team"), "{ran:#?}");
    fs::create_dir_all(laptop.world.data_dir().join("team")).unwrap();
    fs::write(laptop.world.data_dir().join("team/state.json"), "{}").unwrap();
    let ran = laptop.world.recall(["uninstall", "--purge", "--dry-run"]);
    assert!(ran.err.contains("`recall team leave` before this"), "{ran:#?}");
}
