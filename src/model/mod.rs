//! Plain data, without I/O: sessions, digests, notes, prices, times.

pub mod assemble;
pub mod author;
pub mod digest;
pub mod note;
pub mod price;
pub mod session;
pub mod session_facts;
pub mod time_spec;
pub mod title_filter;
pub mod undone_prompts;
pub mod vector;
