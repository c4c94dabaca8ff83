//! `recall doctor --fix` on a damaged index: what comes back, what is told of the rest, and that it may be cut short.

use std::collections::BTreeSet;
use std::fs;

use crate::damage::kinds::{ALL, Damage, PAGE, Shows, noise, over, root_of};
use crate::damage::scene::{
    EARLY_NOTE, FORGOTTEN, GONE, LATE, LATE_NOTE, ONLY_HERE, SECRET, Scene, all_but, id, living, put, session,
};
use crate::support::data_folder;
use crate::support::{Ran, World, files_below};

pub fn by_name(name: &str) -> &'static Damage {
    ALL.iter().find(|damage| damage.name == name).expect("a damage")
}

pub fn aside(scene: &Scene) -> Vec<String> {
    let names =
        files_below(&scene.world.data_dir()).into_iter().filter_map(|f| Some(f.file_name()?.to_string_lossy().into_owned()));
    names.filter(|name| name.starts_with("recall.db.damaged-")).collect()
}

pub fn notes(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|note| (*note).to_owned()).collect()
}

/// What was forgotten stands nowhere, set aside or not.
pub fn assert_forgotten(scene: &Scene, what: &str) {
    assert!(!scene.holds().0.contains(&id(FORGOTTEN)), "{what}");
    let held =
        data_folder::files(&scene.world).into_iter().find(|(_, bytes)| memchr::memmem::find(bytes, SECRET.as_bytes()).is_some());
    assert!(held.is_none(), "{what}: it stands in {:?}", held.map(|(name, _)| name));
}

#[test]
fn every_damage_ends_in_an_index_with_all_that_a_copy_and_the_transcripts_have() {
    let scene = Scene::new();
    for damage in ALL.iter().filter(|damage| damage.shows != Shows::Never) {
        scene.restore();
        let index_before = fs::read(scene.index()).expect("the index");
        (damage.inflict)(&scene);
        let damaged = fs::read(scene.index()).ok().filter(|bytes| !bytes.is_empty());
        let ran = scene.run(&["doctor", "--fix"]);
        assert!(ran.code < 2 && ran.out.contains("restored    the copy of "), "{}: {ran:#?}", damage.name);
        scene.is_well();
        let (sessions, told) = scene.holds();
        assert!(sessions.is_superset(&living()) && sessions.contains(&id(GONE)), "{}: {sessions:?}", damage.name);
        assert!(told.contains(EARLY_NOTE), "{}: {told:?}", damage.name);
        assert_forgotten(&scene, damage.name);
        assert_ne!(fs::read(scene.index()).expect("the index"), index_before);
        let kept: Vec<Vec<u8>> =
            aside(&scene).iter().map(|name| fs::read(scene.world.data_dir().join(name)).expect("a file")).collect();
        match damaged {
            Some(bytes) => assert!(kept.contains(&bytes), "{}: it is set aside as it was: {:?}", damage.name, aside(&scene)),
            None => assert!(kept.is_empty(), "{}: {:?}", damage.name, aside(&scene)),
        }
        // What it did not say is lost is there.
        let all_there = sessions.contains(&id(ONLY_HERE)) && told.contains(LATE_NOTE);
        let said = ["lost: ", "it may have contained more", "data stored since the last copy may be lost"]
            .iter()
            .any(|what| ran.err.contains(what));
        assert!(all_there || said, "{}: {ran:#?}", damage.name);
        assert_eq!(scene.run(&["digest", "--summarizer", "extract"]).code, 0, "{}", damage.name);
        assert_forgotten(&scene, damage.name);
    }
}

#[test]
fn a_page_that_cannot_be_read_costs_what_lies_on_it() {
    let scene = Scene::new();
    let zeroed = [0; PAGE as usize];
    // The transcripts' places; money; documents to search in: all of it can be had again, or lies elsewhere.
    for table in ["file", "doc", "search_data", "run", "likeness"] {
        scene.restore();
        over(&scene.index(), root_of(&scene, table), &zeroed);
        let ran = scene.run(&["doctor", "--fix"]);
        scene.is_well();
        assert_eq!(scene.holds(), (all_but(&[]), notes(&[EARLY_NOTE, LATE_NOTE])), "{table}: {ran:#?}");
        assert!(ran.out.contains("lost        nothing, as far as is known"), "{table}: {ran:#?}");
        assert!(scene.run(&["search", "topic13"]).out.contains(&id(ONLY_HERE)[..8]), "{table}");
    }
    // The notes: those of the copy come back, the later one from the page of its day. That there was a third, which no page shows yet, is
    // known from where notes are looked up by their ids.
    scene.restore();
    assert_eq!(scene.run(&["remember", "--everywhere", "Deploys wait for the nightly backup"]).code, 0);
    over(&scene.index(), root_of(&scene, "note"), &zeroed);
    let ran = scene.run(&["doctor", "--fix"]);
    assert_eq!(scene.holds(), (all_but(&[]), notes(&[EARLY_NOTE, LATE_NOTE])), "{ran:#?}");
    assert!(ran.code == 1 && ran.err.contains("lost: 0 sessions, 0 digests, 1 note"), "{ran:#?}");
}

