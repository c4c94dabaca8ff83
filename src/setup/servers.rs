//! The client's MCP servers: ours added, updated and removed. Pure text → text; see [`super::strict_json`] for what stays.
//!
//! They stand under `mcpServers`: at the top of `.mcp.json` and of the client's own file, and in the latter for each project too.

use std::collections::BTreeMap;

use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp};
use jsonc_parser::json;

use super::command::Form as Command;
use super::strict_json::{Broken, Insertion, JsonDocument, Shapes, property, remember, string, value, was_empty};
use crate::config::CARRIED;

/// The name under which it is registered.
pub const NAME: &str = "recall";
const SERVERS: &str = "mcpServers";
const PROJECTS: &str = "projects";
/// Our argument.
const ARGUMENT: &str = "mcp";

/// Is a program of our name ours, for all we know? What is registered under our name, or with variables of ours, is ours anyway.
pub type Known<'a> = &'a dyn Fn(&str) -> bool;

/// For whom servers stand in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Everyone who reads it.
    Top,
    /// Sessions of the project with this root.
    Project(String),
}

impl Place {
    /// The names that lead to its servers.
    fn path(&self) -> Vec<String> {
        match self {
            Place::Top => vec![SERVERS.to_owned()],
            Place::Project(root) => vec![PROJECTS.to_owned(), root.clone(), SERVERS.to_owned()],
        }
    }
}

/// A server of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    pub name: String,
    pub program: String,
    /// Its variables.
    pub environment: BTreeMap<String, String>,
}

impl Server {
    /// Is it what an install would write now?
    pub fn is_as(&self, command: &Command) -> bool {
        let (program, environment) = wanted(command);
        let carried = CARRIED.iter().filter_map(|(name, _)| Some((*name, self.environment.get(*name)?.as_str())));
        self.runs(program) && carried.eq(environment.iter().map(|(name, value)| (*name, value.as_str())))
    }

    /// Others may call a program `recall`, too.
    fn is_ours(&self, known: Known<'_>) -> bool {
        let carries = || CARRIED.iter().any(|(name, _)| self.environment.contains_key(*name));
        self.name == NAME || carries() || known(&self.program)
    }

    /// Does it run this program? What is called by its name alone is found on the search path.
    fn runs(&self, program: &str) -> bool {
        self.program == program || self.program == NAME
    }
}

