//! Indexes of other formats: one that a program of format 8 wrote, and those that are too old or of another program.

use std::fs;

use crate::support::World;
use rusqlite::Connection;

/// What a digest was paid for, which has what was settled, and what was forgotten: see `fixtures/README.md`.
const PAID: &str = "e1f1ab06-7af1-4a7a-b6b5-6ca5bb65c0e1";
const SETTLED: &str = "64b0b6d9-e371-40e8-affe-78e0505dfb3f";
const FORGOTTEN: &str = "a6c9dc42-64f5-4a1a-963b-8eb9816ce445";
const SESSIONS: [&str; 6] = [
    "45c26014-54cd-4c3c-8c18-6cc6c1c48130", SETTLED, "86346661-0031-4c66-8611-00c865b6181e",
    "959386ce-0cd8-4cbc-9d78-7e0a84b4bfae", PAID, "f518df9a-b229-40f4-ae26-378c520c4ac8",
];
const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

fn index(world: &World) -> std::path::PathBuf {
    world.data_dir().join("recall.db")
}

fn all_is_there(world: &World) {
    for id in SESSIONS {
        let ran = world.recall(["show", id, "--full"]);
        assert!(ran.code == 0 && ran.out.len() > 300, "{ran:#?}");
    }
    assert_ne!(world.recall(["show", FORGOTTEN]).code, 0, "what was forgotten stays so");
    let search = |words: &str| world.recall(["search", words]).out;
    assert!(
        search("offset keyset").contains("64b0b6d9") && search("title:payment").contains("e1f1ab06"),
        "{}",
        search("title:payment")
    );
    assert!(search("Gitea").contains("Deploys go through Gitea"), "{}", search("Gitea"));
    let context = world.recall(["context", "--cwd", "/home/dev/src/shop"]).out;
    assert!(context.contains("Deploys go through Gitea") && !context.contains("n763131ea"), "what was settled stays so: {context}");
    assert_eq!(world.count("SELECT count(*) FROM user_closed WHERE id = 'n763131ea'"), 1);
    assert!(world.recall(["show", PAID]).out.contains("The payment client waits longer"), "nothing is paid for again");
    assert_eq!(world.status()["spent_usd"], 0.01);
}

#[test]
fn an_index_of_format_8_is_digested_searched_and_shown() {
    // With its transcripts, and long after they are gone.
    for transcripts in [&["fork", "compact", "subagent", "retry", "clear"][..], &[]] {
        let world = World::with_fixtures(transcripts);
        world.put_index_of_format_8();
        let report = world.digest(&EXTRACT);
        // The forgotten one is read past; of the others nothing is new but the evidence that was not kept then.
        let new = world.count("SELECT count(*) FROM source WHERE evident") > 0;
        assert_eq!(report["rows_new"] != 0, new && !transcripts.is_empty(), "{report}");
        // Those that no model digested are, by today's rules; nothing is paid for again.
        assert_eq!((&report["sessions_new"], report["sessions_digested"] != 0), (&0.into(), new), "{report}");
        all_is_there(&world);
        let again = world.digest(&EXTRACT);
        assert_eq!(
            (&again["files_read"], &again["rows_new"], &again["sessions_digested"]),
            (&0.into(), &0.into(), &0.into()),
            "{again}"
        );
        assert!(world.findings("index", &[])[0].ends_with("6 sessions, 6 digests, intact"), "{:?}", world.findings("index", &[]));
    }
}

#[test]
fn whoever_reads_an_index_of_format_8_first_upgrades_it() {
    for read in [&["status"][..], &["search", "offset"], &["export"], &["show", PAID], &["doctor"]] {
        let world = World::new();
        world.put_index_of_format_8();
        let ran = world.recall(read);
        assert!(ran.code < 2, "{read:?}: {ran:#?}");
        assert_eq!(world.count("PRAGMA user_version"), 36, "{read:?}");
        all_is_there(&world);
    }
}

