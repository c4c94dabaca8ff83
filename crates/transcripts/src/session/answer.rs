//! An answer of the user in a dialog, kept apart from the question, which is the assistant's.

use serde::{Deserialize, Serialize};

use text::clean::without_controls;
use text::clean::{head_and_tail, one_line, shorten};
use text::disarm::disarm;

/// Longest answer that is shown whole, in characters. Text typed into a dialog stays below it; a pasted file does not.
const MAX_WHOLE_CHARS: usize = 1_000;
/// Precedes the question where both are shown in one line.
const QUESTION_PREFIX: &str = " (asked by the assistant: ";
/// Shortest part of a question that is shown, in characters: it marks a line that must not be cut at its end.
const MIN_QUESTION_CHARS: usize = 24;

/// An answer of the user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredAnswer")]
pub struct Answer {
    /// The user's own words, or the chosen option.
    pub said: String,
    /// The assistant's question; empty if the user spoke without one, as in the reason for a refusal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub asked: String,
}

/// The stored formats of an answer: until version 0.2, one text of lines `question → answer`.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredAnswer {
    Text(String),
    Sides {
        said: String,
        #[serde(default)]
        asked: String,
    },
}

impl From<StoredAnswer> for Answer {
    fn from(stored: StoredAnswer) -> Self {
        match stored {
            StoredAnswer::Sides { said, asked } => Self { said, asked },
            StoredAnswer::Text(text) => Self::from_legacy(&text),
        }
    }
}

impl Answer {
    /// Words of the user without a question.
    pub fn unasked(said: impl Into<String>) -> Self {
        Self { said: said.into(), asked: String::new() }
    }

    fn from_legacy(text: &str) -> Self {
        let sides = |line| str::rsplit_once(line, "? → ").map(|(asked, said)| (format!("{asked}?"), said));
        let sides = |line| sides(line).or_else(|| str::split_once(line, " → ").map(|(asked, said)| (asked.to_owned(), said)));
        let all: Option<Vec<(String, &str)>> = text.lines().map(sides).collect();
        let Some(all) = all else { return Self::unasked(text) };
        let (asked, said): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        Self { said: said.join("; "), asked: asked.join(" / ") }
    }

    /// Answer and question in one line of about `max` characters. Only the question is shortened.
    pub fn told(&self, max: usize) -> String {
        let said = one_line(&head_and_tail(&self.said, MAX_WHOLE_CHARS));
        with_question(&said, &one_line(&self.asked), max)
    }

    /// Answer and question, in full.
    pub fn whole(&self) -> String {
        if self.asked.is_empty() { self.said.clone() } else { format!("{}{QUESTION_PREFIX}{})", self.said, self.asked) }
    }

    /// Did [`Answer::told`] make this line from this answer, with the question in full or shortened?
    pub fn matches_line(&self, line: &str) -> bool {
        let rest = line.strip_prefix(&one_line(&head_and_tail(&self.said, MAX_WHOLE_CHARS)));
        rest.is_some_and(|rest| rest.is_empty() || !self.asked.is_empty() && rest.starts_with(QUESTION_PREFIX))
    }

    /// Removes the question from a line made by [`Answer::told`]; returns any other line unchanged.
    pub fn without_question(line: &str) -> &str {
        line.strip_suffix(')').and_then(|line| line.rsplit_once(QUESTION_PREFIX)).map_or(line, |(said, _)| said)
    }

    /// Shortens a line made by [`Answer::told`], or one that holds such a line, to about `max` characters by shortening the
    /// question; cuts any other line at its end.
    pub fn shorten_line(line: &str, max: usize) -> String {
        let sides =
            line.strip_suffix(')').and_then(|line| line.rsplit_once(QUESTION_PREFIX)).filter(|_| line.chars().count() > max);
        match sides {
            Some((said, asked)) => with_question(&shorten(said, MAX_WHOLE_CHARS.max(max)), asked, max),
            None => shorten(line, max),
        }
    }
}

fn with_question(said: &str, asked: &str, max: usize) -> String {
    if asked.is_empty() {
        return said.to_owned();
    }
    let room = max.saturating_sub(said.chars().count() + QUESTION_PREFIX.len() + 1).max(MIN_QUESTION_CHARS);
    format!("{said}{QUESTION_PREFIX}{})", shorten(asked, room))
}

/// Text on one line that can close neither our block nor one that the client puts around it.
pub fn said(text: &str, most: usize) -> String {
    disarm(&Answer::shorten_line(&one_line(&without_controls(text)), most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(json: &str) -> Answer {
        serde_json::from_str(json).expect("an answer")
    }

    #[test]
    fn answers_of_older_indexes_are_told_apart_from_their_questions() {
        let one = read(r#""Which one? → the second""#);
        assert_eq!((one.asked.as_str(), one.said.as_str()), ("Which one?", "the second"));
        let two = read(r#""A → B or C? → C\nAnd the rest? → leave it""#);
        assert_eq!((two.asked.as_str(), two.said.as_str()), ("A → B or C? / And the rest?", "C; leave it"));
        assert_eq!(read(r#""use pnpm""#), Answer::unasked("use pnpm"));
        let written = serde_json::to_string(&two).expect("JSON");
        assert_eq!(read(&written), two);
    }

    proptest! {
        #[test]
        fn the_answer_is_whole_however_long_the_question_is(said in "[a-zé]{1,9}( [a-zé.?]{1,9}){0,60}", asked in "([A-Za-z→é]{1,9} ){0,300}\\?", max in 0usize..400) {
            let answer = Answer { said: said.clone(), asked };
            let told = format!("User: {}", answer.told(max));
            for shown in [told.clone(), Answer::shorten_line(&told, max), Answer::shorten_line(&told, max / 2)] {
                prop_assert!(shown.starts_with(&format!("User: {said}")), "{shown}");
                let least = said.chars().count() + "User: )…".len() + QUESTION_PREFIX.len() + MIN_QUESTION_CHARS;
                prop_assert!(shown.chars().count() <= least.max(max + "User: …".len()), "{shown}");
            }
        }
    }
}
