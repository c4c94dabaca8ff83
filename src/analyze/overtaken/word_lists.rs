//! Lists of words by which sentences are told apart, and in which of them a word is: looked up once a word, whatever sentences it is in.

use std::sync::LazyLock;

use hashbrown::{HashMap, HashSet};

/// A list that words of all sentences are looked up in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordList {
    Unsure,
    Leaving,
    Left,
    Being,
    Moving,
    ValueVerbs,
    Negations,
    Causes,
}

impl WordList {
    const ALL: [(Self, &[&str]); 8] = [
        (Self::Unsure, &UNSURE),
        (Self::Leaving, &LEAVING),
        (Self::Left, &LEFT),
        (Self::Being, &BEING),
        (Self::Moving, &MOVING),
        (Self::ValueVerbs, &VALUE_VERBS),
        (Self::Negations, &NEGATIONS),
        (Self::Causes, &CAUSES),
    ];
}

/// The lists that a word is in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WordLists {
    /// A bit for each [`WordList`].
    lists: u32,
    /// The parts of a system that it names, a bit each.
    pub(super) places: u32,
}

impl WordLists {
    /// Of a word in lower case.
    pub(super) fn of(word: &str) -> Self {
        static BY_WORD: LazyLock<HashMap<&str, WordLists>> = LazyLock::new(|| {
            let mut by_word: HashMap<&str, WordLists> = HashMap::new();
            for (list, words) in WordList::ALL {
                words.iter().for_each(|word| by_word.entry(word).or_default().lists |= 1 << list as u32);
            }
            for (place, names) in PLACES.iter().enumerate() {
                names.iter().for_each(|name| by_word.entry(name).or_default().places |= 1 << place);
            }
            by_word
        });
        BY_WORD.get(word).copied().unwrap_or_default()
    }

    pub(super) fn has(self, list: WordList) -> bool {
        self.lists & 1 << list as u32 != 0
    }
}

/// Does a stem say nothing of what a sentence is about?
pub(super) fn is_generic(stem: &str) -> bool {
    static ALL: LazyLock<HashSet<&str>> = LazyLock::new(|| GENERIC.into_iter().collect());
    ALL.contains(stem)
}

/// Words that say nothing of what a sentence is about, as [`distinctive_words`](text::tokenize::distinctive_words) stems them.
const GENERIC: [&str; 65] = [
    "us", "using", "used", "instead", "longer", "anymor", "new", "old", "work", "chang", "switch", "mov", "migrat", "replac",
    "remov", "delet", "drop", "revert", "add", "updat", "set", "run", "fix", "everyth", "everywher", "entir", "complet", "whol",
    "thing", "way", "code", "current", "today", "yesterday", "again", "back", "off", "still", "already", "always", "never",
    "really", "actual", "last", "first", "next", "week", "day", "went", "gone", "both", "each", "every", "decid", "choos", "chos",
    "repo", "project", "keep", "kept", "need", "cod", "fil", "lin", "issu",
];

/// Does a word tell how far some work is: `pushed`, `merged`, `done`?
pub(super) fn is_state_of_work(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ed") && !word.ends_with("eed") || STATES_OF_WORK.contains(&word)
}

/// Is a stem one that is said of any work?
pub(super) fn is_of_any_work(stem: &str) -> bool {
    static ALL: LazyLock<HashSet<&str>> = LazyLock::new(|| OF_ANY_WORK.into_iter().map(text::tokenize::stem).collect());
    ALL.contains(stem) || is_generic(stem)
}

/// Words that tell how far some work is, besides participles in `-ed`.
const STATES_OF_WORK: [&str; 16] = [
    "done", "built", "run", "written", "sent", "shipped", "green", "clean", "live", "ready", "finished", "online", "complete",
    "up", "begun", "out",
];
/// Words that are said of any work: what is done with it, and what it is made of.
const OF_ANY_WORK: [&str; 61] = [
    "pushed", "committed", "merged", "deployed", "released", "published", "tested", "done", "built", "build", "written", "sent",
    "ship", "green", "clean", "live", "ready", "finished", "verified", "checked", "reviewed", "installed", "staged", "implemented",
    "rebased", "documented", "formatted", "passed", "pass", "commit", "lint", "linter", "ci", "branch", "main", "master", "origin",
    "remote", "upstream", "local", "locally", "production", "prod", "feature", "docs", "script", "patch", "pr", "pull", "request",
    "session", "ticket", "task", "step", "version", "git", "github", "repository", "complains", "draft", "item",
];

