//! The commands as a user meets them: what they print, what they refuse, and how they end.

#[path = "../support/mod.rs"]
mod support;

mod config;
mod digest;
mod doctor;
mod ending;
mod find;
mod items;
mod redact;
mod settle;
mod status;
mod transfer;
