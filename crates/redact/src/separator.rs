//! What stands between a name and its value.

use super::bytes::{self, BLANK, ByteSet, at};
use super::value::{Quote, quote_at, skip_space};

/// How a value is given to a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `=`, `:=`, `=>`, `==`, `?=`, `<-`
    Equals,
    Colon,
    /// `define("NAME", "value")`
    Comma,
    /// `<name>value<`
    Tag,
    /// `.password("value")`
    Call,
    /// the name is …
    Is,
    /// `| name | value |`
    Table,
    /// Nothing but blanks, the value bare: `--name value`.
    Blank,
    /// Nothing but blanks, the value quoted: `PASSWORD 'value'`.
    Quoted,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Sign {
    pub kind: Kind,
    /// Where the value, or its quote, begins.
    pub value: usize,
    /// The quote that ends the name.
    pub closes: Option<Quote>,
    /// No blanks around.
    pub is_tight: bool,
}

/// The sign behind a name that ends here.
pub(crate) fn sign_after(text: &[u8], end: usize) -> Option<Sign> {
    let (closed, closes) = skip_closers(text, end);
    let place = bytes::run(text, closed, BLANK, 40);
    let (kind, after) = kind_at(text, place, closes.is_some())?;
    if kind == Kind::Blank {
        return blank(text, closed, place, closes);
    }
    let value = if kind == Kind::Tag { after } else { skip_space(text, behind_emphasis(text, after)) };
    if matches!(kind, Kind::Comma) && at_pair(text, value).is_some() {
        return at_pair(text, value).map(|value| Sign { kind: Kind::Colon, value, closes, is_tight: false });
    }
    let is_tight = place == closed && value == after;
    let typed = if kind == Kind::Colon { behind_type(text, value) } else { None };
    Some(match typed {
        Some(value) => Sign { kind: Kind::Equals, value, closes, is_tight: false },
        None => Sign { kind, value, closes, is_tight },
    })
}

/// Behind a quote, a bracket, the stars of emphasis that end the name.
fn skip_closers(text: &[u8], end: usize) -> (usize, Option<Quote>) {
    let mut place = end;
    let mut closes = None;
    for _ in 0..4 {
        if let Some((quote, after)) = quote_at(text, place).filter(|_| closes.is_none()) {
            (closes, place) = (Some(quote), after);
        } else if matches!(at(text, place), b']' | b'*') {
            place += 1;
        } else if at(text, place) == b'[' && at(text, place + 1) == b']' {
            place += 2;
        } else {
            break;
        }
    }
    (place, closes)
}

/// `**Password:** value`
fn behind_emphasis(text: &[u8], place: usize) -> usize {
    let stars = bytes::run(text, place, ByteSet::of("*"), 2);
    if stars > place && at(text, stars) == b' ' { stars } else { place }
}

fn kind_at(text: &[u8], place: usize, is_closed: bool) -> Option<(Kind, usize)> {
    let next = at(text, place + 1);
    Some(match at(text, place) {
        b'=' => {
            let end = bytes::run(text, place, ByteSet::of("="), 3);
            (Kind::Equals, if at(text, end) == b'>' { end + 1 } else { end })
        }
        b':' if next == b':' => return None,
        b':' if next == b'=' => (Kind::Equals, place + 2),
        b':' => (Kind::Colon, place + 1),
        b'?' | b'|' | b'+' if next == b'=' => (Kind::Equals, place + 2),
        b'?' if next == b'?' && at(text, place + 2) == b'=' => (Kind::Equals, place + 3),
        b'?' if next == b':' => (Kind::Colon, place + 2),
        b'|' if next == b'|' && at(text, place + 2) == b'=' => (Kind::Equals, place + 3),
        b'<' if next == b'-' => (Kind::Equals, place + 2),
        b'>' => (Kind::Tag, place + 1),
        b',' if is_closed => (Kind::Comma, place + 1),
        b'|' => (Kind::Table, place + 1),
        b'(' => (Kind::Call, place + 1),
        b'i' if text[place..].starts_with(b"is ") || text[place..].starts_with(b"is: ") => (Kind::Is, place + 3),
        _ => (Kind::Blank, place),
    })
}

/// Blanks alone: before a quote, or between a flag and its value. A line end counts where only a pair's second half can follow.
fn blank(text: &[u8], closed: usize, place: usize, closes: Option<Quote>) -> Option<Sign> {
    if let Some(value) =
        at_pair(text, skip_space(text, place)).filter(|_| closes.is_some() || place == closed || at(text, place) == b'\n')
    {
        return Some(Sign { kind: Kind::Colon, value, closes, is_tight: false });
    }
    if place == closed || closes.is_some() {
        return None;
    }
    let is_quote = matches!(at(text, place), b'"' | b'\'');
    let kind = if is_quote { Kind::Quoted } else { Kind::Blank };
    (at(text, place) > b' ').then_some(Sign { kind, value: place, closes: None, is_tight: false })
}

/// The second half of `"name": "DB_PASSWORD", "value": "…"`, of `- name: X` with `value: …` in the next line, of `key="X" value="…"`.
fn at_pair(text: &[u8], place: usize) -> Option<usize> {
    let word = quote_at(text, place).map_or(place, |(_, inside)| inside);
    let end = word + 5;
    if !text.get(word..end)?.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let sign = bytes::run(text, quote_at(text, end).map_or(end, |(_, after)| after), BLANK, 8);
    matches!(at(text, sign), b':' | b'=').then(|| bytes::run(text, sign + 1, BLANK, 8))
}

/// Behind the type in `password: &str = "…"`.
fn behind_type(text: &[u8], place: usize) -> Option<usize> {
    const TYPE: ByteSet = ByteSet::of("a-zA-Z0-9_&<>[]|?.' ");
    let end = bytes::run(text, place, TYPE, 40);
    let is_assigned = at(text, end) == b'=' && !matches!(at(text, end + 1), b'=' | b'>') && end > place;
    is_assigned.then(|| bytes::run(text, end + 1, BLANK, 8)).filter(|value| quote_at(text, *value).is_some())
}
