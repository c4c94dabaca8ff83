//! The form of a rule: of the shipped ones in `formats.toml` and of a user's in a config file. `build.rs` compiles this file, too.

use serde::{Deserialize, Serialize};

/// Describes secrets by a pattern, by formats of tokens, by commands, or by several of these.
///
/// ```toml
/// [[rules]]
/// id = "staff-number"
/// pattern = 'STF-\d{5}'
/// keywords = ["stf-"]
///
/// [[rules]]
/// id = "shop-token"
/// tokens = ['shop_live_[a-zA-Z0-9]{24,}']
/// needs = "digit"
///
/// [[rules]]
/// id = "shop-password"
/// commands = ["shopctl ... --pin <secret>"]
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What stands in the mark: letters, digits, `.`, `_` and `-`.
    pub id: String,
    /// A regular expression. The whole match is the secret, or its first group if it has one. It is run over the whole text, so no
    /// shipped rule has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Words of which one must be in the text for the pattern to be run, in any case; without them every text is searched.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// Formats of tokens: literal characters, of which a token begins with at least two, and sets such as `[a-z0-9_-]`, each with its
    /// length: `{20}`, `{20,40}`, `{20,}`. One set of a fixed length may precede the beginning. Parentheses around all that follows the
    /// beginning leave the beginning in the text. A `\` makes the next character literal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<String>,
    /// Command lines with `<secret>` where the secret stands; `...` stands for any arguments, `<word>` for one word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// What a secret must have besides, however it was found.
    #[serde(default, skip_serializing_if = "Need::is_none")]
    pub needs: Need,
}

/// A condition on a secret besides its form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Need {
    /// Nothing.
    #[default]
    None,
    /// A digit.
    Digit,
    /// Letters of both cases, with digits or in random order, and what `Random` requires.
    Mixed,
    /// At least 16 characters in random order.
    Random,
}

impl Need {
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}
