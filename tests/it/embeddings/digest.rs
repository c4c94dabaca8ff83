//! What a run of the digest sends, and what it keeps.

use crate::embeddings::scene::{EXTRACT, STRIPES, digest, docs, docs_with_vectors, embedded, session, three_sessions};
use crate::support::World;
use crate::support::embeddings::{Endpoint, FIRST};

#[test]
fn without_a_config_nobody_is_asked_and_nothing_is_kept() {
    let (world, endpoint) = (three_sessions(), Endpoint::start());
    let report = world.digest(&EXTRACT);
    assert!(report.get("documents_embedded").is_none(), "{report}");
    assert_eq!(world.count("SELECT count(*) FROM vector_space"), 0);
    assert_eq!(world.recall(["search", "zebra"]).err, "recall: nothing found\n");
    assert!(endpoint.asked().is_empty());
}

#[test]
fn every_session_is_embedded_once() {
    let (world, endpoint) = embedded();
    assert_eq!(docs_with_vectors(&world), docs(&world));
    let ran = digest(&world);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(endpoint.asked().is_empty(), "nothing is missing: {:?}", endpoint.asked());
    session(&world, STRIPES, 11, "Now paint the stripes green", "They are green.");
    let report = world.digest(&EXTRACT);
    assert_eq!(report["documents_embedded"], 1, "{report}");
    assert_eq!(docs_with_vectors(&world), docs(&world));
}

#[test]
fn both_forms_give_the_same_vectors() {
    let bodies = |api: &str| {
        let (world, endpoint) = (three_sessions(), Endpoint::start());
        world.configure(&format!("{}api = \"{api}\"\n", endpoint.config()));
        world.digest(&EXTRACT);
        let path = if api == "ollama" { "/api/embed" } else { "/v1/embeddings" };
        assert!(endpoint.asked().iter().all(|asked| asked.path == path && asked.model == "words"), "{:?}", endpoint.asked());
        world.database().query_row("SELECT body FROM vector_chunk", [], |r| r.get::<_, Vec<u8>>(0)).expect("a chunk")
    };
    assert_eq!(bodies("ollama"), bodies("openai"));
}

#[test]
fn a_long_digest_has_several_vectors_and_texts_go_in_batches() {
    let (world, endpoint) = (World::new(), Endpoint::start());
    let about = |n: usize| format!("the {n}th zebra{n} got stripes{n} because herd{n} and river{n} had none near savanna{n}. ");
    let long: String =
        (0..40).map(|n| format!("{} {}\n\n", ["Decision:", "I found that", "Next step:", "Learned:"][n % 4], about(n))).collect();
    session(&world, STRIPES, 8, "Paint all zebras", &long);
    world.configure(&format!("{}batch = 2\n", endpoint.config()));
    world.digest(&EXTRACT);
    let pieces = world.count("SELECT sum(vectors) FROM vector_chunk");
    assert!((2..=6).contains(&pieces), "{pieces}");
    let asked = endpoint.asked();
    assert!(asked.iter().all(|asked| asked.texts.len() <= 2), "{asked:?}");
    assert_eq!(asked.iter().map(|asked| asked.texts.len()).sum::<usize>() as i64, pieces + 1);
    assert!(asked.iter().flat_map(|asked| &asked.texts).all(|text| text.chars().count() <= 900), "{asked:?}");
}

#[test]
fn a_run_sends_a_bounded_number_and_the_next_goes_on() {
    let (world, endpoint) = (three_sessions(), Endpoint::start());
    world.configure(&format!("{}batch = 1\nmax_texts = 1\n", endpoint.config()));
    for (run, wanted) in [(1, 1), (2, 2), (3, 3)] {
        let ran = digest(&world);
        assert_eq!((ran.code, docs_with_vectors(&world).len()), (0, wanted), "{run}: {ran:#?}");
    }
    assert_eq!(world.count("SELECT complete FROM vector_space"), 0, "nobody has seen yet that nothing is left");
    digest(&world);
    assert_eq!(world.count("SELECT complete FROM vector_space"), 1);
}

#[test]
fn what_is_only_taken_in_is_not_sent() {
    let (world, endpoint) = (three_sessions(), Endpoint::start());
    world.configure(&endpoint.config());
    world.digest(&["--ingest-only"]);
    world.recall(["digest", "--dry-run"]);
    assert!(endpoint.asked().is_empty(), "{:?}", endpoint.asked());
}

#[test]
fn a_document_made_anew_of_the_same_text_is_not_sent_again() {
    let (world, endpoint) = embedded();
    let before = docs(&world);
    let db = rusqlite::Connection::open(world.data_dir().join("recall.db")).expect("the index");
    // As a newer program does, that makes other documents of what is stored.
    db.execute_batch("DELETE FROM doc").expect("no documents");
    drop(db);
    let report = world.digest(&EXTRACT);
    assert!(report.get("documents_embedded").is_none(), "{report}");
    assert_eq!(endpoint.take_texts().len(), 1);
    assert!(docs(&world).iter().all(|doc| !before.contains(doc)));
    assert_eq!(docs_with_vectors(&world), docs(&world));
}

#[test]
fn who_turns_it_off_loses_the_vectors() {
    let (world, endpoint) = embedded();
    world.configure("");
    assert_eq!(digest(&world).code, 0);
    assert_eq!(
        world.count(
            "SELECT (SELECT count(*) FROM vector_space) + (SELECT count(*) FROM vector_chunk) + (SELECT count(*) FROM embedded)"
        ),
        0
    );
    endpoint.behave(FIRST);
    assert!(endpoint.asked().is_empty());
}

#[test]
fn what_is_sent_has_passed_the_gate() {
    let (world, endpoint) = (World::new(), Endpoint::start());
    let token = format!("ghp_{}", "Zb7qX2mK9vT4wR6yL1nP8sD3fG5hJ0cA2eUi");
    session(
        &world,
        STRIPES,
        8,
        &format!(
            "The zebra pages fail since this morning when they ask the service for stripes. Use {token} for the zebra and see what it says. <private>and the heffalump</private>"
        ),
        "Decision: the zebra uses a token now, and all tests pass.",
    );
    world.configure(&endpoint.config());
    world.digest(&EXTRACT);
    world.recall(["search", &format!("where did the zebra pages use {token} when they asked the service for stripes")]);
    let sent: Vec<String> = endpoint.asked().into_iter().map(|asked| asked.raw).collect();
    assert_eq!(sent.len(), 3, "{sent:?}");
    assert!(sent.iter().all(|raw| !raw.contains(&token[4..]) && !raw.contains("heffalump")), "{sent:?}");
    assert!(sent.last().is_some_and(|raw| raw.contains("[REDACTED:")), "{sent:?}");
}
