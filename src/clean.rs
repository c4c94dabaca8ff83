//! From what was said to what is worth keeping of it: text without escapes and control characters, in the length there is room for.
//!
//! Pure and linear in the length of the text.

use std::borrow::Cow;

/// Text without terminal escapes, control characters and characters that nobody sees.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => skip_escape(&mut chars),
            '\n' | '\t' => out.push(c),
            _ if c.is_control() || is_unseen(c) => {}
            _ => out.push(c),
        }
    }
    out
}

/// Does a character change the direction of others, or show nothing? Text can be hidden with it, and tags cut in two. The joiners
/// that scripts and emoji are written with are none of these, nor are the sixteen selectors that say how an emoji is drawn.
pub fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'
        | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Skips what follows an ESC: a control sequence, a string up to its terminator, else a short sequence (ECMA-48, ECMA-35). One that is cut
/// short ends before what cannot be part of it, the end of the line above all: what stands on the next line must not be joined to what
/// stood before it, where a secret would be known no more. None takes a `<` with it, which may begin a tag that fences something off.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let within = |c: &char, from: char, to: char| (from..=to).contains(c) && *c != '<';
    let skip = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>, from: char, to: char| {
        while chars.next_if(|c| within(c, from, to)).is_some() {}
    };
    match chars.next_if(|c| within(c, '\x20', '\x7e')) {
        Some('[') => {
            skip(chars, '\x20', '\x3f');
            chars.next_if(|c| within(c, '\x40', '\x7e'));
        }
        Some(']' | 'P' | '_' | '^' | 'X') => {
            while chars.next_if(|c| !matches!(c, '\x07' | '\x1b' | '\u{9c}' | '\n' | '<')).is_some() {}
            // The backslash of its terminator; another escape is another one.
            let mut ahead = chars.clone();
            if ahead.next() == Some('\x1b') && ahead.next() == Some('\\') {
                *chars = ahead;
            }
        }
        Some('\x20'..='\x2f') => {
            skip(chars, '\x20', '\x2f');
            chars.next_if(|c| within(c, '\x30', '\x7e'));
        }
        _ => {}
    }
}

/// Without white space at the ends of lines and of the text, and with one empty line where there were more.
pub fn fold_lines(text: &str) -> String {
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

/// The first and the last bytes of a long text.
pub fn both_ends(text: &str, each: usize) -> Cow<'_, str> {
    if text.len() <= 2 * each {
        return Cow::Borrowed(text);
    }
    let (head, tail) = (text.floor_char_boundary(each), text.ceil_char_boundary(text.len() - each));
    Cow::Owned(format!("{}\n{}", &text[..head], &text[tail..]))
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

    fn fold(text: &str) -> String {
        fold_lines(&plain(text))
    }

    #[test]
    fn escapes_and_controls_go_and_words_stay() {
        assert_eq!(fold("fix the\x1b[31m red\x1b[0m\u{202e} test\0\r\n\n\n\nplease"), "fix the red test\n\nplease");
        assert_eq!(fold("a <b> c < d && e"), "a <b> c < d && e");
        assert_eq!(plain("\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\ \x1b]0;title\x07end \x1b(Bx"), "link end x");
    }

    #[test]
    fn an_escape_that_is_cut_short_ends_with_its_line() {
        for cut in ["\x1b", "\x1b[", "\x1b[31", "\x1b]0;title", "\x1bP", "\x1b]0;\x1b", "\x1b]0;\x1b]1;"] {
            assert_eq!(plain(&format!("before{cut}\nafter")), "before\nafter", "{cut:?}");
        }
        assert_eq!(plain(&"\x1b]\x1b".repeat(100_000)), "");
    }

    #[test]
    fn an_escape_takes_no_more_than_itself() {
        for (text, left) in [
            ("a\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
            ("a\x1b]0;title\x07b", "ab"),
            ("a\x1b]52;c;never ended\nthe next line", "a\nthe next line"),
            ("a\x1bPq#0;2\x1b\\b\x1b[1;31mc\x1b[0m\x1b(Bd", "abcd"),
            ("a\x1b[水は飲めます", "a水は飲めます"),
            ("a\x1b[12\nb\x1b", "a\nb"),
            ("a\x1b]0;title\u{9c}b", "ab"),
            ("a\x1b<b>\x1b[<c>\x1b]<d>\x07\x1b(<e>", "a<b><c><d><e>"),
            ("a\u{9b}31mb\u{9d}c\u{85}d", "a31mbcd"),
            ("pass\u{200b}wo\u{ad}rd \u{e0041}\u{61c}\u{2060}x", "password x"),
            ("a\u{e0100}\u{e01ef}b\u{34f}\u{115f}\u{1160}\u{17b4}\u{180b}\u{3164}\u{ffa0}\u{fff0}\u{1d173}c", "abc"),
            ("نمی\u{200c}شود 👩\u{200d}💻", "نمی\u{200c}شود 👩\u{200d}💻"),
        ] {
            assert_eq!(plain(text), left, "{text:?}");
        }
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
            prop_assert!(fold(&text).len() <= text.len());
            prop_assert!(shorten(&text, max).chars().count() <= max + 1);
            prop_assert!(head_and_tail(&text, max).chars().count() <= max + 3);
        }
    }
}
