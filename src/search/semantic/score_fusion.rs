//! Score fusion: one order from lexical and semantic scores. Pure.
//!
//! Each list is normalized and the two are added with a weight. Fusing ranks with equal weights finds less than words alone: a model returns
//! a best match for every question, even when nothing is relevant.
//!
//! - Exact names, errors and paths go by words, vague questions by meaning: the less of the query the best document holds, the more meaning
//!   counts.
//! - Cosines of good and bad matches differ little, so the last candidate counts as nothing, not as nearly as much as the first.
//!
//! The numbers were chosen on half of the questions of `docs/src/search.md` and reported on the other.

use std::collections::BTreeMap;

/// How many results of each list are considered.
pub(crate) const MAX_CANDIDATES: usize = 100;

/// A document's key and score; higher is better.
pub(crate) type ScoredDoc = (i64, f64);

/// The weight of meaning where no document holds anything of the query.
const WEIGHT_UNKNOWN: f64 = 0.9;
/// From this share of the score of a document that holds every word, the query's words are known, and meaning has the weight of the config.
const KNOWN_SHARE: f64 = 0.4;

/// Fuses both lists, best first; ties go to the lower key. The lists may be in any order and hold each document once. `weight`, 0 to 1,
/// is the share of the semantic score where the query's words are known. A score that is negative or not finite counts as zero.
///
/// `full` is the lexical score of a document that holds every word of the query. Where the best document scores less, lexical scores are
/// normalized by `full` instead, so that a weak best match does not count as a perfect one.
pub(crate) fn fuse_scores(lexical: &[ScoredDoc], similar: &[ScoredDoc], full: f64, weight: f64) -> Vec<ScoredDoc> {
    let (lexical, similar) = (sorted_finite(lexical), sorted_finite(similar));
    let best = |scores: &[ScoredDoc]| scores.first().map_or(0.0, |(_, score)| *score);
    let weight = weight_of_meaning(best(&lexical), full, weight);
    let largest = best(&lexical).max(full);
    let (nearest, furthest) = (best(&similar), similar.last().filter(|_| similar.len() > 1).map_or(0.0, |(_, score)| *score));
    let mut all: BTreeMap<i64, f64> = BTreeMap::new();
    // Where all scores are the same: avoid dividing by zero.
    for (doc, score) in lexical {
        *all.entry(doc).or_default() += if largest > 0.0 { (1.0 - weight) * score / largest } else { 0.0 };
    }
    for (doc, score) in similar {
        *all.entry(doc).or_default() += if nearest > furthest { weight * (score - furthest) / (nearest - furthest) } else { 0.0 };
    }
    ordered(all.into_iter().collect())
}

/// The weight of meaning for a query of which the best document has this score.
fn weight_of_meaning(best: f64, full: f64, weight: f64) -> f64 {
    if full <= 0.0 || weight <= 0.0 {
        return weight.max(0.0);
    }
    let unknown = 1.0 - (best / full / KNOWN_SHARE).min(1.0).powi(2);
    weight + (WEIGHT_UNKNOWN - weight).max(0.0) * unknown
}

fn sorted_finite(scores: &[ScoredDoc]) -> Vec<ScoredDoc> {
    let sound = |score: f64| if score.is_finite() { score.max(0.0) } else { 0.0 };
    ordered(scores.iter().map(|(doc, score)| (*doc, sound(*score))).collect())
}

