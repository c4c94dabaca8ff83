//! Rules of the user's own, from the config: regular expressions.

use regex::Regex;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::marks::{Finding, MAX_ID, is_id};

/// A rule as the config says it. The whole match is the secret, or its first group if it has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserRule {
    /// What stands in the mark: letters, digits, `.`, `_` and `-`.
    pub id: String,
    /// A regular expression that matches no empty text.
    pub pattern: String,
    /// Words of which one must be in the text, in any case; without them every text is searched.
    #[serde(default)]
    pub keywords: Vec<String>,
}

/// What is wrong with a rule.
#[derive(Debug, Error)]
pub enum RuleError {
    /// The id cannot stand in a mark.
    #[error("rule `{0}`: an id has 1 to {MAX_ID} letters, digits, `.`, `_` or `-`")]
    Id(String),
    /// The pattern is no regular expression.
    #[error("rule `{id}`: {error}")]
    Pattern {
        /// The rule's id.
        id: String,
        /// What is wrong with its pattern.
        error: Box<regex::Error>,
    },
    /// The pattern of this rule matches the empty text.
    #[error("rule `{0}`: the pattern matches the empty text, so it would match everywhere")]
    Empty(String),
    /// A keyword of this rule is too short.
    #[error("rule `{0}`: a keyword has two letters or more")]
    Keyword(String),
}

/// A rule that can be run.
#[derive(Debug)]
pub(crate) struct Compiled {
    id: String,
    regex: Regex,
    pub keywords: Vec<String>,
}

impl Compiled {
    pub(crate) fn new(rule: &UserRule) -> Result<Self, RuleError> {
        let id = rule.id.clone();
        if !is_id(&id) {
            return Err(RuleError::Id(id));
        }
        if rule.keywords.iter().any(|word| word.len() < 2) {
            return Err(RuleError::Keyword(id));
        }
        let regex = Regex::new(&rule.pattern).map_err(|error| RuleError::Pattern { id: id.clone(), error: Box::new(error) })?;
        if regex.is_match("") {
            return Err(RuleError::Empty(id));
        }
        Ok(Self { id, regex, keywords: rule.keywords.clone() })
    }

    /// Adds what the rule takes for secrets.
    pub(crate) fn find(&self, text: &str, found: &mut Vec<Finding>) {
        found.extend(self.regex.captures_iter(text).filter_map(|groups| {
            let secret = groups.get(1).or_else(|| groups.get(0))?;
            Some(Finding { rule: self.id.clone().into(), range: secret.range() })
        }));
    }
}
