//! Claude Code's own memory of a project, to avoid repeating what it already says.
//!
//! The client keeps `memory/MEMORY.md` for a project and injects its beginning into every session. recall only compares its own
//! statements with it: nothing of the file is stored, printed or passed on, and it is never written.

use std::io::Read;
use std::path::Path;

use crate::app::notes::is_contained_in;
use crate::config::Config;
use crate::source::delta::open_regular;

/// How much of the file the client injects, in bytes and lines.
const MAX_BYTES: u64 = 25_000;
const MAX_LINES: usize = 200;

/// The statements of a project's memory.
#[derive(Debug, Default)]
pub(crate) struct ClientMemory(Vec<String>);

impl ClientMemory {
    /// The memory that a session in `cwd` gets for the project `key`. A file that is missing, excluded or unreadable counts as empty.
    pub(crate) fn of(config: &Config, key: &str, cwd: &str) -> Self {
        Self(memory_texts(config, key, cwd).iter().flat_map(|text| statements(text)).collect())
    }

    /// Is this statement already in the memory?
    pub(crate) fn says(&self, text: &str) -> bool {
        self.0.iter().any(|statement| is_contained_in(text, statement))
    }
}

/// The beginnings of the files that the client keeps for the project `key`, as a session in `cwd` gets them.
pub(crate) fn memory_texts(config: &Config, key: &str, cwd: &str) -> Vec<String> {
    let mut folders = vec![folder_of(key)];
    if cwd != key {
        folders.push(folder_of(cwd));
    }
    let places = config.claude_dirs.iter().flat_map(|dir| folders.iter().map(move |folder| dir.join("projects").join(folder)));
    let files = places.map(|place| place.join("memory/MEMORY.md")).filter(|file| !config.exclude_transcripts.is_match(file));
    files.filter_map(|file| read(&file)).collect()
}

/// The client's folder name below `projects/` for a path.
pub(super) fn folder_of(path: &str) -> String {
    path.chars().flat_map(|c| std::iter::repeat_n(if c.is_ascii_alphanumeric() { c } else { '-' }, c.len_utf16())).collect()
}

fn read(file: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    open_regular(file).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(text.lines().take(MAX_LINES).collect::<Vec<_>>().join("\n"))
}

/// Its lines and the sentences in them, since one line may hold several statements.
fn statements(text: &str) -> Vec<String> {
    let says = |part: &&str| part.chars().any(char::is_alphanumeric);
    let parts = text.lines().flat_map(|line| line.split(". ").chain(line.split(" — ")).chain([line]));
    parts.filter(says).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_memory_says_is_known_in_other_words_and_its_opposite_is_not() {
        let memory = ClientMemory(statements(
            "# Memory\n\n- [Keyset pagination](keyset.md) — use keyset pagination from now on, always\n- Tests run with make. Port 8081.",
        ));
        for said in ["Use keyset pagination from now on", "We use keyset pagination.", "The tests run with make", "port 8081"] {
            assert!(memory.says(said), "{said}");
        }
        for new in ["Never use keyset pagination", "Port 8082", "Tests run with just", "Keyset pagination of orders", "always", ""]
        {
            assert!(!memory.says(new), "{new}");
        }
        assert!(!ClientMemory::default().says("anything at all"));
        assert_eq!(folder_of("/home/dév/wk.i/😀"), "-home-d-v-wk-i---");
    }
}
