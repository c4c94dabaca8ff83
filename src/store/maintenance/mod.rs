//! The index as a file: whether it is sound, the copies kept of it, and what comes back of it when it is damaged.

pub(crate) mod backup;
mod integrity;
pub(crate) mod orphaned_log;
mod restore;
mod write_lock;

pub(crate) use self::restore::{Category, Contents, Salvaged};
pub(crate) use self::write_lock::{FileIdentity, WriteLock};
