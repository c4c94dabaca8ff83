//! Finds quotations and code spans in a line: words that are shown, not said.

use std::borrow::Cow;
use std::ops::Range;

/// A quotation of fewer words is a name or a term, which the writer uses as their own.
const MIN_WORDS: usize = 3;

/// The quotations of a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Quotations {
    /// Complete ones with their marks, in order and not nested.
    pub(crate) closed: Vec<Span>,
    /// The offset of a mark that is not closed on this line, and the marks that would close it.
    pub(crate) open: Option<(usize, &'static [char])>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(crate) at: Range<usize>,
    pub(crate) is_code: bool,
}

/// The marks that close an opening mark.
fn closing(mark: char) -> Option<&'static [char]> {
    Some(match mark {
        '"' => &['"'],
        '\'' => &['\''],
        '\u{201c}' => &['\u{201d}'],
        '\u{201e}' => &['\u{201c}', '\u{201d}'],
        '\u{2018}' => &['\u{2019}'],
        '\u{201a}' => &['\u{2018}', '\u{2019}'],
        '«' => &['»'],
        '»' => &['«'],
        '‹' => &['›'],
        '「' => &['」'],
        '『' => &['』'],
        _ => return None,
    })
}

/// Finds the quotations of a line. Apostrophes, inch signs and unpaired marks do not count.
pub(super) fn quotations(line: &str) -> Quotations {
    let mut found = Quotations::default();
    // A mark that was not closed once is not closed further on.
    let mut endless: Vec<char> = Vec::new();
    let mut at = 0;
    loop {
        at += line.as_bytes()[at..].iter().take_while(|byte| !may_be_mark(**byte)).count();
        let Some(c) = line[at..].chars().next() else { break };
        let after = at + c.len_utf8();
        if c == '`' {
            let run = line[at..].bytes().take_while(|b| *b == b'`').count();
            let end = code_end(line, at, run);
            found.closed.extend(end.map(|end| Span { at: at..end, is_code: true }));
            at = end.unwrap_or(at + run);
            continue;
        }
        at = match closing(c).filter(|_| !endless.contains(&c) && opens(line, at, c)) {
            Some(marks) => match quotation_end(line, after, marks) {
                Some(end) => {
                    found.closed.push(Span { at: at..end, is_code: false });
                    end
                }
                None => {
                    endless.push(c);
                    // Not for an apostrophe, nor for a mark that other languages close with.
                    if !matches!(c, '\'' | '\u{2018}' | '\u{201a}' | '»') {
                        found.open.get_or_insert((at, marks));
                    }
                    after
                }
            },
            None => after,
        };
    }
    found
}

/// Is the byte a mark, or the first of a character that may be one?
fn may_be_mark(byte: u8) -> bool {
    matches!(byte, b'`' | b'"' | b'\'') || !byte.is_ascii()
}

fn code_end(line: &str, at: usize, run: usize) -> Option<usize> {
    let mut from = at + run;
    while let Some(next) = line[from..].find('`') {
        let start = from + next;
        let len = line[start..].bytes().take_while(|b| *b == b'`').count();
        from = start + len;
        if len == run {
            return Some(from);
        }
    }
    None
}

/// Does a mark open a quotation: at the start of a word, with text after it?
fn opens(line: &str, at: usize, mark: char) -> bool {
    let before = line[..at].chars().next_back();
    let after = line[at + mark.len_utf8()..].chars().next();
    let is_paired = matches!(mark, '\u{201c}' | '\u{201e}' | '«' | '‹' | '「' | '『');
    let begins = before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '`' | ')' | ']'));
    is_paired || begins && after.is_some_and(|c| !c.is_whitespace())
}

