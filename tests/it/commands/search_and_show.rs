//! `recall search` and `recall show`.

use proptest::prelude::*;
use serde_json::Value;

use crate::support::{Ran, World, assistant, user};

const PLAIN: &str = "64b0b6d9-e371-40e8-affe-78e0505dfb3f";
const RETRY: &str = "e1f1ab06-7af1-4a7a-b6b5-6ca5bb65c0e1";

fn search(world: &World, arguments: &[&str]) -> Vec<Value> {
    let ran = world.recall(["search", "--json"].iter().chain(arguments));
    assert_eq!(ran.code, 0, "{arguments:?}: {ran:#?}");
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

fn sessions(world: &World, arguments: &[&str]) -> Vec<String> {
    search(world, arguments).iter().map(|hit| hit["session"].as_str().unwrap().to_owned()).collect()
}

fn world_with(sessions: &[(&str, &str, &str)]) -> World {
    let world = World::new();
    for (id, at, text) in sessions {
        let rows = user(id, &format!("{id}u"), at, text) + &assistant(id, &format!("{id}a"), at, "It is done and all tests pass.");
        world.transcript(&format!("-p/{id}.jsonl"), rows.replace("/home/dev/src/shop", &format!("/home/dev/src/{}", &id[..4])));
    }
    world.digest(&["--summarizer", "extract"]);
    world
}

#[test]
fn words_are_found_in_any_form_and_any_case() {
    let world = world_with(&[
        ("aaaa1111", "2026-11-20T10:00:00Z", "Retrying payments fails with a timeout"),
        ("bbbb2222", "2026-11-20T11:00:00Z", "Rename the changelog"),
    ]);
    for words in [&["retry"][..], &["RETRIED", "payment"], &["timeouts"], &["fail"], &["pays", "retries", "unheardof"]] {
        assert_eq!(sessions(&world, words), ["aaaa1111"], "{words:?}");
    }
}

#[test]
fn names_are_found_by_their_parts() {
    let world = world_with(&[
        ("aaaa1111", "2026-11-20T10:00:00Z", "Why does parseHTTPHeader call read_user_id twice?"),
        ("bbbb2222", "2026-11-20T11:00:00Z", "Tidy the changelog"),
    ]);
    for words in ["header", "http", "parseHTTPHeader", "user", "read_user_id", "parse header"] {
        assert_eq!(sessions(&world, &[words]), ["aaaa1111"], "{words}");
    }
}

#[test]
fn the_best_comes_first_and_a_session_once() {
    let world = World::with_fixtures(&["plain", "retry", "compact"]);
    world.digest(&["--summarizer", "extract"]);
    let found = sessions(&world, &["idempotency", "key", "retries", "gateway"]);
    assert_eq!(found.first().map(String::as_str), Some(RETRY), "{found:?}");
    let mut once = found.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), found.len(), "{found:?}");
}

#[test]
fn a_hit_says_where_when_and_what() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let hit = &search(&world, &["keyset"])[0];
    assert_eq!(
        (&hit["session"], &hit["project"], &hit["day"]),
        (&PLAIN.into(), &"/home/dev/src/shop".into(), &"2026-11-17".into()),
        "{hit}"
    );
    assert!(hit["passage"].as_str().unwrap().to_lowercase().contains("keyset"), "{hit}");
    assert!(hit["score"].as_f64().is_some() && !hit["title"].as_str().unwrap().is_empty(), "{hit}");

    let shown = world.recall(["search", "keyset"]);
    assert!(shown.out.starts_with("2026-11-17  64b0b6d9  shop  "), "{shown:#?}");
    assert!(!shown.out.contains('\u{1b}'), "no colour where nobody looks: {shown:#?}");
}

#[test]
fn project_since_and_limit_narrow_the_search() {
    let text = "Make the build faster";
    let world = world_with(&[
        ("aaaa1111", "2026-11-01T10:00:00Z", text),
        ("bbbb2222", "2026-11-20T10:00:00Z", text),
        ("cccc3333", "2026-11-21T10:00:00Z", text),
    ]);
    let sorted = |arguments: &[&str]| {
        let mut found = sessions(&world, arguments);
        found.sort();
        found
    };
    assert_eq!(sorted(&["build"]).len(), 3);
    assert_eq!(sorted(&["build", "--project", "bbbb"]), ["bbbb2222"]);
    assert_eq!(sorted(&["build", "--project", "/home/dev/src/{aaaa,cccc}"]), ["aaaa1111", "cccc3333"]);
    assert_eq!(sorted(&["build", "--project", "nothing*"]), Vec::<String>::new());
    assert_eq!(sorted(&["build", "--since", "7d"]), ["bbbb2222", "cccc3333"]);
    assert_eq!(sorted(&["build", "--since", "2026-11-21"]), ["cccc3333"]);
    assert_eq!(sessions(&world, &["build", "--limit", "2"]).len(), 2);
    let wrong = world.recall(["search", "build", "--since", "gestern"]);
    assert_eq!(wrong.code, 2, "{wrong:#?}");
    assert!(wrong.err.contains("yesterday"), "{wrong:#?}");
}

