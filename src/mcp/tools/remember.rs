//! `remember`: stores a note. It passes the same checks of `crate::app::notes` as `recall remember`, belongs to the current project,
//! and names the client as its author. Notes for other projects, or for all, are written by a person at the command line.

use anyhow::Result;
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Tool, ToolContext};
use crate::app::contributor::Contributor;
use crate::app::notes::{self, Audience, not_remembered, remember};
use crate::mcp::text::line;
use crate::model::note::NoteKind;

/// Longest project root, in characters.
const MAX_PROJECT_CHARS: usize = 200;

pub(crate) struct RememberTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct RememberRequest {
    /// What is to be remembered, in a sentence or a few that can be understood without this conversation. At most 2,000 characters.
    text: String,
    /// What it is: `fact` where it is not given.
    #[serde(default)]
    #[schemars(extend("enum" = NoteKind::ALL.map(NoteKind::name)))]
    kind: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct RememberReply {
    /// The note's, for `get`.
    id: String,
    /// It was known already, in these words or nearly these; nothing was written.
    known: bool,
    /// The root of the project whose sessions are told, or `all projects`.
    project: String,
    /// Whose word it is, as it is shown with the note.
    by: String,
}

impl Tool for RememberTool {
    const NAME: &'static str = "remember";
    const TITLE: &'static str = "Remember for later sessions";
    const ABOUT: &'static str = "Keep a note that later sessions of this project find: a decision and its reason, a convention, a preference, a \
         fact that was hard to find out, something to be done. Sessions themselves are remembered without it. Never what the user fenced off \
         with <private>, nor what was said beside it: what is given here is kept. Secrets are taken out; what is known already is not kept \
         twice. It is shown as yours, with this session. Notes for other projects the user keeps with `recall remember`.";
    const WRITES: bool = true;
    type Request = RememberRequest;
    type Reply = RememberReply;

    fn call(asked: RememberRequest, site: &ToolContext<'_>) -> Result<RememberReply> {
        let Contributor { author, reach } = site.writer().map_err(not_remembered)?;
        let audience = Audience::Here(site.folder.to_owned());
        let wanted = notes::RememberRequest {
            text: asked.text,
            marks: notes::NoteMarks::default(),
            kind: asked.kind,
            audience,
            author,
            reach,
        };
        let notes::RememberReply { id, known, project, by } = remember(site.config, &wanted)?;
        Ok(RememberReply { id, known, project: line(&project, MAX_PROJECT_CHARS), by })
    }

    fn text(answer: &RememberReply) -> String {
        let RememberReply { id, known, project, by } = answer;
        if *known {
            format!("not saved: note {id} already says this, for {project}")
        } else {
            format!("{id} is remembered for {project} ({by})")
        }
    }
}
