//! What is asked, and which sessions are meant: the plain text of `questions.txt`.

use std::fs;

use crate::quality::corpus::{here, names};

/// The kind of question that nothing answers.
pub const UNANSWERABLE: &str = "unanswerable";

pub struct Question {
    pub id: String,
    pub kind: String,
    /// Weights may be chosen on it; the others are only reported on.
    pub tune: bool,
    pub text: String,
    /// Session ids: 2 is what is meant, 1 helps too.
    pub grades: Vec<(String, u8)>,
}

impl Question {
    pub fn grade(&self, session: &str) -> u8 {
        self.grades.iter().find(|(id, _)| id == session).map_or(0, |(_, grade)| *grade)
    }

    /// How many sessions are meant.
    pub fn meant(&self) -> usize {
        self.grades.iter().filter(|(_, grade)| *grade == 2).count()
    }
}

pub fn questions() -> Vec<Question> {
    let names = names();
    let text = fs::read_to_string(here().join("questions.txt")).expect("the questions");
    let mut kind = String::new();
    let mut all = Vec::new();
    for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        match line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            Some(name) => kind = name.to_owned(),
            None => all.push(question(line, &kind, &names)),
        }
    }
    all
}

/// `p01 tune | what is asked | project/name project/other:1`
fn question(line: &str, kind: &str, names: &[(String, String)]) -> Question {
    let parts: Vec<&str> = line.split(" | ").collect();
    let [head, text, meant] = parts[..] else { panic!("no question: {line}") };
    let (id, half) = head.split_once(' ').unwrap_or_else(|| panic!("no half: {line}"));
    assert!(["tune", "held"].contains(&half), "{line}");
    let grade = |word: &str| {
        let name = word.strip_suffix(":1").unwrap_or(word);
        let (_, id) = names.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no session {name}: {line}"));
        (id.clone(), if name == word { 2 } else { 1 })
    };
    let grades = if meant == "-" { Vec::new() } else { meant.split(' ').map(grade).collect() };
    Question { id: id.to_owned(), kind: kind.to_owned(), tune: half == "tune", text: text.to_owned(), grades }
}
