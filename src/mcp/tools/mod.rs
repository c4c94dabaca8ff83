//! The tools: their input and output schemas, and the path from a call to its reply.
//!
//! A reply is given twice: as a value that matches the tool's output schema, and as a short text. Errors are replies, too, so
//! that a model can read them and correct its call.

mod close;
mod get;
pub(crate) mod recall;
mod remember;
mod search;
mod status;
mod timeline;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use anyhow::Result;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, ToolAnnotations};
use rmcp::schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::text::{harmless, safe_value};
use crate::app::asker::Asker;
use crate::app::contributor::Contributor;
use crate::app::executor::ReadHandle;
use crate::app::open_memory::{OpenMemory, explained, session_end};
use crate::config::{Agent, Config, agent, agent_of_client};
use crate::inputs::mark;
use crate::policy::Policy;
use text::clean::shorten;
use transcripts::session::Millis;

/// Longest error text, in characters.
const MAX_ERROR_CHARS: usize = 1_000;

/// Session-end marks that are examined, newest first.
const MAX_MARKS: usize = 60;

/// More than any tool takes.
const MAX_ARGUMENTS: usize = 12;

/// Context of a call.
pub(crate) struct ToolContext<'a> {
    pub(crate) config: &'a Config,
    /// The folder whose project comes first.
    pub(crate) folder: &'a Path,
    pub(super) reading: &'a ReadHandle,
    /// The client's name for itself.
    pub(crate) client: &'a str,
    /// Start time of the server.
    pub(crate) since: Millis,
}

impl ToolContext<'_> {
    /// The author of what this call writes: the agent that started the server, else the client by its own name. It may write for
    /// the project in which the client works.
    ///
    /// # Errors
    /// If that project is excluded.
    pub(crate) fn writer(&self) -> Result<Contributor> {
        let mut agent = agent().unwrap_or_else(|| agent_of_client(self.client));
        // The session that started the server; it may have begun in another folder.
        let session = agent.session.take().filter(|id| !self.has_ended(id));
        let Contributor { reach, .. } = Contributor::agent(&agent, self.folder, self.config)?;
        Ok(Contributor { author: Agent { session, ..agent }.author(), reach })
    }

    /// Whether a session ended since the server was started. A client starts the server once and may continue with another
    /// session (`/clear`).
    fn has_ended(&self, session: &str) -> bool {
        let marked = mark::newest_session_ends(&self.config.data_dir, |_| true, MAX_MARKS, 0);
        if marked.iter().any(|mark| mark.session == session && mark.at >= self.since) {
            return true;
        }
        session_end(self.config, session).is_some_and(|at| at >= self.since)
    }

    fn asker(&self) -> Asker<'_> {
        Asker::in_folder(self.config, self.folder)
    }

    /// The key of the project that comes first.
    pub(crate) fn project(&self) -> String {
        self.asker().project()
    }

    /// The memory as it may be shown in the client's folder. Every tool reads through this.
    ///
    /// # Errors
    /// If there is no index, or it is unreadable or of another version; the error says what to do.
    pub(crate) fn memory(&self) -> Result<OpenMemory> {
        self.reading.memory(self.config, &self.policy())
    }

    /// Like [`Self::memory`], for the projects in scope.
    pub(crate) fn memory_in(&self, scope: ProjectScope) -> Result<OpenMemory> {
        match scope {
            ProjectScope::All => self.memory(),
            ProjectScope::Project => self.reading.memory(self.config, &self.config.policy(self.asker().view_of_project())),
        }
    }

    /// The policy for a reader in the client's folder.
    pub(crate) fn policy(&self) -> Policy {
        self.config.policy(self.asker().view())
    }

    /// Like [`Self::memory`], but `None` if there is no index.
    pub(crate) fn memory_if_there(&self) -> Result<Option<OpenMemory>> {
        OpenMemory::is_there(self.config)?.then(|| self.memory()).transpose()
    }
}

/// Of which projects something is wanted.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(crate = "rmcp::schemars", inline)]
pub(crate) enum ProjectScope {
    #[default]
    All,
    Project,
}

/// A tool of the server: its texts, its schemas (by the types of request and reply), and its work.
trait Tool {
    const NAME: &'static str;
    const TITLE: &'static str;
    /// For the model: the tool's purpose, and how to use its reply.
    const ABOUT: &'static str;
    const WRITES: bool = false;
    /// Whether it may contact another machine, if the config names an endpoint.
    const OPEN_WORLD: bool = false;
    type Request: DeserializeOwned + JsonSchema + 'static;
    type Reply: Serialize + JsonSchema + 'static;

