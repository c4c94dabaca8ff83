//! Search with words and meaning.

use crate::embeddings::scene::{CHANGELOG, EXTRACT, INVOICES, STRIPES, embedded, found, session, three_sessions};
use crate::support::embeddings::{Does, Endpoint, nobody};

#[test]
fn a_session_is_found_by_words_it_never_used() {
    let (world, endpoint) = embedded();
    let (sessions, err) = found(&world, "zebra");
    assert_eq!((sessions.first().map(String::as_str), err.as_str()), (Some(STRIPES), ""));
    // What is asked, and by what the model is known again: one request.
    assert_eq!(endpoint.asked().len(), 1);
    assert_eq!(endpoint.asked()[0].texts[0], "zebra");
    assert_eq!(found(&world, "faktura").0.first().map(String::as_str), Some(INVOICES));
}

#[test]
fn words_count_more_by_default_and_as_much_as_the_config_says() {
    let (world, endpoint) = embedded();
    // Words for the one, a meaning for the other.
    let first = |weight: &str, words: &str| {
        world.configure(&format!("{}weight = {weight}\n", endpoint.config()));
        found(&world, words).0.first().cloned()
    };
    assert_eq!(first("0.3", "tidy changelog zebra").as_deref(), Some(CHANGELOG));
    assert_eq!(first("1.0", "tidy zebra zebra").as_deref(), Some(STRIPES));
    endpoint.take_texts();
    assert_eq!(first("0.0", "tidy zebra zebra").as_deref(), Some(CHANGELOG));
    assert!(endpoint.asked().is_empty(), "what does not count is not asked for");
}

#[test]
fn filters_hold_for_what_is_near_too() {
    let (world, _endpoint) = embedded();
    for filter in
        ["project:elsewhere zebra", "since:2026-11-21 zebra", "before:2026-11-19 zebra", "file:orders.py zebra", "kind:note zebra"]
    {
        assert_eq!(found(&world, filter).0, Vec::<String>::new(), "{filter}");
    }
    assert_eq!(found(&world, "project:shop zebra").0.first().map(String::as_str), Some(STRIPES));
    assert_eq!(found(&world, "\"tidy the changelog\" zebra").0, [CHANGELOG], "a phrase has to be there");
}

#[test]
fn only_what_was_asked_is_sent_and_no_filter() {
    let (world, endpoint) = embedded();
    found(&world, "project:shop which zebra \"tidy the\" since:7d");
    assert_eq!(endpoint.asked()[0].texts[0], "which zebra tidy the");
    endpoint.take_texts();
    found(&world, "project:shop since:7d");
    assert!(endpoint.asked().is_empty(), "nothing was asked in words");
}

#[test]
fn an_endpoint_that_is_not_there_is_told_of_once() {
    let (world, endpoint) = embedded();
    world.configure(&endpoint.config().replace(&endpoint.url(), &nobody()));
    let (sessions, err) = found(&world, "changelog");
    assert_eq!(sessions, [CHANGELOG]);
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.starts_with("recall: searched by words only, not by meaning: embeddings endpoint 127.0.0.1:"), "{err}");
}

#[test]
fn an_endpoint_that_hangs_costs_no_more_than_the_time_it_has() {
    let (world, endpoint) = embedded();
    world.configure(&format!("{}timeout_seconds = 1\n", endpoint.config()));
    endpoint.behave(Does::Hang);
    let (sessions, err) = found(&world, "changelog");
    assert_eq!(sessions, [CHANGELOG]);
    assert!(err.contains("no answer within 1 seconds"), "{err}");
}

