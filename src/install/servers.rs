//! The client's MCP servers: ours put in, mended and taken out. Pure text → text; every byte that is not ours stays.
//!
//! They stand under `mcpServers`: at the top of `.mcp.json` and of the client's own file, and in the latter for each project too. The
//! client takes a file that is not strict JSON for damaged as a whole, so such a file is never edited, only located.

use std::collections::BTreeMap;

use jsonc_parser::ast::{Object, Value};

use super::command::Form as Command;
use super::settings::{Added, Broken, Empties, located, read};
use super::splice::{Container, Edits, Form, Member, New, property, quoted, range_of};
use crate::config::CARRIED;

/// The name under which it is registered.
pub const NAME: &str = "recall";
const SERVERS: &str = "mcpServers";
const PROJECTS: &str = "projects";
/// Our argument.
const ARGUMENT: &str = "mcp";
/// The name of the outermost object, and of a file without any, among `Empties`.
const ROOT: &str = "";
const BLANK: &str = "file";

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

/// Puts ours in where it is missing, else mends its program and variables.
///
/// # Errors
/// When the text is not what the client reads, or the name is another program's.
pub fn add(text: &str, place: &Place, command: &Command, known: Known<'_>) -> Result<Added, Broken> {
    let path = place.path();
    let Some(root) = read(text)? else {
        let members = nested(&path, command);
        return Ok(Added { text: Form::usual().document(&[members]), empties: [(BLANK.to_owned(), text.to_owned())].into() });
    };
    let mut edits = Edits::default();
    let form = Form::of(text, &root);
    let mut container = &root;
    for (at, name) in path.iter().enumerate() {
        match property(container, name) {
            Some((_, Value::Object(object))) => container = object,
            Some((_, other)) => return Err(located(text, range_of(other).start, format!("`{name}` is no object"))),
            None => return Ok(insert(text, container, &path[..at], nested(&path[at..], command), &form)),
        }
    }
    if let Some((_, server, object)) = ours(container, known).next() {
        mend(text, object, &server, command, &form, &mut edits);
        return Ok(Added { text: edits.apply(text), empties: Empties::new() });
    }
    if let Some((_, other)) = property(container, NAME) {
        let what = format!("`{NAME}` is another program's server: give that one another name");
        return Err(located(text, range_of(other).start, what));
    }
    Ok(insert(text, container, &path, nested(&[], command), &form))
}

fn insert(text: &str, container: &Object<'_>, path: &[String], member: Member, form: &Form) -> Added {
    let (mut edits, mut empties) = (Edits::default(), Empties::new());
    let container = Container::from(container);
    if container.members.is_empty() {
        empties.insert(named(path), text[container.range.clone()].to_owned());
    }
    form.insert(text, &container, &[member], &mut edits);
    Added { text: edits.apply(text), empties }
}

/// How a container is called among `Empties`.
fn named(path: &[String]) -> String {
    if path.is_empty() { ROOT.to_owned() } else { path.join("/") }
}

/// Our entry as the member that is missing: itself, or what leads to it.
fn nested(path: &[String], command: &Command) -> Member {
    let (program, environment) = wanted(command);
    let mut entry = vec![
        ("type".into(), New::Text("stdio".into())),
        ("command".into(), New::Text(program.to_owned())),
        ("args".into(), New::List(vec![New::Text(ARGUMENT.into())])),
    ];
    if !environment.is_empty() {
        entry
            .push(("env".into(), New::Map(environment.into_iter().map(|(name, value)| (name.into(), New::Text(value))).collect())));
    }
    let ours = (NAME.to_owned(), New::Map(entry));
    let (name, value) = path.iter().rev().fold(ours, |(name, value), outer| (outer.clone(), New::Map(vec![(name.into(), value)])));
    (Some(name.into()), value)
}

/// Brings what is there of ours up to date. What a person added to it stays.
fn mend(text: &str, object: &Object<'_>, server: &Server, command: &Command, form: &Form, edits: &mut Edits) {
    let (program, environment) = wanted(command);
    if let Some((_, value)) = property(object, "command").filter(|_| !server.runs(program)) {
        edits.replace(range_of(value), quoted(program));
    }
    match property(object, "env") {
        Some((_, Value::Object(env))) => mend_variables(text, env, environment, form, edits),
        None if !environment.is_empty() => {
            let all = environment.into_iter().map(|(name, value)| (name.into(), New::Text(value))).collect();
            form.insert(text, &object.into(), &[(Some("env".into()), New::Map(all))], edits);
        }
        _ => {}
    }
}

/// The variables of ours as they are to be; one that is no more gives its place to one that is new.
fn mend_variables(text: &str, env: &Object<'_>, wanted: Vec<(&'static str, String)>, form: &Form, edits: &mut Edits) {
    let is_ours = |name: &str| CARRIED.iter().any(|(carried, _)| *carried == name);
    let is_wanted = |name: &str| wanted.iter().any(|(known, _)| *known == name);
    let stale = env.properties.iter().enumerate().filter(|(_, p)| is_ours(p.name.as_str()) && !is_wanted(p.name.as_str()));
    let mut stale: Vec<usize> = stale.map(|(at, _)| at).collect();
    let all_stale = stale.len() == env.properties.len();
    let mut missing = Vec::new();
    for (name, value) in wanted {
        match property(env, name) {
            Some((_, was)) if string(was).as_ref() == Some(&value) => {}
            Some((_, was)) => edits.replace(range_of(was), quoted(&value)),
            None => match stale.pop() {
                Some(at) => edits.replace(range_of(&env.properties[at]), format!("{}: {}", quoted(name), quoted(&value))),
                None => missing.push((Some(name.into()), New::Text(value))),
            },
        }
    }
    if !missing.is_empty() {
        form.insert(text, &env.into(), &missing, edits);
    }
    if all_stale && stale.len() == env.properties.len() && !stale.is_empty() {
        edits.replace(range_of(env), "{}");
    } else {
        Container::from(env).remove(&stale, edits);
    }
}

/// Takes ours out of a place, and what is empty then: except for what was there and empty before.
///
/// # Errors
/// When the text is not what the client reads.
pub fn remove(text: &str, place: &Place, empties: &Empties, known: Known<'_>) -> Result<String, Broken> {
    let Some(root) = read(text)? else { return Ok(text.to_owned()) };
    let path = place.path();
    let chain: Vec<&Object<'_>> = std::iter::once(Some(&root)).chain(chain(&root, &path)).map_while(|object| object).collect();
    if chain.len() <= path.len() {
        return Ok(text.to_owned());
    }
    let mut gone: Vec<usize> = ours(chain[path.len()], known).map(|(at, ..)| at).collect();
    if gone.is_empty() {
        return Ok(text.to_owned());
    }
    let mut edits = Edits::default();
    for depth in (0..=path.len()).rev() {
        let container = Container::from(chain[depth]);
        if gone.len() < container.members.len() {
            container.remove(&gone, &mut edits);
            return Ok(edits.apply(text));
        }
        if let Some(was) = empties.get(&named(&path[..depth])) {
            edits.replace(container.range, was.as_str());
            return Ok(edits.apply(text));
        }
        if depth > 0 {
            gone = property(chain[depth - 1], &path[depth - 1]).map(|(at, _)| at).into_iter().collect();
        }
    }
    if let Some(blank) = empties.get(BLANK) {
        return Ok(blank.clone());
    }
    edits.replace(range_of(&root), "{}");
    Ok(edits.apply(text))
}

#[cfg(test)]
mod tests;
