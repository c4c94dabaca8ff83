//! Statements of a model of which the user said that they are not so: by which words a digest made anew says them again. Pure.

use crate::analyze::wording::Wording;
use crate::model::digest::{Digest, UNTITLED, statement_id, title_id};
use crate::text::clean::shorten;

/// The most characters of the request where it stands for a title.
const MAX_TITLE_CHARS: usize = 120;

/// A statement that is not so, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeniedStatement {
    pub(crate) id: String,
    wording: Wording,
}

impl DeniedStatement {
    pub(crate) fn new(id: String, text: &str) -> Self {
        Self { id, wording: Wording::of(text) }
    }

    /// The stored format of its wording.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.wording.to_bytes()
    }

    pub(crate) fn from_bytes(id: String, bytes: &[u8]) -> Self {
        Self { id, wording: Wording::from_bytes(bytes) }
    }

    fn says(&self, id: &str, text: &str) -> bool {
        self.id == id || self.wording.says_same(&Wording::of(text))
    }
}

/// A digest of a session without what is not so.
pub(crate) fn without_denied(mut digest: Digest, session: &str, denied: &[DeniedStatement]) -> Digest {
    if denied.is_empty() {
        return digest;
    }
    let is_denied = |id: &str, text: &str| denied.iter().any(|one| one.says(id, text));
    digest.retain(|section, claim| !is_denied(&statement_id(session, section, &claim.text), &claim.text));
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
        for (text, says) in [
            ("The nightly export of the harbour runs on the new queue now", true),
            ("the nightly harbour export runs on a new queue", true),
            ("The nightly export of the harbour does not run on the new queue", false),
            ("The nightly export of the harbour runs on cron", false),
            ("The queue is new", false),
            ("", false),
        ] {
            assert_eq!(stored.says("c2", text), says, "{text}");
        }
        assert!(stored.says("c1", "whatever it says"));
    }
}
