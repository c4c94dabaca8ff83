//! The registration of the server in a file of the client's: planned, written, found and removed. Where that file has the hooks as well, it
//! is one edit with theirs ([`beside_hooks`]).
//!
//! Running clients write their own file again and again. So no copy of it is kept, which would soon be old and holds what is the
//! client's alone; an edit is small, is made on what is there right now, and is undone by what it is.

use std::path::Path;
use std::thread;

use anyhow::{Result, anyhow, bail};

use super::agent_hosts::takes_comments;
use super::file::{FileSnapshot, PAUSE, TRIES, retry_when_changed};
use super::hook_command::may_name_us;
use super::locations::{client_file, entry_form, invocation, is_servers_file, needs_server, servers_file, shares_file};
use super::manifest::{FileEdit, Manifest};
use super::servers::{self, McpServer, ServerLocation};
use super::strict_json::{Broken, Insertion, JsonText, Shapes};
use super::{Host, InstallScope, settings, toml_servers};
use crate::sys::paths::is_same_file;

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
        let is_claudes_own = matches!(scope, InstallScope::User | InstallScope::Local);
        let file = if is_claudes_own { read_client_file(path)? } else { FileSnapshot::read(path)? };
        let text = file.text()?;
        let fresh = holds_none(path, &text, host).map_err(|broken| refusal(path, &broken))?;
        let insertion = add(path, &text, &location, scope, host)?;
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
        let (before, after) = (self.file.bytes.as_deref(), self.insertion.text.as_bytes());
        let edit = FileEdit { before, after, fresh: self.fresh, shapes: &self.insertion.shapes, copy: false };
        manifest.write(&host.config.data_dir, &self.file, &edit)
    }
}

/// Plans the registration where it is asked for, or where ours is already and may have to be updated.
///
/// # Errors
/// When the file is broken or cannot be read, or our name is taken.
pub(crate) fn plan(scope: InstallScope, asked: bool, host: &Host<'_>) -> Result<Option<Registration>> {
    let Some((path, location)) = servers_file(scope, host).filter(|_| !shares_file(scope)) else { return Ok(None) };
    let is_registered = || {
        let text = FileSnapshot::read(&path).and_then(|file| file.text());
        text.is_ok_and(|text| matches!(find(&path, &text, &location, host), Ok(Some(_))))
    };
    if !asked && !needs_server(scope) && !is_registered() {
        return Ok(None);
    }
    Registration::new(scope, &path, location, host).map(Some)
}

/// Stands among the shapes of a file of hooks into which we wrote the server.
const SERVER: &str = "server";

/// The server in a file that has hooks as well.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BesideHooks {
    pub(crate) was_there: bool,
    pub(crate) changes: bool,
}

/// An insertion of hooks with that of the server, for a file that has both and had `before`. `None`: nobody asked for it, and it is not there.
///
/// # Errors
/// When our name is taken.
pub(crate) fn beside_hooks(
    before: &str,
    hooks: Insertion,
    path: &Path,
    scope: InstallScope,
    asked: bool,
    host: &Host<'_>,
) -> Result<(Insertion, Option<BesideHooks>)> {
    let (mark, text) = settings::split(&hooks.text);
    let location = ServerLocation::TopLevel;
    let was_there = shares_file(scope) && matches!(find(path, text, &location, host), Ok(Some(_)));
    if !shares_file(scope) || !asked && !was_there {
        return Ok((hooks, None));
    }
    // What keeps it out is named by its place in the file as it is.
    add(path, settings::split(before).1, &location, scope, host)?;
    let server = add(path, text, &location, scope, host)?;
    let changes = server.text != text;
    let mut shapes = hooks.shapes;
    shapes.insert(SERVER.to_owned(), String::new());
    // How something was written before the hooks came counts.
    for (path, shape) in server.shapes {
        shapes.entry(path).or_insert(shape);
    }
    Ok((Insertion { text: format!("{mark}{}", server.text), shapes }, Some(BesideHooks { was_there, changes })))
}

/// Was the server written into this file of hooks?
pub(crate) fn is_beside_hooks(shapes: &Shapes) -> bool {
    shapes.contains_key(SERVER)
}

/// A file with hooks and servers without ours of the latter.
pub(crate) fn removed_beside_hooks(text: &str, shapes: &Shapes, host: &Host<'_>) -> Result<String, Broken> {
    let (mark, text) = settings::split(text);
    let is_ours = |program: &str| is_our_program(program, host);
    Ok(format!("{mark}{}", servers::remove(text, &ServerLocation::TopLevel, shapes, &is_ours)?))
}

fn refusal(path: &Path, broken: &Broken) -> anyhow::Error {
    anyhow!("{}\nit is left as it is, and nothing was installed", broken.located(path))
}

