//! Tables with a column of secrets: `| user | password |`, `user,password`, what database clients print.

use std::ops::Range;

use super::bytes::{self, ByteSet};
use super::candidate::is_secret;
use super::line_wrap::after_newline;
use super::secret_names::SecretKind;
use super::sentence::only_word_of_cell;

/// The most bytes of a line and the most rows that are read.
const MAX_BYTES: usize = 400;
const MAX_ROWS: usize = 24;

/// What separates the columns of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnSeparator {
    One(u8),
    /// `│`
    Box,
    /// Two or more spaces.
    Blanks,
}

/// Adds the secrets below the name of a column. `seen` is the end of the last row that was read.
pub(crate) fn below(text: &[u8], name: &Range<usize>, secret_kind: SecretKind, seen: &mut usize, found: &mut Vec<Range<usize>>) {
    if name.start < *seen {
        return;
    }
    let start = name.start - text[..name.start].iter().rev().take(MAX_BYTES).take_while(|b| **b != b'\n').count();
    let end = bytes::find_byte(text, name.end, MAX_BYTES, |b| b == b'\n').0;
    bytes::count_steps(name.start - start);
    let head = &text[start..end];
    let Some(sign) = column_separator(head, name.start - start, name.end - start) else { return };
    let column = cells(head, sign).take_while(|cell| cell.end < name.end - start).count();
    let count = cells(head, sign).count();
    let mut line = end;
    for _ in 0..MAX_ROWS {
        let Some(row) = after_newline(text, line) else { break };
        line = bytes::find_byte(text, row, MAX_BYTES, |b| b == b'\n').0;
        *seen = line;
        let cells: Vec<Range<usize>> = cells(&text[row..line], sign).collect();
        if is_rule(&text[row..line]) {
            continue;
        }
        if cells.len() != count {
            break;
        }
        let cell = row + cells[column].start..row + cells[column].end;
        found.extend(only_word_of_cell(text, cell).filter(|range| is_secret(&text[range.clone()], secret_kind, true)));
    }
}

/// The separator beside the name, if the line consists of short words.
fn column_separator(head: &[u8], start: usize, end: usize) -> Option<ColumnSeparator> {
    let after = &head[end..];
    let after = after.strip_prefix(b"\"").unwrap_or(after).trim_ascii_start();
    let before = head[..start].strip_suffix(b"\"").unwrap_or(&head[..start]);
    let gap = head.len() - end - after.len();
    let next = after.first().copied().unwrap_or(0);
    let last = before.trim_ascii_end().last().copied().unwrap_or(0);
    let is_head = head.iter().all(|b| b.is_ascii_alphanumeric() || b" \t|,;\"_-*.`".contains(b) || *b >= 0x80);
    let one = [b'|', b',', b';', b'\t'].into_iter().find(|sign| {
        let beside = if *sign == b'\t' {
            head[end..].first() == Some(sign) || before.last() == Some(sign)
        } else {
            next == *sign || last == *sign
        };
        beside && (*sign != b',' || memchr::memmem::find(head, b", ").is_none())
    });
    let is_box = memchr::memmem::find(head, "│".as_bytes()).is_some();
    let blanks = next != 0 && gap >= 2 || before.ends_with(b"  ") && before.trim_ascii().len() > 1;
    if !is_head {
        return None;
    }
    if is_box {
        Some(ColumnSeparator::Box)
    } else {
        one.map(ColumnSeparator::One).or_else(|| blanks.then_some(ColumnSeparator::Blanks))
    }
}

/// The cells of a line, as byte ranges.
fn cells(line: &[u8], sign: ColumnSeparator) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    let mut done = false;
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let rest = &line[start..];
        let part = match sign {
            ColumnSeparator::One(sign) => memchr::memchr(sign, rest).map(|n| (n, 1)),
            ColumnSeparator::Box => memchr::memmem::find(rest, "│".as_bytes()).map(|n| (n, 3)),
            ColumnSeparator::Blanks => blanks(rest),
        };
        let range = start..part.map_or(line.len(), |(n, _)| start + n);
        match part {
            Some((n, len)) => start += n + len,
            None => done = true,
        }
        Some(range)
    })
}

/// The start and length of the next gap of two or more spaces behind a word.
fn blanks(rest: &[u8]) -> Option<(usize, usize)> {
    let word = rest.iter().position(|b| *b != b' ')?;
    let gap = word + memchr::memmem::find(&rest[word..], b"  ")?;
    let len = rest[gap..].iter().take_while(|b| **b == b' ').count();
    (gap + len < rest.len()).then_some((gap, len))
}

/// The rule below the head of a table.
fn is_rule(line: &[u8]) -> bool {
    const RULE: ByteSet = ByteSet::of("-+|:= \t");
    !line.is_empty() && line.iter().all(|b| RULE.has(*b) || *b >= 0x80)
}
