//! Sessions that speak of different things, and an endpoint that knows what is near to what.

use serde_json::Value;

use crate::support::embeddings::Endpoint;
use crate::support::{Ran, World, assistant, user};

pub const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

/// Speaks of stripes, which to the model are a zebra.
pub const STRIPES: &str = "aaaa1111-0000-4000-8000-000000000001";
/// Speaks of invoices.
pub const INVOICES: &str = "bbbb2222-0000-4000-8000-000000000002";
pub const CHANGELOG: &str = "cccc3333-0000-4000-8000-000000000003";

pub fn session(world: &World, id: &str, hour: u32, prompt: &str, reply: &str) {
    let (asked, answered) = (format!("2026-11-20T{hour:02}:00:00Z"), format!("2026-11-20T{hour:02}:01:00Z"));
    let rows = user(id, &format!("{id}u{hour}"), &asked, prompt) + &assistant(id, &format!("{id}a{hour}"), &answered, reply);
    world.transcript(&format!("-p/{id}{hour}.jsonl"), rows);
}

pub fn three_sessions() -> World {
    let world = World::new();
    session(&world, STRIPES, 8, "Paint stripes on the banner", "The banner has stripes now, and all tests pass.");
    session(&world, INVOICES, 9, "Sum up the invoice totals", "The invoice totals are right now, and all tests pass.");
    session(&world, CHANGELOG, 10, "Tidy the changelog", "The changelog is in order now, and all tests pass.");
    world
}

/// A world whose three sessions are digested and embedded.
pub fn embedded() -> (World, Endpoint) {
    let (world, endpoint) = (three_sessions(), Endpoint::start());
    world.configure(&endpoint.config());
    let report = world.digest(&EXTRACT);
    assert_eq!(report["documents_embedded"], 3, "{report}");
    endpoint.take_texts();
    (world, endpoint)
}

/// What a run of the digest says, whatever its exit code.
pub fn digest(world: &World) -> Ran {
    world.recall(["digest", "--summarizer", "extract"])
}

/// The ids of the sessions a search finds, best first, and what it says beside them.
pub fn found(world: &World, words: &str) -> (Vec<String>, String) {
    let ran = world.recall(["search", "--json", words]);
    assert_eq!(ran.code, 0, "{words}: {ran:#?}");
    let session = |line: &str| {
        let hit: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        hit["session"].as_str().unwrap_or_default().to_owned()
    };
    (ran.out.lines().map(session).collect(), ran.err)
}

/// Numbers of documents, by the vectors that are kept of them.
pub fn docs_with_vectors(world: &World) -> Vec<i64> {
    let db = world.database();
    let mut query = db.prepare("SELECT docs FROM vector_chunk").expect("chunks");
    let chunks: Vec<Vec<u8>> = query.query_map([], |r| r.get(0)).expect("chunks").collect::<Result<_, _>>().expect("chunks");
    let mut docs: Vec<i64> = chunks.concat().chunks(8).map(|doc| i64::from_le_bytes(doc.try_into().expect("8 bytes"))).collect();
    docs.sort_unstable();
    docs.dedup();
    docs
}

/// Numbers of documents that search knows.
pub fn docs(world: &World) -> Vec<i64> {
    let db = world.database();
    let mut query = db.prepare("SELECT pk FROM doc ORDER BY pk").expect("documents");
    query.query_map([], |r| r.get(0)).expect("documents").collect::<Result<_, _>>().expect("documents")
}