/// The rows of a query, to be compared.
fn rows(scene: &Scene, sql: &str) -> Vec<String> {
    let db = scene.world.database();
    let mut query = db.prepare(sql).expect("a table");
    let columns = query.column_count();
    let row = |r: &rusqlite::Row<'_>| (0..columns).map(|at| r.get::<_, rusqlite::types::Value>(at)).collect::<Result<Vec<_>, _>>();
    query.query_map([], row).expect("rows").map(|row| format!("{:?}", row.expect("a row"))).collect()
}

/// The only other place where the user's words are.
#[test]
fn notes_and_settled_items_that_only_pages_show_come_back() {
    let scene = Scene::new();
    let text = |sql: &str| scene.world.database().query_row(sql, [], |r| r.get::<_, String>(0)).expect("a text");
    let first = |n: usize| {
        text(&format!("SELECT o.id FROM open_item o JOIN session s ON s.pk = o.session WHERE s.id = '{}' ORDER BY o.place", id(n)))
    };
    let (in_copy, read_again) = (first(5), first(LATE));
    let home = scene.world.home();
    let todo = "Rotate the keys of the *staging* cluster (both)";
    assert_eq!(scene.run(&["remember", "--kind", "todo", "--project", home.to_str().expect("a path"), todo]).code, 0);
    let note = text("SELECT id FROM note WHERE kind = 'todo'");
    for item in [&in_copy, &read_again, &note] {
        assert_eq!(scene.run(&["close", item]).code, 0, "{item}");
    }
    assert_eq!(scene.run(&["digest", "--summarizer", "extract"]).code, 0);
    let others =
        "SELECT id, text, kind, author, p.key FROM note n JOIN project p ON p.pk = n.project WHERE kind <> 'todo' ORDER BY id";
    let before = rows(&scene, others);
    let closed = scene.world.root().join("closed");
    put(&scene.world.data_dir(), &closed);
    for copy in [true, false] {
        fs::remove_dir_all(scene.world.data_dir()).expect("the data folder");
        put(&closed, &scene.world.data_dir());
        if !copy {
            scene.remove_copies();
        }
        (by_name("a garbled header").inflict)(&scene);
        let ran = scene.run(&["doctor", "--fix"]);
        assert!(ran.code == 1 && ran.err.contains("the damaged index could not be read"), "{ran:#?}");
        assert_eq!(rows(&scene, others), before, "copy: {copy}: {ran:#?}");
        // No session is of the project of this one, so it is shown in full and nothing is guessed.
        assert!(ran.err.contains(&format!("note {note} is left only in a page")) && ran.err.contains(todo), "{ran:#?}");
        assert_eq!(scene.run(&["digest", "--summarizer", "extract"]).code, 0);
        let context = scene.run(&["context", "--cwd", "/home/dev/src/shop"]).out;
        for item in [&in_copy, &read_again] {
            let count = |sql: &str| scene.world.count(&format!("SELECT count(*) FROM {sql} WHERE id = '{item}'"));
            assert_eq!((count("open_item"), count("user_closed")), (1, 1), "copy: {copy}: {ran:#?}");
            assert!(!context.contains(item.as_str()), "copy: {copy}: {item} is settled: {context}");
        }
    }
}

