//! What machines are called: no two alike if it can be helped, told apart where it cannot, and changed by their user.

use std::fs;

use super::{EXTRACT, Machine, digested, machines, session, settle};
use crate::support::World;
use crate::support::rows::put;

/// A machine that joined an encrypted place, called so.
fn join(share: &std::path::Path, key: &str, name: &str) -> (Machine, crate::support::Ran) {
    let machine = Machine { world: World::new(), share: share.to_owned() };
    let file = machine.world.root().join("key");
    fs::write(&file, key).unwrap();
    let ran = machine.sync(&["add", share.to_str().unwrap(), "--name", name, "--key", file.to_str().unwrap()]);
    (machine, ran)
}

/// Two machines of one name, both added before either saw the other: over folders that Syncthing brings together later.
fn both_added_at_once() -> ([tempfile::TempDir; 2], [Machine; 3]) {
    let (share, apart) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let [one, spare] = machines(share.path(), ["laptop", "spare"]);
    let (two, ran) = join(apart.path(), &one.sync(&["key"]).out, "laptop");
    assert_eq!(ran.code, 0, "{ran:#?}");
    for file in fs::read_dir(apart.path()).unwrap().map(|entry| entry.unwrap().path()) {
        fs::rename(&file, share.path().join(file.file_name().unwrap())).unwrap();
    }
    fs::remove_dir(apart.path()).unwrap();
    std::os::unix::fs::symlink(share.path(), apart.path()).unwrap();
    ([share, apart], [one, two, spare])
}

#[test]
fn a_name_that_another_machine_has_is_refused() {
    let share = tempfile::tempdir().unwrap();
    let [laptop] = machines(share.path(), ["laptop"]);
    let key = laptop.sync(&["key"]).out;
    let (other, ran) = join(share.path(), &key, "laptop");
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(ran.err.contains("--name"), "{ran:#?}");
    assert!(!other.world.data_dir().join("sync/state.json").exists());
    assert_eq!(join(share.path(), &key, "tower").1.code, 0);
    // Its own name is no other machine's.
    let place = share.path().to_str().unwrap();
    assert_eq!(laptop.sync(&["remove", place]).code, 0);
    let ran = laptop.sync(&["add", place]);
    assert_eq!(ran.code, 0, "{ran:#?}");
}

#[test]
fn two_machines_of_one_name_are_told_apart() {
    let (_folders, [one, two, spare]) = both_added_at_once();
    let id = digested(&one, 1, "lantern");
    digested(&two, 2, "sluice");
    settle(&[&one, &two, &spare]);
    let names: Vec<String> = spare.list().iter().map(|one| one["machine"].as_str().unwrap().to_owned()).collect();
    assert!(names.iter().all(|name| name.starts_with("laptop ") && name.len() == "laptop ".len() + 8), "{names:?}");
    assert_ne!(names[0], names[1]);
    // One that is called like this machine, too, wherever it is named.
    let other = two.list().iter().find(|one| one["session"] == id.as_str()).unwrap()["machine"].as_str().unwrap().to_owned();
    assert!(names.contains(&other), "{other} {names:?}");
    for args in [vec!["resume", &id], vec!["show", &id, "--full"], vec!["list"]] {
        let ran = two.world.recall(&args);
        assert!(format!("{}{}", ran.out, ran.err).contains(&other), "{args:?}: {ran:#?}");
    }
    assert!(two.pages().iter().any(|(_, text)| text.contains("lantern")));
    let pages: String = two.world.pages().into_iter().map(|(_, text)| text).collect();
    assert!(pages.contains(&format!("machine `{other}`")), "{pages}");
    assert!(spare.sync(&["status"]).out.contains(&other));
}

