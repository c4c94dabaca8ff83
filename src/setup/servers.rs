//! The clients' MCP servers: ours added, updated and removed. Pure text → text; see [`super::strict_json`] for what stays.
//!
//! They stand under `mcpServers`: at the top of `.mcp.json`, of Claude Code's own file and of those of other agents, and in Claude Code's
//! for each project too. Some agents call it otherwise, and some files may have comments. Codex has them in TOML: see [`super::toml_servers`].

use std::collections::BTreeMap;

use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp};
use jsonc_parser::json;

use super::hook_command::{Invocation, has_our_name, is_our_variable};
use super::strict_json::{Broken, Insertion, JsonDocument, JsonText, Shapes, property, remember, string, value, was_empty};
use crate::config::LOCATION_VARIABLES;

/// The name under which it is registered.
pub(crate) const NAME: &str = "recall";
const SERVERS: &str = "mcpServers";
/// The same of OpenCode.
pub(super) const OPENCODE_SERVERS: &str = "mcp";
/// The same of VS Code.
pub(super) const VS_CODE_SERVERS: &str = "servers";
const PROJECTS: &str = "projects";
/// Our argument.
pub(super) const ARGUMENT: &str = "mcp";

/// Says whether a program named `recall` is this one. What is registered under our name, or with variables of ours, is ours in any case.
pub(crate) type IsOurProgram<'a> = &'a dyn Fn(&str) -> bool;

/// Where servers stand in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServerLocation {
    /// At the top: for every session that reads the file.
    TopLevel,
    /// The same, under another name than that of most clients.
    Named(&'static str),
    /// Below a project: for sessions of the project with this root.
    Project(String),
}

impl ServerLocation {
    /// The keys that lead to the servers.
    fn path(&self) -> Vec<String> {
        match self {
            ServerLocation::TopLevel => vec![SERVERS.to_owned()],
            ServerLocation::Named(name) => vec![(*name).to_owned()],
            ServerLocation::Project(root) => vec![PROJECTS.to_owned(), root.clone(), SERVERS.to_owned()],
        }
    }
}

/// What an entry has beside the program and its variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryForm {
    kind: Option<&'static str>,
    /// Does it list the tools that may be used? Ours are all.
    lists_tools: bool,
    /// Are the program and its arguments one list? The variables are called otherwise then, too.
    is_list: bool,
}

impl EntryForm {
    /// Claude Code's.
    pub const TYPED: Self = Self { kind: Some("stdio"), lists_tools: false, is_list: false };
    /// As `gemini mcp add` 0.61 and `qwen mcp add` 0.24.4 write it.
    pub const PLAIN: Self = Self { kind: None, lists_tools: false, is_list: false };
    /// As `copilot mcp add` 1.0.102 writes it.
    pub const COPILOT: Self = Self { kind: Some("local"), lists_tools: true, is_list: false };
    /// By the documentation of OpenCode 1.
    pub const OPENCODE: Self = Self { kind: Some("local"), lists_tools: false, is_list: true };
}

/// A server of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    pub(crate) name: String,
    pub(crate) program: String,
    pub(crate) environment: BTreeMap<String, String>,
}

impl McpServer {
    /// The server of an entry, if it calls a program of our name as ours is called, or one of another name with a variable that only ours reads.
    pub(super) fn of(name: String, program: String, first: Option<&str>, environment: BTreeMap<String, String>) -> Option<Self> {
        let may_be_ours = has_our_name(&program) || environment.keys().any(|name| is_our_variable(name));
        let calls_us = may_be_ours && first == Some(ARGUMENT);
        calls_us.then_some(Self { name, program, environment })
    }

    /// Is it what an install would write now?
    pub fn matches(&self, invocation: &Invocation) -> bool {
        let (program, environment) = expected(invocation);
        let carried = LOCATION_VARIABLES.iter().filter_map(|(name, _)| Some((*name, self.environment.get(*name)?.as_str())));
        self.runs(program) && carried.eq(environment.iter().map(|(name, value)| (*name, value.as_str())))
    }

    /// Others may call a program `recall`, too.
    pub(super) fn is_ours(&self, is_our_program: IsOurProgram<'_>) -> bool {
        let carries = || LOCATION_VARIABLES.iter().any(|(name, _)| self.environment.contains_key(*name));
        self.name == NAME || carries() || is_our_program(&self.program)
    }

    /// Does it run this program? What is called by its name alone is found on the search path.
    pub(super) fn runs(&self, program: &str) -> bool {
        self.program == program || self.program == NAME
    }
}

/// The program and its variables as an install would write them, the variables in the order of `LOCATION_VARIABLES`.
pub(super) fn expected(invocation: &Invocation) -> (&str, Vec<(&'static str, String)>) {
    match invocation {
        Invocation::Own { program, environment } => {
            let value = |name: &str| environment.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone());
            (program, LOCATION_VARIABLES.iter().filter_map(|(name, _)| Some((*name, value(name)?))).collect())
        }
        Invocation::Shared => (NAME, Vec::new()),
    }
}