/// What cannot be known is named by its kind, and never as nothing.
#[test]
fn what_could_not_be_listed_is_named() {
    let scene = Scene::new();
    let budgets = "money spent since the last copy does not count towards the limits";
    for (table, told) in [("spend", "its record of spending among them"), ("user_closed", "its closed items among them")] {
        scene.restore();
        over(&scene.index(), root_of(&scene, table), &[0; PAGE as usize]);
        let ran = scene.run(&["doctor", "--fix"]);
        assert!(ran.code == 1 && ran.err.contains(told) && ran.err.contains("it may have contained more"), "{table}: {ran:#?}");
        assert_eq!(ran.err.contains(budgets), table == "spend", "{table}: {ran:#?}");
    }
    scene.restore();
    (by_name("random bytes").inflict)(&scene);
    let ran = scene.run(&["doctor", "--fix"]);
    for told in ["notes and closed items that are on no page", "digests by the model", budgets] {
        assert!(ran.err.contains(told), "{told}: {ran:#?}");
    }
}

#[test]
fn a_session_of_which_the_digest_alone_can_be_read_stays_with_it() {
    let scene = Scene::new();
    over(&scene.index(), root_of(&scene, "source"), &[0; PAGE as usize]);
    let ran = scene.run(&["doctor", "--fix"]);
    assert!(ran.code == 1 && ran.err.contains("1 session is left with the digest only"), "{ran:#?}");
    for _ in 0..2 {
        assert_eq!(scene.run(&["digest", "--summarizer", "extract"]).code, 0);
        assert_eq!(scene.holds().0, all_but(&[]), "the next run keeps it, though it could make none of it");
    }
    assert!(scene.run(&["show", &id(ONLY_HERE)]).out.contains("topic13"));
}

