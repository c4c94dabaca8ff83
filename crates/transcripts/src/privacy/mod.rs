//! What never enters the index: private blocks, text that others insert into a message, secrets, private files, and whatever the
//! config excludes. Pure.
//!
//! ## Invariants
//! Everything stored from a transcript passes the sanitizer ([`Sanitizer`]) as decoded text and before it is shortened: the redactor
//! recognizes a secret only as a whole. A text that has not passed is a [`RawText`], of which only the sanitizer makes one that can be stored.

pub mod echo;
mod files;
mod items;
pub mod meaning;
mod own_words;
pub mod raw;
mod tags;
mod turns;

use std::borrow::Cow;

use regex::RegexSet;

pub(crate) use crate::privacy::meaning::is_meaningful;
pub use files::{PrivateFiles, glob};
pub use own_words::{OwnWords, SkippedTools};
pub(crate) use tags::{leaves_private_open, may_be_tag};
pub use tags::{opens_private, strip};
pub use turns::{AgentStart, ConversationState, Disposition, PrivateBoundary};

use self::raw::{MAX_ID_BYTES, RawText};
use crate::session::{ToldNames, ToolUse};
use redact::Redactor;
use text::clean::{both_ends, fold_lines, without_controls};

/// Replaces the line of a tool use that a user's pattern excludes.
pub const EXCLUDED_LINE: &str = "(left out)";

/// How much of each end of an output is searched for secrets, in bytes.
const SEARCHED_BYTES: usize = 128 << 10;
/// How much of each end of an output is used, in bytes.
pub(crate) const SHOWN_BYTES: usize = 24_000;

/// A sanitized text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SanitizedText {
    /// Empty if nothing may be stored.
    pub text: String,
    /// Part of the text was marked as private.
    pub private: bool,
    /// The private part. It is never stored.
    pub fenced: String,
}

impl SanitizedText {
    /// Was all of its meaning private? Nothing meaningful is left beside the private blocks.
    pub(crate) fn is_all_private(&self) -> bool {
        self.private && !is_meaningful(&self.text)
    }

    /// Adds what is private in a text of which nothing is kept.
    fn note_private_in(&mut self, other: &str) {
        let stripped = tags::strip(other);
        self.private |= stripped.private;
        self.fenced.push_str(&stripped.fenced);
    }
}

/// The rules for what may be stored.
#[derive(Debug, Clone)]
pub struct Sanitizer {
    redactor: Option<Redactor>,
    /// Texts that match are excluded entirely.
    patterns: RegexSet,
    files: PrivateFiles,
    /// Tools whose uses are not stored.
    skip_tools: SkippedTools,
    own: OwnWords,
}

impl Sanitizer {
    pub fn new(redactor: Redactor, patterns: RegexSet, files: PrivateFiles, skip_tools: SkippedTools) -> Self {
        Self { redactor: Some(redactor), patterns, files, skip_tools, own: OwnWords::NONE }
    }

    /// With the shipped rules alone.
    #[cfg(any(test, feature = "testing"))]
    pub fn shipped() -> Self {
        Self::new(Redactor::shipped().clone(), RegexSet::empty(), PrivateFiles::default(), SkippedTools::default())
    }

    /// Without redaction, for callers that only need timestamps.
    pub(crate) fn without_redaction() -> Self {
        Self {
            redactor: None,
            patterns: RegexSet::empty(),
            files: PrivateFiles::default(),
            skip_tools: SkippedTools::default(),
            own: OwnWords::NONE,
        }
    }

    /// One that knows by this what the program itself said in a session.
    pub fn knowing(self, own: OwnWords) -> Self {
        Self { own, ..self }
    }

    /// What is named in a text that a hook of ours told a session.
    pub fn names_told(&self, raw: &RawText<'_>) -> ToldNames {
        (self.own.names_in)(&self.clean(raw))
    }

