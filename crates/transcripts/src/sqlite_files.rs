//! What SQLite calls a database and the files that it keeps beside it.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Appended to the database's name: the log of changes, the memory that its readers share, the journal.
pub const WAL: &str = "-wal";
pub const SHM: &str = "-shm";
pub const JOURNAL: &str = "-journal";
pub const LOGS: [&str; 3] = [WAL, SHM, JOURNAL];

/// A file's name with something behind it.
pub fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The address under which SQLite opens a file; `how` is what follows the path: `?immutable=1`.
pub fn sqlite_uri(path: &Path, how: &str) -> String {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"/._-".contains(b);
    let escaped =
        path.as_os_str().as_bytes().iter().map(|b| if plain(b) { char::from(*b).to_string() } else { format!("%{b:02X}") });
    format!("file:{}{how}", escaped.collect::<String>())
}
