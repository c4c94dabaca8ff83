//! `close`: marks items that the current project left open as done. Those of other projects are closed by a person, at the
//! command line.

use anyhow::{Result, bail};
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Tool, ToolContext};
use crate::app::close_items::ClosingRequest;
use crate::app::notes::Refusal;
use crate::mcp::text::line;
use crate::sys::messages::Ui;

/// Most ids per call.
const MAX_IDS: usize = 20;
const TEXT_CHARS: usize = 200;

pub(crate) struct CloseTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct CloseRequest {
    /// Ids of next steps, blockers or notes of what is to be done, of the current project, or the starts of them. At most 20.
    ids: Vec<String>,
    /// Open them again; what the user closed stays closed.
    #[serde(default)]
    undo: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct CloseReply {
    items: Vec<Item>,
    /// Whose word it is, as it is shown beside them from now on.
    by: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Item {
    id: String,
    text: String,
    open: bool,
    /// It was so before.
    known: bool,
}

impl Tool for CloseTool {
    const NAME: &'static str = "close";
    const TITLE: &'static str = "Close what is done";
    const ABOUT: &'static str = "Say that something an earlier session of this project left open is done, by its id: a next step, a blocker, a \
         note of kind todo. Only what was really done, in this session or before it. It is kept with who said so.";
    const WRITES: bool = true;
    type Request = CloseRequest;
    type Reply = CloseReply;

    fn call(asked: CloseRequest, site: &ToolContext<'_>) -> Result<CloseReply> {
        if !(1..=MAX_IDS).contains(&asked.ids.len()) {
            bail!("ids: 1 to {MAX_IDS}");
        }
        let writer = site.writer().map_err(reword_refusal)?;
        let memory = site.memory()?;
        let closing = ClosingRequest::resolve(&asked.ids, &memory)?;
        closing.check(&writer, asked.undo, &memory).map_err(reword_refusal)?;
        drop(memory);
        let all = closing.apply(&writer, asked.undo, site.config, &Ui::default())?;
        let item = |one: crate::app::close_items::ClosingResult| Item {
            id: one.id,
            text: line(&one.text, TEXT_CHARS),
            open: asked.undo,
            known: !one.changed,
        };
        Ok(CloseReply { items: all.into_iter().map(item).collect(), by: writer.author.text() })
    }

    fn text(answer: &CloseReply) -> String {
        let state = |item: &Item| match (item.open, item.known) {
            (true, false) => "open again",
            (true, true) => "was not closed",
            (false, false) => "closed",
            (false, true) => "was closed already",
        };
        let lines: Vec<String> =
            answer.items.iter().map(|item| format!("{} {} ({}): {}", item.id, state(item), answer.by, item.text)).collect();
        lines.join("\n")
    }
}

/// Rewords a refusal to say that nothing changed.
fn reword_refusal(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<Refusal>() {
        Ok(reword_refusal) => anyhow::anyhow!("nothing was closed or opened: {reword_refusal}"),
        Err(e) => e,
    }
}
