//! One transcript, and what becomes of it between two runs, and while one reads.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use crate::slices::feeding::{Outcome, assert_equal};
use crate::slices::sessions::EXTRACT;
use crate::support::held::mkfifo;
use crate::support::{World, age, assistant, changed, user};
use crate::transcripts::{S, asked, conversation, numbered, questions, write};

/// A conversation in which every kind of character stands, of one to four bytes.
fn many_scripts() -> Vec<u8> {
    let texts = [
        "Warum ist der Import so langsam? Größe: 3 µs",
        "なぜ遅いのですか。",
        "почему 👩‍💻 медленно?",
        "plain words, and \"quotes\"",
    ];
    let row = |(n, text): (usize, &&str)| {
        let at = |second: usize| format!("2026-11-20T10:0{n}:0{second}Z");
        user(S, &format!("u{n}"), &at(0), text) + &assistant(S, &format!("a{n}"), &at(5), &format!("Because of {text}, I think."))
    };
    texts.iter().enumerate().map(row).collect::<String>().into_bytes()
}

fn digested(world: &World) {
    let report = world.digest(EXTRACT);
    assert_eq!(report["rows_bad"], 0, "{report}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::size::runs(4, 12), failure_persistence: None, max_shrink_iters: 24, ..ProptestConfig::default() })]

    #[test]
    fn bytes_that_come_in_any_pieces_make_what_they_make_at_once(cuts in prop::collection::btree_set(0usize..3000, 1..7)) {
        let bytes = many_scripts();
        let whole = World::new();
        whole.transcript(&format!("-p/{S}.jsonl"), &bytes);
        digested(&whole);

        let world = World::new();
        let file = world.transcript(&format!("-p/{S}.jsonl"), "");
        let mut from = 0;
        for to in cuts.into_iter().filter(|cut| *cut < bytes.len()).chain([bytes.len()]) {
            let mut grown = fs::File::options().append(true).open(&file).unwrap();
            grown.write_all(&bytes[from..to]).unwrap();
            drop(grown);
            age(&file, Duration::from_secs(3600));
            digested(&world);
            from = to;
        }
        assert_equal(&Outcome::of(&whole), &Outcome::of(&world));
    }
}

/// What may befall a transcript between two runs.
#[derive(Debug, Clone)]
enum Event {
    /// It holds its first so many thousandths.
    Holds(usize),
    /// It was rewritten, with another number in the file system.
    Rewritten(usize),
    Gone,
    /// A folder stands in its place.
    Folder,
    Pipe,
    LinkToNowhere,
    /// It lies in another project's folder.
    Moved,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        4 => (0usize..=1000).prop_map(Event::Holds),
        2 => (0usize..=1000).prop_map(Event::Rewritten),
        1 => Just(Event::Gone),
        1 => Just(Event::Folder),
        1 => Just(Event::Pipe),
        1 => Just(Event::LinkToNowhere),
        1 => Just(Event::Moved),
    ];
    prop::collection::vec(event, 1..7)
}

fn clear(path: &Path) {
    let _ = fs::remove_dir(path);
    let _ = fs::remove_file(path);
}

