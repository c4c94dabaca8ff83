#![doc = include_str!("../README.md")]
//!
//! # Where to change it
//!
//! - **What the server keeps, and who may see it:** `migrations/`; a published step never changes, a change is a further one, named in `migrate`.
//! - **What happens when a connection is lost or slow:** `link`; which errors are worth another try: `error`.
//! - **What an administrator does:** `team`; what a member does: `client`, `policy`, `push`, `pull`, `owned`, `search`, `meaning`, `usage`.
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

mod address;
mod client;
mod error;
mod link;
mod meaning;
mod migrate;
mod owned;
mod policy;
mod pull;
mod push;
mod record;
mod search;
mod team;
mod usage;

pub use client::{CheckIn, Client, Deadlines, Project};
pub use error::Error;
pub use meaning::Meaning;
pub use owned::Owned;
pub use policy::Policies;
pub use pull::{Pulled, Shared};
pub use push::Pushed;
pub use record::{Record, RecordId, Withdrawal};
pub use search::{Found, Hit};
pub use team::{Access, Policy, Team};
pub use usage::{USAGE, UsageBy, UsageSum, UsageSums};
