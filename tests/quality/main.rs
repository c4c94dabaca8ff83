//! How well `recall search` finds the session somebody means, measured through the program: made-up and recorded sessions, questions as
//! people ask them months later, and an independent baseline.
//!
//! `cargo test --test quality -- --nocapture` prints the table. `RECALL_QUALITY_VARIANTS=FILE` adds further variants (see `variants.rs`),
//! `RECALL_QUALITY_MISSES=1` names the questions of the half for tuning that are not answered in the first five places, and
//! `RECALL_QUALITY_KEEP=DIR` leaves the transcripts in a folder.
#[path = "../support/mod.rs"]
mod support;

mod corpus;
mod metrics;
mod plain;
mod questions;
mod replies;
mod table;
mod variants;
mod well_made;

use std::path::Path;

use metrics::{Answer, marks};
use plain::Plain;
use questions::{Question, UNANSWERABLE, questions};
use table::{Run, table};
use variants::{Digests, Variant, Worlds};

/// What is shipped must be this good over all questions; a little below what was measured.
const RECALL5: f64 = 0.82;
const NDCG10: f64 = 0.80;
const MRR: f64 = 0.79;
/// And at most this many tokens in the median.
const TOKENS: f64 = 600.0;

#[test]
fn what_is_meant_is_found() {
    let questions = questions();
    let mut worlds = Worlds::default();
    let shipped = Variant { name: "shipped".into(), ..Variant::default() };
    let plain = Plain::new(worlds.of(&shipped));
    let mut runs = vec![Run { name: "plain unicode61".into(), answers: questions.iter().map(|q| plain.search(&q.text)).collect() }];
    for variant in variants(shipped) {
        let answers = variant.answers(&mut worlds, &questions);
        misses(&variant.name, &questions, &answers);
        runs.push(Run { name: variant.name, answers });
    }
    println!("{}", table(&questions, &runs));

    let (plain, shipped) = (runs[0].summary(&questions, |_| true), runs[1].summary(&questions, |_| true));
    assert!(shipped.recall5 >= RECALL5 && shipped.ndcg10 >= NDCG10 && shipped.mrr >= MRR, "it was better: {shipped:#?}");
    assert!(shipped.tokens <= TOKENS, "it was shorter: {shipped:#?}");
    assert!(
        shipped.recall5 > plain.recall5 && shipped.ndcg10 > plain.ndcg10,
        "no better than the baseline: {plain:#?} {shipped:#?}"
    );
}

/// What is shipped, with digests of both kinds, and whatever else somebody wants to compare.
fn variants(shipped: Variant) -> Vec<Variant> {
    let mut all = vec![shipped];
    if replies::count() > 0 {
        for (name, digests) in [("model digests", Digests::Model), ("… without their questions", Digests::Unasked)] {
            all.push(Variant { name: name.into(), digests, ..Variant::default() });
        }
    }
    if let Some(file) = std::env::var_os("RECALL_QUALITY_VARIANTS") {
        all.extend(variants::of_file(Path::new(&file)));
    }
    all
}

/// Only of the half on which weights may be chosen.
fn misses(variant: &str, questions: &[Question], answers: &[Answer]) {
    if std::env::var_os("RECALL_QUALITY_MISSES").is_none() {
        return;
    }
    let tune = questions.iter().zip(answers).filter(|(q, _)| q.tune && q.kind != UNANSWERABLE);
    for (question, answer) in tune.filter(|(q, a)| marks(q, a).recall5 < 1.0) {
        println!("{variant}: {} {:?} meant {:?}, found {:?}", question.id, question.text, question.grades, answer.sessions);
    }
}
