//! Nothing private gets anywhere: what stands between `<private>` and `</private>`, what a private turn brought about, what lies in
//! private files, what the user's patterns and rules name.
//!
//! In these sessions every word that begins with `hush` must be nowhere after a digest, every word that begins with `loud` must be kept.

#[path = "../support/rows.rs"]
mod rows;
#[allow(dead_code, reason = "the stand-in is shared; other tests use the rest of it")]
#[path = "../summarizer/stand_in.rs"]
mod stand_in;
#[path = "../support/stored.rs"]
mod stored;
#[path = "../support/mod.rs"]
mod support;

#[allow(dead_code, reason = "the server's own tests use the rest of it")]
#[path = "../mcp/peer.rs"]
mod peer;

mod agents;
mod blocks;
mod copies;
mod doors;
mod echoes;
mod files;
mod heard;
mod patterns;
mod slices;
mod turns;
