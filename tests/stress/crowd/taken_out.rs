//! What the user takes out while a digest holds it in memory is told no more.

use crate::support::held::held_at;
use crate::support::{World, assistant, user};

const SESSION: &str = "5e551011-0000-4000-8000-000000000001";

fn turn(n: u8, asked: &str, replied: &str) -> String {
    let row = |kind: u8| format!("0000000{kind}-0000-4000-8000-00000000000{n}");
    user(SESSION, &row(1), &format!("2026-11-20T1{n}:00:00Z"), asked)
        + &assistant(SESSION, &row(2), &format!("2026-11-20T1{n}:00:30Z"), replied)
}

/// Documents for search are stored with the digests, and pages are made of sessions that were loaded for these.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "named points are built into debug builds only")]
fn what_is_taken_out_before_its_digest_is_stored_is_told_nowhere() {
    let world = World::new();
    let file = world.transcript(
        &format!("-home-dev-src-shop/{SESSION}.jsonl"),
        turn(1, "Why is the foghorn silent?", "Its compressor is broken.") + &turn(2, "And the lamp?", "The tide table drives it."),
    );
    world.age_transcripts();
    world.digest(&["--summarizer", "extract"]);
    let told = || world.pages().into_iter().map(|(_, page)| page).collect::<String>();
    let is_found = || world.recall(["search", "compressor"]).out.contains(&SESSION[..8]);
    assert!(told().contains("compressor") && is_found(), "{}", told());

    let grown = std::fs::read_to_string(&file).expect("the transcript") + &turn(3, "And the buoys?", "They are counted twice.");
    std::fs::write(&file, grown).expect("a longer one");
    world.age_transcripts();
    let mut hidden = None;
    let take_out = || hidden = Some(world.recall(["wrong", SESSION, "--reply", "1"]));
    let ran = held_at(&world, "digests ready", &["digest", "--summarizer", "extract"], take_out);
    assert!(ran.code == 0 && hidden.as_ref().is_some_and(|ran| ran.code == 0), "{ran:#?} {hidden:#?}");
    assert!(!told().contains("compressor"), "{}", told());
    assert!(!is_found(), "its words are still searched");
    assert!(told().contains("counted twice"), "what came is told: {}", told());
}
