//! Sessions that ended since the last digest: told as they stand, shortly, and not at all when anything in them looks like a secret.

use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::hooks::payloads::{SHOP, configure, end, numbers, patient, payload, starts, talk, told, transcript, turn, write_talk};
use crate::support::{World, age};

const A: &str = "aaaa0000-0000-4000-8000-000000000000";
const B: &str = "bbbb0000-0000-4000-8000-000000000000";
const NEW: &str = "cccc0000-0000-4000-8000-000000000000";
const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

/// A world with an index that knows nothing yet.
fn world() -> World {
    let world = World::new();
    patient(&world);
    world.digest(&EXTRACT);
    world
}

/// A session that ended and that no digest has seen.
fn ended(world: &World, session: &str, at: &str, prompt: &str, reply: &str) {
    write_talk(world, session, at, prompt, reply);
    end(world, session);
}

fn start(world: &World) -> Option<String> {
    // Every look is a start of its own.
    let id = format!("{:08}-0000-4000-8000-000000000000", world.everything().len());
    told(world, &starts(world, &id, "startup"))
}

#[test]
fn a_session_that_just_ended_is_told_as_it_stands_and_after_its_digest_as_any_other() {
    let world = world();
    ended(&world, A, "2026-11-21T11:30:00Z", "Make the order list faster.", "It is faster now, because the rates are cached.");
    let text = start(&world).expect("notes");
    let said = "Where it ended (turn 1 of 1, 12:30), Claude's last reply:\n> It is faster now, because the rates are cached.\n\n\
        What the user said in each turn:\n1. 12:30 “Make the order list faster.”\n";
    let heading = |state: &str| {
        format!("## Last session (2026-11-21 12:30, aaaa0000, branch main{state}): Make the order list faster.\n\n{said}")
    };
    assert!(text.contains(&heading(", no digest yet")), "{text}");
    let all = numbers(&world, SHOP, &[]);
    assert_eq!((&all["undigested_shown"], &all["sessions_shown"]), (&json!([A]), &json!([])), "{all:#}");

    assert_eq!(world.digest(&EXTRACT)["sessions_digested"], 1);
    let text = start(&world).expect("notes");
    assert!(text.contains(&heading("")), "{text}");
    let all = numbers(&world, SHOP, &[]);
    assert_eq!((&all["undigested_shown"], &all["sessions_shown"]), (&json!([]), &json!([A])), "{all:#}");
}

#[test]
fn a_session_stays_in_sight_between_its_mark_and_its_digest() {
    let world = world();
    ended(&world, A, "2026-11-21T11:59:50Z", "Make the order list faster.", "It is faster now, because the rates are cached.");
    age(&transcript(&world, A), Duration::from_secs(5));
    assert_eq!(world.digest(&EXTRACT)["sessions_digested"], 0, "its mark is taken, it has not settled");
    assert_eq!(crate::hooks::payloads::mark_files(&world).len(), 0);
    assert!(start(&world).is_some_and(|text| text.contains("rates are cached")));
}

