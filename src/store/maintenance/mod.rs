//! The index as a file: whether it is sound, the copies kept of it, and what comes back of it when it is damaged.

pub mod backup;
mod integrity;
pub mod orphaned_log;
mod restore;
mod write_lock;

pub use self::restore::{Category, Contents, Salvaged};
pub use self::write_lock::{FileIdentity, WriteLock};