    /// # Errors
    /// What went wrong, and what to do about it.
    fn call(asked: Self::Request, site: &ToolContext<'_>) -> Result<Self::Reply>;

    fn text(answer: &Self::Reply) -> String;
}

/// A tool in the form the server needs.
pub(crate) struct ToolEntry {
    pub(crate) tool: rmcp::model::Tool,
    pub(crate) call: fn(JsonObject, &ToolContext<'_>) -> CallToolResult,
}

static ALL: LazyLock<Vec<ToolEntry>> = LazyLock::new(|| {
    vec![
        entry::<search::SearchTool>(),
        entry::<timeline::TimelineTool>(),
        entry::<get::GetTool>(),
        entry::<recall::RecallTool>(),
        entry::<remember::RememberTool>(),
        entry::<close::CloseTool>(),
        entry::<status::StatusTool>(),
    ]
});

/// All tools, in listing order.
pub(crate) fn all() -> &'static [ToolEntry] {
    &ALL
}

fn entry<T: Tool>() -> ToolEntry {
    let hints = ToolAnnotations::new().read_only(!T::WRITES).destructive(false).idempotent(true).open_world(T::OPEN_WORLD);
    let mut tool = rmcp::model::Tool::new(T::NAME, T::ABOUT, JsonObject::new())
        .with_title(T::TITLE)
        .with_input_schema::<T::Request>()
        .with_output_schema::<T::Reply>()
        .with_annotations(hints);
    slim_schema(Arc::make_mut(&mut tool.input_schema));
    tool.output_schema.as_mut().map(Arc::make_mut).map(slim_schema);
    ToolEntry { tool, call: call::<T> }
}

/// Removes parts of a schema that tell a client nothing: sizes of Rust's numbers, and that optional arguments may be null.
fn slim_schema(schema: &mut JsonObject) {
    schema.remove("$schema");
    schema.remove("format");
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [one] = &mut types[..] {
            let one = one.take();
            schema.insert("type".to_owned(), one);
        }
    }
    for (name, value) in schema.iter_mut() {
        match value {
            // These keys are argument names, not schema keywords, so keep them all.
            Value::Object(named) if matches!(name.as_str(), "properties" | "$defs") => {
                named.values_mut().filter_map(Value::as_object_mut).for_each(slim_schema);
            }
            Value::Object(inner) => slim_schema(inner),
            Value::Array(all) => all.iter_mut().filter_map(Value::as_object_mut).for_each(slim_schema),
            _ => {}
        }
    }
}

fn call<T: Tool>(arguments: JsonObject, site: &ToolContext<'_>) -> CallToolResult {
    let asked = match parse_arguments::<T::Request>(&arguments) {
        Ok(asked) => asked,
        Err(why) => return error_result(&format!("{}: {why}", faulty_argument::<T::Request>(&arguments, &why).unwrap_or(T::NAME))),
    };
    let told = T::call(asked, site).and_then(|answer| Ok((T::text(&answer), serde_json::to_value(&answer)?)));
    match told {
        Ok((text, value)) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(harmless(&text))]);
            result.structured_content = Some(safe_value(value));
            result
        }
        Err(e) => error_result(&format!("{:#}", explained(e, &site.config.database()))),
    }
}

fn parse_arguments<A: DeserializeOwned>(arguments: &JsonObject) -> Result<A, String> {
    serde_json::from_value(arguments.clone().into()).map_err(|e| e.to_string())
}

/// The argument that causes the error: without it the error disappears or changes.
fn faulty_argument<'a, A: DeserializeOwned>(arguments: &'a JsonObject, why: &str) -> Option<&'a str> {
    let is_it = |name: &&String| {
        let mut others = arguments.clone();
        others.remove(*name);
        parse_arguments::<A>(&others).err().is_none_or(|other| other != why)
    };
    // Bounded, because every argument costs a parse; real calls have few.
    arguments.keys().take(MAX_ARGUMENTS).find(is_it).map(String::as_str)
}

/// An error reply.
pub(crate) fn error_result(why: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(shorten(&harmless(why), MAX_ERROR_CHARS))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::OWN_TOOLS;

    #[test]
    fn what_is_not_taken_in_again_are_the_tools_there_are() {
        let mut listed: Vec<&str> = all().iter().map(|entry| entry.tool.name.as_ref()).collect();
        listed.sort_unstable();
        assert_eq!(listed, OWN_TOOLS, "a tool that the server lists is named in a file of this folder, and none there is left out");
    }

    /// Argument names may equal schema keywords.
    #[test]
    fn a_lean_schema_keeps_every_argument() {
        let schema = serde_json::json!({"$schema": "x", "type": "object", "properties": {
            "format": {"type": ["string", "null"], "format": "date", "default": null},
            "default": {"type": "integer", "format": "uint"}, "$schema": {"type": "string"}}});
        let Value::Object(mut schema) = schema else { panic!("an object") };
        slim_schema(&mut schema);
        let lean = serde_json::json!({"type": "object", "properties": {
            "format": {"type": "string"}, "default": {"type": "integer"}, "$schema": {"type": "string"}}});
        assert_eq!(Value::Object(schema), lean);
    }
}
