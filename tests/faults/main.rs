//! Somebody pulls the plug: `recall` is killed at every step, the power fails, the disk is full or goes bad; what it does next has to end
//! as if nothing had happened.
//!
//! Linux with the GNU C library only: a small library written in C stands between `recall` and the system (`interpose.c`). How much is
//! tried is set by `RECALL_KILLS`, how much at random by `RECALL_SEED`; a plain test run tries a sample.
#![cfg(all(target_os = "linux", target_env = "gnu", debug_assertions))]

#[path = "../support/mod.rs"]
mod support;

mod commands;
mod disk;
mod dump;
mod hooks;
mod install;
mod kills;
mod library;
mod made;
mod paid;
mod power;
mod scene;
mod size;
