//! What is forgotten has no vector any more: a vector tells much of its text.

use std::fs;
use std::time::Duration;

use crate::embeddings::scene::{EXTRACT, INVOICES, STRIPES, digest, docs, docs_with_vectors, embedded, found, session};
use crate::support::World;
use crate::support::embeddings::{Does, Endpoint};

/// The bytes of the vector of a session's last piece.
fn vector_of(world: &World, session: &str) -> Vec<u8> {
    let db = world.database();
    let sql = "SELECT d.pk, c.docs, c.body, p.dims FROM doc d JOIN session s ON s.pk = d.session JOIN embedded e ON e.doc = d.pk
         JOIN vector_chunk c ON c.pk = e.chunk JOIN vector_space p ON p.pk = c.space WHERE s.id = ?1";
    let (doc, docs, body, dims): (i64, Vec<u8>, Vec<u8>, i64) =
        db.query_row(sql, [session], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?))).expect("an embedded session");
    let at = docs.chunks(8).rposition(|bytes| bytes == doc.to_le_bytes()).expect("its vector");
    body[at * dims as usize..(at + 1) * dims as usize].to_vec()
}

/// Do these bytes stand in any file of the data folder?
fn stands_anywhere(world: &World, bytes: &[u8]) -> bool {
    let files = crate::support::files_below(&world.data_dir());
    files.iter().any(|file| fs::read(file).expect("a file").windows(bytes.len()).any(|window| window == bytes))
}

fn forgotten_with(forget: impl Fn(&World, &Endpoint)) {
    let (world, endpoint) = embedded();
    let (stripes, invoices) = (vector_of(&world, STRIPES), vector_of(&world, INVOICES));
    assert!(stands_anywhere(&world, &stripes), "the look finds what is there");
    forget(&world, &endpoint);
    assert!(!stands_anywhere(&world, &stripes), "the vector is still in a file");
    assert_eq!(vector_of(&world, INVOICES), invoices, "the others stay as they were");
    assert_eq!(docs_with_vectors(&world).len(), 2);
}

#[test]
fn a_session_goes_with_its_vectors() {
    forgotten_with(|world, endpoint| {
        let ran = world.recall(["forget", "--yes", "--session", STRIPES]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        assert!(endpoint.asked().is_empty());
        assert!(!found(world, "zebra").0.contains(&STRIPES.to_owned()));
    });
}

#[test]
fn also_when_the_endpoint_is_not_configured_any_more() {
    forgotten_with(|world, _| {
        world.configure("");
        let ran = world.recall(["forget", "--yes", "--session", STRIPES]);
        assert_eq!(ran.code, 0, "{ran:#?}");
    });
}

#[test]
fn a_text_goes_with_the_vectors_of_what_was_said_of_it() {
    forgotten_with(|world, _| {
        let ran = world.recall(["forget", "--yes", "--match", "stripes on the banner"]);
        assert_eq!(ran.code, 0, "{ran:#?}");
    });
}

#[test]
fn what_the_rules_of_today_leave_out_goes_with_its_vectors() {
    let (world, endpoint) = embedded();
    let stripes = vector_of(&world, STRIPES);
    world.configure(&format!("{}[privacy]\nexclude_patterns = ['stripes']\n", endpoint.config()));
    let ran = digest(&world);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!stands_anywhere(&world, &stripes));
    assert!(endpoint.take_texts().iter().all(|text| !text.contains("stripes")));
    assert_eq!(docs_with_vectors(&world).len(), docs_with_vectors(&world).iter().filter(|doc| docs(&world).contains(doc)).count());
}

#[test]
fn what_is_taken_out_does_not_wait_for_the_endpoint() {
    let (world, endpoint) = embedded();
    let stripes = vector_of(&world, STRIPES);
    world.configure(&format!("{}[privacy]\nexclude_patterns = ['stripes']\n", endpoint.config()));
    session(&world, "dddd4444-0000-4000-8000-000000000004", 11, "Count the hedgehogs", "There are seven of them in the garden.");
    endpoint.behave(Does::Hang);
    let mut run = world.process().args(["digest", "--summarizer", "extract"]).spawn().expect("recall starts");
    while endpoint.asked().is_empty() {
        assert!(run.try_wait().expect("its state").is_none(), "it ended and has asked nobody");
        std::thread::sleep(Duration::from_millis(20));
    }
    let left = stands_anywhere(&world, &stripes) || stands_anywhere(&world, b"stripes");
    run.kill().expect("it ends");
    run.wait().expect("it has ended");
    assert!(!left, "traces are left while the endpoint is waited for");
}

#[test]
fn a_session_that_says_something_else_has_other_vectors() {
    let (world, _endpoint) = embedded();
    let before = vector_of(&world, STRIPES);
    crate::embeddings::scene::session(&world, STRIPES, 11, "Now the hedgehog", "Decision: the hedgehog keeps its spines.");
    world.digest(&EXTRACT);
    assert_ne!(vector_of(&world, STRIPES), before);
    assert_eq!(docs_with_vectors(&world), docs(&world));
}