/// The transcript still says it.
#[test]
fn a_reply_that_was_taken_out_is_not_told_from_the_transcript_again() {
    let world = world();
    write_talk(&world, A, "2026-11-21T10:00:00Z", "Make the order list faster.", "It is faster now, because the rates are cached.");
    age(&transcript(&world, A), Duration::from_secs(3600));
    world.digest(&EXTRACT);
    let ran = world.recall(["wrong", A, "--reply", "1"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let rows = fs::read_to_string(transcript(&world, A)).expect("the transcript");
    let more = turn(A, 2, "2026-11-21T11:00:00Z", "And the taxes?", "The taxes change with every order.");
    fs::write(transcript(&world, A), rows + &more).expect("more of it");
    end(&world, A);
    let later = start(&world).expect("notes");
    let compacted = told(&world, &starts(&world, A, "compact")).expect("what it had done");
    age(&transcript(&world, A), Duration::from_secs(3600));
    assert_eq!(world.digest(&EXTRACT)["sessions_digested"], 1);
    for text in [later, compacted, start(&world).expect("notes")] {
        assert!(text.contains("The taxes change") && text.contains("Make the order list faster."), "{text}");
        assert!(!text.contains("rates are cached"), "{text}");
    }
}

#[test]
fn what_went_on_after_a_digest_is_told_with_what_was_before() {
    let world = world();
    write_talk(&world, A, "2026-11-21T10:00:00Z", "Make the order list faster.", "It is faster now, because the rates are cached.");
    world.digest(&EXTRACT);
    let more = turn(A, 2, "2026-11-21T11:30:00Z", "And the export?", "The export is faster, too.");
    let rows = fs::read_to_string(transcript(&world, A)).unwrap() + &more;
    fs::write(transcript(&world, A), rows).unwrap();
    end(&world, A);
    let text = start(&world).expect("notes");
    assert_eq!(text.matches("aaaa0000").count(), 1, "{text}");
    for part in [
        "Where it ended (turn 2 of 2, 12:30), Claude's last reply:\n> The export is faster, too.\n",
        "1. 11:00 “Make the order list faster.”\n   > It is faster now, because the rates are cached.\n2. 12:30 “And the export?”\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let all = numbers(&world, SHOP, &[]);
    assert_eq!((&all["undigested_shown"], &all["sessions_shown"]), (&json!([A]), &json!([])), "{all:#}");
}

#[test]
fn only_sessions_that_said_something_are_told() {
    let world = world();
    let command = "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>";
    ended(&world, A, "2026-11-21T11:30:00Z", command, "No response requested.");
    end(&world, B);
    write_talk(&world, "dddd0000-0000-4000-8000-000000000000", "2026-11-21T11:30:00Z", "Still at it.", "Working on it.");
    assert_eq!(start(&world), None, "one has no words of anybody's, one no transcript, one has not ended");
}

#[test]
fn no_session_takes_more_than_there_is_room_for() {
    let world = world();
    let long = |word: &str| format!("{word} ").repeat(400);
    ended(
        &world,
        A,
        "2026-11-21T11:30:00Z",
        &long("прошу"),
        &format!("Done: {}\n\n## Next steps\n\n- {}", long("сделано"), long("ещё")),
    );
    let all = numbers(&world, SHOP, &["--max-tokens", "2800"]);
    assert_eq!(all["undigested_shown"], json!([A]), "{all:#}");
    let text = all["text"].as_str().unwrap();
    let reply: String = text.lines().filter(|line| line.starts_with("> ")).collect();
    assert!((200..=1_900).contains(&reply.chars().count()), "{}: {text}", reply.chars().count());
    assert!(all["tokens"].as_u64().unwrap() <= 2_800, "{all:#}");
}

#[test]
fn what_looks_like_a_secret_is_not_told_and_its_session_is() {
    // With what of each must not be seen.
    let secrets = [
        ("use ghp_hG7kQz2LpW9vXcT4mBn8sRd6fYj3aUe5iOq1 for it", "hG7kQz"),
        ("export SHOP_API_KEY=hG7kQz2LpW9vXc", "hG7kQz"),
        ("the password is hunter22", "hunter22"),
        ("postgres://shop:s3cr3t@db.example.org/shop", "s3cr3t"),
        ("Authorization: Bearer hG7kQz2LpW9vXcT4", "hG7kQz"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE\n-----END OPENSSH PRIVATE KEY-----", "b3Blbn"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", "dozjgN"),
        ("sk-proj-hG7kQz2LpW9vXcT4mBn8sRd6fYj3aUe5iOq1", "hG7kQz"),
        ("{\"token\": \"a1b2c3d4e5\"}", "a1b2c3"),
        ("the key is q8Zt3Kp0Vb7Nw2Xc5Ld9Rf4Hs6Jg1Ty8Ue", "q8Zt3K"),
    ];
    for (secret, part) in secrets {
        let world = world();
        // Wherever it stands: asked, answered, or in what is too long to be shown.
        let far = format!("It is faster now. {} {secret}", "The rates are cached. ".repeat(100));
        for (prompt, reply) in
            [(secret, "It is faster now, because the rates are cached."), ("Make it faster.", secret), ("Make it faster.", &far)]
        {
            ended(&world, A, "2026-11-21T11:30:00Z", prompt, reply);
            let text = start(&world).expect("notes of the session");
            assert!(text.contains("aaaa0000") && !text.contains(part), "{secret}: {text}");
        }
    }
}

#[test]
fn sessions_of_other_projects_and_excluded_ones_are_none_of_this_ones() {
    let world = world();
    let rows = talk(A, "2026-11-21T11:30:00Z", "Make it faster.", "It is faster now, because the rates are cached.");
    fs::create_dir_all(transcript(&world, A).parent().unwrap()).unwrap();
    fs::write(transcript(&world, A), rows.replace(SHOP, "/home/dev/src/other")).unwrap();
    end(&world, A);
    assert_eq!(start(&world), None, "the folder it is filed under says nothing");
    let other = payload(&world, "SessionStart", NEW, json!({"source": "startup", "cwd": "/home/dev/src/other"}));
    assert!(told(&world, &other).is_some_and(|text| text.contains("rates are cached")));

    // Worked in a folder of this project that is excluded, or filed where nothing is read.
    for exclude in ["projects = [\"**/vault\"]", "paths = [\"**/-home-dev-src-shop/aaaa*\"]"] {
        fs::create_dir_all(world.root().join("repo/.git")).unwrap();
        fs::create_dir_all(world.root().join("repo/vault")).unwrap();
        let repo = world.root().canonicalize().unwrap().join("repo");
        fs::write(transcript(&world, A), rows.replace(SHOP, repo.join("vault").to_str().unwrap())).unwrap();
        let here = |n: u8| payload(&world, "SessionStart", &format!("{n}{}", &NEW[1..]), json!({"source": "startup", "cwd": repo}));
        assert!(told(&world, &here(exclude.len() as u8)).is_some(), "as long as nothing is excluded");
        configure(&world, &format!("[exclude]\n{exclude}\n"));
        assert_eq!(told(&world, &here(exclude.len() as u8 + 1)), None, "{exclude}");
        patient(&world);
    }
}

#[test]
fn the_newest_come_first_and_a_crowd_is_cut() {
    let world = world();
    for n in 0..8 {
        let id = format!("{n}{}", &A[1..]);
        ended(&world, &id, &format!("2026-11-21T11:{:02}:00Z", 10 * n % 60), &format!("Question {n}, please."), "It is done now.");
    }
    let all = numbers(&world, SHOP, &["--max-tokens", "2800"]);
    let shown: Vec<&str> = all["undigested_shown"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert!((3..=8).contains(&shown.len()), "{all:#}");
    let text = all["text"].as_str().unwrap();
    // Two days' sessions stand in the order of their ends; that of the lead stands above them.
    let places: Vec<Option<usize>> = shown.iter().map(|id| text.find(&id[..8])).collect();
    assert!(places.is_sorted() && !places.contains(&None), "{places:?}: {text}");
}

#[test]
fn marks_that_lead_nowhere_are_no_hindrance() {
    let world = world();
    ended(&world, A, "2026-11-21T11:30:00Z", "Make it faster.", "It is faster now, because the rates are cached.");
    let new = world.data_dir().join("marks/new");
    fs::write(new.join("99999999999999-half.json"), "{\"session\":").unwrap();
    fs::write(new.join("99999999999998-empty.json"), "").unwrap();
    let gone = json!({"session": B, "transcript": "/gone.jsonl", "offset": 7, "event": "session-end", "at": 0});
    fs::write(new.join("99999999999997-gone.json"), gone.to_string()).unwrap();
    let folder = json!({"session": B, "transcript": "/", "offset": 7, "event": "session-end", "reason": "x", "at": i64::MAX});
    fs::write(new.join("99999999999996-folder.json"), folder.to_string()).unwrap();
    fs::create_dir(new.join("99999999999995-dir.json")).unwrap();
    assert!(start(&world).is_some_and(|text| text.contains("rates are cached")));
}
