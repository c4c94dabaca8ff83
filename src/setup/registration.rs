//! The registration of the server in a file of the client's: planned, written, found and removed.
//!
//! Running clients write their own file again and again. So no copy of it is kept, which would soon be old and holds what is the
//! client's alone; an edit is small, is made on what is there right now, and is undone by what it is.

use std::path::Path;
use std::thread;

use anyhow::{Result, anyhow, bail};

use super::file::{FileSnapshot, PAUSE, TRIES, retry_when_changed};
use super::locations::{client_file, invocation, is_servers_file, servers_file};
use super::manifest::{FileEdit, Manifest};
use super::servers::{self, McpServer, ServerLocation};
use super::strict_json::{Broken, Insertion};
use super::{Host, InstallScope};

/// An edit of a file of servers.
#[derive(Debug)]
pub(crate) struct Registration {
    pub(crate) file: FileSnapshot,
    pub(crate) insertion: Insertion,
    location: ServerLocation,
    /// Was nothing of ours in the file before?
    fresh: bool,
    scope: InstallScope,
}

impl Registration {
    fn new(scope: InstallScope, path: &Path, location: ServerLocation, host: &Host<'_>) -> Result<Self> {
        let file = if scope == InstallScope::Project { FileSnapshot::read(path)? } else { read_client_file(path)? };
        let text = file.text()?;
        let broken = |broken: Broken| anyhow!("{}\nit is left as it is, and nothing was installed", broken.located(path));
        let is_ours = |program: &str| is_our_program(program, host);
        let fresh = servers::locations(&text, &is_ours).map_err(broken)?.is_empty();
        let insertion = servers::add(&text, &location, &invocation(scope, host)?, &is_ours).map_err(broken)?;
        Ok(Self { file, insertion, location, fresh, scope })
    }

    pub(crate) fn changes(&self) -> bool {
        self.file.bytes.as_deref() != Some(self.insertion.text.as_bytes())
    }

    /// Records the edit, with the folders that it creates, and makes it.
    ///
    /// # Errors
    /// When the file cannot be written, or others write to it all the time.
    pub(crate) fn apply(self, host: &Host<'_>, manifest: &mut Manifest) -> Result<()> {
        let (scope, path, location) = (self.scope, self.file.path.clone(), self.location.clone());
        let mut planned = Some(self);
        retry_when_changed(|| {
            let now = planned.take().map_or_else(|| Self::new(scope, &path, location.clone(), host), Ok)?;
            now.apply_once(host, manifest)
        })
    }

    fn apply_once(&self, host: &Host<'_>, manifest: &mut Manifest) -> Result<()> {
        let recorded = manifest.clone();
        let (before, after) = (self.file.bytes.as_deref(), self.insertion.text.as_bytes());
        let edit = FileEdit { before, after, fresh: self.fresh, shapes: &self.insertion.shapes, copy: false };
        manifest.record(&host.config.data_dir, &self.file.path, &edit)?;
        manifest.save(&host.config.data_dir)?;
        match self.file.write(after) {
            Ok(folders) => manifest.folders.extend(folders),
            Err(e) => {
                *manifest = recorded;
                manifest.save(&host.config.data_dir)?;
                return Err(e);
            }
        }
        Ok(())
    }
}

/// Plans the registration where it is asked for, or where ours is already and may have to be updated.
///
/// # Errors
/// When the file is broken or cannot be read, or our name is taken.
pub(crate) fn plan(scope: InstallScope, asked: bool, host: &Host<'_>) -> Result<Option<Registration>> {
    let (path, location) = servers_file(scope, host);
    let is_registered = || {
        let text = FileSnapshot::read(&path).and_then(|file| file.text());
        text.is_ok_and(|text| matches!(find(&text, &location, host), Ok(Some(_))))
    };
    if !asked && !is_registered() {
        return Ok(None);
    }
    Registration::new(scope, &path, location, host).map(Some)
}

/// Reads the client's own file. One that is there and empty is about to be written.
fn read_client_file(path: &Path) -> Result<FileSnapshot> {
    let mut pause = PAUSE;
    for _ in 0..TRIES {
        let file = FileSnapshot::read(path)?;
        if file.bytes.as_deref().is_none_or(|bytes| !bytes.trim_ascii().is_empty()) {
            return Ok(file);
        }
        thread::sleep(pause);
        pause *= 2;
    }
    bail!("{} is empty, maybe because Claude Code is writing it: try again, or delete it if it stays empty", path.display())
}

/// Is a program of our name this one, found on the search path as this one may be, or gone?
fn is_our_program(program: &str, host: &Host<'_>) -> bool {
    let (path, this) = (Path::new(program), &host.environment.program);
    let is_this = || path.canonicalize().is_ok_and(|path| this.canonicalize().is_ok_and(|this| path == this));
    program == servers::NAME || path == this || !path.exists() || is_this()
}

/// Our server at a location of a file.
pub fn find(text: &str, location: &ServerLocation, host: &Host<'_>) -> Result<Option<McpServer>, Broken> {
    servers::find(text, location, &|program| is_our_program(program, host))
}

fn holds_none(text: &str, host: &Host<'_>) -> Result<bool, Broken> {
    Ok(servers::locations(text, &|program| is_our_program(program, host))?.is_empty())
}

/// The file without our servers, in one scope or in all. `None` when there are none.
pub(crate) fn without_ours(
    file: &FileSnapshot,
    scope: Option<InstallScope>,
    manifest: &Manifest,
    host: &Host<'_>,
) -> Result<Option<String>> {
    let before = file.text()?;
    // What does not contain our name holds nothing of ours, in whatever form it is by now.
    if !before.contains("recall") {
        return Ok(None);
    }
    let broken =
        |broken: Broken| anyhow!("{}\nit is left as it is: take the server `recall` out by hand", broken.located(&file.path));
    let is_ours = |program: &str| is_our_program(program, host);
    let locations = match scope {
        Some(scope) => vec![servers_file(scope, host).1],
        None => servers::locations(&before, &is_ours).map_err(broken)?,
    };
    let shapes = manifest.shapes(&file.path);
    let mut text = before.clone();
    for location in locations {
        text = servers::remove(&text, &location, &shapes, &is_ours).map_err(broken)?;
    }
    Ok((text != before).then_some(text))
}

/// Is a server that an install put into the client's own file gone from it? A session that ran meanwhile writes back what it had read
/// before.
pub(crate) fn was_overwritten(manifest: &Manifest, host: &Host<'_>) -> bool {
    let Ok(file) = FileSnapshot::read(&client_file(host)) else { return false };
    manifest.edited.contains_key(&file.path) && file.text().is_ok_and(|text| holds_none(&text, host).unwrap_or(false))
}

/// Does a file of servers hold one of ours?
pub(crate) fn holds_ours(path: &Path, bytes: &[u8], host: &Host<'_>) -> bool {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    is_servers_file(path) && holds_none(text, host).is_ok_and(|none| !none)
}

/// Notes on servers that call another program of our name: they stay.
pub(crate) fn notes_on_foreign(path: &Path, host: &Host<'_>) -> Vec<String> {
    let text = FileSnapshot::read(path).and_then(|file| file.text()).unwrap_or_default();
    let names = servers::foreign(&text, &|program| is_our_program(program, host)).unwrap_or_default();
    let note = |name: String| format!("{}: the server `{name}` calls another program named recall: it stays", path.display());
    names.into_iter().map(note).collect()
}