fn befall(world: &World, event: &Event, bytes: &[u8]) {
    let place = |folder: &str| world.claude_dir().join("projects").join(folder).join(format!("{S}.jsonl"));
    let (here, elsewhere) = (place("-p"), place("-q"));
    for path in [&here, &elsewhere] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
    }
    match event {
        Event::Holds(share) if here.is_file() => write(&here, &bytes[..bytes.len() * share / 1000]),
        Event::Holds(share) | Event::Rewritten(share) => {
            clear(&here);
            write(&here, &bytes[..bytes.len() * share / 1000]);
        }
        Event::Gone => clear(&here),
        Event::Folder => {
            clear(&here);
            fs::create_dir(&here).unwrap();
        }
        Event::Pipe => {
            clear(&here);
            mkfifo(&here);
        }
        Event::LinkToNowhere => {
            clear(&here);
            std::os::unix::fs::symlink("nowhere.jsonl", &here).unwrap();
        }
        Event::Moved => {
            clear(&elsewhere);
            if here.is_file() {
                fs::rename(&here, &elsewhere).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::size::runs(4, 12), failure_persistence: None, max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn whatever_befell_a_transcript_once_it_is_there_its_content_is_in(events in events()) {
        let bytes = many_scripts();
        let whole = World::new();
        whole.transcript(&format!("-p/{S}.jsonl"), &bytes);
        digested(&whole);

        let world = World::new();
        for event in &events {
            befall(&world, event, &bytes);
            digested(&world);
        }
        befall(&world, &Event::Rewritten(1000), &bytes);
        digested(&world);
        let (one, other) = (whole.pages(), world.pages());
        prop_assert_eq!(one, other, "{:?}", events);
        prop_assert_eq!(whole.texts(S, "reply"), world.texts(S, "reply"));
        let again = world.digest(EXTRACT);
        prop_assert_eq!((&again["rows_new"], &again["sessions_digested"], &again["pages_written"]), (&0.into(), &0.into(), &0.into()));
    }
}

/// Replaces a file by other bytes and gives it the time it had.
fn replace_unseen(file: &Path, bytes: &[u8], in_place: bool) {
    let before = fs::metadata(file).unwrap();
    if !in_place {
        fs::remove_file(file).unwrap();
    }
    fs::write(file, bytes).unwrap();
    let opened = fs::File::options().write(true).open(file).unwrap();
    opened.set_modified(before.modified().unwrap()).unwrap();
    let after = fs::metadata(file).unwrap();
    assert_eq!((before.len(), before.mtime_nsec()), (after.len(), after.mtime_nsec()), "size and time are as they were");
}

#[test]
fn a_file_replaced_by_one_of_the_same_size_head_and_time_is_read() {
    for in_place in [true, false] {
        let world = World::new();
        let before = conversation(S, 30);
        let file = world.transcript(&format!("-p/{S}.jsonl"), &before);
        digested(&world);
        // From the 20th on: the head is the same.
        let after = before.replace("Question 2", "Question 7").replace("-u2", "-v2").replace("-a2", "-b2");
        assert_eq!(
            before[..4096],
            after.replace("Question 7:", "Question 2:").replace("-v2\"", "-u2\"").replace("-b2\"", "-a2\"")[..4096]
        );
        replace_unseen(&file, after.as_bytes(), in_place);
        let report = world.digest(EXTRACT);
        assert_eq!(report["files_read"], 1, "in place: {in_place}: {report}");
        for n in 70..80 {
            assert!(questions(&world).contains(&format!("Question {n}")), "in place: {in_place}: {n} is lost");
        }
        assert_eq!(world.digest(EXTRACT)["files_read"], 0, "a second look finds nothing");
    }
}

#[test]
fn a_file_whose_middle_alone_is_another_is_read() {
    let world = World::new();
    let before = conversation(S, 60);
    let file = world.transcript(&format!("-p/{S}.jsonl"), &before);
    digested(&world);
    // Rows 20 to 29 of 60: head and tail are the same, and so is the length.
    let after = before.replace("Question 2", "Question 7").replace("-u2", "-v2").replace("-a2", "-b2");
    assert_eq!(before[before.len() - 5000..], after[after.len() - 5000..]);
    replace_unseen(&file, after.as_bytes(), true);
    world.digest(EXTRACT);
    for n in 70..80 {
        assert!(questions(&world).contains(&format!("Question {n}")), "{n} is lost: {:?}", questions(&world));
    }
}

#[test]
fn a_file_that_was_only_touched_brings_no_news() {
    let world = World::new();
    let file = world.transcript(&format!("-p/{S}.jsonl"), conversation(S, 30));
    digested(&world);
    let before = world.everything();
    age(&file, Duration::from_secs(1800));
    fs::hard_link(&file, world.root().join("a backup")).unwrap();
    let report = world.digest(EXTRACT);
    for key in ["bytes_read", "rows_new", "rows_bad", "sessions_digested", "pages_written"] {
        assert_eq!(report[key], 0, "{key}: {report}");
    }
    let pages = changed(&before, &world.everything()).into_iter().filter(|path| path.starts_with(world.daily())).count();
    assert_eq!(pages, 0);
}

#[test]
fn a_session_moved_to_another_projects_folder_is_the_same_and_goes_on_there() {
    for folder in ["-a-new-name", "-z-new-name"] {
        let world = World::new();
        let file = world.transcript(&format!("-p/{S}.jsonl"), conversation(S, 3));
        digested(&world);
        let pages = world.pages();
        let moved = world.claude_dir().join("projects").join(folder).join(format!("{S}.jsonl"));
        fs::create_dir_all(moved.parent().unwrap()).unwrap();
        fs::rename(&file, &moved).unwrap();
        let report = world.digest(EXTRACT);
        assert_eq!((&report["rows_new"], &report["sessions_new"]), (&0.into(), &0.into()), "{report}");
        assert_eq!(world.pages(), pages, "{folder}");
        write(&moved, conversation(S, 4));
        assert_eq!(world.digest(EXTRACT)["rows_new"], 2, "{folder}");
        assert_eq!(questions(&world), numbered(0..4), "{folder}");
        assert!(world.recall(["show", S, "--raw"]).out.contains("Question 3"), "{folder}");
    }
}

#[test]
fn two_clients_that_write_into_one_file_by_turns_are_two_sessions() {
    let world = World::new();
    let other = S.replace('5', "6");
    let rows: String = (0..6).map(|n| asked(if n % 2 == 0 { S } else { &other }, n)).collect();
    let file = world.transcript(&format!("-p/{S}.jsonl"), "");
    for end in [rows.len() / 5, rows.len() / 2, rows.len() - 7, rows.len()] {
        write(&file, &rows[..end]);
        digested(&world);
    }
    assert_eq!(questions(&world), numbered([0, 2, 4]));
    assert_eq!(world.texts(&other, "prompt").len(), 3);
    assert_eq!(world.count("SELECT count(*) FROM session"), 2);
}

/// Lines of one JSON value each cut through by another client's: neither is whole, and what follows is.
#[test]
fn lines_that_two_clients_wrote_into_each_other_cost_themselves_alone() {
    let world = World::new();
    let (a, b) = (asked(S, 1), asked(S, 2));
    let torn = format!("{}{}{}\n", &a[..100], b.lines().next().unwrap(), &a[100..a.find('\n').unwrap()]);
    world.transcript(&format!("-p/{S}.jsonl"), asked(S, 0) + &torn + &asked(S, 3));
    let ran = world.recall(["digest", "--summarizer", "extract", "--json"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert_eq!(world.status()["bad_lines"], 1);
    assert_eq!(questions(&world), numbered([0, 3]));
    assert_eq!(world.recall(["digest"]).code, 0, "a second run says nothing new");
}

/// A writer that never rests, in pieces that end anywhere, while digests run: in the end every row is there once.
#[test]
fn a_file_that_grows_while_it_is_read_loses_and_doubles_nothing() {
    const ROWS: usize = 400;
    let world = World::new();
    let file = world.transcript(&format!("-p/{S}.jsonl"), "");
    let text = conversation(S, ROWS);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut grown = fs::File::options().append(true).open(&file).unwrap();
            for piece in text.as_bytes().chunks(997) {
                grown.write_all(piece).unwrap();
                std::thread::sleep(Duration::from_millis(2));
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            let ran = world.recall(["digest", "--ingest-only"]);
            assert!(ran.code == 0, "{ran:#?}");
        }
    });
    world.digest(&["--ingest-only"]);
    assert_eq!(questions(&world), numbered(0..ROWS));
    assert_eq!(world.texts(S, "reply").len(), ROWS);
}

#[test]
fn a_file_from_the_future_or_from_before_time_began_is_read_like_any() {
    for at in
        [SystemTime::UNIX_EPOCH - Duration::from_secs(86_400), SystemTime::UNIX_EPOCH + Duration::from_secs(200 * 365 * 86_400)]
    {
        let world = World::new();
        let file = world.transcript(&format!("-p/{S}.jsonl"), conversation(S, 2));
        fs::File::options().write(true).open(&file).unwrap().set_modified(at).unwrap();
        let ran = world.recall(["digest", "--summarizer", "extract", "--settle", "0m"]);
        assert_eq!(ran.code, 0, "{at:?}: {ran:#?}");
        assert_eq!(questions(&world), numbered(0..2), "{at:?}");
        assert_eq!(world.pages().len(), 2, "{at:?}");
        assert_eq!(world.digest(EXTRACT)["files_read"], 0, "{at:?}");
    }
}
