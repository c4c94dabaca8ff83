//! The user's sentence behind a standing instruction that a model names.
//!
//! The model quotes it: users say a thing in ever other words, which need not be those of an instruction. It is proven where the quotation stands
//! in what the user typed, in a prompt or as the reason for a refusal, and is told by the whole sentence, or the few sentences, that hold it.

use super::Record;
use crate::analyze::account::is_typed;
use crate::analyze::rules::{may_prove, passages_with};
use crate::model::digest::Claim;
use transcripts::session::Item;

impl Record<'_> {
    /// Puts the user's sentence in the place of what is quoted. What is not proven keeps the model's words and no row.
    pub(super) fn prove_instruction(&self, claim: &mut Claim) {
        let cited = self.places(&claim.rows);
        let typed = (0..self.entries().len()).filter_map(|at| Some((at, self.typed_at(at)?)));
        let found = typed.filter_map(|(at, text)| {
            let passage = passages_with(text, &claim.text).into_iter().find(|passage| may_prove(passage, claim.claimed()))?;
            Some((cited.contains(&at), at, passage))
        });
        // A cited one before others, and of equals the last one.
        match found.max_by_key(|(is_cited, at, _)| (*is_cited, *at)) {
            Some((_, at, passage)) => {
                let claimed = claim.claimed().to_owned();
                *claim = Claim { text: passage, rows: self.keys(&[at]), claimed: Some(claimed) };
            }
            None => *claim = Claim::new(claim.claimed()),
        }
    }

    /// What the user typed at an entry, by which they may say what holds from now on. An answer in a dialog may be in the assistant's words.
    fn typed_at(&self, at: usize) -> Option<&str> {
        let entry = &self.entries()[at];
        let typed = match &entry.item {
            Item::Prompt(text) if is_typed(text) => text,
            Item::Answer(answer) if answer.asked.is_empty() => &answer.said,
            _ => return None,
        };
        entry.is_main().then_some(typed.as_str())
    }
}
