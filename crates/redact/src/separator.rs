//! What separates a name from its value.

use super::bytes::{self, BLANK, ByteSet, byte_at};
use super::value::{Quote, quote_at, skip_space};

/// How a value is given to a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SeparatorKind {
    /// `=`, `:=`, `=>`, `==`, `?=`, `<-`
    Equals,
    Colon,
    /// `define("NAME", "value")`
    Comma,
    /// `<name>value<`
    Tag,
    /// `.password("value")`
    Call,
    /// `the name is …`
    Is,
    /// `| name | value |`
    Table,
    /// Blanks only, then an unquoted value: `--name value`.
    Blank,
    /// Blanks only, then a quoted value: `PASSWORD 'value'`.
    Quoted,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Separator {
    pub kind: SeparatorKind,
    /// The offset of the value or its opening quote.
    pub value: usize,
    /// The quote that closes the name.
    pub closing_quote: Option<Quote>,
    /// No blanks on either side.
    pub is_tight: bool,
}

/// The separator behind a name that ends at `end`.
pub(crate) fn separator_after(text: &[u8], end: usize) -> Option<Separator> {
    let (closed, closing_quote) = skip_closers(text, end);
    let offset = bytes::run_end(text, closed, BLANK, 40);
    let (kind, after) = kind_at(text, offset, closing_quote.is_some())?;
    if kind == SeparatorKind::Blank {
        return whitespace_separator(text, closed, offset, closing_quote);
    }
    let value = if kind == SeparatorKind::Tag { after } else { skip_space(text, skip_emphasis(text, after)) };
    if matches!(kind, SeparatorKind::Comma) && value_of_pair(text, value).is_some() {
        return value_of_pair(text, value).map(|value| Separator {
            kind: SeparatorKind::Colon,
            value,
            closing_quote,
            is_tight: false,
        });
    }
    let is_tight = offset == closed && value == after;
    let typed = if kind == SeparatorKind::Colon { skip_type(text, value) } else { None };
    Some(match typed {
        Some(value) => Separator { kind: SeparatorKind::Equals, value, closing_quote, is_tight: false },
        None => Separator { kind, value, closing_quote, is_tight },
    })
}

/// Skips a quote, brackets and emphasis at the end of the name.
fn skip_closers(text: &[u8], end: usize) -> (usize, Option<Quote>) {
    let mut offset = end;
    let mut closing_quote = None;
    for _ in 0..4 {
        if let Some((quote, after)) = quote_at(text, offset).filter(|_| closing_quote.is_none()) {
            (closing_quote, offset) = (Some(quote), after);
        } else if matches!(byte_at(text, offset), b']' | b'*') {
            offset += 1;
        } else if byte_at(text, offset) == b'[' && byte_at(text, offset + 1) == b']' {
            offset += 2;
        } else {
            break;
        }
    }
    (offset, closing_quote)
}

/// `**Password:** value`
fn skip_emphasis(text: &[u8], offset: usize) -> usize {
    let stars = bytes::run_end(text, offset, ByteSet::of("*"), 2);
    if stars > offset && byte_at(text, stars) == b' ' { stars } else { offset }
}

fn kind_at(text: &[u8], offset: usize, is_closed: bool) -> Option<(SeparatorKind, usize)> {
    let next = byte_at(text, offset + 1);
    Some(match byte_at(text, offset) {
        b'=' => {
            let end = bytes::run_end(text, offset, ByteSet::of("="), 3);
            (SeparatorKind::Equals, if byte_at(text, end) == b'>' { end + 1 } else { end })
        }
        b':' if next == b':' => return None,
        b':' if next == b'=' => (SeparatorKind::Equals, offset + 2),
        b':' => (SeparatorKind::Colon, offset + 1),
        b'?' | b'|' | b'+' if next == b'=' => (SeparatorKind::Equals, offset + 2),
        b'?' if next == b'?' && byte_at(text, offset + 2) == b'=' => (SeparatorKind::Equals, offset + 3),
        b'?' if next == b':' => (SeparatorKind::Colon, offset + 2),
        b'|' if next == b'|' && byte_at(text, offset + 2) == b'=' => (SeparatorKind::Equals, offset + 3),
        b'<' if next == b'-' => (SeparatorKind::Equals, offset + 2),
        b'>' => (SeparatorKind::Tag, offset + 1),
        b',' if is_closed => (SeparatorKind::Comma, offset + 1),
        b'|' => (SeparatorKind::Table, offset + 1),
        b'(' => (SeparatorKind::Call, offset + 1),
        b'i' if text[offset..].starts_with(b"is ") || text[offset..].starts_with(b"is: ") => (SeparatorKind::Is, offset + 3),
        _ => (SeparatorKind::Blank, offset),
    })
}

/// Blanks as a separator: before a quote, or between a flag and its value. A newline counts only before the second half of a pair.
fn whitespace_separator(text: &[u8], closed: usize, offset: usize, closing_quote: Option<Quote>) -> Option<Separator> {
    if let Some(value) = value_of_pair(text, skip_space(text, offset))
        .filter(|_| closing_quote.is_some() || offset == closed || byte_at(text, offset) == b'\n')
    {
        return Some(Separator { kind: SeparatorKind::Colon, value, closing_quote, is_tight: false });
    }
    if offset == closed || closing_quote.is_some() {
        return None;
    }
    let is_quote = matches!(byte_at(text, offset), b'"' | b'\'');
    let kind = if is_quote { SeparatorKind::Quoted } else { SeparatorKind::Blank };
    (byte_at(text, offset) > b' ').then_some(Separator { kind, value: offset, closing_quote: None, is_tight: false })
}

/// The value of the second half of a pair: `"name": "DB_PASSWORD", "value": "…"`, `- name: X` with `value: …` on the next line, `key="X"
/// value="…"`.
fn value_of_pair(text: &[u8], offset: usize) -> Option<usize> {
    let word = quote_at(text, offset).map_or(offset, |(_, inside)| inside);
    let end = word + 5;
    if !text.get(word..end)?.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let sign = bytes::run_end(text, quote_at(text, end).map_or(end, |(_, after)| after), BLANK, 8);
    matches!(byte_at(text, sign), b':' | b'=').then(|| bytes::run_end(text, sign + 1, BLANK, 8))
}

/// The offset behind the type and `=` in `password: &str = "…"`.
fn skip_type(text: &[u8], offset: usize) -> Option<usize> {
    const TYPE: ByteSet = ByteSet::of("a-zA-Z0-9_&<>[]|?.' ");
    let end = bytes::run_end(text, offset, TYPE, 40);
    let is_assigned = byte_at(text, end) == b'=' && !matches!(byte_at(text, end + 1), b'=' | b'>') && end > offset;
    is_assigned.then(|| bytes::run_end(text, end + 1, BLANK, 8)).filter(|value| quote_at(text, *value).is_some())
}