#[test]
fn a_name_that_fits_two_machines_forgets_neither() {
    let ([share, _apart], [one, two, spare]) = both_added_at_once();
    settle(&[&one, &two, &spare]);
    let files = crate::support::files_below(share.path()).len();
    // On a third machine, and on one of the two.
    for machine in [&spare, &one] {
        let ran = machine.sync(&["forget-machine", "laptop"]);
        assert_eq!(ran.code, 2, "{ran:#?}");
        let ids = ran.err.split(|c: char| !c.is_ascii_hexdigit()).filter(|word| word.len() == 32).count();
        assert_eq!(ids, 2, "{ran:#?}");
    }
    assert_eq!(crate::support::files_below(share.path()).len(), files);
    // By the start of its id, as it is shown.
    let status = spare.sync(&["status"]).out;
    let start = status.split_whitespace().skip_while(|word| *word != "laptop").nth(1).unwrap().to_owned();
    let ran = spare.sync(&["forget-machine", &format!("laptop {start}")]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(crate::support::files_below(share.path()).len() < files);
    // It never takes this machine for another one.
    let ran = spare.sync(&["forget-machine", "spare"]);
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(ran.err.contains("recall sync remove"), "{ran:#?}");
}

#[test]
fn a_machine_that_is_renamed_is_called_so_on_the_others() {
    let share = tempfile::tempdir().unwrap();
    let place = share.path().to_str().unwrap().to_owned();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    let id = digested(&laptop, 1, "lantern");
    settle(&[&laptop, &tower]);
    assert_eq!(tower.list()[0]["machine"], "laptop");
    let ran = laptop.sync(&["add", &place, "--name", "tower"]);
    assert_eq!(ran.code, 2, "{ran:#?}");
    let ran = laptop.sync(&["add", &place]);
    assert_eq!(ran.code, 2, "set up, and nothing to change: {ran:#?}");
    let ran = laptop.sync(&["add", &place, "--name", "notebook"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    settle(&[&laptop, &tower]);
    assert_eq!(tower.list()[0]["machine"], "notebook");
    let pages: String = tower.world.pages().into_iter().map(|(_, text)| text).collect();
    assert!(pages.contains("machine `notebook`") && pages.contains(" · on notebook · ") && !pages.contains("laptop"), "{pages}");
    assert!(tower.world.recall(["resume", &id]).err.contains("notebook"));
    assert!(tower.sync(&["status"]).out.contains("notebook"));
    assert!(laptop.sync(&["status"]).out.contains("notebook"));
    // What came is the same, and a session that comes now is of the new name.
    put(&laptop.world, &session(2, "sluice").id, &session(2, "sluice").text);
    laptop.world.digest(&EXTRACT);
    settle(&[&laptop, &tower]);
    assert!(tower.list().iter().all(|one| one["machine"] == "notebook"), "{:?}", tower.list());
}

#[test]
fn what_an_exchange_says_of_a_machine_tells_it_from_another_of_its_name() {
    let ([share, _apart], [one, two, _spare]) = both_added_at_once();
    let id = one.sync(&["status", "--json"]).out;
    let id = serde_json::from_str::<serde_json::Value>(&id).unwrap()["id"].as_str().unwrap().to_owned();
    // The folder has carried over what names the files of the first one, and not the files.
    for file in crate::support::files_below(share.path()) {
        let name = file.file_name().unwrap().to_str().unwrap();
        if name.starts_with(&id) && name.ends_with(".segment") {
            fs::remove_file(&file).unwrap();
        }
    }
    let ran = two.sync(&[]);
    assert!(ran.err.contains(&format!("not all that laptop {} wrote has arrived", &id[..8])), "{ran:#?}");
}

/// Its files at the place are those of a machine that has its name.
#[test]
fn a_machine_that_no_longer_knows_who_it_is_comes_back_under_another_name() {
    let share = tempfile::tempdir().unwrap();
    let place = share.path().to_str().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    let id = digested(&laptop, 1, "lantern");
    settle(&[&laptop, &tower]);
    let state = laptop.world.data_dir().join("sync/state.json");
    fs::write(&state, "{").unwrap();
    let ran = laptop.sync(&[]);
    assert!(ran.code == 2 && ran.err.contains("--name"), "{ran:#?}");
    // As it says.
    fs::remove_file(&state).unwrap();
    assert_eq!(laptop.sync(&["add", place, "--name", "laptop"]).code, 2);
    let ran = laptop.sync(&["add", place, "--name", "notebook"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    laptop.exchange();
    assert_eq!(laptop.sync(&["forget-machine", "laptop"]).code, 0);
    settle(&[&tower, &laptop]);
    assert_eq!((laptop.ids(), tower.ids()), (vec![id.clone()], vec![id]));
    assert!(tower.sync(&["status"]).out.contains("notebook"));
}
