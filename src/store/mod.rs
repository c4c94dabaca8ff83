//! The index: one SQLite database. No SQL is written outside this folder.
//!
//! ## Locking
//! One run at a time writes (it holds the run lock); `remember` and `close` write beside it in short transactions; any number of
//! processes read. WAL mode, so readers never wait for the writer.
//!
//! ## Deletion
//! Deleted content is overwritten (`secure_delete`) and its pages are released by incremental vacuum. The full-text index only marks the
//! words of deleted documents as deleted until `secure_erase` rewrites it.

mod accounts;
pub(crate) mod came_since;
pub(crate) mod chunk;
mod client_cost;
pub(crate) mod codec;
pub(crate) mod commands;
mod connect;
mod denied;
pub(crate) mod digest_inputs;
pub(crate) mod digests;
pub(crate) mod document;
mod erasure;
pub(crate) mod error;
pub(crate) mod failures;
pub(crate) mod files_beside;
mod folders;
pub(crate) mod forget;
pub(crate) mod ingest;
pub(crate) mod last_run;
pub(crate) mod leftovers;
pub(crate) mod legacy_titles;
pub(crate) mod lives;
pub(crate) mod load;
pub(crate) mod maintenance;
mod memory;
pub(crate) mod memory_files;
pub(crate) mod near_duplicates;
pub(crate) mod neighbours;
pub(crate) mod notes;
pub(crate) mod observations;
pub(crate) mod ongoing;
mod open;
pub(crate) mod open_items;
pub(crate) mod origin;
pub(crate) mod overtaken;
mod owned;
pub(crate) mod packed;
pub(crate) mod pages;
mod private_words;
mod projects;
mod reader;
pub(crate) mod receipts;
pub(crate) mod recent;
pub(crate) mod resanitize;
mod rules;
#[cfg(feature = "sync")]
pub(crate) mod said_since;
pub(crate) mod sample;
mod schema;
pub(crate) mod search;
mod session_row;
pub(crate) mod spend;
pub(crate) mod status;
pub(crate) mod transfer;
mod undone;
mod usage;
pub(crate) mod vectors;
pub(crate) mod worker_pool;
mod writer;
mod wrong;

use std::time::Duration;

pub(crate) use self::maintenance::Maintenance;
pub use self::maintenance::WholeIndex;
pub use self::memory::Memory;
pub use self::open::{OtherFormat, is_there};
pub use self::reader::Reader;
pub use self::writer::Writer;
use crate::sys::failpoints;

/// How long a statement waits for another process's transaction. Our own transactions take milliseconds.
fn lock_timeout() -> Duration {
    failpoints::patience(Duration::from_secs(10))
}
