//! A reply as a blockquote of a page: paragraphs, lists, bold words, code and tables stay; whatever a viewer would run, load, follow or
//! take for a part of the page becomes text. Pure.

use text::blocks::{Block, BlockKind, blocks, harmless_lines};
use text::clean::{one_line, shorten};
use text::markdown::inline;

const CUT: &str = "> \\[…\\]\n";
/// The shortest beginning of a block that does not fit, in characters.
const MIN_PART_CHARS: usize = 120;
/// The most characters of a language's name behind a fence.
const MAX_LANGUAGE_CHARS: usize = 20;

/// The text in a blockquote of about so many characters, cut where a block ends. Empty if it says nothing.
pub(super) fn quotation(text: &str, most_chars: usize) -> String {
    let text = harmless_lines(text).replace('\t', "    ");
    let blocks = blocks(&text);
    let mut out = String::new();
    // Where the text ends that leads to nothing which is cut.
    let mut whole = 0;
    let mut before = None;
    let mut rest = &blocks[..];
    while let Some((block, _)) = rest.split_first() {
        let rows = rest.iter().take_while(|next| next.kind == BlockKind::Row).count();
        let (taken, told) = match block.kind {
            BlockKind::Row if rows > 1 && is_rule(&rest[1]) => (rows, table(&rest[..rows])),
            BlockKind::Fence => (1, fence(block)),
            BlockKind::Item => (1, item(block)),
            BlockKind::Row | BlockKind::Heading | BlockKind::Text => (1, paragraph(block)),
        };
        if out.chars().count() + told.chars().count() > most_chars {
            // What leads to something is told with its beginning, where nothing stands before it.
            if whole == 0 {
                let gap = if out.is_empty() { "" } else { ">\n" };
                let room = most_chars.saturating_sub(out.chars().count()).max(MIN_PART_CHARS);
                let begins = shorten(&one_line(&block.lines.join(" ")), room);
                let told = match block.kind {
                    BlockKind::Item => item(&Block { kind: BlockKind::Item, lines: vec![&begins], apart: false }),
                    _ => quoted(&inline(&begins)),
                };
                out = format!("{out}{gap}{told}");
            } else {
                out.truncate(whole);
            }
            return out + ">\n" + CUT;
        }
        // Items of one list stand together; all else is apart.
        let together = before == Some(BlockKind::Item) && block.kind == BlockKind::Item && !block.apart;
        if before.is_some() && !together {
            out.push_str(">\n");
        }
        out.push_str(&told);
        if !block.leads_in() {
            whole = out.len();
        }
        before = Some(block.kind);
        rest = &rest[taken..];
    }
    out
}

fn quoted(line: &str) -> String {
    if line.is_empty() { ">\n".to_owned() } else { format!("> {line}\n") }
}

fn paragraph(block: &Block<'_>) -> String {
    let bare = |line: &str| match block.kind {
        BlockKind::Heading => line.trim_start().trim_start_matches('#').to_owned(),
        _ => line.to_owned(),
    };
    block.lines.iter().map(|line| rich(&bare(line))).filter(|line| !line.is_empty()).map(|line| quoted(&line)).collect()
}

/// An item with its mark, on one level: what is indented deeper would be code.
fn item(block: &Block<'_>) -> String {
    let Some((first, rest)) = block.lines.split_first() else { return String::new() };
    let first = first.trim();
    let digits: String = first.chars().take_while(char::is_ascii_digit).take(9).collect();
    let (mark, words) = if digits.is_empty() {
        ("- ".to_owned(), first.trim_start_matches(['-', '*', '+', '•']))
    } else {
        (format!("{digits}. "), first[digits.len()..].trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')')))
    };
    let words = rich(words);
    let mut out = quoted(&format!("{mark}{}", if words.is_empty() { "…".to_owned() } else { words }));
    let indent = " ".repeat(mark.len());
    for line in rest.iter().map(|line| rich(line)).filter(|line| !line.is_empty()) {
        out.push_str(&quoted(&format!("{indent}{line}")));
    }
    out
}

/// A block of code between fences of our own, which nothing in it can close.
fn fence(block: &Block<'_>) -> String {
    let Some((first, rest)) = block.lines.split_first() else { return String::new() };
    let opening = first.trim_start_matches(['-', '*', '+', ' ']);
    let mark = opening.chars().next().unwrap_or('`');
    let language = opening.trim_start_matches(mark).trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '#');
    let language = if language.len() <= MAX_LANGUAGE_CHARS && language.chars().all(is_name) { language } else { "" };
    let is_end = |line: &str| !line.trim().is_empty() && line.trim().chars().all(|c| c == mark) && line.trim().len() >= 3;
    let inner = match rest.split_last() {
        Some((last, inner)) if is_end(last) => inner,
        _ => rest,
    };
    let longest = inner.iter().map(|line| line.split(|c| c != '`').map(str::len).max().unwrap_or(0)).max().unwrap_or(0);
    let ours = "`".repeat(longest.max(2) + 1);
    let lines: String = inner.iter().map(|line| quoted(line.trim_end())).collect();
    format!("{}{lines}{}", quoted(&format!("{ours}{language}")), quoted(&ours))
}

