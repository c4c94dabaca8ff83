//! Goes through JSON once, from left to right: what is asked for is handed out raw, all else is skipped, and everything is checked.
//!
//! Who knows where in a row something stands steps into the objects on the way there, so that a row is gone through once and not
//! once for each level. What is skipped may be nested however deep: it is counted, not called.

use super::json::{Raw, text};

/// This is no JSON, or not of the kind that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

pub struct Cursor<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(json: &'a str) -> Self {
        Self { json, at: 0 }
    }

    /// The next byte that is no white space.
    pub fn peek(&mut self) -> Option<u8> {
        let bytes = self.json.as_bytes();
        while matches!(bytes.get(self.at)?, b' ' | b'\n' | b'\t' | b'\r') {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// # Errors
    /// When anything follows.
    pub fn end(&mut self) -> Result<(), Malformed> {
        if self.peek().is_none() { Ok(()) } else { Err(Malformed) }
    }

    /// The next value, whatever it is.
    pub fn value(&mut self) -> Result<Raw<'a>, Malformed> {
        self.peek();
        let start = self.at;
        self.skip()?;
        Ok(Raw(&self.json[start..self.at]))
    }

    /// What `read` goes through, raw: with what it takes of it, the value is read once.
    pub fn whole(&mut self, read: impl FnOnce(&mut Self) -> Result<(), Malformed>) -> Result<Raw<'a>, Malformed> {
        self.peek();
        let start = self.at;
        read(self)?;
        Ok(Raw(&self.json[start..self.at]))
    }

    /// The named fields of the object that is next, raw; of a repeated one the last.
    pub fn fields<const N: usize>(&mut self, names: &[&str; N]) -> Result<[Option<Raw<'a>>; N], Malformed> {
        let mut found = [None; N];
        self.object(names, |cursor, which| {
            found[which] = Some(cursor.value()?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Goes through the object that is next. `read` is given the number of each named field and goes through its value.
    pub fn object<const N: usize>(
        &mut self,
        names: &[&str; N],
        mut read: impl FnMut(&mut Self, usize) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.sign(b'{')?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            let key = self.key()?;
            match key.position(names) {
                Some(which) => read(self, which)?,
                None => self.skip()?,
            }
            match self.peek() {
                Some(b',') => self.at += 1,
                _ => return self.sign(b'}'),
            }
        }
    }

    /// Goes through the array that is next. `read` goes through each element.
    pub fn array(&mut self, mut read: impl FnMut(&mut Self) -> Result<(), Malformed>) -> Result<(), Malformed> {
        self.sign(b'[')?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            read(self)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                _ => return self.sign(b']'),
            }
        }
    }

    /// Skips one value.
    fn skip(&mut self) -> Result<(), Malformed> {
        match self.peek() {
            Some(b'{' | b'[') => self.skip_nested(),
            _ => self.skip_scalar(),
        }
    }

    fn skip_scalar(&mut self) -> Result<(), Malformed> {
        match self.peek() {
            Some(b'"') => self.string().map(|_| ()),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => Err(Malformed),
        }
    }

    /// Skips an object or an array without a call for each level.
    fn skip_nested(&mut self) -> Result<(), Malformed> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.peek() {
                Some(bracket @ (b'{' | b'[')) => {
                    self.at += 1;
                    // In ASCII both closing brackets are two behind theirs.
                    let close = bracket + 2;
                    if self.peek() == Some(close) {
                        self.at += 1;
                    } else {
                        open.push(close);
                        if bracket == b'{' {
                            self.key()?;
                        }
                        continue;
                    }
                }
                _ => self.skip_scalar()?,
            }
            // A value has ended; so may what it is in.
            loop {
                let Some(close) = open.last() else { return Ok(()) };
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if *close == b'}' {
                            self.key()?;
                        }
                        break;
                    }
                    Some(sign) if sign == *close => {
                        self.at += 1;
                        open.pop();
                    }
                    _ => return Err(Malformed),
                }
            }
        }
    }

    /// A field's name, and the colon behind it.
    fn key(&mut self) -> Result<Key<'a>, Malformed> {
        let start = match self.peek() {
            Some(b'"') => self.at,
            _ => return Err(Malformed),
        };
        let is_plain = self.string()?;
        let quoted = &self.json[start..self.at];
        self.sign(b':')?;
        Ok(Key { quoted, is_plain })
    }

    fn sign(&mut self, sign: u8) -> Result<(), Malformed> {
        if self.peek() != Some(sign) {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), Malformed> {
        if !self.json.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(Malformed);
        }
        self.at += word.len();
        Ok(())
    }

    /// A string, from quote to quote, and whether it is written without escapes.
    fn string(&mut self) -> Result<bool, Malformed> {
        let bytes = self.json.as_bytes();
        let mut is_plain = true;
        self.at += 1;
        loop {
            self.at = next_sign(bytes, self.at);
            match bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(is_plain);
                }
                Some(b'\\') => {
                    is_plain = false;
                    self.at += match bytes.get(self.at + 1) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                        Some(b'u') if is_hex(bytes.get(self.at + 2..self.at + 6)) => 6,
                        _ => return Err(Malformed),
                    };
                }
                _ => return Err(Malformed),
            }
        }
    }

    fn number(&mut self) -> Result<(), Malformed> {
        let bytes = self.json.as_bytes();
        let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let some = |from: usize| Some(digits(from)).filter(|end| *end > from).ok_or(Malformed);
        let first = self.at + usize::from(bytes[self.at] == b'-');
        let mut end = some(first)?;
        if bytes[first] == b'0' && end > first + 1 {
            return Err(Malformed);
        }
        if bytes.get(end) == Some(&b'.') {
            end = some(end + 1)?;
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            end = some(end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-'))))?;
        }
        self.at = end;
        Ok(())
    }
}

