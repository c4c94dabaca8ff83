//! `remember`: the one tool that writes. A note passes the gates of `crate::notes`, as one of `recall remember` does.

use std::path::PathBuf;

use anyhow::{Result, bail};
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Site, Tool};
use crate::mcp::text::line;
use crate::notes::{EVERYWHERE, Kind, New, Refused, check_folder, remember, told_project};
use crate::paths::names_of;

/// Longest root of a project, in characters.
const MAX_PROJECT: usize = 200;

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
    /// The root of the project whose sessions are told, or `all projects`.
    project: String,
}

impl Tool for Remember {
    const NAME: &'static str = "remember";
    const TITLE: &'static str = "Remember for later sessions";
    const ABOUT: &'static str = "Keep a note that later sessions find: a decision and its reason, a convention, a preference, a fact that was hard to \
         find out, something to be done. Sessions themselves are remembered without it. Never what the user fenced off with <private>, nor \
         what was said beside it: what is given here is kept. Secrets are taken out; what is known already is not kept twice.";
    const WRITES: bool = true;
    type Asked = Asked;
    type Answer = Answer;

    fn call(asked: Asked, site: &Site<'_>) -> Result<Answer> {
        // Whatever it is kept for, what is said in an excluded project stays there.
        told(check_folder(site.folder, site.config))?;
        let project = match asked.project.as_deref().map(str::trim) {
            None | Some("") => Some(own_folder(site)?),
            Some(EVERYWHERE) => None,
            Some(path) if path.starts_with('/') => Some(PathBuf::from(path)),
            Some(name) => bail!("project: `{}` is no whole path, nor `{EVERYWHERE}` for all projects", line(name, 60)),
        };
        let kept = told(remember(site.config, &New { text: asked.text, kind: asked.kind, project }))?;
        Ok(Answer { id: kept.id, known: kept.known, project: line(told_project(&kept.project), MAX_PROJECT) })
    }

    fn text(answer: &Answer) -> String {
        let Answer { id, known, project } = answer;
        if *known { format!("{id} says so already, for {project}") } else { format!("{id} is remembered for {project}") }
    }
}

/// The folder the client works in, where that is a project's. Some clients start their servers where no session ever is.
fn own_folder(site: &Site<'_>) -> Result<PathBuf> {
    let is_home = names_of(&site.config.home).iter().any(|home| home == site.folder);
    if is_home || site.folder.parent().is_none() {
        bail!("project: {} is no project: give the whole path of one, or `{EVERYWHERE}` for all", site.folder.display());
    }
    Ok(site.folder.to_owned())
}

/// A refusal in words that say that nothing was kept.
fn told<T>(result: Result<T>) -> Result<T> {
    result.map_err(|e| match e.downcast::<Refused>() {
        Ok(refused) => anyhow::anyhow!("not remembered: {refused}"),
        Err(e) => e,
    })
}
