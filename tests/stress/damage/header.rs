//! The header, the schema or the end of the index is damaged, and all else is there. Without its end what SQLite still reads comes back, with
//! what was paid for and stored after the copy was made. Without a header or schema SQLite reads nothing: then the copy comes back, and what
//! transcripts and pages hold; what is lost is named.

use std::fs;

use crate::damage::kinds::{PAGE, cut, noise, over};
use crate::damage::scene::{EARLY_NOTE, LATE_NOTE, Scene, id, put, session};
use crate::support::size::{Dice, pairs};
use crate::support::{NOW, Ran, World, files_below, numbered_reply, user};

/// Who is asked the same twice is asked under the same sum.
const SCRIPT: &str = r#"#!/bin/sh
sum=$(cksum)
sum=${sum%% *}
echo "$sum" >> "$0.calls"
sed "s/SUM/$sum/g" "$0.reply"
"#;

/// Extracted, and in the copy; by the model, and only in the index.
const EARLY: std::ops::RangeInclusive<usize> = 3..=6;
const PAID: std::ops::RangeInclusive<usize> = 7..=12;
/// By the model; its transcript is gone.
const PAID_AND_GONE: usize = 9;
/// What was stored last, so that it lies at the end.
const LAST: std::ops::RangeInclusive<usize> = 14..=22;

/// Within the day that a copy serves.
const LATER: &str = "2026-11-21T12:30:00Z";

fn paid() -> Scene {
    let world = World::new();
    world.configure("[hooks]\ndeadline_ms = 5000\n[digest]\nmax_cost_usd = 1000.0\nmax_cost_usd_per_day = 1000.0\n");
    let claude = world.fake_claude(SCRIPT);
    fs::write(claude.with_file_name("claude.reply"), numbered_reply(0.01)).expect("the reply");
    let add = |n: usize| world.transcript(&format!("-home-dev-src-shop/{}.jsonl", id(n)), session(n));
    let at = |time: &str, args: &[&str]| {
        let ran = world.recall_with(args, &[("RECALL_NOW", time)]);
        assert_eq!(ran.code, 0, "{args:?}: {ran:#?}");
    };
    let run = |args: &[&str]| at(NOW, args);
    EARLY.for_each(|n| _ = add(n));
    run(&["remember", "--everywhere", EARLY_NOTE]);
    run(&["digest", "--summarizer", "extract"]);
    PAID.for_each(|n| _ = add(n));
    run(&["remember", "--everywhere", LATE_NOTE]);
    at(LATER, &["digest", "--summarizer", "claude"]);
    let gone = format!("projects/-home-dev-src-shop/{}.jsonl", id(PAID_AND_GONE));
    fs::remove_file(world.claude_dir().join(gone)).expect("a transcript");
    LAST.for_each(|n| _ = world.transcript(&format!("-home-dev-src-shop/{}.jsonl", id(n)), session(n) + &much(n)));
    at(LATER, &["digest", "--summarizer", "extract"]);
    let good = world.root().join("good");
    put(&world.data_dir(), &good);
    Scene::of(world, good)
}

/// Rows of words that nobody can press together, so that they fill pages.
fn much(n: usize) -> String {
    let mut dice = Dice(n as u64);
    let mut word = || (0..7).map(|_| char::from(b'a' + dice.below(26) as u8)).collect::<String>();
    let rows = (0..12).map(|row| {
        let text = (0..250).map(|_| word()).collect::<Vec<_>>().join(" ");
        user(&id(n), &format!("{n:08}-0000-4000-8000-{:012}", 1000 + row), &format!("2026-11-{:02}T11:{row:02}:00Z", 1 + n), &text)
    });
    rows.collect()
}

fn calls(scene: &Scene) -> Vec<String> {
    let noted = fs::read_to_string(scene.world.bin().join("claude.calls")).expect("calls");
    noted.lines().map(str::to_owned).collect()
}

