//! Values broken over lines by a terminal, an e-mail client, a quotation or a shell's `\`.

use std::borrow::Cow;

use super::bytes::{self, BLANK, ByteSet, DIGIT, byte_at};

/// How a line ends inside a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineBreak {
    /// A newline alone: the text was wrapped.
    Soft,
    /// A backslash before the newline: the shell joins the lines.
    Joined,
}

/// If a line ends at `place`: how, and where the text of the next one begins, behind indentation, line numbers and quotation marks.
pub(crate) fn line_break(text: &[u8], offset: usize) -> Option<(LineBreak, usize)> {
    let mut next = offset;
    let mut kind = LineBreak::Soft;
    if byte_at(text, next) == b'\\' && matches!(byte_at(text, next + 1), b'\n' | b'\r') {
        (next, kind) = (next + 1, LineBreak::Joined);
    }
    let end = after_newline(text, next).or_else(|| after_escaped_newline(text, next))?;
    Some((kind, skip_line_prefix(text, end)))
}

/// The offset behind the newline at `place`.
pub(crate) fn after_newline(text: &[u8], offset: usize) -> Option<usize> {
    let after = offset + usize::from(byte_at(text, offset) == b'\r');
    (byte_at(text, after) == b'\n').then_some(after + 1)
}

/// The offset behind the `
/// ` or `\r
/// ` escape sequence at `place`, with any number of backslashes: strings nest in strings.
pub(crate) fn after_escaped_newline(text: &[u8], offset: usize) -> Option<usize> {
    let mut end = offset;
    for letter in [b'r', b'n'] {
        let after = bytes::run_end(text, end, ByteSet::of("\\"), 16);
        if after > end && byte_at(text, after) == letter {
            end = after + 1;
        }
    }
    (end > offset && byte_at(text, end - 1) == b'n').then_some(end)
}

/// The start of the next line, at most `most` bytes on. Within a string, newlines are escaped.
pub(crate) fn next_line(text: &[u8], from: usize, most: usize) -> Option<usize> {
    let mut offset = from;
    for _ in 0..4 {
        let (end, found) = bytes::find_byte(text, offset, most, |b| matches!(b, b'\n' | b'\\'));
        let next = after_newline(text, end).or_else(|| after_escaped_newline(text, end));
        if next.is_some() || !found {
            return next;
        }
        offset = end + 1;
    }
    None
}

/// The offset behind the prefix of a line: `   12→`, `> `, `+`, `# `, `| `, `* `.
pub(crate) fn skip_line_prefix(text: &[u8], line: usize) -> usize {
    let start = bytes::run_end(text, line, BLANK, 64);
    let number = bytes::run_end(text, start, DIGIT, 7);
    if number > start {
        let rest = &text[number..];
        for sign in ["→", "\t", " |", "|", ": "] {
            if rest.starts_with(sign.as_bytes()) {
                return bytes::run_end(text, number + sign.len(), BLANK, 64);
            }
        }
        return start;
    }
    let signs = bytes::run_end(text, start, ByteSet::of(">|#*"), 8);
    let is_diff = start == line && matches!(byte_at(text, start), b'+' | b'-') && byte_at(text, start + 1) != b'-';
    bytes::run_end(text, if is_diff { signs.max(start + 1) } else { signs }, BLANK, 64)
}

/// A value without its line breaks.
pub(crate) fn unwrap_lines(text: &[u8]) -> Cow<'_, [u8]> {
    bytes::count_steps(text.len());
    if !text.iter().any(|b| matches!(b, b'\\' | b'\n')) {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut offset = 0;
    while offset < text.len() {
        if let Some((_, next)) = line_break(text, offset) {
            offset = next.max(offset + 1);
        } else {
            out.push(text[offset]);
            offset += 1;
        }
    }
    Cow::Owned(out)
}

/// The number of bytes of the line before `place`, at most `most`.
pub(crate) fn line_width_before(text: &[u8], offset: usize, most: usize) -> usize {
    let start = offset.saturating_sub(most);
    offset - bytes::rfind_sign(b'\n', &text[start..offset]).map_or(start, |n| start + n + 1)
}
