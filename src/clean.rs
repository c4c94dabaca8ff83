//! From what was said to what is worth keeping of it: text without escapes, control characters and injected blocks.
//!
//! Pure and linear in the length of the text.

/// Blocks that the client or an editor puts into a user's message; nobody said them.
const INJECTED: [&str; 8] = [
    "system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics", "local-command-caveat", "user-prompt-submit-hook",
    "session-start-hook", "recall-context",
];

/// Removes injected blocks, terminal escapes and control characters, and folds runs of empty lines.
pub fn clean(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((start, end)) = next_injected(rest) {
        kept.push_str(&rest[..start]);
        rest = &rest[end..];
    }
    kept.push_str(rest);
    fold_lines(&plain(&kept))
}

/// The next injected block; one that is never closed reaches to the end.
fn next_injected(text: &str) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'<', bytes).find_map(|start| {
        let after = &text[start + 1..];
        let name =
            INJECTED.iter().find(|name| after.strip_prefix(**name).is_some_and(|tail| tail.starts_with(['>', ' ', '\n'])))?;
        let close = format!("</{name}>");
        // Somebody who only speaks of a tag does not close it, and does not start a line with it.
        let at_line_start = start == 0 || bytes[start - 1] == b'\n';
        match memchr::memmem::find(after.as_bytes(), close.as_bytes()) {
            Some(at) => Some((start, start + 1 + at + close.len())),
            None => at_line_start.then_some((start, text.len())),
        }
    })
}

/// Text in which no tag of an injected block begins or ends one.
pub fn disarm(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let is_tag = |rest: &str| INJECTED.iter().any(|name| rest.strip_prefix('/').unwrap_or(rest).starts_with(name));
        out.push(if c == '<' && is_tag(&text[at + 1..]) { '‹' } else { c });
    }
    out
}

/// Text without terminal escapes, control characters and characters that change the direction of others.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => skip_escape(&mut chars),
            '\n' | '\t' => out.push(c),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {}
            _ if c.is_control() => {}
            _ => out.push(c),
        }
    }
    out
}

/// Skips what follows an ESC: a control sequence up to its final byte, a string up to its terminator, else one character.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => while chars.next().is_some_and(|c| !('\x40'..='\x7e').contains(&c)) {},
        Some(']' | 'P' | '_' | '^') => while chars.next().is_some_and(|c| c != '\x07' && c != '\x1b' && c != '\n') {},
        _ => {}
    }
}

fn fold_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.trim().lines() {
        let line = line.trim_end();
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// One line: all white space folded to single spaces.
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// The start of a session's id, as people see and type it.
pub fn id8(id: &str) -> String {
    one_line(&plain(id)).chars().take(8).collect()
}

/// At most `max` characters, cut at a word where one ends near, with an ellipsis where something is missing.
pub fn shorten(text: &str, max: usize) -> String {
    let Some((cut, _)) = text.char_indices().nth(max) else { return text.to_owned() };
    let head = &text[..cut];
    let near = head.char_indices().rev().nth(max / 5).map_or(0, |(at, _)| at);
    let end = head.rfind(char::is_whitespace).filter(|at| *at >= near).unwrap_or(cut);
    format!("{}…", head[..end].trim_end())
}

/// At most about `max` characters from the start and the end, for texts whose middle matters least.
pub fn head_and_tail(text: &str, max: usize) -> String {
    let count = text.chars().count();
    if count <= max {
        return text.to_owned();
    }
    let head = max * 3 / 5;
    let tail_at = text.char_indices().nth(count - (max - head)).map_or(text.len(), |(at, _)| at);
    let tail = &text[tail_at..];
    let tail = tail.find(char::is_whitespace).map_or(tail, |at| &tail[at..]);
    format!("{} {}", shorten(text, head), tail.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn injected_blocks_escapes_and_controls_go_and_words_stay() {
        let dirty =
            "fix <system-reminder>obey</system-reminder>the\x1b[31m red\x1b[0m\u{202e} test\0\r\n\n\n\nplease\n<ide_selection>x";
        assert_eq!(clean(dirty), "fix the red test\n\nplease");
        assert_eq!(clean("a <b> c < d && e"), "a <b> c < d && e");
        assert_eq!(clean("why does <system-reminder> show up?"), "why does <system-reminder> show up?");
    }

    #[test]
    fn shortening_keeps_words_whole_and_says_that_it_cut() {
        assert_eq!(shorten("keyset pagination by date", 20), "keyset pagination…");
        assert_eq!(shorten("short", 20), "short");
        assert!(head_and_tail(&"word ".repeat(100), 50).ends_with("word "));
    }

    proptest! {
        #[test]
        fn nothing_grows_and_lengths_hold(text in "\\PC*|[<>a-z/\\-\x1b\\[\n ]{0,400}", max in 1usize..200) {
            prop_assert!(clean(&text).len() <= text.len());
            prop_assert!(shorten(&text, max).chars().count() <= max + 1);
            prop_assert!(head_and_tail(&text, max).chars().count() <= max + 3);
        }
    }
}
