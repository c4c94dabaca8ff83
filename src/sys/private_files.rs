//! Private files (0600) and folders (0700), whatever the umask, and atomic replacement of files.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
#[cfg(feature = "web")]
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[cfg(feature = "web")]
use rustix::fs::Mode;
use rustix::fs::OFlags;
use tempfile::{NamedTempFile, TempDir};

/// The name of a temporary file: this prefix and a number of random characters. No user would choose such a name, so leftovers can be
/// removed even from folders that hold the user's own files.
pub(super) const TEMPORARY_PREFIX: &str = ".recall-tmp-";
const RANDOM_CHARS: usize = 12;

/// No write takes this long.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// Creates a folder and its missing parents with mode 0700.
pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A socket that only its owner can open (0600). The mask of the whole process is another one meanwhile: for a program that is starting.
///
/// # Errors
/// When something is there already, or the folder cannot be written.
#[cfg(feature = "web")]
pub(crate) fn bind_socket(path: &Path) -> io::Result<UnixListener> {
    let before = rustix::process::umask(Mode::RWXG | Mode::RWXO | Mode::XUSR);
    let bound = UnixListener::bind(path);
    rustix::process::umask(before);
    bound
}

/// Can other users read or enter the folder?
pub(crate) fn is_open_to_others(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| m.permissions().mode() & 0o077 != 0)
}

/// Sets the folder's mode to 0700.
pub(crate) fn restrict_to_owner(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

/// Of a folder and its direct entries: those that belong to this user but deny the user reading or writing.
pub(crate) fn inaccessible_in(folder: &Path) -> Vec<PathBuf> {
    let inside = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    inaccessible_among([folder.to_owned()].into_iter().chain(inside))
}

/// The paths that belong to this user but deny the user reading or writing.
pub(crate) fn inaccessible_among(files: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let me = rustix::process::geteuid().as_raw();
    let is_closed = |path: &PathBuf| {
        let Ok(found) = fs::symlink_metadata(path) else { return false };
        let own = if found.is_dir() { 0o700 } else { 0o600 };
        (found.is_dir() || found.is_file()) && found.uid() == me && found.mode() & own != own
    };
    files.into_iter().filter(is_closed).collect()
}

/// Grants the owner read and write access, and access to folders.
pub(crate) fn grant_owner_access(paths: &[PathBuf]) -> io::Result<()> {
    paths.iter().try_for_each(|path| {
        let found = fs::metadata(path)?;
        let own = if found.is_dir() { 0o700 } else { 0o600 };
        fs::set_permissions(path, fs::Permissions::from_mode(found.mode() & 0o7777 | own))
    })
}

/// Removes files of a folder whose age satisfies `fits`; the age is `None` if it is unknown.
pub(crate) fn remove_files(folder: &Path, fits: impl Fn(Option<Duration>) -> bool) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| fits(age(path))) {
        let _ = fs::remove_file(path);
    }
}

/// The time since the file was last written.
pub(crate) fn age(path: &Path) -> Option<Duration> {
    path.metadata().ok()?.modified().ok()?.elapsed().ok()
}

/// Replaces `path` atomically with mode 0600: writes a temporary file, syncs and renames it.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_in_unsynced_folder(path, bytes)?;
    sync_folder_of(path)
}

/// Like [`replace`], with the temporary file in another folder of the same file system: one in which leftovers of a killed run are looked for.
pub(crate) fn replace_from(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut temporary = create_temporary(folder)?;
    temporary.write_all(bytes)?;
    rename_synced(temporary, path)?;
    sync_folder_of(path)?;
    // So that a power failure does not bring it back there.
    sync_folder(folder)
}

/// Like [`replace`], for many files: the caller syncs their folder behind the last of them. Until then a power failure may bring the former
/// file back, whole.
pub(crate) fn replace_in_unsynced_folder(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().ok_or_else(|| io::Error::other(format!("the path {} has no parent folder", path.display())))?;
    let mut temporary = create_temporary(dir)?;
    temporary.write_all(bytes)?;
    rename_synced(temporary, path)
}

/// Like [`replace`], but without syncing, for files that are useless after a power failure. In many runs a sync would take the most time.
pub(crate) fn replace_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().ok_or_else(|| io::Error::other(format!("the path {} has no parent folder", path.display())))?;
    let mut temporary = create_temporary(dir)?;
    temporary.write_all(bytes)?;
    temporary.persist(path).map(drop).map_err(|e| e.error)
}

/// Creates a file with mode 0600, in a folder that is there. Nothing is ever written over, not even through a link.
///
/// # Errors
/// When something is there already, or the folder cannot be written. What was written of it goes.
#[cfg(feature = "sync")]
pub(crate) fn create_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

