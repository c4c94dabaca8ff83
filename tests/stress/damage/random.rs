//! Damage of any kind at any place, as often as one likes: `RECALL_DAMAGES` (10), from `RECALL_SEED` on (1).

use std::collections::BTreeMap;
use std::fs;

use crate::damage::kinds::over;
use crate::damage::scene::{FORGOTTEN, Scene, id, living};
use crate::support::Ran;
use crate::support::size::{Dice, number, seed};

/// Hits the index, sometimes its copies as well. Returns what was done, to be read by people.
fn hit(scene: &Scene, dice: &mut Dice) -> String {
    let file = match dice.below(6) {
        0 => scene.copy(),
        1 => scene.checked(),
        _ => scene.index(),
    };
    let len = fs::metadata(&file).map_or(0, |m| m.len());
    let at = dice.below(len);
    let bytes: Vec<u8> = (0..1 + dice.below(64)).map(|_| dice.next() as u8).collect();
    let kind = dice.below(6);
    match kind {
        0 => fs::File::options().write(true).open(&file).and_then(|f| f.set_len(at)).expect("cut short"),
        1 => over(&file, at / 4096 * 4096, &[0; 4096]),
        2 => over(&file, at / 4096 * 4096, &bytes),
        3 => over(&file, dice.below(100), &bytes[..1]),
        _ => over(&file, at, &bytes),
    }
    format!("{} of {len} bytes: kind {kind} at {at}, {} bytes", file.file_name().expect("a name").display(), bytes.len())
}

/// What a session says, without where it is stored.
fn said(scene: &Scene) -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::new();
    for session in scene.world.exported().iter().filter(|line| line["session"].is_string()) {
        let sources = session["sources"].as_array().expect("sources").iter();
        let mut rows: Vec<String> =
            sources.flat_map(|s| s["rows"].as_array().expect("rows").iter().map(|r| r["item"].to_string())).collect();
        rows.sort();
        all.insert(session["session"].as_str().expect("an id").to_owned(), rows);
    }
    all
}

fn no_crash(ran: &Ran, what: &str) {
    assert!((0..=2).contains(&ran.code) && !ran.err.contains("panicked"), "{what}: {ran:#?}");
    assert!(!ran.err.contains("database is locked"), "{what}: {ran:#?}");
}

#[test]
fn whatever_was_hit_the_doctor_ends_with_an_index_that_has_all_living_sessions() {
    let scene = Scene::new();
    let good = said(&scene);
    let (tries, first) = (number("RECALL_DAMAGES", 10), seed());
    let (mut found, mut unseen, mut newer) = (0, 0, 0);
    for seed in first..first + tries {
        let mut dice = Dice(seed);
        scene.restore();
        let hits: Vec<String> = (0..=dice.below(3)).map(|_| hit(&scene, &mut dice)).collect();
        let what = format!("RECALL_SEED={seed} RECALL_DAMAGES=1, {hits:#?}");
        for command in [&["search", "importer"][..], &["export"], &["status"], &["context", "--cwd", "/home/dev/src/shop"]] {
            no_crash(&scene.run(command), &what);
        }
        if dice.below(2) == 0 {
            no_crash(&scene.run(&["digest", "--summarizer", "extract"]), &what);
        }
        let fixed = scene.run(&["doctor", "--fix"]);
        no_crash(&fixed, &what);
        assert!(fixed.code < 2, "{what}: {fixed:#?}");
        if fixed.out.contains("written by a newer recall: upgrade recall") {
            // The number of the format was hit. Nothing tells it from a newer program's, which is left as it is.
            assert!(!fixed.out.contains("restored    "), "{what}: {fixed:#?}");
            newer += 1;
            continue;
        }
        scene.is_well();
        let digest = scene.run(&["digest", "--summarizer", "extract"]);
        assert!(digest.code < 2, "{what}: {digest:#?}");
        let mended = fixed.out.contains("restored    ");
        found += u64::from(mended);
        let now = said(&scene);
        for session in living() {
            let rows = now.get(&session).unwrap_or_else(|| panic!("{what}: {session} is not there: {fixed:#?}"));
            // What is other than it was can only be so where no check of the file's form sees it: in the middle of a text.
            unseen += u64::from(rows != &good[&session]);
            assert!(!mended || rows.len() >= good[&session].len(), "{what}: {session} has lost rows: {fixed:#?}");
        }
        let forgets = fixed.err.contains("forget it once more");
        assert!(forgets || !now.contains_key(&id(FORGOTTEN)), "{what}: what was forgotten is back: {fixed:#?}");
        let lost = good.keys().filter(|session| !now.contains_key(*session)).count();
        let told = fixed.err.contains("lost: ") || fixed.err.contains("it may have held more");
        assert!(lost == 0 || told, "{what}: {lost} sessions are gone and nobody says so: {fixed:#?}");
    }
    println!(
        "{tries} damages from seed {first}: {found} found and mended, {newer} taken for a newer program's, {unseen} sessions with other bytes \
         in a text, which no check can see"
    );
}
