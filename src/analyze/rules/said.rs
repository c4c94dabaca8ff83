//! What a mention says, for comparing it with others: in the user's words, and in a model's where it named the mention.

use std::collections::BTreeSet;

use super::{Mention, RuleWords, sentence, words_of};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SaidWords {
    quote: RuleWords,
    /// Does the quotation itself tell what is wanted and what is not? "You used npm again" does not.
    instructs: bool,
    wording: Option<RuleWords>,
}

impl SaidWords {
    pub(super) fn of(mention: &Mention) -> Self {
        Self {
            quote: words_of(&mention.text),
            instructs: mention.wording.is_none() || sentence::rule_of(&mention.text).is_some(),
            wording: mention.wording.as_deref().map(words_of),
        }
    }

    /// All words that it wants or does not want.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let all: BTreeSet<&str> = self.all().flat_map(|one| one.wanted.iter().chain(&one.unwanted)).map(String::as_str).collect();
        all.into_iter()
    }

    fn all(&self) -> impl Iterator<Item = &RuleWords> + Clone {
        std::iter::once(&self.quote).chain(&self.wording)
    }

    fn stances(&self) -> impl Iterator<Item = &RuleWords> + Clone {
        std::iter::once(&self.quote).filter(|_| self.instructs).chain(&self.wording)
    }

    /// Do the words of one say what those of the other do, and none the opposite?
    pub(super) fn is_same(&self, other: &Self) -> bool {
        !self.is_opposite(other) && self.all().any(|one| other.all().any(|other| one.is_same(other)))
    }

    pub(super) fn is_opposite(&self, other: &Self) -> bool {
        self.stances().any(|one| other.stances().any(|other| one.is_opposite(other)))
    }

    pub(super) fn is_opposed_in(&self, statements: &[RuleWords]) -> bool {
        self.stances().any(|own| statements.iter().any(|said| own.is_opposite(said)))
    }

    pub(super) fn is_said_in(&self, statements: &[RuleWords]) -> bool {
        let mut own = self.all().filter(|own| own.len() > 0);
        own.any(|own| statements.iter().any(|said| own.is_same(said) || own.is_within(said)))
    }
}
