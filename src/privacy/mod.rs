//! What never enters the index: what the user fenced off, what others put into a message, secrets, private files, and whatever the
//! config leaves out. Pure.
//!
//! Everything that is kept of a transcript passes the [`Gate`] as decoded text, before it is shortened: half a secret is known by
//! its other half.

pub mod echo;
mod files;
mod items;
mod patterns;
mod policy;
mod said;
mod tags;
mod turns;

use std::borrow::Cow;

use regex::RegexSet;

pub use files::Files;
pub use patterns::Patterns;
pub use policy::{Policy, View};
pub use said::says_something;
pub use tags::{Stripped, disarm, may_be_tag, opens_private, strip};
pub use turns::{Began, Boundary, Conversation, Passed};

use crate::clean::{both_ends, fold_lines, plain};
use crate::redact::Redactor;
use crate::session::ToolUse;
use crate::signal::chatter::{is_chatter_tool, is_own_tool};

/// Stands for the line of a tool use that a pattern of the user's leaves out.
pub const LEFT_OUT: &str = "(left out)";

/// How much of each end of an output is searched for secrets, in bytes.
const SEARCHED: usize = 128 << 10;
/// How much of each end of an output is looked at, in bytes.
pub const SHOWN: usize = 24_000;

/// A text that has passed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Empty where nothing may be kept.
    pub text: String,
    /// Something in it was fenced off as private.
    pub private: bool,
    /// What that was. Nobody keeps it.
    pub fenced: String,
}

impl Text {
    /// Was what it says private? Beside the private blocks nothing is left that says anything.
    pub fn is_all_private(&self) -> bool {
        self.private && !says_something(&self.text)
    }
}

/// The rules for what may be kept.
#[derive(Debug, Clone)]
pub struct Gate {
    redactor: Option<Redactor>,
    /// Texts that match are left out whole.
    patterns: RegexSet,
    files: Files,
    /// Tools whose uses are not kept.
    skip_tools: Vec<String>,
}

impl Gate {
    pub fn new(redactor: Redactor, patterns: RegexSet, files: Files, skip_tools: Vec<String>) -> Self {
        Self { redactor: Some(redactor), patterns, files, skip_tools }
    }

    /// With the shipped rules alone.
    pub fn shipped() -> Self {
        Self::new(Redactor::shipped().clone(), RegexSet::empty(), Files::default(), Vec::new())
    }

    /// Looks for no secrets: for who wants to know when something was said, and not what.
    pub fn for_times() -> Self {
        Self { redactor: None, patterns: RegexSet::empty(), files: Files::default(), skip_tools: Vec::new() }
    }

    /// A text as it may be kept: without blocks nobody said, private ones, escapes and secrets.
    pub fn pass(&self, raw: &str) -> Text {
        if raw.is_empty() {
            return Text::default();
        }
        // Characters that are not seen must not hide a tag.
        let plain = plain(raw);
        let stripped = tags::strip(&plain);
        let text = fold_lines(&stripped.text);
        let (private, fenced) = (stripped.private, stripped.fenced);
        if self.leaves_out(&text) {
            return Text { text: String::new(), private, fenced };
        }
        let text = match self.redacted(&text) {
            (_, true) => String::new(),
            (Cow::Owned(redacted), _) => redacted,
            // A long text is not copied where that can be helped.
            (Cow::Borrowed(_), _) => text.into_owned(),
        };
        Text { text, private, fenced }
    }

    /// The same, where it does not matter what was fenced off.
    pub fn clean(&self, raw: &str) -> String {
        self.pass(raw).text
    }

    /// Of a tool's output the two ends, as they may be kept; what it says about its result stands there. What is cut off is far from
    /// what is shown, so that half a secret never is. Nothing where what is shown whole is of no interest: that is asked before secrets
    /// are looked for.
    pub fn output(&self, raw: &str, is_of_interest: impl Fn(&str) -> bool) -> String {
        let plain = plain(raw);
        let stripped = tags::strip(&plain).text;
        if stripped.len() <= 2 * SHOWN && !is_of_interest(&stripped) || self.leaves_out(&stripped) {
            return String::new();
        }
        let ends = both_ends(&stripped, SEARCHED);
        let seen = files::without_lines_of(&ends, &self.files);
        let folded = fold_lines(&seen);
        both_ends(&self.redacted(&folded).0, SHOWN).into_owned()
    }

