//! Digests by the model, with a scripted stand-in for `claude`: what it is given, what becomes of each kind of answer, what it may cost.

#[path = "../support/mod.rs"]
mod support;

mod about;
mod child;
mod choice;
mod clients;
mod failures;
mod limits;
mod login;
mod money;
mod replies;
mod stand_in;
mod survival;
