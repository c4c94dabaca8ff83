//! A machine tells of a session no more: what others say of it stays.

use super::{Machine, digested, machines, settle};
use crate::support::data_folder::places_of;
use crate::support::rows::put;

const EXCLUDED: &str = "[privacy]\nexclude_projects = [\"/home/dev/src/shop\"]\n";

/// The first open item that names the word.
pub(super) fn item(machine: &Machine, word: &str) -> Option<String> {
    let open = machine.world.recall(["todo"]).out;
    let line = open.lines().find(|line| line.contains(word))?;
    line.split_whitespace().find(|word| word.len() == 9 && word.starts_with('n')).map(str::to_owned)
}

#[test]
fn a_session_that_another_machine_still_tells_of_stays() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower, spare] = machines(share.path(), ["laptop", "tower", "spare"]);
    let one = digested(&laptop, 1, "lantern");
    put(&tower.world, &one, &super::session(1, "lantern").text);
    tower.world.digest(&super::EXTRACT);
    settle(&[&laptop, &tower, &spare]);
    assert_eq!(spare.ids(), [one.as_str()]);
    // The one whose word the third machine holds: whichever it is, the other one's comes in its place.
    let holder = spare.list()[0]["machine"].as_str().unwrap().to_owned();
    let (gone, stays) = if holder == "laptop" { (&laptop, "tower") } else { (&tower, "laptop") };
    assert_eq!(gone.sync(&["remove", share.path().to_str().unwrap()]).code, 0);
    spare.exchange();
    assert_eq!(spare.ids(), [one.as_str()]);
    assert_eq!(spare.list()[0]["machine"], stays);
    assert!(spare.pages().iter().any(|(_, text)| text.contains("lantern")));
}

#[test]
fn what_was_closed_and_taken_out_of_a_session_that_comes_back_is_so() {
    for closer in 0..2 {
        let share = tempfile::tempdir().unwrap();
        let place = share.path().to_str().unwrap();
        let [laptop, tower, spare] = machines(share.path(), ["laptop", "tower", "spare"]);
        let all = [&laptop, &tower, &spare];
        digested(&laptop, 1, "lantern");
        settle(&all);
        let closed = item(&tower, "lantern").unwrap();
        assert_eq!([&tower, &spare][closer].world.recall(["close", &closed]).code, 0);
        settle(&all);
        assert!(all.iter().all(|machine| item(machine, "lantern").is_none()));
        // Its machine leaves and comes back.
        assert_eq!(laptop.sync(&["remove", place]).code, 0);
        settle(&[&tower, &spare]);
        assert!(tower.ids().is_empty() && spare.ids().is_empty());
        for machine in [&tower, &spare] {
            assert_eq!(places_of(&machine.world, "lantern"), [""; 0]);
        }
        let key = laptop.world.root().join("key");
        std::fs::write(&key, tower.sync(&["key"]).out).unwrap();
        let ran = laptop.sync(&["add", place, "--key", key.to_str().unwrap()]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        settle(&all);
        for machine in all {
            assert_eq!(machine.ids().len(), 1);
            assert_eq!(item(machine, "lantern"), None);
            assert_eq!(machine.pages(), laptop.pages());
        }
    }
}

#[test]
fn words_of_an_item_whose_session_is_not_here_can_be_forgotten() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    digested(&laptop, 1, "lantern");
    let closed = item(&laptop, "lantern").unwrap();
    assert_eq!(laptop.world.recall(["close", &closed]).code, 0);
    laptop.exchange();
    // It keeps nothing of the project, but hears that something of it was closed.
    tower.world.configure(EXCLUDED);
    tower.exchange();
    let state = std::fs::read_to_string(tower.world.data_dir().join("sync/state.json")).unwrap();
    assert!(!state.contains("lantern"), "{state}");
}
