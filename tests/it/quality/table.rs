//! The figures as text.

use crate::quality::metrics::{Answer, Summary, summary};
use crate::quality::questions::{Question, UNANSWERABLE};

/// One way of searching, and what it answered to every question.
pub struct Run {
    pub name: String,
    pub answers: Vec<Answer>,
}

impl Run {
    /// Over the questions for which this holds.
    pub fn summary(&self, questions: &[Question], of: impl Fn(&Question) -> bool) -> Summary {
        summary(questions.iter().zip(&self.answers).filter(|(q, _)| of(q)))
    }
}

/// All figures: over each half and both, then by kind of question.
pub fn table(questions: &[Question], runs: &[Run]) -> String {
    let mut out =
        String::from("variant                      half      recall@5  recall@1  nDCG@10    MRR  tokens  wrong  silent\n");
    out += &lines(questions, runs);
    out += "\n`tokens`: of what somebody reads, the median. `wrong`: answers to a question that nothing answers; `silent`: how often there were none.\n";
    for (figure, value) in [("recall@5", (|s: &Summary| s.recall5) as fn(&Summary) -> f64), ("nDCG@10", |s| s.ndcg10)] {
        out += &format!("\n{figure} by kind{}\n", by_kind(questions, runs, value));
    }
    out
}

/// Each half and both.
pub fn lines(questions: &[Question], runs: &[Run]) -> String {
    let halves: [(&str, &[bool]); 3] = [("tune", &[true]), ("held out", &[false]), ("all", &[true, false])];
    let mut out = String::new();
    for run in runs {
        for (half, tune) in halves {
            out += &format!("{:28} {half:9} {}\n", run.name, line(&run.summary(questions, |q| tune.contains(&q.tune))));
        }
    }
    out
}

fn line(s: &Summary) -> String {
    let Summary { recall5, first, ndcg10, mrr, tokens, wrong, silent, .. } = s;
    format!("{recall5:8.3}  {first:8.3}  {ndcg10:7.3}  {mrr:5.3}  {tokens:6.0}  {wrong:5.1}  {silent:6.2}")
}

fn by_kind(questions: &[Question], runs: &[Run], value: fn(&Summary) -> f64) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    for question in questions.iter().filter(|q| q.kind != UNANSWERABLE) {
        if !kinds.contains(&question.kind.as_str()) {
            kinds.push(&question.kind);
        }
    }
    let mut out = format!("\n{:28}", "");
    kinds.iter().for_each(|kind| out += &format!(" {kind:>10}"));
    for run in runs {
        out += &format!("\n{:28}", run.name);
        for kind in &kinds {
            out += &format!(" {:10.3}", value(&run.summary(questions, |q| q.kind == *kind)));
        }
    }
    out
}
