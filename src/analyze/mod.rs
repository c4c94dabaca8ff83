//! What a session was about: pure functions of a session and its text. Knows no store.

pub(crate) mod account;
pub(crate) mod commands;
pub(crate) mod condense;
pub(crate) mod denied;
pub(crate) mod distinct;
pub(crate) mod dropped;
pub(crate) mod eligibility;
pub(crate) mod failures;
pub(crate) mod lives;
pub(crate) mod memory_lines;
pub(crate) mod minhash;
pub(crate) mod overtaken;
pub(crate) mod prose;
pub(crate) mod repository;
pub(crate) mod rules;
pub(crate) mod signal;
pub(crate) mod stranger;
pub(crate) mod use_of_told;
pub(crate) mod verify;
pub(crate) mod without_model;
pub(crate) mod wording;
