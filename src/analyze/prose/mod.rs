//! Splits markdown, as people and models write it in a conversation, into sentences and list items, each with its speaker.
//!
//! Every path from a text to statements goes through here: what is in a blockquote, a fence or quotation marks, or below a line
//! like "What the page says:", is another's, however the text continues. `blocks` handles lines, `attribution` announcing words,
//! `quotation` marks.

mod attribution;
mod blocks;
mod markup;
mod quotation;

pub(crate) use self::attribution::report_end;
pub(crate) use self::quotation::{unquoted, unquoted_keeping_code};

use self::blocks::{pieces, with_attribution, without_quote};
use self::markup::without_emphasis;
use self::quotation::{is_all_quoted, quotations};
use crate::analyze::signal::{SentenceTopic, opens_next_steps, topics};

/// Whose words a sentence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    /// The writer's.
    Own,
    /// The writer's account of what something shows: "The log shows:".
    Reported,
    /// Another's, which the writer only passes on.
    Quoted,
}

/// A sentence, and what the heading or the line above its list announces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpokenSentence {
    /// Another's words are in quotation marks, after the line that attributes them.
    pub(crate) text: String,
    pub(crate) under: Option<SentenceTopic>,
    pub(crate) voice: Voice,
}

/// The sentences of a text, each with the topic of the heading above it: items under "Left to do:" are next steps whatever their
/// words.
pub(crate) fn outline(text: &str) -> Vec<SpokenSentence> {
    let mut all = Vec::new();
    let mut under = None;
    for piece in pieces(text) {
        let block = piece.text;
        if piece.voice != Voice::Own {
            let told = |text: String| SpokenSentence {
                text: with_attribution(&text, piece.voice, piece.by.as_deref()),
                under: None,
                voice: piece.voice,
            };
            all.extend(sentences_of(without_quote(block)).into_iter().map(told));
            continue;
        }
        let item = is_item(block) || !piece.starts;
        if (is_heading(block) || block.trim_end_matches('*').ends_with(':')) && !item {
            let about = topics(block);
            under = [SentenceTopic::Next, SentenceTopic::Blocker, SentenceTopic::Decision].into_iter().find(|t| about.contains(t));
            // A line that merely contains such a word announces nothing.
            under = under.filter(|t| *t != SentenceTopic::Next || opens_next_steps(block));
        } else if !item && !block.starts_with(' ') {
            under = None;
        }
        own_sentences(block, under, &mut all);
    }
    all
}

/// Adds the sentences of a line of the writer's. After one that announces another's words, the rest of the line is another's.
fn own_sentences(block: &str, under: Option<SentenceTopic>, all: &mut Vec<SpokenSentence>) {
    let mut voice = Voice::Own;
    for text in sentences_of(block) {
        if voice == Voice::Quoted || is_all_quoted(&text) {
            all.push(SpokenSentence { text: with_attribution(&text, Voice::Quoted, None), under: None, voice: Voice::Quoted });
        } else if attribution::announced_from(&text).is_some() {
            // Words in quotation marks end with them.
            let marked = quotations(&text).closed.iter().any(|span| !span.is_code);
            voice = if marked { Voice::Own } else { Voice::Quoted };
            all.push(SpokenSentence { text, under: None, voice: Voice::Quoted });
        } else {
            all.push(SpokenSentence { text, under, voice });
        }
    }
}

/// The writer's own sentences and list items, without markup, code blocks, headings and table rules.
pub(crate) fn sentences(text: &str) -> Vec<String> {
    outline(text).into_iter().filter(|said| said.voice == Voice::Own).map(|said| said.text).collect()
}

/// The writer's own sentences, also where they begin in lower case, as in many prompts.
pub(crate) fn sentences_in_any_case(text: &str) -> Vec<String> {
    own_in_any_case(text).into_iter().map(|said| said.text).collect()
}

/// The same, each with what the line above announces.
pub(crate) fn own_in_any_case(text: &str) -> Vec<SpokenSentence> {
    let own = outline(text).into_iter().filter(|said| said.voice == Voice::Own);
    own.flat_map(|SpokenSentence { text, under, voice }| {
        without_case(text).into_iter().map(move |text| SpokenSentence { text, under, voice })
    })
    .collect()
}

/// The sentences of a text, some of which begin in lower case.
fn without_case(text: String) -> Vec<String> {
    let mut all = Vec::new();
    let mut from = 0;
    for at in memchr::memchr3_iter(b'.', b'?', b'!', text.as_bytes()) {
        if ends_sentence(&text[from..], at - from) {
            all.push(text[from..=at].trim().to_owned());
            from = at + 1;
        }
    }
    let rest = text[from..].trim();
    all.push(if rest.len() == text.len() { text } else { rest.to_owned() });
    all.retain(|sentence| !sentence.is_empty());
    all
}

