//! What the user said in a dialog, by itself: the answers to questions, and why something was refused.

use super::fields::{Block, ToolResult, text_of};
use super::outcome::{REFUSED, reason_in};
use crate::privacy::{Gate, Text};
use crate::source::json;

/// Was all that the user said in dialogs private? What follows tells of it, up to the next prompt.
pub(super) fn is_all_private(blocks: &[Block<'_>], result: &ToolResult<'_>, gate: &Gate) -> bool {
    let said = said(blocks, result, gate);
    said.iter().any(|text| text.private) && said.iter().all(|text| !text.private && text.text.is_empty() || text.is_all_private())
}

/// The user's words in each dialog whose end a row holds.
fn said(blocks: &[Block<'_>], result: &ToolResult<'_>, gate: &Gate) -> Vec<Text> {
    let results = || blocks.iter().filter(|block| block.is("tool_result"));
    let answers = result.answers.filter(|given| results().next().is_some() && json::is_object(*given));
    let refusals = results().filter(|block| block.is_error).filter_map(|block| block.content.map(text_of));
    let reasons =
        refusals.filter(|text| text.contains(REFUSED)).filter_map(|text| reason_in(&text).map(|reason| gate.pass(reason)));
    answers.map(json::texts).unwrap_or_default().iter().map(|answer| gate.pass(answer)).chain(reasons).collect()
}