#[test]
fn nothing_found_is_no_failure() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    for words in ["xylophone", "!!!", ""] {
        let ran = world.recall(["search", words]);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{words}: {ran:#?}");
        assert!(ran.err.contains("nothing found"), "{words}: {ran:#?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_word_is_a_syntax_error(words in prop::collection::vec("[a-z\"'*:^(){}\\[\\]+\\-.,;!?<>=~|&%$#@/\\\\ \u{e9}\u{2028}\u{1F600}]{0,12}|AND|OR|NOT|NEAR|title:|NEAR\\(a b\\)", 1..5)) {
        thread_local!(static WORLD: World = {
            let world = World::with_fixtures(&["plain"]);
            world.digest(&["--summarizer", "extract"]);
            world
        });
        // What a shell passes on behind `--` is words, whatever it looks like.
        let ran = WORLD.with(|world| world.recall(["search".to_owned(), "--".to_owned()].iter().chain(&words)));
        prop_assert_eq!(ran.code, 0, "{:?}: {:#?}", words, ran);
    }
}

#[test]
fn words_with_a_dash_in_front_are_words_behind_two_dashes() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let ran = world.recall(["search", "--", "-keyset", "--json"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.out.starts_with("2026-11-17  64b0b6d9"), "{ran:#?}");
}

fn refused(ran: &Ran, words: &[&str]) {
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:#?}");
    assert!(words.iter().all(|w| ran.err.contains(w)), "{words:?}: {ran:#?}");
}

#[test]
fn a_session_is_shown_by_its_id_the_start_of_it_or_its_digests_id() {
    let world = World::with_fixtures(&["plain", "retry"]);
    world.digest(&["--summarizer", "extract"]);
    let page = world.recall(["show", "--full", PLAIN]);
    assert_eq!(page.code, 0, "{page:#?}");
    let shown = page.out.clone();
    let on_disk = world.pages().into_iter().find(|(name, _)| name.contains("64b0b6d9")).expect("its page").1;
    assert_eq!(
        page.out + "\n← [Tuesday, 17 November 2026](../2026-11-17.md)\n",
        on_disk,
        "shown as its page, without the link to its day"
    );
    let digest = world.show(PLAIN)["digest_id"].as_str().unwrap().to_owned();
    for id in ["64b0", "64b0b6d9-e371", digest.as_str()] {
        assert_eq!(world.recall(["show", "--full", id]).out, shown, "{id}");
    }
}

#[test]
fn json_shows_the_whole_digest() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let shown = world.show(PLAIN);
    assert_eq!(
        (&shown["session"], &shown["summarizer"], &shown["prompts"]),
        (&PLAIN.into(), &"extract".into(), &3.into()),
        "{shown:#}"
    );
    for key in [
        "title", "request", "investigated", "learned", "completed", "decisions", "files", "blockers", "next_steps", "closes",
        "questions",
    ] {
        assert!(!shown["digest"][key].is_null(), "{key}: {shown:#}");
    }
    assert_eq!(shown["session_cost_complete"], true);
}

#[test]
fn an_id_that_is_no_ones_or_not_one_sessions_is_refused() {
    let world = world_with(&[("aaaa1111", "2026-11-20T10:00:00Z", "one"), ("aaaa2222", "2026-11-20T10:00:00Z", "two")]);
    refused(&world.recall(["show", "aaaa"]), &["aaaa1111", "aaaa2222", "more than one"]);
    refused(&world.recall(["show", "aaa"]), &["too short"]);
    refused(&world.recall(["show", "bbbb"]), &["nothing has the id", "bbbb"]);
    refused(&world.recall(["show", "%%%%"]), &["nothing has the id"]);
    assert_eq!(world.recall(["show", "aaaa1"]).code, 0);
}

#[test]
fn a_session_without_a_digest_says_how_to_make_one() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--ingest-only"]);
    refused(&world.recall(["show", "--full", "64b0"]), &["no digest yet", "recall digest --session 64b0"]);
}

#[test]
fn before_the_first_digest_every_question_says_what_to_do() {
    let world = World::new();
    for arguments in [&["search", "x"][..], &["show", "64b0"], &["export"]] {
        refused(&world.recall(arguments), &["recall digest"]);
    }
    assert!(!world.data_dir().exists(), "asking changes nothing");
}
