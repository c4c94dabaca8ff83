//! `status`: what the memory holds, and whether it is up to date.

use anyhow::Result;
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Tool, ToolContext};
use crate::app::status::{problems, status};
use crate::model::finding::Finding;

pub(crate) struct StatusTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct StatusRequest {}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct StatusReply {
    /// The project of the folder the client works in: what the other tools put first.
    project: String,
    /// Is there an index? It comes of the first `recall digest`.
    ready: bool,
    /// Sessions that are stored.
    sessions: i64,
    /// Sessions with a digest.
    digests: i64,
    /// Sessions whose newest rows no digest holds yet.
    waiting: i64,
    /// Local time of the last digest run that did something.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_digest: Option<String>,
    /// What is not as it should be, and what to do about it.
    problems: Vec<Problem>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Problem {
    about: String,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Tool for StatusTool {
    const NAME: &'static str = "status";
    const TITLE: &'static str = "State of the memory";
    const ABOUT: &'static str = "How many sessions the memory holds, when it was last brought up to date, and what to do where something is wrong. \
         Ask this when other tools of recall fail or find nothing.";
    type Request = StatusRequest;
    type Reply = StatusReply;

    fn call(_: StatusRequest, site: &ToolContext<'_>) -> Result<StatusReply> {
        let config = site.config;
        let status = status(site.memory_if_there()?.as_ref(), config, 0)?;
        let problem = |finding: Finding| Problem { about: finding.about.to_owned(), found: finding.found, advice: finding.advice };
        Ok(StatusReply {
            project: site.project(),
            ready: status.is_ready,
            sessions: status.sessions,
            digests: status.digests,
            waiting: status.waiting_for_digest,
            last_digest: status.last_run.map(|run| config.local_time(Some(run.at), "%Y-%m-%d %H:%M")),
            problems: problems(config)?.into_iter().map(problem).collect(),
        })
    }

    fn text(answer: &StatusReply) -> String {
        let StatusReply { sessions, digests, waiting, .. } = answer;
        let mut text = if answer.ready {
            format!("{sessions} sessions, {digests} with a digest, {waiting} waiting for one")
        } else {
            "there is no index yet: run `recall digest` first".to_owned()
        };
        if let Some(last) = &answer.last_digest {
            text += &format!("\nlast digest {last}");
        }
        for problem in &answer.problems {
            text += &format!("\n{}: {}", problem.about, problem.found);
            text += &problem.advice.as_ref().map(|advice| format!(" → {advice}")).unwrap_or_default();
        }
        text
    }
}
