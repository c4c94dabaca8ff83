//! Who makes digests, and within which bounds: `[digest]`.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::Hours;
use crate::model::digest::{CLAUDE_MEM, WITHOUT_MODEL};

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct DigestConfig {
    pub(crate) summarizer: SummarizerChoice,
    /// The model requested from `claude`.
    pub(crate) model: String,
    /// The `claude` command: a name on the PATH, or a path.
    pub(crate) claude: String,
    /// At most this many sessions of a run go to the model.
    pub(crate) max_sessions: usize,
    pub(crate) max_cost_usd: f64,
    pub(crate) max_cost_usd_per_day: f64,
    /// Concurrent calls of the model.
    pub(crate) parallel_calls: usize,
    pub(crate) timeout_seconds: u64,
    /// How long a session must be quiet before it is digested.
    pub(crate) settle_minutes: u64,
    /// A first run over more sessions than this does not use the model.
    pub(crate) backlog: usize,
    /// The session's part of a request, in characters.
    pub(crate) input_chars: usize,
    /// Hours in which the model is not called, so that a subscription's limits are left for the user's own work.
    pub(crate) not_between: Option<Hours>,
}

/// Who makes digests. Its words and what they mean are also the values of `--summarizer`, with their help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SummarizerChoice {
    /// `claude` if found, else `extract`
    Auto,
    /// the model, through the `claude` command
    Claude,
    /// no model; built from the sessions themselves
    Extract,
}

impl SummarizerChoice {
    /// Its word: in the config, on the command line, and stored with the digests it makes.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Claude => "claude",
            Self::Extract => WITHOUT_MODEL,
        }
    }

    /// The word that asks a model, whatever is found: its own, where it names one.
    pub(crate) fn word_of_model(self) -> &'static str {
        if self.names_model() { self.word() } else { Self::Claude.word() }
    }

    /// The word of a summarizer, read from where anybody may write. What is no word of one stands for none. Digests of another tool that
    /// were imported have its name, which nobody can choose.
    pub(crate) fn stored_word(text: &str) -> &'static str {
        if text == CLAUDE_MEM {
            return CLAUDE_MEM;
        }
        let made_by = Self::value_variants().iter().filter(|choice| **choice != Self::Auto);
        made_by.map(|choice| choice.word()).find(|word| *word == text).unwrap_or(WITHOUT_MODEL)
    }

    /// May a model make digests?
    pub(crate) fn may_ask_model(self) -> bool {
        self != Self::Extract
    }

    /// Is a model named, whatever is found?
    pub(crate) fn names_model(self) -> bool {
        !matches!(self, Self::Auto | Self::Extract)
    }
}

impl Default for DigestConfig {
    fn default() -> Self {
        Self {
            summarizer: SummarizerChoice::Auto,
            model: "haiku".into(),
            claude: "claude".into(),
            max_sessions: 40,
            max_cost_usd: 0.5,
            max_cost_usd_per_day: 1.0,
            parallel_calls: 2,
            timeout_seconds: 120,
            settle_minutes: 10,
            backlog: 20,
            input_chars: 24_000,
            not_between: None,
        }
    }
}

const A_YEAR_IN_MINUTES: u64 = 366 * 24 * 60;

impl DigestConfig {
    /// # Errors
    /// The unusable key and the reason.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        let ensure = |holds: bool, key: &'static str, why: String| if holds { Ok(()) } else { Err((key, why)) };
        for (key, value) in [("digest.max_cost_usd", self.max_cost_usd), ("digest.max_cost_usd_per_day", self.max_cost_usd_per_day)]
        {
            ensure(value.is_finite() && value >= 0.0, key, format!("must be zero or more, is {value}"))?;
        }
        let calls = self.parallel_calls;
        ensure((1..=64).contains(&calls), "digest.parallel_calls", format!("must be 1 to 64, is {calls}"))?;
        ensure(self.timeout_seconds > 0, "digest.timeout_seconds", "must be more than 0".into())?;
        let minutes = self.settle_minutes;
        ensure(minutes <= A_YEAR_IN_MINUTES, "digest.settle_minutes", format!("must be 0 to {A_YEAR_IN_MINUTES}, is {minutes}"))?;
        let chars = self.input_chars;
        ensure((2_000..=200_000).contains(&chars), "digest.input_chars", format!("must be 2000 to 200000, is {chars}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::digest::is_by_model;

    #[test]
    fn every_choice_of_a_summarizer_has_one_word() {
        for choice in SummarizerChoice::value_variants() {
            let typed = choice.to_possible_value().expect("none is hidden");
            let in_config = serde_json::to_value(choice).expect("a word");
            assert_eq!((typed.get_name(), in_config.as_str()), (choice.word(), Some(choice.word())));
            assert!(typed.get_help().is_some(), "{}: `--help` says what it is", choice.word());
        }
    }

    /// A word that is not in the list would be stored, and read back as that of no model: by an import, from a page.
    #[test]
    fn the_word_of_every_maker_of_digests_is_read_back() {
        for choice in SummarizerChoice::value_variants().iter().filter(|choice| **choice != SummarizerChoice::Auto) {
            assert_eq!(SummarizerChoice::stored_word(choice.word()), choice.word());
            assert_eq!(is_by_model(choice.word()), choice.names_model());
        }
        assert_eq!(SummarizerChoice::stored_word(CLAUDE_MEM), CLAUDE_MEM);
        for other in ["auto", "", "Claude", "claude\nx"] {
            assert_eq!(SummarizerChoice::stored_word(other), WITHOUT_MODEL, "{other:?}");
        }
    }

    #[test]
    fn a_choice_that_names_no_model_is_told_with_the_one_that_auto_finds() {
        let words = SummarizerChoice::value_variants().iter().map(|choice| (choice.word(), choice.word_of_model()));
        for (word, of_model) in words {
            assert_eq!(of_model, if ["auto", "extract"].contains(&word) { "claude" } else { word });
        }
    }
}