#[test]
fn what_is_lost_is_said_in_numbers() {
    let scene = Scene::new();
    // Its rows are unreadable, its digest as well; that there was such a session stands on another page.
    over(&scene.index(), root_of(&scene, "bundle"), &[0; PAGE as usize]);
    over(&scene.index(), root_of(&scene, "digest"), &[0; PAGE as usize]);
    over(&scene.index(), root_of(&scene, "source"), &[0; PAGE as usize]);
    let ran = scene.run(&["doctor", "--fix"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    scene.is_well();
    let (sessions, told) = scene.holds();
    assert_eq!((sessions, told), (all_but(&[ONLY_HERE]), notes(&[EARLY_NOTE, LATE_NOTE])), "{ran:#?}");
    assert!(ran.err.contains("lost: 1 session, at least 2 digests, 0 notes"), "{ran:#?}");
    assert!(ran.err.contains("it may have contained more"), "its digests could not be counted: {ran:#?}");
}

/// A world in which the model was paid for five digests, with no copy of its index.
fn paid_for() -> Scene {
    let world = World::new();
    world.configure(
        "[digest]\nsummarizer = \"claude\"\nbacklog = 1000\nmax_sessions = 1000\nmax_cost_usd = 100.0\nmax_cost_usd_per_day = 100.0\n",
    );
    let reply = r#"{\"title\":\"By the model\",\"request\":\"r\",\"completed\":[\"Done\"]}"#;
    let answer = format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{reply}","total_cost_usd":0.001}}"#);
    world.fake_claude(&format!("#!/bin/sh\ncat > /dev/null\ncat <<'REPLY'\n{answer}\nREPLY\n"));
    for n in 1..6 {
        world.transcript(&format!("-home-dev-src-shop/{}.jsonl", id(n)), session(n));
    }
    world.digest(&["--summarizer", "claude"]);
    assert_eq!(world.count("SELECT count(*) FROM digest WHERE summarizer = 'claude'"), 5);
    for copy in ["recall.db.copy", "recall.db.copy-checked"] {
        fs::remove_file(world.data_dir().join(copy)).expect("the copy");
    }
    let good = world.root().join("good");
    put(&world.data_dir(), &good);
    Scene::of(world, good)
}

#[test]
fn digests_that_cannot_be_counted_are_not_said_to_be_none() {
    let scene = paid_for();
    let pages = scene.world.daily();
    for (tables, has_pages, told) in [
        (&["digest"][..], true, "not in the repaired index: 0 sessions, at least 5 digests (5 of them by the model), 0 notes"),
        (&["digest"], false, "lost: 0 sessions, at least 5 digests (5 of them by the model), 0 notes"),
        (&["digest", "page"], false, "lost: 0 sessions, at least 5 digests (5 of them by the model), 0 notes"),
        (
            &["digest", "spend"],
            true,
            "parts of the damaged index, its digests and record of spending among them, could not be read",
        ),
        // Their pages say so.
        (
            &["digest", "page", "spend"],
            true,
            "not in the repaired index: 0 sessions, at least 5 digests (5 of them by the model), 0 notes",
        ),
    ] {
        scene.restore();
        if !has_pages {
            fs::remove_dir_all(&pages).expect("the pages");
        }
        tables.iter().for_each(|table| over(&scene.index(), root_of(&scene, table), &[0; PAGE as usize]));
        let ran = scene.run(&["doctor", "--fix"]);
        assert!(ran.code == 1 && ran.err.contains(told), "{tables:?}: {ran:#?}");
        assert!(!ran.err.contains(" 0 digests"), "{tables:?}: {ran:#?}");
        let taken = scene.world.count("SELECT count(*) FROM digest WHERE summarizer = 'claude'");
        assert_eq!(taken, if has_pages { 5 } else { 0 }, "{tables:?}: what pages hold is taken back: {ran:#?}");
        let spent = scene.world.status()["spent_usd"].as_f64().expect("a number");
        assert!((spent - 0.005).abs() < 1e-9 || !has_pages, "{tables:?}: {spent}: {ran:#?}");
    }
}

#[test]
fn without_a_copy_what_can_be_read_is_saved_and_what_was_forgotten_stays_so() {
    let scene = Scene::new();
    scene.remove_copies();
    over(&scene.index(), root_of(&scene, "file"), &[0; PAGE as usize]);
    let ran = scene.run(&["doctor", "--fix"]);
    assert!(ran.out.contains("there is no copy of the index"), "{ran:#?}");
    scene.is_well();
    assert_eq!(scene.holds(), (all_but(&[]), notes(&[EARLY_NOTE, LATE_NOTE])), "{ran:#?}");
    assert_forgotten(&scene, "no copy");
    let digests = scene.world.count("SELECT count(*) FROM digest WHERE superseded = 0");
    assert_eq!(digests, 12, "no digest is made or paid for again: {ran:#?}");
    assert!(scene.copy().is_file(), "a new copy is kept");
}

#[test]
fn where_nothing_can_be_read_it_says_that_what_was_forgotten_comes_in_again() {
    let scene = Scene::new();
    scene.remove_copies();
    fs::write(scene.index(), noise(50_000)).expect("noise");
    let ran = scene.run(&["doctor", "--fix"]);
    assert!(ran.code == 1 && ran.err.contains("forget them again"), "{ran:#?}");
    assert!(ran.err.contains("the damaged index could not be read") && !ran.out.contains("lost        nothing"), "{ran:#?}");
    assert!(ran.err.contains("2 sessions are left only in their pages"), "{ran:#?}");
    scene.is_well();
    let (sessions, _) = scene.holds();
    assert_eq!(sessions, living().into_iter().chain([id(FORGOTTEN)]).collect());
    assert_eq!(scene.run(&["forget", "--yes", "--session", &id(FORGOTTEN)]).code, 0);
    assert_forgotten(&scene, "forgotten once more");
    assert!(aside(&scene).is_empty(), "what was set aside may hold it and is gone: {:?}", aside(&scene));
}

#[test]
fn a_damaged_copy_is_not_taken() {
    let scene = Scene::new();
    for (damaged, told) in [
        (vec![scene.copy()], "restored    the copy of "),
        (vec![scene.checked()], "restored    the copy of "),
        (vec![scene.copy(), scene.checked()], "is damaged as well"),
    ] {
        scene.restore();
        damaged.iter().for_each(|copy| over(copy, root_of(&scene, "session"), &[0; PAGE as usize]));
        over(&scene.index(), root_of(&scene, "file"), &[0; PAGE as usize]);
        let ran = scene.run(&["doctor", "--fix"]);
        assert!(ran.out.contains(told), "{damaged:?}: {ran:#?}");
        scene.is_well();
        assert_eq!(scene.holds().0, all_but(&[]), "{damaged:?}: {ran:#?}");
        assert_forgotten(&scene, "a damaged copy");
    }
}

#[test]
fn money_that_was_spent_stays_spent() {
    let scene = Scene::new();
    let db = rusqlite::Connection::open(scene.index()).expect("the index");
    db.execute_batch("INSERT INTO spend(at, session, model, reserved_usd, actual_usd) VALUES (1795262400000, 's', 'm', 0.5, 0.25)")
        .expect("money");
    drop(db);
    over(&scene.index(), root_of(&scene, "file"), &[0; PAGE as usize]);
    scene.run(&["doctor", "--fix"]);
    assert_eq!(scene.world.status()["spent_usd"], 0.25);
}

#[test]
fn a_digest_never_sets_an_index_aside_by_itself() {
    let scene = Scene::new();
    (by_name("random bytes").inflict)(&scene);
    let before = fs::read(scene.index()).expect("the index");
    for _ in 0..2 {
        assert_eq!(scene.run(&["digest", "--summarizer", "extract"]).code, 2);
    }
    assert_eq!((fs::read(scene.index()).expect("the index"), aside(&scene)), (before, Vec::new()));
    let said = scene.world.findings("digest", &[]);
    assert!(said[0].contains("failed 2 times in a row") && said[0].contains("is damaged"), "{said:?}");
}

#[test]
fn nothing_is_mended_while_a_run_is_under_way_or_where_nothing_is_wrong() {
    let scene = Scene::new();
    let whole = scene.run(&["doctor", "--fix"]);
    assert!(whole.code < 2 && !whole.out.contains("restored"), "{whole:#?}");
    (by_name("cut in half").inflict)(&scene);
    let before = fs::read(scene.index()).expect("the index");
    let lock = fs::File::options().write(true).open(scene.world.data_dir().join("lock")).expect("the lock");
    let mut lock = fd_lock::RwLock::new(lock);
    let held = lock.write().expect("the lock is free");
    let ran = scene.run(&["doctor", "--fix"]);
    assert!(ran.code == 2 && ran.err.contains("a run is under way"), "{ran:#?}");
    assert_eq!((fs::read(scene.index()).expect("the index"), aside(&scene)), (before, Vec::new()));
    drop(held);
    assert!(scene.run(&["doctor", "--fix"]).code < 2);
    scene.is_well();
}

#[test]
fn for_programs_there_is_one_object_and_the_loss_on_stderr() {
    let scene = Scene::new();
    (by_name("random bytes").inflict)(&scene);
    let ran: Ran = scene.run(&["doctor", "--fix", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
    let index = told["findings"].as_array().expect("findings").iter().find(|f| f["about"] == "index").expect("the index");
    assert_eq!(index["state"], "ok", "{index:#}");
    assert!(ran.code == 1 && ran.err.contains("data stored since the last copy may be lost"), "{ran:#?}");
}

/// The user's own lines stand in pages, and pages are no part of the index.
#[test]
fn notes_in_pages_stay() {
    let scene = Scene::new();
    let page = files_below(&scene.world.daily()).into_iter().find(|f| f.to_string_lossy().contains("/sessions/")).expect("a page");
    let text = fs::read_to_string(&page).expect("the page") + "\n## Notes\nAsk Kim about this one.\n";
    fs::write(&page, text).expect("a note");
    scene.remove_copies();
    (by_name("random bytes").inflict)(&scene);
    assert!(scene.run(&["doctor", "--fix"]).code < 2);
    assert_eq!(scene.run(&["digest", "--summarizer", "extract", "--rebuild-pages"]).code, 0);
    assert!(fs::read_to_string(&page).expect("the page").contains("Ask Kim about this one."));
}

#[test]
fn an_index_that_lies_elsewhere_stays_there() {
    let scene = Scene::new();
    let elsewhere = scene.world.root().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    fs::rename(scene.index(), elsewhere.join("index.db")).expect("another place");
    fs::rename(scene.copy(), elsewhere.join("index.db.copy")).expect("another place");
    fs::rename(scene.checked(), elsewhere.join("index.db.copy-checked")).expect("another place");
    std::os::unix::fs::symlink(elsewhere.join("index.db"), scene.index()).expect("a link");
    over(&scene.index(), root_of(&scene, "file"), &[0; PAGE as usize]);
    let ran = scene.run(&["doctor", "--fix"]);
    assert!(ran.out.contains("restored    the copy of "), "{ran:#?}");
    scene.is_well();
    assert_eq!(scene.holds(), (all_but(&[]), notes(&[EARLY_NOTE, LATE_NOTE])), "{ran:#?}");
    assert!(scene.index().is_symlink() && elsewhere.join("index.db").is_file());
    assert_eq!(scene.run(&["forget", "--yes", "--session", &id(3)]).code, 0);
    let names: Vec<_> = files_below(&elsewhere).into_iter().filter(|f| f.to_string_lossy().contains("damaged")).collect();
    assert!(names.is_empty(), "what was set aside there goes as well: {names:?}");
}
