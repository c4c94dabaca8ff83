//! How a session starts decides what it is told: with an empty context everything, else only what it does not hold already.

use std::fs;

use serde_json::json;

use crate::hooks::payloads::{S, SHOP, end, ends, patient, payload, starts, talk, told, transcript, turn, write_talk};
use crate::support::{World, assistant, copy_tree, fixtures, user};

const OTHER: &str = "aaaa0000-0000-4000-8000-000000000000";
const THIRD: &str = "bbbb0000-0000-4000-8000-000000000000";
const FORK: &str = "cccc0000-0000-4000-8000-000000000000";
const EXTRACT: [&str; 2] = ["--summarizer", "extract"];
const PLAIN: &str = "64b0b6d9-e371-40e8-affe-78e0505dfb3f";
const COMPACT: &str = "959386ce-0cd8-4cbc-9d78-7e0a84b4bfae";

/// A conversation whose last word was at noon, and one elsewhere of this time.
fn beside(other_at: &str) -> World {
    let world = World::new();
    patient(&world);
    write_talk(&world, S, "2026-11-20T12:00:00Z", "Cache the rates.", "The rates are cached now, because they change daily.");
    write_talk(&world, OTHER, other_at, "Sort the order list.", "It is sorted by date now, because the index was there.");
    world.digest(&EXTRACT);
    world
}

#[test]
fn who_resumes_is_told_what_happened_elsewhere_meanwhile_and_nothing_else() {
    for source in ["resume", "fork"] {
        let later = beside("2026-11-20T14:00:00Z");
        let text = told(&later, &starts(&later, S, source)).expect("news");
        assert!(text.contains("sorted by date") && !text.contains("rates are cached"), "{source}: {text}");
        let earlier = beside("2026-11-20T10:00:00Z");
        assert_eq!(told(&earlier, &starts(&earlier, S, source)), None, "{source}: all of it is older");
    }
}

#[test]
fn what_the_conversation_went_on_with_since_the_digest_counts() {
    let world = beside("2026-11-20T14:00:00Z");
    let rows = fs::read_to_string(transcript(&world, S)).unwrap();
    let more = turn(S, 2, "2026-11-20T16:00:00Z", "And the taxes?", "The taxes are cached, too.");
    fs::write(transcript(&world, S), rows + &more).unwrap();
    assert_eq!(told(&world, &starts(&world, S, "resume")), None, "it was going on after the other had ended");
}

#[test]
fn a_conversation_whose_transcript_is_gone_is_known_by_the_index() {
    let world = beside("2026-11-20T14:00:00Z");
    fs::remove_file(transcript(&world, S)).unwrap();
    assert!(told(&world, &starts(&world, S, "resume")).is_some_and(|text| text.contains("sorted by date")));
    // Of one that nobody knows, everything may be known to it.
    for source in ["resume", "fork"] {
        assert_eq!(told(&world, &starts(&world, THIRD, source)), None, "{source}");
    }
}

#[test]
fn who_resumes_hears_of_sessions_that_ended_meanwhile_without_a_digest() {
    let world = beside("2026-11-20T10:00:00Z");
    write_talk(&world, THIRD, "2026-11-20T15:00:00Z", "Export the invoices.", "They are exported as CSV, because Excel opens it.");
    end(&world, THIRD);
    // Its own end is no news either.
    end(&world, S);
    let text = told(&world, &starts(&world, S, "resume")).expect("news");
    assert!(text.contains("exported as CSV"), "{text}");
    assert!(!text.contains("rates are cached") && !text.contains("sorted by date"), "{text}");
}

#[test]
fn what_is_still_open_from_before_is_no_news_to_who_resumes() {
    let world = World::new();
    patient(&world);
    let left = "It is sorted by date.\n\n## Next steps\n\n- Migrate the admin export to keyset pagination\n";
    write_talk(&world, OTHER, "2026-11-20T10:00:00Z", "Sort the order list.", left);
    write_talk(&world, S, "2026-11-20T12:00:00Z", "Cache the rates.", "The rates are cached now, because they change daily.");
    write_talk(&world, THIRD, "2026-11-20T14:00:00Z", "Export the invoices.", "They are exported as CSV, because Excel opens it.");
    world.digest(&EXTRACT);
    let text = told(&world, &starts(&world, S, "resume")).expect("news");
    assert!(text.contains("exported as CSV") && !text.contains("admin export"), "{text}");
    let blank = told(&world, &starts(&world, FORK, "startup")).expect("notes");
    assert!(blank.contains("admin export"), "{blank}");
}