#[test]
fn whatever_the_endpoint_answers_words_find() {
    let (world, endpoint) = embedded();
    let of = |vectors: &str| Does::Say(200, format!(r#"{{"embeddings": {vectors}}}"#).into_bytes());
    let zeros = format!("[{0}, {0}]", format!("[{}]", vec!["0"; 64].join(",")));
    let table = [
        (Does::Say(200, b"<html>hello</html>".to_vec()), "cannot be read"),
        (Does::Say(200, Vec::new()), "cannot be read"),
        (Does::Say(200, vec![b'x'; 5 << 20]), "too long"),
        (of("[]"), "0 vectors for 2 texts"),
        (of("[[NaN, 1], [1, 1]]"), "cannot be read"),
        (of(&zeros), "without a direction"),
        (of("[[1, 2], [1, 2]]"), "is another model"),
        (Does::Embed { model: 1, dims: 32 }, "is another model"),
        (Does::Embed { model: 2, dims: 64 }, "is another model"),
        (Does::Say(500, b"oops".to_vec()), "it answered 500"),
        (Does::Say(404, br#"{"error": "model \"words\" not found, try pulling it first"}"#.to_vec()), "try pulling it first"),
        (Does::Say(401, br#"{"error": {"message": "no key"}}"#.to_vec()), "it answered 401: no key"),
        (Does::Say(204, Vec::new()), "it answered 204"),
    ];
    for (does, wanted) in table {
        endpoint.behave(does.clone());
        let (sessions, err) = found(&world, "changelog");
        assert_eq!(sessions, [CHANGELOG], "{wanted}");
        assert!(err.contains(wanted) && err.lines().count() == 1, "{wanted}: {err}");
    }
}

#[test]
fn what_is_no_tls_is_not_spoken_to_in_the_clear() {
    let (world, endpoint) = embedded();
    world.configure(&format!("{}timeout_seconds = 1\n", endpoint.config().replace("http:", "https:")));
    let (sessions, err) = found(&world, "changelog");
    assert_eq!(sessions, [CHANGELOG]);
    assert!(err.starts_with("recall: searched by words only, not by meaning: embeddings endpoint 127.0.0.1:"), "{err}");
    assert!(endpoint.asked().iter().all(|asked| asked.texts.is_empty()), "{:?}", endpoint.asked());
}

#[test]
fn nobody_is_led_elsewhere() {
    let (world, endpoint) = embedded();
    let elsewhere = Endpoint::start();
    endpoint.behave(Does::Redirect(format!("{}/api/embed", elsewhere.url())));
    let (sessions, err) = found(&world, "changelog");
    assert_eq!(sessions, [CHANGELOG]);
    assert!(err.contains("it answered 307, and redirects are not followed"), "{err}");
    assert!(elsewhere.asked().is_empty());
}

#[test]
fn a_proxy_of_the_environment_is_not_asked_for_what_is_on_this_machine() {
    let (world, endpoint) = embedded();
    let proxy = Endpoint::start();
    let variables = [("ALL_PROXY", proxy.url()), ("HTTP_PROXY", proxy.url()), ("http_proxy", proxy.url())];
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let ran = world.recall_with(["search", "zebra"], &variables);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    assert_eq!((proxy.asked().len(), endpoint.asked().len()), (0, 1));
}

#[test]
fn until_all_is_embedded_words_alone_find() {
    let (world, endpoint) = (three_sessions(), Endpoint::start());
    world.configure(&format!("{}batch = 1\nmax_texts = 1\n", endpoint.config()));
    world.digest(&EXTRACT);
    endpoint.take_texts();
    let (sessions, err) = found(&world, "changelog");
    assert_eq!(sessions, [CHANGELOG]);
    assert!(err.contains("not everything is embedded by `words` yet"), "{err}");
    assert!(endpoint.asked().is_empty());
}

#[test]
fn what_came_later_may_wait_for_its_vectors() {
    let (world, endpoint) = embedded();
    endpoint.behave(Does::Say(503, Vec::new()));
    session(&world, "dddd4444-0000-4000-8000-000000000004", 11, "Count the hedgehog", "There are seven.");
    world.digest(&EXTRACT);
    endpoint.behave(crate::support::embeddings::FIRST);
    assert_eq!(found(&world, "zebra").0.first().map(String::as_str), Some(STRIPES));
    assert_eq!(found(&world, "hedgehog").0.first().map(|id| &id[..4]), Some("dddd"));
}
