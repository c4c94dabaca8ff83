//! Search for a text in any case and in any form of its letters, also across line breaks. Pure.
//!
//! An umlaut is one character, or a letter and a mark, as in names of files on macOS; `ß` is `SS` in capitals. Who wants a text gone cannot know which
//! form stands where.

use unicode_normalization::UnicodeNormalization;

/// The text to find, [folded](fold) and with each run of white space as one space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhraseMatcher(String);

impl PhraseMatcher {
    /// `None` if the text is only white space.
    pub fn new(text: &str) -> Option<Self> {
        let folded = fold(text).map(|(_, c)| c).collect::<String>();
        let text = folded.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// Does the text contain the phrase? Line breaks may also be escaped, as in a JSON string or source code.
    pub fn is_in(&self, text: &str) -> bool {
        let holds = |text: &str| fold(text).map(|(_, c)| c).collect::<String>().contains(&self.0);
        holds(text) || text.contains('\\') && holds(&text.replace("\\n", " ").replace("\\r", " ").replace("\\t", " "))
    }

    /// Its length in characters.
    pub fn length(&self) -> usize {
        self.0.chars().count()
    }

    /// The text without the lines that hold the phrase or a part of it, and the number of lines removed.
    pub fn lines_without(&self, text: &str) -> (String, usize) {
        let mut left: Vec<&str> = text.split_inclusive('\n').collect();
        let before = left.len();
        loop {
            let lines = self.matching_lines(&left);
            if lines.is_empty() {
                return (left.concat(), before - left.len());
            }
            // The lines left are now adjacent and may form the phrase again.
            let mut at = 0..;
            left.retain(|_| at.next().is_some_and(|at| !lines.contains(&at)));
        }
    }

    /// Numbers of the lines that hold the phrase or a part of it, from 0.
    fn matching_lines(&self, lines: &[&str]) -> Vec<usize> {
        let text = lines.concat();
        let ends: Vec<usize> = lines
            .iter()
            .scan(0, |end, line| {
                *end += line.len();
                Some(*end)
            })
            .collect();
        let (mut folded, mut places) = (String::new(), Vec::new());
        for (at, c) in fold(&text) {
            folded.push(c);
            places.resize(folded.len(), at);
        }
        let line_of = |place: usize| ends.partition_point(|end| *end <= places[place]);
        let mut found: Vec<usize> =
            folded.match_indices(&self.0).flat_map(|(at, hit)| line_of(at)..=line_of(at + hit.len() - 1)).collect();
        found.dedup();
        found
    }
}

/// The characters to compare, each with the byte offset of what it stands for. The backslash of an escaped punctuation mark is skipped.
fn fold(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut blank = false;
    let escapes =
        |at: usize| text[at..].strip_prefix('\\').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_punctuation()));
    text.char_indices().filter(move |(at, _)| !escapes(*at)).flat_map(move |(at, c)| {
        let repeated = blank && c.is_whitespace();
        blank = c.is_whitespace();
        let c = if blank { ' ' } else { c };
        letters(c).filter(move |_| !repeated).map(move |c| (at, c))
    })
}

/// A word by its letters alone: without regard to case, and to whether a letter and its mark are one character.
pub fn folded(word: &str) -> String {
    if word.is_ascii() { word.to_ascii_lowercase() } else { word.chars().flat_map(letters).collect() }
}

/// The letters and marks that a character consists of (Unicode's form NFKD), in lower case. Each is put into capitals first: so `ß` becomes `ss` like
/// `SS`, and `ς` becomes `σ` like `Σ`. A dot above is left away, so that `İ` is `i`.
fn letters(c: char) -> impl Iterator<Item = char> {
    const DOT_ABOVE: char = '\u{307}';
    let ascii = c.is_ascii().then(|| c.to_ascii_lowercase());
    let other = (c != DOT_ABOVE && ascii.is_none()).then_some(c);
    let parts = other.into_iter().nfkd().filter(move |part| *part != DOT_ABOVE);
    ascii.into_iter().chain(parts.flat_map(char::to_uppercase).flat_map(char::to_lowercase).filter(|part| *part != DOT_ABOVE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_found_in_any_case_and_over_line_breaks() {
        let phrase = PhraseMatcher::new("  Project\n Wombat ").unwrap();
        for text in ["project wombat", "the PROJECT\t\nWombat's plan", "project\r\n\r\nwombat", r#"{\"a\":\"Project\nWombat\"}"#] {
            assert!(phrase.is_in(text), "{text:?}");
        }
        for text in ["", "projectwombat", "project - wombat", "wombat project"] {
            assert!(!phrase.is_in(text), "{text:?}");
        }
        assert!(PhraseMatcher::new("wombat_plan (1)").unwrap().is_in(r"wombat\_plan \(1\)"));
        assert!(PhraseMatcher::new("ÄRGER").unwrap().is_in("viel Ärger"));
        assert_eq!(PhraseMatcher::new(" \n\t"), None);
    }

    #[test]
    fn a_phrase_is_found_in_any_form_of_its_letters() {
        let forms = [
            ["Müller", "Mu\u{308}ller", "MÜLLER"],
            ["Straße", "STRASSE", "strasse"],
            ["İstanbul", "istanbul", "I\u{307}STANBUL"],
            ["the \u{fb01}le", "THE FILE", "the\nfile"],
            ["Ὀδυσσεύς", "ὈΔΥΣΣΕΎΣ", "Ο\u{313}δυσσευ\u{301}ς"],
            ["한글", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}", "한글"],
        ];
        for (a, b) in forms.iter().flat_map(|all| all.iter().flat_map(move |a| all.iter().map(move |b| (a, b)))) {
            let text = format!("one\nabout {b} here\ntwo");
            let phrase = PhraseMatcher::new(a).unwrap();
            assert!(phrase.is_in(&text), "{a:?} in {b:?}");
            assert_eq!(phrase.lines_without(&text).0, "one\ntwo", "{a:?} in {b:?}");
        }
        assert!(!PhraseMatcher::new("Muller").unwrap().is_in("Müller"), "that is another name");
    }

    #[test]
    fn lines_that_hold_it_go() {
        let phrase = PhraseMatcher::new("project wombat").unwrap();
        for (text, left, gone) in [
            ("one\ntwo\n", "one\ntwo\n", 0),
            ("", "", 0),
            ("one\nabout Project Wombat\ntwo", "one\ntwo", 1),
            ("one\na project\n\n  wombat here\ntwo\n", "one\ntwo\n", 3),
            ("Project Wombat project wombat", "", 1),
            // Lines that form the phrase once a line between them is removed.
            ("a project\nproject wombat\nwombat b\nc\n", "c\n", 3),
        ] {
            assert_eq!(phrase.lines_without(text), (left.to_owned(), gone), "{text:?}");
        }
    }
}
