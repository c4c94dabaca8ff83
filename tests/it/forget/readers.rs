//! Who else is at the index, and what a rehearsal changes.

use std::fs;

use crate::forget::scene::{EXTRACT, OTHER, TELLS, TEXT, WORD, path_of, told_world};
use crate::support::data_folder::{assert_gone, places_of};
use crate::support::{changed, user};

#[test]
fn a_reader_that_holds_the_index_open_is_told_of_and_the_next_run_ends_it() {
    let world = told_world(&EXTRACT);
    let reader = world.database();
    reader.execute_batch("BEGIN").unwrap();
    let held: i64 = reader.query_row("SELECT sum(items) FROM bundle", [], |r| r.get(0)).unwrap();
    let ran = world.recall(["forget", "--yes", "--match", TEXT]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains("something else is reading the index: until this is run again"), "{ran:#?}");
    assert_eq!(
        reader.query_row("SELECT sum(items) FROM bundle", [], |r| r.get::<_, i64>(0)).unwrap(),
        held,
        "it reads on undisturbed"
    );
    assert!(!places_of(&world, WORD).is_empty());
    drop(reader);
    let ran = world.recall(["forget", "--yes", "--match", TEXT]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "nothing found\n"), "{ran:#?}");
    assert_gone(&world, WORD);
}

#[test]
fn a_run_under_way_is_not_disturbed() {
    let world = told_world(&EXTRACT);
    let lock = fs::File::options().write(true).open(world.data_dir().join("lock")).unwrap();
    let mut lock = fd_lock::RwLock::new(lock);
    let held = lock.write().unwrap();
    for arguments in [&["forget", "--yes", "--match", TEXT][..], &["forget", "--match", TEXT, "--dry-run"]] {
        let ran = world.recall(arguments);
        assert_eq!(ran.code, 2, "{ran:#?}");
        assert!(ran.err.contains("a run is under way: try again when it has ended"), "{ran:#?}");
    }
    drop(held);
    assert!(!places_of(&world, WORD).is_empty());
}

#[test]
fn what_was_cut_short_is_ended_by_the_next_run() {
    for what in [["--match", TEXT], ["--session", TELLS]] {
        let world = told_world(&EXTRACT);
        let cut = world.recall_with(["forget", "--yes"].into_iter().chain(what), &[("RECALL_KILL_AT", "taken out:1")]);
        assert_eq!(cut.code, -1, "{cut:#?}");
        assert!(places_of(&world, WORD).iter().any(|place| place.ends_with("2026-11-20.md")), "the pages are not written yet");
        let next =
            if what[0] == "--match" { world.recall(["forget", "--yes"].into_iter().chain(what)) } else { world.recall(["digest"]) };
        assert_eq!(next.code, 0, "{next:#?}");
        assert_gone(&world, WORD);
        world.digest(&EXTRACT);
        assert_gone(&world, WORD);
    }
}

#[test]
fn a_rehearsal_lists_what_would_go_and_changes_no_byte() {
    let world = told_world(&EXTRACT);
    let file = world.claude_dir().join("projects").join(path_of(OTHER));
    let more = user(OTHER, &crate::forget::scene::id("d1"), "2026-11-20T14:00:00Z", "And the Zanzibarquux lagoon?");
    fs::write(&file, fs::read_to_string(&file).unwrap() + &more).unwrap();
    let before = world.everything();
    let whole = world.recall(["forget", "--session", TELLS, "--dry-run"]);
    let text = world.recall(["forget", "--match", TEXT, "--dry-run"]);
    assert_eq!(changed(&before, &world.everything()), [""; 0].map(std::path::PathBuf::from));
    assert_eq!((whole.code, text.code), (0, 0), "{whole:#?}{text:#?}");
    let lines: Vec<&str> = whole.out.lines().collect();
    assert!(lines[0].starts_with("aaaaaaaa  2026-11-20  shop  all "), "{whole:#?}");
    assert!(lines[1].starts_with("would forget 1 session whole: "), "{whole:#?}");
    // What is not read yet counts as well.
    assert!(text.out.contains("cccccccc  2026-11-20  shop  1 record  "), "{text:#?}");
    assert!(text.out.contains("would forget parts of 3 sessions: "), "{text:#?}");
    // And it is what then happens.
    let done = world.recall(["forget", "--yes", "--match", TEXT]);
    assert_eq!(done.out.lines().next().map(|line| line.replace("forgot", "would forget")).as_deref(), text.out.lines().last());
}
