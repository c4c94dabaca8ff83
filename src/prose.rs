//! Sentences and list items of markdown text, as people and models write it in a conversation.

use crate::signal::{Topic, is_about, opens_next_steps};

/// A sentence, and what the heading or the line above its list announces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub text: String,
    pub under: Option<Topic>,
}

/// The sentences of a text, each with what stands above it: items under "Left to do:" are next steps whatever their words.
pub fn outline(text: &str) -> Vec<Said> {
    let mut all = Vec::new();
    let mut under = None;
    for block in unfenced(text) {
        let announces = is_heading(block) || block.trim_end_matches('*').ends_with(':');
        let item = is_item(block);
        if announces && !item {
            under = [Topic::Next, Topic::Blocker, Topic::Decision].into_iter().find(|t| is_about(block, *t));
            // A line that only happens to hold such a word announces nothing.
            under = under.filter(|t| *t != Topic::Next || opens_next_steps(block));
        } else if !item && !block.starts_with(' ') {
            under = None;
        }
        all.extend(sentences(block).into_iter().map(|text| Said { text, under }));
    }
    all
}

/// Lines outside of code blocks that hold words.
fn unfenced(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    text.lines().filter(move |line| {
        let bare = line.trim();
        // "```x```" on one line opens nothing.
        let fence = ["```", "~~~"].iter().any(|mark| bare.strip_prefix(mark).is_some_and(|rest| !rest.contains(mark)));
        in_code ^= fence;
        !fence && !in_code && line.chars().any(char::is_alphanumeric)
    })
}

fn is_item(line: &str) -> bool {
    let bare = line.trim_start();
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    bare.starts_with(['-', '*', '+', '•', '|']) && !bare.starts_with("**") || digits > 0 && bare[digits..].starts_with(['.', ')'])
}

/// A heading shorter than this only names what follows it, in characters.
const SHORT_HEADING: usize = 48;

fn is_heading(line: &str) -> bool {
    line.starts_with('#') || line.starts_with("**") && line.ends_with("**") && line.matches("**").count() == 2
}

/// The sentences and list items of a text, without markup, code blocks, headings and tables' rules.
pub fn sentences(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for line in unfenced(text).map(str::trim) {
        let (bare, whole) = without_markup(line);
        if is_heading(line) && bare.chars().count() < SHORT_HEADING {
            continue;
        }
        if whole { all.push(bare) } else { split_sentences(&bare, &mut all) }
    }
    all
}

/// A line without its markdown, and whether it is a unit by itself: a list item that is short, a table's row.
fn without_markup(line: &str) -> (String, bool) {
    if let Some(row) = line.strip_prefix('|') {
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).filter(|c| !c.is_empty()).collect();
        return (cells.join(" — ").replace("**", ""), true);
    }
    let heading = line.starts_with('#');
    let bare = line.trim_start_matches(['#', '>', ' ', '\t']);
    let item = ["- [x] ", "- [ ] ", "- ", "* ", "• ", "+ "].iter().find_map(|mark| bare.strip_prefix(mark));
    let numbered = bare
        .split_once(['.', ')'])
        .filter(|(n, rest)| !n.is_empty() && n.len() <= 2 && n.bytes().all(|b| b.is_ascii_digit()) && rest.starts_with(' '));
    let is_item = item.is_some() || numbered.is_some();
    let bare = item.or(numbered.map(|(_, rest)| rest)).unwrap_or(bare).trim();
    (bare.replace("**", "").replace("__", ""), heading || is_item && bare.chars().count() < 220)
}

fn split_sentences(line: &str, all: &mut Vec<String>) {
    let mut start = 0;
    let bytes = line.as_bytes();
    for (at, c) in line.char_indices() {
        let ends = matches!(c, '.' | '!' | '?') && bytes.get(at + 1) == Some(&b' ');
        let next_starts =
            line[at..].chars().nth(2).is_some_and(|n| n.is_uppercase() || n == '`' || n == '*' || n == '"' || n.is_numeric());
        // "e.g. Foo", "i.e. X", "vs. Y" do not end a sentence.
        let abbreviation = ["e.g", "i.e", " vs", "etc"].iter().any(|a| line[..at].ends_with(a));
        if ends && next_starts && !abbreviation {
            all.push(line[start..=at].trim().to_owned());
            start = at + 1;
        }
    }
    let rest = line[start..].trim();
    if !rest.is_empty() {
        all.push(rest.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_list_is_about_stands_above_it() {
        let said = outline("All pass.\n\nLeft to do:\n- The index.\n- The export.\n\nDone otherwise.");
        let under: Vec<_> = said.iter().map(|s| (s.text.as_str(), s.under)).collect();
        let next = Some(Topic::Next);
        assert_eq!(
            under,
            [("All pass.", None), ("Left to do:", next), ("The index.", next), ("The export.", next), ("Done otherwise.", None)]
        );
    }

    #[test]
    fn markup_code_and_rules_of_tables_are_left_out() {
        let text = "## Summary\n\n- **Fixed** the `cursor`. It works.\n1. First\n```rust\nlet x = 1;\n```\n| a | b |\n|---|---|\nSee e.g. Foo. Then stop.";
        assert_eq!(
            sentences("Run ```make``` first.\n```make```\nThen look."),
            ["Run ```make``` first.", "```make```", "Then look."]
        );
        assert_eq!(sentences(text), ["Fixed the `cursor`. It works.", "First", "a — b", "See e.g. Foo.", "Then stop."]);
    }
}
