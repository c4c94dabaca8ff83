//! Changing a file of servers: ours goes in with all that leads to it, is brought up to date where it stands, and comes out without a
//! trace.

use jsonc_parser::ast::{Object, Value};

use super::{ARGUMENT, Command, Known, NAME, Place, Server, chain, ours, string, wanted};
use crate::config::CARRIED;
use crate::install::settings::{Added, Broken, Empties, located, read};
use crate::install::splice::{Container, Edits, Form, Member, New, property, quoted, range_of};

/// The name of the outermost object, and of a file without any, among `Empties`.
const ROOT: &str = "";
const BLANK: &str = "file";

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