    /// Sanitizes a text: removes injected and private blocks, escapes and secrets.
    pub fn pass<'t>(&self, raw: impl Into<RawText<'t>>) -> SanitizedText {
        let raw = raw.into();
        let raw = raw.inside();
        if raw.is_empty() {
            return SanitizedText::default();
        }
        // Invisible characters must not hide a tag.
        let plain = without_controls(raw);
        let stripped = tags::strip(&plain);
        let text = fold_lines(&stripped.text);
        let (private, fenced) = (stripped.private, stripped.fenced);
        if self.leaves_out(&text) {
            return SanitizedText { text: String::new(), private, fenced };
        }
        let text = match self.redacted(&text) {
            (_, true) => String::new(),
            (Cow::Owned(redacted), _) => redacted,
            // Avoids a copy of a long text.
            (Cow::Borrowed(_), _) => text.into_owned(),
        };
        SanitizedText { text, private, fenced }
    }

    /// Sanitizes the text blocks of a message in the user's name as one text, without what was inserted into them: a private tag
    /// opened in one block may be closed in another.
    pub(crate) fn pass_users(&self, blocks: &[RawText<'_>]) -> SanitizedText {
        let plain: Vec<_> = blocks.iter().map(|block| without_controls(block.inside())).collect();
        let own: Vec<&str> = plain.iter().map(|block| tags::before_injected(block)).collect();
        // A single block, which may have 16 MiB, is not copied.
        let mut passed = if let [one] = own[..] { self.pass(one) } else { self.pass(own.join("\n\n")) };
        // What is not believed to be the user's may still be private.
        plain.iter().zip(&own).for_each(|(block, own)| passed.note_private_in(&block[own.len()..]));
        passed
    }

    /// The same of the user's texts beside others that are a client's: nothing of those is kept, but they may still be private.
    pub(crate) fn pass_users_beside(&self, own: &[RawText<'_>], others: &[RawText<'_>]) -> SanitizedText {
        let mut passed = self.pass_users(own);
        others.iter().for_each(|other| passed.note_private_in(&without_controls(other.inside())));
        passed
    }

    /// Sanitizes a text when the private part does not matter.
    pub fn clean<'t>(&self, raw: impl Into<RawText<'t>>) -> String {
        self.pass(raw).text
    }

    /// Sanitizes the two ends of a tool's output, where it states its result. The output is cut well outside the part that is
    /// used, so that no secret is cut in half there. Returns nothing if `is_of_interest` rejects an output that would be used
    /// whole; it is asked before secrets are searched.
    pub fn output<'t>(&self, raw: impl Into<RawText<'t>>, is_of_interest: fn(&str) -> bool) -> String {
        self.ends_of_output(raw.into().inside(), is_of_interest, false).0
    }

    /// The same of an output that is used whatever `is_of_interest` says of it, and what that says: yes for one that is too long to be used
    /// whole.
    pub(crate) fn any_output<'t>(&self, raw: impl Into<RawText<'t>>, is_of_interest: fn(&str) -> bool) -> (String, bool) {
        self.ends_of_output(raw.into().inside(), is_of_interest, true)
    }

    fn ends_of_output(&self, raw: &str, is_of_interest: fn(&str) -> bool, is_used: bool) -> (String, bool) {
        let plain = without_controls(raw);
        let stripped = tags::strip(&plain).text;
        let tells = stripped.len() > 2 * SHOWN_BYTES || is_of_interest(&stripped);
        if !(tells || is_used) || self.leaves_out(&stripped) {
            return (String::new(), tells);
        }
        let ends = both_ends(&stripped, SEARCHED_BYTES);
        let seen = files::without_lines_of(&ends, &self.files);
        let folded = fold_lines(&seen);
        (both_ends(&self.redacted(&folded).0, SHOWN_BYTES).into_owned(), tells)
    }

    /// Sanitizes a text for display, otherwise unchanged. `Some(None)` if nothing had to be removed; `None` if nothing of what
    /// contains the text may be shown.
    pub fn verbatim<'t>(&self, raw: impl Into<RawText<'t>>) -> Option<Option<String>> {
        let raw = raw.into();
        let plain = without_controls(raw.inside());
        if self.leaves_out(&plain) {
            return None;
        }
        // A private tag opened in one block of a message may be closed in another.
        let stripped = tags::strip(&plain);
        if stripped.private && tags::leaves_private_open(&plain) {
            return None;
        }
        let shown = self.redact(files::without_lines_of(&stripped.text, &self.files));
        Some((shown != plain).then_some(shown))
    }

    /// Redacts secrets only: for text made from sanitized text, for a model's output, and for folders.
    pub fn redact<'t>(&self, text: impl Into<RawText<'t>>) -> String {
        let text = text.into();
        let text = text.inside();
        self.redactor.as_ref().map_or(Cow::Borrowed(text), |r| r.redact(text)).into_owned()
    }

    /// Redacts secrets; also tells whether they were most of the text.
    fn redacted<'t>(&self, text: &'t str) -> (Cow<'t, str>, bool) {
        self.redactor.as_ref().map_or((Cow::Borrowed(text), false), |redactor| redactor.redact_weighed(text))
    }

    /// Is a tool client bookkeeping, or skipped by the config, or its use excluded by a pattern?
    pub fn skips(&self, tool: &ToolUse) -> bool {
        tool.line == EXCLUDED_LINE || self.own.is_tool(&tool.name) || self.skip_tools.holds(&tool.name)
    }

    /// The name under which all clients' uses of a tool of its own server are kept; `None` for any other tool.
    pub(crate) fn own_tool(&self, name: &str) -> Option<String> {
        self.own.tool_in(name)
    }

    /// Sanitizes a name; `None` if nothing of it may be stored.
    pub fn name<'t>(&self, raw: impl Into<RawText<'t>>) -> Option<String> {
        Some(self.clean(raw)).filter(|name| !name.is_empty())
    }

    /// Sanitizes an id. One that looks like an id is kept as it is; of other texts, those that are short and of which the sanitizer takes nothing
    /// away. For all else stands another one, the same for the same text, so that what names it is still told apart and found.
    pub fn id<'t>(&self, raw: impl Into<RawText<'t>>) -> String {
        let raw = raw.into();
        let is_kept = raw.has_form_of_id() || raw.inside().len() <= MAX_ID_BYTES && self.clean(&raw) == raw.inside();
        if is_kept { raw.inside().to_owned() } else { raw.stand_in() }
    }

    /// Does a user's pattern exclude any of these texts? They are only built if there are patterns.
    pub fn excludes_any<'t>(&self, texts: impl FnOnce() -> Vec<RawText<'t>>) -> bool {
        !self.patterns.is_empty() && texts().iter().any(|text| self.patterns.is_match(text.inside()))
    }

    /// Does a user's pattern exclude this text? Most users have none, and querying an empty set costs time for each text.
    fn leaves_out(&self, text: &str) -> bool {
        !self.patterns.is_empty() && self.patterns.is_match(text)
    }

    /// Is an argument of a tool the path of a private file?
    pub fn is_private_file<'t>(&self, argument: impl Into<RawText<'t>>) -> bool {
        self.files.matches_argument(argument.into().inside())
    }

    /// Does a tool use read or write a private file? If so, reduces its line to the files, without content.
    pub fn withhold(&self, tool: &mut ToolUse) -> bool {
        if let Some(file) = &tool.file {
            return self.files.holds(&file.path);
        }
        if !tool.is_shell() {
            let path = tool.line.split(" · ").find(|argument| self.files.matches_argument(argument)).map(str::to_owned);
            let is_withheld = path.is_some();
            tool.line = path.unwrap_or_else(|| std::mem::take(&mut tool.line));
            return is_withheld;
        }
        let withheld = self.withheld_command(&tool.line);
        let is_withheld = withheld.is_some();
        tool.line = withheld.unwrap_or_else(|| std::mem::take(&mut tool.line));
        is_withheld
    }

    /// A command on private files reduced to its programs and the files.
    pub(crate) fn withheld_command(&self, command: &str) -> Option<String> {
        let named = files::named_in(command, &self.files);
        // In a form that is recognized again as a command on these files.
        let told: Vec<String> = named.iter().map(|n| format!("{} {} {}{}", n.program, files::WITHHELD, n.by, n.path)).collect();
        let revealed = || files::reveals(command, &self.files).map(|what| format!("{what} {}", files::WITHHELD));
        if told.is_empty() { revealed() } else { Some(told.join("; ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_id_nothing_is_kept_that_the_sanitizer_would_take() {
        let sanitizer = Sanitizer::shipped();
        for id in ["toolu_01A", "a b; c", "$(x)", "naïve"] {
            assert_eq!(sanitizer.id(id), id);
        }
        let long = "a b".repeat(MAX_ID_BYTES);
        for id in ["<private>HUNTER</private>", "x HUNTER\nghp_Tk4RvZq81mXw2LcB7nKd9fHs3jPy6eAu5gQo", "a\u{1b}[3mHUNTER", &long] {
            let kept = sanitizer.id(id);
            assert!(kept.len() == 36 && !kept.contains("HUNTER"), "{kept}");
            assert_eq!((sanitizer.id(id), sanitizer.id(id) != sanitizer.id(format!("{id}."))), (kept, true));
        }
    }

    #[test]
    fn no_escape_takes_the_tag_that_fences_something_off() {
        let sanitizer = Sanitizer::shipped();
        for before in ["\x1b", "\x1b[", "\x1b[3", "\x1b]", "\x1b]0;x", "\x1bP", "\x1b(", "\x1b ", "\x1b\t", "\r", "\x1b]0;\x1b"] {
            for (open, close) in [("<private>", "</private>"), ("<private>\n", "\n</private>"), ("< Private a=b>", "")] {
                let text = format!("so {before}{open}HUNTER{close}");
                let passed = sanitizer.pass(&text);
                assert!(passed.private && !passed.text.contains("HUNTER"), "{text:?}: {passed:?}");
                assert!(!sanitizer.output(&text, |_| true).contains("HUNTER"), "{text:?}");
                assert!(!sanitizer.verbatim(&text).flatten().is_some_and(|shown| shown.contains("HUNTER")), "{text:?}");
            }
        }
    }
}
