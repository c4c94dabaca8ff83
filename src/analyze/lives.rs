//! One life for an open item: which items of a project's sessions are the same one, said again. Pure.
//!
//! ## Invariants
//! - A function of the set of sessions and closings, in the order in which the sessions began: whatever order they were digested in.
//! - A note of what is to be done is an item, too: it joins what was open when it was written. Its life has the note's id, and holds no other
//!   note.
//! - Any other life has the id of its first item. Later items join the earliest life whose first words say the same, so that lives do not drift.
//! - A life that is closed takes in nothing of sessions that began later: who says it again then, opens it anew.

use std::collections::{BTreeSet, HashMap};

use crate::analyze::distinct::normalized;
use crate::analyze::prose::all_sentences;
use crate::analyze::wording::Wording;
use text::tokenize::{covered_by, distinctive_words};
use transcripts::session::Millis;

/// What a session left open and closed.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionItems {
    pub(crate) began_at: Millis,
    /// Ids and words of what it left open, in the order of its digest.
    pub(crate) items: Vec<(String, String)>,
    /// Ids of items that it closed.
    pub(crate) closes: BTreeSet<String>,
    /// It is no session, but a note, which is its only item.
    pub(crate) is_note: bool,
}

/// A life under way.
struct Life {
    id: String,
    normal: String,
    wording: Wording,
    numbers: BTreeSet<String>,
    /// When somebody closed it on request.
    closed_at: Option<Millis>,
    /// A session closed it.
    is_over: bool,
    /// A note is in it.
    is_noted: bool,
}

impl Life {
    fn begun_by(id: &str, text: &str) -> Self {
        Self {
            id: id.to_owned(),
            normal: normalized(text),
            wording: Wording::of(text),
            numbers: numbers(text),
            closed_at: None,
            is_over: false,
            is_noted: false,
        }
    }

    fn is_open_at(&self, at: Millis) -> bool {
        !self.is_over && self.closed_at.is_none_or(|closed| at <= closed)
    }

    /// Numbers tell apart what has all other words in common: `issue 12` and `issue 13`.
    fn says(&self, other: &Self) -> bool {
        let same_words = !self.normal.is_empty() && self.normal == other.normal;
        same_words || self.numbers == other.numbers && self.wording.says_same(&other.wording)
    }
}

/// The words of a text that hold a digit.
fn numbers(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().any(|c| c.is_ascii_digit()));
    words.map(str::to_lowercase).collect()
}

/// The life of each item, by the item's id. Sessions stand in the order in which they began; `closed` tells when items were closed on
/// request.
pub(crate) fn lives(sessions: &[SessionItems], closed: &HashMap<String, Millis>) -> HashMap<String, String> {
    let mut lives: Vec<Life> = Vec::new();
    let mut index = LifeIndex::default();
    let mut life_of: HashMap<String, usize> = HashMap::new();
    for session in sessions {
        for (id, text) in &session.items {
            let item = Life::begun_by(id, text);
            let has_room = |life: &Life| !session.is_note || !life.is_noted;
            let joins = |at: &usize| {
                let life = &lives[*at];
                life.is_open_at(session.began_at) && has_room(life) && life.says(&item)
            };
            let at = index.candidates(&item).into_iter().find(joins).unwrap_or_else(|| {
                index.add(&item, lives.len());
                lives.push(item);
                lives.len() - 1
            });
            let life = &mut lives[at];
            if session.is_note {
                life.id.clone_from(id);
                life.is_noted = true;
            }
            if let Some(when) = closed.get(id) {
                life.closed_at = Some(life.closed_at.map_or(*when, |known| known.min(*when)));
            }
            life_of.insert(id.clone(), at);
        }
        for at in session.closes.iter().filter_map(|id| life_of.get(id)) {
            lives[*at].is_over = true;
        }
    }
    life_of.into_iter().map(|(id, at)| (id, lives[at].id.clone())).collect()
}

/// An item of fewer distinctive words cannot be told in other words.
const MIN_SAID_WORDS: usize = 3;
/// A sentence says an item if it holds this share of its distinctive words.
const SAID_SHARE: f64 = 0.75;

/// The words of texts, by sentence: they are asked about many items.
#[derive(Debug)]
pub(crate) struct SaidSentences {
    sentences: Vec<BTreeSet<String>>,
    /// Those of all of them: most items are none of these.
    all: BTreeSet<String>,
}

impl SaidSentences {
    pub(crate) fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let sentences = texts.into_iter().flat_map(|text| all_sentences(text).into_iter().map(|one| distinctive_words(&one)));
        let sentences: Vec<BTreeSet<String>> = sentences.collect();
        let all = sentences.iter().flatten().cloned().collect();
        Self { sentences, all }
    }

    /// Does a sentence say what an item with these distinctive words says?
    pub(crate) fn say(&self, item: &BTreeSet<String>) -> bool {
        let holds = |words: &BTreeSet<String>| covered_by(item, words) >= SAID_SHARE;
        item.len() >= MIN_SAID_WORDS && holds(&self.all) && self.sentences.iter().any(holds)
    }
}

/// Lives by their words: what says the same shares most of them.
#[derive(Default)]
struct LifeIndex {
    by_word: HashMap<u32, Vec<usize>>,
    by_text: HashMap<String, Vec<usize>>,
}

impl LifeIndex {
    fn add(&mut self, life: &Life, at: usize) {
        life.wording.words().for_each(|word| self.by_word.entry(word).or_default().push(at));
        self.by_text.entry(life.normal.clone()).or_default().push(at);
    }