/// Reads Claude Code's own file. One that is there and empty is about to be written.
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
    let path = Path::new(program);
    program == servers::NAME || !path.exists() || is_same_file(path, &host.environment.program)
}

/// Codex has its servers in TOML, all others in JSON.
fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}

/// A text of a file of servers in JSON.
fn json<'t>(path: &Path, text: &'t str) -> JsonText<'t> {
    JsonText { text, comments: takes_comments(path) }
}

/// Our server at a location of a file.
pub fn find(path: &Path, text: &str, location: &ServerLocation, host: &Host<'_>) -> Result<Option<McpServer>, Broken> {
    let is_ours = |program: &str| is_our_program(program, host);
    if is_toml(path) { toml_servers::find(text, &is_ours) } else { servers::find(json(path, text), location, &is_ours) }
}

fn add(path: &Path, text: &str, location: &ServerLocation, scope: InstallScope, host: &Host<'_>) -> Result<Insertion> {
    try_add(path, text, location, scope, host)?.map_err(|broken| refusal(path, &broken))
}

fn try_add(
    path: &Path,
    text: &str,
    location: &ServerLocation,
    scope: InstallScope,
    host: &Host<'_>,
) -> Result<Result<Insertion, Broken>> {
    let (invocation, is_ours) = (invocation(scope, host)?, |program: &str| is_our_program(program, host));
    Ok(if is_toml(path) {
        toml_servers::add(text, &invocation, &is_ours)
    } else {
        servers::add(json(path, text), location, entry_form(scope), &invocation, &is_ours)
    })
}

/// Why nothing can be registered in the file of a scope, such as that our name is taken, and where in it.
pub(crate) fn why_refused(scope: InstallScope, host: &Host<'_>) -> Option<String> {
    let (path, location) = servers_file(scope, host)?;
    let text = FileSnapshot::read(&path).and_then(|file| file.text()).ok()?;
    Some(try_add(&path, settings::split(&text).1, &location, scope, host).ok()?.err()?.located(&path))
}

fn holds_none(path: &Path, text: &str, host: &Host<'_>) -> Result<bool, Broken> {
    Ok(locations(path, text, host)?.is_empty())
}

/// The locations of a file that hold one of ours.
fn locations(path: &Path, text: &str, host: &Host<'_>) -> Result<Vec<ServerLocation>, Broken> {
    if is_toml(path) {
        return Ok(find(path, text, &ServerLocation::TopLevel, host)?.map(|_| ServerLocation::TopLevel).into_iter().collect());
    }
    servers::locations(json(path, text), &|program| is_our_program(program, host))
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
    if !may_name_us(&before) {
        return Ok(None);
    }
    let broken =
        |broken: Broken| anyhow!("{}\nit is left as it is: take the server `recall` out by hand", broken.located(&file.path));
    let is_ours = |program: &str| is_our_program(program, host);
    let locations = match scope {
        Some(scope) => servers_file(scope, host).map(|(_, location)| location).into_iter().collect(),
        None => locations(&file.path, &before, host).map_err(broken)?,
    };
    let shapes = manifest.shapes(&file.path);
    let mut text = before.clone();
    for location in locations {
        let removed = if is_toml(&file.path) {
            toml_servers::remove(&text, &shapes, &is_ours)
        } else {
            servers::remove(json(&file.path, &text), &location, &shapes, &is_ours)
        };
        text = removed.map_err(broken)?;
    }
    Ok((text != before).then_some(text))
}

/// Is a server that an install put into the client's own file gone from it? A session that ran meanwhile writes back what it had read
/// before.
pub(crate) fn was_overwritten(manifest: &Manifest, host: &Host<'_>) -> bool {
    let Ok(file) = FileSnapshot::read(&client_file(host)) else { return false };
    manifest.edited.contains_key(&file.path) && file.text().is_ok_and(|text| holds_none(&file.path, &text, host).unwrap_or(false))
}

/// Does a file of servers hold one of ours?
pub(crate) fn holds_ours(path: &Path, bytes: &[u8], host: &Host<'_>) -> bool {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    is_servers_file(path) && holds_none(path, text, host).is_ok_and(|none| !none)
}

/// Notes on servers that call another program of our name: they stay.
pub(crate) fn notes_on_foreign(path: &Path, host: &Host<'_>) -> Vec<String> {
    let text = FileSnapshot::read(path).and_then(|file| file.text()).unwrap_or_default();
    let is_ours = |program: &str| is_our_program(program, host);
    let names = if is_toml(path) { toml_servers::foreign(&text, &is_ours) } else { servers::foreign(json(path, &text), &is_ours) };
    let note = |name: String| format!("{}: the server `{name}` calls another program named recall: it stays", path.display());
    names.unwrap_or_default().into_iter().map(note).collect()
}