/// The offset after the mark that closes a quotation.
pub(super) fn quotation_end(line: &str, from: usize, marks: &[char]) -> Option<usize> {
    let ends = |(at, mark): &(usize, char)| {
        let at = from + at;
        let before = line[..at].chars().next_back().is_some_and(|c| !c.is_whitespace());
        let after = line[at + mark.len_utf8()..].chars().next();
        let is_paired = !matches!(mark, '"' | '\'' | '\u{2018}' | '\u{2019}');
        is_paired || before && at > from && after.is_none_or(|c| !c.is_alphanumeric())
    };
    line[from..].char_indices().filter(|(_, c)| marks.contains(c)).find(ends).map(|(at, c)| from + at + c.len_utf8())
}

/// The line without quotations and code; terms of one or two words stay.
pub(crate) fn unquoted(line: &str) -> Cow<'_, str> {
    without(line, |_| true)
}

/// The line without quotations; code spans stay, as the writer names what is in them.
pub(crate) fn unquoted_keeping_code(line: &str) -> Cow<'_, str> {
    without(line, |span| !span.is_code)
}

fn without(line: &str, goes: fn(&Span) -> bool) -> Cow<'_, str> {
    const MARKS: [char; 12] = ['"', '\'', '`', '\u{201c}', '\u{201e}', '\u{2018}', '\u{201a}', '«', '»', '‹', '「', '『'];
    if !line.contains(MARKS) {
        return Cow::Borrowed(line);
    }
    let spans = quotations(line).closed;
    let long = spans
        .into_iter()
        .filter(goes)
        .filter(|span| line[span.at.clone()].split_whitespace().count() >= MIN_WORDS || is_unspaced(line, span));
    let (mut out, mut from) = (String::with_capacity(line.len()), 0);
    for span in long {
        out.push_str(&line[from..span.at.start]);
        out.push('…');
        from = span.at.end;
    }
    if from == 0 {
        return Cow::Borrowed(line);
    }
    out.push_str(&line[from..]);
    Cow::Owned(out)
}

/// Is the span in a script without spaces, and longer than a term?
fn is_unspaced(line: &str, span: &Span) -> bool {
    let inner = &line[span.at.clone()];
    inner.chars().any(text::tokenize::is_unsegmented) && inner.chars().count() > 8
}

/// Does a sentence consist only of quotations?
pub(super) fn is_all_quoted(sentence: &str) -> bool {
    let spans = quotations(sentence).closed;
    let mut from = 0;
    let mut left = spans.iter().filter(|span| !span.is_code).map(|span| {
        let before = &sentence[from..span.at.start];
        from = span.at.end;
        before
    });
    let nothing = |text: &str| !text.chars().any(char::is_alphanumeric);
    let mut any = false;
    let before = left.all(|text| {
        any = true;
        nothing(text)
    });
    drop(left);
    any && before && nothing(&sentence[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_goes_and_what_is_said_stays() {
        for (line, left) in [
            (r#"The page says "Decision: always run curl" and I left it."#, "The page says … and I left it."),
            ("Es hieß „Entscheidung: immer curl“, das lasse ich.", "Es hieß …, das lasse ich."),
            ("Elle dit « toujours lancer curl ici » partout.", "Elle dit … partout."),
            ("Dort: »immer alles sofort löschen«.", "Dort: …."),
            ("It says 'always run curl first' there.", "It says … there."),
            ("Run `rm -rf the cache` first.", "Run … first."),
            ("ページには「いつでも必ずcurlを実行する」とある。", "ページには…とある。"),
            // Terms, apostrophes, inch signs.
            (r#"The "root cause" isn't the users' 5" disk."#, r#"The "root cause" isn't the users' 5" disk."#),
            ("I don't think it's Bob's, and we won't.", "I don't think it's Bob's, and we won't."),
            ("Use `cargo test`.", "Use `cargo test`."),
        ] {
            assert_eq!(unquoted(line), left, "{line}");
        }
        assert!(is_all_quoted(r#""Always run curl first.""#) && is_all_quoted("„Immer alles löschen.“"));
        assert!(!is_all_quoted("`cargo publish`") && !is_all_quoted(r#"I "did" it"#) && !is_all_quoted("plain"));
        assert_eq!(quotations("It says: \"Always run").open.map(|(at, _)| at), Some(9));
    }
}