/// The sessions with a digest by the model, and its title.
fn by_model(scene: &Scene) -> Vec<(String, String)> {
    let db = scene.world.database();
    let sql = "SELECT s.id, d.title FROM digest d JOIN session s ON s.pk = d.session WHERE summarizer = 'claude' AND NOT superseded ORDER BY 1";
    let mut query = db.prepare(sql).expect("digests");
    query.query_map([], |r| Ok((r.get(0)?, r.get(1)?))).expect("rows").map(|row| row.expect("a digest")).collect()
}

/// The pages of the list of tables, without the first.
fn list_of_tables(scene: &Scene) -> Vec<u64> {
    let bytes = fs::read(scene.index()).expect("the index");
    let number = |at: usize, len: usize| bytes[at..at + len].iter().fold(0, |n, b| n << 8 | usize::from(*b));
    assert_eq!(bytes[100], 5, "the list has several pages");
    let cells = (0..number(103, 2)).map(|cell| number(number(112 + 2 * cell, 2), 4));
    cells.chain([number(108, 4)]).map(|page| page as u64).collect()
}

struct Damage {
    name: &'static str,
    inflict: fn(&Scene),
    /// SQLite can still read tables.
    is_readable: bool,
}

const DAMAGES: [Damage; 6] = [
    Damage { name: "a head of random bytes", inflict: |s| over(&s.index(), 0, &noise(100)), is_readable: false },
    Damage { name: "a first page of zeros", inflict: |s| over(&s.index(), 0, &[0; PAGE as usize]), is_readable: false },
    Damage { name: "a first page of random bytes", inflict: |s| over(&s.index(), 0, &noise(PAGE as usize)), is_readable: false },
    Damage {
        name: "a list of tables of zeros",
        inflict: |s| list_of_tables(s).iter().for_each(|page| over(&s.index(), (page - 1) * PAGE, &[0; PAGE as usize])),
        is_readable: false,
    },
    Damage { name: "cut by 100 KB", inflict: |s| cut(s, |len| len - 100_000), is_readable: true },
    Damage {
        name: "cut within a page, and the first one gone",
        inflict: |s| {
            cut(s, |len| len - 40_000);
            over(&s.index(), 0, &[0; PAGE as usize]);
        },
        is_readable: false,
    },
];

/// Damages the good index, with or without its copies, and has it repaired.
fn repaired(scene: &Scene, damage: &Damage, copy: bool) -> (Ran, String) {
    let what = format!("{}, {}", damage.name, if copy { "with a copy" } else { "without" });
    scene.restore();
    if !copy {
        scene.remove_copies();
    }
    (damage.inflict)(scene);
    let damaged = fs::read(scene.index()).expect("the index");
    let ran = scene.run(&["doctor", "--fix"]);
    assert!(ran.code < 2, "{what}: {ran:#?}");
    scene.is_well();
    let files = files_below(&scene.world.data_dir());
    let aside = files.iter().find(|file| file.to_string_lossy().contains(".damaged-")).expect("the damaged one");
    assert_eq!(fs::read(aside).expect("the damaged one"), damaged, "{what}: nothing is written to it");
    assert!(!files.iter().any(|file| file.to_string_lossy().contains(".mending")), "{what}: {files:?}");
    (ran, what)
}

#[test]
fn what_lies_on_whole_pages_of_an_index_without_its_end_comes_back_and_is_not_paid_for_again() {
    let scene = paid();
    let (holds, made, asked) = (scene.holds(), by_model(&scene), calls(&scene));
    let spent = scene.world.status()["spent_usd"].clone();
    // The model tells the early ones anew, too.
    let n = EARLY.count() + PAID.count();
    assert_eq!((made.len(), asked.len(), spent.as_f64().map(|usd| (usd * 100.0).round())), (n, n, Some(n as f64)));
    let damages: Vec<_> = DAMAGES.iter().filter(|damage| damage.is_readable).collect();
    for (damage, copy) in pairs(damages.len(), 2) {
        let (damage, copy) = (damages[damage], copy == 0);
        let (ran, what) = repaired(&scene, damage, copy);
        assert_eq!(scene.holds(), holds, "{what}: {ran:#?}");
        assert_eq!(by_model(&scene), made, "{what}: {ran:#?}");
        assert_eq!(scene.world.status()["spent_usd"], spent, "{what}: {ran:#?}");
        assert_eq!(scene.run(&["digest", "--summarizer", "extract"]).code, 0, "{what}");
        assert_eq!(by_model(&scene), made, "{what}");
        // Those that the model has told of are not told again; those that wait for it are.
        fs::write(scene.world.bin().join("claude.calls"), asked.join("\n") + "\n").expect("the calls before");
        let ran = scene.run(&["digest", "--summarizer", "claude"]);
        let all = calls(&scene);
        assert_eq!((ran.code, all.len()), (0, asked.len() + LAST.count()), "{what}: {ran:#?}");
        assert!(!all[asked.len()..].iter().any(|call| asked.contains(call)), "{what}: paid twice");
        assert_eq!(by_model(&scene).iter().filter(|digest| made.contains(digest)).count(), made.len(), "{what}");
    }
}

