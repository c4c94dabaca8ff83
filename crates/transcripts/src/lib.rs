//! The sessions of coding agents: where they lie, what was said and done in them, and what of it may be kept.
//!
//! ```text
//! a client's files ─► source (a folder for each client) ─► raw texts ─► privacy (sanitizer) ─► session: records
//! ```
//!
//! What a reader takes out of a file is a [`RawText`](privacy::raw::RawText), which cannot be printed, serialised or stored. Only the
//! [`Sanitizer`](privacy::Sanitizer) makes texts of it, and so a [`Record`](session::Record) holds none that has not passed it. What is inside a
//! raw text can be seen within `privacy` alone; outside of this crate nothing can even take one apart.
//!
//! Nothing here knows what becomes of sessions: there is no index, no page and no setting. What the program that keeps them says in sessions
//! itself, it tells the sanitizer ([`OwnWords`](privacy::OwnWords)).
//!
//! ## The rooms, from the bottom up
//!
//! A room imports rooms of lower floors only; `tests/it/rooms.rs` of the program reads this table and holds that.
//!
//! | floor | room | holds |
//! |---|---|---|
//! | 1 | `client` | the coding agents: names, programs, folders |
//! | 1 | `sqlite_files` | what SQLite calls its files |
//! | 2 | `session` | records, sessions and their figures: plain data |
//! | 3 | `assemble` | a session made of its records |
//! | 3 | `undone_prompts` | prompts that the user took back |
//! | 3 | `title_filter` | titles that were not given in the session that holds them |
//! | 3 | `shell` | commands, what they are for, and what they print that is evidence |
//! | 4 | `privacy` | what may be kept: raw texts, sanitizer, private turns and files |
//! | 5 | `source` | transcripts: find them, read what they gained, parse it; what a client's tools are for; how its program takes a session up |

#![forbid(unsafe_code)]
// `println!` and `eprintln!` panic if nothing reads the stream.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod assemble;
pub mod client;
pub mod privacy;
pub mod session;
pub mod shell;
pub mod source;
pub mod sqlite_files;
pub mod title_filter;
pub mod undone_prompts;
