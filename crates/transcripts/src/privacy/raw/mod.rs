//! What came out of a transcript and has not passed the sanitizer: JSON ([`Raw`](json::Raw)) and texts ([`RawText`]).
//!
//! Such a text can be compared, taken apart and looked up. It cannot be printed, serialised or stored: only the sanitizer makes of it what can
//! ([`Sanitizer::clean`](super::Sanitizer::clean) and its other methods take it). Every other way out is a method here or in [`json`], and says
//! why nobody's words go with it. What is inside can be seen below `privacy` alone, and the compiler holds that.

pub mod json;
pub(crate) mod json_cursor;

use std::borrow::Cow;
use std::fmt;

use crate::session::RecordKey;
use crate::session::ids_in;

/// Longest id that is kept as it is, in bytes.
pub(in crate::privacy) const MAX_ID_BYTES: usize = 256;
/// Which bytes may stand in an id: letters, digits and few signs.
const IN_IDS: [bool; 256] = {
    const SIGNS: &[u8] = b"-_.:#/|+=@~";
    let mut all = [false; 256];
    let mut byte = 0;
    while byte < all.len() {
        all[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let mut at = 0;
    while at < SIGNS.len() {
        all[SIGNS[at] as usize] = true;
        at += 1;
    }
    all
};

/// A text that has not passed the sanitizer.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawText<'t>(Cow<'t, str>);

/// Taking apart: what comes of it is as raw.
impl<'t> RawText<'t> {
    /// The texts as one.
    pub(crate) fn joined(texts: &[RawText<'_>], between: &str) -> RawText<'static> {
        let all: Vec<&str> = texts.iter().map(RawText::inside).collect();
        RawText(Cow::Owned(all.join(between)))
    }

    /// The texts as one; a single one is not copied.
    pub(crate) fn joined_or_only(mut texts: Vec<Self>, between: &str) -> Self {
        if texts.len() < 2 { texts.pop().unwrap_or_default() } else { Self::joined(&texts, between) }
    }

    pub(crate) fn into_owned(self) -> RawText<'static> {
        RawText(Cow::Owned(self.0.into_owned()))
    }

    /// A part of the text. `rule` is no closure, so that it takes nothing along.
    pub(crate) fn part(&self, rule: for<'s> fn(&'s str) -> Option<&'s str>) -> Option<RawText<'_>> {
        rule(self.inside()).map(RawText::from)
    }

    /// Parts of the text.
    pub(crate) fn parts(&self, rule: for<'s> fn(&'s str) -> Vec<&'s str>) -> Vec<RawText<'_>> {
        rule(self.inside()).into_iter().map(RawText::from).collect()
    }

    /// Parts of the text, and what the rule says of it, as in [`tells`](Self::tells).
    pub(crate) fn apart<const N: usize, A: Copy + 'static>(
        &self,
        rule: for<'s> fn(&'s str) -> ([Cow<'s, str>; N], A),
    ) -> ([RawText<'_>; N], A) {
        let (parts, answer) = rule(self.inside());
        (parts.map(RawText), answer)
    }

    /// Another text, made of it.
    pub(crate) fn made(&self, rule: for<'s> fn(&'s str) -> Cow<'s, str>) -> RawText<'_> {
        RawText(rule(self.inside()))
    }

    /// Other texts, made of it.
    pub(crate) fn all_made(&self, rule: fn(&str) -> Vec<String>) -> Vec<RawText<'static>> {
        rule(self.inside()).into_iter().map(RawText::from).collect()
    }

    pub(crate) fn trim(&self) -> RawText<'_> {
        self.inside().trim().into()
    }

    pub(crate) fn lines(&self) -> impl DoubleEndedIterator<Item = RawText<'_>> {
        self.inside().lines().map(RawText::from)
    }

    pub(crate) fn split_once(&self, at: &str) -> Option<(RawText<'_>, RawText<'_>)> {
        self.inside().split_once(at).map(|(before, behind)| (before.into(), behind.into()))
    }

    pub(crate) fn strip_prefix(&self, start: &str) -> Option<RawText<'_>> {
        self.inside().strip_prefix(start).map(RawText::from)
    }

    pub(crate) fn strip_suffix(&self, end: &str) -> Option<RawText<'_>> {
        self.inside().strip_suffix(end).map(RawText::from)
    }
}

/// Asking: an answer holds nothing of the text.
impl RawText<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn is(&self, other: &str) -> bool {
        self.0 == other
    }

    pub(crate) fn is_one_of(&self, known: &[&str]) -> bool {
        known.contains(&self.inside())
    }

    pub(crate) fn starts_with(&self, start: &str) -> bool {
        self.0.starts_with(start)
    }

    pub(crate) fn contains(&self, part: &str) -> bool {
        self.0.contains(part)
    }

    /// Which of the words of a format it is; empty if it is none of them. What is returned is the reader's own, and not the text.
    pub(crate) fn known(&self, words: &[&'static str]) -> &'static str {
        words.iter().find(|word| self.is(word)).copied().unwrap_or_default()
    }

    /// What a rule says of the text: yes or no, a number, a word of the rule's own. An answer is no text of this one's: it borrows nothing, and
    /// what can be copied owns none.
    pub(crate) fn tells<A: Copy + 'static>(&self, rule: fn(&str) -> A) -> A {
        rule(self.inside())
    }

    /// The same by a rule that goes by something else, too.
    pub(crate) fn tells_by<W: Copy + 'static, A: Copy + 'static>(&self, with: W, rule: fn(&str, W) -> A) -> A {
        rule(self.inside(), with)
    }
}

