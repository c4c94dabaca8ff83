//! An endpoint that fails costs a run nothing but its vectors.

use crate::embeddings::scene::{CHANGELOG, EXTRACT, digest, docs, docs_with_vectors, embedded, found, session, three_sessions};
use crate::support::embeddings::{Does, Endpoint, FIRST, nobody};

#[test]
fn a_run_goes_on_says_so_and_the_next_tries_again() {
    let zeros = format!(r#"{{"embeddings": [[{}]]}}"#, vec!["0"; 64].join(","));
    let table = [
        (Does::Hang, "no answer within 1 seconds"),
        (Does::Say(500, b"oops".to_vec()), "it answered 500"),
        (Does::Say(200, vec![b'x'; 5 << 20]), "too long"),
        (Does::Say(200, b"[1, 2".to_vec()), "cannot be read"),
        (Does::Say(200, zeros.into_bytes()), "without a direction"),
        (Does::Redirect(nobody()), "redirects are not followed"),
    ];
    for (does, wanted) in table {
        let (world, endpoint) = (three_sessions(), Endpoint::start());
        world.configure(&format!("{}timeout_seconds = 1\n", endpoint.config()));
        endpoint.behave(does);
        let ran = digest(&world);
        assert_eq!(ran.code, 1, "{wanted}: {ran:#?}");
        assert!(
            ran.err.contains(wanted) && ran.err.contains("3 sessions and notes are found only by words"),
            "{wanted}: {}",
            ran.err
        );
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        assert!(ran.out.contains("digested  3 sessions"), "{}", ran.out);
        assert_eq!(found(&world, "changelog").0, [CHANGELOG]);
        endpoint.behave(FIRST);
        let ran = digest(&world);
        assert_eq!(ran.code, 0, "{wanted}: {ran:#?}");
        assert_eq!(docs_with_vectors(&world), docs(&world), "{wanted}");
    }
}

#[test]
fn nobody_there() {
    let (world, endpoint) = (three_sessions(), Endpoint::start());
    world.configure(&endpoint.config().replace(&endpoint.url(), &nobody()));
    let ran = digest(&world);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains("embeddings endpoint 127.0.0.1:"), "{}", ran.err);
}

#[test]
fn where_nothing_waits_nothing_is_missing() {
    let (world, endpoint) = embedded();
    endpoint.behave(Does::Say(500, Vec::new()));
    let ran = digest(&world);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    // By another model, all of it is.
    world.configure(&endpoint.config().replace("words", "other"));
    let ran = digest(&world);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains("it answered 500: 3 sessions and notes"), "{}", ran.err);
}

#[test]
fn one_text_that_the_endpoint_refuses_does_not_keep_the_others_out() {
    let (world, endpoint) = (three_sessions(), Endpoint::start());
    world.configure(&endpoint.config());
    endpoint.behave(Does::Refuse("invoice"));
    let ran = digest(&world);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains("cannot embed invoice: 1 sessions and notes"), "{}", ran.err);
    assert_eq!(docs_with_vectors(&world).len(), 2);
    assert_eq!(found(&world, "zebra").1, "", "the space is complete but for what cannot be embedded");
}

#[test]
fn an_endpoint_that_refuses_everything_is_soon_left_alone() {
    let (world, endpoint) = (three_sessions(), Endpoint::start());
    for n in 10..22 {
        session(&world, &format!("{n}{n}{n}{n}-0000-4000-8000-000000000009"), n, "Look at the invoice", "The invoice is fine.");
    }
    world.configure(&endpoint.config());
    // Not the text by which it is known.
    endpoint.behave(Does::Refuse("the"));
    let everything = digest(&world);
    assert_eq!(everything.code, 1, "{everything:#?}");
    endpoint.take_texts();
    endpoint.behave(Does::Refuse("nvoice"));
    digest(&world);
    assert!(endpoint.asked().len() < 15, "{}", endpoint.asked().len());
}

#[test]
fn vectors_of_another_length_are_not_kept() {
    let (world, endpoint) = embedded();
    session(&world, "dddd4444-0000-4000-8000-000000000004", 11, "Count the hedgehog", "There are seven.");
    // Right for the text by which it is known, wrong for all others.
    let answer = |texts: &str| format!(r#"{{"embeddings": [{texts}]}}"#).into_bytes();
    endpoint.behave(Does::Say(200, answer("[1, 2, 3]")));
    let report = world.digest(&EXTRACT);
    // Three dimensions for the probe are another model: the old space goes, and the one document after the other is embedded anew.
    assert_eq!(world.count("SELECT dims FROM vector_space"), 3, "{report}");
    endpoint.behave(FIRST);
    session(&world, "eeee5555-0000-4000-8000-000000000005", 12, "Count the spines", "There are many.");
    world.digest(&EXTRACT);
    assert_eq!(world.count("SELECT dims FROM vector_space"), 64);
    assert_eq!(docs_with_vectors(&world), docs(&world));
}
