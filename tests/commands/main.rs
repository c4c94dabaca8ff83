//! The commands as a user meets them: what they print, what they refuse, and how they end.

#[path = "../support/rows.rs"]
mod rows;
#[path = "../support/mod.rs"]
mod support;

mod brief;
mod config;
mod digest;
mod doctor;
mod ending;
mod find;
mod items;
mod raw;
mod redact;
mod search;
mod settle;
mod status;
mod timeline;
mod transfer;
mod unheard;
