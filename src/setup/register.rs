//! Registering the server with the client: in which file, and in which place of it.
//!
//! Running clients write the file of their own again and again. So no copy of it is kept, which would soon be old and holds what is
//! the client's alone; an edit is small, made on what is there right now, and taken out again by what it is.

use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Result, anyhow, bail};

use super::file::{File, PAUSE, TRIES, again_when_changed};
use super::manifest::{Edit, Manifest};
use super::plan::{form, project, text_of};
use super::servers::{self, Place};
use super::strict_json::{Broken, Insertion};
use super::{Host, Scope};
use crate::sys::projects::Projects;

/// The client's own file, by the name it has and by an older one, and that of a project's servers.
const CLIENT_FILE: &str = ".claude.json";
const FORMER_FILE: &str = ".config.json";
const PROJECT_FILE: &str = ".mcp.json";

/// An edit of a file of servers.
#[derive(Debug)]
pub struct Registration {
    pub file: File,
    pub added: Insertion,
    place: Place,
    /// Was nothing of ours in the file before?
    fresh: bool,
    scope: Scope,
}

impl Registration {
    pub fn changes(&self) -> bool {
        self.file.bytes.as_deref() != Some(self.added.text.as_bytes())
    }

    /// Does it, and notes it first, with the folders that it made.
    ///
    /// # Errors
    /// When the file cannot be written, or others write to it all the time.
    pub fn apply(self, host: &Host<'_>, manifest: &mut Manifest) -> Result<()> {
        let (scope, path, place) = (self.scope, self.file.path.clone(), self.place.clone());
        let mut made = Some(self);
        again_when_changed(|| {
            let now = made.take().map_or_else(|| registration(scope, &path, place.clone(), host), Ok)?;
            now.apply_once(host, manifest)
        })
    }

    fn apply_once(&self, host: &Host<'_>, manifest: &mut Manifest) -> Result<()> {
        let noted = manifest.clone();
        let after = self.added.text.as_bytes();
        let edit = Edit { before: self.file.bytes.as_deref(), after, fresh: self.fresh, shapes: &self.added.shapes, copy: false };
        manifest.note(&host.config.data_dir, &self.file.path, &edit)?;
        manifest.save(&host.config.data_dir)?;
        match self.file.write(after) {
            Ok(folders) => manifest.folders.extend(folders),
            Err(e) => {
                *manifest = noted;
                manifest.save(&host.config.data_dir)?;
                return Err(e);
            }
        }
        Ok(())
    }
}

/// What there is to do: where it is asked for, or ours is there already.
///
/// # Errors
/// When the file is broken or cannot be read, or our name is taken.
pub fn plan(scope: Scope, asked: bool, host: &Host<'_>) -> Result<Option<Registration>> {
    let (path, place) = site(scope, host);
    if !asked && !is_registered(&path, &place, host) {
        return Ok(None);
    }
    registration(scope, &path, place, host).map(Some)
}

fn is_registered(path: &Path, place: &Place, host: &Host<'_>) -> bool {
    let text = File::read(path).and_then(|file| text_of(&file));
    text.is_ok_and(|text| matches!(servers::state(&text, place, &|program| is_known(program, host)), Ok(Some(_))))
}

fn registration(scope: Scope, path: &Path, place: Place, host: &Host<'_>) -> Result<Registration> {
    let file = if scope == Scope::Project { File::read(path)? } else { written(path)? };
    let text = text_of(&file)?;
    let broken = |broken| anyhow!("{}\nit is left as it is, and nothing was installed", located(path, &broken));
    let known = |program: &str| is_known(program, host);
    let fresh = servers::places(&text, &known).map_err(broken)?.is_empty();
    let added = servers::add(&text, &place, &form(scope, host)?, &known).map_err(broken)?;
    Ok(Registration { file, added, place, fresh, scope })
}

/// The client's own file. One that is there and empty is about to be written.
fn written(path: &Path) -> Result<File> {
    let mut pause = PAUSE;
    for _ in 0..TRIES {
        let file = File::read(path)?;
        if file.bytes.as_deref().is_none_or(|bytes| !bytes.trim_ascii().is_empty()) {
            return Ok(file);
        }
        thread::sleep(pause);
        pause *= 2;
    }
    bail!("{} is empty, as while Claude Code writes it: try again, or delete it if it stays so", path.display())
}

