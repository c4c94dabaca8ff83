//! The texts of a document that are embedded: one for each thing that is said of it. Pure.
//!
//! One vector cannot represent a long text, and several statements in one text blur each other: with a vector for each title, request,
//! statement, question, prompt and reply, MiniLM found 54 % of paraphrases among the first five where pieces of 900 characters gave 28 %.
//! Small models read about 256 tokens and ignore the rest, so each text is at most so long.

use std::collections::BTreeSet;

use crate::analyze::account::SessionAccount;
use crate::model::digest::Digest;
use crate::model::section::Section;
use text::clean::shorten;

/// Raise whenever the same document would have other texts: vectors of different versions are never compared.
pub(crate) const VERSION: i64 = 3;

/// The most characters in a piece.
pub(crate) const PIECE_CHARS: usize = 900;
/// The most pieces per document; the first ones say what it is about.
pub(crate) const MAX_PIECES: usize = 24;
/// The most characters of a prompt or a reply: what it is about stands at its beginning.
const SAID_CHARS: usize = 600;
/// A text with fewer words says nothing by itself.
const MIN_WORDS: usize = 3;

/// What is said of a session, the most telling first: title and request, what a model claims of it, the questions that it answers by the
/// model's word and other words for it, what was committed, how it ended, and what was said on the way, from both ends.
pub(crate) fn of_session(digest: &Digest, account: &SessionAccount) -> Vec<String> {
    let (words, claims): (Vec<_>, Vec<_>) = digest.findable().partition(|(section, _)| *section == Section::OtherWords);
    // Alone, a word says little.
    let words = words.iter().map(|(_, claim)| claim.claimed()).collect::<Vec<_>>().join(", ");
    let claims = claims.iter().map(|(_, claim)| claim.claimed());
    let commits = account.commits.iter().rev().map(|commit| commit.subject.as_str());
    let told = [digest.title.as_str(), &digest.request].into_iter().chain(claims).chain([words.as_str()]).chain(commits);
    let replies: Vec<&str> = account.turns.iter().filter_map(|turn| Some(turn.reply.as_ref()?.text.as_str())).collect();
    let prompts: Vec<&str> = account.turns.iter().flat_map(|turn| turn.words.iter().map(|word| word.text.as_str())).collect();
    let said = alternately(from_both_ends(&replies).into_iter().rev().collect(), from_both_ends(&prompts));
    let mut seen = BTreeSet::new();
    let told = told.map(|text| shorten(text.trim(), PIECE_CHARS));
    let all = told.chain(said.into_iter().map(|text| shorten(text.trim(), SAID_CHARS)));
    all.filter(|text| text.split_whitespace().nth(MIN_WORDS - 1).is_some() && seen.insert(text.clone())).take(MAX_PIECES).collect()
}

/// One of each in turn, while there are any.
fn alternately<'t>(one: Vec<&'t str>, other: Vec<&'t str>) -> Vec<&'t str> {
    let (mut one, mut other) = (one.into_iter(), other.into_iter());
    let mut all = Vec::new();
    loop {
        let pair = [one.next(), other.next()];
        if pair == [None, None] {
            return all;
        }
        all.extend(pair.into_iter().flatten());
    }
}

/// The first, the last, the second, the last but one …
fn from_both_ends<'t>(all: &[&'t str]) -> Vec<&'t str> {
    let (mut rest, mut ordered) = (all, Vec::with_capacity(all.len()));
    while let [first, others @ ..] = rest {
        ordered.push(*first);
        rest = others;
        if let [others @ .., last] = rest {
            ordered.push(*last);
            rest = others;
        }
    }
    ordered
}

/// The pieces of a note or a memory file: filled with whole lines while they fit, then with whole words.
pub(crate) fn of_note(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut piece = String::new();
    let mut length = 0;
    for part in text.lines().map(str::trim).filter(|line| !line.is_empty()).flat_map(split_line) {
        let chars = part.chars().count();
        if length > 0 && length + 1 + chars > PIECE_CHARS {
            all.push(std::mem::take(&mut piece));
            length = 0;
        }
        if length > 0 {
            piece.push('\n');
            length += 1;
        }
        piece.push_str(part);
        length += chars;
    }
    all.push(piece);
    all.into_iter().filter(|piece| !piece.is_empty()).take(MAX_PIECES).collect()
}

/// A line in parts of at most [`PIECE_CHARS`] characters, cut between words where possible.
fn split_line(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some((cut, _)) = rest.char_indices().nth(PIECE_CHARS) else { return Some(std::mem::take(&mut rest)) };
        let at = rest[..cut].rfind(char::is_whitespace).filter(|at| *at > cut / 2).unwrap_or(cut);
        let (part, next) = rest.split_at(at);
        rest = next.trim_start();
        Some(part.trim_end())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::digest::Claim;
    use transcripts::session::RecordKey;

    #[test]
    fn each_thing_that_is_said_of_a_session_is_a_piece_of_its_own() {
        let claim = |text: &str| Claim::supported(text, vec![RecordKey([7; 16])]);
        let digest =
            Digest { title: "Keyset pagination of orders".into(), request: "Stop losing rows".into(), ..Digest::default() };
        let digest = digest
            .with(Section::Completed, [claim("The list pages by key now"), claim("Done.")])
            .with(Section::Questions, [Claim::new("why do rows vanish?")])
            .with(Section::OtherWords, [Claim::new("cursor"), Claim::new("browsing"), Claim::new("lost records")]);
        assert_eq!(
            of_session(&digest, &SessionAccount::default()),
            [
                "Keyset pagination of orders", "Stop losing rows", "The list pages by key now", "why do rows vanish?",
                "cursor, browsing, lost records"
            ]
        );
    }

    #[test]
    fn a_long_talk_is_told_from_both_ends() {
        assert_eq!(from_both_ends(&["1", "2", "3", "4", "5"]), ["1", "5", "2", "4", "3"]);
        assert_eq!(from_both_ends(&[]), Vec::<&str>::new());
        assert_eq!(alternately(vec!["a"], vec!["1", "2"]), ["a", "1", "2"]);
    }

    #[test]
    fn a_long_note_is_cut_between_lines_and_words() {
        assert_eq!(of_note(" Orders went missing.\n\n  Now they do not. "), ["Orders went missing.\nNow they do not."]);
        let line = "word ".repeat(100);
        let all = of_note(&[line.trim(), line.trim(), line.trim()].join("\n"));
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|piece| piece.starts_with("word") && piece.ends_with("word")));
        let without_end = of_note(&"語".repeat(2_000));
        assert_eq!(without_end.iter().map(|piece| piece.chars().count()).collect::<Vec<_>>(), [900, 900, 200]);
        assert_eq!(of_note(&"line of words\n".repeat(50_000)).len(), MAX_PIECES);
        assert_eq!(of_note(" \n"), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn pieces_are_bounded_and_hold_nothing_new(text in "(\\PC{0,80}[ \n]?){0,80}") {
            let all = of_note(&text);
            prop_assert!(all.len() <= MAX_PIECES);
            for piece in &all {
                prop_assert!(!piece.is_empty() && piece.chars().count() <= PIECE_CHARS, "{}", piece.chars().count());
                prop_assert!(piece.split_whitespace().all(|word| text.contains(word)), "{piece:?}");
            }
        }
    }
}
