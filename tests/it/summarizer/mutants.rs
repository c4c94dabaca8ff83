//! Answers that were good once: bytes flipped, cut, swapped, with hostile words put in. Thousands of them, from a seed.
//!
//! `RECALL_MODELS` says how many; `RECALL_SEED` where they begin (1).

use serde_json::{Value, json};

use crate::summarizer::hostile::{WORDS, form_of};
use crate::summarizer::many_sessions::{BLOG, Many, id};
use crate::summarizer::outputs::nothing_acts;
use crate::support::size::{Dice, number, seed};
use crate::support::stand_in::{COST, report};

/// Sessions of one world: as many as are quickly read.
const BATCH: usize = 40;

struct Chance(Dice);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u64) as usize
    }

    fn words(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())].1
    }

    /// A value that nobody asked for.
    fn value(&mut self) -> Value {
        match self.below(9) {
            0 => Value::Null,
            1 => json!(self.below(2) == 0),
            2 => json!(self.0.next() as i64),
            3 => json!([1e308, -1e308, 1e-308, -0.0, 4e3][self.below(5)]),
            4 => json!(self.words()),
            5 => json!([self.words(), 7, null, [[]]]),
            6 => json!({"text": self.words(), "rows": ["[1]", -1, 2, 1e9]}),
            7 => json!({}),
            _ => json!(self.words().repeat(500)),
        }
    }

    /// Puts such a value somewhere into another.
    fn spoil(&mut self, value: &mut Value) {
        let inside = match value {
            Value::Array(list) if !list.is_empty() => list.len(),
            Value::Object(fields) if !fields.is_empty() => fields.len(),
            _ => 0,
        };
        if inside == 0 || self.below(3) == 0 {
            *value = self.value();
            return;
        }
        let at = self.below(inside);
        match value {
            Value::Array(list) => self.spoil(&mut list[at]),
            Value::Object(fields) => {
                let name = fields.keys().nth(at).cloned().expect("a name");
                match self.below(6) {
                    0 => drop(fields.remove(&name)),
                    1 => drop(fields.insert(self.words().to_owned(), json!(1))),
                    _ => fields.get_mut(&name).into_iter().for_each(|inner| self.spoil(inner)),
                }
            }
            _ => {}
        }
    }

    fn reply(&mut self) -> Vec<u8> {
        let mut form = form_of(self.words(), self.below(1000));
        (0..self.below(4)).for_each(|_| self.spoil(&mut form));
        let mut whole: Value = serde_json::from_str(&report(&form, COST)).expect("JSON");
        let (spoilt, damaged) = [(0, 0), (0, 0), (1, 0), (2, 0), (0, 1), (0, 3), (1, 4)][self.below(7)];
        (0..spoilt).for_each(|_| self.spoil(&mut whole));
        let mut bytes = whole.to_string().into_bytes();
        (0..damaged).for_each(|_| self.damage(&mut bytes));
        bytes
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let at = self.below(bytes.len());
        match self.below(8) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = self.0.next() as u8,
            2 => bytes.truncate(at),
            3 => drop(bytes.remove(at)),
            4 => drop(bytes.splice(at..at, self.words().bytes())),
            5 => drop(bytes.splice(at..at, *b"\\u0000")),
            6 => {
                let again = bytes[at..(at + 40).min(bytes.len())].to_vec();
                bytes.splice(at..at, again);
            }
            _ => bytes.swap(0, at),
        }
    }
}

#[test]
fn no_answer_breaks_anything() {
    let (count, seed) = (number("RECALL_MODELS", 12), seed());
    let (mut done, mut taken) = (0, 0);
    while done < count {
        let mut chance = Chance(Dice(seed + done as u64));
        let size = BATCH.min(count - done);
        let replies: Vec<Vec<u8>> = (0..size).map(|_| chance.reply()).collect();
        println!("{size} replies from seed {}", seed + done as u64);
        let many = Many::that_get(&replies);
        let told = many.digest_all();
        assert!(!told.contains("panicked") && !told.contains("please report this"), "{told}");
        let sessions: Vec<String> = (1..=size).map(id).collect();
        nothing_acts(&many.stand_in.world, BLOG, &sessions);
        for n in 1..=size {
            let shown = many.show(n);
            let by_the_model = shown["summarizer"] == "claude";
            assert!(
                by_the_model || shown["waits_for_model"] == true && many.reason(n).len() > 10,
                "{n}: {} {shown:#}",
                many.reason(n)
            );
            taken += usize::from(by_the_model);
        }
        let spent = many.stand_in.status()["spent_usd"].as_f64().expect("a sum");
        assert!(spent.is_finite() && spent >= 0.0, "{spent}");
        done += size;
    }
    println!("{done} replies, {taken} of them taken");
    assert!(taken > 0 && (done < BATCH || taken < done), "both kinds are among them: {taken} of {done}");
}