fn ordered(mut scores: Vec<ScoredDoc>) -> Vec<ScoredDoc> {
    scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scores
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The fused order with scores in hundredths.
    fn fused(lexical: &[ScoredDoc], similar: &[ScoredDoc], weight: f64) -> Vec<(i64, i64)> {
        fuse_scores(lexical, similar, 0.0, weight).into_iter().map(|(doc, score)| (doc, (score * 100.0).round() as i64)).collect()
    }

    #[test]
    fn scores_of_both_kinds_are_added_by_weight() {
        let lexical = [(1, 12.0), (2, 6.0), (3, 2.4)];
        let similar = [(3, 0.8), (4, 0.4), (1, 0.08)];
        assert_eq!(fused(&lexical, &similar, 0.3), [(1, 70), (3, 44), (2, 35), (4, 13)]);
        assert_eq!(fused(&lexical, &similar, 0.7), [(3, 76), (4, 31), (1, 30), (2, 15)]);
        assert_eq!(fused(&lexical, &similar, 0.0), [(1, 100), (2, 50), (3, 20), (4, 0)]);
        assert_eq!(fused(&lexical, &similar, 1.0), [(3, 100), (4, 44), (1, 0), (2, 0)]);
    }

    #[test]
    fn of_equals_the_lower_number_comes_first() {
        assert_eq!(fused(&[(9, 1.0), (2, 1.0)], &[], 0.3), [(2, 70), (9, 70)]);
    }

    #[test]
    fn words_that_hold_little_of_the_question_count_little() {
        let (lexical, similar) = ([(1, 4.0), (2, 2.0)], [(3, 0.8), (2, 0.7), (5, 0.1)]);
        let fused = |full: f64| fuse_scores(&lexical, &similar, full, 0.5).into_iter().map(|(doc, _)| doc).collect::<Vec<_>>();
        assert_eq!((fused(1.0), fused(16.0)), (vec![2, 1, 3, 5], vec![3, 2, 1, 5]));
    }

    #[test]
    fn the_less_of_the_query_is_known_the_more_meaning_counts() {
        let weights: Vec<f64> = [0.0, 0.2, 0.4, 1.0].iter().map(|best| weight_of_meaning(*best, 1.0, 0.3)).collect();
        assert!((weights[0] - 0.9).abs() < 1e-9 && weights[0] > weights[1] && weights[1] > weights[2], "{weights:?}");
        assert_eq!(weights[2..], [0.3, 0.3]);
        assert_eq!(
            [weight_of_meaning(0.0, 1.0, 0.0), weight_of_meaning(0.0, 1.0, 1.0), weight_of_meaning(1.0, 0.0, 0.3)],
            [0.0, 1.0, 0.3]
        );
    }

    #[test]
    fn what_is_no_score_counts_nothing() {
        assert_eq!(fused(&[(1, f64::NAN), (2, 1.0)], &[(1, -0.4), (2, f64::INFINITY)], 0.5), [(2, 50), (1, 0)]);
        assert_eq!(fused(&[], &[(1, -0.4), (2, -0.1)], 0.5), [(1, 0), (2, 0)]);
        assert_eq!(fused(&[], &[], 0.5), []);
    }

    fn scores() -> impl Strategy<Value = Vec<ScoredDoc>> {
        prop::collection::btree_map(0i64..400, 0.001f64..50.0, 0..150).prop_map(|all| all.into_iter().collect())
    }

    proptest! {
        #[test]
        fn one_kind_alone_keeps_its_order(scores in scores(), weight in 0.01f64..0.99) {
            let docs = |all: &[ScoredDoc]| all.iter().map(|(doc, _)| *doc).collect::<Vec<_>>();
            prop_assert_eq!(docs(&fuse_scores(&scores, &[], 0.0, weight)), docs(&sorted_finite(&scores)));
            prop_assert_eq!(docs(&fuse_scores(&[], &scores, 0.0, weight)), docs(&sorted_finite(&scores)));
        }

        #[test]
        fn scores_are_between_nothing_and_one(lexical in scores(), similar in scores(), weight in 0.0f64..=1.0) {
            let all = fuse_scores(&lexical, &similar, 0.0, weight);
            prop_assert!(all.iter().all(|(_, score)| (0.0..=1.0 + 1e-9).contains(score)));
            prop_assert!(all.is_sorted_by(|a, b| a.1 >= b.1));
            let docs: std::collections::BTreeSet<i64> = all.iter().map(|(doc, _)| *doc).collect();
            prop_assert_eq!(docs.len(), all.len());
        }

        #[test]
        fn a_document_that_is_better_in_both_is_better(lexical in scores(), similar in scores(), weight in 0.0f64..=1.0) {
            let (words, meaning): (BTreeMap<_, _>, BTreeMap<_, _>) = (sorted_finite(&lexical).into_iter().collect(), sorted_finite(&similar).into_iter().collect());
            let of = |all: &BTreeMap<i64, f64>, doc: &i64| all.get(doc).copied().unwrap_or_default();
            let all = fuse_scores(&lexical, &similar, 0.0, weight);
            for (at, (a, _)) in all.iter().enumerate() {
                for (b, _) in &all[at + 1..] {
                    let worse = of(&words, a) < of(&words, b) && of(&meaning, a) < of(&meaning, b);
                    prop_assert!(!worse, "{} before {}", a, b);
                }
            }
        }

        #[test]
        fn scales_do_not_matter(lexical in scores(), similar in scores(), by in 0.01f64..100.0) {
            let scaled: Vec<ScoredDoc> = lexical.iter().map(|(doc, score)| (*doc, score * by)).collect();
            let (a, b) = (fuse_scores(&lexical, &similar, 0.0, 0.3), fuse_scores(&scaled, &similar, 0.0, 0.3));
            for (x, y) in a.iter().zip(&b) {
                prop_assert!((x.1 - y.1).abs() < 1e-9);
            }
        }
    }
}
