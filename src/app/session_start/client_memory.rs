//! What Claude Code's own memory of a project says already, for not telling it twice.
//!
//! The client gives the beginning of `memory/MEMORY.md` to every session. recall only compares its own statements with it here: nothing of
//! the file is printed or passed on, and it is never written.

use std::cell::OnceCell;

use crate::analyze::rules::{RuleWords, instruction_of, statements_of};
use crate::app::notes::{has_same_limits, is_contained_in};
use crate::config::Config;
use crate::inputs::client_memory::{folder_of, loaded_text};

/// The statements of a project's memory.
#[derive(Debug, Default)]
pub(crate) struct ClientMemory {
    statements: Vec<String>,
    /// What each of them wants and forbids, once somebody asks for it.
    words: OnceCell<Vec<Vec<RuleWords>>>,
}

impl ClientMemory {
    /// The memory that a session in `cwd` gets for the project `key`. A file that is missing, excluded or unreadable counts as empty.
    pub(crate) fn of(config: &Config, key: &str, cwd: &str) -> Self {
        let mut folders = vec![folder_of(key)];
        if cwd != key {
            folders.push(folder_of(cwd));
        }
        let places = config.claude_dirs.iter().flat_map(|dir| folders.iter().map(move |folder| dir.join("projects").join(folder)));
        let texts = places.filter_map(|place| loaded_text(&place, &config.exclude_transcripts));
        Self::of_text(&texts.collect::<Vec<_>>().join("\n"))
    }

    fn of_text(text: &str) -> Self {
        Self { statements: statements(text), words: OnceCell::new() }
    }

    /// Is this statement already in the memory? A standing instruction also is if one there wants and forbids all that it does.
    pub(crate) fn says(&self, text: &str) -> bool {
        self.statements.iter().any(|statement| is_contained_in(text, statement))
            || instruction_of(text).is_some_and(|asked| self.covers(text, &asked))
    }

    fn covers(&self, text: &str, asked: &RuleWords) -> bool {
        let mut known = self.statements.iter().zip(self.words());
        known.any(|(said, words)| words.iter().any(|words| asked.is_within(words)) && has_same_limits(text, said))
    }

    /// What its statements want and forbid.
    pub(crate) fn rules(&self) -> impl Iterator<Item = RuleWords> + '_ {
        self.words().iter().flatten().cloned()
    }

    fn words(&self) -> &[Vec<RuleWords>] {
        self.words.get_or_init(|| self.statements.iter().map(|said| statements_of(said)).collect())
    }
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
        let memory = ClientMemory::of_text(
            "# Memory\n\n- [Keyset pagination](keyset.md) — use keyset pagination from now on, always\n- Tests run with make. Port 8081.\n\
             - use pnpm, not npm\n- never deploy to staging from a branch\n- Always lint only the docs",
        );
        for said in [
            "Use keyset pagination from now on", "We use keyset pagination.", "The tests run with make", "port 8081",
            "I told you: pnpm, not npm!", "Don't deploy to staging from a branch",
        ] {
            assert!(memory.says(said), "{said}");
        }
        for new in [
            "Never use keyset pagination",
            "Port 8082",
            "Tests run with just",
            "Keyset pagination of orders",
            "always",
            "",
            "I told you: npm, not pnpm!",
            "Always deploy to staging from a branch",
            "Always lint the docs",
            "Never deploy to staging 2 from a branch",
        ] {
            assert!(!memory.says(new), "{new}");
        }
        assert!(!ClientMemory::default().says("anything at all"));
    }
}
