//! The sentence of the user's behind a standing instruction that a model names.
//!
//! It is a sentence that the user typed: in a prompt, or as the reason for a refusal. Of those that hold enough of the model's words, a cited
//! record's go before others, and it is told alone, as it stands, for it has to be found again in the session's account.

use super::quote::Told;
use super::{Claim, Record};
use crate::analyze::account::is_typed;
use crate::analyze::rules::{may_prove, sentences_to_prove};
use crate::model::session::Item;
use crate::text::tokenize::{covered_by, distinctive_words};

/// A sentence proves an instruction if it holds this share of its words: one of a cited record, and any other.
const MIN_CITED: f64 = 0.2;
const MIN_FOUND: f64 = 0.6;
/// How far one of a cited record is ahead of others, as a share of the words.
const CITED: f64 = 0.5;

impl Record<'_> {
    pub(super) fn instruction_told(&self, said: &Claim) -> Option<Told> {
        let wanted = distinctive_words(&said.text);
        let cited = self.places(&said.rows);
        let mut best: Option<(f64, Told)> = None;
        for (at, text) in (0..self.entries().len()).filter_map(|at| Some((at, self.typed_at(at)?))) {
            let (ahead, least) = if cited.contains(&at) { (CITED, MIN_CITED) } else { (0.0, MIN_FOUND) };
            for sentence in sentences_to_prove(text) {
                let share = covered_by(&wanted, &distinctive_words(&sentence));
                // Of equals the last one.
                let is_best = best.as_ref().is_none_or(|(worth, _)| share + ahead >= *worth);
                if share >= least && is_best && may_prove(&sentence, &said.text) {
                    best = Some((share + ahead, Told { text: sentence, rows: vec![at] }));
                }
            }
        }
        best.map(|(_, told)| told)
    }

    /// What the user typed at an entry, by which they may say what holds from now on. An answer in a dialog may be in the assistant's words.
    fn typed_at(&self, at: usize) -> Option<&str> {
        let entry = &self.entries()[at];
        match &entry.item {
            Item::Prompt(text) if is_typed(text) => Some(text.as_str()),
            Item::Answer(answer) if answer.asked.is_empty() => Some(answer.said.as_str()),
            _ => None,
        }
        .filter(|_| entry.is_main())
    }
}
