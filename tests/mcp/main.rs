//! `recall mcp` as clients of the protocol see it.

mod conversation;
mod days;
mod leaving;
mod peer;
#[path = "../support/rows.rs"]
mod rows;
mod search;
#[path = "../support/mod.rs"]
mod support;
mod together;