    /// A text that is shown as it stands in a transcript, apart from what may not be kept of it. `Some(None)` where nothing had to be
    /// taken out; `None` where nothing of what it is part of may be shown.
    pub fn verbatim(&self, raw: &str) -> Option<Option<String>> {
        let plain = plain(raw);
        if self.leaves_out(&plain) {
            return None;
        }
        // What is fenced off in one block of a message may be closed in another.
        let stripped = tags::strip(&plain);
        if stripped.private && tags::reaches_end(&plain) {
            return None;
        }
        let shown = self.redact(&files::without_lines_of(&stripped.text, &self.files));
        Some((shown != plain).then_some(shown))
    }

    /// A text without secrets, else as it is: for what was made from texts that had passed, and for what a model says.
    pub fn redact(&self, text: &str) -> String {
        self.redactor.as_ref().map_or(Cow::Borrowed(text), |r| r.redact(text)).into_owned()
    }

    /// A text without secrets, and whether they were most of it.
    fn redacted<'t>(&self, text: &'t str) -> (Cow<'t, str>, bool) {
        self.redactor.as_ref().map_or((Cow::Borrowed(text), false), |redactor| redactor.redact_weighed(text))
    }

    /// Is a tool of the client's own bookkeeping, or one that only looks around, or its use left out by a pattern?
    pub fn skips(&self, tool: &ToolUse) -> bool {
        tool.line == LEFT_OUT || is_own_tool(&tool.name) || is_chatter_tool(&tool.name, &self.skip_tools)
    }

    /// A name as it may be kept; `None` where nothing of it may.
    pub fn name(&self, raw: &str) -> Option<String> {
        Some(self.clean(raw)).filter(|name| !name.is_empty())
    }

    /// Does a pattern of the user's leave out any of these texts? They are only made where there are patterns.
    pub fn excludes_any(&self, texts: impl FnOnce() -> Vec<String>) -> bool {
        !self.patterns.is_empty() && texts().iter().any(|text| self.patterns.is_match(text))
    }

    /// Does a pattern of the user's leave out this text? Most users have none, and asking an empty set costs something for each text.
    fn leaves_out(&self, text: &str) -> bool {
        !self.patterns.is_empty() && self.patterns.is_match(text)
    }

    /// Is an argument of a tool the path of a private file?
    pub fn is_private_file(&self, argument: &str) -> bool {
        self.files.holds_argument(argument)
    }

    /// Is what a tool use reads or writes private? Its line then names the files and no content.
    pub fn withhold(&self, tool: &mut ToolUse) -> bool {
        if let Some(file) = &tool.file {
            return self.files.holds(&file.path);
        }
        if !matches!(tool.name.as_str(), "Bash" | "PowerShell") {
            let path = tool.line.split(" · ").find(|argument| self.files.holds_argument(argument)).map(str::to_owned);
            let is_withheld = path.is_some();
            tool.line = path.unwrap_or_else(|| std::mem::take(&mut tool.line));
            return is_withheld;
        }
        let withheld = self.withheld_command(&tool.line);
        let is_withheld = withheld.is_some();
        tool.line = withheld.unwrap_or_else(|| std::mem::take(&mut tool.line));
        is_withheld
    }

    /// What may be told of a command that reads or writes private files: its program and the files.
    pub fn withheld_command(&self, command: &str) -> Option<String> {
        let named = files::named_in(command, &self.files);
        // In a form that is known again as a command on these files.
        let told: Vec<String> = named.iter().map(|n| format!("{} {} {}{}", n.program, files::WITHHELD, n.by, n.path)).collect();
        let revealed = || files::reveals(command, &self.files).map(|what| format!("{what} {}", files::WITHHELD));
        if told.is_empty() { revealed() } else { Some(told.join("; ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_escape_takes_the_tag_that_fences_something_off() {
        let gate = Gate::shipped();
        for before in ["\x1b", "\x1b[", "\x1b[3", "\x1b]", "\x1b]0;x", "\x1bP", "\x1b(", "\x1b ", "\x1b\t", "\r", "\x1b]0;\x1b"] {
            for (open, close) in [("<private>", "</private>"), ("<private>\n", "\n</private>"), ("< Private a=b>", "")] {
                let text = format!("so {before}{open}HUNTER{close}");
                let passed = gate.pass(&text);
                assert!(passed.private && !passed.text.contains("HUNTER"), "{text:?}: {passed:?}");
                assert!(!gate.output(&text, |_| true).contains("HUNTER"), "{text:?}");
                assert!(!gate.verbatim(&text).flatten().is_some_and(|shown| shown.contains("HUNTER")), "{text:?}");
            }
        }
    }
}