/// Is a program of our name this one, found on the search path as this one may be, or gone?
pub fn is_known(program: &str, host: &Host<'_>) -> bool {
    let path = Path::new(program);
    let is_this = || path.canonicalize().is_ok_and(|path| host.around.program.canonicalize().is_ok_and(|this| path == this));
    program == servers::NAME || path == host.around.program || !path.exists() || is_this()
}

/// `path:line:column: what`, as compilers say it.
pub fn located(path: &Path, broken: &Broken) -> String {
    let Broken { line, column, what } = broken;
    format!("{}:{line}:{column}: {what}", path.display())
}

/// The file in which a scope's servers stand, and where in it.
pub fn site(scope: Scope, host: &Host<'_>) -> (PathBuf, Place) {
    match scope {
        Scope::User => (client_file(host), Place::Top),
        Scope::Project => (project(host).join(PROJECT_FILE), Place::Top),
        Scope::Local => (client_file(host), Place::Project(root(host))),
    }
}

/// The client's own file, as the client finds it (seen with 2.1.197).
pub fn client_file(host: &Host<'_>) -> PathBuf {
    let dir = host.around.claude_dir(host.config);
    let former = dir.join(FORMER_FILE);
    if former.exists() {
        return former;
    }
    host.around.claude_config_dir.as_ref().unwrap_or(&host.config.home).join(CLIENT_FILE)
}

/// How the client calls the project of this folder: a repository's root by its real name, for worktrees the main one's; else the
/// folder (seen with 2.1.197).
fn root(host: &Host<'_>) -> String {
    let here = host.around.current_dir.canonicalize().unwrap_or_else(|_| host.around.current_dir.clone());
    Projects::default().key_of(&here.to_string_lossy())
}

/// Is it a file of servers, and not of settings?
pub fn is_servers_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| [CLIENT_FILE, FORMER_FILE, PROJECT_FILE].iter().any(|known| name == *known))
}

/// The file without ours: in one scope, or in all. `None` when nothing of ours is in it.
///
/// # Errors
/// When it is broken.
pub fn without(file: &File, scope: Option<Scope>, manifest: &Manifest, host: &Host<'_>) -> Result<Option<String>> {
    let before = text_of(file)?;
    // Whatever form it has got since, what does not name us holds nothing of ours.
    if !before.contains("recall") {
        return Ok(None);
    }
    let broken = |broken| anyhow!("{}\nit is left as it is: take the server `recall` out by hand", located(&file.path, &broken));
    let known = |program: &str| is_known(program, host);
    let places = match scope {
        Some(scope) => vec![site(scope, host).1],
        None => servers::places(&before, &known).map_err(broken)?,
    };
    let shapes = manifest.shapes(&file.path);
    let mut text = before.clone();
    for place in places {
        text = servers::remove(&text, &place, &shapes, &known).map_err(broken)?;
    }
    Ok((text != before).then_some(text))
}

/// Did an install put a server into the client's own file that is gone from it? A session that ran meanwhile writes back what it had
/// read before.
pub fn is_taken_back(manifest: &Manifest, host: &Host<'_>) -> bool {
    let Ok(file) = File::read(&client_file(host)) else { return false };
    let is_gone = |text: String| servers::places(&text, &|program| is_known(program, host)).is_ok_and(|places| places.is_empty());
    manifest.edited.contains_key(&file.path) && text_of(&file).is_ok_and(is_gone)
}

/// Is anything of ours left in a file of servers?
pub fn holds_ours(path: &Path, bytes: &[u8], host: &Host<'_>) -> bool {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    is_servers_file(path) && servers::places(text, &|program| is_known(program, host)).is_ok_and(|places| !places.is_empty())
}

/// What is said of servers that call another program of our name: they stay.
pub fn strangers(path: &Path, host: &Host<'_>) -> Vec<String> {
    let text = File::read(path).and_then(|file| text_of(&file)).unwrap_or_default();
    let names = servers::strangers(&text, &|program| is_known(program, host)).unwrap_or_default();
    let told = |name: String| format!("{}: the server `{name}` calls another program named recall: it stays", path.display());
    names.into_iter().map(told).collect()
}
