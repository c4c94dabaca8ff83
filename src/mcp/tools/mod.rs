//! The tools: what each asks for and answers, as schemas, and the way from a call to its answer.
//!
//! An answer is told twice: as a value that fits the tool's output schema, and as a short text. What goes wrong is an answer too, so
//! that a model can read it and do better.

mod close;
mod gather;
mod get;
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

use super::text::{harmless, harmless_value, line};
use super::work::Reading;
use crate::clean::shorten;
use crate::config::{Agent, Config, agent, agent_of_client};
use crate::mark;
use crate::notes::EVERYWHERE;
use crate::privacy::{Policy, View};
use crate::session::{Millis, Project};
use crate::store::trouble::explained;
use crate::store::{Memory, Store};
use crate::writer::Writer;

/// Longest account of what went wrong, in characters.
const MAX_WHY: usize = 1_000;

/// Marks of ends that are looked at, newest first.
const MARKS: usize = 60;

/// Longest name of a project, in characters.
const MAX_NAME: usize = 60;

/// More than any tool has.
const MOST_ARGUMENTS: usize = 12;

/// Where a call works.
pub struct Site<'a> {
    pub config: &'a Config,
    /// The folder whose project comes first.
    pub folder: &'a Path,
    pub(super) reading: &'a Reading,
    /// What the client calls itself.
    pub client: &'a str,
    /// When the server was started.
    pub since: Millis,
}

impl Site<'_> {
    /// Who asks, as who writes: the agent that started the server, else what the client calls itself. It writes for the project it
    /// works in, as the client tells it.
    ///
    /// # Errors
    /// When that project is excluded.
    pub fn writer(&self) -> Result<Writer> {
        let mut agent = agent().unwrap_or_else(|| agent_of_client(self.client));
        // The one the server was started in; a session may have begun in another folder.
        let session = agent.session.take().filter(|id| !self.is_over(id));
        let Writer { reach, .. } = Writer::agent(&agent, self.folder, self.config)?;
        Ok(Writer { author: Agent { session, ..agent }.author(), reach })
    }

    /// Did a session end since the server was started? A client starts it once and may go on with another session (`/clear`).
    fn is_over(&self, session: &str) -> bool {
        let marked = mark::newest_ends(&self.config.data_dir, MARKS);
        if marked.iter().any(|mark| mark.session == session && mark.at >= self.since) {
            return true;
        }
        let store = Memory::open(&self.config.database(), &Policy::upkeep()).ok();
        store.and_then(|store| store.session_end(session).ok().flatten()).is_some_and(|at| at >= self.since)
    }

    /// The key of the project that comes first.
    pub fn project(&self) -> String {
        self.config.project_keys().key_of(&self.folder.to_string_lossy())
    }

    /// What may be shown to who works here. All that answers reads it through this.
    ///
    /// # Errors
    /// When there is no index, it cannot be read or is of another version, with what to do about it.
    pub fn memory(&self) -> Result<Memory> {
        self.reading.memory(self.config, &self.policy())
    }

    /// The same, of as many projects as are asked for.
    ///
    /// # Errors
    /// As `memory`.
    pub fn memory_of(&self, scope: Scope) -> Result<Memory> {
        match scope {
            Scope::All => self.memory(),
            Scope::Project => self.reading.memory(self.config, &self.config.policy(View::Only(&self.folder.to_string_lossy()))),
        }
    }

    /// What may be shown to who works here, as a rule.
    pub fn policy(&self) -> Policy {
        self.config.policy(View::From(&self.folder.to_string_lossy()))
    }

    /// The same, when there is an index.
    ///
    /// # Errors
    /// As `memory`.
    pub fn memory_if_there(&self) -> Result<Option<Memory>> {
        Store::is_there(&self.config.database())?.then(|| self.memory()).transpose()
    }
}

/// Of which projects something is wanted.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(crate = "rmcp::schemars", inline)]
pub enum Scope {
    #[default]
    All,
    Project,
}

/// A tool.
trait Tool {
    const NAME: &'static str;
    const TITLE: &'static str;
    /// For the model: what it is good for, and what to do with the answer.
    const ABOUT: &'static str;
    const WRITES: bool = false;
    /// Can it ask somebody beside this machine, where the config names one?
    const OPEN_WORLD: bool = false;
    type Asked: DeserializeOwned + JsonSchema + 'static;
    type Answer: Serialize + JsonSchema + 'static;

