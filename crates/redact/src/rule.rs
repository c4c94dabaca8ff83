//! A rule as it is written down: the shipped ones in `formats.toml`, a user's in a config file. `build.rs` reads this file, too.

use serde::{Deserialize, Serialize};

/// What a secret looks like, in one or more of three ways: a pattern, tokens, commands.
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
    /// length: `{20}`, `{20,40}`, `{20,}`. One set of a fixed length may stand before the beginning. Parentheses round all that follows
    /// the beginning leave the beginning in the text. A `\` takes the next character as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<String>,
    /// Command lines with `<secret>` where the secret stands; `...` is for any arguments, `<word>` for one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// What the secret must have, whichever way it was found.
    #[serde(default, skip_serializing_if = "Need::is_none")]
    pub needs: Need,
}

/// What a secret must have besides its form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Need {
    /// Nothing.
    #[default]
    None,
    /// A digit.
    Digit,
    /// Letters of both cases, with digits or in no order that a name has; and what `Random` asks for.
    Mixed,
    /// Sixteen characters or more in no order.
    Random,
}

impl Need {
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}
