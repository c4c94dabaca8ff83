//! Tables with a column of secrets: `| user | password |`, `user,password`, what database clients print.

use std::ops::Range;

use super::bytes::{self, BLANK, ByteSet, byte_at, byte_before};
use super::candidate::{is_given, is_secret};
use super::line_wrap::after_newline;
use super::secret_names::SecretKind;
use super::sentence::only_word_of_cell;

/// The most bytes of a line and the most rows that are read.
const MAX_BYTES: usize = 400;
const MAX_ROWS: usize = 24;
/// How far the line of a drawn box may be from the name of its column.
const MAX_CELL_BYTES: usize = 80;

/// What separates the columns of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnSeparator {
    One(u8),
    /// `│`, in the head also `┃`
    Box,
    /// Two or more spaces.
    Blanks,
}

/// How far tables have been searched, so that no line is searched once per name.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// The end of the last row that was read, or of the last line that heads no table.
    to: usize,
    /// The last character that no head of a table has, and the end of its line as far as it was read.
    code: Option<Range<usize>>,
}

impl Progress {
    /// Adds the secrets below the name of a column. Names come ordered by start.
    pub(crate) fn below(&mut self, text: &[u8], name: &Range<usize>, secret_kind: SecretKind, found: &mut Vec<Range<usize>>) {
        if name.start < self.to || self.is_beside_code(name) {
            return;
        }
        let Some(sign) = column_separator(text, name) else { return };
        let start = name.start - line_before(text, name.start);
        let end = bytes::find_byte(text, name.end, MAX_BYTES, |b| b == b'\n').0;
        let head = &text[start..end];
        bytes::count_steps(head.len());
        if let Some(n) = head.iter().rposition(|b| !is_of_head(*b)) {
            self.code = Some(start + n..end);
            return;
        }
        if sign == ColumnSeparator::One(b',') && bytes::find(head, b", ").is_some() {
            return;
        }
        self.to = end;
        let column = cells(head, sign).take_while(|cell| cell.end < name.end - start).count();
        let count = cells(head, sign).count();
        let is_head = secret_kind == SecretKind::Password && is_head(text, start..end, sign, count);
        let fits = |value: &[u8]| is_secret(value, secret_kind, true) || is_head && is_given(value);
        let mut line = end;
        for _ in 0..MAX_ROWS {
            let Some(row) = after_newline(text, line) else { break };
            line = bytes::find_byte(text, row, MAX_BYTES, |b| b == b'\n').0;
            self.to = line;
            let cells: Vec<Range<usize>> = cells(&text[row..line], sign).collect();
            if is_rule(&text[row..line]) {
                continue;
            }
            if cells.len() != count {
                break;
            }
            let cell = row + cells[column].start..row + cells[column].end;
            found.extend(only_word_of_cell(text, cell).filter(|range| fits(&text[range.clone()])));
        }
    }

    /// Whether the name is on the line, and near the character, for which an earlier one was no column.
    fn is_beside_code(&self, name: &Range<usize>) -> bool {
        self.code.as_ref().is_some_and(|code| name.start < code.end && name.start.saturating_sub(code.start) < MAX_BYTES)
    }
}

/// Whether a line heads its table, rather than being a row in which the word stands: a rule is below it, or no row above.
fn is_head(text: &[u8], line: Range<usize>, sign: ColumnSeparator, count: usize) -> bool {
    let below = after_newline(text, line.end).unwrap_or(line.end);
    if is_rule(&text[below..bytes::find_byte(text, below, MAX_BYTES, |b| b == b'\n').0]) {
        return true;
    }
    let end = line.start.saturating_sub(1);
    let above = &text[end - line_before(text, end)..end];
    !is_rule(above) && cells(above, sign).count() != count
}

/// The number of bytes between the start of the line and `offset`.
fn line_before(text: &[u8], offset: usize) -> usize {
    let len = text[..offset].iter().rev().take(MAX_BYTES).take_while(|b| **b != b'\n').count();
    bytes::count_steps(len + 1);
    len
}

/// Whether heads of tables have this byte.
fn is_of_head(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" \t|,;\"_-*.`".contains(&byte) || byte >= 0x80
}

/// The separator beside the name.
fn column_separator(text: &[u8], name: &Range<usize>) -> Option<ColumnSeparator> {
    let from = name.start - usize::from(byte_before(text, name.start) == b'"');
    let to = name.end + usize::from(byte_at(text, name.end) == b'"');
    let (left, right) = (bytes::run_start(text, from, BLANK, MAX_BYTES), bytes::run_end(text, to, BLANK, MAX_BYTES));
    let (last, next) = (byte_before(text, left), byte_at(text, right));
    if is_in_box(text, left, right) {
        return Some(ColumnSeparator::Box);
    }
    let one = [b'|', b',', b';'].into_iter().find(|sign| next == *sign || last == *sign);
    let is_tab = byte_at(text, to) == b'\t' || byte_before(text, from) == b'\t';
    let is_blank =
        !matches!(next, 0 | b'\n' | b'\r') && right - to >= 2 || text[..from].ends_with(b"  ") && !matches!(last, 0 | b'\n');
    one.or_else(|| is_tab.then_some(b'\t')).map(ColumnSeparator::One).or_else(|| is_blank.then_some(ColumnSeparator::Blanks))
}

/// Whether a line of a drawn box stands on either side, perhaps behind other words of the cell.
fn is_in_box(text: &[u8], left: usize, right: usize) -> bool {
    let before = &text[left.saturating_sub(MAX_CELL_BYTES)..left];
    let after = &text[right..text.len().min(right + MAX_CELL_BYTES)];
    let before = &before[bytes::rfind_sign(b'\n', before).map_or(0, |n| n + 1)..];
    let after = &after[..bytes::find_sign(b'\n', after).unwrap_or(after.len())];
    [before, after].iter().any(|part| box_line(part).is_some())
}

/// The first vertical line of a drawn box, thin or thick.
fn box_line(text: &[u8]) -> Option<usize> {
    const BEGINNING: &[u8] = &[0xe2, 0x94];
    let mut offset = 0;
    loop {
        offset += bytes::find(&text[offset..], BEGINNING)?;
        if matches!(byte_at(text, offset + 2), 0x82 | 0x83) {
            return Some(offset);
        }
        offset += BEGINNING.len();
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
            ColumnSeparator::One(sign) => bytes::find_sign(sign, rest).map(|n| (n, 1)),
            ColumnSeparator::Box => box_line(rest).map(|n| (n, 3)),
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
    let gap = word + bytes::find(&rest[word..], b"  ")?;
    let len = rest[gap..].iter().take_while(|b| **b == b' ').count();
    (gap + len < rest.len()).then_some((gap, len))
}

/// The rule below the head of a table.
fn is_rule(line: &[u8]) -> bool {
    const RULE: ByteSet = ByteSet::of("-+|:= \t");
    !line.is_empty() && line.iter().all(|b| RULE.has(*b) || *b >= 0x80)
}