/// Our server at a location of a file.
pub fn find<'t>(
    text: impl Into<JsonText<'t>>,
    location: &ServerLocation,
    is_our_program: IsOurProgram<'_>,
) -> Result<Option<McpServer>, Broken> {
    let Some(document) = JsonDocument::parse(text)? else { return Ok(None) };
    let servers = servers_at(&document.top, location);
    Ok(servers.and_then(|servers| own_servers(&servers, is_our_program).into_iter().next()).map(|(_, server)| server))
}

/// The locations of a file that hold one of ours.
pub fn locations<'t>(text: impl Into<JsonText<'t>>, is_our_program: IsOurProgram<'_>) -> Result<Vec<ServerLocation>, Broken> {
    let Some(document) = JsonDocument::parse(text)? else { return Ok(Vec::new()) };
    let all = all_servers(&document.top).into_iter();
    Ok(all.filter(|(_, servers)| !own_servers(servers, is_our_program).is_empty()).map(|(location, _)| location).collect())
}

/// The names of servers that call a program of our name, but another one.
pub(crate) fn foreign<'t>(text: impl Into<JsonText<'t>>, is_our_program: IsOurProgram<'_>) -> Result<Vec<String>, Broken> {
    let Some(document) = JsonDocument::parse(text)? else { return Ok(Vec::new()) };
    let alike = all_servers(&document.top).into_iter().flat_map(|(_, servers)| own_servers(&servers, &|_| true));
    Ok(alike.filter(|(_, server)| !server.is_ours(is_our_program)).map(|(_, server)| server.name).collect())
}

/// Every location that has servers, and these.
fn all_servers(top: &CstObject) -> Vec<(ServerLocation, CstObject)> {
    let projects = value(top, PROJECTS).and_then(|projects| projects.as_object());
    let projects = projects.iter().flat_map(|all| all.properties());
    // Of two of the same name the last one counts.
    let projects: BTreeMap<_, _> =
        projects.filter_map(|p| Some((ServerLocation::Project(p.decoded_name()?), p.object_value()?))).collect();
    let named = [OPENCODE_SERVERS, VS_CODE_SERVERS].map(ServerLocation::Named);
    let at_top = std::iter::once(ServerLocation::TopLevel).chain(named).map(|location| (location, top.clone()));
    let all = at_top.chain(projects);
    all.filter_map(|(location, object)| Some((value(&object, location.path().last()?)?.as_object()?, location)))
        .map(|(servers, location)| (location, servers))
        .collect()
}

fn servers_at(top: &CstObject, location: &ServerLocation) -> Option<CstObject> {
    location.path().iter().try_fold(top.clone(), |object, name| value(&object, name)?.as_object())
}

/// Our servers among these, each with its property.
fn own_servers(servers: &CstObject, is_our_program: IsOurProgram<'_>) -> Vec<(CstObjectProp, McpServer)> {
    let all = servers.properties().into_iter().filter_map(|property| Some((property.clone(), server(&property)?)));
    all.filter(|(_, server)| server.is_ours(is_our_program)).collect()
}

fn server(property: &CstObjectProp) -> Option<McpServer> {
    let object = property.object_value()?;
    let command = value(&object, "command")?;
    let list = command.as_array();
    let (program, first) = match &list {
        Some(list) => (list.elements().first().and_then(string)?, list.elements().get(1).and_then(string)),
        None => (string(&command)?, value(&object, "args")?.as_array()?.elements().first().and_then(string)),
    };
    let variables = value(&object, variables_name(list.is_some())).and_then(|env| env.as_object());
    let variables = variables.iter().flat_map(|env| env.properties());
    let environment = variables.filter_map(|p| Some((p.decoded_name()?, string(&p.value()?)?))).collect();
    McpServer::of(property.decoded_name()?, program, first.as_deref(), environment)
}

/// What the variables of an entry are called.
fn variables_name(is_list: bool) -> &'static str {
    if is_list { "environment" } else { "env" }
}

/// Adds ours where it is missing, else updates its program and variables.
///
/// # Errors
/// When the text is not what the client reads, or the name is another program's.
pub fn add<'t>(
    text: impl Into<JsonText<'t>>,
    location: &ServerLocation,
    form: EntryForm,
    invocation: &Invocation,
    is_our_program: IsOurProgram<'_>,
) -> Result<Insertion, Broken> {
    let (before, mut shapes) = (text.into(), Shapes::new());
    let document = JsonDocument::parse_or_new(before, &mut shapes)?;
    let (path, mut depth, mut container) = (location.path(), 0, document.top.clone());
    while let Some(node) = path.get(depth).and_then(|name| value(&container, name)) {
        container = node.as_object().ok_or_else(|| document.broken(&node, format!("`{}` is no object", path[depth])))?;
        depth += 1;
    }
    match own_servers(&container, is_our_program).first().filter(|_| depth == path.len()) {
        Some((property, server)) => update(property, server, invocation),
        None => {
            if let Some(other) = value(&container, NAME).filter(|_| depth == path.len()) {
                let what = format!("`{NAME}` is another program's server: give that one another name");
                return Err(document.broken(&other, what));
            }
            remember(&mut shapes, &path[..depth].join("/"), container.clone());
            insert(&container, &path[depth..], form, invocation);
        }
    }
    let remove = |text: &str, shapes: &Shapes| remove(JsonText { text, ..before }, location, shapes, is_our_program);
    Ok(Insertion { text: document.to_string(), shapes }.with_needed_shapes(before.text, remove))
}

