//! What is stored already obeys the rules of today: at the next digest after they have changed.

use crate::support::{World, assistant, files_below, user};

const SESSION: &str = "64b0b6d9-e371-40e8-affe-78e0505dfb3f";

/// A session about something that turns out later not to be for keeping.
fn world() -> World {
    let world = World::new();
    let lines = [
        user(SESSION, "a1", "2026-11-17T10:00:00Z", "please mend the pagination of the orders, staff number STF-20491"),
        assistant(
            SESSION,
            "a2",
            "2026-11-17T10:01:00Z",
            "I fixed the cursor in src/page.rs; the cause was the offset of STF-20491.",
        ),
        user(SESSION, "a3", "2026-11-17T10:02:00Z", "and now Project Bluebird: move its orders to the archive"),
        assistant(
            SESSION,
            "a4",
            "2026-11-17T10:03:00Z",
            "Done: all orders of Bluebird were moved and the tests pass.\n\nLeft:\n\n- Rotate the badge STF-20491 in the door table\n- Ask the office about STF-20491 and Bluebird",
        ),
    ];
    world.transcript(&format!("-shop/{SESSION}.jsonl"), lines.concat());
    world
}

/// Where a text is found: in the index by search, in what is exported, in any file as it is.
fn places(world: &World, text: &str) -> Vec<String> {
    let mut places = Vec::new();
    let mut lines = vec![("search", world.recall(["search", text]).out), ("export", world.recall(["export"]).out)];
    lines.push(("show", world.recall(["show", "--full", SESSION]).out));
    places.extend(lines.into_iter().filter(|(_, out)| out.contains(text)).map(|(name, _)| name.to_owned()));
    for file in files_below(&world.data_dir()) {
        let bytes = std::fs::read(&file).expect("a file");
        if bytes.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text.as_bytes())) {
            places.push(file.display().to_string());
        }
    }
    places
}

#[test]
fn a_pattern_that_is_added_later_takes_out_what_it_matches_and_what_was_said_of_it() {
    let world = world();
    world.digest(&["--summarizer", "extract"]);
    assert!(places(&world, "Bluebird").len() > 2);
    world.configure("[privacy]\nexclude_patterns = ['(?i)bluebird']\n");
    let report = world.digest(&["--summarizer", "extract"]);
    assert!(report["texts_cleaned"].as_u64() > Some(1), "{report}");
    assert_eq!(places(&world, "Bluebird"), [] as [&str; 0]);
    assert_eq!(places(&world, "bluebird"), [] as [&str; 0]);
    assert!(world.recall(["show", "--full", SESSION]).out.contains("pagination"), "the rest stays");
}

#[test]
fn a_rule_that_is_added_later_redacts_what_is_stored() {
    let world = world();
    world.digest(&["--summarizer", "extract"]);
    assert!(places(&world, "20491").len() > 2);
    world.configure("[[privacy.rules]]\nid = \"staff-number\"\npattern = 'STF-\\d{5}'\n");
    let report = world.digest(&["--summarizer", "extract"]);
    assert!(report["texts_cleaned"].as_u64() > Some(1), "{report}");
    assert_eq!(places(&world, "20491"), [] as [&str; 0]);
    assert!(world.recall(["show", SESSION, "--json"]).out.contains("[REDACTED:staff-number]"));
    // What passed these rules passes no second time.
    let again = world.digest(&["--summarizer", "extract"]);
    assert_eq!((&again["texts_cleaned"], &again["pages_written"]), (&serde_json::Value::Null, &0.into()), "{again}");
}

#[test]
fn a_digest_that_was_paid_for_is_cleaned_and_not_paid_again() {
    let world = world();
    world.fake_claude(concat!(
        "#!/bin/sh\necho x >> \"$RECALL_DATA_DIR/../calls\"\n",
        r#"cat >/dev/null; printf '%s' '{"is_error":false,"total_cost_usd":0.001,"result":"{\"title\":\"Pagination for STF-20491\",\"request\":\"mend it\",\"completed\":[\"The cursor was wrong for STF-20491\"]}"}'"#
    ));
    world.digest(&["--summarizer", "claude"]);
    world.configure("[[privacy.rules]]\nid = \"staff-number\"\npattern = 'STF-\\d{5}'\n");
    world.digest(&[]);
    assert_eq!(std::fs::read_to_string(world.root().join("calls")).expect("calls"), "x\n");
    assert_eq!(places(&world, "20491"), [] as [&str; 0]);
    assert_eq!(world.show(SESSION)["digest"]["title"], "Pagination for [REDACTED:staff-number]");
}

