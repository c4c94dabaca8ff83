//! What a web page, a repository or anybody else can put into a session stays in it: no file outside the data folder, no argument of
//! another program, no order to a terminal, nothing that runs in a viewer, no end of the frame that says it is data.

#[path = "../support/client.rs"]
mod client;
#[path = "../support/messages_api.rs"]
mod messages_api;
#[path = "../mcp/peer.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod peer;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/unseen.rs"]
mod unseen;

mod child;
mod frames;
mod pages;
mod paths;
mod scene;
mod screen;
