//! The client's MCP servers: ours put in, mended and taken out. Pure text → text; every byte that is not ours stays.
//!
//! They stand under `mcpServers`: at the top of `.mcp.json` and of the client's own file, and in the latter for each project too. The
//! client takes a file that is not strict JSON for damaged as a whole, so such a file is never edited, only located.

mod edit;

use std::collections::BTreeMap;

use jsonc_parser::ast::{Object, Value};

pub use self::edit::{add, remove};
use super::command::Form as Command;
use super::settings::{Broken, read};
use super::splice::property;
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
#[derive(Debug, Clone, PartialEq, Eq)]
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
///
/// # Errors
/// When the file is not what the client reads.
pub fn state(text: &str, place: &Place, known: Known<'_>) -> Result<Option<Server>, Broken> {
    let root = read(text)?;
    let servers = root.as_ref().and_then(|root| *chain(root, &place.path()).last()?);
    Ok(servers.and_then(|servers| ours(servers, known).next()).map(|(_, server, _)| server))
}

/// The places of a file that hold one of ours.
///
/// # Errors
/// When the file is not what the client reads.
pub fn places(text: &str, known: Known<'_>) -> Result<Vec<Place>, Broken> {
    let Some(root) = read(text)? else { return Ok(Vec::new()) };
    Ok(all_servers(&root).filter(|(_, servers)| ours(servers, known).next().is_some()).map(|(place, _)| place).collect())
}

/// Servers that look like ours, and are others' by all we know: names.
///
/// # Errors
/// When the file is not what the client reads.
pub fn strangers(text: &str, known: Known<'_>) -> Result<Vec<String>, Broken> {
    let Some(root) = read(text)? else { return Ok(Vec::new()) };
    let of = |servers: &Object<'_>| {
        let is_ours: Vec<usize> = ours(servers, known).map(|(at, ..)| at).collect();
        ours(servers, &|_| true).filter(|(at, ..)| !is_ours.contains(at)).map(|(_, server, _)| server.name).collect::<Vec<_>>()
    };
    Ok(all_servers(&root).flat_map(|(_, servers)| of(servers)).collect())
}

/// Every place with servers, and these.
fn all_servers<'a, 't>(root: &'a Object<'t>) -> impl Iterator<Item = (Place, &'a Object<'t>)> {
    let projects = property(root, PROJECTS).and_then(|(_, projects)| projects.as_object());
    let roots = projects.into_iter().flat_map(|all| &all.properties).map(|p| Place::Project(p.name.as_str().to_owned()));
    std::iter::once(Place::Top).chain(roots).filter_map(|place| {
        let servers = *chain(root, &place.path()).last()?;
        Some((place, servers?))
    })
}

/// The objects on the way, from the root's member on; `None` from where there is none.
fn chain<'a, 't>(root: &'a Object<'t>, path: &[String]) -> Vec<Option<&'a Object<'t>>> {
    let mut at = Some(root);
    path.iter()
        .map(|name| {
            at = at.and_then(|object| property(object, name)).and_then(|(_, value)| value.as_object());
            at
        })
        .collect()
}

/// What among the servers calls us: its index, what it says, and where.
fn ours<'a, 't>(servers: &'a Object<'t>, known: Known<'a>) -> impl Iterator<Item = (usize, Server, &'a Object<'t>)> {
    servers.properties.iter().enumerate().filter_map(move |(at, property)| {
        let object = property.value.as_object()?;
        let server = server(property.name.as_str(), object).filter(|server| server.is_ours(known))?;
        Some((at, server, object))
    })
}

fn server(name: &str, object: &Object<'_>) -> Option<Server> {
    let program = text_of(object, "command")?;
    let (_, arguments) = property(object, "args")?;
    let first = arguments.as_array()?.elements.first();
    let calls_us =
        program.rsplit('/').next() == Some(NAME) && matches!(first, Some(Value::StringLit(text)) if text.value == ARGUMENT);
    let variables = property(object, "env").and_then(|(_, env)| env.as_object());
    let variables = variables.into_iter().flat_map(|env| &env.properties);
    let environment = variables.filter_map(|p| Some((p.name.as_str().to_owned(), string(&p.value)?))).collect();
    calls_us.then(|| Server { name: name.to_owned(), program, environment })
}

fn text_of(object: &Object<'_>, name: &str) -> Option<String> {
    property(object, name).and_then(|(_, value)| string(value))
}

fn string(value: &Value<'_>) -> Option<String> {
    match value {
        Value::StringLit(text) => Some(text.value.clone().into_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