#[test]
fn without_a_header_or_schema_the_copy_comes_back_and_all_that_is_lost_is_named() {
    let scene = paid();
    let (mut sessions, notes) = scene.holds();
    // No transcript is left of it.
    assert!(sessions.remove(&id(PAID_AND_GONE)));
    let damages: Vec<_> = DAMAGES.iter().filter(|damage| !damage.is_readable).collect();
    for (damage, copy) in pairs(damages.len(), 2) {
        let (damage, copy) = (damages[damage], copy == 0);
        let (ran, what) = repaired(&scene, damage, copy);
        assert_eq!(scene.holds(), (sessions.clone(), notes.clone()), "{what}: transcripts and pages have the rest: {ran:#?}");
        // The model told the early ones anew after the copy was made. Of one nothing but its page is left.
        let (all, paid) = (EARLY.count() + PAID.count() + LAST.count(), EARLY.count() + PAID.count() - 1);
        assert_eq!(by_model(&scene).len(), paid, "{what}: those that pages hold are taken back: {ran:#?}");
        assert_eq!(scene.world.count("SELECT count(*) FROM digest WHERE NOT superseded"), paid as i64, "{what}");
        let lost = format!("lost: 1 session, at least {} digests (1 of them by the model), 0 notes", all - paid);
        let page = "1 session is left only in its page";
        let rest =
            ["digests by the model, the record of spending", "money spent since the last copy does not count towards the limits"];
        for told in [&*lost, page, &id(PAID_AND_GONE), rest[0], rest[1], "the damaged index could not be read"] {
            assert!(ran.err.contains(told), "{what}: no `{told}` in {ran:#?}");
        }
        assert!(ran.code == 1 && !ran.out.contains("lost        nothing"), "{what}: {ran:#?}");
        assert_eq!(ran.err.contains("forget them again"), !copy, "{what}: {ran:#?}");
        let digest = scene.run(&["digest", "--summarizer", "extract"]);
        assert_eq!(digest.code, 0, "{what}: digests are made again: {digest:#?}");
        assert_eq!(scene.world.count("SELECT count(*) FROM digest WHERE NOT superseded"), all as i64 - 1, "{what}");
    }
}

/// Somebody was reading, so what was stored last stands in the log. Without a header SQLite does not know that it is the index's own.
#[test]
fn what_stands_in_the_log_of_an_index_without_a_header_is_kept_and_said_to_be_lost() {
    let scene = paid();
    let reader = scene.world.database();
    let mut query = reader.prepare("SELECT id FROM session").expect("sessions");
    let mut rows = query.query([]).expect("rows");
    rows.next().expect("a row");
    let note = "The proxy wants its certificates in one file";
    assert_eq!(scene.run(&["remember", "--everywhere", note]).code, 0);
    let log = scene.world.data_dir().join("recall.db-wal");
    let (index, changes) = (fs::read(scene.index()).expect("the index"), fs::read(&log).expect("the log"));
    assert!(memchr::memmem::find(&changes, note.as_bytes()).is_some() && memchr::memmem::find(&index, note.as_bytes()).is_none());
    drop(rows);
    drop(query);
    drop(reader);
    for first in [noise(100), vec![0; PAGE as usize]] {
        scene.restore();
        fs::write(scene.index(), &index).expect("the index");
        fs::write(&log, &changes).expect("its log");
        over(&scene.index(), 0, &first);
        let ran = scene.run(&["doctor", "--fix"]);
        assert!(!scene.holds().1.contains(note), "{ran:#?}");
        assert!(ran.code == 1 && ran.err.contains("notes and closed items that are on no page"), "{ran:#?}");
        let mut files = files_below(&scene.world.data_dir()).into_iter().map(|file| file.to_string_lossy().into_owned());
        let kept = files.find(|file| file.contains(".damaged-") && file.ends_with("-wal"));
        assert!(fs::read(kept.expect("the log in quarantine")).expect("the log") == changes, "{ran:#?}");
    }
}