/// Is this the line below a table's head?
fn is_rule(block: &Block<'_>) -> bool {
    let line = block.lines.concat();
    line.contains('-') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

fn table(rows: &[Block<'_>]) -> String {
    let cells = |row: &Block<'_>| -> Vec<String> {
        let line = row.lines.concat();
        let line = line.trim().trim_start_matches('|');
        line.strip_suffix('|').unwrap_or(line).split('|').map(rich).collect()
    };
    let width = cells(&rows[0]).len();
    let line = |row: &Block<'_>| {
        let mut all = cells(row);
        all.resize(width, String::new());
        quoted(&format!("| {} |", all.join(" | ")))
    };
    let rule = quoted(&format!("|{}", " --- |".repeat(width)));
    format!("{}{rule}{}", line(&rows[0]), rows[2..].iter().map(line).collect::<String>())
}

/// Text on one line, in which only code spans and bold words are marked up.
fn rich(text: &str) -> String {
    let line = inline(text.trim());
    if line.contains('*') { bold(&line) } else { line }
}

/// Gives pairs of `**` around words their meaning back; `inline` may escape some of their stars.
fn bold(line: &str) -> String {
    const OPENERS: [&str; 4] = ["\\*\\*", "*\\*", "\\**", "**"];
    let mut out = String::new();
    let mut rest = line;
    'line: while !rest.is_empty() {
        let before = out.chars().next_back();
        if before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '“')) {
            for opener in OPENERS {
                let Some(behind) = rest.strip_prefix(opener) else { continue };
                let Some(end) = behind.find("**") else { continue };
                // Behind a letter the first star is escaped.
                let (words, after) = (&behind[..end], &behind[end + 2..]);
                let words = words.strip_suffix('\\').unwrap_or(words);
                let is_alone = !words.is_empty() && words.trim() == words && !words.contains('*') && !words.ends_with('\\');
                // A mark within a code span is none.
                let is_whole = words.matches('`').count().is_multiple_of(2);
                let ends = |c: char| c.is_whitespace() || c.is_ascii_punctuation() && !matches!(c, '*' | '_');
                if is_alone && is_whole && after.chars().next().is_none_or(ends) {
                    out.push_str(&format!("**{words}**"));
                    rest = after;
                    continue 'line;
                }
            }
        }
        let Some(c) = rest.chars().next() else { break };
        let len = if c == '`' {
            // A code span is no place for marks.
            let run = rest.bytes().take_while(|b| *b == b'`').count();
            let fence = "`".repeat(run);
            rest[run..].find(&fence).map_or(run, |at| at + 2 * run)
        } else {
            c.len_utf8()
        };
        out.push_str(&rest[..len]);
        rest = &rest[len..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_keeps_its_form_and_is_no_part_of_the_page() {
        let text = "# Done\n\nIt **works** now, see `a*b*`:\n1. first\n   goes on\n2) **second:** <b>x</b>\n\n| a | b |\n|---|:--|\n| `c` | d |\n\n```sh\nls <x>\n```\n";
        let told = quotation(text, 1_000);
        assert_eq!(
            told,
            "> Done\n>\n> It **works** now, see `a*b*`:\n>\n> 1. first\n>    goes on\n> 2. **second:** \\<b>x\\</b>\n>\n\
             > | a | b |\n> | --- | --- |\n> | `c` | d |\n>\n> ```sh\n> ls <x>\n> ```\n"
        );
    }

    #[test]
    fn it_is_cut_where_a_block_ends() {
        let told = quotation(&"A paragraph of some words.\n\n".repeat(20), 100);
        assert!(told.ends_with("> A paragraph of some words.\n>\n> \\[…\\]\n"), "{told}");
        let told =
            quotation(&format!("A paragraph of some words.\n\n## A heading\n\nWhat it is:\n\n- {}", "word ".repeat(100)), 100);
        assert_eq!(told, "> A paragraph of some words.\n>\n> \\[…\\]\n", "nothing leads to what is cut");
        let told = quotation(&format!("What is in the way:\n\n- {}", "word ".repeat(100)), 200);
        assert!(told.starts_with("> What is in the way:\n>\n> - word word ") && told.ends_with("…\n>\n> \\[…\\]\n"), "{told}");
        assert!(quotation(&"word ".repeat(100), 50).ends_with("…\n>\n> \\[…\\]\n"));
        assert_eq!(quotation(" \n\n", 50), "");
    }
}
