//! What came of words that are still told: what they left open was closed, a later statement overtakes them, or git shows what became of
//! what they name.

use std::collections::{HashMap, HashSet};

use crate::model::author::Author;
use crate::model::item_state::Closing;
use crate::model::observation::Observation;
use text::clean::id8;
use transcripts::client::Client;
use transcripts::session::Millis;

/// Who made a statement, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StatedBy {
    /// The user, in the session with this id.
    User(String),
    /// The assistant of this client, in the session with this id.
    Assistant(String, Client),
    /// A model that digested the session with this id.
    Model(String),
    /// A note with this id, by whoever wrote it.
    Note(String, Author),
}

impl StatedBy {
    /// `the user in session 4b1c2d3e`
    pub(crate) fn text(&self) -> String {
        match self {
            Self::User(session) => format!("the user in session {}", id8(session)),
            Self::Assistant(session, client) => format!("{} in session {}", client.assistant(), id8(session)),
            Self::Model(session) => format!("the digest of session {}", id8(session)),
            Self::Note(id, author) => format!("note {id} ({})", author.text()),
        }
    }

    /// The id that opens where it stands, whole: of a session or a note.
    pub(crate) fn place(&self) -> &str {
        match self {
            Self::User(id) | Self::Assistant(id, _) | Self::Model(id) | Self::Note(id, _) => id,
        }
    }
}

/// A sentence, by whom and when.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Statement {
    pub by: StatedBy,
    pub at: Millis,
    pub text: String,
}

impl Statement {
    /// `Claude in session 4b1c2d3e, 2026-11-19: …`
    pub(crate) fn told(&self, day: impl Fn(Millis) -> String) -> String {
        format!("{}, {}: {}", self.by.text(), day(self.at), self.text)
    }
}

/// That a statement overtakes an earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overtaken {
    /// By which the user can say that it does not.
    pub id: String,
    pub earlier: Statement,
    pub later: Statement,
}

/// What came after words that are still told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SinceThen {
    Closed(Closing),
    Overtaken(Overtaken),
    Observed(Observation),
}

impl SinceThen {
    /// When, if that is known.
    pub(crate) fn at(&self) -> Option<Millis> {
        match self {
            Self::Closed(closing) => closing.at,
            Self::Overtaken(overtaken) => Some(overtaken.later.at),
            Self::Observed(one) => Some(one.at()),
        }
    }

    /// The words that no longer hold; of what git showed the name.
    pub(crate) fn words(&self) -> &str {
        match self {
            Self::Closed(closing) => &closing.text,
            Self::Overtaken(overtaken) => &overtaken.earlier.text,
            Self::Observed(one) => &one.name,
        }
    }

    /// `closed by the user, 2026-11-21: …`, `Claude in session 4b1c2d3e, 2026-11-19: …`
    pub(crate) fn told(&self, day: impl Fn(Millis) -> String) -> String {
        match self {
            Self::Closed(closing) => closing.told(day),
            Self::Overtaken(overtaken) => overtaken.later.told(day),
            Self::Observed(one) => one.told(day),
        }
    }

    /// The same, as a line beside words that still say it: `since then: closed by the user, 2026-11-21: …`.
    pub(crate) fn line(&self, day: impl Fn(Millis) -> String) -> String {
        format!("since then: {}", self.told(day))
    }
}

/// For each statement that was overtaken the one that stands: what overtakes it may be overtaken itself.
pub(crate) fn standing(all: Vec<Overtaken>) -> Vec<Overtaken> {
    // The newest of those that overtake a statement.
    let mut next: HashMap<&Statement, &Overtaken> = HashMap::new();
    for one in &all {
        let newest = next.entry(&one.earlier).or_insert(one);
        if (one.later.at, &one.id) > (newest.later.at, &newest.id) {
            *newest = one;
        }
    }
    let last = |first: &Statement| {
        let (mut last, mut at) = (None, first);
        // Each is later than the one before, so this ends.
        while let Some(one) = next.get(at) {
            last = Some(one);
            at = &one.later;
        }
        last.map(|one: &&Overtaken| one.later.clone())
    };
    let mut seen: HashSet<&Statement> = HashSet::new();
    let first = all.iter().filter(|one| seen.insert(&one.earlier));
    first.map(|one| Overtaken { later: last(&one.earlier).unwrap_or_else(|| one.later.clone()), ..one.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(session: &str, at: Millis, text: &str) -> Statement {
        Statement { by: StatedBy::Assistant(session.into(), Client::ClaudeCode), at, text: text.into() }
    }

    #[test]
    fn of_a_chain_the_end_is_told_beside_each_statement() {
        let (redis, lru, disk) =
            (statement("a", 1, "Redis."), statement("b", 2, "An LRU, no longer Redis."), statement("c", 3, "No LRU."));
        let link = |id: &str, earlier: &Statement, later: &Statement| Overtaken {
            id: id.into(),
            earlier: earlier.clone(),
            later: later.clone(),
        };
        let found = standing(vec![link("o1", &redis, &lru), link("o2", &lru, &disk)]);
        assert_eq!(found, [link("o1", &redis, &disk), link("o2", &lru, &disk)]);
    }

    #[test]
    fn of_several_that_overtake_a_statement_the_newest_stands_and_it_is_told_once() {
        let redis = statement("a", 1, "Redis.");
        let link = |id: &str, session: &str, at: Millis| Overtaken {
            id: id.into(),
            earlier: redis.clone(),
            later: statement(session, at, "No longer Redis."),
        };
        let found = standing(vec![link("o1", "b", 2), link("o3", "d", 3), link("o2", "c", 3)]);
        assert_eq!(found, [Overtaken { id: "o1".into(), ..link("o3", "d", 3) }]);
    }

    #[test]
    fn lines_say_who_and_when() {
        let day = |_| "2026-11-19".to_owned();
        let later = statement("4b1c2d3e-aaaa", 2, "An LRU.");
        let one = SinceThen::Overtaken(Overtaken { id: "o1".into(), earlier: statement("a", 1, "Redis."), later });
        assert_eq!(one.line(day), "since then: Claude in session 4b1c2d3e, 2026-11-19: An LRU.");
        assert_eq!((one.words(), one.at()), ("Redis.", Some(2)));
        assert_eq!(StatedBy::Assistant("4b1c2d3e-aaaa".into(), Client::Codex).text(), "Codex in session 4b1c2d3e");
    }
}
