//! How good a list of answers is. Numbers in, numbers out.

use crate::quality::questions::{Question, UNANSWERABLE};

/// What a search came back with.
pub struct Answer {
    /// Ids of sessions, best first, each once.
    pub sessions: Vec<String>,
    /// Of what somebody gets to read, where that was asked for.
    pub bytes: Option<usize>,
}

/// How one question was answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Marks {
    /// The share of the meant sessions among the first five.
    pub recall5: f64,
    /// Is the first answer meant?
    pub first: f64,
    /// Discounted gain of the first ten by that of the best order; a meant session is worth three helpful ones.
    pub ndcg10: f64,
    /// One by the place of the first meant session, 0 when there is none.
    pub rr: f64,
}

pub fn marks(question: &Question, answer: &Answer) -> Marks {
    let grades: Vec<u8> = answer.sessions.iter().map(|s| question.grade(s)).collect();
    let meant_in = |n: usize| grades.iter().take(n).filter(|g| **g == 2).count() as f64;
    let mut best: Vec<u8> = question.grades.iter().map(|(_, g)| *g).collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    Marks {
        recall5: meant_in(5) / question.meant().max(1) as f64,
        first: meant_in(1),
        ndcg10: gain(&grades) / gain(&best).max(f64::MIN_POSITIVE),
        rr: grades.iter().position(|g| *g == 2).map_or(0.0, |place| 1.0 / (place + 1) as f64),
    }
}

fn gain(grades: &[u8]) -> f64 {
    let worth = |(place, grade): (usize, &u8)| (f64::from(1_u32 << grade) - 1.0) / ((place + 2) as f64).log2();
    grades.iter().take(10).enumerate().map(worth).sum()
}

/// Means over many questions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Summary {
    pub recall5: f64,
    pub first: f64,
    pub ndcg10: f64,
    pub mrr: f64,
    /// The median of what an answer costs to read, at 3.5 bytes a token.
    pub tokens: f64,
    /// Where nothing answers: how many answers came all the same, and the share of questions with none.
    pub wrong: f64,
    pub silent: f64,
}

/// Sums up; the questions that nothing answers count for `wrong` and `silent` only.
pub fn summary<'a>(all: impl Iterator<Item = (&'a Question, &'a Answer)>) -> Summary {
    let (nothing, some): (Vec<_>, Vec<_>) = all.partition(|(q, _)| q.kind == UNANSWERABLE);
    let marks: Vec<Marks> = some.iter().map(|(q, a)| marks(q, a)).collect();
    let mean = |value: fn(&Marks) -> f64| average(marks.iter().map(value));
    let mut bytes: Vec<usize> = some.iter().chain(&nothing).filter_map(|(_, a)| a.bytes).collect();
    bytes.sort_unstable();
    Summary {
        recall5: mean(|m| m.recall5),
        first: mean(|m| m.first),
        ndcg10: mean(|m| m.ndcg10),
        mrr: mean(|m| m.rr),
        tokens: bytes.get(bytes.len() / 2).map_or(0.0, |b| *b as f64 / 3.5),
        wrong: average(nothing.iter().map(|(_, a)| a.sessions.len() as f64)),
        silent: average(nothing.iter().map(|(_, a)| f64::from(u8::from(a.sessions.is_empty())))),
    }
}

fn average(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

#[test]
fn marks_are_what_their_definitions_say() {
    let ids = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    let grades = vec![("a".to_owned(), 2), ("b".to_owned(), 2), ("c".to_owned(), 1)];
    let question = Question { id: "q".into(), kind: "k".into(), tune: true, text: "t".into(), grades };
    let of = |names: &[&str]| marks(&question, &Answer { sessions: ids(names), bytes: None });

    let all = of(&["a", "b", "c"]);
    assert_eq!((all.recall5, all.first, all.rr), (1.0, 1.0, 1.0));
    assert!((all.ndcg10 - 1.0).abs() < 1e-9, "{all:?}");
    let late = of(&["x", "c", "a", "y", "z", "b"]);
    assert_eq!((late.recall5, late.first), (0.5, 0.0));
    assert!((late.rr - 1.0 / 3.0).abs() < 1e-9, "{late:?}");
    // c, worth 1, in the second place, a and b, worth 3, in the third and the sixth; at best 3 + 3/log2(3) + 1/2.
    let expected = (1.0 / 3_f64.log2() + 3.0 / 2.0 + 3.0 / 7_f64.log2()) / (3.0 + 3.0 / 3_f64.log2() + 0.5);
    assert!((late.ndcg10 - expected).abs() < 1e-9, "{late:?}");
    assert_eq!(of(&[]), Marks { recall5: 0.0, first: 0.0, ndcg10: 0.0, rr: 0.0 });
}
