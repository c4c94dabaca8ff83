#![doc = include_str!("../README.md")]
//!
//! # Where to change it
//!
//! - **What a file looks like:** `file` (header, zstd, age and the bounds of each), `segment` and `manifest` (what is inside), `names`.
//! - **What is published, and in which order:** `outbox`; which segments are merged: `compact`.
//! - **What is read, and what happens to a file that cannot be:** `inbox`.
//! - **Another way to carry files:** implement [`Carrier`] in a module beside `folder`, `ssh` and `bucket`, and name its addresses in `carrier`.
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

#[cfg(feature = "s3")]
mod bucket;
mod carrier;
mod compact;
mod error;
mod file;
mod folder;
mod history;
mod inbox;
mod key;
mod manifest;
mod names;
mod outbox;
mod present;
mod process;
mod record;
mod remove;
mod segment;
mod ssh;

#[cfg(feature = "s3")]
pub use bucket::Bucket;
pub use carrier::{Carrier, Entry, carrier};
pub use error::Error;
pub use folder::Folder;
pub use history::History;
pub use inbox::{Change, Inbox, SetAside, Taken};
pub use key::{Key, KeyError};
pub use outbox::{Outbox, Published};
pub use present::machines_at;
pub use record::{Machine, Record, RecordId};
pub use remove::remove_machine;
pub use ssh::Ssh;
