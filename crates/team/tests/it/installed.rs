//! The PostgreSQL that this machine has, and who may run it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// The folder of these programs: on the PATH, else the newest below `/usr/lib/postgresql`.
pub(crate) fn programs(names: &[&str]) -> Option<PathBuf> {
    let on_path = std::env::var_os("PATH").into_iter().flat_map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut installed: Vec<PathBuf> = installed.map(|entry| entry.path().join("bin")).collect();
    installed.sort();
    on_path.chain(installed.into_iter().rev()).find(|folder| names.iter().all(|name| folder.join(name).is_file()))
}

/// PostgreSQL does not run as root: who it runs as then, uid and gid.
pub(crate) fn other_user() -> Option<(u32, u32)> {
    if fs::metadata("/proc/self").ok()?.uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").ok()?;
    ["postgres", "nobody"].iter().find_map(|name| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut numbers = line.split(':').skip(2);
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    })
}
