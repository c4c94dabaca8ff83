//! What is forgotten on one machine is on none, and in nothing that they share.

use std::fs;

use super::{Machine, digested, session, settle};
use crate::support::data_folder::places_of;
use crate::support::rows::put;
use crate::support::{World, files_below};

/// Everything that machines left at a place where nothing is encrypted.
pub(super) fn texts(share: &std::path::Path) -> String {
    let mut all = String::new();
    for file in files_below(share) {
        let bytes = fs::read(&file).unwrap();
        let packed = bytes.strip_prefix(b"sync 1 plain\n").unwrap_or_else(|| panic!("{} is encrypted", file.display()));
        all += &String::from_utf8(zstd::decode_all(packed).unwrap()).unwrap();
    }
    all
}

fn unencrypted<const N: usize>(share: &std::path::Path, names: [&str; N]) -> [Machine; N] {
    names.map(|name| {
        let machine = Machine { world: World::new(), share: share.to_owned() };
        let ran = machine.sync(&["add", machine.share.to_str().unwrap(), "--name", name, "--unencrypted"]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        machine
    })
}

#[test]
fn a_session_that_is_forgotten_anywhere_is_gone_everywhere() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower, spare] = unencrypted(share.path(), ["laptop", "tower", "spare"]);
    let all = [&laptop, &tower, &spare];
    let one = digested(&laptop, 1, "lantern");
    digested(&laptop, 2, "sluice");
    settle(&all);
    assert!(texts(share.path()).contains("lantern"));
    // Not on the machine where it was.
    let ran = tower.world.recall(["forget", "--session", &one, "--yes"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    settle(&[&tower, &laptop, &spare]);
    assert!(!texts(share.path()).contains("lantern"));
    for machine in all {
        assert!(!machine.ids().contains(&one));
        assert_eq!(places_of(&machine.world, "lantern"), [""; 0]);
    }
    // Its transcript is still there, and is not read again.
    laptop.world.digest(&["--summarizer", "extract"]);
    settle(&all);
    assert!(all.iter().all(|machine| machine.ids().len() == 1));
    assert!(!texts(share.path()).contains("lantern"));
}

#[test]
fn a_session_that_is_forgotten_elsewhere_loses_its_page_where_the_index_was_lost_too() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = unencrypted(share.path(), ["laptop", "tower"]);
    let one = digested(&laptop, 1, "lantern");
    settle(&[&laptop, &tower]);
    assert_ne!(places_of(&tower.world, "lantern"), [""; 0]);
    tower.world.lose_index();
    let ran = laptop.world.recall(["forget", "--session", &one, "--yes"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    settle(&[&laptop, &tower]);
    assert_eq!(places_of(&tower.world, "lantern"), [""; 0]);
}

#[test]
fn a_text_that_is_forgotten_is_in_no_file_once_all_have_exchanged() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = unencrypted(share.path(), ["laptop", "tower"]);
    digested(&laptop, 1, "lantern");
    digested(&tower, 2, "sluice");
    laptop.remember(&["--everywhere", "The lantern is a red herring"]);
    settle(&[&laptop, &tower]);
    let ran = laptop.world.recall(["forget", "--match", "lantern", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    laptop.world.digest(&["--summarizer", "extract"]);
    settle(&[&laptop, &tower]);
    assert!(!texts(share.path()).contains("lantern"));
    for machine in [&laptop, &tower] {
        assert_eq!(places_of(&machine.world, "lantern"), [""; 0]);
        assert!(machine.notes().is_empty());
    }
}

#[test]
fn a_text_in_another_machine_s_session_takes_that_session_along() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = unencrypted(share.path(), ["laptop", "tower"]);
    let one = digested(&laptop, 1, "lantern");
    settle(&[&laptop, &tower]);
    let ran = tower.world.recall(["forget", "--match", "lantern", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.out.contains("1 session whole"), "{ran:#?}");
    settle(&[&tower, &laptop]);
    assert!(!laptop.ids().contains(&one));
    assert!(!texts(share.path()).contains("lantern"));
    assert_eq!(places_of(&laptop.world, "lantern"), [""; 0]);
}

#[test]
fn a_record_that_is_forgotten_goes_from_a_copy_of_its_transcript_on_another_machine() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = unencrypted(share.path(), ["laptop", "tower"]);
    for machine in [&laptop, &tower] {
        let mut rows = session(1, "lantern");
        rows.user(serde_json::json!("And the chandelier?"));
        rows.assistant("It hangs.");
        put(&machine.world, &rows.id, &rows.text);
        machine.world.digest(&["--summarizer", "extract"]);
    }
    settle(&[&laptop, &tower]);
    let ran = laptop.world.recall(["forget", "--match", "chandelier", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    laptop.world.digest(&["--summarizer", "extract"]);
    settle(&[&laptop, &tower]);
    tower.world.digest(&["--summarizer", "extract"]);
    settle(&[&laptop, &tower]);
    for machine in [&laptop, &tower] {
        assert_eq!(places_of(&machine.world, "chandelier"), [""; 0]);
        assert!(machine.pages().iter().any(|(_, text)| text.contains("lantern")), "the rest stays");
    }
    assert!(!texts(share.path()).contains("chandelier"));
}

#[test]
fn a_session_of_which_all_that_was_said_is_forgotten_is_on_no_machine() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = unencrypted(share.path(), ["laptop", "tower"]);
    let mut rows = crate::support::rows::Rows::new(1);
    rows.user(serde_json::json!("Look at the lantern"));
    rows.uses(1, &crate::support::rows::bash("ls"));
    rows.result(1, "12 files", false);
    rows.assistant("The lantern hangs.");
    put(&laptop.world, &rows.id, &rows.text);
    laptop.world.digest(&["--summarizer", "extract"]);
    settle(&[&laptop, &tower]);
    assert_eq!(tower.ids(), laptop.ids());
    assert_eq!(laptop.world.recall(["forget", "--match", "lantern", "--yes"]).code, 0);
    laptop.world.digest(&["--summarizer", "extract"]);
    settle(&[&laptop, &tower]);
    assert_eq!((laptop.ids(), tower.ids()), (Vec::new(), Vec::new()));
    assert!(tower.pages().is_empty(), "{:?}", tower.pages());
}

#[test]
fn words_that_are_forgotten_do_not_come_back_with_an_item_that_was_closed_elsewhere() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = unencrypted(share.path(), ["laptop", "tower"]);
    digested(&laptop, 1, "lantern");
    settle(&[&laptop, &tower]);
    let closed = super::withdrawn::item(&tower, "lantern").unwrap();
    assert_eq!(tower.world.recall(["close", &closed]).code, 0);
    tower.exchange();
    // Before it hears of that.
    assert_eq!(laptop.world.recall(["forget", "--match", "lantern", "--yes"]).code, 0);
    laptop.world.digest(&["--summarizer", "extract"]);
    settle(&[&laptop, &tower]);
    assert!(!texts(share.path()).contains("lantern"));
    for machine in [&laptop, &tower] {
        assert_eq!(places_of(&machine.world, "lantern"), [""; 0]);
    }
}

#[test]
fn what_was_closed_of_a_session_leaves_no_text_when_the_session_goes() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = unencrypted(share.path(), ["laptop", "tower"]);
    digested(&laptop, 1, "lantern");
    settle(&[&laptop, &tower]);
    let closed = super::withdrawn::item(&tower, "lantern").unwrap();
    assert_eq!(tower.world.recall(["close", &closed]).code, 0);
    settle(&[&laptop, &tower]);
    assert_eq!(laptop.sync(&["remove", share.path().to_str().unwrap()]).code, 0);
    settle(&[&tower]);
    assert!(!texts(share.path()).contains("lantern"));
    assert_eq!(places_of(&tower.world, "lantern"), [""; 0]);
}

#[test]
fn what_grew_too_old_on_one_machine_stays_on_the_others() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = unencrypted(share.path(), ["laptop", "tower"]);
    let one = digested(&laptop, 1, "lantern");
    settle(&[&laptop, &tower]);
    tower.world.configure("[retention]\ndays = 5\n");
    tower.world.digest(&["--summarizer", "extract"]);
    settle(&[&tower, &laptop]);
    assert!(tower.ids().is_empty());
    assert_eq!(laptop.ids(), [one]);
}
