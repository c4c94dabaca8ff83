//! The files in which Claude Code keeps a memory of its own: `projects/<folder>/memory/*.md` below its config directory, an index `MEMORY.md`
//! and a file for each topic. The one door to them: whoever reads any of them does it here. None is ever written.
//!
//! What is read is as the file has it: whoever stores or shows any of it passes it through the sanitizer first.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use globset::GlobSet;

use transcripts::session::Millis;
use transcripts::source::delta::open_regular;
use transcripts::source::discover::stamp;

/// The file whose beginning the client gives to every session.
pub(crate) const INDEX_NAME: &str = "MEMORY.md";
/// How much of it the client gives, in bytes and lines.
const LOADED_BYTES: u64 = 25_000;
const LOADED_LINES: usize = 200;
/// How much of a file is read, in bytes.
pub(super) const MAX_BYTES: u64 = 40_000;
/// How many files of a folder are read, and of all folders together.
const MAX_IN_FOLDER: usize = 100;
const MAX_FILES: usize = 2_000;

/// A memory file on disk.
#[derive(Debug, Clone)]
pub(crate) struct MemoryPath {
    pub(crate) path: PathBuf,
    /// The folder of the project's transcripts, in which its `memory/` lies.
    pub(crate) folder: PathBuf,
    pub(crate) size: u64,
    /// Another value once the file was written, replaced or touched.
    pub(crate) stamp: i64,
    /// When it was last written.
    pub(crate) at: Millis,
}

/// The memory files of all projects below these config directories, by path. Nothing of them is read.
pub(crate) fn memory_paths(claude_dirs: &[PathBuf], exclude: &GlobSet) -> Vec<MemoryPath> {
    let mut folders: Vec<PathBuf> = claude_dirs.iter().flat_map(|dir| entries(&dir.join("projects"))).collect();
    folders.sort();
    folders.dedup();
    let mut all: Vec<MemoryPath> = folders.iter().flat_map(|folder| files_of(folder, exclude)).collect();
    all.truncate(MAX_FILES);
    all
}

/// Those of one folder of transcripts, the index first.
fn files_of(folder: &Path, exclude: &GlobSet) -> Vec<MemoryPath> {
    let mut files = entries(&folder.join("memory"));
    files.retain(|file| file.extension().is_some_and(|ending| ending == "md") && !exclude.is_match(file));
    // Paths that are no text could not be told apart in the index.
    files.retain(|file| file.to_str().is_some());
    files.sort_by_key(|file| (file.file_name().is_none_or(|name| name != INDEX_NAME), file.clone()));
    files.truncate(MAX_IN_FOLDER);
    files.iter().filter_map(|file| described(folder, file)).collect()
}

pub(super) fn described(folder: &Path, file: &Path) -> Option<MemoryPath> {
    let meta = fs::metadata(resolved(folder, file)?).ok().filter(fs::Metadata::is_file)?;
    let modified = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Some(MemoryPath {
        path: file.to_owned(),
        folder: folder.to_owned(),
        size: meta.len(),
        stamp: stamp(&meta),
        at: modified.as_millis() as Millis,
    })
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The text of a memory file, as far as it is read. `None` if it is gone, or lies outside of its folder of transcripts.
pub(crate) fn read(file: &Path) -> Option<String> {
    read_inside(file.parent()?.parent()?, file)
}

/// The part of the index file in a folder of transcripts that the client gives to every session; `None` if there is none, or it is excluded.
pub(crate) fn loaded_text(folder: &Path, exclude: &GlobSet) -> Option<String> {
    let file = folder.join("memory").join(INDEX_NAME);
    if exclude.is_match(&file) {
        return None;
    }
    Some(loaded_part(&beginning(folder, &file, LOADED_BYTES)?).to_owned())
}

/// The part of an index file's text that the client gives to every session.
fn loaded_part(text: &str) -> &str {
    let text = &text[..text.floor_char_boundary(LOADED_BYTES as usize)];
    let end: usize = text.split_inclusive('\n').take(LOADED_LINES).map(str::len).sum();
    text[..end].trim_end_matches('\n')
}

/// The beginning of a file below a folder. A link that leads out of the folder is not followed.
pub(crate) fn read_inside(root: &Path, file: &Path) -> Option<String> {
    beginning(root, file, MAX_BYTES)
}

fn beginning(root: &Path, file: &Path, most: u64) -> Option<String> {
    let mut bytes = Vec::new();
    open_regular(&resolved(root, file)?).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Where a file below a folder lies, unless that is outside of it.
fn resolved(root: &Path, file: &Path) -> Option<PathBuf> {
    let (root, file) = (root.canonicalize().ok()?, file.canonicalize().ok()?);
    file.starts_with(&root).then_some(file)
}

/// The client's name of the folder below `projects/` in which it keeps the transcripts of who works in `path`.
pub(crate) fn folder_of(path: &str) -> String {
    path.chars().flat_map(|c| std::iter::repeat_n(if c.is_ascii_alphanumeric() { c } else { '-' }, c.len_utf16())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_called_by_the_path_without_its_signs() {
        assert_eq!(folder_of("/home/dév/wk.i/😀"), "-home-d-v-wk-i---");
    }

    #[test]
    fn files_are_found_in_bounds_and_no_link_leads_out() {
        let home = tempfile::tempdir().expect("a home");
        let [memory, empty] = ["projects/-a/memory", "projects/-b/memory"].map(|name| home.path().join(name));
        [&memory, &empty].into_iter().for_each(|dir| fs::create_dir_all(dir).expect("a folder"));
        for name in ["deploy.md", "MEMORY.md", "notes.txt"] {
            fs::write(memory.join(name), name).expect("a file");
        }
        fs::write(home.path().join("secret.md"), "secret").expect("a file");
        std::os::unix::fs::symlink(home.path().join("secret.md"), memory.join("out.md")).expect("a link");
        std::os::unix::fs::symlink(memory.join("deploy.md"), memory.join("within.md")).expect("a link");
        fs::create_dir(memory.join("folder.md")).expect("a folder");
        let names = |exclude: &GlobSet| -> Vec<String> {
            let all = memory_paths(&[home.path().to_owned()], exclude);
            all.iter().map(|file| file.path.file_name().expect("a name").to_string_lossy().into_owned()).collect()
        };
        assert_eq!(names(&GlobSet::empty()), ["MEMORY.md", "deploy.md", "within.md"]);
        assert_eq!(read(&memory.join("out.md")), None);
        assert_eq!(read(&memory.join("within.md")).as_deref(), Some("deploy.md"));
        let mut globs = globset::GlobSetBuilder::new();
        globs.add(globset::Glob::new("**/deploy.md").expect("a glob"));
        assert_eq!(names(&globs.build().expect("globs")), ["MEMORY.md", "within.md"]);
        for n in 0..300 {
            fs::write(memory.join(format!("{n}.md")), "x".repeat(50_000)).expect("a file");
        }
        assert_eq!(names(&GlobSet::empty()).len(), MAX_IN_FOLDER);
        assert_eq!(read(&memory.join("7.md")).expect("a text").len() as u64, MAX_BYTES);
    }

    #[test]
    fn the_client_gives_so_many_lines_and_bytes() {
        assert_eq!(loaded_part(&"- x\n".repeat(300)).lines().count(), LOADED_LINES);
        assert_eq!(loaded_part(&"é".repeat(50_000)).len() as u64, LOADED_BYTES);
        assert_eq!(loaded_part("a\nb"), "a\nb");
    }
}
