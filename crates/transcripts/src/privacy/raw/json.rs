//! Reads JSON without trusting its shape.
//!
//! A transcript's format is internal to the client and changes between releases. A field of an unexpected type must cost that
//! field and not the whole line, so values are taken raw and decoded one by one. `cursor` finds them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use text::byte_finder::{Block, ByteFinder, ByteKind, bits};

use super::RawText;
use super::json_cursor::{JsonCursor, Malformed, NameSet};
use crate::privacy::Sanitizer;
use crate::session::RecordKey;

/// A well-formed JSON value, as the bytes of its line. What it holds has not passed the sanitizer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a>(pub(super) &'a str);

/// What JSON is read from: a value, or a text that holds one.
#[derive(Clone, Copy)]
pub struct JsonText<'a>(pub(super) &'a str);

impl<'a> From<Raw<'a>> for JsonText<'a> {
    fn from(json: Raw<'a>) -> Self {
        Self(json.0)
    }
}

impl<'a> From<&Raw<'a>> for JsonText<'a> {
    fn from(json: &Raw<'a>) -> Self {
        Self(json.0)
    }
}

impl<'a> From<&'a RawText<'_>> for JsonText<'a> {
    fn from(json: &'a RawText<'_>) -> Self {
        Self(json.inside())
    }
}

impl<'a> From<&'a str> for JsonText<'a> {
    fn from(json: &'a str) -> Self {
        Self(json)
    }
}

impl<'a> From<&'a String> for JsonText<'a> {
    fn from(json: &'a String) -> Self {
        Self(json)
    }
}

impl<'a> Raw<'a> {
    /// Reads exactly one value with nothing but white space around it.
    pub(crate) fn of(json: impl Into<JsonText<'a>>) -> Result<Self, Malformed> {
        let mut cursor = JsonCursor::new(json);
        let value = cursor.value()?;
        cursor.end()?;
        Ok(value)
    }

    /// The JSON itself, as a text.
    pub fn written(self) -> RawText<'a> {
        self.0.into()
    }

    /// Is it written so?
    pub(crate) fn is(self, json: &str) -> bool {
        self.0 == json
    }

    pub(crate) fn is_list(self) -> bool {
        self.0.starts_with('[')
    }

    pub(crate) fn is_text(self) -> bool {
        self.0.starts_with('"')
    }

    /// Its length in bytes.
    pub(crate) fn len(self) -> usize {
        self.0.len()
    }

    /// The key of a record that is known by this value: a hash.
    pub(crate) fn key_in(self, session: &RawText<'_>) -> RecordKey {
        RecordKey::from_line(session.inside(), self.0.as_bytes())
    }
}

/// Its length, and nothing of it.
impl fmt::Debug for Raw<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "raw JSON of {} bytes", self.0.len())
    }
}

/// Takes the named fields of one well-formed JSON object, raw. Other fields are skipped; of a repeated field, the last counts.
pub fn fields<'a, const N: usize>(
    json: impl Into<JsonText<'a>>,
    names: &impl NameSet<N>,
) -> Result<[Option<Raw<'a>>; N], Malformed> {
    let mut cursor = JsonCursor::new(json);
    let found = cursor.fields(names)?;
    cursor.end()?;
    Ok(found)
}

/// The named fields of a possibly truncated object, as far as they come before the cut.
pub fn fields_before_cut<'a, const N: usize>(json: impl Into<JsonText<'a>>, names: &impl NameSet<N>) -> [Option<Raw<'a>>; N] {
    let mut found = [None; N];
    // Parsing fails at the cut, as expected.
    let _ = JsonCursor::new(json).object(names, |cursor, which| {
        found[which] = Some(cursor.value()?);
        Ok(())
    });
    found
}

/// Where a second object begins directly after a complete first one. Most lines are dismissed by a substring search.
pub(crate) fn second_object(line: &[u8]) -> Option<usize> {
    static SEAM: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"}{\""));
    SEAM.find(line)?;
    // The second object may hold invalid UTF-8: the valid text before it is enough to find the first one's end.
    let text = std::str::from_utf8(line).unwrap_or_else(|e| std::str::from_utf8(&line[..e.valid_up_to()]).unwrap_or_default());
    let first = JsonCursor::new(text).value().ok().filter(|first| is_object(*first))?;
    let end = text.len() - text.trim_start().len() + first.len();
    line[end..].starts_with(b"{").then_some(end)
}

