//! What the user said is not so: statements of a model, by which words a digest made anew says them again, and replies. Pure.

use crate::analyze::wording::Wording;
use crate::model::digest::{Claim, Digest, UNTITLED, statement_id, title_id};
use text::clean::shorten;
use transcripts::session::{RecordKey, short_id};

/// The most characters of the request where it stands for a title.
const MAX_TITLE_CHARS: usize = 120;

/// A statement that is not so, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeniedStatement {
    pub(crate) id: String,
    wording: Wording,
}

/// The id under which a reply of the assistant's is taken out: that of its record, in whatever session it lies.
pub(crate) fn reply_id(row: RecordKey) -> String {
    short_id("r", &[&row.to_string()])
}

/// Does the id stand for a reply, and not for a statement of a model's?
pub(crate) fn is_reply_id(id: &str) -> bool {
    id.starts_with('r')
}

/// Does the id stand for a standing instruction of the user's?
pub(crate) fn is_instruction_id(id: &str) -> bool {
    id.starts_with('u')
}

impl DeniedStatement {
    /// A reply, known by its record alone.
    pub(crate) fn reply(row: RecordKey) -> Self {
        Self { id: reply_id(row), wording: Wording::of("") }
    }

    /// A standing instruction of the user's, known by its id alone: what a model says in the same words stays.
    pub(crate) fn rule(id: String) -> Self {
        Self { id, wording: Wording::of("") }
    }

    pub(crate) fn new(id: String, text: &str) -> Self {
        Self { id, wording: Wording::of(text) }
    }

    /// The stored format of its wording.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.wording.to_bytes()
    }

    /// Are these bytes what [`Self::to_bytes`] makes?
    pub(crate) fn is_stored_form(bytes: &[u8]) -> bool {
        matches!(bytes, [0 | 1, words @ ..] if words.len() % 4 == 0)
    }

    /// Does it look like the id of what can be denied? Those of sessions have other lengths.
    pub(crate) fn is_id(id: &str) -> bool {
        id.len() == 9 && id.starts_with(['t', 'c', 'n', 'b', 'r', 'o', 'u']) && id[1..].bytes().all(|b| b.is_ascii_hexdigit())
    }

    pub(crate) fn from_bytes(id: String, bytes: &[u8]) -> Self {
        Self { id, wording: Wording::from_bytes(bytes) }
    }

    /// Does it deny what the other one denies, in whatever words?
    pub(crate) fn says_same(&self, other: &Self) -> bool {
        self.wording == other.wording || self.wording.says_same(&other.wording)
    }

    /// Is it what the statement with this id and text says, in whatever words?
    pub(crate) fn is_said_by(&self, id: &str, text: &str) -> bool {
        self.id == id || self.wording.says_same(&Wording::of(text))
    }
}

/// A digest of a session without what is not so.
pub(crate) fn without_denied(mut digest: Digest, session: &str, denied: &[DeniedStatement]) -> Digest {
    if denied.is_empty() {
        return digest;
    }
    let is_denied = |id: &str, text: &str| denied.iter().any(|one| one.is_said_by(id, text));
    // What is told in the words of a reply goes with it.
    let quotes_denied =
        |claim: &Claim| claim.claimed.is_some() && claim.rows.iter().any(|row| denied.iter().any(|one| one.id == reply_id(*row)));
    digest.retain(|section, claim| {
        !quotes_denied(claim) && !claim.texts().any(|text| is_denied(&statement_id(session, section, text), text))
    });
    if is_denied(&title_id(session, &digest.title), &digest.title) {
        digest.title = Some(shorten(&digest.request, MAX_TITLE_CHARS))
            .filter(|asked| !asked.is_empty())
            .unwrap_or_else(|| UNTITLED.to_owned());
    }
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_words_for_the_same_are_known_and_the_opposite_is_not() {
        let denied = DeniedStatement::new("c1".into(), "The nightly export of the harbour runs on the new queue");
        let stored = DeniedStatement::from_bytes("c1".into(), &denied.to_bytes());
        assert_eq!(stored, denied);
        assert!(DeniedStatement::is_stored_form(&denied.to_bytes()) && DeniedStatement::is_stored_form(&[0]));
        assert!(![&[][..], &[7, 0], &[2], &[0, 1, 2, 3]].into_iter().any(DeniedStatement::is_stored_form));
        for (text, is_said) in [
            ("The nightly export of the harbour runs on the new queue now", true),
            ("the nightly harbour export runs on a new queue", true),
            ("The nightly export of the harbour does not run on the new queue", false),
            ("The nightly export of the harbour runs on cron", false),
            ("The queue is new", false),
            ("", false),
        ] {
            assert_eq!(stored.is_said_by("c2", text), is_said, "{text}");
        }
        assert!(stored.is_said_by("c1", "whatever it says"));
    }
}
