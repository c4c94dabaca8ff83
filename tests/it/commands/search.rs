//! `recall search`: phrases, filters, scripts without spaces, notes, and which of several comes first.

use serde_json::Value;

use crate::support::{World, assistant, steps_in, user};

const A: &str = "aaaa1111";
const B: &str = "bbbb2222";
const C: &str = "cccc3333";

/// A world with sessions of an id, a day of November 2026, a project, a branch, a prompt and a reply each.
fn world(sessions: &[(&str, u32, &str, &str, &str)]) -> World {
    let world = World::new();
    for (id, day, project, prompt, reply) in sessions {
        let at = |minute: u32| format!("2026-11-{day:02}T10:{minute:02}:00Z");
        let rows = user(id, &format!("{id}u"), &at(0), prompt) + &assistant(id, &format!("{id}a"), &at(1), reply);
        world.transcript(&format!("-p/{id}.jsonl"), rows.replace("/home/dev/src/shop", &format!("/home/dev/src/{project}")));
    }
    world.digest(&["--summarizer", "extract"]);
    world
}

fn results(world: &World, words: &[&str]) -> Vec<Value> {
    let ran = world.recall(["search", "--json", "--"].iter().chain(words));
    assert_eq!(ran.code, 0, "{words:?}: {ran:#?}");
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

fn found(world: &World, words: &[&str]) -> Vec<String> {
    results(world, words).iter().map(|one| one["session"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn what_the_assistant_said_is_found_and_not_only_what_was_asked() {
    let world = world(&[
        (A, 10, "shop", "why is it red?", "The `fence_post` in `walk_pages` counts one row too many. Fixed, all tests pass."),
        (B, 11, "shop", "and the other one?", "Looked at it, nothing to be done."),
    ]);
    assert_eq!(found(&world, &["fence_post"]), [A]);
    let passage = results(&world, &["walk_pages"])[0]["passage"].as_str().unwrap().to_owned();
    assert!(passage.contains("walk_pages") && passage.contains("one row too many"), "{passage}");
}

#[test]
fn a_phrase_has_to_be_there_as_it_is() {
    let world = world(&[
        (A, 10, "shop", "The list of the orders is empty", "Fixed the list."),
        (B, 11, "shop", "The orders list is empty", "Fixed."),
        (C, 12, "shop", "List all that the orders hold", "Listed."),
    ]);
    assert_eq!(found(&world, &["\"list of the orders\""]), [A]);
    assert_eq!(found(&world, &["\"Orders List\""]), [B], "in any case");
    assert_eq!(found(&world, &["empty", "\"orders list\""]), [B]);
    assert_eq!(found(&world, &["\"orders of the list\""]), Vec::<String>::new());
    assert_eq!(found(&world, &["unheardof", "\"orders list\""]), [B], "a word that is nowhere hides nothing");
    assert_eq!(found(&world, &["\"orders", "list"]).len(), 3, "a quote that is never closed is none");
}

#[test]
fn filters_narrow_and_can_stand_alone() {
    let world = World::with_fixtures(&["plain", "retry", "compact"]);
    world.digest(&["--summarizer", "extract"]);
    let plain = "64b0b6d9-e371-40e8-affe-78e0505dfb3f";
    assert_eq!(found(&world, &["file:shop/db.py"])[0], plain);
    assert_eq!(found(&world, &["order", "file:db.py", "branch:keyset-order-list"]), [plain]);
    assert_eq!(found(&world, &["branch:keyset"]), [plain]);
    assert_eq!(found(&world, &["file:unheard_of.py"]), Vec::<String>::new());
    assert_eq!(found(&world, &["tool:Edit", "keyset"])[0], plain);
    assert_eq!(found(&world, &["tool:WebFetch"]), Vec::<String>::new());
    assert_eq!(found(&world, &["project:sho", "before:2026-11-18"]), [plain]);
    assert_eq!(found(&world, &["project:elsewhere", "order"]), Vec::<String>::new());
    assert!(!found(&world, &["since:2026-11-18"]).contains(&plain.to_owned()));
    let error = &results(&world, &["kind:error", "failures"])[0];
    assert_eq!(error["found_in"], "error", "{error}");
}

#[test]
fn a_phrase_among_words_is_preferred_and_where_nothing_says_it_its_words_count() {
    let world = world(&[
        (A, 10, "shop", "Why is the order list slow?", "The list of orders is read twice."),
        (B, 11, "shop", "Why is the list of every order slow?", "It is read twice as well."),
    ]);
    assert_eq!(found(&world, &["why is the \"order list\" slow"]), [A], "who says it so comes alone");
    let asked = "why is the \"orders lists\" so slow";
    let by_words = world.recall(["search", asked]);
    assert!(by_words.code == 0 && by_words.out.contains(&A[..8]) && by_words.out.contains(&B[..8]), "{by_words:#?}");
    assert!(by_words.err.contains("no exact match for \"orders lists\": searched for the words"), "{by_words:#?}");
    for strict in [&["\"orders lists\""][..], &["\"orders lists\" project:shop"], &["\"lists orders\" \"orders lists\""]] {
        let ran = world.recall(["search"].iter().chain(strict));
        assert!(ran.out.is_empty() && ran.err.contains("nothing found"), "alone it is a filter: {ran:#?}");
    }
    assert_eq!(found(&world, &["why \"orders lists\" project:elsewhere"]), Vec::<String>::new(), "filters are filters");
    let topic = world.recall(["context", "-c", asked, "--summarizer", "extract", "--cwd", "/home/dev/src/shop"]);
    assert!(topic.out.contains("read twice") && topic.err.contains("no exact match for"), "{topic:#?}");
}

#[test]
fn what_is_no_filter_is_a_word() {
    let world = world(&[(A, 10, "shop", "The note: keep the colour kind:unknown", "Kept.")]);
    for words in ["note:colour", "kind:unknown", "since:whenever colour", "http://colour", "colour:"] {
        assert_eq!(found(&world, &[words]), [A], "{words}");
    }
}

#[test]
fn a_kind_is_all_that_comes_back() {
    let world = world(&[
        (A, 10, "shop", "Which cache? Keep the cache in Redis, I think: two workers share it.", "In Redis then."),
        (B, 11, "shop", "Is the cache warm?", "It is warm, all tests pass."),
    ]);
    let form = r#"{\"title\":\"Which cache\",\"request\":\"r\",\"completed\":[\"Asked about it\"],\"decisions\":[{\"text\":\"Keep the cache in Redis, because two workers share it\",\"rows\":[2]}]}"#;
    let answer = format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{form}","total_cost_usd":0.001}}"#);
    world.fake_claude(&format!("#!/bin/sh\ncat > /dev/null\ncat <<'REPLY'\n{answer}\nREPLY\n"));
    world.digest(&["--summarizer", "claude", "--session", A]);
    let decided = |words: &[&str]| -> Vec<(String, String)> {
        let told = |hit: &Value| (hit["session"].as_str().unwrap().to_owned(), hit["found_in"].as_str().unwrap().to_owned());
        results(&world, words).iter().map(told).collect()
    };
    let (claim, words) = ((A.to_owned(), "decision".to_owned()), (B.to_owned(), "prompt".to_owned()));
    assert_eq!(decided(&["kind:decision", "redis"]), std::slice::from_ref(&claim), "what a model claimed");
    let mut all = decided(&["kind:Decisions", "cache"]);
    all.sort();
    assert_eq!(all, [claim, words], "where none did, what the user said");
    assert_eq!(found(&world, &["\"the cache\"", "kind:decision"]).len(), 2);
    assert_eq!(found(&world, &["\"it is warm\"", "kind:decision"]), Vec::<String>::new(), "and never a reply");
    assert_eq!(found(&world, &["kind:blocker", "redis"]), Vec::<String>::new());
    assert_eq!(found(&world, &["kind:decision"]), [A], "all decisions, and nothing that is none");
    let none = world.recall(["search", "kind:blocker"]);
    assert!(none.out.is_empty() && none.err.contains("leave the filter out to search everything"), "{none:#?}");
    let said = world.recall(["search", "kind:decision", "warm"]);
    assert!(
        said.err.contains("1 of these sessions has no digest by the model: the result shows what you said or pasted there"),
        "{said:#?}"
    );
    let claimed = world.recall(["search", "kind:decision", "redis"]);
    assert_eq!(claimed.err, "", "{claimed:#?}");
}

#[test]
fn a_note_answers_for_its_kind() {
    let world = world(&[(A, 10, "shop", "Which cache?", "Redis.")]);
    for (kind, text) in [("decision", "The ledger stays in Postgres"), ("todo", "Rotate the ledger"), ("fact", "The ledger is big")]
    {
        assert_eq!(world.recall(["remember", "--project", "/home/dev/src/shop", "--kind", kind, text]).code, 0);
    }
    let told = |kind: &str| -> Vec<String> {
        let hits = results(&world, &[&format!("kind:{kind}"), "ledger"]);
        hits.iter().map(|hit| hit["passage"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(told("decision"), ["The ledger stays in Postgres"]);
    assert_eq!(told("next"), ["Rotate the ledger"]);
    assert_eq!(told("learned"), ["The ledger is big"]);
    assert_eq!((told("outcome").len(), told("observation").len(), told("note").len()), (0, 3, 3));
}

#[test]
fn names_are_no_less_for_holding_common_words() {
    let world = World::new();
    for (id, path) in [(A, "src/about.rs"), (B, "src/main.rs")] {
        let edit = serde_json::json!({"type": "assistant", "uuid": format!("{id}e"), "sessionId": id, "timestamp": "2026-11-20T10:02:00Z",
            "cwd": "/home/dev/src/shop", "message": {"id": format!("{id}m"), "role": "assistant", "content": [
                {"type": "tool_use", "id": format!("{id}t"), "name": "Edit", "input": {"file_path": path, "old_string": "a", "new_string": "b"}}]}});
        let rows = user(id, &format!("{id}u"), "2026-11-20T10:00:00Z", "please mend it")
            + &format!("{edit}\n")
            + &assistant(id, &format!("{id}a"), "2026-11-20T10:03:00Z", "Mended.");
        world.transcript(&format!("-p/{id}.jsonl"), rows);
    }
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(found(&world, &["file:about.rs"]), [A]);
    assert_eq!(found(&world, &["file:ABOUT.rs", "mend"]), [A]);
    assert_eq!(found(&world, &["file:all"]), Vec::<String>::new(), "a filter of common words is one all the same");
    assert_eq!(found(&world, &["file:src"]).len(), 2);
}

#[test]
fn a_long_run_without_spaces_is_no_reason_to_fail() {
    let json: String = (0..300).map(|n| format!("\"k{n}\":{n},")).collect();
    let prompt = format!("{{{json}\"pagination\":\"keyset\",{json}}} please use this");
    let world = world(&[(A, 10, "shop", &prompt, &"页".repeat(400))]);
    assert_eq!(found(&world, &["pagination"]), [A]);
    assert_eq!(found(&world, &["页"]), [A]);
}

#[test]
fn a_phrase_is_found_in_titles_lists_and_what_went_well() {
    let world = World::new();
    let row = |n: u32, content: serde_json::Value| {
        let row = serde_json::json!({"type": "assistant", "uuid": format!("t{n}"), "sessionId": A, "timestamp": format!("2026-11-20T10:0{n}:00Z"),
            "cwd": "/home/dev/src/shop", "message": {"id": format!("m{n}"), "role": "assistant", "content": [content]}});
        format!("{row}\n")
    };
    let todos = serde_json::json!({"type": "tool_use", "id": "w", "name": "TodoWrite", "input": {"todos": [{"content": "move the ledger over", "status": "pending"}]}});
    let title = serde_json::json!({"type": "ai-title", "sessionId": A, "aiTitle": "Tidy the quarterly ledger"});
    let rows = user(A, "u", "2026-11-20T10:00:00Z", "please tidy up")
        + &row(1, todos)
        + &assistant(A, "a", "2026-11-20T10:03:00Z", "Tidied.");
    world.transcript(&format!("-p/{A}.jsonl"), rows + &format!("{title}\n"));
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(found(&world, &["\"move the ledger\""]), [A]);
    assert_eq!(found(&world, &["\"the quarterly ledger\""]), [A]);
}

#[test]
fn a_project_option_means_a_name_before_a_part_of_one() {
    let world = world(&[(A, 10, "workshop", "mend the cache", "Mended."), (B, 11, "shop", "mend the cache", "Mended.")]);
    let ids = |args: &[&str]| {
        let ran = world.recall(["search", "--json", "cache"].iter().chain(args));
        ran.out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["session"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&["--project", "shop"]), [B]);
    assert_eq!(ids(&["--project", "hop"]).len(), 2, "a part of a name, where no name is just that");
    assert_eq!(ids(&["--limit", "1"]).len(), 1);
    assert_eq!(world.recall(["search", "cache", "--limit", "18446744073709551615"]).code, 2);
}

#[test]
fn scripts_without_spaces_are_found_by_parts_of_a_run() {
    let world = world(&[
        (A, 10, "shop", "订单列表分页有问题，请修复", "已修复：改用游标分页。"),
        (B, 11, "shop", "注文一覧のページ送りが壊れています", "カーソル方式に直しました。"),
        (C, 12, "shop", "หน้าแสดงรายการสินค้าช้า", "เพิ่มดัชนีแล้ว"),
    ]);
    for (words, meant) in [("分页", A), ("游标", A), ("订单", A), ("ページ送り", B), ("注文", B), ("カーソル", B), ("รายการ", C)]
    {
        assert_eq!(found(&world, &[words]).first().map(String::as_str), Some(meant), "{words}");
    }
    assert_eq!(found(&world, &["\"分页有问题\""]), [A]);
}

#[test]
fn words_that_mean_the_same_find_but_count_less() {
    let world = world(&[
        (A, 10, "shop", "The signin form rejects valid people", "Fixed the form."),
        (B, 11, "shop", "The login form is ugly", "Fixed the form."),
        (C, 12, "shop", "The basket is empty", "Fixed the basket."),
    ]);
    assert_eq!(found(&world, &["login"]), [B, A]);
    assert_eq!(found(&world, &["oauth"]).len(), 2, "nobody said it, two meant it");
}

#[test]
fn of_two_that_say_the_same_the_later_one_comes_first() {
    let text = "The parser loses comments behind a semicolon";
    let world = world(&[(A, 1, "shop", text, "Looked into the lexer."), (B, 20, "other", text, "Looked into the lexer.")]);
    assert_eq!(found(&world, &["parser", "comments"]), [B, A]);
}

#[test]
fn a_project_is_found_by_its_name() {
    let world = world(&[
        (A, 10, "weather-station", "The tests are flaky", "Fixed the clock in the tests."),
        (B, 11, "shop", "The tests are flaky", "Fixed the port in the tests."),
    ]);
    assert_eq!(found(&world, &["flaky", "tests", "of", "the", "weather", "station"])[0], A);
}

#[test]
fn a_result_is_short_whatever_was_said() {
    let long = "and the parser walks on and on over whatever there is to be walked over ".repeat(60);
    let world = world(&[(A, 10, "shop", &long, &format!("{long} the needle lies here {long}"))]);
    let shown = world.recall(["search", "needle"]).out;
    assert!(shown.contains("the needle lies here"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() < 180), "{shown}");
}

#[test]
fn an_id_that_is_shown_can_be_opened() {
    let world = world(&[
        ("11110000-a", 10, "shop", "mend the cache", "Mended."),
        ("11110000-b", 11, "shop", "mend the other cache", "Mended."),
    ]);
    let shown = world.recall(["search", "cache"]).out;
    let ids: Vec<&str> = shown.lines().filter(|line| line.starts_with("2026")).filter_map(|line| line.split("  ").nth(1)).collect();
    assert_eq!(ids, ["11110000-b", "11110000-a"], "{shown}");
    assert!(ids.iter().all(|id| world.recall(["show", id]).code == 0));
}

#[test]
fn a_search_says_that_there_is_more_and_repeats_no_title() {
    let world = world(&[
        (A, 10, "shop", "mend the cache", "The cache was cold, because nobody warmed it. Mended."),
        (B, 11, "shop", "mend the other cache", "The cache was warm. Mended."),
    ]);
    let one = world.recall(["search", "cache", "--limit", "1"]);
    assert!(one.err.contains("there are more") && one.out.lines().count() == 2, "{one:#?}");
    let all = world.recall(["search", "cache"]);
    assert!(!all.err.contains("more") && all.out.contains("because nobody warmed it"), "{all:#?}");
}

#[test]
fn a_session_is_found_before_it_is_digested_and_after_it_went_on() {
    let world = World::new();
    let first = user(A, "u1", "2026-11-20T10:00:00Z", "Why is the importer slow?")
        + &assistant(A, "a1", "2026-11-20T10:01:00Z", "Looking.");
    let file = world.transcript("-p/aaaa1111.jsonl", &first);
    world.digest(&["--ingest-only"]);
    assert_eq!(found(&world, &["importer"]), [A]);
    let more =
        user(A, "u2", "2026-11-20T10:02:00Z", "Then cache the geocoder") + &assistant(A, "a2", "2026-11-20T10:03:00Z", "Cached.");
    std::fs::write(&file, first + &more).expect("a transcript");
    world.digest(&["--ingest-only"]);
    assert_eq!((found(&world, &["importer"]), found(&world, &["geocoder"])), (vec![A.to_owned()], vec![A.to_owned()]));
}

#[test]
fn an_excluded_project_is_not_found_even_before_the_next_digest() {
    let world = world(&[
        (A, 8, "shop", "Paint the zebra", "It has stripes now, and all tests pass."),
        (B, 9, "hidden", "Paint the zebra elsewhere", "It has stripes there as well, and all tests pass."),
    ]);
    assert_eq!(found(&world, &["zebra"]).len(), 2);
    world.configure("[privacy]\nexclude_projects = [\"/home/dev/src/hidden\"]\n");
    assert_eq!(found(&world, &["zebra"]), [A]);
    assert_eq!(found(&world, &["project:hidden"]), [] as [&str; 0]);
}

#[test]
fn a_session_that_cannot_be_read_keeps_no_other_from_being_found() {
    let world = world(&[
        ("aaaa1111", 8, "shop", "Paint the zebra", "It has stripes now, and all tests pass."),
        ("bbbb2222", 9, "shop", "Feed the hedgehog", "It has eaten, and all tests pass."),
    ]);
    let db = rusqlite::Connection::open(world.data_dir().join("recall.db")).unwrap();
    let broken =
        "UPDATE bundle SET said = x'01ff00000028b52ffd00' WHERE session = (SELECT pk FROM session WHERE id LIKE 'aaaa1111%');
        UPDATE session SET unindexed = 1; DELETE FROM doc WHERE session = (SELECT pk FROM session WHERE id LIKE 'bbbb2222%')";
    db.execute_batch(broken).unwrap();
    drop(db);
    let ran = world.recall(["digest", "--summarizer", "extract"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    let told: Vec<&str> =
        ran.err.lines().filter(|line| line.contains("search does not find what is new in this session")).collect();
    assert!(told.len() == 1 && told[0].contains("session aaaa1111"), "{ran:#?}");
    assert_eq!(found(&world, &["hedgehog"]).len(), 1);
    assert!(
        world.recall(["search", "hedgehog"]).err.contains("1 session changed after the last digest: run `recall digest` to add")
    );
    assert_eq!(world.count("SELECT unindexed FROM session WHERE id LIKE 'aaaa1111%'"), 1);
}

#[test]
fn an_index_of_an_older_program_says_that_it_waits_for_a_digest() {
    let world = world(&[(A, 10, "shop", "The parser loses comments", "Fixed the parser.")]);
    world.make_index_older();
    assert_eq!(found(&world, &["parser"]), [A], "what it holds is found");
    world.make_index_older();
    let db = rusqlite::Connection::open(world.data_dir().join("recall.db")).unwrap();
    db.execute_batch("DELETE FROM search; DELETE FROM doc").unwrap();
    drop(db);
    let ran = world.recall(["search", "parser"]);
    assert!(ran.code == 0 && ran.err.contains("recall digest"), "{ran:#?}");
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(found(&world, &["parser"]), [A]);
}

#[test]
fn of_sessions_that_say_the_same_words_the_users_own_come_first() {
    let rule = "No commits directly to main, ever.";
    let world = world(&[
        (A, 10, "shop", rule, "Understood. I work on a branch from now on, and open a pull request."),
        (B, 11, "shop", "Look at the hook.", "The rule of the hook: a commit to main is checked, a commit to a branch is not."),
        (C, 12, "shop", "Why does it fail?", "The lint rule fails for the commit. After the commit to main the rule passes."),
        ("dddd4444", 13, "shop", "And now?", "The commit is on main. The rule for it stands in the config, the commit names it."),
    ]);
    let first = &results(&world, &["commit", "to", "main", "rule"])[0];
    assert_eq!((first["session"].as_str(), first["passage"].as_str()), (Some(A), Some(rule)), "{first}");
    // Who says more of it still goes first.
    assert_eq!(found(&world, &["lint", "rule", "commit", "main"])[0], C);
}

/// What a result is called depends on the ids of others. Counted are SQLite's own instructions.
#[test]
fn results_cost_the_same_however_many_other_sessions_there_are() {
    let steps = |others: usize| -> u64 {
        let world = World::new();
        for n in 0..others + 10 {
            let (id, word) = (format!("{n:08x}-5e55-4000-8000-000000000000"), if n < 10 { "sluice" } else { "barn" });
            let rows = user(&id, &format!("u{n}"), "2026-11-10T10:00:00Z", &format!("Paint the {word}."));
            world.transcript(&format!("-p/{id}.jsonl"), rows + &assistant(&id, &format!("a{n}"), "2026-11-10T10:01:00Z", "Done."));
        }
        world.digest(&["--ingest-only"]);
        let file = world.root().join("steps");
        let ran = world.process().args(["search", "sluice"]).env("RECALL_STEPS", &file).output().expect("recall runs");
        assert!(ran.status.success(), "{ran:?}");
        steps_in(&file).values().sum()
    };
    let (few, many) = (steps(100), steps(400));
    assert!(many < few * 2, "{few} steps, with four times as many sessions {many}");
}

#[test]
fn results_that_hold_few_of_the_words_are_said_to_be_weak() {
    let world = world(&[
        (A, 10, "shop", "The import loses orders from Basel", "Fixed the reader of the import."),
        (B, 11, "shop", "Sort the orders by day", "Sorted."),
    ]);
    let weak = "no result contains half of your words (rare ones count more), so perhaps nothing stored is about this\n";
    let said = |words: &str| {
        let ran = world.recall(["search", words]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        (ran.out.lines().filter(|line| !line.starts_with(' ')).count(), ran.err.contains(weak))
    };
    // What is there is listed all the same.
    assert_eq!(said("why does the websocket of the orders reconnect every minute"), (2, true));
    assert_eq!(said("import loses orders"), (2, false));
    assert_eq!(said("orders"), (2, false), "one word is there or is not");
    assert_eq!(said("websocket reconnect"), (0, false), "nothing was found, and that is said");
    let json = world.recall(["search", "--json", "why does the websocket of the orders reconnect every minute"]);
    assert!(json.out.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{json:#?}");
}

/// A reply that dilutes what was asked.
const LONG: &str = "I looked at the import first. It reads a file for each branch, and the file of Basel ended in the middle of a line. The reader took \
    that for the end. I made it wait until the file has its last line, and wrote what it does then into the guide for the people in the branch.";

#[test]
fn what_was_typed_and_stands_there_as_it_was_typed_comes_first() {
    let others = "efghijkl".chars().map(|c| format!("{c}{c}{c}{c}5555")).collect::<Vec<_>>();
    let beside = |told: [(&'static str, u32, &'static str, &'static str, &'static str); 3]| {
        let other = |(n, id)| (String::as_str(id), n as u32 + 1, "shop", "How are the orders sorted?", "By day.");
        let sessions: Vec<_> = told.into_iter().chain(others.iter().enumerate().map(other)).collect();
        world(&sessions)
    };
    let world = beside([
        (A, 10, "shop", "The import of last night lost half of the orders from Basel. Tail the staging logs.", LONG),
        (B, 11, "shop", "The LOGIN page on staging is blank, who is logged in?", "The log of the login says who."),
        (C, 12, "shop", "no, verify the staging host; I said no: verify", "Verified. No host was verified before."),
    ]);
    assert_eq!(found(&world, &["staging logs"])[0], A);
    let world = beside([
        (A, 10, "shop", "The hook takes a minute for each commit. Commit with --skip-verify this once.", LONG),
        (B, 11, "shop", "verify the hook; skip the rest", "The hook is verified, the rest skipped."),
        (C, 12, "shop", "a shop fixture: verify the shop, then skip the fixture of the shop", "Skipped, verified: the fixture."),
    ]);
    assert_eq!(found(&world, &["--skip-verify"])[0], A);
}

#[test]
fn a_project_is_named_alike_to_every_command_also_below_a_home_behind_a_link() {
    let world = World::new();
    let link = world.root().join("link to the home");
    std::os::unix::fs::symlink(world.home(), &link).expect("a link");
    let folder = world.home().canonicalize().expect("the home").join("src/lighthouse");
    let folder = folder.to_str().expect("a UTF-8 path");
    let id = "11111111-0000-4000-8000-000000000000";
    let row = user(id, "u1", "2026-11-20T10:00:00Z", "Why does the foghorn not sound?").replace("/home/dev/src/shop", folder)
        + &assistant(id, "a1", "2026-11-20T10:01:00Z", "Its valve is shut.").replace("/home/dev/src/shop", folder);
    world.transcript("-lighthouse/one.jsonl", row);
    world.age_transcripts();
    world.digest(&["--summarizer", "extract"]);
    let home = [("HOME", link.to_str().expect("a UTF-8 path"))];
    for (named, is_meant) in [
        ("~/src/lighthouse", true),
        ("~/src/light*", true),
        (folder, true),
        ("lighthouse", true),
        ("light*", true),
        ("~/src", false),
    ] {
        let search = world.recall_with(["search", "--project", named, "foghorn"], &home);
        let keyed = world.recall_with(["search", &format!("project:{named} foghorn")], &home);
        let export = world.recall_with(["export", "--project", named], &home);
        for ran in [search, keyed, export] {
            assert_eq!(ran.out.contains("foghorn"), is_meant, "{named}: {ran:#?}");
        }
    }
}

#[test]
fn on_a_terminal_results_fit_its_width() {
    let world = World::with_fixtures(&["plain", "retry"]);
    world.digest(&["--summarizer", "extract"]);
    for columns in [50, 80, 200] {
        let lines = crate::support::answers::on_terminal(
            &world,
            world.root(),
            (columns, 50),
            &[("NO_COLOR", "1")],
            &["search", "page", "key"],
        );
        assert!(lines.len() > 2 && lines.iter().all(|line| line.chars().count() <= usize::from(columns)), "{columns}: {lines:#?}");
    }
}

#[test]
fn a_mistyped_word_is_searched_as_the_nearest_one_of_the_index_and_that_is_said() {
    let world = world(&[
        (A, 10, "shop", "Fix the pagination of the order list", "It is keyset pagination now. The migration ran."),
        (B, 11, "shop", "Paint the zebra", "Painted."),
    ]);
    for (typed, meant) in
        [("pagniation", "pagination"), ("paginaton", "pagination"), ("migratoin", "migration"), ("zbera", "zebra")]
    {
        let ran = world.recall(["search", typed]);
        assert!(ran.out.lines().count() > 0, "{typed}: {ran:#?}");
        assert_eq!(ran.err, format!("recall: no session has `{typed}`: searched for `{meant}`\n"), "{typed}");
    }
    let both = world.recall(["search", "pagniation zebra"]);
    assert!(both.out.contains("order list") && both.out.contains("zebra") && both.err.contains("`pagination`"), "{both:#?}");
    let mark = world.recall(["context", "-c", "pagniation"]);
    assert!(mark.out.contains("keyset pagination") && mark.err.contains("searched for `pagination`"), "{mark:#?}");
    for unlike in ["kangaroo", "zebra", "zeb", "fence_pots"] {
        assert!(!world.recall(["search", unlike]).err.contains("searched for"), "{unlike}");
    }
}

#[test]
fn a_word_of_a_project_that_is_hidden_is_never_proposed() {
    let world =
        world(&[(A, 8, "shop", "Paint the horse", "It is brown now."), (B, 9, "hidden", "Paint the zebra", "It has stripes now.")]);
    assert!(world.recall(["search", "zbera"]).err.contains("zebra"));
    world.configure("[privacy]\nexclude_projects = [\"/home/dev/src/hidden\"]\n");
    let ran = world.recall(["search", "zbera"]);
    assert!(!ran.err.contains("zebra") && ran.out.is_empty(), "{ran:#?}");
}

#[test]
fn what_a_model_wrote_that_a_session_answers_comes_first_when_it_is_asked() {
    let world = world(&[
        (A, 10, "shop", "The importer stalls", "One worker held the lock of the geocoder. It lets go now."),
        (B, 11, "shop", "Tidy the docs of the vacuum", "Done: it says that nightly jobs wait for the vacuum, each for long."),
        ("0000aaaa", 1, "shop", "Paint the zebra", "Painted."),
        ("0000bbbb", 2, "shop", "Oil the sluice", "Oiled."),
        ("0000cccc", 3, "shop", "Move the fence", "Moved."),
        (C, 4, "shop", "Mend the ledger", "Mended."),
    ]);
    let form = r#"{\"title\":\"Importer\",\"request\":\"r\",\"completed\":[{\"text\":\"The worker lets the lock of the geocoder go\",\"rows\":[2]}],\"questions\":[\"why do nightly jobs wait so long for each other\"]}"#;
    let answer = format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{form}","total_cost_usd":0.001}}"#);
    world.fake_claude(&format!("#!/bin/sh\ncat > /dev/null\ncat <<'REPLY'\n{answer}\nREPLY\n"));
    assert_eq!(found(&world, &["why do nightly jobs wait so long"])[0], B);
    world.digest(&["--summarizer", "claude", "--session", A]);
    assert_eq!(found(&world, &["why do nightly jobs wait so long"]), [A, B]);
    assert_eq!(found(&world, &["vacuum"]), [B], "other questions are none of its own");
}

#[test]
fn as_many_results_are_listed_as_were_asked_for() {
    let ids: Vec<String> = (0..12).map(|n| format!("{n:04x}5555")).collect();
    let sessions: Vec<_> = ids.iter().map(|id| (id.as_str(), 10, "shop", "What is left of the ledger?", "Something.")).collect();
    let mut all = vec![(A, 11, "shop", "The sluice of the ledger jams", "A sluice of the ledger is oiled, the sluice works.")];
    all.extend(sessions);
    let world = world(&all);
    let ran = world.recall(["search", "--json", "--limit", "20", "sluice ledger jams works oiled"]);
    assert_eq!(ran.out.lines().count(), 13, "{ran:#?}");
}

#[test]
fn as_one_types_results_are_listed_and_enter_shows_the_chosen_one() {
    let world = world(&[
        (A, 10, "shop", "Paint the zebra", "The zebra has stripes now."),
        (B, 11, "shop", "Feed the zebra", "The zebra has eaten."),
        (C, 12, "shop", "Oil the sluice", "The sluice is oiled."),
    ]);
    let typed = |keys: &str| crate::support::answers::typed(&world, (80, 24), &["search", "-i"], keys);
    let (code, screens) = typed("zebra\n");
    assert_eq!(code, 0, "{screens:#?}");
    let listed =
        screens.iter().find(|screen| screen.contains("search: zebra") && screen.contains("enter: show")).expect("the list");
    let sooner =
        screens.iter().find(|screen| screen.contains("search: zeb\n") && screen.contains("enter: show")).expect("the list");
    assert!(sooner.contains("Paint the zebra"), "the beginning of a word finds: {sooner}");
    assert!(listed.contains("> 2026-11-") && listed.contains("Paint the zebra") && listed.contains("Feed the zebra"), "{listed}");
    assert!(listed.contains("enter: show") && listed.lines().all(|line| line.chars().count() < 80), "{listed}");
    let last = screens.last().expect("the end");
    assert!(!last.contains("enter: show") && last.contains("The zebra has"), "{last}");
    // The second of them, after a slip of the finger.
    let first = if last.contains("stripes") { "stripes" } else { "eaten" };
    let (_, screens) = typed("zebras\u{7f}\u{1b}[B\n");
    let last = screens.last().expect("the end");
    assert!(!last.contains(first) && last.contains("The zebra has"), "{last}");
    let (code, screens) = typed("kangaroo\n\u{1b}");
    assert!(screens.iter().any(|screen| screen.contains("nothing found")), "{code}: {screens:#?}");
    let without = world.recall(["search", "-i"]);
    assert!(without.code == 2 && without.err.contains("`recall search -i` needs a terminal"), "{without:#?}");
}
