//! Cleans text for storage and display: no terminal escapes or control characters, and within a length.
//!
//! Pure and linear in the length of the text.

use std::borrow::Cow;

use super::byte_finder::{Block, ByteFinder, ByteKind, bits};

/// Removes terminal escapes, control characters and invisible characters; borrows the text if it has none.
pub fn without_controls(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut from = 0;
    let mut specials = ByteFinder::<MayGo>::new(text.as_bytes());
    let mut next = specials.next(0);
    while let Some((at, c)) = next.and_then(|at| Some((at, text[at..].chars().next()?))) {
        let after = at + c.len_utf8();
        let goes = c.is_control() || is_invisible(c);
        let end = if c == '\x1b' { text.len() - after_escape(&text[after..]).len() } else { after };
        if goes {
            out.push_str(&text[from..at]);
            from = end;
        }
        next = specials.next(end);
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// Bytes that may begin a character to remove: all but those of ASCII that are shown, line ends and tabs. Most texts have few.
struct MayGo;

impl ByteKind for MayGo {
    #[inline]
    fn bits_in(block: &Block) -> u64 {
        bits(block, |bytes| bytes.are_within(0, 0x8) | bytes.are_within(0xb, 0x1f) | bytes.are_within(0x7f, 0xff))
    }
}

/// Does a character change the direction of others, or show nothing? Such characters can hide text and split tags. The joiners
/// that scripts and emoji need are not included, nor the sixteen variation selectors that say how an emoji is drawn.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'
        | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns what follows an escape sequence whose ESC was already read: a control sequence, a string up to its terminator, or a
/// short sequence (ECMA-48, ECMA-35). A truncated sequence ends before the first byte that cannot be part of it, in particular at
/// the end of the line: joining the next line to this one would hide a secret from the redactor. No sequence consumes a `<`, which
/// may begin a tag that marks something private.
fn after_escape(text: &str) -> &str {
    let one = |text: &str, from: u8, to: u8| text.bytes().next().is_some_and(|b| (from..=to).contains(&b) && b != b'<');
    let skip = |text: &str, from: u8, to: u8| text.bytes().take_while(|b| (from..=to).contains(b) && *b != b'<').count();
    // Only ASCII is skipped.
    let Some(kind) = text.chars().next().filter(|_| one(text, 0x20, 0x7e)) else { return text };
    let rest = &text[1..];
    match kind {
        '[' => {
            let rest = &rest[skip(rest, 0x20, 0x3f)..];
            &rest[usize::from(one(rest, 0x40, 0x7e))..]
        }
        ']' | 'P' | '_' | '^' | 'X' => {
            let end = rest.find(['\x07', '\x1b', '\u{9c}', '\n', '<']).unwrap_or(rest.len());
            // The backslash of its terminator (ESC `\`); any other escape is a sequence of its own.
            rest[end..].strip_prefix("\x1b\\").unwrap_or(&rest[end..])
        }
        '\x20'..='\x2f' => {
            let rest = &rest[skip(rest, 0x20, 0x2f)..];
            &rest[usize::from(one(rest, 0x30, 0x7e))..]
        }
        _ => rest,
    }
}

/// Trims the text and its line ends and folds runs of empty lines into one; borrows the text if nothing changes.
pub fn fold_lines(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let ends_in_space = |end: usize| match text.as_bytes()[..end] {
        [.., b'\n', b'\n'] => true,
        [.., b'\n'] => false,
        [.., b'\t'..=b'\r' | b' '] => true,
        [.., 0x80..=0xff] => text[..end].ends_with(char::is_whitespace),
        _ => false,
    };
    if !memchr::memchr_iter(b'\n', text.as_bytes()).any(ends_in_space) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.lines() {
        let line = line.trim_end();
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.truncate(out.trim_end().len());
    Cow::Owned(out)
}

/// The first and last `each` bytes of a long text.
pub fn both_ends(text: &str, each: usize) -> Cow<'_, str> {
    if text.len() <= 2 * each {
        return Cow::Borrowed(text);
    }
    let (head, tail) = (text.floor_char_boundary(each), text.ceil_char_boundary(text.len() - each));
    Cow::Owned(format!("{}\n{}", &text[..head], &text[tail..]))
}

/// Folds the text into one line: each run of white space becomes a single space.
pub fn one_line(text: &str) -> String {
    if is_one_line(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// How many bytes are tested at once.
const BLOCK_BYTES: usize = 32;

/// Is the text certain to need no folding? That is true of most texts.
fn is_one_line(text: &str) -> bool {
    // No branch per byte, so that the compiler vectorizes the loop.
    let all_plain = |block: &[u8]| block.iter().fold(true, |all, b| all & matches!(b, b' '..=b'~'));
    let is_plain = text.as_bytes().chunks(BLOCK_BYTES).all(all_plain);
    is_plain && !text.starts_with(' ') && !text.ends_with(' ') && memchr::memmem::find(text.as_bytes(), b"  ").is_none()
}

/// What people see and type of a session's id: eight characters of its start. Ids that begin with the time (UUIDs of version 7, those of
/// OpenCode and of Cline) are the same there for about a minute: of such, the end. `store::load::BEGINS_WITH_TIME` says the same in SQL.
pub fn id8(id: &str) -> String {
    let id = one_line(&without_controls(id));
    let is_version_7 = || id.len() == 36 && id.as_bytes()[14] == b'7';
    let is_of_opencode = || id.len() > 12 && id.starts_with("ses_");
    // Milliseconds.
    let is_of_cline = || {
        let (time, rest) = id.as_bytes().split_at_checked(13).unwrap_or_default();
        let has_random = rest.len() > 1 && rest[0] == b'_';
        !time.is_empty() && time.iter().all(u8::is_ascii_digit) && (rest.is_empty() || has_random)
    };
    let begins_with_time = id.is_ascii() && (is_version_7() || is_of_opencode() || is_of_cline());
    if begins_with_time { id[id.len() - 8..].to_owned() } else { id.chars().take(8).collect() }
}

/// At most `max` characters, cut at a nearby word boundary if there is one, with an ellipsis where text is missing.
pub fn shorten(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let Some((cut, _)) = text.char_indices().nth(max) else { return text.to_owned() };
    let head = &text[..cut];
    let near = head.char_indices().rev().nth(max / 5).map_or(0, |(at, _)| at);
    let end = head.rfind(char::is_whitespace).filter(|at| *at >= near).unwrap_or(cut);
    format!("{}…", head[..end].trim_end())
}

/// What came of a session says something in so many characters.
const MIN_CAME_CHARS: usize = 28;

/// A session's title in at most `max` characters: what came of it, behind the last ` · `, goes whole where too little of it would be left.
pub fn shorten_title(title: &str, max: usize) -> String {
    let cut = shorten(title, max);
    match title.rsplit_once(" · ") {
        Some((asked, _)) if cut != title => {
            let came = cut.chars().count().checked_sub(asked.chars().count() + " · ".chars().count());
            let is_within = cut.starts_with(asked) && came.is_none_or(|came| came < MIN_CAME_CHARS);
            if is_within { asked.to_owned() } else { cut }
        }
        _ => cut,
    }
}

/// A session's title in a room of so many characters, the ellipsis included.
pub fn fit_title(title: &str, room: usize) -> String {
    if title.chars().count() <= room { title.to_owned() } else { shorten_title(title, room.saturating_sub(1)) }
}

/// At most about `max` characters from the start and the end, for texts whose middle matters least.
pub fn head_and_tail(text: &str, max: usize) -> String {
    if text.len() <= max || text.char_indices().nth(max).is_none() {
        return text.to_owned();
    }
    let head = max * 3 / 5;
    // From the end: most of a long text is what is left out.
    let tail_at = text.char_indices().rev().take(max - head).last().map_or(text.len(), |(at, _)| at);
    let tail = &text[tail_at..];
    let tail = tail.find(char::is_whitespace).map_or(tail, |at| &tail[at..]);
    format!("{} {}", shorten(text, head), tail.trim_start())
}

/// May [`head_and_tail`] have cut this text? It leaves its mark behind about three fifths.
pub fn may_be_cut(text: &str) -> bool {
    let total = text.chars().count();
    let is_there = |at: usize| (total * 57 / 100..=total * 64 / 100).contains(&at);
    text.chars().zip(text.chars().skip(1)).enumerate().any(|(at, two)| two == ('…', ' ') && is_there(at))
}

/// `1 page`, `2 pages`
pub fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// A number of bytes in decimal units: `930 bytes`, `30.9 MB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => counted(bytes as usize, "byte"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_without_its_middle_is_known_by_its_mark() {
        let text = "one two three four five. ".repeat(400);
        for max in [2_000, 8_000, 9_000] {
            assert!(may_be_cut(&head_and_tail(&text, max)), "{max}");
        }
        assert!(!may_be_cut(&text) && !may_be_cut("") && !may_be_cut(&format!("so … {text}")));
    }

    fn fold(text: &str) -> String {
        fold_lines(&without_controls(text)).into_owned()
    }

    #[test]
    fn of_what_came_of_a_session_enough_is_told_or_nothing() {
        let title = "Fix the pager of the order list · commit: Order list: page by (created_at, id)";
        assert_eq!(shorten_title(title, 200), title);
        assert_eq!(shorten_title(title, 70), "Fix the pager of the order list · commit: Order list: page by…");
        assert_eq!(shorten_title(title, 50), "Fix the pager of the order list");
        assert_eq!(shorten_title(title, 35), "Fix the pager of the order list");
        assert_eq!(shorten_title(title, 20), "Fix the pager of…");
        assert_eq!(shorten_title("a · b", 5), "a · b");
        let address = "see https://example.org/a/b/c";
        assert_eq!(
            (fit_title(address, 29), fit_title(address, 28)),
            (address.to_owned(), "see https://example.org/a/b…".to_owned())
        );
    }

    #[test]
    fn escapes_and_controls_go_and_words_stay() {
        assert_eq!(fold("fix the\x1b[31m red\x1b[0m\u{202e} test\0\r\n\n\n\nplease"), "fix the red test\n\nplease");
        assert_eq!(fold("a <b> c < d && e"), "a <b> c < d && e");
        assert_eq!(without_controls("\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\ \x1b]0;title\x07end \x1b(Bx"), "link end x");
    }

    #[test]
    fn an_escape_that_is_cut_short_ends_with_its_line() {
        for cut in ["\x1b", "\x1b[", "\x1b[31", "\x1b]0;title", "\x1bP", "\x1b]0;\x1b", "\x1b]0;\x1b]1;"] {
            assert_eq!(without_controls(&format!("before{cut}\nafter")), "before\nafter", "{cut:?}");
        }
        assert_eq!(without_controls(&"\x1b]\x1b".repeat(100_000)), "");
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
            assert_eq!(without_controls(text), left, "{text:?}");
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
            let folded = fold_lines(&text);
            prop_assert!(folded.lines().all(|line| line == line.trim_end()) && !folded.contains("\n\n\n"));
            prop_assert_eq!(one_line(&text), text.split_whitespace().collect::<Vec<_>>().join(" "));
            prop_assert!(fold(&text).len() <= text.len());
            prop_assert!(shorten(&text, max).chars().count() <= max + 1);
            prop_assert!(head_and_tail(&text, max).chars().count() <= max + 3);
        }
    }

    #[test]
    fn sizes_are_told_in_decimal_units() {
        let told = [0, 1, 999, 1_000, 30_900_000, 999_949_999, 76_516_000_000].map(size);
        assert_eq!(told, ["0 bytes", "1 byte", "999 bytes", "1.0 kB", "30.9 MB", "999.9 MB", "76.5 GB"]);
    }
}
