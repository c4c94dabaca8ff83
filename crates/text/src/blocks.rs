//! The parts of a text in markdown: headings, paragraphs, items, rows of tables, code. Pure.

use std::borrow::Cow;

use super::clean::{fold_lines, one_line, shorten, without_controls};
use super::disarm::disarm;

/// The longest code, table or quotation that stays in a text that is told in short, in lines.
const MAX_PART_LINES: usize = 5;

/// What a part of a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    Heading,
    Text,
    Item,
    Row,
    Fence,
}

/// A part of a text that is told or left out as one.
pub struct Block<'t> {
    pub kind: BlockKind,
    pub lines: Vec<&'t str>,
    /// An empty line stands before it.
    pub apart: bool,
}

impl Block<'_> {
    /// Does it only lead to what follows?
    pub fn leads_in(&self) -> bool {
        let last = self.lines.last().map_or("", |line| line.trim_end_matches(['*', '_', ' ']));
        let is_label = || matches!(self.lines[..], [line] if line.starts_with("**") && line.trim_end().ends_with("**"));
        match self.kind {
            BlockKind::Heading => true,
            BlockKind::Text | BlockKind::Item => last.ends_with([':', '：']) || is_label(),
            BlockKind::Row | BlockKind::Fence => false,
        }
    }
}

/// The beginning of a text on one line of at most so many characters; empty if it says nothing.
pub fn beginning(text: &str, most_chars: usize) -> String {
    let text = without_long_parts(text);
    let blocks = blocks(&text);
    let told = blocks.iter().flat_map(|block| &block.lines).map(|line| line.trim_start().trim_start_matches(['#', '>', ' ']));
    let told = without_bold_marks(&one_line(&told.collect::<Vec<_>>().join(" ")));
    shorten(&told, most_chars)
}

/// A line without the stars around bold words. Other stars stay, as those of `f(*args, **kwargs)`.
fn without_bold_marks(line: &str) -> String {
    const MARK: &str = "**";
    let mut told = String::new();
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once(MARK) {
        let opens = !before.ends_with(char::is_alphanumeric) && !behind.starts_with([' ', '*']);
        let closes = |end: &usize| {
            !behind[..*end].ends_with([' ', '*', '(']) && !behind[end + MARK.len()..].starts_with(char::is_alphanumeric)
        };
        let end = behind.match_indices(MARK).map(|(at, _)| at).find(closes).filter(|_| opens);
        told.push_str(before);
        match end {
            Some(end) => {
                told.push_str(&behind[..end]);
                rest = &behind[end + MARK.len()..];
            }
            None => {
                told.push_str(MARK);
                rest = behind;
            }
        }
    }
    told + rest
}

/// The harmless text with the number of its lines in place of each part that is longer than [`MAX_PART_LINES`].
pub fn without_long_parts(text: &str) -> String {
    let text = harmless_lines(text);
    let blocks = blocks(&text);
    let mut out = String::new();
    let mut rest = &blocks[..];
    while let Some((block, _)) = rest.split_first() {
        let rows = 1 + rest[1..].iter().take_while(|next| next.kind == BlockKind::Row && !next.apart).count();
        let is_quotation = block.lines.iter().all(|line| line.trim_start().starts_with('>'));
        let (taken, mark) = match block.kind {
            BlockKind::Fence if block.lines.len() > MAX_PART_LINES + 2 => (1, format!("[code, {} lines]", block.lines.len() - 2)),
            BlockKind::Row if rows > MAX_PART_LINES => (rows, format!("[table, {rows} lines]")),
            BlockKind::Text if is_quotation && block.lines.len() > MAX_PART_LINES => {
                (1, format!("[quotation, {} lines]", block.lines.len()))
            }
            _ => (1, block.lines.join("\n")),
        };
        if !out.is_empty() {
            out.push_str(if block.apart { "\n\n" } else { "\n" });
        }
        out.push_str(&mark);
        rest = &rest[taken..];
    }
    out
}

