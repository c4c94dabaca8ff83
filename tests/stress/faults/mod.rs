//! Somebody pulls the plug: `recall` is killed at every step, the power fails, the disk is full or goes bad; what it does next has to end
//! as if nothing had happened.
//!
//! Linux with the GNU C library only: a small library written in C stands between `recall` and the system (`interpose.c`). How much is
//! tried is set by `RECALL_KILLS`, which of all there is by `RECALL_SEED`; a plain test run tries a few of each. With `--nocapture` a run ends
//! with a table of what was tried.

mod commands;
mod disk;
mod dump;
mod expected;
mod hooks;
mod install;
mod interposed;
mod interposer;
mod kills;
mod memory;
mod paid_calls;
mod power;
mod report;
mod sample;
mod scene;
mod sessions;
mod zones;
