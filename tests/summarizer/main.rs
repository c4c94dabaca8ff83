//! Digests by the model, with a scripted stand-in for `claude`: what it is given, what becomes of each kind of answer, what it may cost.

#[path = "../support/mod.rs"]
mod support;
#[path = "../support/unseen.rs"]
mod unseen;

mod about;
mod caps;
mod child;
mod choice;
mod clients;
mod dying;
mod failures;
mod hostile;
mod limits;
mod login;
mod many;
mod money;
mod mutants;
#[allow(dead_code, reason = "a client that only looks does not need all of it")]
#[path = "../mcp/peer.rs"]
mod peer;
mod replies;
mod rest;
mod sinks;
mod stand_in;
mod survival;
mod wrong;