    /// Earliest first.
    fn candidates(&self, item: &Life) -> BTreeSet<usize> {
        let with_words = item.wording.words().filter_map(|word| self.by_word.get(&word)).flatten();
        with_words.chain(self.by_text.get(&item.normal).into_iter().flatten()).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EXPORT: &str = "Migrate the admin export of invoices to keyset pagination";

    fn session(began_at: Millis, items: &[(&str, &str)], closes: &[&str]) -> SessionItems {
        let items = items.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect();
        SessionItems { began_at, items, closes: closes.iter().map(|id| (*id).to_owned()).collect(), is_note: false }
    }

    fn note(at: Millis, id: &str) -> SessionItems {
        SessionItems { is_note: true, ..session(at, &[(id, EXPORT)], &[]) }
    }

    fn words_id(at: usize) -> String {
        format!("n{at}")
    }

    fn life(sessions: &[SessionItems], closed: &[(&str, Millis)], id: &str) -> String {
        let closed = closed.iter().map(|(id, at)| ((*id).to_owned(), *at)).collect();
        lives(sessions, &closed)[id].clone()
    }

    #[test]
    fn who_says_the_same_again_joins_the_first() {
        for (text, joins) in [
            (EXPORT, true),
            ("migrate the admin export of invoices to KEYSET pagination.", true),
            ("Migrate the invoices' admin export to pagination by keyset", true),
            ("Do not migrate the admin export of invoices to keyset pagination", false),
            ("Migrate the admin export of orders to offset pagination", false),
            ("Migrate the admin export of invoices to keyset pagination in 2 steps", false),
            ("", false),
        ] {
            let all = [session(1, &[("n1", EXPORT)], &[]), session(2, &[("n2", text)], &[])];
            assert_eq!(life(&all, &[], "n2") == "n1", joins, "{text}");
        }
    }

    #[test]
    fn a_text_says_an_item_in_a_sentence_of_its_own() {
        for (text, says) in [
            ("The list is sorted. The admin export of the invoices has still to be migrated to keyset pagination.", true),
            ("Left:\n- migrate the admin export of invoices to keyset pagination", true),
            ("The admin export is sorted. The invoices are paged by keyset.", false),
            ("", false),
        ] {
            assert_eq!(SaidSentences::of([text]).say(&distinctive_words(EXPORT)), says, "{text}");
        }
        assert!(!SaidSentences::of(["Ask Kim."]).say(&distinctive_words("Ask Kim")), "too few words to tell");
    }

    #[test]
    fn numbers_tell_items_apart_and_few_words_have_to_be_the_same() {
        let twelve = "Fix issue 12 of the billing export page of the shop";
        let pairs =
            [(twelve, "Fix issue 13 of the billing export page of the shop"), ("Fix tests", "Run tests"), ("Ask Kim", "Ask Lee")];
        for (one, other) in pairs {
            assert_eq!(life(&[session(1, &[("n1", one), ("n2", other)], &[])], &[], "n2"), "n2", "{one} / {other}");
        }
        assert_eq!(life(&[session(1, &[("n1", "Fix tests")], &[]), session(2, &[("n2", "fix tests!")], &[])], &[], "n2"), "n1");
    }

    #[test]
    fn a_closed_life_is_over_for_sessions_that_began_later_and_for_no_other() {
        let said = |at, id| session(at, &[(id, EXPORT)], &[]);
        let by_session = [said(1, "n1"), session(2, &[("n2", EXPORT)], &["n1"]), said(3, "n3"), said(4, "n4")];
        assert_eq!(["n2", "n3", "n4"].map(|id| life(&by_session, &[], id)), ["n1", "n3", "n3"]);
        let by_user = [said(1, "n1"), said(5, "n2"), said(6, "n3")];
        assert_eq!(["n2", "n3"].map(|id| life(&by_user, &[("n1", 5)], id)), ["n1", "n3"]);
        // Whoever closes a later mention closes all of it.
        assert_eq!(life(&[said(1, "n1"), said(2, "n2"), session(3, &[], &["n2"]), said(4, "n4")], &[], "n4"), "n4");
    }

    #[test]
    fn a_note_gives_its_id_to_what_is_open_when_it_is_written_and_to_what_is_said_later() {
        let said = |at, id| session(at, &[(id, EXPORT)], &[]);
        let all = [said(1, "n1"), note(2, "m1"), said(3, "n2"), note(4, "m2"), said(5, "n3")];
        assert_eq!(["n1", "m1", "n2", "m2", "n3"].map(|id| life(&all, &[], id)), ["m1", "m1", "m1", "m2", "m1"]);
        assert_eq!(["n1", "n2"].map(|id| life(&all, &[("m1", 2)], id)), ["m1", "m2"], "closed as it was written");
        let over = [said(1, "n1"), session(2, &[], &["n1"]), note(3, "m1"), said(4, "n2")];
        assert_eq!(["n1", "m1", "n2"].map(|id| life(&over, &[], id)), ["n1", "m1", "m1"]);
    }

    proptest! {
        /// Every item has a life, which is that of its first item, and one that says the same as an open one has the same.
        #[test]
        fn a_life_has_the_id_of_its_first_item(words in prop::collection::vec("[abc]{2} [abc]{2} [abc]{2}", 1..30)) {
            let sessions: Vec<SessionItems> =
                words.iter().enumerate().map(|(at, text)| session(at as Millis, &[(&words_id(at), text)], &[])).collect();
            let lives = lives(&sessions, &HashMap::new());
            prop_assert_eq!(lives.len(), words.len());
            for (at, text) in words.iter().enumerate() {
                let first: usize = lives[&words_id(at)][1..].parse().unwrap();
                prop_assert!(first <= at && lives[&words_id(first)] == words_id(first));
                let earlier = words[..at].iter().position(|other| other == text);
                prop_assert!(earlier.is_none_or(|other| first <= other), "{at} joins {first}");
            }
        }
    }
}
