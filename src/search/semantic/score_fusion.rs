//! Score fusion: one order from lexical and semantic scores. Pure.
//!
//! Each list is normalized by its best score and the two are added with a weight. Fusing ranks with equal weights finds less than words
//! alone: a model returns a best match for every question, even when nothing is relevant.

use std::collections::BTreeMap;

/// How many results of each list are considered.
pub(crate) const MAX_CANDIDATES: usize = 100;

/// A document's key and score; higher is better.
pub(crate) type ScoredDoc = (i64, f64);

/// Fuses both lists, best first; ties go to the lower key. The lists may be in any order and hold each document once. `weight`, 0 to 1,
/// is the share of the semantic score. A score that is negative or not finite counts as zero.
///
/// `full` is the lexical score of a document that holds every word of the query. Where the best document scores less, lexical scores are
/// normalized by `full` instead, so that a weak best match does not count as a perfect one.
pub(crate) fn fuse_scores(lexical: &[ScoredDoc], similar: &[ScoredDoc], full: f64, weight: f64) -> Vec<ScoredDoc> {
    let mut all: BTreeMap<i64, f64> = BTreeMap::new();
    for (scores, least, share) in [(lexical, full, 1.0 - weight), (similar, 0.0, weight)] {
        let best = sorted_finite(scores);
        let largest = best.first().map_or(0.0, |(_, score)| *score).max(least);
        for (doc, score) in best {
            // All scores are zero: avoid dividing by zero.
            *all.entry(doc).or_default() += if largest > 0.0 { share * score / largest } else { 0.0 };
        }
    }
    ordered(all.into_iter().collect())
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
        assert_eq!(fused(&lexical, &similar, 0.3), [(1, 73), (3, 44), (2, 35), (4, 15)]);
        assert_eq!(fused(&lexical, &similar, 0.7), [(3, 76), (1, 37), (4, 35), (2, 15)]);
        assert_eq!(fused(&lexical, &similar, 0.0), [(1, 100), (2, 50), (3, 20), (4, 0)]);
        assert_eq!(fused(&lexical, &similar, 1.0), [(3, 100), (4, 50), (1, 10), (2, 0)]);
    }

    #[test]
    fn of_equals_the_lower_number_comes_first() {
        assert_eq!(fused(&[(9, 1.0), (2, 1.0)], &[], 0.3), [(2, 70), (9, 70)]);
    }

    #[test]
    fn words_that_hold_little_of_the_question_count_little() {
        let (lexical, similar) = ([(1, 4.0), (2, 2.0)], [(3, 0.8), (2, 0.4)]);
        let fused = |full: f64| fuse_scores(&lexical, &similar, full, 0.5).into_iter().map(|(doc, _)| doc).collect::<Vec<_>>();
        assert_eq!((fused(1.0), fused(16.0)), (vec![1, 2, 3], vec![3, 2, 1]));
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
