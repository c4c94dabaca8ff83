//! An index that is damaged, gone, closed to us or none at all: nothing of it is lost in silence, nobody waits for it, and the doctor
//! brings back what can be.

#[path = "../support/mod.rs"]
mod support;

mod again;
mod closed;
mod copy;
mod damages;
mod header;
mod locked;
mod log;
mod mending;
mod noticed;
#[allow(dead_code, reason = "its own tests use all of it")]
#[path = "../mcp/peer.rs"]
mod peer;
mod random;
mod scene;
#[path = "../support/stored.rs"]
mod stored;
mod values;