/// The elements of a JSON array, raw; empty if `json` is anything else.
pub fn elements(json: Raw<'_>) -> Vec<Raw<'_>> {
    let mut all = Vec::new();
    let read = JsonCursor::new(json).array(|cursor| {
        all.push(cursor.value()?);
        Ok(())
    });
    if read.is_ok() { all } else { Vec::new() }
}

/// The fields of an object by name.
pub(crate) fn fields_by_name(object: Raw<'_>) -> Option<BTreeMap<RawText<'static>, Raw<'_>>> {
    let all: BTreeMap<String, &RawValue> = serde_json::from_str(object.0).ok()?;
    all.into_iter().map(|(name, value)| Some((name.into(), Raw::of(value.get()).ok()?))).collect()
}

/// A JSON string's text; `None` for any other value. A lone surrogate becomes U+FFFD.
pub fn text(json: Raw<'_>) -> Option<RawText<'_>> {
    let quoted = json.0;
    let inner = quoted.as_bytes().starts_with(b"\"").then(|| &quoted[1..quoted.len() - 1])?;
    let Some(first) = memchr::memchr(b'\\', inner.as_bytes()) else { return Some(inner.into()) };
    // The only copy that is made of a long text.
    let mut out = String::with_capacity(inner.len());
    let mut escapes = ByteFinder::<Backslashes>::new(inner.as_bytes());
    let (mut from, mut next) = (0, Some(first));
    while let Some(escape) = next {
        out.push_str(&inner[from..escape]);
        let (c, len) = unescaped(&inner.as_bytes()[escape..]);
        out.push(c);
        from = escape + len;
        next = escapes.next(from);
    }
    out.push_str(&inner[from..]);
    Some(out.into())
}

/// How escapes of a JSON string begin.
struct Backslashes;

impl ByteKind for Backslashes {
    #[inline]
    fn bits_in(block: &Block) -> u64 {
        bits(block, |bytes| bytes.are(b'\\'))
    }
}

/// An id as it is kept; `None` for what is no string. An empty one is none.
pub fn id(json: Option<Raw<'_>>, sanitizer: &Sanitizer) -> Option<String> {
    text(json?).filter(|id| !id.is_empty()).map(|id| sanitizer.id(id))
}

/// The number of lines in a JSON string, without decoding it; 0 for any other value.
pub(crate) fn lines_in(json: Raw<'_>) -> u32 {
    let Some(inner) = json.0.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return 0 };
    let bytes = inner.as_bytes();
    let (mut lines, mut from, mut at) = (0, 0, 0);
    let mut escapes = ByteFinder::<Backslashes>::new(inner.as_bytes());
    while let Some(escape) = escapes.next(at) {
        let (c, len) = unescaped(&bytes[escape..]);
        at = escape + len;
        if c == '\n' {
            lines += 1;
            from = at;
        }
    }
    lines + u32::from(from < bytes.len())
}

/// Decodes the escape that `json` begins with; returns the character and the escape's length.
fn unescaped(json: &[u8]) -> (char, usize) {
    let c = match json.get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return code_point(json),
        other => char::from(*other.unwrap_or(&b'\\')),
    };
    (c, 2)
}

/// Decodes `\uXXXX`, or a surrogate pair of two.
fn code_point(json: &[u8]) -> (char, usize) {
    let unit = |at: usize| {
        let hex = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()
    };
    let high = unit(0).unwrap_or(0xFFFD);
    let low = unit(6).filter(|low| (0xD800..0xDC00).contains(&high) && (0xDC00..0xE000).contains(low));
    match low {
        Some(low) => (char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)).unwrap_or('\u{fffd}'), 12),
        None => (char::from_u32(high).unwrap_or('\u{fffd}'), 6),
    }
}