#[test]
fn bytes_without_any_meaning_are_not_taken_for_sessions() {
    let scene = paid();
    let len = fs::metadata(scene.index()).expect("the index").len() as usize;
    fs::write(scene.index(), noise(len)).expect("noise");
    scene.remove_copies();
    let ran = scene.run(&["doctor", "--fix"]);
    scene.is_well();
    let (mut sessions, notes) = scene.holds();
    assert!(!sessions.remove(&id(PAID_AND_GONE)), "{ran:#?}");
    assert_eq!(notes, [EARLY_NOTE, LATE_NOTE].map(str::to_owned).into(), "from the pages: {ran:#?}");
    assert_eq!(sessions.len(), EARLY.count() + PAID.count() + LAST.count() - 1);
    assert!(ran.code == 1 && ran.err.contains("the damaged index could not be read"), "{ran:#?}");
    assert!(!ran.out.contains("lost        nothing"), "{ran:#?}");
    assert!(ran.err.contains("1 session is left only in its page") && ran.err.contains(&id(PAID_AND_GONE)), "{ran:#?}");
}

/// What somebody wants gone is gone, also where nothing but a page is left of it.
#[test]
fn what_is_left_only_in_its_page_can_be_forgotten() {
    let scene = paid();
    fs::write(scene.index(), noise(50_000)).expect("noise");
    scene.remove_copies();
    assert!(scene.run(&["doctor", "--fix"]).code < 2);
    let here = |text: &str| {
        let files = files_below(&scene.world.daily());
        files.into_iter().filter(|f| fs::read_to_string(f).expect("a page").contains(text)).count()
    };
    let gone = id(PAID_AND_GONE);
    assert!(here(&gone) > 0);
    let page = files_below(&scene.world.daily()).into_iter().find(|f| f.to_string_lossy().ends_with(&format!("{}.md", &gone[..8])));
    let page = page.expect("its page");
    let text = fs::read_to_string(&page).expect("the page");
    fs::write(&page, text + "\n## Notes\nAsk Kim about this one.\n").expect("a note");
    let data = scene.world.root().join("mended");
    put(&scene.world.data_dir(), &data);
    for args in [["--session", &gone], ["--session", &gone[..9]], ["--project", "*shop*"], ["--before", "2026-11-11"]] {
        fs::remove_dir_all(scene.world.data_dir()).expect("the data folder");
        put(&data, &scene.world.data_dir());
        let rehearsed = scene.run(&["forget", args[0], args[1], "--dry-run"]);
        assert!(rehearsed.code == 0 && rehearsed.out.contains("would forget 1 page of sessions"), "{args:?}: {rehearsed:#?}");
        assert!(page.exists());
        let ran = scene.run(&["forget", "--yes", args[0], args[1]]);
        assert!(ran.code == 0 && ran.out.contains("forgot 1 page of sessions that the index does not know"), "{args:?}: {ran:#?}");
        assert!(!page.exists() && here(&gone[..8]) == 0, "{args:?}: {ran:#?}");
        assert_eq!(here("Ask Kim about this one."), 1, "{args:?}: what the user wrote moves to the day");
        let again = scene.run(&["forget", "--yes", args[0], args[1]]);
        assert_eq!((again.code, again.out.trim()), (0, "nothing found"), "{args:?}: {again:#?}");
    }
}
