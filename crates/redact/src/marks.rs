//! Marks, `[REDACTED:rule-id]`: inserts them, finds them, and maps offsets between a text and its marked form.

use std::borrow::Cow;
use std::ops::Range;

use super::bytes::{self, ByteSet};

/// The beginning of every mark.
pub const OPENING: &str = "[REDACTED:";
const ID: ByteSet = ByteSet::of("a-zA-Z0-9_.-");
/// The most bytes of a rule id.
pub(crate) const MAX_ID: usize = 64;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The id of the rule that found it; it stands in the mark.
    pub rule: Cow<'static, str>,
    /// The bytes of the secret.
    pub range: Range<usize>,
}

/// Whether this can be the id of a rule.
pub(crate) fn is_id(id: &str) -> bool {
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|b| ID.has(b))
}

/// The end of the mark whose opening ends at `at`.
pub(crate) fn mark_end(text: &[u8], at: usize) -> Option<usize> {
    let end = bytes::run_end(text, at, ID, MAX_ID);
    (end > at && bytes::byte_at(text, end) == b']').then_some(end + 1)
}

/// Whether the text contains the beginning of a mark.
pub(crate) fn has_mark(text: &[u8]) -> bool {
    bytes::find(text, OPENING.as_bytes()).is_some()
}

/// The text with a mark in the place of each finding. Findings are sorted and do not overlap.
pub(crate) fn insert(text: &str, findings: &[Finding]) -> String {
    bytes::count_steps(text.len() + findings.len());
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for finding in findings {
        out.push_str(&text[kept..finding.range.start]);
        out.push_str(OPENING);
        out.push_str(&finding.rule);
        out.push(']');
        kept = finding.range.end;
    }
    out.push_str(&text[kept..]);
    out
}

/// Sorts findings and merges those that overlap: what any rule takes for a secret goes as a whole. The first one gives the rule.
pub(crate) fn merge(mut found: Vec<Finding>) -> Vec<Finding> {
    // Of two with the same start, the longer one first, then the one with the longer rule id.
    let more = |f: &Finding| (f.range.start, usize::MAX - f.range.end, usize::MAX - f.rule.len());
    bytes::count_steps(found.len());
    found.sort_by(|a, b| more(a).cmp(&more(b)).then_with(|| a.rule.cmp(&b.rule)));
    let mut joined: Vec<Finding> = Vec::with_capacity(found.len());
    for finding in found {
        match joined.last_mut() {
            Some(last) if finding.range.start < last.range.end => last.range.end = last.range.end.max(finding.range.end),
            _ => joined.push(finding),
        }
    }
    joined
}

/// Maps findings in a marked text to the text before; `put` are the findings that the marks stand for.
pub(crate) fn map_back(found: Vec<Finding>, put: &[Finding]) -> impl Iterator<Item = Finding> {
    // The start and end of each mark in the marked text, and its original range.
    let mut grown = 0isize;
    let marks: Vec<(usize, usize, Range<usize>)> = put
        .iter()
        .map(|f| {
            let start = f.range.start.wrapping_add_signed(grown);
            let len = OPENING.len() + f.rule.len() + 1;
            grown += len as isize - f.range.len() as isize;
            (start, start + len, f.range.clone())
        })
        .collect();
    let origin = move |offset: usize, is_end: bool| {
        let passed = marks.partition_point(|(start, ..)| *start < offset);
        match passed.checked_sub(1).map(|n| &marks[n]) {
            None => offset,
            Some((_, end, was)) if offset < *end => {
                if is_end {
                    was.end
                } else {
                    was.start
                }
            }
            Some((_, end, was)) => was.end + (offset - end),
        }
    };
    found.into_iter().map(move |f| Finding { range: origin(f.range.start, false)..origin(f.range.end, true), rule: f.rule })
}