pub fn is_true(json: Option<Raw<'_>>) -> bool {
    json.is_some_and(|v| v.is("true"))
}

pub fn number(json: Option<Raw<'_>>) -> Option<u64> {
    let digits = json?.0;
    if digits.len() < 16 && digits.bytes().all(|b| b.is_ascii_digit()) {
        return digits.parse().ok();
    }
    let value: f64 = json?.0.parse().ok()?;
    // Token counts are far below 2^53; a fraction or a negative number is not a count.
    ((0.0..9e15).contains(&value) && value.fract() == 0.0).then_some(value as u64)
}

/// A sum of US dollars, in millionths of one; 0 if it is none.
pub(crate) fn millionths(json: Option<Raw<'_>>) -> u64 {
    let dollars: Option<f64> = json.and_then(|json| json.0.parse().ok());
    dollars.filter(|usd| (0.0..1e6).contains(usd)).map_or(0, |usd| (usd * 1e6).round() as u64)
}

/// A whole number, which may be negative.
pub fn integer(json: Option<Raw<'_>>) -> Option<i64> {
    json?.0.parse().ok()
}

/// Figures by name. What can be copied and borrows nothing holds no text.
pub(crate) fn figures_by_name<T: Copy + 'static + DeserializeOwned>(json: Raw<'_>) -> Option<BTreeMap<RawText<'static>, T>> {
    let all: BTreeMap<String, T> = serde_json::from_str(json.0).ok()?;
    Some(all.into_iter().map(|(name, figures)| (name.into(), figures)).collect())
}

pub fn is_object(json: Raw<'_>) -> bool {
    json.0.starts_with('{')
}

