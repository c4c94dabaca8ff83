//! Goes through JSON once, from left to right: what is asked for is handed out raw, all else is skipped, and everything is checked.
//!
//! Who knows where in a row something stands steps into the objects on the way there, so that a row is gone through once and not
//! once for each level. What is skipped may be nested however deep: it is counted, not called.

mod names;
mod scalar;
#[cfg(test)]
mod tests;

pub use names::{Among, Names};

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
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.json.as_bytes().get(self.at)? {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// # Errors
    /// When anything follows.
    pub fn end(&mut self) -> Result<(), Malformed> {
        if self.peek().is_none() { Ok(()) } else { Err(Malformed) }
    }

    /// The next value, whatever it is.
    pub fn value(&mut self) -> Result<Raw<'a>, Malformed> {
        self.whole(Self::skip)
    }

    /// What `read` goes through, raw: with what it takes of it, the value is read once.
    #[inline]
    pub fn whole(&mut self, read: impl FnOnce(&mut Self) -> Result<(), Malformed>) -> Result<Raw<'a>, Malformed> {
        self.peek();
        let start = self.at;
        read(self)?;
        Ok(Raw(&self.json[start..self.at]))
    }

    /// The named fields of the object that is next, raw; of a repeated one the last.
    pub fn fields<const N: usize>(&mut self, names: &impl Among<N>) -> Result<[Option<Raw<'a>>; N], Malformed> {
        let mut found = [None; N];
        self.object(names, |cursor, which| {
            found[which] = Some(cursor.value()?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Goes through the object that is next. `read` is given the number of each named field and goes through its value.
    #[inline]
    pub fn object<const N: usize>(
        &mut self,
        names: &impl Among<N>,
        mut read: impl FnMut(&mut Self, usize) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.sign(b'{')?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            let (name, is_plain) = self.key()?;
            let which = if is_plain {
                names.position(&name.0[1..name.0.len() - 1])
            } else {
                names.position(&text(name).unwrap_or_default())
            };
            match which {
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
            Some(b'"') => self.string().map(|_| ()),
            Some(b'{' | b'[') => self.skip_nested(),
            _ => self.skip_other(),
        }
    }

    /// Skips what is neither a string nor made of other values.
    fn skip_other(&mut self) -> Result<(), Malformed> {
        let rest = &self.json.as_bytes()[self.at..];
        let len = match rest.first() {
            Some(b't') => rest.starts_with(b"true").then_some(4),
            Some(b'f') => rest.starts_with(b"false").then_some(5),
            Some(b'n') => rest.starts_with(b"null").then_some(4),
            _ => scalar::number(rest),
        };
        self.at += len.ok_or(Malformed)?;
        Ok(())
    }

    /// Skips an object or an array without a call for each level.
    fn skip_nested(&mut self) -> Result<(), Malformed> {
        let mut open = Open::default();
        loop {
            match self.peek() {
                Some(bracket @ (b'{' | b'[')) => {
                    self.at += 1;
                    let is_object = bracket == b'{';
                    if self.peek() == Some(closing(is_object)) {
                        self.at += 1;
                    } else {
                        open.push(is_object);
                        if is_object {
                            self.key()?;
                        }
                        continue;
                    }
                }
                Some(b'"') => _ = self.string()?,
                _ => self.skip_other()?,
            }
            // A value has ended; so may what it is in.
            loop {
                let Some(is_object) = open.last() else { return Ok(()) };
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if is_object {
                            self.key()?;
                        }
                        break;
                    }
                    Some(sign) if sign == closing(is_object) => {
                        self.at += 1;
                        open.pop();
                    }
                    _ => return Err(Malformed),
                }
            }
        }
    }

    /// A field's name with its quotes, whether it is written without escapes, and the colon behind it.
    #[inline]
    fn key(&mut self) -> Result<(Raw<'a>, bool), Malformed> {
        self.peek();
        let start = self.at;
        let is_plain = self.string()?;
        let name = Raw(&self.json[start..self.at]);
        self.sign(b':')?;
        Ok((name, is_plain))
    }

    #[inline]
    fn sign(&mut self, sign: u8) -> Result<(), Malformed> {
        if self.peek() != Some(sign) {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(())
    }

    /// Goes through the string that is next. Is it written without escapes?
    #[inline]
    fn string(&mut self) -> Result<bool, Malformed> {
        let (len, is_plain) = scalar::string(&self.json.as_bytes()[self.at..]).ok_or(Malformed)?;
        self.at += len;
        Ok(is_plain)
    }
}

fn closing(is_object: bool) -> u8 {
    if is_object { b'}' } else { b']' }
}

/// Which brackets are open, the last in the lowest bit: one for each object, none for an array. Above them all stands a one, so that
/// none is taken for one that is not there. What does not fit waits in the list, which few values need.
struct Open {
    bits: u64,
    before: Vec<u64>,
}

impl Default for Open {
    fn default() -> Self {
        Self { bits: 1, before: Vec::new() }
    }
}

impl Open {
    fn push(&mut self, is_object: bool) {
        if self.bits.leading_zeros() == 0 {
            self.before.push(self.bits);
            self.bits = 1;
        }
        self.bits = self.bits << 1 | u64::from(is_object);
    }

    fn last(&self) -> Option<bool> {
        (self.bits > 1).then_some(self.bits & 1 == 1)
    }

    fn pop(&mut self) {
        self.bits >>= 1;
        if self.bits == 1 {
            self.bits = self.before.pop().unwrap_or(1);
        }
    }
}