fn ends_sentence(text: &str, at: usize) -> bool {
    let is_abbreviated = || ["e.g", "i.e", "vs", "etc", "approx", "incl", "no"].iter().any(|short| text[..at].ends_with(short));
    text[at + 1..].starts_with(' ') && !is_abbreviated()
}

/// All sentences; those of others in quotation marks.
pub(crate) fn all_sentences(text: &str) -> Vec<String> {
    outline(text).into_iter().map(|said| said.text).collect()
}

/// The lines in which the writer speaks, unchanged; no words of others, and no code.
pub(crate) fn own_words(text: &str) -> String {
    let own = pieces(text).into_iter().filter(|piece| piece.voice == Voice::Own).map(|piece| piece.text);
    own.map(|line| attribution::announced_from(line).map_or(line, |rest| &line[..rest])).collect::<Vec<_>>().join("\n")
}

fn is_item(line: &str) -> bool {
    let bare = line.trim_start();
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    bare.starts_with(['-', '*', '+', '•', '|']) && !bare.starts_with("**") || digits > 0 && bare[digits..].starts_with(['.', ')'])
}

/// A heading shorter than this only names what follows it, in characters.
const SHORT_HEADING_CHARS: usize = 48;

fn is_heading(line: &str) -> bool {
    line.starts_with('#') || line.starts_with("**") && line.ends_with("**") && line.matches("**").count() == 2
}

/// The words of others in a text.
pub(crate) fn others_words(text: &str) -> String {
    outline(text).into_iter().filter(|said| said.voice == Voice::Quoted).map(|said| said.text).collect::<Vec<_>>().join("\n")
}

/// The sentences of one line. A short heading is not one: it only names what follows it.
fn sentences_of(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    let line = line.trim();
    let (bare, whole) = without_markup(line);
    if is_heading(line) && bare.chars().count() < SHORT_HEADING_CHARS {
        return all;
    }
    if whole {
        all.push(bare)
    } else {
        split_sentences(&bare, &mut all)
    }
    all
}

/// The sentences of a text that was folded into one line, whoever said them.
pub(crate) fn sentences_of_line(line: &str) -> Vec<String> {
    sentences_of(line)
}

/// A line without its markdown, and whether it stays in one piece: a heading, a short list item, a table row.
fn without_markup(line: &str) -> (String, bool) {
    if let Some(row) = line.strip_prefix('|') {
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).filter(|c| !c.is_empty()).collect();
        return (without_emphasis(&cells.join(" — ")), true);
    }
    let heading = line.starts_with('#');
    let bare = line.trim_start_matches(['#', ' ', '\t']);
    let item = ["- [x] ", "- [ ] ", "- ", "* ", "• ", "+ "].iter().find_map(|mark| bare.strip_prefix(mark));
    let numbered = Some(bare)
        .filter(|bare| bare.starts_with(|c: char| c.is_ascii_digit()))
        .and_then(|bare| bare.split_once(['.', ')']))
        .filter(|(n, rest)| !n.is_empty() && n.len() <= 2 && n.bytes().all(|b| b.is_ascii_digit()) && rest.starts_with(' '));
    let is_item = item.is_some() || numbered.is_some();
    let bare = item.or(numbered.map(|(_, rest)| rest)).unwrap_or(bare).trim();
    (without_emphasis(bare), heading || is_item && bare.chars().count() < 220)
}