fn is_hex(digits: Option<&[u8]>) -> bool {
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// The name of a field.
struct Key<'a> {
    quoted: &'a str,
    is_plain: bool,
}

impl Key<'_> {
    /// Which of the names it is.
    fn position<const N: usize>(&self, names: &[&str; N]) -> Option<usize> {
        if self.is_plain {
            return position(&self.quoted[1..self.quoted.len() - 1], names);
        }
        position(&text(Raw(self.quoted))?, names)
    }
}

/// The place of a name among others. Few begin alike and are of one length.
pub fn position<const N: usize>(name: &str, names: &[&str; N]) -> Option<usize> {
    let (name, first) = (name.as_bytes(), name.as_bytes().first());
    names.iter().map(|n| n.as_bytes()).position(|n| n.len() == name.len() && n.first() == first && n == name)
}

/// The place of the next quote, backslash or control character within a string; the end where there is none.
fn next_sign(bytes: &[u8], from: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    let mut at = from;
    while let Some(word) = bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok()).map(u64::from_le_bytes) {
        // In a byte that is none of these no high bit is left; a borrow only ever reaches bytes behind one that is.
        let zeros = |word: u64| word.wrapping_sub(ONES);
        let quotes = zeros(word ^ (ONES * u64::from(b'"')));
        let slashes = zeros(word ^ (ONES * u64::from(b'\\')));
        let controls = word.wrapping_sub(ONES * 0x20);
        let signs = (quotes | slashes | controls) & !word & HIGHS;
        if signs != 0 {
            return at + signs.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + bytes[at..].iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20)).unwrap_or(bytes.len() - at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    /// Is it one well-formed value for us, and for a reader of JSON that others wrote?
    fn both(json: &str) -> (bool, bool) {
        (Raw::of(json).is_ok(), serde_json::from_str::<IgnoredAny>(json).is_ok())
    }

    #[test]
    fn what_is_no_json_is_told() {
        for bad in [
            "", " ", "[", "]", "{", "}", "[1,]", "[,1]", "[1 2]", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:2}",
            "{\"a\":1]", "[1}", "\"", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"a\nb\"", "\"\u{1}\"", "01", "-", "-a",
            "1.", ".5", "1e", "1e+", "+1", "0x1", "tru", "truee", "nul", "1 2", "{} {}", "[1]]", "NaN", "'a'", "\u{a0}1",
        ] {
            assert_eq!(both(bad), (false, false), "{bad:?}");
        }
        for good in [
            "0",
            "-0",
            "1.5e-7",
            "1E9999",
            " [ ] ",
            "{ }",
            "[[],{},\"\",null,true,false]",
            "{\"a\" : {\"b\":[1 , 2]} , \"\":0}\r\n\t",
            "\"\\ud800\\/\\b\\f\u{7f}\u{e9}\"",
            "\"0123456789abcde\\\\\"",
            "\"0123456789abcdef\"",
        ] {
            assert_eq!(both(good), (true, true), "{good:?}");
        }
    }

    #[test]
    fn an_object_on_the_way_is_gone_through_and_is_handed_out_as_a_whole() {
        let mut inner = [None; 1];
        let mut outer = None;
        let mut cursor = Cursor::new(r#"{"x":[{"m":0}], "m" : {"y":1,"\u0063":"it"} ,"z":2}"#);
        let read = cursor.object(&["m"], |cursor, _| {
            outer = Some(cursor.whole(|cursor| {
                inner = cursor.fields(&["c"])?;
                Ok(())
            })?);
            Ok(())
        });
        assert_eq!((read, cursor.end()), (Ok(()), Ok(())));
        assert_eq!((outer, inner), (Some(Raw(r#"{"y":1,"\u0063":"it"}"#)), [Some(Raw("\"it\""))]));
    }

    proptest! {
        #[test]
        fn what_is_json_is_said_as_others_say_it(json in "([\\[\\]{}:, \\t]|\"|\\\\|u00e9|[tfn0-9.eE+-]|true|false|null|\"a\"|\"key\":|\\PC|\u{1f}|[a-z ]{0,40}){0,14}") {
            let (ours, theirs) = both(&json);
            prop_assert_eq!(ours, theirs);
        }

        #[test]
        fn a_value_with_one_byte_changed_is_judged_as_others_judge_it(
            json in prop::collection::vec(("[a-z]{0,3}", prop_oneof!["[a-z\\\\\"\n]{0,40}".prop_map(serde_json::Value::from), any::<i32>().prop_map(Into::into), any::<f64>().prop_map(Into::into), Just(serde_json::json!([{"k": [null, true]}, {}, []]))]), 0..6),
            at in any::<prop::sample::Index>(),
            byte in "[\\[\\]{}:,\"\\\\0-9a-fu. -]",
        ) {
            let mut text = serde_json::Value::Object(json.into_iter().collect()).to_string();
            prop_assert_eq!(both(&text), (true, true));
            let at = text.floor_char_boundary(at.index(text.len()));
            let end = text.ceil_char_boundary(at + 1);
            text.replace_range(at..end, &byte);
            let (ours, theirs) = both(&text);
            prop_assert_eq!(ours, theirs, "{}", text);
        }
    }
}
