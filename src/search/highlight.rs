//! Finds the words of a query in a text, for highlighting and excerpts.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::query::Query;
use text::clean::shorten;
use text::synonyms::words_of_group;
use text::tokenize::{is_unsegmented, stem, words_of};

/// The longest suffix after a stem that still counts as the same word, in bytes.
const MAX_SUFFIX_BYTES: usize = 5;
/// Words up to this many characters match only as a whole.
const SHORT_WORD_CHARS: usize = 3;
/// The score factor of a synonym; the word itself counts 1.
const SYNONYM_FACTOR: f64 = 0.5;

/// Finds words in any inflected form, and their synonyms.
pub struct Highlighter {
    finder: Option<AhoCorasick>,
    patterns: Vec<WordPattern>,
}

struct WordPattern {
    /// Index of the query word that this pattern belongs to.
    word: usize,
    factor: f64,
    is_short: bool,
}

/// One match of a query word in a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WordMatch {
    pub(crate) at: Range<usize>,
    pub(crate) word: usize,
    /// 1 for the word itself, less for a synonym.
    pub(crate) factor: f64,
}

impl Highlighter {
    pub fn of_query(query: &Query) -> Self {
        let phrases = query.phrases.iter().flat_map(|phrase| words_of(phrase)).map(str::to_lowercase);
        let terms = query.terms.iter().map(|term| (term.text.clone(), term.group));
        let words: Vec<(String, Option<&'static str>)> = terms.chain(phrases.map(|word| (word, None))).collect();
        Self::new(words.iter().map(|(word, group)| (word.as_str(), *group)))
    }

    /// Takes words in lower case, each with its synonym group. A joined name is skipped: its parts are in the list as words of their own.
    pub(super) fn new<'w>(words: impl Iterator<Item = (&'w str, Option<&'static str>)>) -> Self {
        let (mut texts, mut patterns) = (Vec::new(), Vec::new());
        let mut add = |text: &str, word: usize, factor: f64| {
            let is_short = text.chars().count() <= SHORT_WORD_CHARS && !text.chars().any(is_unsegmented);
            for form in case_variants(if is_short { text } else { common_prefix(text) }) {
                texts.push(form);
                patterns.push(WordPattern { word, factor, is_short });
            }
        };
        for (at, (word, group)) in words.enumerate() {
            if !word.contains(' ') {
                add(word, at, 1.0);
            }
            group
                .into_iter()
                .flat_map(words_of_group)
                .filter(|other| *other != word)
                .for_each(|other| add(other, at, SYNONYM_FACTOR));
        }
        let build = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .build(&texts);
        Self { finder: build.ok().filter(|_| !texts.is_empty()), patterns }
    }

    pub(super) fn word_matches(&self, text: &str) -> Vec<WordMatch> {
        let Some(finder) = &self.finder else { return Vec::new() };
        let found = finder.find_overlapping_iter(text).filter_map(|hit| {
            let pattern = &self.patterns[hit.pattern().as_usize()];
            let end = word_end(text, hit.range(), pattern.is_short)?;
            Some(WordMatch { at: hit.start()..end, word: pattern.word, factor: pattern.factor })
        });
        found.collect()
    }

    /// At most about `max` characters of a text; a long text is cut to start shortly before the first match.
    pub(crate) fn excerpt(&self, text: &str, max: usize) -> String {
        let first = self.marks(text).first().map_or(0, |mark| mark.start);
        if text.chars().count() <= max || text[..first].chars().count() < max / 2 {
            return shorten(text, max);
        }
        let from = text[..first].char_indices().rev().nth(max / 3).map_or(0, |(at, _)| at);
        let from = text[from..first].find(char::is_whitespace).map_or(from, |at| from + at);
        format!("…{}", shorten(text[from..].trim_start(), max))
    }

    /// The ranges to highlight, sorted and merged.
    pub(crate) fn marks(&self, text: &str) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = self.word_matches(text).into_iter().map(|spot| spot.at).collect();
        ranges.sort_by_key(|range| (range.start, range.end));
        let mut apart: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            match apart.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => apart.push(range),
            }
        }
        apart
    }
}

/// The prefix shared by all forms of a word: `drop` for `dropped`, but `fill` for `filled`.
fn common_prefix(word: &str) -> &str {
    let stem = stem(word);
    let mut ends = stem.bytes().rev();
    let (last, before) = (ends.next(), ends.next());
    let doubled = last == before && last.is_some_and(|b| b.is_ascii_lowercase() && !matches!(b, b'l' | b's' | b'z'));
    if doubled && stem.len() < word.len() && stem.len() > SHORT_WORD_CHARS { &stem[..stem.len() - 1] } else { stem }
}

/// The word as given, capitalized and in upper case. Only non-ASCII words need this: the matcher ignores ASCII case itself.
fn case_variants(word: &str) -> Vec<String> {
    let mut all = vec![word.to_owned()];
    if !word.is_ascii() {
        let mut chars = word.chars();
        let capital: String = chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect();
        for form in [capital, word.to_uppercase()] {
            if !all.contains(&form) {
                all.push(form);
            }
        }
    }
    all
}

/// Where the word of a hit ends. `None` if the hit is inside a word, or if a longer, different word starts with it.
fn word_end(text: &str, hit: Range<usize>, is_short: bool) -> Option<usize> {
    if text[hit.clone()].chars().any(is_unsegmented) {
        return Some(hit.end);
    }
    let before = text[..hit.start].chars().next_back();
    let starts = before.is_none_or(|b| !b.is_alphanumeric())
        || before.is_some_and(char::is_lowercase) && text[hit.start..].starts_with(char::is_uppercase);
    let rest = &text[hit.end..];
    let is_end = |(_, c): &(usize, char)| !c.is_lowercase();
    let ending = &rest[..rest.char_indices().find(is_end).map_or(rest.len(), |(at, _)| at)];
    let fits = if is_short { matches!(ending, "" | "s") } else { ending.len() <= MAX_SUFFIX_BYTES };
    (starts && fits).then_some(hit.end + ending.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(word: &str, text: &str) -> Vec<String> {
        let highlighter = Highlighter::new(std::iter::once((word, None)));
        highlighter.marks(text).into_iter().map(|mark| text[mark].to_owned()).collect()
    }

    #[test]
    fn a_word_is_found_in_its_forms_and_not_inside_of_others() {
        let cases: [(&str, &str, &[&str]); 9] = [
            ("migrations", "Migrate it: migrating, a migration; immigrate", &["Migrate", "migrating", "migration"]),
            ("dropped", "drop dropping drops dropper", &["drop", "dropping", "drops", "dropper"]),
            ("filled", "filling, fill, file", &["filling", "fill"]),
            ("api", "APIs of an api, rapid apiary", &["APIs", "api"]),
            ("row", "parseRow and row_id, rows, rowing", &["Row", "row", "rows"]),
            ("änderung", "Änderungen und ÄNDERUNG", &["Änderungen", "ÄNDERUNG"]),
            ("кэш", "Кэш пуст", &["Кэш"]),
            ("分页", "订单列表分页有问题", &["分页"]),
            ("cat", "category concat cat", &["cat"]),
        ];
        for (word, text, expected) in cases {
            assert_eq!(marked(word, text), expected, "{word}");
        }
    }
}
