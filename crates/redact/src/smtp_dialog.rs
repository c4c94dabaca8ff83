//! What a client of a mail server answers in base64: the password behind `334 UGFzc3dvcmQ6`, user and password behind `AUTH PLAIN`.

use std::ops::Range;

use super::bytes::{self, BASE64};
use super::jwt::decode;
use super::line_wrap::next_line;
use super::spoken_keys::runs;

/// `Password:`, `password:` and `Password` with a zero, as servers ask for it.
pub(crate) const QUESTIONS: [&str; 3] = ["UGFzc3dvcmQ6", "cGFzc3dvcmQ6", "UGFzc3dvcmQA"];
pub(crate) const PLAIN: [&str; 2] = ["auth plain", "authenticate plain"];
/// The most bytes of a line, and the most lines to an answer.
const REACH_BYTES: usize = 120;
const MAX_LINES: usize = 3;

/// The password on the line behind the question at `hit`.
pub(crate) fn answer(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    if !QUESTIONS.iter().any(|question| text[hit.clone()] == *question.as_bytes()) {
        return None;
    }
    let mut line = next_line(text, hit.end, REACH_BYTES)?;
    // `…\r\n'` and the quote behind it.
    if let Some(next) = next_line(text, line, 2) {
        line = next;
    }
    let fits = |range: &Range<usize>| {
        let value = decode(&text[range.clone()]);
        range.len().is_multiple_of(4) && value.len() >= 3 && value.iter().all(|b| (b' '..0x7f).contains(b))
    };
    words(text, line).find(fits)
}

/// The user and the password behind the command at `hit`, on its line or one of the next.
pub(crate) fn plain(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let fits = |range: &Range<usize>| {
        let value = decode(&text[range.clone()]);
        let zeros = value.iter().filter(|b| **b == 0).count();
        range.len() >= 8 && zeros == 2 && value.iter().all(|b| *b == 0 || *b >= b' ')
    };
    let mut line = hit.end;
    for _ in 0..MAX_LINES {
        let word = words(text, line).find(fits);
        if word.is_some() {
            return word;
        }
        line = next_line(text, line, REACH_BYTES)?;
    }
    None
}

/// The words of base64 on a line.
fn words(text: &[u8], line: usize) -> impl Iterator<Item = Range<usize>> {
    let end = bytes::find_byte(text, line + 1, REACH_BYTES, |b| b == b'\n').0;
    runs(text, line..end.min(text.len()), BASE64)
}
