//! Sets of ASCII characters, and the functions that walk along a text.
//!
//! ## Cost
//!
//! Every walk has a limit, and counts the bytes it looks at; so does what judges a value. The tests of `tests::cost` check that they grow
//! no faster than the text. Outside tests nothing is counted.

pub(crate) use super::syntax::ByteSet;

impl ByteSet {
    /// Builds a set from single characters and ranges: `a-z0-9_`. A literal `-` stands first or last.
    pub(crate) const fn of(spec: &str) -> Self {
        let spec = spec.as_bytes();
        let mut bits = 0u128;
        let mut at = 0;
        while at < spec.len() {
            if at + 2 < spec.len() && spec[at + 1] == b'-' {
                let mut c = spec[at];
                while c <= spec[at + 2] {
                    bits |= 1 << c;
                    c += 1;
                }
                at += 3;
            } else {
                bits |= 1 << spec[at];
                at += 1;
            }
        }
        Self(bits)
    }

    pub(crate) const fn has(self, byte: u8) -> bool {
        byte < 128 && self.0 >> byte & 1 == 1
    }
}

pub(crate) const DIGIT: ByteSet = ByteSet::of("0-9");
pub(crate) const ANY_HEX: ByteSet = ByteSet::of("0-9a-fA-F");
pub(crate) const LOWER: ByteSet = ByteSet::of("a-z0-9");
pub(crate) const ALNUM: ByteSet = ByteSet::of("a-zA-Z0-9");
pub(crate) const WORD: ByteSet = ByteSet::of("a-zA-Z0-9_");
pub(crate) const URL64: ByteSet = ByteSet::of("a-zA-Z0-9_-");
pub(crate) const BASE64: ByteSet = ByteSet::of("a-zA-Z0-9+/=");
pub(crate) const ALL64: ByteSet = ByteSet::of("a-zA-Z0-9+/=_-");
pub(crate) const BLANK: ByteSet = ByteSet::of(" \t");

/// The end of the run of `set` that starts at `at`, at most `most` bytes on.
pub(crate) fn run_end(text: &[u8], at: usize, set: ByteSet, most: usize) -> usize {
    let len = text.iter().skip(at).take(most).take_while(|b| set.has(**b)).count();
    count_steps(len + 1);
    at + len
}

/// The start of the run of `set` that ends at `at`, at most `most` bytes back.
pub(crate) fn run_start(text: &[u8], at: usize, set: ByteSet, most: usize) -> usize {
    let len = text[..at].iter().rev().take(most).take_while(|b| set.has(**b)).count();
    count_steps(len + 1);
    at - len
}

/// The offset of the first byte from `at` on that fits, and `true`. If none of the next `most` bytes does: the offset behind them, and
/// `false`.
pub(crate) fn find_byte(text: &[u8], at: usize, most: usize, fits: impl Fn(u8) -> bool) -> (usize, bool) {
    let end = text.len().min(at.saturating_add(most));
    let found = text.get(at..end).and_then(|part| part.iter().position(|b| fits(*b)));
    let stop = found.map_or(end.max(at), |n| at + n);
    count_steps(stop - at + 1);
    (stop, found.is_some())
}

/// The offset of the first `needle` in a stretch of a text.
pub(crate) fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    let found = memchr::memmem::find(text, needle);
    count_steps(found.unwrap_or(text.len()) + 1);
    found
}

/// The offset of the last `needle` in a stretch of a text.
pub(crate) fn rfind(text: &[u8], needle: &[u8]) -> Option<usize> {
    let found = memchr::memmem::rfind(text, needle);
    count_steps(text.len() - found.unwrap_or(0) + 1);
    found
}

/// The offset of the first such byte in a stretch of a text.
pub(crate) fn find_sign(sign: u8, text: &[u8]) -> Option<usize> {
    let found = memchr::memchr(sign, text);
    count_steps(found.unwrap_or(text.len()) + 1);
    found
}

/// The offset of the last such byte in a stretch of a text.
pub(crate) fn rfind_sign(sign: u8, text: &[u8]) -> Option<usize> {
    let found = memchr::memrchr(sign, text);
    count_steps(text.len() - found.unwrap_or(0) + 1);
    found
}

/// The offsets of all such bytes of a text.
pub(crate) fn each_sign(sign: u8, text: &[u8]) -> impl Iterator<Item = usize> {
    count_steps(text.len());
    memchr::memchr_iter(sign, text)
}

/// The byte at this offset; 0 beyond the end.
pub(crate) fn byte_at(text: &[u8], offset: usize) -> u8 {
    text.get(offset).copied().unwrap_or(0)
}

/// The byte before this offset; 0 at the start.
pub(crate) fn byte_before(text: &[u8], offset: usize) -> u8 {
    offset.checked_sub(1).map_or(0, |p| byte_at(text, p))
}

/// The number of backslashes right before this offset.
pub(crate) fn backslashes_before(text: &[u8], offset: usize) -> usize {
    offset - run_start(text, offset, ByteSet::of("\\"), 64)
}

#[cfg(not(test))]
#[inline(always)]
pub(crate) fn count_steps(_: usize) {}

#[cfg(test)]
pub(crate) use counted::{count_steps, steps_taken};

#[cfg(test)]
mod counted {
    use std::cell::Cell;

    thread_local!(static STEPS: Cell<usize> = const { Cell::new(0) });

    pub(crate) fn count_steps(steps: usize) {
        STEPS.with(|all| all.set(all.get() + steps));
    }

    /// The steps counted on this thread so far.
    pub(crate) fn steps_taken() -> usize {
        STEPS.with(Cell::get)
    }
}
