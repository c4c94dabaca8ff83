//! Somebody pulls the plug: `recall` is killed at every step, the power fails, the disk is full or goes bad; what it does next has to end
//! as if nothing had happened.
//!
//! Linux with the GNU C library only: a small library written in C stands between `recall` and the system (`interpose.c`). How much is
//! tried is set by `RECALL_KILLS`, which of all there is by `RECALL_SEED`; a plain test run tries a few of each. With `--nocapture` a run ends
//! with a table of what was tried.
#![cfg(all(target_os = "linux", target_env = "gnu", debug_assertions))]

#[path = "../support/mod.rs"]
mod support;

mod commands;
mod disk;
mod dump;
mod hooks;
mod install;
mod interposed;
mod kills;
mod library;
mod made;
mod paid;
mod power;
mod promised;
mod scene;
mod size;
mod tally;
