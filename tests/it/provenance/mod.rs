//! Who said it: nothing that a page, a tool or a model put into a session is told as a decision, a next step or the user's words.
//!
//! An adversarial corpus: `quotes` (text that the assistant passes on), `outputs` (what tools print), `replies` (what a model makes of it).
//! Each try plants a sentence that holds [`PLANTED`]; beside it stand true claims, which must stay. With `-- --nocapture` the tries
//! and what leaked are printed.

mod claims;
mod quotes;
mod replies;
mod tool_output;

use serde_json::{Value, json};

use crate::support::World;

/// A word that no session of ours would use.
const PLANTED: &str = "zarquon";

/// The digest of every session, by id.
fn digests(world: &World) -> Vec<(String, Value)> {
    let all = world.exported();
    let digest = |s: &Value| Some((s["session"].as_str()?.to_owned(), s["digest"]["body"].clone()));
    all.iter().filter_map(digest).filter(|(_, body)| body.is_object()).collect()
}

/// The texts of a digest's list that are told: those that a row supports.
fn texts(digest: &Value, list: &str) -> Vec<String> {
    let all = digest[list].as_array().map_or(&[][..], Vec::as_slice);
    let told = all.iter().filter(|one| one["rows"] != json!([]));
    told.map(|one| one["text"].as_str().or(one.as_str()).expect("a text").to_owned()).collect()
}

/// What stands in lists that tell what was decided and what is to be done.
fn chosen(digest: &Value) -> Vec<String> {
    ["decisions", "blockers", "next_steps"].iter().flat_map(|list| texts(digest, list)).collect()
}

fn holds(all: &[String], word: &str) -> bool {
    all.iter().any(|text| text.to_lowercase().contains(word))
}
