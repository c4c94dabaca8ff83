//! Whether the rows behind a statement hold another hash, count or name where the statement has its own.
//!
//! - Of rows that hold hashes, one has to hold the statement's; what stands before `..` was there before. Of several hashes it is that of
//!   the line which says most of the statement.
//! - Where cited rows count the same thing and do not hold the number, the number is wrong.
//! - Where a statement opens with code and a sentence behind it says the same of other code, a row behind it has to hold that code.

use std::collections::BTreeSet;

use super::tokens::{FixedToken, SessionText, fixed_tokens, number};
use crate::text::tokenize::{covered_by, distinctive_words};

/// A line is about a hash of its own if it holds so much more of a statement's words than any with the statement's hash.
const MIN_BETTER: f64 = 0.15;
/// A sentence says the same as a statement if it holds this share of its words.
const SAME: f64 = 0.5;
const MIN_HASH: usize = 7;
const MAX_HASH: usize = 64;

/// Do the rows behind a statement hold other hashes than it has, or where they hold none, does the line of the session that is most about it?
pub(super) fn another_hash(statement: &str, rows: &[String], session: impl FnOnce() -> Vec<String>) -> bool {
    let wanted = hashes(statement, |_| true);
    if wanted.is_empty() {
        return false;
    }
    let is_wanted = |hash: &str| wanted.iter().any(|wanted| hash.starts_with(wanted) || wanted.starts_with(hash));
    let mut units = units(rows, is_wanted);
    let cited = !units.is_empty();
    if !cited {
        units = self::units(&session(), is_wanted);
    }
    let mut words = distinctive_words(statement);
    words.retain(|word| !wanted.iter().any(|wanted| wanted.to_lowercase() == *word));
    let best = |with: bool| {
        let of = units.iter().filter(|(_, holds)| *holds == with).map(|(text, _)| covered_by(&words, text));
        of.max_by(f64::total_cmp)
    };
    match (best(true), best(false)) {
        (None, _) => cited,
        (Some(with), Some(without)) => without >= with + MIN_BETTER,
        _ => false,
    }
}

/// The parts of texts that hold a hash, by their words, and whether it is one that is looked for: a text with one hash, else each line.
fn units(texts: &[String], is_wanted: impl Fn(&str) -> bool + Copy) -> Vec<(BTreeSet<String>, bool)> {
    let of = |text: &str| {
        let found: BTreeSet<&str> = hashes(text, is_wanted).into_iter().collect();
        (!found.is_empty()).then(|| (found.len(), distinctive_words(text), found.into_iter().any(is_wanted)))
    };
    let mut all = Vec::new();
    for text in texts {
        match of(text) {
            Some((1, words, holds)) => all.push((words, holds)),
            Some(_) => all.extend(text.lines().filter_map(of).map(|(_, words, holds)| (words, holds))),
            None => {}
        }
    }
    all
}

/// The hashes in a text. One of digits alone is a hash if it is known to be one, or marked as code.
fn hashes(text: &str, is_known: impl Fn(&str) -> bool) -> Vec<&str> {
    let is_hash = |word: &&str| {
        let is_hex = (MIN_HASH..=MAX_HASH).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_hexdigit());
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        is_hex && digits > 0 && (digits < word.len() || is_known(word) || text.contains(&format!("`{word}`")))
    };
    let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '/' | ':' | '.'));
    // Of `a..b` the second.
    let words = words.map(|word| word.rsplit("..").next().unwrap_or(word));
    words.flat_map(|word| word.split(['.', '/', ':'])).filter(is_hash).collect()
}

/// Do these rows count what a statement counts, and hold none of its numbers for that?
pub(super) fn another_number(statement: &str, rows: &[String]) -> bool {
    let found: Vec<(String, String)> = rows.iter().flat_map(|text| counted(text)).collect();
    counted(statement).iter().any(|(number, thing)| {
        let mut same = found.iter().filter(|(_, counted)| counted == thing).peekable();
        same.peek().is_some() && found.iter().all(|(other, _)| other != number) && same.all(|(other, _)| other != number)
    })
}

/// Each number of a text with the word behind it, stemmed.
fn counted(text: &str) -> Vec<(String, String)> {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || "()[]{}|*`\"'=;:,_<>".contains(c)).filter(|w| !w.is_empty()).collect();
    let pair = |pair: &[&str]| {
        let thing = distinctive_words(pair[1]).into_iter().find(|stem| stem.chars().all(char::is_alphabetic))?;
        Some((number(pair[0])?, thing))
    };
    words.windows(2).filter_map(pair).collect()
}

/// Does a statement open with code that no row behind it holds, while a sentence there says the same of other code?
pub(super) fn another_name(statement: &str, sentences: &[String], rows: &[String]) -> bool {
    let subject = codes(statement).into_iter().next().filter(|_| statement.starts_with('`'));
    let is_there = |subject: &FixedToken| SessionText::of(rows.iter().map(String::as_str)).holds(subject);
    if subject.is_none_or(|subject| is_there(&subject)) {
        return false;
    }
    let words = distinctive_words(statement);
    let is_same = |said: &&String| covered_by(&words, &distinctive_words(said)) >= SAME;
    sentences.iter().filter(is_same).any(|said| !codes(said).is_empty())
}

fn codes(text: &str) -> Vec<FixedToken> {
    fixed_tokens(text).into_iter().filter(|token| matches!(token, FixedToken::Code(_))).collect()
}
