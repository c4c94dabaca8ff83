//! Many at once: digests, hooks, searches, a client of the protocol, notes, forgetting and installing, all beside each other. Nobody waits
//! for ever, nobody hears of a lock, and nothing is lost.
//!
//! `RECALL_CROWD` (1) times the rounds and the hooks of a round.

mod commands;
mod hooks;
mod locks;
mod scene;
mod taken_out;