fn create_temporary(dir: &Path) -> io::Result<NamedTempFile> {
    create_dir(dir)?;
    temporary(dir)
}

/// A temporary file with mode 0600 in the folder of the file it will replace.
pub(crate) fn temporary(dir: &Path) -> io::Result<NamedTempFile> {
    let own = fs::Permissions::from_mode(0o600);
    tempfile::Builder::new().prefix(TEMPORARY_PREFIX).rand_bytes(RANDOM_CHARS).permissions(own).tempfile_in(dir)
}

/// Is this the name of a temporary file?
pub(crate) fn is_temporary(path: &Path) -> bool {
    let rest = path.file_name().and_then(|name| name.to_str()?.strip_prefix(TEMPORARY_PREFIX));
    rest.is_some_and(|rest| rest.len() == RANDOM_CHARS && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// Removes temporary files old enough that no process can still be writing them.
pub(crate) fn remove_abandoned(dir: &Path) {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| is_temporary(path)).for_each(|path| remove_if_old(&path));
}

/// Removes a file that nobody can still be using, by its age.
pub(crate) fn remove_if_old(file: &Path) {
    if file.is_file() && age(file).is_some_and(|age| age > ABANDONED_AFTER) {
        let _ = fs::remove_file(file);
    }
}

/// Removes the folders in a folder whose names begin like this, with all that is in them.
///
/// # Errors
/// When one cannot be removed. A folder that is missing holds none.
pub(crate) fn remove_folders(dir: &Path, beginning: &str) -> io::Result<()> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(beginning));
    named.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).try_for_each(|entry| fs::remove_dir_all(entry.path()))
}

/// A folder with mode 0700 and a name that begins like this. It is removed when it is dropped.
pub(crate) fn temporary_folder(dir: &Path, beginning: &str) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix(beginning).permissions(fs::Permissions::from_mode(0o700)).tempdir_in(dir)
}

/// Copies a file to a new one with mode 0600, whatever the mode of the first.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut copy = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    io::copy(&mut File::open(from)?, &mut copy).map(drop)
}

/// Disk space reserved for a file that must not be lost once it arrives: the folder is writable and the bytes are allocated.
#[derive(Debug)]
pub(crate) struct ReservedSpace(NamedTempFile);

impl ReservedSpace {
    pub(crate) fn reserve(dir: &Path, bytes: usize) -> io::Result<Self> {
        let mut temporary = create_temporary(dir)?;
        temporary.write_all(&vec![b' '; bytes])?;
        // Some file systems report a full disk only on sync.
        temporary.as_file().sync_all()?;
        Ok(Self(temporary))
    }

    /// Writes the file into the reserved space and renames it, as [`replace`] does.
    pub(crate) fn fill(self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut temporary = self.0;
        temporary.rewind()?;
        temporary.write_all(bytes)?;
        temporary.as_file().set_len(bytes.len() as u64)?;
        persist(temporary, path)
    }
}

/// Syncs a temporary file and renames it to `path` in the same folder.
pub(crate) fn persist(temporary: NamedTempFile, path: &Path) -> io::Result<()> {
    rename_synced(temporary, path)?;
    sync_folder_of(path)
}

fn rename_synced(temporary: NamedTempFile, path: &Path) -> io::Result<()> {
    temporary.as_file().sync_all()?;
    temporary.persist(path).map(drop).map_err(|e| e.error)
}

/// What is in a file; `None` if it is not there.
pub(crate) fn read_if_there(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(io::Error::new(e.kind(), format!("cannot read {}: {e}", path.display()))),
    }
}

/// Removes a file durably. A missing file is no error.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(io::Error::new(e.kind(), format!("cannot remove {}: {e}", path.display()))),
        Ok(()) => sync_folder_of(path),
    }
}

/// Syncs the folder of a path: only then do creations, renames and removals in it survive a power failure.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), sync_folder)
}

/// Syncs a folder; an empty path is the current one, as the folder of a name alone is.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()
}

/// Opens a regular file, but no symbolic link, pipe or device in its place.
///
/// # Errors
/// When it is not a regular file or has another hard link.
pub(crate) fn open_regular(options: &mut fs::OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = options.custom_flags(flags.bits() as i32).open(path)?;
    let found = file.metadata()?;
    if found.is_file() && found.nlink() == 1 {
        Ok(file)
    } else {
        Err(io::Error::other(format!("{} is not a regular file, or has other hard links", path.display())))
    }
}

/// Is it a symbolic link, or a file with several hard links?
pub(crate) fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink() || found.is_file() && found.nlink() > 1)
}

/// Opens a lock file, creating it with mode 0600.
pub(crate) fn open_lock(path: &Path) -> io::Result<File> {
    fs::OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}
