//! `remember`: the one tool that writes. A note passes the gates of `crate::notes`, as one of `recall remember` does.

use std::path::PathBuf;

use anyhow::{Result, bail};
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Site, Tool};
use crate::mcp::text::line;
use crate::notes::{EVERYWHERE, Kind, New, Refused, remember};

pub struct Remember;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub struct Asked {
    /// What is to be remembered, in a sentence or a few that can be understood without this conversation. At most 2,000 characters.
    text: String,
    /// What it is: `fact` where it is not given.
    #[serde(default)]
    #[schemars(extend("enum" = Kind::ALL.map(Kind::name)))]
    kind: Option<String>,
    /// The whole path of a folder of the project it is for, or `*` for all projects; the current project where it is not given.
    #[serde(default)]
    project: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub struct Answer {
    /// The note's, for `get`.
    id: String,
    /// It was known already, in these words or nearly these; nothing was written.
    known: bool,
}

impl Tool for Remember {
    const NAME: &'static str = "remember";
    const TITLE: &'static str = "Remember for later sessions";
    const ABOUT: &'static str = "Keep a note that later sessions find: a decision and its reason, a convention, a preference, a fact that was hard to \
         find out, something to be done. Sessions themselves are remembered without it. Secrets are taken out; what is known already is not kept twice.";
    const WRITES: bool = true;
    type Asked = Asked;
    type Answer = Answer;

    fn call(asked: Asked, site: &Site<'_>) -> Result<Answer> {
        let project = match asked.project.as_deref().map(str::trim) {
            None | Some("") => Some(site.folder.to_owned()),
            Some(EVERYWHERE) => None,
            Some(path) if path.starts_with('/') => Some(PathBuf::from(path)),
            Some(name) => bail!("project: `{}` is no whole path, nor `{EVERYWHERE}` for all projects", line(name, 60)),
        };
        let new = New { text: asked.text, kind: asked.kind, project, session: None };
        match remember(site.config, &new) {
            Ok(kept) => Ok(Answer { id: kept.id, known: kept.known }),
            Err(e) => match e.downcast::<Refused>() {
                Ok(refused) => bail!("not remembered: {refused}"),
                Err(e) => Err(e),
            },
        }
    }

    fn text(answer: &Answer) -> String {
        let Answer { id, known } = answer;
        if *known { format!("{id} says so already") } else { format!("{id} is remembered") }
    }
}