#[test]
fn a_fork_is_not_told_what_it_was_copied_from() {
    let world = beside("2026-11-20T14:00:00Z");
    let original = fs::read_to_string(transcript(&world, S)).unwrap();
    fs::write(transcript(&world, FORK), original.replace(S, FORK)).unwrap();
    let text = told(&world, &starts(&world, FORK, "fork")).expect("news");
    assert!(text.contains("sorted by date") && !text.contains("rates are cached"), "{text}");
}

#[test]
fn after_a_compaction_a_session_is_told_what_it_had_done_itself() {
    // Without an index, too: before the first digest there is none.
    for digested in [false, true] {
        let world = World::with_fixtures(&["compact"]);
        patient(&world);
        if digested {
            copy_tree(&fixtures().join("claude-code-2.1.197/plain"), &world.claude_dir());
            world.age_transcripts();
            world.digest(&EXTRACT);
        }
        let text = told(&world, &starts(&world, COMPACT, "compact")).expect("what it had done");
        assert!(text.contains("VAT in the monthly report off by a cent"), "{text}");
        for done in [
            "Where it stands (",
            "What the user said in each turn. A line with `>` is the beginning of the reply. A later turn overrides an earlier one:\n1. ",
            "Commits not undone:\n",
            &COMPACT[..8],
        ] {
            assert!(text.contains(done), "{done}: {text}");
        }
        for of_others in ["keyset", "order list", &PLAIN[..8], "## Last session", "## Other sessions"] {
            assert!(!text.contains(of_others), "{of_others}: {text}");
        }
        assert_eq!(world.data_dir().join("recall.db").exists(), digested);
    }
}

#[test]
fn a_compacted_session_that_did_nothing_is_told_nothing() {
    let world = World::new();
    patient(&world);
    fs::create_dir_all(transcript(&world, S).parent().unwrap()).unwrap();
    for rows in
        [String::new(), user(S, "u1", "2026-11-21T11:00:00Z", "Cache the rates."), talk(OTHER, "2026-11-21T11:00:00Z", "a", "b")]
    {
        fs::write(transcript(&world, S), rows).unwrap();
        assert_eq!(told(&world, &starts(&world, S, "compact")), None);
    }
}

#[test]
fn half_a_last_line_does_not_hide_the_lines_before_it() {
    let world = World::new();
    patient(&world);
    let file =
        write_talk(&world, S, "2026-11-21T11:00:00Z", "Cache the rates.", "The rates are cached now, because they change daily.");
    let half = assistant(S, "a9", "2026-11-21T11:05:00Z", "HALF-A-LINE");
    fs::write(&file, fs::read_to_string(&file).unwrap() + &half[..half.len() - 9]).unwrap();
    let text = told(&world, &starts(&world, S, "compact")).expect("what it had done");
    assert!(text.contains("rates are cached") && !text.contains("HALF-A-LINE"), "{text}");
}

#[test]
fn after_a_clear_the_session_that_was_cleared_is_told() {
    let world = beside("2026-11-20T14:00:00Z");
    write_talk(
        &world,
        THIRD,
        "2026-11-21T11:00:00Z",
        "Export the invoices, please.",
        "They are exported as CSV, because Excel opens it.",
    );
    let ran = world.hook("session-end", ends(&world, THIRD, "clear").to_string());
    assert_eq!(ran.code, 0, "{ran:#?}");
    let text = told(&world, &starts(&world, FORK, "clear")).expect("notes");
    let (cleared, others) = (text.find("exported as CSV"), text.find("## Other sessions"));
    assert!(cleared.is_some() && cleared < others, "what was just done comes first: {text}");
}

#[test]
fn the_folder_that_counts_is_where_the_session_starts() {
    let world = beside("2026-11-20T14:00:00Z");
    // Filed under the shop, started elsewhere.
    let elsewhere = payload(&world, "SessionStart", THIRD, json!({"source": "startup", "cwd": "/home/dev/src/other"}));
    assert_eq!(told(&world, &elsewhere), None);
    let deep = payload(&world, "SessionStart", THIRD, json!({"source": "startup", "cwd": format!("{SHOP}/")}));
    assert!(told(&world, &deep).is_some());
}
