//! What stands in a secret's place: `[REDACTED:rule-id]`, how it is put there, known again, and weighed.

use std::borrow::Cow;
use std::ops::Range;

use super::bytes::{self, ByteSet};

/// How every mark begins.
pub const OPENING: &str = "[REDACTED:";
const ID: ByteSet = ByteSet::of("a-zA-Z0-9_.-");
/// The longest rule id.
pub(crate) const MAX_ID: usize = 64;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The id of the rule, which stands in the mark.
    pub rule: Cow<'static, str>,
    /// Where the secret is, in bytes.
    pub range: Range<usize>,
}

/// Can marks be told with this id?
pub(crate) fn is_id(id: &str) -> bool {
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|b| ID.has(b))
}

/// The end of the mark whose opening ends at `at`.
pub(crate) fn mark_end(text: &[u8], at: usize) -> Option<usize> {
    let end = bytes::run_end(text, at, ID, MAX_ID);
    (end > at && bytes::byte_at(text, end) == b']').then_some(end + 1)
}

/// Is there a mark, or the opening of one, in it?
pub(crate) fn has_mark(text: &[u8]) -> bool {
    memchr::memmem::find(text, OPENING.as_bytes()).is_some()
}

/// The text with marks in the places of the findings, which are sorted and do not overlap.
pub(crate) fn insert(text: &str, findings: &[Finding]) -> String {
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

/// Sorts findings and joins those that overlap: what any rule takes for a secret goes as a whole. The earlier one gives its name.
pub(crate) fn merge(mut found: Vec<Finding>) -> Vec<Finding> {
    // Of two for the same place the one that says more.
    let more = |f: &Finding| (f.range.start, usize::MAX - f.range.end, usize::MAX - f.rule.len());
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

/// Findings in a text with marks, as places of the text the marks were put into; `put` are the findings the marks stand for.
pub(crate) fn map_back(found: Vec<Finding>, put: &[Finding]) -> impl Iterator<Item = Finding> {
    // Where each mark begins and ends now, and what it stands for.
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
    let origin = move |place: usize, is_end: bool| {
        let passed = marks.partition_point(|(start, ..)| *start < place);
        match passed.checked_sub(1).map(|n| &marks[n]) {
            None => place,
            Some((_, end, was)) if place < *end => {
                if is_end {
                    was.end
                } else {
                    was.start
                }
            }
            Some((_, end, was)) => was.end + (place - end),
        }
    };
    found.into_iter().map(move |f| Finding { range: origin(f.range.start, false)..origin(f.range.end, true), rule: f.rule })
}
