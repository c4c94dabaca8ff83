//! What the user said is not so stays out of a mended index, or its loss is named: else what was taken out would be told again in silence.

use std::fs;

use crate::damage::kinds::{PAGE, over, root_of};
use crate::damage::scene::{ONLY_HERE, Scene, all_but, id, put};
use crate::support::Ran;

const EXTRACT: [&str; 3] = ["digest", "--summarizer", "extract"];
/// One whose transcript is there, and one that only the index has.
const SESSIONS: [usize; 2] = [3, ONLY_HERE];

/// A scene in which the second reply of these sessions is taken out, since the copies were made.
fn scene() -> Scene {
    let Scene { world, .. } = Scene::new();
    for n in SESSIONS {
        let ran = world.recall_with(["wrong", &id(n), "--reply", "2"], &[("RECALL_NOW", "2026-11-22T12:00:00Z")]);
        assert!(ran.code == 0 && ran.out.contains("cache1.py"), "{ran:#?}");
    }
    let good = world.root().join("taken out");
    put(&world.data_dir(), &good);
    Scene::of(world, good)
}

fn change(scene: &Scene, sql: &str) {
    rusqlite::Connection::open(scene.index()).and_then(|db| db.execute_batch(sql)).expect("a change");
}

/// Of how many of the sessions the reply is told again.
fn told_again(scene: &Scene, ran: &Ran) -> usize {
    assert_eq!(scene.run(&EXTRACT).code, 0, "{ran:#?}");
    let shown = SESSIONS.map(|n| scene.run(&["show", "--full", &id(n)]).out);
    assert!(shown.iter().all(|page| page.contains("cache2.py")), "the rest is told: {shown:?} {ran:#?}");
    shown.iter().filter(|page| page.contains("cache1.py")).count()
}

#[test]
fn what_was_taken_out_stays_out_wherever_else_the_damage_is() {
    let scene = scene();
    let digests = "UPDATE digest SET body = 'text'";
    let words = "UPDATE wrong SET words = x'0700'";
    for copies in [true, false] {
        for (what, inflict) in [
            ("a page", &(|| over(&scene.index(), root_of(&scene, "file"), &[0; PAGE as usize])) as &dyn Fn()),
            ("digests", &|| change(&scene, digests)),
            ("words that none are", &|| change(&scene, words)),
        ] {
            scene.restore();
            if !copies {
                scene.remove_copies();
            }
            inflict();
            let found = scene.world.findings("index", &[]);
            assert!(found[0].starts_with("problem: "), "{what}: {found:?}");
            let ran = scene.run(&["doctor", "--fix"]);
            assert!(ran.code < 2, "{what}, copies {copies}: {ran:#?}");
            scene.is_well();
            assert_eq!(told_again(&scene, &ran), 0, "{what}, copies {copies}: {ran:#?}");
            assert!(!ran.err.contains("taken"), "{what}, copies {copies}: nothing of it is lost: {ran:#?}");
        }
    }
}

#[test]
fn what_was_taken_out_and_cannot_be_read_any_more_is_named() {
    let scene = scene();
    change(&scene, "UPDATE wrong SET id = 'nothing' || session");
    let found = scene.world.findings("index", &[]);
    assert!(found[0].starts_with("problem: ") && found[0].contains("`wrong.id`"), "{found:?}");
    let ran = scene.run(&["doctor", "--fix"]);
    assert!(ran.code == 1 && ran.err.contains(", 2 hidden statements"), "{ran:#?}");
    scene.is_well();
    assert_eq!((told_again(&scene, &ran), scene.holds().0), (2, all_but(&[])));

    scene.restore();
    over(&scene.index(), root_of(&scene, "wrong"), &[0; PAGE as usize]);
    let ran = scene.run(&["doctor", "--fix"]);
    let told = "parts of the damaged index, its list of what was hidden among them, could not be read";
    assert!(ran.code == 1 && ran.err.contains(told), "{ran:#?}");
    scene.is_well();
    assert_eq!((told_again(&scene, &ran), scene.holds().0), (2, all_but(&[])), "sessions and digests are all there: {ran:#?}");
}

#[test]
fn a_copy_that_knows_what_was_taken_out_gives_it_back() {
    let scene = scene();
    let now = [("RECALL_NOW", "2026-11-25T12:00:00Z")];
    assert_eq!(scene.world.recall_with(EXTRACT, &now).code, 0);
    fs::write(scene.index(), "no database\n").expect("damage");
    let ran = scene.run(&["doctor", "--fix"]);
    assert!(ran.code < 2, "{ran:#?}");
    assert_eq!(told_again(&scene, &ran), 0, "{ran:#?}");
}