/// Leaving: each way out that is not the sanitizer's.
impl RawText<'_> {
    /// An id by its form: what only tells things apart. What does not look like one, since it is too long or holds other characters than ids do,
    /// could be somebody's words: it is replaced by one that is made from it, the same for the same text. Where there is a sanitizer, it is asked
    /// first ([`Sanitizer::id`](super::Sanitizer::id)).
    pub(crate) fn id(&self) -> String {
        if self.has_form_of_id() { self.inside().to_owned() } else { self.stand_in() }
    }

    /// Is it an id by its form: short, of letters, digits and few signs?
    pub(in crate::privacy) fn has_form_of_id(&self) -> bool {
        let text = self.inside();
        text.len() <= MAX_ID_BYTES && text.bytes().all(|b| IN_IDS[usize::from(b)])
    }

    /// What stands for what may not be kept as an id: a hash.
    pub(in crate::privacy) fn stand_in(&self) -> String {
        self.key_in("", 0).to_string()
    }

    /// The key of the record whose `uuid` this is, or of its parent: a hash, or the bytes of a UUID.
    pub(crate) fn key(&self, session: &str) -> RecordKey {
        RecordKey::from_uuid(session, self.inside())
    }

    /// The key of a row that is known by this text and a number: a hash.
    pub(crate) fn key_in(&self, session: &str, number: u64) -> RecordKey {
        RecordKey::from_row(session, number, self.inside().as_bytes())
    }

    /// Ids of our own that the assistant looked up: hexadecimal digits alone.
    pub(crate) fn looked_up_ids(&self) -> Vec<String> {
        ids_in(self.inside())
    }

    /// For the lines that are made of a client's documents ([`MadeLine`](crate::source::delta)). A reader parses a made line as any other, so
    /// that it is raw again before anything is kept of it.
    pub(crate) fn in_made_line(&self) -> &str {
        self.inside()
    }

    /// A text of a request to our own server, which is no transcript.
    pub fn of_request(&self) -> &str {
        self.inside()
    }

    /// For a test that holds what was read against what another reader has read.
    #[cfg(any(test, feature = "testing"))]
    pub fn seen_by_test(&self) -> &str {
        self.inside()
    }

    /// The text. Only `privacy` sees it.
    pub(in crate::privacy) fn inside(&self) -> &str {
        &self.0
    }
}

/// Its length, and nothing of it.
impl fmt::Debug for RawText<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a raw text of {} bytes", self.0.len())
    }
}

/// Any text may be taken for a raw one.
impl<'t> From<&'t str> for RawText<'t> {
    fn from(text: &'t str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl<'t> From<&'t String> for RawText<'t> {
    fn from(text: &'t String) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for RawText<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl<'t> From<Cow<'t, str>> for RawText<'t> {
    fn from(text: Cow<'t, str>) -> Self {
        Self(text)
    }
}

impl<'t> From<&'t Cow<'_, str>> for RawText<'t> {
    fn from(text: &'t Cow<'_, str>) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl<'t> From<&'t RawText<'_>> for RawText<'t> {
    fn from(text: &'t RawText<'_>) -> Self {
        Self(Cow::Borrowed(&text.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does not compile once a type has one of these traits: then it is not clear which `LEAKS` is meant.
    macro_rules! has_none_of {
        ($type:ty: $($trait:path),+) => {
            const _: () = {
                trait Leaks<Way> {
                    const LEAKS: () = ();
                }
                impl<T: ?Sized> Leaks<()> for T {}
                $({
                    struct Way;
                    impl<T: ?Sized + $trait> Leaks<Way> for T {}
                })+
                <$type as Leaks<_>>::LEAKS
            };
        };
    }

    has_none_of!(RawText<'static>: fmt::Display, serde::Serialize, AsRef<str>, AsRef<[u8]>, std::borrow::Borrow<str>, std::ops::Deref, Into<String>, Into<Cow<'static, str>>);
    has_none_of!(json::Raw<'static>: fmt::Display, serde::Serialize, AsRef<str>, AsRef<[u8]>, std::borrow::Borrow<str>, std::ops::Deref, Into<String>, Into<Cow<'static, str>>);

    #[test]
    fn what_is_printed_of_a_raw_text_is_its_length() {
        let raw = RawText::from("HUNTER2");
        assert_eq!(format!("{raw:?}"), "a raw text of 7 bytes");
        assert_eq!(format!("{:?}", json::Raw::of("\"HUNTER2\"").expect("JSON")), "raw JSON of 9 bytes");
    }

    #[test]
    fn an_id_is_kept_as_it_is_and_what_is_none_is_replaced_by_one() {
        for id in ["", "toolu_01A", "call_a|fc_b+c/d=", "87cf85be-e43f-4dfb-89ad-aa3ea1dfa350########0", "mcp.fs:read@2~1"] {
            assert_eq!(RawText::from(id).id(), id);
        }
        let long = "a".repeat(MAX_ID_BYTES + 1);
        for words in ["call me", "naïve", "a\nb", "\u{202e}", &long] {
            let id = RawText::from(words).id();
            assert!(RawText::from(&id).has_form_of_id() && !id.is_empty() && id.len() < 64, "{id}");
            assert_eq!(id, RawText::from(words).id());
            assert_ne!(id, RawText::from(format!("{words}.")).id());
        }
    }
}
