//! Escapes session text for Markdown pages, so that it cannot become markup.

use crate::clean::{one_line, without_controls};

/// Foreign text on one line. Code spans stay; block markers, tags, links, images and table bars are escaped.
pub fn inline(text: &str) -> String {
    let line = one_line(&without_controls(text));
    let mut out = String::with_capacity(line.len() + 8);
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        if c == '`' {
            let span = code_span(&line[at..]);
            let run = line[at..].bytes().take_while(|b| *b == b'`').count();
            match span {
                Some(len) => out.push_str(&line[at..at + len]),
                None => out.push_str(&"\\`".repeat(run)),
            }
            at += span.unwrap_or(run);
            continue;
        }
        let opens_block = at == 0 && matches!(c, '#' | '>' | '+' | '-' | '=' | '*' | '_' | '~' | ':');
        // Where a viewer supports formulas they take precedence over code: a dollar sign could swallow a span's first backtick.
        let marks = matches!(c, '<' | '[' | ']' | '|' | '\\' | '$')
            || matches!(c, '*' | '_') && is_at_word_edge(&line, at)
            // Strikethrough, and in some viewers a comment.
            || matches!(c, '~' | '%') && (line[..at].ends_with(c) || line[at + 1..].starts_with(c))
            || c == '&' && is_entity(&line[at + 1..])
            // Attributes, raw blocks and templates in viewers that support them.
            || c == '{';
        if opens_block || marks {
            out.push('\\');
        }
        out.push(c);
        at += c.len_utf8();
        let plain = line.as_bytes()[at..].iter().take_while(|byte| !may_be_mark(**byte)).count();
        out.push_str(&line[at..at + plain]);
        at += plain;
    }
    escape_list_number(out)
}

/// Is the byte a character that [`inline`] may escape behind the first one?
fn may_be_mark(byte: u8) -> bool {
    matches!(byte, b'`' | b'<' | b'[' | b']' | b'|' | b'\\' | b'$' | b'*' | b'_' | b'~' | b'%' | b'&' | b'{')
}

/// The text that [`inline`] escaped.
pub fn unescaped(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        let len = match c {
            '`' => code_span(&line[at..]).unwrap_or(1),
            '\\' if line[at + 1..].starts_with(|next: char| next.is_ascii_punctuation()) => {
                at += 1;
                1
            }
            _ => c.len_utf8(),
        };
        out.push_str(&line[at..at + len]);
        at += len;
    }
    out
}

/// A brace that closes attributes, as an entity.
const BRACE: &str = "&#125;";

/// As [`inline`], for a heading. A heading may end in attributes, and some viewers ignore the backslash before their brace.
pub fn heading(text: &str) -> String {
    let mut line = inline(text);
    let end = line.trim_end_matches(['#', ' ']).len();
    if line[..end].ends_with('}') {
        line.replace_range(end - 1..end, BRACE);
    }
    line
}

/// The text that [`heading`] escaped.
pub fn unescaped_heading(line: &str) -> String {
    let end = line.trim_end_matches(['#', ' ']).len();
    let plain = |before: &str| before.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 0;
    match line[..end].strip_suffix(BRACE).filter(|before| plain(before)) {
        Some(before) => unescaped(&format!("{before}}}{}", &line[end..])),
        None => unescaped(line),
    }
}

/// Is this, after an ampersand, an entity such as `lt;`?
fn is_entity(rest: &str) -> bool {
    let name = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'#').count();
    (1..=32).contains(&name) && rest[name..].starts_with(';')
}

/// The length of the code span at the start of `text`: from a run of backticks through the next run of the same length.
fn code_span(text: &str) -> Option<usize> {
    let run = |at: usize| text.as_bytes()[at..].iter().take_while(|b| **b == b'`').count();
    let fence = run(0);
    let mut at = fence;
    while let Some(next) = text[at..].find('`') {
        at += next;
        let closing = run(at);
        at += closing;
        if closing == fence {
            return Some(at);
        }
    }
    None
}

