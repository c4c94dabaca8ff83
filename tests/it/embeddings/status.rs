//! What `recall status` and `recall doctor` say of it.

use crate::embeddings::scene::{EXTRACT, embedded, three_sessions};
use crate::support::embeddings::{Does, Endpoint};

#[test]
fn nothing_is_said_of_what_is_not_used() {
    let world = three_sessions();
    world.digest(&EXTRACT);
    assert!(!world.recall(["status"]).out.contains("vectors"));
    assert!(world.status().get("vectors").is_none());
    assert!(world.findings("embeddings", &[]).is_empty());
}

#[test]
fn status_counts_what_is_embedded() {
    let (world, endpoint) = embedded();
    let told = world.recall(["status"]).out;
    assert!(told.contains("vectors     3 of 3 sessions and notes, by words (64 dimensions)"), "{told}");
    let vectors = &world.status()["vectors"];
    assert_eq!((&vectors["embedded"], &vectors["of"], &vectors["complete"]), (&3.into(), &3.into(), &true.into()), "{vectors}");
    assert_eq!((&vectors["model"], &vectors["dims"]), (&"words".into(), &64.into()));
    assert_eq!(vectors["checksum"].as_str().map(str::len), Some(12), "{vectors}");
    assert!(endpoint.asked().is_empty());
}

#[test]
fn doctor_asks_the_endpoint() {
    let (world, endpoint) = embedded();
    let host = endpoint.url().replace("http://", "");
    assert_eq!(world.findings("embeddings", &[]), [format!("ok: {host} answers, 3 of 3 sessions and notes embedded by words")]);
    endpoint.behave(Does::Say(500, Vec::new()));
    assert_eq!(world.findings("embeddings", &[]), [format!("warning: embeddings endpoint {host}: it answered 500")]);
    endpoint.behave(Does::Embed { model: 2, dims: 64 });
    let told = world.findings("embeddings", &[]);
    assert!(told[0].starts_with("warning: ") && told[0].contains("another model"), "{told:?}");
}

#[test]
fn doctor_says_when_not_everything_is_embedded() {
    let (world, endpoint) = (three_sessions(), Endpoint::start());
    world.configure(&format!("{}batch = 1\nmax_texts = 1\n", endpoint.config()));
    world.digest(&EXTRACT);
    let told = world.findings("embeddings", &[]);
    assert!(told[0].contains("1 of 3 sessions and notes embedded"), "{told:?}");
}
