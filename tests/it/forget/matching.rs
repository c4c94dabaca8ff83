//! `--match`: all that holds a text goes, and nothing else.

use std::fs;

use crate::forget::scene::{EXTRACT, FORK, OTHER, TELLS, TEXT, WORD, told_world};
use crate::support::data_folder::{assert_gone, places_of};
use crate::support::{age, user};

#[test]
fn a_text_is_nowhere_afterwards_and_all_else_stays() {
    let world = told_world(&EXTRACT);
    let before = places_of(&world, WORD).join("\n");
    for place in ["bundle.said", "digest.body", "leaf_title.text", "open_item.text", "vocabulary", "/sessions/", "2026-11-20.md"] {
        assert!(before.contains(place), "{place} is tried: {before}");
    }
    let other = world.show(OTHER);
    let ran = world.recall(["forget", "--yes", "--match", TEXT]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    assert!(ran.out.contains("forgot parts of 2 sessions: "), "{ran:#?}");
    assert_gone(&world, WORD);
    assert_eq!(world.show(OTHER)["digest"], other["digest"]);
    assert_eq!(world.texts(TELLS, "prompt"), ["Why is the importer slow?"]);
    assert_eq!(world.texts(TELLS, "reply").len(), 2, "{:?}", world.texts(TELLS, "reply"));
    // What is left of the session gets a digest of its own.
    let report = world.digest(&EXTRACT);
    assert_eq!(report["rows_new"], 0, "{report}");
    assert!(world.recall(["show", TELLS]).out.contains("keep the cache for an hour"));
    assert_eq!(world.show(FORK)["prompts"], 1);
    assert_gone(&world, WORD);
    assert_eq!(world.recall(["search", WORD]).out, "");
}

/// Names of files on macOS have an umlaut as two characters; who types it has it as one.
#[test]
fn a_text_goes_in_whatever_form_its_letters_were_written() {
    let umlauts = [("Müller", "Mu\u{308}ller"), ("Mu\u{308}ller", "MÜLLER")];
    let others = [("STRASSE", "Straße"), ("istanbul", "İstanbul")];
    for (typed, written) in umlauts.into_iter().chain(others) {
        let world = crate::support::World::new();
        let text = format!("Write down what the wombat of {written} wants");
        world.transcript(&crate::forget::scene::path_of(TELLS), user(TELLS, "u1", "2026-11-20T10:00:00Z", &text));
        world.digest(&EXTRACT);
        if umlauts.contains(&(typed, written)) {
            for asked in [typed.to_owned(), format!("\"wombat of {typed}\"")] {
                assert!(world.recall(["search", &asked]).out.contains(&TELLS[..8]), "{asked} finds {written:?}");
            }
        }
        let ran = world.recall(["forget", "--yes", "--match", typed]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
        assert_gone(&world, "wombat");
        assert_eq!(world.recall(["search", "wombat"]).out, "");
    }
}

#[test]
fn a_text_leaves_no_copy_in_an_index_that_has_grown_in_many_steps() {
    let world = crate::support::World::new();
    // Ids in no order, and rows that are too short to be compressed: pages are split again and again.
    let session = |n: u64| format!("{:08x}-1111-4111-8111-000000000001", n.wrapping_mul(2_654_435_761) as u32);
    for step in 0..3 {
        for n in 0..80 {
            let (session, mut rows) = (session(n), String::new());
            for row in 0..(step + 1) * 4 {
                let text = if row % 3 == 0 {
                    format!("{}: is {n}.{row} of the Zanzibarquux lagoon?", "so ".repeat((n as usize * 7 + row as usize) % 30))
                } else {
                    format!("What of {n}.{row}?")
                };
                let id = format!("{:08x}-0000-4000-8000-{row:012}", (n * 97 + row).wrapping_mul(2_246_822_519) as u32);
                rows += &user(&session, &id, &format!("2026-11-20T10:{row:02}:00Z"), &text);
            }
            world.transcript(&crate::forget::scene::path_of(&session), rows);
        }
        world.digest(&EXTRACT);
    }
    assert_eq!(world.recall(["forget", "--yes", "--match", TEXT]).code, 0);
    assert_gone(&world, WORD);
}

#[test]
fn nothing_brings_a_text_back() {
    let world = told_world(&EXTRACT);
    assert_eq!(world.recall(["forget", "--yes", "--match", TEXT]).code, 0);
    let files: Vec<_> =
        [TELLS, FORK, OTHER].map(|id| world.claude_dir().join("projects").join(crate::forget::scene::path_of(id))).into();
    // Touched, grown, replaced by themselves at another place, copied to another place.
    for file in &files {
        age(file, std::time::Duration::from_secs(1800));
    }
    world.digest(&EXTRACT);
    assert_gone(&world, WORD);
    for (file, id) in files.iter().zip([TELLS, FORK, OTHER]) {
        let more = user(id, &crate::forget::scene::id(&format!("e{}", &id[..1])), "2026-11-20T14:00:00Z", "Thanks, that will do.");
        fs::write(file, fs::read_to_string(file).unwrap() + &more).unwrap();
        age(file, std::time::Duration::from_secs(1700));
    }
    assert_eq!(world.digest(&EXTRACT)["rows_new"], 3);
    assert_gone(&world, WORD);
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        fs::write(file, format!("{{\"type\":\"mode\",\"padding\":\"{}\"}}\n{text}", "x".repeat(5000))).unwrap();
        age(file, std::time::Duration::from_secs(1600));
        let copy = world.claude_dir().join("projects/-home-dev-src-shop-worktree").join(file.file_name().unwrap());
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::write(&copy, &text).unwrap();
        age(&copy, std::time::Duration::from_secs(1500));
    }
    world.digest(&EXTRACT);
    world.recall(["digest", "--rebuild-pages"]);
    assert_gone(&world, WORD);
}

#[test]
fn rows_that_were_not_read_yet_stay_out_too() {
    let world = told_world(&EXTRACT);
    let file = world.claude_dir().join("projects").join(crate::forget::scene::path_of(OTHER));
    let more = user(OTHER, &crate::forget::scene::id("d1"), "2026-11-20T14:00:00Z", "And the Zanzibarquux lagoon?");
    fs::write(&file, fs::read_to_string(&file).unwrap() + &more).unwrap();
    let ran = world.recall(["forget", "--yes", "--match", "zanzibarquux   LAGOON"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.out.contains("parts of 3"), "{ran:#?}");
    world.digest(&EXTRACT);
    assert_gone(&world, WORD);
}

#[test]
fn lines_of_the_users_notes_go_as_well_and_are_told() {
    let world = told_world(&EXTRACT);
    let (day, _) = world.pages().into_iter().find(|(path, _)| !path.contains("/sessions/")).unwrap();
    let file = world.data_dir().join(&day);
    let notes = "\n## Notes\n\nmine\nask about the Zanzibarquux\nlagoon tomorrow\nalso mine\n";
    fs::write(&file, fs::read_to_string(&file).unwrap() + notes).unwrap();
    let ran = world.recall(["forget", "--yes", "--match", TEXT]);
    assert!(ran.out.contains(&format!("forgot 2 lines of your notes in {day}\n")), "{ran:#?}");
    assert_gone(&world, WORD);
    assert!(fs::read_to_string(&file).unwrap().ends_with("\n## Notes\n\nmine\nalso mine\n"));
}

#[test]
fn a_session_whose_project_folder_or_branch_is_named_so_goes_whole() {
    for (from, to) in [
        ("/home/dev/src/shop", "/home/dev/src/zanzibarquux lagoon"),
        ("\"gitBranch\":\"main\"", "\"gitBranch\":\"fix/zanzibarquux lagoon\""),
    ] {
        let world = crate::support::World::new();
        let [_, _, (path, text)] = crate::forget::scene::transcripts();
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        let file = world.transcript(&path.replace(".jsonl", "").replace(OTHER, &format!("{OTHER}.jsonl")), &changed);
        world.digest(&EXTRACT);
        let ran = world.recall(["forget", "--yes", "--match", TEXT]);
        assert!(ran.out.contains("forgot 1 session whole: "), "{ran:#?}");
        assert_gone(&world, WORD);
        fs::write(&file, changed.clone() + &user(OTHER, "x", "2026-11-20T14:00:00Z", "Go on.").replace(from, to)).unwrap();
        world.digest(&EXTRACT);
        assert_gone(&world, WORD);
        assert_eq!(world.count("SELECT count(*) FROM session"), 0);
    }
}

#[test]
fn a_transcript_in_a_folder_of_that_name_is_not_read() {
    let world = told_world(&EXTRACT);
    // Of a session that is known, and of one of which nothing is stored.
    let unknown = "ffffffff-1111-4111-8111-000000000006";
    for session in [OTHER, unknown] {
        world.transcript(&format!("-home-dev-src-zanzibarquux/{session}.jsonl"), "{\"type\":\"mode\"}\n");
    }
    world.digest(&EXTRACT);
    assert!(places_of(&world, "zanzibarquux").iter().any(|p| p.starts_with("file.path")));
    let ran = world.recall(["forget", "--yes", "--match", WORD]);
    assert!(ran.out.starts_with("forgot 1 session whole, parts of 2 sessions, 1 session that was never read: "), "{ran:#?}");
    world.digest(&EXTRACT);
    assert_gone(&world, WORD);
}

#[test]
fn a_text_that_all_paths_hold_is_refused() {
    let world = told_world(&EXTRACT);
    for text in ["home", "x", " \n "] {
        let ran = world.recall(["forget", "--yes", "--match", text]);
        assert_eq!(ran.code, 2, "{ran:#?}");
        assert!(ran.err.contains("give a longer text") || ran.err.contains("at least 2 characters"), "{ran:#?}");
    }
    assert_eq!(world.count("SELECT count(*) FROM session"), 3);
}

#[test]
fn what_only_a_model_said_goes_too_and_another_digest_is_made() {
    let world = told_world(&EXTRACT);
    let reply = r#"{\"title\":\"Buttons of the Zanzibarquux lagoon\",\"request\":\"a button\",\"completed\":[\"Added it\"]}"#;
    let good = format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{reply}","total_cost_usd":0.001}}"#);
    world.fake_claude(&format!("#!/bin/sh\ncat > /dev/null\ncat <<'REPLY'\n{good}\nREPLY\n"));
    world.digest(&["--summarizer", "claude", "--session", OTHER]);
    assert!(world.show(OTHER)["digest"]["title"].as_str().unwrap().contains("Zanzibarquux"));
    let ran = world.recall(["forget", "--yes", "--match", TEXT]);
    assert!(ran.out.contains("parts of 3"), "{ran:#?}");
    assert_gone(&world, WORD);
    assert_eq!(world.texts(OTHER, "prompt").len(), 1);
    let tame = good.replace("Zanzibarquux lagoon", "order list");
    world.fake_claude(&format!("#!/bin/sh\ncat > \"$0.asked\"\ncat <<'REPLY'\n{tame}\nREPLY\n"));
    world.digest(&["--summarizer", "claude"]);
    assert_eq!(world.show(OTHER)["digest"]["title"], "Buttons of the order list");
    let asked = fs::read_to_string(world.bin().join("claude.asked")).unwrap().to_lowercase();
    assert!(!asked.contains(WORD), "{asked}");
    assert_gone(&world, WORD);
}

#[test]
fn a_digest_that_was_paid_for_stays_when_only_one_it_replaced_holds_the_text() {
    let world = told_world(&EXTRACT);
    let says = |title: &str| {
        let reply = format!(r#"{{\"title\":\"{title}\",\"request\":\"a button\",\"completed\":[\"Added it\"]}}"#);
        let answer =
            format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{reply}","total_cost_usd":0.001}}"#);
        world.fake_claude(&format!("#!/bin/sh\ncat > /dev/null\ncat <<'REPLY'\n{answer}\nREPLY\n"));
        world.digest(&["--summarizer", "claude", "--session", OTHER]);
    };
    says("Buttons of the Zanzibarquux lagoon");
    says("Buttons of the order list");
    assert_eq!(world.count("SELECT count(*) FROM digest WHERE superseded"), 1);
    let before = world.show(OTHER);
    world.recall(["forget", "--yes", "--match", TEXT]);
    assert_gone(&world, WORD);
    assert_eq!(world.show(OTHER), before);
}

#[test]
fn replies_logs_and_reasons_of_failures_go() {
    let world = told_world(&EXTRACT);
    let data = world.data_dir();
    fs::create_dir_all(data.join("replies")).unwrap();
    fs::write(data.join("replies/0123.json"), "the zanzibarquux lagoon").unwrap();
    fs::write(data.join("hooks.log"), "2026-11-20T10:00:00Z start: zanzibarquux lagoon\n2026-11-20T10:00:00Z start: other\n")
        .unwrap();
    fs::write(data.join("hooks.log.old"), "2026-11-20T10:00:00Z start: zanzibarquux lagoon\n").unwrap();
    fs::write(data.join("last-run.json"), r#"{"at":1,"failures":2,"error":"the Zanzibarquux lagoon"}"#).unwrap();
    fs::write(data.join("daily/2026-11/.recall-tmp-0123456789ab"), "zanzibarquux lagoon").unwrap();
    let ran = world.recall(["forget", "--yes", "--match", TEXT]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_gone(&world, WORD);
    assert_eq!(fs::read_to_string(data.join("hooks.log")).unwrap(), "2026-11-20T10:00:00Z start: other\n");
    assert!(fs::read_to_string(data.join("last-run.json")).unwrap().contains("\"failures\":2"));
}

#[test]
fn a_file_that_is_not_recalls_is_named_and_left_alone() {
    let world = told_world(&EXTRACT);
    let own = world.data_dir().join("daily/my own.txt");
    fs::write(&own, "zanzibarquux lagoon").unwrap();
    let ran = world.recall(["forget", "--yes", "--match", TEXT]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains("my own.txt"), "{ran:#?}");
    assert!(own.exists());
}

#[test]
fn what_was_put_above_the_notes_of_a_page_goes() {
    let world = told_world(&EXTRACT);
    for (path, _) in world.pages() {
        let file = world.data_dir().join(path);
        fs::write(&file, fs::read_to_string(&file).unwrap() + "\nzanzibarquux lagoon\n").unwrap();
    }
    let ran = world.recall(["forget", "--yes", "--match", TEXT]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_gone(&world, WORD);
}