#[test]
fn what_is_imported_obeys_the_rules_of_the_importer() {
    let from = world();
    from.digest(&["--summarizer", "extract"]);
    let export = from.recall(["export"]).out;
    let to = World::new();
    to.configure("[privacy]\nexclude_patterns = ['Bluebird']\n[[privacy.rules]]\nid = \"staff-number\"\npattern = 'STF-\\d{5}'\n");
    let file = to.root().join("export.jsonl");
    std::fs::write(&file, export).expect("the export");
    let ran = to.recall(["import", file.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    to.digest(&["--rebuild-pages", "--summarizer", "extract"]);
    assert_eq!((places(&to, "20491"), places(&to, "Bluebird")), (vec![], vec![]));
    assert!(to.recall(["show", "--full", SESSION]).out.contains("pagination"));
}

/// A model whose digest leaves two things open, and says of a file what stood in it.
fn with_open_items(world: &World) {
    let result = serde_json::json!({"title": "Pagination", "request": "mend it", "learned": ["Everybody earns 4711"],
        "next_steps": ["Rotate the badge STF-20491 in the door table", "Ask the office about STF-20491 and Bluebird"]});
    let answer = serde_json::json!({"is_error": false, "total_cost_usd": 0.001, "result": result.to_string()});
    std::fs::write(world.root().join("answer"), answer.to_string()).expect("an answer");
    world.fake_claude("#!/bin/sh\necho x >> \"$RECALL_DATA_DIR/../calls\"\ncat >/dev/null\ncat \"$RECALL_DATA_DIR/../answer\"\n");
    world.digest(&["--summarizer", "claude"]);
}

/// The open items that are shown: id and words.
fn shown(world: &World) -> Vec<(String, String)> {
    let context = world.recall(["context", "--cwd", "/home/dev/src/shop"]).out;
    let items = context.lines().filter_map(|line| line.trim_start_matches("- ").split_once(' '));
    let ids = items.filter(|(id, _)| id.len() == 9 && id.starts_with('n') && id[1..].bytes().all(|b| b.is_ascii_hexdigit()));
    ids.map(|(id, text)| (id.to_owned(), text.to_owned())).collect()
}

#[test]
fn open_items_that_are_reworded_stay_closed_and_can_be_closed() {
    let world = world();
    with_open_items(&world);
    let before = shown(&world);
    assert_eq!(before.len(), 2, "{before:?}");
    let rotate = &before.iter().find(|(_, text)| text.contains("Rotate")).expect("the item").0;
    assert_eq!(world.recall(["close", rotate]).code, 0);
    world.configure("[[privacy.rules]]\nid = \"staff-number\"\npattern = 'STF-\\d{5}'\n");
    world.digest(&[]);
    let after = shown(&world);
    assert!(after.len() == 1 && after[0].1.contains("Ask the office about [REDACTED:staff-number]"), "{after:?}");
    assert!(after[0].0 != before[0].0 && after[0].0 != before[1].0, "the id comes from the words");
    let closed = world.recall(["close", &after[0].0]);
    assert!(closed.code == 0 && closed.out.contains("closed"), "{closed:#?}");
    assert_eq!(shown(&world), []);
    let pages = world.pages();
    let struck = |text: &str| text.matches("(done, by the user, 2026-11-21)").count();
    assert!(pages.iter().any(|(_, text)| struck(text) == 2), "{pages:#?}");
    assert_eq!(places(&world, "20491"), [] as [&str; 0]);
}

#[test]
fn a_closed_item_that_is_exported_stays_closed_by_the_rules_of_the_importer() {
    let from = world();
    with_open_items(&from);
    let rotate = shown(&from).into_iter().find(|(_, text)| text.contains("Rotate")).expect("the item").0;
    assert_eq!(from.recall(["close", &rotate]).code, 0);
    let to = World::new();
    to.configure("[[privacy.rules]]\nid = \"staff-number\"\npattern = 'STF-\\d{5}'\n");
    let file = to.root().join("export.jsonl");
    std::fs::write(&file, from.recall(["export"]).out).expect("the export");
    assert_eq!(to.recall(["import", file.to_str().expect("UTF-8")]).code, 0);
    let left = shown(&to);
    assert!(left.len() == 1 && left[0].1.contains("Ask the office"), "{left:?}");
    let sql = "SELECT id FROM open_item WHERE text LIKE '%Rotate%'";
    let id: String = to.database().query_row(sql, [], |r| r.get(0)).expect("the item");
    let undone = to.recall(["close", "--undo", &id]);
    assert!(undone.out.contains("open again"), "{undone:#?}");
    assert_eq!(shown(&to).len(), 2);
}

#[test]
fn what_a_pattern_matches_goes_from_open_items_titles_and_branches() {
    let world = World::new();
    let title = serde_json::json!({"type": "summary", "summary": "Project Bluebird moved", "leafUuid": "a2"});
    let rows = user(SESSION, "a1", "2026-11-17T10:00:00Z", "please mend the pagination of the orders")
        + &assistant(
            SESSION,
            "a2",
            "2026-11-17T10:01:00Z",
            "I fixed the cursor in src/page.rs.\n\nLeft:\n\n- Rotate the badge STF-20491 in the door table\n- Ask the office about STF-20491 and Bluebird",
        )
        + &format!("{title}\n");
    world.transcript(&format!("-shop/{SESSION}.jsonl"), rows.replace(r#""gitBranch":"main""#, r#""gitBranch":"feature/bluebird""#));
    with_open_items(&world);
    let ask = shown(&world).into_iter().find(|(_, text)| text.contains("Ask")).expect("the item").0;
    assert_eq!(world.recall(["close", &ask]).code, 0);
    assert!(places(&world, "Bluebird").len() > 1);
    world.configure("[privacy]\nexclude_patterns = ['(?i)bluebird']\n");
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(places(&world, "Bluebird"), [] as [&str; 0]);
    assert_eq!(places(&world, "bluebird"), [] as [&str; 0]);
    for table in ["open_item", "closed_item", "user_closed", "leaf_title"] {
        assert_eq!(world.count(&format!("SELECT count(*) FROM {table} WHERE text LIKE '%bluebird%' OR text = ''")), 0, "{table}");
    }
}

#[test]
fn what_was_made_of_a_file_that_is_private_now_is_made_anew() {
    let row = |uuid: &str, kind: &str, content: serde_json::Value| {
        let row = serde_json::json!({"type": kind, "uuid": uuid, "sessionId": SESSION, "timestamp": "2026-11-17T10:02:00Z",
            "cwd": "/home/dev/src/shop", "message": {"id": uuid, "role": kind, "model": "m", "content": [content]}});
        format!("{row}\n")
    };
    let world = World::new();
    let command = serde_json::json!({"command": "python3 sum.py < pay.csv"});
    let rows = user(SESSION, "a1", "2026-11-17T10:00:00Z", "please check the table")
        + &row("b1", "assistant", serde_json::json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": command}))
        + &row(
            "b2",
            "user",
            serde_json::json!({"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "error: 4711 for everybody"}),
        )
        + &assistant(SESSION, "a2", "2026-11-17T10:03:00Z", "I looked at it.");
    world.transcript(&format!("-shop/{SESSION}.jsonl"), rows);
    with_open_items(&world);
    assert_eq!(world.show(SESSION)["digest"]["learned"][0]["text"], "Everybody earns 4711");
    world.configure("[privacy]\nexclude_paths = ['**/pay.csv']\n");
    let report = world.digest(&["--summarizer", "extract"]);
    assert_eq!(report["sessions_digested"], 1, "{report}");
    assert_eq!(places(&world, "4711"), [] as [&str; 0]);
    assert_eq!(world.count("SELECT count(*) FROM digest WHERE summarizer = 'claude'"), 0, "nor is it kept among the replaced ones");
}
