//! The head, the list of tables or the end of the index is damaged, and all else is there: then all else comes back, with what was paid
//! for and stored after the copy was made.

use std::fs;

use crate::damage::kinds::{PAGE, cut, noise, over};
use crate::damage::scene::{EARLY_NOTE, LATE_NOTE, Scene, id, put, session};
use crate::support::size::Dice;
use crate::support::{NOW, World, files_below, numbered_reply, user};

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
    /// All tables are there to the last row.
    whole: bool,
}

const DAMAGES: [Damage; 6] = [
    Damage { name: "a head of random bytes", inflict: |s| over(&s.index(), 0, &noise(100)), whole: true },
    Damage { name: "a first page of zeros", inflict: |s| over(&s.index(), 0, &[0; PAGE as usize]), whole: true },
    Damage { name: "a first page of random bytes", inflict: |s| over(&s.index(), 0, &noise(PAGE as usize)), whole: true },
    Damage {
        name: "a list of tables of zeros",
        inflict: |s| list_of_tables(s).iter().for_each(|page| over(&s.index(), (page - 1) * PAGE, &[0; PAGE as usize])),
        whole: true,
    },
    Damage { name: "cut by 100 KB", inflict: |s| cut(s, |len| len - 100_000), whole: false },
    Damage {
        name: "cut within a page, and the first one gone",
        inflict: |s| {
            cut(s, |len| len - 40_000);
            over(&s.index(), 0, &[0; PAGE as usize]);
        },
        whole: false,
    },
];

#[test]
fn what_lies_on_whole_pages_comes_back_and_is_not_paid_for_again() {
    let scene = paid();
    let (holds, made, asked) = (scene.holds(), by_model(&scene), calls(&scene));
    let spent = scene.world.status()["spent_usd"].clone();
    // The model tells the early ones anew, too.
    let n = EARLY.count() + PAID.count();
    assert_eq!((made.len(), asked.len(), spent.as_f64().map(|usd| (usd * 100.0).round())), (n, n, Some(n as f64)));
    for damage in &DAMAGES {
        for copy in [true, false] {
            let what = format!("{}, {}", damage.name, if copy { "with a copy" } else { "without" });
            scene.restore();
            if !copy {
                fs::remove_file(scene.copy()).expect("the copy");
            }
            (damage.inflict)(&scene);
            let damaged = fs::read(scene.index()).expect("the index");
            let ran = scene.run(&["doctor", "--fix"]);
            assert!(ran.code < 2, "{what}: {ran:#?}");
            scene.is_well();
            assert_eq!(scene.holds(), holds, "{what}: {ran:#?}");
            assert_eq!(by_model(&scene), made, "{what}: {ran:#?}");
            assert_eq!(scene.world.status()["spent_usd"], spent, "{what}: {ran:#?}");
            assert!(!damage.whole || ran.out.contains("lost        nothing that is still known of"), "{what}: {ran:#?}");
            let files = files_below(&scene.world.data_dir());
            let aside = files.iter().find(|file| file.to_string_lossy().contains(".damaged-")).expect("the damaged one");
            assert_eq!(fs::read(aside).expect("the damaged one"), damaged, "{what}: nothing is written to it");
            assert!(!files.iter().any(|file| file.to_string_lossy().contains(".mending")), "{what}: {files:?}");
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
}

/// Somebody was reading, so what was stored last stands in the log.
#[test]
fn what_stands_in_the_log_comes_back_as_well() {
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
    let holds = scene.holds();
    for first in [noise(100), vec![0; PAGE as usize]] {
        scene.restore();
        fs::write(scene.index(), &index).expect("the index");
        fs::write(&log, &changes).expect("its log");
        over(&scene.index(), 0, &first);
        let ran = scene.run(&["doctor", "--fix"]);
        assert_eq!(scene.holds(), holds, "{ran:#?}");
    }
}

/// A list of tables that does not fit what is there is not believed.
#[test]
fn bytes_without_any_meaning_are_not_taken_for_sessions() {
    let scene = paid();
    let len = fs::metadata(scene.index()).expect("the index").len() as usize;
    fs::write(scene.index(), noise(len)).expect("noise");
    fs::remove_file(scene.copy()).expect("the copy");
    let ran = scene.run(&["doctor", "--fix"]);
    scene.is_well();
    let (mut sessions, notes) = scene.holds();
    assert!(!sessions.remove(&id(PAID_AND_GONE)) && notes.is_empty(), "{ran:#?}");
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
    fs::remove_file(scene.copy()).expect("the copy");
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
        let ran = scene.run(&["forget", args[0], args[1]]);
        assert!(ran.code == 0 && ran.out.contains("forgot 1 page of sessions that the index does not know"), "{args:?}: {ran:#?}");
        assert!(!page.exists() && here(&gone[..8]) == 0, "{args:?}: {ran:#?}");
        assert_eq!(here("Ask Kim about this one."), 1, "{args:?}: what the user wrote moves to the day");
        let again = scene.run(&["forget", args[0], args[1]]);
        assert_eq!((again.code, again.out.trim()), (0, "nothing found"), "{args:?}: {again:#?}");
    }
}