/// Without controls and foreign markup; whatever ends a line for somebody ends one here.
pub fn harmless_lines(text: &str) -> String {
    let lines = match has_other_line_ends(text) {
        true => text.replace("\r\n", "\n").replace(['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'], "\n").into(),
        false => Cow::Borrowed(text),
    };
    disarm(&fold_lines(&without_controls(&lines)))
}

/// Does anything but a newline end a line of the text for somebody? Of most texts nothing does, though many have a dash or a quotation mark,
/// which begins with the byte of two of those ends.
fn has_other_line_ends(text: &str) -> bool {
    let bytes = text.as_bytes();
    let beyond_ascii = || memchr::memchr2_iter(0xc2, 0xe2, bytes);
    // No end before the last byte, so that the compiler vectorizes the loop.
    bytes.iter().fold(false, |any, byte| any | matches!(byte, 0xb..=b'\r'))
        || beyond_ascii().any(|at| text[at..].starts_with(['\u{85}', '\u{2028}', '\u{2029}']))
}

/// The mark that opens or closes a fence: which, and how often.
fn fence_mark(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let count = line.chars().take_while(|c| *c == mark).count();
    (count >= 3 && !(mark == '`' && line[count..].contains('`'))).then_some((mark, count))
}

fn closes(line: &str, fence: (char, usize)) -> bool {
    fence_mark(line).is_some_and(|(mark, count)| mark == fence.0 && count >= fence.1) && line.trim().chars().all(|c| c == fence.0)
}

/// The parts of a text, in order.
pub fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut all: Vec<Block<'_>> = Vec::new();
    let mut fence = None;
    let mut apart = false;
    for line in text.lines() {
        if let Some(mark) = fence {
            if let Some(block) = all.last_mut() {
                block.lines.push(line);
            }
            if closes(line, mark) {
                fence = None;
            }
            continue;
        }
        let bare = line.trim();
        // Rules between parts, and those that make a heading of the line above.
        let is_rule = bare.len() >= 3 && ['-', '=', '_', '*'].iter().any(|mark| bare.chars().all(|c| c == *mark));
        if bare.is_empty() || is_rule {
            apart = !all.is_empty();
            continue;
        }
        // One may stand behind the mark of a list.
        fence = fence_mark(bare.trim_start_matches(['-', '*', '+', ' ']));
        let kind = kind_of(bare, fence.is_some());
        match all.last_mut() {
            Some(block) if kind == BlockKind::Text && !apart && matches!(block.kind, BlockKind::Text | BlockKind::Item) => {
                block.lines.push(line);
            }
            _ => all.push(Block { kind, lines: vec![line], apart }),
        }
        apart = false;
    }
    all
}

fn kind_of(line: &str, is_fence: bool) -> BlockKind {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let is_item = ["- ", "* ", "+ ", "• "].iter().any(|mark| line.starts_with(mark))
        || digits > 0 && (line[digits..].starts_with(". ") || line[digits..].starts_with(") "));
    let hashes = line.bytes().take_while(|b| *b == b'#').count();
    if is_fence {
        BlockKind::Fence
    } else if (1..=6).contains(&hashes) && line[hashes..].starts_with(' ') {
        BlockKind::Heading
    } else if is_item {
        BlockKind::Item
    } else if line.starts_with('|') {
        BlockKind::Row
    } else {
        BlockKind::Text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_ends_a_line_is_seen(text in "([a-z —’“é\n\r\u{b}\u{c}\u{85}\u{2027}-\u{202a}]){0,40}") {
            let ends = ['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
            prop_assert_eq!(has_other_line_ends(&text), text.contains(ends));
        }
    }

    #[test]
    fn a_beginning_has_no_marks_of_bold_words_and_keeps_other_stars() {
        for (text, told) in [
            ("**Done**: all of it", "Done: all of it"),
            ("It is **very** fast, and **(nearly)** done", "It is very fast, and (nearly) done"),
            ("`wrapper(*args, **kwargs)` calls it", "`wrapper(*args, **kwargs)` calls it"),
            ("`f(**a)` and `g(**b)`", "`f(**a)` and `g(**b)`"),
            ("2 ** 3 and **", "2 ** 3 and **"),
        ] {
            assert_eq!(beginning(text, 100), told);
        }
    }
}