    /// # Errors
    /// What went wrong, and what to do about it.
    fn call(asked: Self::Asked, site: &Site<'_>) -> Result<Self::Answer>;

    fn text(answer: &Self::Answer) -> String;
}

/// A tool as the server needs it.
pub struct Entry {
    pub tool: rmcp::model::Tool,
    pub call: fn(JsonObject, &Site<'_>) -> CallToolResult,
}

static ALL: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    vec![
        entry::<search::Search>(),
        entry::<timeline::Around>(),
        entry::<get::Get>(),
        entry::<gather::Gather>(),
        entry::<remember::Remember>(),
        entry::<close::Close>(),
        entry::<status::Status>(),
    ]
});

/// Every tool, in the order in which they are listed.
pub fn all() -> &'static [Entry] {
    &ALL
}

fn entry<T: Tool>() -> Entry {
    let hints = ToolAnnotations::new().read_only(!T::WRITES).destructive(false).idempotent(true).open_world(T::OPEN_WORLD);
    let mut tool = rmcp::model::Tool::new(T::NAME, T::ABOUT, JsonObject::new())
        .with_title(T::TITLE)
        .with_input_schema::<T::Asked>()
        .with_output_schema::<T::Answer>()
        .with_annotations(hints);
    lean(Arc::make_mut(&mut tool.input_schema));
    tool.output_schema.as_mut().map(Arc::make_mut).map(lean);
    Entry { tool, call: call::<T> }
}

/// A schema without what says nothing to a client: sizes of Rust's numbers, and that what may be left out may be null.
fn lean(schema: &mut JsonObject) {
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
            // Names of arguments, whatever they are, and no words of a schema.
            Value::Object(named) if matches!(name.as_str(), "properties" | "$defs") => {
                named.values_mut().filter_map(Value::as_object_mut).for_each(lean);
            }
            Value::Object(inner) => lean(inner),
            Value::Array(all) => all.iter_mut().filter_map(Value::as_object_mut).for_each(lean),
            _ => {}
        }
    }
}

fn call<T: Tool>(arguments: JsonObject, site: &Site<'_>) -> CallToolResult {
    let asked = match read::<T::Asked>(&arguments) {
        Ok(asked) => asked,
        Err(why) => return failed(&format!("{}: {why}", culprit::<T::Asked>(&arguments, &why).unwrap_or(T::NAME))),
    };
    let told = T::call(asked, site).and_then(|answer| Ok((T::text(&answer), serde_json::to_value(&answer)?)));
    match told {
        Ok((text, value)) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(harmless(&text))]);
            result.structured_content = Some(harmless_value(value));
            result
        }
        Err(e) => failed(&format!("{:#}", explained(e, &site.config.database()))),
    }
}

fn read<A: DeserializeOwned>(arguments: &JsonObject) -> Result<A, String> {
    serde_json::from_value(arguments.clone().into()).map_err(|e| e.to_string())
}

/// The argument that is wrong: without it something else is, or nothing.
fn culprit<'a, A: DeserializeOwned>(arguments: &'a JsonObject, why: &str) -> Option<&'a str> {
    let is_it = |name: &&String| {
        let mut others = arguments.clone();
        others.remove(*name);
        read::<A>(&others).err().is_none_or(|other| other != why)
    };
    // Looking through many would take its time, and nobody who calls a tool gives many.
    arguments.keys().take(MOST_ARGUMENTS).find(is_it).map(String::as_str)
}

/// A project as a line has room for it.
fn project_name(project: &Project) -> String {
    if project.key == EVERYWHERE { "all projects".to_owned() } else { line(project.name(), MAX_NAME) }
}

/// An answer that says what went wrong.
pub fn failed(why: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(shorten(&harmless(why), MAX_WHY))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::chatter::OWN_TOOLS;

    #[test]
    fn what_is_not_taken_in_again_are_the_tools_there_are() {
        assert_eq!(all().iter().map(|entry| entry.tool.name.as_ref()).collect::<Vec<_>>(), OWN_TOOLS);
    }

    /// Arguments are called as the tool likes, also as a word of the schema's own.
    #[test]
    fn a_lean_schema_keeps_every_argument() {
        let schema = serde_json::json!({"$schema": "x", "type": "object", "properties": {
            "format": {"type": ["string", "null"], "format": "date", "default": null},
            "default": {"type": "integer", "format": "uint"}, "$schema": {"type": "string"}}});
        let Value::Object(mut schema) = schema else { panic!("an object") };
        lean(&mut schema);
        let lean = serde_json::json!({"type": "object", "properties": {
            "format": {"type": "string"}, "default": {"type": "integer"}, "$schema": {"type": "string"}}});
        assert_eq!(Value::Object(schema), lean);
    }
}