/// Appends our entry, within the objects of these names that are missing on the way to it.
fn insert(container: &CstObject, missing: &[String], form: EntryForm, invocation: &Invocation) {
    let (program, environment) = expected(invocation);
    let mut entry: Vec<(String, CstInputValue)> = form.kind.map(|kind| ("type".to_owned(), kind.into())).into_iter().collect();
    if form.is_list {
        entry.push(("command".to_owned(), vec![program, ARGUMENT].into()));
    } else {
        entry.push(("command".to_owned(), program.into()));
        entry.push(("args".to_owned(), vec![ARGUMENT].into()));
    }
    if form.lists_tools {
        entry.push(("tools".to_owned(), vec!["*"].into()));
    }
    if !environment.is_empty() {
        let environment: Vec<_> = environment.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        entry.push((variables_name(form.is_list).to_owned(), environment.into()));
    }
    let ours = (NAME.to_owned(), CstInputValue::Object(entry));
    let (name, value) = missing.iter().rev().fold(ours, |inner, name| (name.clone(), vec![inner].into()));
    let appended = container.append(&name, value).object_value();
    let entry = missing.iter().skip(1).map(String::as_str).chain(missing.last().map(|_| NAME));
    let entry = entry.fold(appended, |object, name| object?.object_value(name));
    // On lines of their own, as the client writes them.
    let lists = entry.iter().flat_map(|entry| ["args", "tools", "command"].map(|name| entry.array_value(name)));
    lists.flatten().for_each(|list| list.ensure_multiline());
}

/// Brings ours up to date. What a person added to it stays.
fn update(ours: &CstObjectProp, server: &McpServer, invocation: &Invocation) {
    let Some(object) = ours.object_value() else { return };
    let (program, environment) = expected(invocation);
    let command = property(&object, "command");
    let list = command.as_ref().and_then(CstObjectProp::array_value);
    let env_name = variables_name(list.is_some());
    match (list, command) {
        _ if server.runs(program) => {}
        (Some(list), _) => {
            let first = list.elements().into_iter().next().and_then(|first| first.as_string_lit());
            first.iter().for_each(|first| first.set_raw_value(json_string(program)));
        }
        (None, command) => command.iter().for_each(|command| command.set_value(program.into())),
    }
    let env = match value(&object, env_name) {
        None if !environment.is_empty() => object.append(env_name, json!({})).object_value(),
        env => env.and_then(|env| env.as_object()),
    };
    let Some(env) = env else { return };
    for (name, _) in LOCATION_VARIABLES {
        let wanted = environment.iter().find(|(wanted, _)| *wanted == name).map(|(_, value)| value.as_str());
        match (property(&env, name), wanted) {
            (Some(variable), None) => variable.remove(),
            (Some(variable), Some(wanted)) if variable.value().and_then(|was| string(&was)).as_deref() != Some(wanted) => {
                variable.set_value(wanted.into());
            }
            (None, Some(wanted)) => drop(env.append(name, wanted.into())),
            _ => {}
        }
    }
}

/// A text as it stands in JSON.
fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Removes ours from a location, and what is empty then, except for what was empty before.
pub fn remove<'t>(
    text: impl Into<JsonText<'t>>,
    location: &ServerLocation,
    shapes: &Shapes,
    is_our_program: IsOurProgram<'_>,
) -> Result<String, Broken> {
    let before = text.into();
    let Some(document) = JsonDocument::parse(before)? else { return Ok(before.text.to_owned()) };
    let path = location.path();
    let mut chain = vec![document.top.clone()];
    while let Some(object) = path.get(chain.len() - 1).and_then(|name| value(chain.last()?, name)?.as_object()) {
        chain.push(object);
    }
    let gone = chain.get(path.len()).map(|servers| own_servers(servers, is_our_program)).unwrap_or_default();
    if gone.is_empty() {
        return Ok(before.text.to_owned());
    }
    gone.into_iter().for_each(|(ours, _)| ours.remove());
    let name = |depth: usize| path[..depth].join("/");
    for depth in (1..chain.len()).rev() {
        if !chain[depth].properties().is_empty() || was_empty(shapes, &name(depth)) {
            break;
        }
        chain.truncate(depth);
        property(&chain[depth - 1], &path[depth - 1]).into_iter().for_each(CstObjectProp::remove);
    }
    let inner = chain.into_iter().enumerate().skip(1).rev();
    let paths: Vec<_> = inner.map(|(depth, object)| (name(depth), object.into())).collect();
    Ok(document.restore(paths, shapes))
}

#[cfg(test)]
mod tests;
