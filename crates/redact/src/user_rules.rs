//! Checks the rules of a user and prepares them.

use regex::Regex;
use thiserror::Error;

use super::marks::{Finding, MAX_ID, is_id};
use super::rule::{Need, Rule};
use super::syntax::{self, Command, Token};

/// What is wrong with a rule.
#[derive(Debug, Error)]
pub enum RuleError {
    /// The id cannot stand in a mark.
    #[error("rule `{0}`: an id has 1 to {MAX_ID} letters, digits, `.`, `_` or `-`")]
    Id(String),
    /// The rule describes no secrets.
    #[error("rule `{0}`: there is no `pattern`, and there are neither `tokens` nor `commands`")]
    Nothing(String),
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
    /// The rule has keywords and no pattern.
    #[error("rule `{0}`: keywords belong to a `pattern`; tokens and commands are known by their beginnings")]
    Keywords(String),
    /// A token or a command cannot be parsed.
    #[error("rule `{id}`: `{text}`: {error}")]
    Syntax {
        /// The rule's id.
        id: String,
        /// The token or command.
        text: String,
        /// What is wrong with it.
        error: &'static str,
    },
}

/// Checks a rule and adds its parts.
pub(crate) fn add(
    rule: &Rule,
    patterns: &mut Vec<Pattern>,
    tokens: &mut Vec<Token>,
    commands: &mut Vec<Command>,
) -> Result<(), RuleError> {
    let Rule { id, pattern, keywords, tokens: formats, commands: lines, needs } = rule;
    if !is_id(id) {
        return Err(RuleError::Id(id.clone()));
    }
    if pattern.is_none() && formats.is_empty() && lines.is_empty() {
        return Err(RuleError::Nothing(id.clone()));
    }
    match pattern {
        Some(pattern) => patterns.push(Pattern::new(id, pattern, keywords, *needs)?),
        None if keywords.is_empty() => {}
        None => return Err(RuleError::Keywords(id.clone())),
    }
    let wrong = |text: &str, error| RuleError::Syntax { id: id.clone(), text: text.to_owned(), error };
    for format in formats {
        tokens.push(syntax::token(id, *needs, format).map_err(|error| wrong(format, error))?);
    }
    for line in lines {
        syntax::add_command(commands, id, *needs, line).map_err(|error| wrong(line, error))?;
    }
    Ok(())
}

/// A compiled regular expression of a rule.
#[derive(Debug)]
pub(crate) struct Pattern {
    rule: String,
    regex: Regex,
    pub(crate) keywords: Vec<String>,
    needs: Need,
}

impl Pattern {
    fn new(id: &str, pattern: &str, keywords: &[String], needs: Need) -> Result<Self, RuleError> {
        if keywords.iter().any(|word| word.len() < 2) {
            return Err(RuleError::Keyword(id.to_owned()));
        }
        let regex = Regex::new(pattern).map_err(|error| RuleError::Pattern { id: id.to_owned(), error: Box::new(error) })?;
        if regex.is_match("") {
            return Err(RuleError::Empty(id.to_owned()));
        }
        Ok(Self { rule: id.to_owned(), regex, keywords: keywords.to_vec(), needs })
    }

    /// Adds the secrets of a text.
    pub(crate) fn find(&self, text: &str, found: &mut Vec<Finding>) {
        found.extend(self.regex.captures_iter(text).filter_map(|groups| {
            let secret = groups.get(1).or_else(|| groups.get(0))?;
            let fits = self.needs.is_met(secret.as_str().as_bytes());
            fits.then(|| Finding { rule: self.rule.clone().into(), range: secret.range() })
        }));
    }
}
