//! The hooks as Claude Code calls them: marks that lose nothing, notes that a session starts with, and nothing that ever gets in
//! anybody's way.

#[path = "../support/mod.rs"]
mod support;

mod again;
mod answer;
mod asked;
mod banner;
mod before_compact;
mod budget;
mod cost;
mod crowd;
mod fail_open;
mod foreign;
mod found;
mod found_later;
mod fresh;
mod marks;
mod memory;
mod off;
mod open_items;
mod pieces;
mod pipes;
mod prompt;
mod render;
mod sources;
mod system;
mod told;
