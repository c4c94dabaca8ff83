//! The words of a query with their document frequency and weight in the index.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::highlight::Highlighter;
use super::query::Query;
use crate::store::Reader;
use text::synonyms::marker;
use text::tokenize::words_of;

/// The most words that are looked up.
const MAX_LOOKED_UP: usize = 48;
/// The most documents to rank, as a share of all of them, and the bounds of that number: ranking costs a microsecond per document. A word
/// that more documents hold is common: it says little and is only searched for among the newest documents.
const COMMON_SHARE: f64 = 0.2;
const MIN_RANKED_DOCS: u64 = 4_000;
const MAX_RANKED_DOCS: u64 = 10_000;

/// A word of the query with its weight.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WeightedWord {
    pub(crate) text: String,
    pub(crate) group: Option<&'static str>,
    /// The FTS5 expression of the word or its synonyms.
    pub(crate) expression: String,
    /// Higher for rarer words.
    pub(crate) weight: f64,
    /// Document frequency, counted to one beyond the limit for common words.
    pub(crate) df: u64,
}

impl WeightedWord {
    /// The FTS5 phrase of the word without its synonyms.
    pub(crate) fn alone(&self) -> &str {
        self.expression.split(" OR ").next().unwrap_or_default()
    }
}

/// The words of a query, rarest first, those without any document last; then the words of its phrases.
pub(super) struct QueryWords {
    pub(crate) weighed: Vec<WeightedWord>,
    pub(crate) highlighter: Highlighter,
    /// The weight of each word the highlighter finds, by its index.
    pub(crate) weights: Vec<f64>,
    /// Joined names, each with the indexes of its parts. The highlighter cannot match a whole name, because it may be spelled many ways.
    joined: Vec<(usize, Vec<usize>)>,
    pub(crate) documents: f64,
    /// A word that more documents hold is common.
    pub(crate) limit: u64,
}

impl QueryWords {
    pub(crate) fn of(store: &Reader, query: &Query) -> Result<Self> {
        let documents = store.document_count()?;
        let limit = ((documents as f64 * COMMON_SHARE) as u64).clamp(MIN_RANKED_DOCS, MAX_RANKED_DOCS);
        let weighed = weigh(store, query, documents as f64, limit)?;
        let phrases: Vec<String> = query.phrases.iter().flat_map(|phrase| words_of(phrase)).map(str::to_lowercase).collect();
        let words = weighed.iter().map(|word| (word.text.as_str(), word.group));
        let highlighter = Highlighter::new(words.chain(phrases.iter().map(|word| (word.as_str(), None))));
        let weights = weighed.iter().map(|word| word.weight).chain(phrases.iter().map(|_| 1.0)).collect();
        let place = |part: &str| weighed.iter().position(|word| word.text == part);
        let parts = |name: &str| name.split(' ').filter_map(place).collect::<Vec<_>>();
        let names = weighed.iter().enumerate().filter(|(_, word)| word.text.contains(' '));
        let joined = names.map(|(at, name)| (at, parts(&name.text))).collect();
        Ok(Self { weighed, highlighter, weights, joined, documents: documents as f64, limit })
    }

    /// Adds each joined name whose parts are all present.
    pub(crate) fn add_joined(&self, words: &mut BTreeSet<usize>) {
        let whole = |parts: &[usize]| !parts.is_empty() && parts.iter().all(|part| words.contains(part));
        let there: Vec<usize> = self.joined.iter().filter(|(_, parts)| whole(parts)).map(|(at, _)| *at).collect();
        words.extend(there);
    }

    /// The share of the total weight that these words have.
    pub(crate) fn share(&self, words: &BTreeSet<usize>) -> f64 {
        self.sum(words) / self.weights.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// The share of the total weight that the words in a text have; a synonym counts less than the word.
    pub(crate) fn share_in(&self, text: &str) -> f64 {
        let mut best: BTreeMap<usize, f64> = BTreeMap::new();
        for spot in self.highlighter.word_matches(text) {
            let factor = best.entry(spot.word).or_default();
            *factor = spot.factor.max(*factor);
        }
        let held: f64 = best.iter().filter_map(|(word, factor)| Some(self.weights.get(*word)? * factor)).sum();
        held / self.weights.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// The words that some document holds and that are not common, rarest first.
    pub(crate) fn telling(&self) -> impl Iterator<Item = &WeightedWord> {
        self.weighed.iter().filter(|word| (1..=self.limit).contains(&word.df))
    }

    /// How rare a word of the query is: 1 if a single document holds it, 0 if none does or it is common.
    pub(crate) fn rarity(&self, word: &str) -> f64 {
        let known = self.telling().find(|known| known.text == word);
        known.map_or(0.0, |known| (known.weight / weight(1.0, self.documents)).clamp(0.0, 1.0))
    }

    /// The weight of these words, in units of one word that occurs in a single document.
    pub(crate) fn distinctiveness(&self, words: &BTreeSet<usize>) -> f64 {
        self.sum(words) / weight(1.0, self.documents)
    }

    fn sum(&self, words: &BTreeSet<usize>) -> f64 {
        words.iter().filter_map(|word| self.weights.get(*word)).sum()
    }
}

/// The upper bound of [`QueryWords::distinctiveness`] over all results. Cheap compared with ranking.
pub(super) fn max_distinctiveness(store: &Reader, query: &Query) -> Result<f64> {
    let words = QueryWords::of(store, query)?;
    let known = words.weighed.iter().filter(|word| word.df > 0);
    Ok(known.map(|word| word.weight).sum::<f64>() / weight(1.0, words.documents))
}

fn weigh(store: &Reader, query: &Query, documents: f64, limit: u64) -> Result<Vec<WeightedWord>> {
    let mut all = Vec::new();
    for term in query.terms.iter().take(MAX_LOOKED_UP) {
        let prefix = if term.is_part { "*" } else { "" };
        let word = format!("\"{}\"{prefix}", term.text);
        let mut df = store.count_documents(&word, limit + 1)?;
        let mut expression = word;
        if let Some(group) = term.group {
            let wider = format!("{expression} OR {{extra}} : \"{}\"", marker(group));
            let wider_df = store.count_documents(&wider, limit + 1)?;
            if wider_df <= limit || df == 0 {
                (expression, df) = (wider, wider_df);
            }
        }
        // Common words are not counted to the end: assume that half of all documents hold them.
        let holding = if df > limit { documents / 2.0 } else { df as f64 };
        all.push(WeightedWord { text: term.text.clone(), group: term.group, expression, weight: weight(holding, documents), df });
    }
    all.sort_by_key(|word| (word.df == 0, word.df));
    Ok(all)
}

/// The weight (inverse document frequency) of a word that `holding` of all documents hold.
fn weight(holding: f64, documents: f64) -> f64 {
    (1.0 + (documents - holding + 0.5).max(0.0) / (holding + 0.5)).ln()
}