/// Emphasis opens or closes at the edge of a word; inside a word the character is part of a name.
fn is_at_word_edge(line: &str, at: usize) -> bool {
    let before = line[..at].chars().next_back().is_some_and(char::is_alphanumeric);
    let after = line[at + 1..].chars().next().is_some_and(char::is_alphanumeric);
    before != after
}

/// Escapes `1. text` at the start of a line, which would become a list.
fn escape_list_number(line: String) -> String {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 && line[digits..].starts_with(['.', ')']) {
        return format!("{}\\{}", &line[..digits], &line[digits..]);
    }
    line
}

/// Foreign text as a code span, whatever backticks it contains.
pub fn code(text: &str) -> String {
    let line = one_line(&without_controls(text));
    if line.is_empty() {
        // Two backticks would open a span.
        return "` `".into();
    }
    let longest = line.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{line}{pad}{fence}")
}

/// Foreign text as a YAML string.
pub fn yaml(text: &str) -> String {
    serde_json::to_string(&one_line(&without_controls(text))).unwrap_or_default()
}

/// A name as part of a file name: lower case with hyphens, at most `max` characters, never empty, hidden or a path.
pub fn slug(text: &str, max: usize) -> String {
    let mut out = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.len() >= max {
            break;
        }
    }
    let slug = out.trim_end_matches('-');
    if slug.is_empty() { "project".into() } else { slug.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn foreign_text_stays_text() {
        assert_eq!(inline("# not a heading"), "\\# not a heading");
        assert_eq!(inline("<script>x</script> ![a](b) | `<ok>`"), "\\<script>x\\</script> !\\[a\\](b) \\| `<ok>`");
        assert_eq!(inline("a ``` <img> ` b"), "a \\`\\`\\` \\<img> \\` b");
        assert_eq!(inline("1. one\n## two\x1b[31m"), "1\\. one ## two");
        assert_eq!(inline("snake_case_name *bold*"), "snake_case_name \\*bold\\*");
        assert_eq!(code("a `b` c"), "``a `b` c``");
        assert_eq!(inline("a {: onclick=x} {y} `<b>`{=html}"), "a \\{: onclick=x} \\{y} `<b>`\\{=html}");
        assert_eq!(heading("why {onclick=x} {y}"), "why \\{onclick=x} \\{y&#125;");
        assert_eq!(heading("why {y} ##"), "why \\{y&#125; ##");
        assert_eq!(inline("$`$<b>` $5"), "\\$`$<b>` \\$5");
        assert_eq!(["", "\u{202e}\u{7}", "\x1b[0m"].map(code), ["` `"; 3]);
        assert_eq!(inline("~~no~~ %%no%% ~/x &lt;b&gt; a && b"), "\\~\\~no\\~\\~ \\%\\%no\\%\\% ~/x \\&lt;b\\&gt; a && b");
        assert_eq!(slug("../../etc/Passwd", 40), "etc-passwd");
        assert_eq!(slug("日本", 40), "project");
    }

    proptest! {
        #[test]
        fn escaped_text_is_read_back(text in "[\\PC`\\\\*_~]{0,60}") {
            prop_assert_eq!(unescaped(&inline(&text)), one_line(&without_controls(&text)));
        }

        #[test]
        fn a_heading_is_read_back(text in "[\\PC`\\\\{}#]{0,30}(\\}|&#125;)?[# ]{0,2}") {
            prop_assert_eq!(unescaped_heading(&heading(&text)), one_line(&without_controls(&text)));
        }

        #[test]
        fn a_slug_is_a_plain_name(text in "\\PC{0,80}", max in 1usize..50) {
            let slug = slug(&text, max);
            prop_assert!(!slug.is_empty() && slug.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
        }

        #[test]
        fn inline_is_one_line_without_open_tags(text in "\\PC{0,60}[<>`\n\\[\\]a]{0,20}") {
            let line = inline(&text);
            prop_assert!(!line.contains('\n'));
        }
    }
}