/// How the program is called: itself, and its variables in the order of `CARRIED`.
fn wanted(command: &Command) -> (&str, Vec<(&'static str, String)>) {
    match command {
        Command::Own { program, environment } => {
            let value = |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
            (program, CARRIED.iter().filter_map(|(name, _)| Some((*name, value(name)?))).collect())
        }
        Command::Shared => (NAME, Vec::new()),
    }
}

/// The server of ours in a place of a file.
pub fn state(text: &str, place: &Place, known: Known<'_>) -> Result<Option<Server>, Broken> {
    let Some(document) = JsonDocument::parse(text)? else { return Ok(None) };
    let servers = servers_in(&document.top, place);
    Ok(servers.and_then(|servers| ours(&servers, known).into_iter().next()).map(|(_, server)| server))
}

/// The places of a file that hold one of ours.
pub fn places(text: &str, known: Known<'_>) -> Result<Vec<Place>, Broken> {
    let Some(document) = JsonDocument::parse(text)? else { return Ok(Vec::new()) };
    let all = all_servers(&document.top).into_iter();
    Ok(all.filter(|(_, servers)| !ours(servers, known).is_empty()).map(|(place, _)| place).collect())
}

/// Servers that look like ours, and are others' by all we know: names.
pub fn strangers(text: &str, known: Known<'_>) -> Result<Vec<String>, Broken> {
    let Some(document) = JsonDocument::parse(text)? else { return Ok(Vec::new()) };
    let alike = all_servers(&document.top).into_iter().flat_map(|(_, servers)| ours(&servers, &|_| true));
    Ok(alike.filter(|(_, server)| !server.is_ours(known)).map(|(_, server)| server.name).collect())
}

/// Every place with servers, and these.
fn all_servers(top: &CstObject) -> Vec<(Place, CstObject)> {
    let projects = value(top, PROJECTS).and_then(|projects| projects.as_object());
    let projects = projects.iter().flat_map(|all| all.properties());
    // Of two of the same name the last one counts.
    let projects: BTreeMap<_, _> = projects.filter_map(|p| Some((Place::Project(p.decoded_name()?), p.object_value()?))).collect();
    let all = std::iter::once((Place::Top, top.clone())).chain(projects);
    all.filter_map(|(place, object)| Some((place, value(&object, SERVERS)?.as_object()?))).collect()
}

fn servers_in(top: &CstObject, place: &Place) -> Option<CstObject> {
    place.path().iter().try_fold(top.clone(), |object, name| value(&object, name)?.as_object())
}

/// What among the servers calls us: where it stands, and what it says.
fn ours(servers: &CstObject, known: Known<'_>) -> Vec<(CstObjectProp, Server)> {
    let all = servers.properties().into_iter().filter_map(|property| Some((property.clone(), server(&property)?)));
    all.filter(|(_, server)| server.is_ours(known)).collect()
}

fn server(property: &CstObjectProp) -> Option<Server> {
    let object = property.object_value()?;
    let program = string(&value(&object, "command")?)?;
    let first = value(&object, "args")?.as_array()?.elements().first().and_then(string);
    let calls_us = program.rsplit('/').next() == Some(NAME) && first.as_deref() == Some(ARGUMENT);
    let variables = value(&object, "env").and_then(|env| env.as_object());
    let variables = variables.iter().flat_map(|env| env.properties());
    let environment = variables.filter_map(|p| Some((p.decoded_name()?, string(&p.value()?)?))).collect();
    calls_us.then_some(Server { name: property.decoded_name()?, program, environment })
}

/// Adds ours where it is missing, else updates its program and variables.
///
/// # Errors
/// When the text is not what the client reads, or the name is another program's.
pub fn add(text: &str, place: &Place, command: &Command, known: Known<'_>) -> Result<Insertion, Broken> {
    let mut shapes = Shapes::new();
    let document = JsonDocument::parse_or_new(text, &mut shapes)?;
    let (path, mut depth, mut container) = (place.path(), 0, document.top.clone());
    while let Some(node) = path.get(depth).and_then(|name| value(&container, name)) {
        container = node.as_object().ok_or_else(|| document.broken(&node, format!("`{}` is no object", path[depth])))?;
        depth += 1;
    }
    match ours(&container, known).first().filter(|_| depth == path.len()) {
        Some((property, server)) => update(property, server, command),
        None => {
            if let Some(other) = value(&container, NAME).filter(|_| depth == path.len()) {
                let what = format!("`{NAME}` is another program's server: give that one another name");
                return Err(document.broken(&other, what));
            }
            remember(&mut shapes, &path[..depth].join("/"), container.clone());
            insert(&container, &path[depth..], command);
        }
    }
    let remove = |text: &str, shapes: &Shapes| remove(text, place, shapes, known);
    Ok(Insertion { text: document.to_string(), shapes }.with_needed_shapes(text, remove))
}

/// Appends our entry, within the objects of these names that are missing on the way to it.
fn insert(container: &CstObject, missing: &[String], command: &Command) {
    let (program, environment) = wanted(command);
    let mut entry = vec![
        ("type".to_owned(), "stdio".into()),
        ("command".to_owned(), program.into()),
        ("args".to_owned(), vec![ARGUMENT].into()),
    ];
    if !environment.is_empty() {
        let environment: Vec<_> = environment.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        entry.push(("env".to_owned(), environment.into()));
    }
    let ours = (NAME.to_owned(), CstInputValue::Object(entry));
    let (name, value) = missing.iter().rev().fold(ours, |inner, name| (name.clone(), vec![inner].into()));
    let appended = container.append(&name, value).object_value();
    let entry = missing.iter().skip(1).map(String::as_str).chain(missing.last().map(|_| NAME));
    let entry = entry.fold(appended, |object, name| object?.object_value(name));
    // On lines of their own, as the client writes them.
    entry.and_then(|entry| entry.array_value("args")).iter().for_each(|args| args.ensure_multiline());
}

/// Brings ours up to date. What a person added to it stays.
fn update(ours: &CstObjectProp, server: &Server, command: &Command) {
    let Some(object) = ours.object_value() else { return };
    let (program, environment) = wanted(command);
    if let Some(command) = property(&object, "command").filter(|_| !server.runs(program)) {
        command.set_value(program.into());
    }
    let env = match value(&object, "env") {
        None if !environment.is_empty() => object.append("env", json!({})).object_value(),
        env => env.and_then(|env| env.as_object()),
    };
    let Some(env) = env else { return };
    for (name, _) in CARRIED {
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

/// Removes ours from a place, and what is empty then, except for what was empty before.
pub fn remove(text: &str, place: &Place, shapes: &Shapes, known: Known<'_>) -> Result<String, Broken> {
    let Some(document) = JsonDocument::parse(text)? else { return Ok(text.to_owned()) };
    let path = place.path();
    let mut chain = vec![document.top.clone()];
    while let Some(object) = path.get(chain.len() - 1).and_then(|name| value(chain.last()?, name)?.as_object()) {
        chain.push(object);
    }
    let gone = chain.get(path.len()).map(|servers| ours(servers, known)).unwrap_or_default();
    if gone.is_empty() {
        return Ok(text.to_owned());
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