#[test]
fn an_index_that_was_upgraded_is_made_as_a_new_one_is() {
    let (old, new) = (World::new(), World::with_fixtures(&["plain"]));
    old.put_index_of_format_8();
    old.digest(&EXTRACT);
    new.digest(&EXTRACT);
    for pragma in ["user_version", "auto_vacuum", "page_size", "encoding", "journal_mode", "application_id"] {
        let value = |world: &World| {
            let read = |r: &rusqlite::Row<'_>| r.get::<_, rusqlite::types::Value>(0);
            world.database().query_row(&format!("PRAGMA {pragma}"), [], read).expect("a pragma")
        };
        assert_eq!(value(&old), value(&new), "{pragma}");
    }
    let columns = |world: &World| {
        let sql = "SELECT count(*) || ' ' || group_concat(name) FROM (SELECT m.name || '.' || c.name AS name
             FROM sqlite_schema m, pragma_table_xinfo(m.name) c ORDER BY m.name, c.cid)";
        world.database().query_row(sql, [], |r| r.get::<_, String>(0)).expect("columns")
    };
    assert_eq!(columns(&old), columns(&new));
}

/// An index that says it has an older format than any that is upgraded.
fn too_old(world: &World, format: i64) {
    world.put_index_of_format_8();
    let back = format!("ALTER TABLE digest DROP COLUMN basis; PRAGMA user_version = {format}");
    Connection::open(index(world)).and_then(|db| db.execute_batch(&back)).expect("another format");
}

/// The number of the format is a few bytes like any other.
#[test]
fn a_number_that_cannot_be_the_format_is_damage() {
    for format in [5, 123_456, -1] {
        let world = World::with_fixtures(&["plain"]);
        world.digest(&EXTRACT);
        Connection::open(index(&world)).and_then(|db| db.pragma_update(None, "user_version", format)).expect("another number");
        let ran = world.recall(["status"]);
        assert!(ran.code == 2 && ran.err.contains("its format number is not valid"), "{format}: {ran:#?}");
        assert!(world.recall(["doctor", "--fix"]).out.contains("restored    the copy of "), "{format}");
        assert_eq!(world.count("SELECT count(*) FROM session"), 1);
    }
}

#[test]
fn an_index_of_a_format_before_the_eighth_is_refused_with_the_way_out_and_left_as_it_is() {
    for format in [1, 5, 7] {
        let world = World::with_fixtures(&["plain"]);
        too_old(&world, format);
        let before = fs::read(index(&world)).expect("the index");
        for command in
            [&["digest"][..], &["digest", "--dry-run"], &["status"], &["search", "x"], &["show", "64b0b6d9"], &["export"]]
        {
            let ran = world.recall(command);
            assert_eq!(ran.code, 2, "{format} and {command:?}: {ran:#?}");
            // A dry run is of a copy of it.
            let named =
                if command.contains(&"--dry-run") { "recall.db".into() } else { index(&world).to_string_lossy().into_owned() };
            let range = format!("(format {format}, this one reads 8 to 36)");
            for part in [&*named, &range, "too old", "recall export > all.jsonl", "recall import all.jsonl"] {
                assert!(ran.err.contains(part), "{format} and {command:?}: no `{part}` in {ran:#?}");
            }
        }
        for doctor in [&["doctor"][..], &["doctor", "--fix"]] {
            let ran = world.recall(doctor);
            assert!(ran.code == 1 && ran.out.contains("too old") && ran.out.contains("`recall import`"), "{ran:#?}");
        }
        assert!(fs::read(index(&world)).expect("the index") == before, "{format}: it is not as it was");
        let files = crate::support::files_below(&world.data_dir());
        assert!(!files.iter().any(|file| file.to_string_lossy().contains("damaged")), "nothing is set aside: {files:?}");
    }
}

/// The way out, with an export in place of the older program's: nothing but the index is in its way.
#[test]
fn what_was_exported_is_imported_when_the_index_that_is_too_old_was_moved_away() {
    let world = World::new();
    world.put_index_of_format_8();
    let exported = world.recall(["export"]).out;
    too_old(&world, 5);
    fs::write(world.root().join("all.jsonl"), exported).expect("the exported file");
    assert_eq!(world.recall(["import", "all.jsonl"]).code, 2);
    fs::rename(index(&world), world.root().join("old.db")).expect("moved away");
    assert_eq!(world.recall(["import", "all.jsonl"]).code, 0);
    assert_eq!(world.count("SELECT count(*) FROM session"), 6);
    assert_eq!(world.count("SELECT count(*) FROM note"), 1);
    assert_eq!(world.count("SELECT count(*) FROM user_closed"), 1);
}
