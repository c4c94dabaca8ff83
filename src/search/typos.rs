//! Words that no document holds, and the words of the index that were probably meant.
//!
//! The index keeps stems: of `pagination` it has `pagin`. So a stem is compared with the beginning of what was typed, and the rest of it is
//! kept: `pagniation` is `pagin` with one exchange, and with its ending `pagination`.

use std::cmp::Reverse;

use anyhow::Result;

use super::query::{Query, Term};
use crate::store::Reader;
use text::synonyms::group_of;

/// The shortest word that is corrected, in characters: shorter ones have too many neighbours.
const MIN_CHARS: usize = 5;
/// A word of so many characters may have two slips; a shorter one has one.
const TWO_SLIPS_CHARS: usize = 10;
/// The longest ending that may follow a stem, in characters.
const MAX_ENDING: usize = 5;
/// So many characters are a long ending.
const LONG_ENDING: usize = 3;
/// How many words a query has corrected at most, and how many candidates are looked up for each: a pasted text is not proof-read.
const MAX_CORRECTED: usize = 4;
const MAX_LOOKED_UP: usize = 12;

/// The query with each word that no document holds replaced by one like it that some document holds, if there is one; and a line about each.
pub(super) fn corrected(store: &Reader, query: &Query) -> Result<(Query, Vec<String>)> {
    let (mut query, mut corrections) = (query.clone(), Vec::new());
    for term in &mut query.terms {
        if corrections.len() >= MAX_CORRECTED {
            break;
        }
        let letters = term.text.chars().count();
        if term.is_part || letters < MIN_CHARS || term.group.is_some() || !term.text.bytes().all(|b| b.is_ascii_lowercase()) {
            continue;
        }
        if store.count_documents(&quoted(&term.text), 1)? > 0 {
            continue;
        }
        if let Some(meant) = meant_by(store, &term.text)? {
            corrections.push(format!("no session has `{}`: searched for `{meant}`", term.text));
            *term = Term { group: group_of(&meant), text: meant, is_part: false };
        }
    }
    Ok((query, corrections))
}

/// The word of the index that was probably meant: the nearest, of equally near ones that of most documents.
fn meant_by(store: &Reader, typed: &str) -> Result<Option<String>> {
    let mut near = Vec::new();
    store.each_word(&typed[..1], |word, documents| {
        near.extend(compare(typed, word).into_iter().map(|(slips, meant)| (slips, Reverse(documents), meant)));
    })?;
    near.sort();
    near.dedup();
    for (_, _, meant) in near.into_iter().take(MAX_LOOKED_UP) {
        // Not every stem takes every ending, and what may not be shown is not named either.
        if store.shows_any(&quoted(&meant))? {
            return Ok(Some(meant));
        }
    }
    Ok(None)
}

fn quoted(word: &str) -> String {
    format!("\"{word}\"")
}

/// Endings that the index takes off, one of which may be what was mistyped.
const ENDINGS: [&str; 16] =
    ["able", "ation", "ations", "e", "ed", "er", "ers", "es", "ing", "ings", "ion", "ions", "ly", "ment", "s", "y"];

/// The words that were perhaps meant by what was typed, if one of the index, which is a stem, is their beginning; with the number of slips.
fn compare(typed: &str, stem: &str) -> Vec<(usize, String)> {
    let (length, typed_length) = (stem.len(), typed.len());
    let allowed = if typed_length < TWO_SLIPS_CHARS { 1 } else { 2 };
    let is_near = length + 1 >= MIN_CHARS && length <= typed_length + allowed && length + MAX_ENDING + allowed >= typed_length;
    if !is_near || !stem.bytes().all(|b| b.is_ascii_lowercase()) {
        return Vec::new();
    }
    let cuts = length.saturating_sub(allowed)..=(length + allowed).min(typed_length);
    let compared = cuts.flat_map(|cut| {
        let (start, ending) = typed.split_at(cut);
        let slips = strsim::osa_distance(start, stem);
        let mistyped = ENDINGS.iter().map(move |known| (slips + strsim::osa_distance(ending, known), *known));
        // An ending of one letter is like any other of one letter.
        std::iter::once((slips, ending)).chain(mistyped.filter(move |_| ending.len() > 1))
    });
    // A slip in a short stem with a long ending makes another word: `nothing` is not `note` with an ending.
    let is_likely = |ending: &str| length >= MIN_CHARS || ending.len() < LONG_ENDING;
    let compared = compared.filter(|(slips, ending)| (1..=allowed).contains(slips) && is_likely(ending));
    compared.map(|(slips, ending)| (slips, format!("{stem}{ending}"))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_slip_is_seen_in_the_stem_and_the_ending_is_kept() {
        for (typed, stem, meant) in [
            ("pagniation", "pagin", "pagination"),
            ("timout", "timeout", "timeout"),
            ("migratoin", "migrat", "migration"),
            ("queires", "queri", "queries"),
        ] {
            assert!(compare(typed, stem).contains(&(1, meant.to_owned())), "{typed}: {:?}", compare(typed, stem));
        }
        assert!(compare("cahced", "cach").contains(&(1, "cached".to_owned())));
        for (typed, stem) in [("redis", "redirect"), ("cache", "crash"), ("nothing", "note")] {
            assert_eq!(compare(typed, stem), [], "{typed}");
        }
    }

    proptest! {
        #[test]
        fn any_two_words_can_be_compared(typed in "[a-z]{5,20}", stem in "\\PC{0,20}") {
            for (slips, meant) in compare(&typed, &stem) {
                prop_assert!((1..=2).contains(&slips) && meant.starts_with(&stem));
            }
        }
    }
}
