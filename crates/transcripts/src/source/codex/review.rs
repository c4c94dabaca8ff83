//! Reviews, which `/review` begins: what is to be reviewed is what the user asked, and the findings are the reply. Events tell both, or finished items,
//! or one and the other; some clients say the findings once more in a message of the assistant's.

use serde::{Deserialize, Serialize};

use super::rows::CodexLines;
use crate::privacy::raw::RawText;
use crate::source::json::{self, Raw};
use crate::source::row::{NoRecord, Said};
use crate::source::said::reply;

/// What the user typed, and what stands behind it if the row names nothing.
const COMMAND: &str = "/review";

/// A review that has begun.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Review {
    /// Its findings were told.
    ended: bool,
    /// By which a message that says them once more is known: the title of the first finding, or else the explanation.
    #[serde(skip_serializing_if = "String::is_empty")]
    found: String,
}

/// The request. Said twice, it is one.
pub(super) fn begun(lines: &mut CodexLines<'_>, row: Raw<'_>) -> Result<Said, NoRecord> {
    if lines.state.review.as_ref().is_some_and(|review| !review.ended) {
        return Err(NoRecord::Known);
    }
    let [target, hint] = json::fields(row, &["target", "user_facing_hint"]).map_err(|_| NoRecord::Known)?;
    let named =
        || json::fields(target?, &["instructions", "branch", "title", "sha"]).ok()?.into_iter().flatten().find_map(json::text);
    let of = hint.and_then(json::text).or_else(named).unwrap_or_default();
    let words = RawText::joined(&[COMMAND.into(), of.trim()], " ");
    // Beside the command, what is all private would not take the turn along.
    let is_private = lines.sanitizer.pass(&of).is_all_private();
    lines.state.review = Some(Review::default());
    // It is a turn of its own, whatever was said before.
    lines.state.prompted = false;
    lines.prompt(&[if is_private { of.trim() } else { words.trim() }], false)
}

/// The findings; none of a review that was broken off.
pub(super) fn ended(lines: &mut CodexLines<'_>, row: Raw<'_>) -> Result<Said, NoRecord> {
    if lines.state.review.as_ref().is_some_and(|review| review.ended) {
        return Err(NoRecord::Known);
    }
    let [output] = json::fields(row, &["review_output"]).map_err(|_| NoRecord::Known)?;
    let [explanation, findings] =
        output.and_then(|output| json::fields(output, &["overall_explanation", "findings"]).ok()).unwrap_or_default();
    let explanation = explanation.and_then(json::text).unwrap_or_default();
    let findings = findings.map(json::elements).unwrap_or_default();
    let titles: Vec<_> = findings.iter().map(|finding| json::fields(finding, &["title"]).unwrap_or_default()).collect();
    let first = titles.first().and_then(|[title]| title.and_then(json::text)).unwrap_or_else(|| explanation.clone());
    lines.state.review = Some(Review { ended: true, found: lines.sanitizer.clean(first.trim()) });
    let told: Vec<_> = std::iter::once(explanation.trim().into_owned()).chain(findings.into_iter().map(told)).collect();
    Ok(Said::only(reply(RawText::joined(&told, "\n\n").trim(), lines.sanitizer)))
}

/// A finding with its place.
fn told(finding: Raw<'_>) -> RawText<'static> {
    let [title, body, place] = json::fields(finding, &["title", "body", "code_location"]).unwrap_or_default();
    let text = |raw: Option<Raw<'_>>| raw.and_then(json::text).map(RawText::into_owned).unwrap_or_default();
    let [file, lines] = place.and_then(|place| json::fields(place, &["absolute_file_path", "line_range"]).ok()).unwrap_or_default();
    let line = lines.and_then(|lines| json::fields(lines, &["start"]).ok()).and_then(|[start]| json::number(start));
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    let place =
        file.and_then(json::text).map(|file| RawText::joined(&[" (".into(), file, line.into(), ")".into()], "").into_owned());
    RawText::joined(&["- ".into(), text(title), place.unwrap_or_default(), "\n  ".into(), text(body)], "").into_owned()
}

/// Is it a message of the assistant's with the findings, which were told?
pub(super) fn is_told(lines: &CodexLines<'_>, message: &RawText<'_>) -> bool {
    let found = lines.state.review.as_ref().filter(|review| review.ended).map(|review| review.found.as_str());
    found.is_some_and(|found| !found.is_empty() && lines.sanitizer.clean(message.clone()).contains(found))
}
