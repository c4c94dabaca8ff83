//! Pages whose sessions the index lost: what deletes sessions deletes them, too.

use std::fs;
use std::path::{Path, PathBuf};

use crate::forget::retention::{DAY, NEW, OLD, forgotten, kept, rows};
use crate::forget::scene::{self, EXTRACT, WORD, path_of};
use crate::support::data_folder::assert_gone;
use crate::support::{World, age, files_below};

/// The index and the transcripts are gone: of both sessions the pages are left, the old one's with a note.
fn left_in_pages() -> World {
    let world = kept();
    let page = page_of(&world, OLD).unwrap();
    fs::write(&page, fs::read_to_string(&page).unwrap() + "\n## Notes\n\nThe key is in the blue drawer.\n").unwrap();
    world.lose_index();
    [OLD, NEW].iter().for_each(|id| fs::remove_file(world.claude_dir().join("projects").join(path_of(id))).unwrap());
    world
}

fn page_of(world: &World, session: &str) -> Option<PathBuf> {
    files_below(&world.daily()).into_iter().find(|page| page.to_str().unwrap().ends_with(&format!("-{}.md", &session[..8])))
}

#[test]
fn a_page_whose_session_the_index_lost_is_deleted_when_it_is_too_old() {
    for first_run_without in [false, true] {
        let world = left_in_pages();
        if first_run_without {
            assert_eq!(world.recall(["digest", "--summarizer", "extract"]).code, 1, "it names both sessions");
            assert!(page_of(&world, OLD).is_some());
        }
        world.configure("[retention]\ndays = 60\n");
        let rehearsed = world.recall(["digest", "--dry-run", "--json"]);
        let rehearsed: serde_json::Value = serde_json::from_str(&rehearsed.out).unwrap();
        assert_eq!(rehearsed["sessions_forgotten"], 1, "{rehearsed}");
        assert!(page_of(&world, OLD).is_some(), "a dry run deletes nothing");
        let ran = world.recall(["digest", "--summarizer", "extract"]);
        assert!(ran.out.contains("1 session older than `retention.days`"), "{ran:#?}");
        assert_eq!((page_of(&world, OLD), page_of(&world, NEW).is_some()), (None, true), "{ran:#?}");
        assert_gone(&world, WORD);
        let of_day = fs::read_to_string(world.daily().join("2026-09/2026-09-01.md")).unwrap();
        assert!(of_day.ends_with("\n## Notes\n\nThe key is in the blue drawer.\n"), "{of_day}");
        assert_eq!(forgotten(&world.digest(&EXTRACT)), 0);
    }
}

#[test]
fn a_page_whose_session_the_index_lost_is_deleted_when_its_project_is_excluded() {
    let world = left_in_pages();
    world.configure("[privacy]\nexclude_projects = [\"elsewhere\"]\n");
    world.recall(["digest", "--summarizer", "extract"]);
    assert!(page_of(&world, OLD).is_some() && page_of(&world, NEW).is_some());
    world.configure("[privacy]\nexclude_projects = [\"shop\"]\n");
    let rehearsed = world.recall(["digest", "--dry-run", "--json"]);
    let rehearsed: serde_json::Value = serde_json::from_str(&rehearsed.out).unwrap();
    assert_eq!(rehearsed["sessions_excluded"], 2, "{rehearsed}");
    let told = world.recall(["digest", "--dry-run"]).out;
    assert!(told.contains("would delete    2 sessions with a part in an excluded project"), "{told}");
    assert_eq!(world.digest(&EXTRACT)["sessions_excluded"], 2);
    assert!(page_of(&world, OLD).is_none() && page_of(&world, NEW).is_none());
    assert!(world.digest(&EXTRACT)["sessions_excluded"].is_null());
}

