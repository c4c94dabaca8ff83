//! Plain data, without I/O: sessions, digests, notes, prices, times.

pub(crate) mod author;
pub(crate) mod digest;
pub(crate) mod finding;
pub(crate) mod item_state;
pub(crate) mod memory_file;
pub(crate) mod note;
pub(crate) mod observation;
pub(crate) mod page_path;
pub(crate) mod price;
pub(crate) mod search_column;
pub(crate) mod section;
pub(crate) mod session_head;
pub(crate) mod since_then;
pub(crate) mod stored_digest;
pub(crate) mod team_file;
pub(crate) mod time_spec;
pub(crate) mod vector;
