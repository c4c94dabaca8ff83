//! Reading JSON without trusting its shape.
//!
//! A transcript's format is internal to the client and changes between releases, so a field of an unexpected type must cost that
//! field and not the row: values are taken raw and each is read by itself. A [`Cursor`](super::cursor::Cursor) finds them.

use std::borrow::Cow;

use super::cursor::{Cursor, Malformed};

/// A well-formed value as it stands in its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a>(pub(super) &'a str);

impl<'a> Raw<'a> {
    /// The JSON of exactly one value, white space around it aside.
    ///
    /// # Errors
    /// When it is something else.
    pub fn of(json: &'a str) -> Result<Self, Malformed> {
        let mut cursor = Cursor::new(json);
        let value = cursor.value()?;
        cursor.end()?;
        Ok(value)
    }

    pub fn get(self) -> &'a str {
        self.0
    }
}

/// Takes the named fields of a JSON object, raw. Unnamed fields are skipped; of a repeated one the last counts.
///
/// # Errors
/// When `json` is not one well-formed object.
pub fn fields<'a, const N: usize>(json: &'a str, names: &[&str; N]) -> Result<[Option<Raw<'a>>; N], Malformed> {
    let mut cursor = Cursor::new(json);
    let found = cursor.fields(names)?;
    cursor.end()?;
    Ok(found)
}

/// The elements of a JSON array, raw; none when `json` is something else.
pub fn elements(json: Raw<'_>) -> Vec<Raw<'_>> {
    let mut all = Vec::new();
    let read = Cursor::new(json.get()).array(|cursor| {
        all.push(cursor.value()?);
        Ok(())
    });
    if read.is_ok() { all } else { Vec::new() }
}

/// A JSON string's text; `None` for any other value. A lone surrogate becomes U+FFFD.
pub fn text(json: Raw<'_>) -> Option<Cow<'_, str>> {
    let quoted = json.get();
    let inner = quoted.as_bytes().starts_with(b"\"").then(|| &quoted[1..quoted.len() - 1])?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    let decoded = serde_json::from_str(quoted).or_else(|_| serde_json::from_str(&mend_surrogates(quoted)));
    decoded.ok().map(Cow::Owned)
}

pub fn flag(json: Option<Raw<'_>>) -> bool {
    json.is_some_and(|v| v.get() == "true")
}

pub fn number(json: Option<Raw<'_>>) -> Option<u64> {
    let value: f64 = json?.get().parse().ok()?;
    // Token counts are far below 2^53; a fraction or a negative number is no count.
    ((0.0..9e15).contains(&value) && value.fract() == 0.0).then_some(value as u64)
}

pub fn is_object(json: Raw<'_>) -> bool {
    json.get().starts_with('{')
}

/// Replaces `\uD800`–`\uDFFF` escapes that do not form a pair.
fn mend_surrogates(quoted: &str) -> String {
    let unit = |at: usize| -> Option<u32> {
        let hex = quoted.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(hex, 16).ok()
    };
    let mut out = String::with_capacity(quoted.len());
    let mut at = 0;
    while at < quoted.len() {
        let rest = &quoted[at..];
        if let Some(code) = unit(at) {
            let paired = (0xD800..0xDC00).contains(&code) && unit(at + 6).is_some_and(|low| (0xDC00..0xE000).contains(&low));
            let (take, keep) = match code {
                _ if paired => (12, true),
                0xD800..0xE000 => (6, false),
                _ => (6, true),
            };
            out.push_str(if keep { &rest[..take] } else { "\\ufffd" });
            at += take;
        } else {
            // An escaped backslash must not lend its second half to a following `u`.
            let take = if rest.starts_with("\\\\") { 2 } else { rest.chars().next().map_or(1, char::len_utf8) };
            out.push_str(&rest[..take]);
            at += take;
        }
    }
    out
}

/// All strings in a value, however deep, without the names of fields.
pub fn texts(raw: Raw<'_>) -> Vec<String> {
    let json = raw.get();
    let mut texts = Vec::new();
    let mut at = 0;
    while let Some(start) = memchr::memchr(b'"', &json.as_bytes()[at..]).map(|found| at + found) {
        at = end_of_string(json.as_bytes(), start);
        let is_name = json[at..].trim_start().starts_with(':');
        if !is_name && let Ok(literal) = Raw::of(&json[start..at]) {
            texts.extend(text(literal).map(Cow::into_owned));
        }
    }
    texts
}

/// The same JSON with other strings: `pass` gives what takes a string's place, the names of fields included; one that it gives back
/// keeps its bytes. `None` when `pass` gives nothing, or where a string cannot be read.
pub fn map_texts<'j>(json: &'j str, mut pass: impl FnMut(&str) -> Option<Option<String>>) -> Option<Cow<'j, str>> {
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

/// Where the string literal ends that begins at `start`.
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

    fn raw(json: &str) -> Raw<'_> {
        Raw::of(json).expect("test input is JSON")
    }

    #[test]
    fn a_field_of_any_type_is_taken_and_the_last_of_a_repeated_one_counts() {
        let [a, b, c] = fields(r#"{"a":1,"x":{"a":2},"b":[1,"}"],"a":"\"last\""}"#, &["a", "b", "c"]).unwrap();
        assert_eq!(text(a.unwrap()).unwrap(), "\"last\"");
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
        assert_eq!(text(raw(r#""a\ud800b""#)).unwrap(), "a\u{fffd}b");
        assert_eq!(text(raw(r#""\ud83d\ude00 \udc00""#)).unwrap(), "\u{1f600} \u{fffd}");
        assert_eq!(text(raw(r#""\\ud800 \ud800""#)).unwrap(), "\\ud800 \u{fffd}");
    }

    #[test]
    fn a_name_that_is_no_text_costs_itself_alone() {
        let [a] = fields(r#"{"\ud800":1,"b\udc00":{"\ud800":"\udfff"},"a":7,"\u0061":8}"#, &["a"]).unwrap();
        assert_eq!(number(a), Some(8));
    }

    #[test]
    fn what_is_not_an_object_is_an_error() {
        for bad in ["", "null", "[1]", "\"s\"", "{\"a\":}", "{} {}", "{\"a\":1"] {
            assert!(fields(bad, &["a"]).is_err(), "{bad}");
        }
    }
}
