//! Vectors of two models are never compared.

use crate::embeddings::scene::{EXTRACT, STRIPES, digest, docs, docs_with_vectors, embedded, found, session, three_sessions};
use crate::support::World;
use crate::support::embeddings::{Does, Endpoint, FIRST};

const OTHER_MODEL: Does = Does::Embed { model: 2, dims: 64 };

/// Something to embed, without which nobody is asked which model it is.
fn something_new(world: &World) {
    session(world, "dddd4444-0000-4000-8000-000000000004", 11, "Count the hedgehogs", "There are seven of them in the garden.");
}

#[test]
fn another_model_embeds_everything_anew() {
    for (does, name) in [(OTHER_MODEL, "words"), (Does::Embed { model: 1, dims: 96 }, "words"), (OTHER_MODEL, "other")] {
        let (world, endpoint) = embedded();
        let before = world.count("SELECT pk FROM vector_space");
        endpoint.behave(does.clone());
        something_new(&world);
        world.configure(&endpoint.config().replace("words", name));
        let ran = digest(&world);
        assert_eq!(ran.code, 0, "{does:?}: {ran:#?}");
        assert!(ran.err.contains("by another model than before"), "{does:?}: {}", ran.err);
        assert_eq!(world.count("SELECT count(*) FROM vector_space"), 1);
        assert!(world.count("SELECT count(*) FROM vector_chunk") == 1 && before > 0);
        assert_eq!(docs_with_vectors(&world), docs(&world));
        let (sessions, err) = found(&world, "zebra");
        assert_eq!((sessions.first().map(String::as_str), err.as_str()), (Some(STRIPES), ""), "{does:?}");
    }
}

#[test]
fn a_model_that_changed_behind_its_name_is_noticed_by_search() {
    let (world, endpoint) = embedded();
    endpoint.behave(OTHER_MODEL);
    let (sessions, err) = found(&world, "zebra");
    assert!(sessions.is_empty(), "{sessions:?}");
    assert!(err.contains("`words` is another model than the one that embedded the index"), "{err}");
    something_new(&world);
    assert_eq!(digest(&world).code, 0);
    assert_eq!(found(&world, "zebra").0.first().map(String::as_str), Some(STRIPES));
}

#[test]
fn a_change_that_is_cut_short_goes_on_where_it_was() {
    let (world, endpoint) = embedded();
    endpoint.behave(OTHER_MODEL);
    let slow = format!("{}batch = 1\nmax_texts = 1\n", endpoint.config());
    world.configure(&slow);
    something_new(&world);
    for embedded in 1..=4 {
        assert_eq!(digest(&world).code, 0);
        assert_eq!(docs_with_vectors(&world).len(), embedded);
        let (_, err) = found(&world, "changelog");
        assert!(err.contains("not everything is embedded"), "{embedded}: {err}");
    }
    endpoint.take_texts();
    assert_eq!(digest(&world).code, 0);
    assert_eq!(found(&world, "zebra").0.first().map(String::as_str), Some(STRIPES));
    assert_eq!(world.count("SELECT count(*) FROM embedded WHERE NOT gone"), 4);
}

#[test]
fn the_same_model_elsewhere_is_the_same() {
    let (world, first) = embedded();
    let second = Endpoint::start();
    world.configure(&second.config());
    drop(first);
    something_new(&world);
    let report = world.digest(&EXTRACT);
    assert_eq!(report["documents_embedded"], 1, "the others have vectors: {report}");
    assert_eq!(found(&world, "zebra").0.first().map(String::as_str), Some(STRIPES));
}

#[test]
fn an_index_of_an_older_program_gets_vectors_too() {
    let (world, endpoint) = (three_sessions(), Endpoint::start());
    world.digest(&EXTRACT);
    world.make_index_older();
    world.configure(&endpoint.config());
    endpoint.behave(FIRST);
    let report = world.digest(&EXTRACT);
    assert_eq!(report["documents_embedded"], 3, "{report}");
}