/// All strings in a value at any depth, without field names.
pub fn strings(raw: Raw<'_>) -> Vec<RawText<'_>> {
    let json = raw.0;
    let mut texts = Vec::new();
    let mut at = 0;
    while let Some(start) = memchr::memchr(b'"', &json.as_bytes()[at..]).map(|found| at + found) {
        at = end_of_string(json.as_bytes(), start);
        let is_name = json[at..].trim_start().starts_with(':');
        if !is_name && let Ok(literal) = Raw::of(&json[start..at]) {
            texts.extend(text(literal));
        }
    }
    texts
}

/// Replaces the strings of some JSON, field names included, by what `pass` returns; a string for which it returns `Some(None)`
/// keeps its bytes. `None` if `pass` returns `None`, or if a string cannot be read.
pub fn map_strings<'j>(json: &'j str, mut pass: impl FnMut(&RawText<'_>) -> Option<Option<String>>) -> Option<Cow<'j, str>> {
    let mut mapped = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(start) = memchr::memchr(b'"', &json.as_bytes()[at..]).map(|found| at + found) {
        at = end_of_string(json.as_bytes(), start);
        let literal = Raw::of(json.get(start..at)?).ok()?;
        if let Some(other) = pass(&text(literal)?)? {
            mapped.push_str(&json[kept..start]);
            mapped.push_str(&serde_json::to_string(&other).ok()?);
            kept = at;
        }
    }
    if kept == 0 {
        return Some(Cow::Borrowed(json));
    }
    mapped.push_str(&json[kept..]);
    Some(Cow::Owned(mapped))
}

/// The offset after the string literal that begins at `start`.
fn end_of_string(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &json[at..]) {
        at += found;
        if json[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_text_is_decoded_as_others_decode_it(parts in prop::collection::vec(("[a-zé日]{0,90}", "\\n|\"|\\\\|\t|\u{1}|\\PC"), 0..8)) {
            let decoded: String = parts.into_iter().flat_map(|(plain, special)| [plain, special]).collect();
            let json = serde_json::to_string(&decoded).expect("a string");
            let read = text(raw(&json)).expect("a text");
            prop_assert_eq!(read.inside(), &decoded);
            prop_assert_eq!(lines_in(raw(&json)), decoded.lines().count() as u32);
        }
    }

    fn raw(json: &str) -> Raw<'_> {
        Raw::of(json).expect("test input is JSON")
    }

    #[test]
    fn a_field_of_any_type_is_taken_and_the_last_of_a_repeated_one_counts() {
        let [a, b, c] = fields(r#"{"a":1,"x":{"a":2},"b":[1,"}"],"a":"\"last\""}"#, &["a", "b", "c"]).unwrap();
        assert_eq!(text(a.unwrap()).unwrap().inside(), "\"last\"");
        assert_eq!(elements(b.unwrap()).len(), 2);
        assert!(c.is_none());
    }

    #[test]
    fn ten_thousand_levels_are_skipped_without_recursion() {
        let deep = format!(r#"{{"x":{}1{},"a":7}}"#, "[".repeat(10_000), "]".repeat(10_000));
        let [a] = fields(&deep, &["a"]).unwrap();
        assert_eq!(number(a), Some(7));
    }

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_kept() {
        assert_eq!(text(raw(r#""a\ud800b""#)).unwrap().inside(), "a\u{fffd}b");
        assert_eq!(text(raw(r#""\ud83d\ude00 \udc00""#)).unwrap().inside(), "\u{1f600} \u{fffd}");
        assert_eq!(text(raw(r#""\\ud800 \ud800""#)).unwrap().inside(), "\\ud800 \u{fffd}");
    }

    #[test]
    fn escapes_are_read_as_others_read_them() {
        let whole = r#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00 \\n é\\""#;
        assert_eq!(text(raw(whole)).unwrap().inside(), serde_json::from_str::<String>(whole).unwrap());
        assert_eq!(text(raw(r#""\ud83d\n\ude00\ud83d\ud83d\ude00""#)).unwrap().inside(), "\u{fffd}\n\u{fffd}\u{fffd}\u{1f600}");
        assert_eq!(text(raw("\"\\\"\"")).unwrap().inside(), "\"");
    }

    #[test]
    fn lines_are_counted_as_they_are_in_the_text() {
        for text in ["", "a", "a\n", "a\nb", "\n", "\n\n", "a\r\nb\r", "\\n", "\\\n", "a\\nb\n\\"] {
            let json = serde_json::to_string(text).expect("a string");
            assert_eq!(lines_in(raw(&json)), text.lines().count() as u32, "{json}");
        }
        assert_eq!((lines_in(raw(r#""a\u000ab""#)), lines_in(raw("7")), lines_in(raw("null"))), (2, 0, 0));
    }

    #[test]
    fn a_name_that_is_no_text_costs_itself_alone() {
        let [a] = fields(r#"{"\ud800":1,"b\udc00":{"\ud800":"\udfff"},"a":7,"\u0061":8}"#, &["a"]).unwrap();
        assert_eq!(number(a), Some(8));
    }

    #[test]
    fn a_second_object_is_found_behind_a_whole_one_and_nowhere_else() {
        for (first, second) in [(r#"{"a":1}"#, r#"{"b":2}"#), (r#" {"a":"}{\""}"#, r#"{"b":"#), (r#"{"a":{"x":[]}}"#, r#"{""#)] {
            assert_eq!(second_object(format!("{first}{second}").as_bytes()), Some(first.len()), "{first}{second}");
        }
        for one in [r#"{"a":"}{","b":"}{\""}"#, r#"{"a":1}"#, r#"{"a":tor{"b":1}{"c":2}"#, r#"[{"a":1}{"b":1}]"#, "", "}{\""] {
            assert_eq!(second_object(one.as_bytes()), None, "{one}");
        }
        assert_eq!(second_object(b"{\"a\":1}{\"b\":\"\xff\"}"), Some(7), "also where that one is no text");
    }

    #[test]
    fn fields_before_a_cut_are_found() {
        let [id, method] = fields_before_cut(r#"{"x":{"id":1},"id":5,"params":{"a":"cut he"#, &["id", "method"]);
        assert_eq!((number(id), method), (Some(5), None));
    }

    #[test]
    fn what_is_not_an_object_is_an_error() {
        for bad in ["", "null", "[1]", "\"s\"", "{\"a\":}", "{} {}", "{\"a\":1"] {
            assert!(fields(bad, &["a"]).is_err(), "{bad}");
        }
    }
}
