//! What readers of lines share, whatever the client: how a line becomes text, times, and how much is kept.

use std::borrow::Cow;

use super::ParsedLine;
use super::json::{self, Raw};
use crate::privacy::raw::RawText;
use crate::session::{FIRST_EVIDENCE_PART, Item, Millis};

/// Longest stored text of one message, in characters. Pasted logs and files exceed it, what people write does not.
pub(super) const MAX_TEXT_CHARS: usize = 16_000;
/// Longest stored recap of a compaction, in characters. The longest of 80 in published transcripts has 24,500; of one that is cut, nobody
/// can say what it leaves out.
pub(super) const MAX_RECAP_CHARS: usize = 32_000;

/// Longest stored title, in characters.
pub(super) const MAX_TITLE_CHARS: usize = 200;

/// Is this a complete line? The last line of a growing file waits until it is.
pub fn is_complete(line: &[u8]) -> bool {
    json::fields(&text_of_line(line).1, &[]).is_ok()
}

/// The trimmed bytes of a line and their text. Invalid UTF-8 is replaced, as in the client's own display.
pub(super) fn text_of_line(line: &[u8]) -> (&[u8], RawText<'_>) {
    // Trimmed, so that a line has the same bytes (and key) before and after its newline is written.
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    // Validating first is faster: nearly all lines are valid.
    (line, simdutf8::basic::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed).into())
}

/// What a line is whose fields cannot be read.
pub(super) fn malformed(text: &RawText<'_>) -> ParsedLine {
    ParsedLine::Malformed(if Raw::of(text).is_ok() { "not an object" } else { "not JSON" })
}

/// The items of a record with their numbers: evidence last, in numbers of its own.
pub(super) fn numbered(all: Vec<Item>) -> (Vec<i64>, Vec<Item>) {
    if !all.iter().any(|item| matches!(item, Item::Evidence(_))) {
        return ((0..).take(all.len()).collect(), all);
    }
    let (evidence, mut items): (Vec<Item>, Vec<Item>) = all.into_iter().partition(|item| matches!(item, Item::Evidence(_)));
    let parts = (0..).take(items.len()).chain((FIRST_EVIDENCE_PART..).take(evidence.len())).collect();
    items.extend(evidence);
    (parts, items)
}

/// Plausible times: no client wrote a line before 2000, nor will one after 2100. A time from a wrong clock is dropped, as it would
/// sort before or after everything else for good.
const PLAUSIBLE_TIMES: std::ops::RangeInclusive<Millis> = 946_684_800_000..=4_102_444_800_000;

/// A time that some client can have written.
pub(super) fn plausible(at: Millis) -> Option<Millis> {
    PLAUSIBLE_TIMES.contains(&at).then_some(at)
}

pub(super) fn timestamp(raw: Raw<'_>) -> Option<Millis> {
    let at = match json::text(raw) {
        Some(text) => text.tells(|text| text.parse::<jiff::Timestamp>().ok().map(|t| t.as_millisecond())),
        // A few lines of other writers hold a number: seconds or milliseconds.
        None => json::number(Some(raw)).map(|n| n as Millis).map(|n| if n < 100_000_000_000 { n * 1000 } else { n }),
    };
    at.and_then(plausible)
}
