//! Files and folders that only their owner can read, whatever the umask, and replacing a file in one step.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;
use tempfile::NamedTempFile;

/// How the names of files begin that are not whole yet, and how many random characters follow: nobody gives a file such a name. They
/// lie in folders where the user's own files lie, too, and are removed when they are left over.
const HALF_WRITTEN: &str = ".recall-tmp-";
const RANDOM: usize = 12;

/// Nothing takes this long to write.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Creates a folder and its missing parents, 0700.
pub fn create_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Can others read or enter the folder?
pub fn is_open_to_others(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| m.permissions().mode() & 0o077 != 0)
}

/// Takes the folder's permissions from others.
pub fn close_to_others(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

/// A folder and what lies right in it, as far as it is ours and we took ourselves the right to read or write it.
pub fn closed_to_their_owner(folder: &Path) -> Vec<PathBuf> {
    let inside = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    closed_among([folder.to_owned()].into_iter().chain(inside))
}

/// Those of which we are the owner and took ourselves the right to read or write.
pub fn closed_among(files: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let me = rustix::process::geteuid().as_raw();
    let is_closed = |path: &PathBuf| {
        let Ok(found) = fs::symlink_metadata(path) else { return false };
        let own = if found.is_dir() { 0o700 } else { 0o600 };
        (found.is_dir() || found.is_file()) && found.uid() == me && found.mode() & own != own
    };
    files.into_iter().filter(is_closed).collect()
}

/// Gives their owner the right to read and write these, and to enter folders.
pub fn open_to_their_owner(paths: &[PathBuf]) -> io::Result<()> {
    paths.iter().try_for_each(|path| {
        let found = fs::metadata(path)?;
        let own = if found.is_dir() { 0o700 } else { 0o600 };
        fs::set_permissions(path, fs::Permissions::from_mode(found.mode() & 0o7777 | own))
    })
}

/// Removes the files of a folder whose age fits; `None` is an age that cannot be told.
pub fn remove_files(folder: &Path, fits: impl Fn(Option<Duration>) -> bool) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| fits(age(path))) {
        let _ = fs::remove_file(path);
    }
}

/// The time since a file was last written.
pub fn age(path: &Path) -> Option<Duration> {
    path.metadata().ok()?.modified().ok()?.elapsed().ok()
}

/// Replaces `path` as a whole: temporary file, sync, rename. 0600.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().ok_or_else(|| io::Error::other("a file needs a folder"))?;
    let mut temporary = half_written(dir)?;
    temporary.write_all(bytes)?;
    persist(temporary, path)
}

/// The same for what is of no use any more after a power failure: not synced, which takes a disk longer than all else that many runs do.
pub fn replace_for_now(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().ok_or_else(|| io::Error::other("a file needs a folder"))?;
    let mut temporary = half_written(dir)?;
    temporary.write_all(bytes)?;
    temporary.persist(path).map(drop).map_err(|e| e.error)
}

fn half_written(dir: &Path) -> io::Result<NamedTempFile> {
    create_dir(dir)?;
    temporary(dir)
}

/// A file beside the one it is to replace, its owner's alone.
pub fn temporary(dir: &Path) -> io::Result<NamedTempFile> {
    let own = fs::Permissions::from_mode(0o600);
    tempfile::Builder::new().prefix(HALF_WRITTEN).rand_bytes(RANDOM).permissions(own).tempfile_in(dir)
}

/// Is this the name of a file that is not whole yet, or never came to be?
pub fn is_half_written(path: &Path) -> bool {
    let rest = path.file_name().and_then(|name| name.to_str()?.strip_prefix(HALF_WRITTEN));
    rest.is_some_and(|rest| rest.len() == RANDOM && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// Removes what was left half written in a folder where somebody may be writing just now: what was begun long ago.
pub fn drop_abandoned(dir: &Path) {
    for path in fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).filter(|path| is_half_written(path)) {
        if path.is_file() && age(&path).is_some_and(|age| age > ABANDONED) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Room for a file that is still to come and will not come twice: its folder can be written, and so many bytes are taken on the disk.
#[derive(Debug)]
pub struct Room(NamedTempFile);

impl Room {
    pub fn take(dir: &Path, bytes: usize) -> io::Result<Self> {
        let mut temporary = half_written(dir)?;
        temporary.write_all(&vec![b' '; bytes])?;
        // Some disks tell only now that there is no room.
        temporary.as_file().sync_all()?;
        Ok(Self(temporary))
    }

    /// Writes the file there and gives it its name, as `replace` does.
    pub fn fill(self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut temporary = self.0;
        temporary.rewind()?;
        temporary.write_all(bytes)?;
        temporary.as_file().set_len(bytes.len() as u64)?;
        persist(temporary, path)
    }
}

/// Gives a temporary file of this folder its name, so that it lasts.
pub fn persist(temporary: NamedTempFile, path: &Path) -> io::Result<()> {
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|e| e.error)?;
    sync_folder_of(path)
}

/// Removes a file, so that it stays away. One that is not there is no error.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(io::Error::new(e.kind(), format!("cannot remove {}: {e}", path.display()))),
        Ok(()) => sync_folder_of(path),
    }
}

/// What was created, renamed or removed in a folder lasts only once the folder is synced.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
}

/// Opens a file that is ours, and nothing that was put in its place to lead elsewhere or to be waited for.
///
/// # Errors
/// When it cannot be opened so, is no file, or has another name as well.
pub fn open_itself(options: &mut fs::OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = options.custom_flags(flags.bits() as i32).open(path)?;
    let found = file.metadata()?;
    if found.is_file() && found.nlink() == 1 {
        Ok(file)
    } else {
        Err(io::Error::other(format!("{} is not a file of its own", path.display())))
    }
}

/// Is it a link, or another name of a file?
pub fn is_led_elsewhere(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink() || found.is_file() && found.nlink() > 1)
}

/// Opens a file to lock it, creating it 0600.
pub fn open_lock(path: &Path) -> io::Result<File> {
    fs::OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}
