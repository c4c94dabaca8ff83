//! `recall mcp` as clients of the protocol see it.

mod claude;
#[path = "../support/client.rs"]
mod client;
mod conversation;
mod days;
mod leaving;
#[path = "../support/messages_api.rs"]
mod messages_api;
mod opening;
mod others;
mod peer;
mod remembering;
#[path = "../support/rows.rs"]
mod rows;
mod search;
#[path = "../support/stored.rs"]
mod stored;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/terminal.rs"]
mod terminal;
mod together;
mod topics;