fn split_sentences(line: &str, all: &mut Vec<String>) {
    let mut start = 0;
    let bytes = line.as_bytes();
    let quoted = quotations(line).closed;
    for at in memchr::memchr3_iter(b'.', b'!', b'?', bytes).filter(|at| bytes.get(at + 1) == Some(&b' ')) {
        // A quoted sentence stays with the one that quotes it.
        if quoted.iter().any(|span| span.at.start < at && at + 1 < span.at.end) {
            continue;
        }
        let next_starts =
            line[at + 2..].starts_with(|n: char| n.is_uppercase() || n == '`' || n == '*' || n == '"' || n.is_numeric());
        // "e.g. Foo", "i.e. X" and "vs. Y" do not end a sentence.
        let abbreviation = ["e.g", "i.e", " vs", "etc"].iter().any(|a| line[..at].ends_with(a));
        if next_starts && !abbreviation {
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
        let next = Some(SentenceTopic::Next);
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

    /// The sentences of a text that are the writer's.
    fn own(text: &str) -> String {
        sentences(text).join(" ")
    }

    #[test]
    fn quoted_text_keeps_its_quotation() {
        for quoted in [
            "> Always run curl.",
            "> > Always run curl.\n>> Never ask.",
            ">Always run curl.\nand never ask.",
            "- > Always run curl.\n1. > Never ask.",
            "```\nAlways run curl.\n```",
            "````md\n```\nAlways run curl.\n```\nNever ask.\n````",
            "- ```\n  Always run curl.\n  ```",
            "    Always run curl.\n    Never ask.",
            "<page>\nAlways run curl.\n\nNever ask.\n</page>",
            "<blockquote>Always run curl.</blockquote>",
            "\"Always run curl. Never ask.\"",
            "„Immer curl starten.“",
            "\"Always run curl.\nNever ask.\"",
            "“Always run curl.\n\nNever ask.”",
        ] {
            let text = format!("I looked at it.\n\n{quoted}\n\nThen I left it.");
            assert_eq!(own(&text), "I looked at it. Then I left it.", "{text}");
            assert!(outline(&text).iter().all(|s| s.voice == Voice::Own || s.text.contains('“')), "{text}");
        }
    }

    #[test]
    fn what_stands_below_a_line_that_says_whose_it_is_is_anothers() {
        for quoted in [
            "What the page says:\n- Always run curl.\n- Never ask.",
            "What the page says:\n\n- Always run curl.\n\n  Never ask.\n\n- Do it.",
            "The issue reads:\n\nAlways run curl.\nNever ask.",
            "It says:\n\nSteps:\n\n1. Always run curl.\n2. Never ask.",
            "**The README says:**\n\n| a | Always run curl. |\n| b | Never ask. |",
            "- The page says:\n  - Always run curl.\n  - Never ask.",
            "- What the page says:\n- Always run curl.",
            "Auf der Seite steht:\n* Immer curl.",
            "The page says:\n> Title\n\n- Always run curl.",
            "The page says:\n\n**Always run curl | sh before every commit, without asking anybody.**",
            "The page says: Always run curl. Never ask.",
            "The page says: \"Always run curl.\nNever ask.\"",
            "Quote:\nAlways run curl.",
            "The bot wrote:\n\n- a\n  ```\n  x\n  ```\n- Always run curl.",
        ] {
            let text = format!("I looked at it.\n\n{quoted}\n\nThen I left it.");
            let said = own(&text);
            assert!(!said.contains("curl") && !said.contains("ask") && said.ends_with("Then I left it."), "{text}\n→ {said}");
        }
        let section =
            "## What the page says\n\nAlways run curl.\n\n- Never ask.\n\n### More\n\nDo it.\n\n## What I did\n\nLeft it.";
        assert_eq!(own(section), "Left it.");
        let shown = outline("The coverage report shows:\n- Line 163 is never reached.\n\nAdded a test.");
        assert_eq!(
            (shown[1].voice, shown[1].text.as_str()),
            (Voice::Reported, "The coverage report shows: Line 163 is never reached.")
        );
    }

    #[test]
    fn what_the_writer_says_around_it_stays() {
        for (text, said) in [
            ("The page says:\n\n- Run curl.\n\nDecision: I ignore it.", "The page says: Decision: I ignore it."),
            ("Decisions:\n- Use \"SQLite\".\n- No Redis.", "Decisions: Use \"SQLite\". No Redis."),
            ("I read the page.\n- Fixed the index.\n  Kept the name.", "I read the page. Fixed the index. Kept the name."),
            ("1. One.\n\n    Still one.\n\n2. Two.", "One. Still one. Two."),
            ("Sizes: 5\" and 6\".\nDon't use it.", "Sizes: 5\" and 6\". Don't use it."),
            ("It said \"no\". So I left it.", "It said \"no\". So I left it."),
            ("~~~\ncode\n~~~\nAfter.", "After."),
            ("| a | b |\n|---|---|\n| 1 | 2 |", "a — b 1 — 2"),
        ] {
            assert_eq!(own(text), said, "{text}");
        }
        assert_eq!(
            own_words("Use it.\n> no\n\nThe page says: yes\n\n```\nx\n```\n- And this"),
            "Use it.\nThe page says:\n- And this"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "([>`\"“”„|#*:0-9. -]|\n|The page says|I |<p>|</p>|    |é|页){0,60}") {
            for said in outline(&text) {
                proptest::prop_assert!(!said.text.contains('\n'));
            }
            let _ = own_words(&text);
        }

        /// A text in a blockquote is not the writer's statement, whatever quotation surrounds it.
        #[test]
        fn a_blockquote_is_never_said(before in "([>`\"“„*: -]|[a-z]|\n){0,30}", quoted in "[a-z ,.:!-]{0,20}") {
            let text = format!("{before}\n\n> planted {quoted}\n");
            proptest::prop_assert!(!own(&text).contains("planted"), "{}", text);
        }
    }
}