#[test]
fn a_text_that_is_forgotten_takes_the_page_along_whose_session_the_index_lost() {
    let world = left_in_pages();
    let page = page_of(&world, NEW).unwrap();
    let notes = format!("\n## Notes\n\nAsk for the key.\nThe {WORD} is drained.\n");
    fs::write(&page, fs::read_to_string(&page).unwrap() + &notes).unwrap();
    let told = world.recall(["forget", "--match", WORD, "--dry-run"]).out;
    let page_and_line = |verb: &str| {
        format!(
            "{verb} 1 page of sessions that the index does not know\n{verb} 1 line of your notes in {}\n",
            &path_below(&world, &page)
        )
    };
    assert!(told.contains("  page  ") && told.ends_with(&page_and_line("would forget")), "{told}");
    assert!(page_of(&world, OLD).is_some(), "a dry run deletes nothing");
    let ran = world.recall(["forget", "--match", WORD, "--yes"]);
    assert!(ran.code == 0 && ran.out.ends_with(&page_and_line("forgot")), "{ran:#?}");
    assert_gone(&world, WORD);
    assert_eq!(page_of(&world, OLD), None);
    let kept = [fs::read_to_string(page).unwrap(), fs::read_to_string(world.daily().join("2026-09/2026-09-01.md")).unwrap()];
    assert!(
        kept[0].ends_with("\n## Notes\n\nAsk for the key.\n") && kept[1].contains("The key is in the blue drawer."),
        "{kept:#?}"
    );
    // Nor is it read again.
    age(&world.transcript(&path_of(OLD), rows(OLD, "2026-09-01", "Drain the Zanzibarquux lagoon.")), DAY);
    assert_eq!(world.digest(&EXTRACT)["sessions_new"], 0);
}

fn path_below(world: &World, page: &Path) -> String {
    page.strip_prefix(world.data_dir()).unwrap().display().to_string()
}

#[test]
fn a_text_that_is_forgotten_is_on_no_page_that_outlived_the_index_of_its_session() {
    let world = kept();
    world.lose_index();
    let ran = world.recall(["forget", "--match", WORD, "--yes"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    assert_eq!((page_of(&world, OLD), page_of(&world, NEW).is_some()), (None, true), "{ran:#?}");
    assert_gone(&world, WORD);
}

#[test]
fn what_is_forgotten_first_of_a_lost_index_takes_no_other_page_along() {
    let world = kept();
    world.lose_index();
    fs::remove_file(world.claude_dir().join("projects").join(path_of(OLD))).unwrap();
    for what in [&["--session", OLD][..], &["--match", "no such words"]] {
        world.recall(["forget", "--yes"].iter().chain(what));
        assert_eq!((page_of(&world, OLD), page_of(&world, NEW).is_some()), (None, true), "{what:?}");
    }
}

#[test]
fn notes_of_a_page_that_no_longer_tells_its_day_move_to_today() {
    let world = left_in_pages();
    let page = page_of(&world, OLD).unwrap();
    let text = fs::read_to_string(&page).unwrap();
    let text: String = text.split_inclusive('\n').filter(|line| !line.starts_with("ended: ")).collect();
    fs::write(page.with_file_name("mine.md"), text).unwrap();
    fs::remove_file(page).unwrap();
    assert_eq!(world.recall(["forget", "--session", OLD, "--yes"]).code, 0);
    let today = fs::read_to_string(world.daily().join("2026-11/2026-11-21.md")).unwrap();
    assert!(today.contains("The key is in the blue drawer."), "{today}");
}

#[test]
fn no_day_keeps_the_title_of_a_page_that_is_deleted() {
    let world = World::new();
    let went_on = rows(OLD, "2026-09-02", "And the Zanzibarquux weir?")
        .replace(&scene::id("11"), &scene::id("13"))
        .replace(&scene::id("12"), &scene::id("14"));
    let file = world.transcript(&path_of(OLD), rows(OLD, "2026-09-01", "Drain the Zanzibarquux lagoon.") + &went_on);
    age(&file, DAY * 80);
    world.digest(&EXTRACT);
    assert_eq!(files_below(&world.daily()).len(), 3, "a page of the session, and one of each day");
    world.lose_index();
    fs::remove_file(file).unwrap();
    assert_eq!(world.recall(["forget", "--session", OLD, "--yes"]).code, 0);
    assert_eq!(files_below(&world.daily()), Vec::<PathBuf>::new());
    assert_gone(&world, WORD);
}
