//! What is stored already obeys the rules of today: at the next digest after they have changed.

mod support;

use support::{World, assistant, files_below, user};

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
        assistant(SESSION, "a4", "2026-11-17T10:03:00Z", "Done: all orders of Bluebird were moved and the tests pass."),
    ];
    world.transcript(&format!("-shop/{SESSION}.jsonl"), lines.concat());
    world
}

/// Where a text is found: in the index by search, in what is exported, in any file as it is.
fn places(world: &World, text: &str) -> Vec<String> {
    let mut places = Vec::new();
    let mut lines = vec![("search", world.recall(["search", text]).out), ("export", world.recall(["export"]).out)];
    lines.push(("show", world.recall(["show", SESSION]).out));
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
    assert!(world.recall(["show", SESSION]).out.contains("pagination"), "the rest stays");
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
    assert!(to.recall(["show", SESSION]).out.contains("pagination"));
}