/// Words by which a sentence does not state what it says.
const UNSURE: [&str; 24] = [
    "could", "would", "might", "may", "maybe", "perhaps", "possibly", "consider", "considered", "considering", "option",
    "alternatively", "propose", "proposed", "suggest", "suggests", "suggested", "recommend", "should", "if", "unless", "whether",
    "wondering", "eventually",
];

/// Verbs that leave their object.
pub(super) const LEAVING: [&str; 38] = [
    "drop", "dropped", "dropping", "drops", "remove", "removed", "removes", "removing", "delete", "deleted", "deletes", "reverted",
    "revert", "reverts", "retired", "retire", "scrapped", "scrap", "abandoned", "abandon", "ditched", "ditch", "killed", "kill",
    "ripped", "rip", "stopped", "stop", "deprecated", "nuked", "replaced", "replaces", "replacing", "replace", "threw", "swapped",
    "undid", "supersedes",
];
/// The same, said of what was left.
pub(super) const LEFT: [&str; 21] = [
    "gone", "removed", "deleted", "dropped", "reverted", "replaced", "retired", "obsolete", "dead", "deprecated", "scrapped",
    "abandoned", "ripped", "unused", "history", "out", "superseded", "undone", "cut", "emptied", "killed",
];
/// Forms of "to be", and what else stands before what was done with something.
pub(super) const BEING: [&str; 10] = ["is", "are", "was", "were", "been", "be", "got", "gets", "has", "have"];
/// Verbs that go from one thing to another.
pub(super) const MOVING: [&str; 26] = [
    "switch", "switched", "switching", "switches", "move", "moved", "moves", "moving", "migrate", "migrated", "migrates",
    "migrating", "change", "changed", "convert", "converted", "port", "ported", "rewrote", "rewritten", "went", "go", "going",
    "renamed", "swapped", "rename",
];
/// Words beside which a sentence tells that a value changed.
const VALUE_VERBS: [&str; 23] = [
    "raise", "raised", "raises", "lower", "lowered", "lowers", "bump", "bumped", "bumps", "increase", "increased", "decrease",
    "decreased", "reduce", "reduced", "cut", "change", "changed", "set", "extended", "shortened", "upgraded", "tightened",
];
const NEGATIONS: [&str; 14] =
    ["not", "never", "no", "without", "don't", "doesn't", "didn't", "isn't", "aren't", "wasn't", "won't", "can't", "cannot", "nor"];
/// Words that say what causes something.
const CAUSES: [&str; 9] = ["cause", "caused", "causes", "culprit", "due", "because", "reason", "come", "comes"];
/// The parts of a system that are told apart: a statement about one says nothing about another.
const PLACES: [&[&str]; 19] = [
    &["api"],
    &["worker", "workers"],
    &["web", "website"],
    &["mobile"],
    &["ios"],
    &["android"],
    &["staging"],
    &["production", "prod"],
    &["frontend", "client"],
    &["backend", "server"],
    &["test", "tests", "testing"],
    &["dev", "development", "local", "locally"],
    &["ci"],
    &["admin"],
    &["cli"],
    &["docs"],
    &["linux"],
    &["windows", "macos"],
    &["branch", "branches"],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_in_the_lists_that_hold_it_and_in_no_other() {
        let listed = WordList::ALL.iter().flat_map(|(_, words)| words.iter()).chain(PLACES.iter().copied().flatten());
        for word in listed.chain(&["", "sluice", ","]) {
            let lists = WordLists::of(word);
            for (list, words) in WordList::ALL {
                assert_eq!(lists.has(list), words.contains(word), "{word} in {list:?}");
            }
            for (place, names) in PLACES.iter().enumerate() {
                assert_eq!(lists.places & 1 << place != 0, names.contains(word), "{word} in {names:?}");
            }
        }
        assert!(GENERIC.iter().all(|stem| is_generic(stem)) && !is_generic("sluice"));
    }
}
