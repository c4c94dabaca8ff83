//! Codex's MCP servers: ours in `config.toml` added, updated and removed. Pure text → text; every byte outside an edit stays.
//!
//! A server is a table below `mcp_servers`, with one for its variables, as `codex mcp add` 0.169 writes it. When Codex remembers something it
//! writes the file anew, and may give the server more tables. So ours are found by what they are, wherever they stand, and a removal is
//! checked: what is left has to mean what it meant before.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::hook_command::Invocation;
use super::servers::{ARGUMENT, IsOurProgram, McpServer, NAME, expected};
use super::strict_json::{Broken, Insertion, Shapes, broken_at, uncapitalized};
use crate::config::LOCATION_VARIABLES;

const SERVERS: &str = "mcp_servers";
/// Among the shapes: what was put between the text and our table.
const GAP: &str = "gap";

type Key<'a> = Spanned<DeString<'a>>;
type Value<'a> = Spanned<DeValue<'a>>;
/// What comes in place of which bytes.
type Edit = (Range<usize>, String);
type Variables = [(&'static str, String)];

/// Our server.
pub(super) fn find(text: &str, is_our_program: IsOurProgram<'_>) -> Result<Option<McpServer>, Broken> {
    let document = parse(text)?;
    Ok(servers(&document).find(|(_, server)| server.is_ours(is_our_program)).map(|(_, server)| server))
}

/// The names of servers that call a program of our name, but another one.
pub(super) fn foreign(text: &str, is_our_program: IsOurProgram<'_>) -> Result<Vec<String>, Broken> {
    let document = parse(text)?;
    let others = servers(&document).filter(|(_, server)| !server.is_ours(is_our_program));
    Ok(others.map(|(_, server)| server.name).collect())
}

/// Adds ours where it is missing, else updates its program and variables.
///
/// # Errors
/// When the text is no TOML, the name is another program's, or servers are written in a way that is not edited.
pub(super) fn add(text: &str, invocation: &Invocation, is_our_program: IsOurProgram<'_>) -> Result<Insertion, Broken> {
    let document = parse(text)?;
    let mut shapes = Shapes::new();
    let ours = servers(&document).find(|(_, server)| server.is_ours(is_our_program));
    let name = ours.as_ref().map_or_else(|| NAME.to_owned(), |(_, server)| server.name.clone());
    let added = match ours {
        Some((entry, server)) => update(text, entry, &server, invocation),
        None => {
            if let Some((key, _)) = document.get(SERVERS).and_then(|all| all.get_ref().as_table()?.get_key_value(NAME)) {
                let what = format!("`{NAME}` is another program's server: give that one another name");
                return Err(broken_at(text, key.span().start, what));
            }
            append(text, invocation, &mut shapes)
        }
    };
    // In a table that is written on one line, say, nothing can be added like that.
    let is_right = |added: &String| {
        let server = find(added, is_our_program).ok().flatten();
        server.is_some_and(|server| server.matches(invocation)) && meaning(added, Some(&name)) == meaning(text, Some(&name))
    };
    match added.filter(is_right) {
        Some(text) => Ok(Insertion { text, shapes }),
        None => {
            let at = document.get_key_value(SERVERS).map_or(0, |(key, _)| key.span().start);
            Err(broken_at(text, at, format!("`{SERVERS}` is written in a way that recall does not edit: change `{NAME}` by hand")))
        }
    }
}

/// Removes ours, and what was put before it.
pub(super) fn remove(text: &str, shapes: &Shapes, is_our_program: IsOurProgram<'_>) -> Result<String, Broken> {
    let mut text = text.to_owned();
    loop {
        let document = parse(&text)?;
        let Some((entry, server)) = servers(&document).find(|(_, server)| server.is_ours(is_our_program)) else { break };
        let left = without(&text, entry, shapes.get(GAP).map(String::as_str));
        if meaning(&left, None) != meaning(&text, Some(&server.name)) {
            let what = format!("the server `{}` is written in a way that recall does not edit", server.name);
            return Err(broken_at(&text, entry.0.span().start, what));
        }
        text = left;
    }
    Ok(text)
}

fn parse(text: &str) -> Result<DeTable<'_>, Broken> {
    let broken = |e: toml::de::Error| broken_at(text, e.span().map_or(0, |span| span.start), uncapitalized(e.message()));
    Ok(DeTable::parse(text).map_err(broken)?.into_inner())
}

/// The servers that call a program of our name, each with its entry.
fn servers<'d, 'a>(document: &'d DeTable<'a>) -> impl Iterator<Item = ((&'d Key<'a>, &'d Value<'a>), McpServer)> {
    let all = document.get(SERVERS).and_then(|all| all.get_ref().as_table());
    all.into_iter().flatten().filter_map(|entry| Some((entry, server(entry)?)))
}

fn server((name, value): (&Key<'_>, &Value<'_>)) -> Option<McpServer> {
    let table = value.get_ref().as_table()?;
    let program = table.get("command")?.get_ref().as_str()?.to_owned();
    let first = table.get("args")?.get_ref().as_array()?.iter().next()?.get_ref().as_str();
    let variables = table.get("env").and_then(|env| env.get_ref().as_table()).into_iter().flatten();
    let environment: BTreeMap<_, _> =
        variables.filter_map(|(name, value)| Some((name.get_ref().to_string(), value.get_ref().as_str()?.to_owned()))).collect();
    McpServer::of(name.get_ref().to_string(), program, first, environment)
}

/// What a text says, without a server of this name and without a table of servers that is empty.
fn meaning(text: &str, without: Option<&str>) -> Option<toml::Table> {
    let mut table: toml::Table = text.parse().ok()?;
    if let Some(servers) = table.get_mut(SERVERS).and_then(toml::Value::as_table_mut) {
        without.into_iter().for_each(|name| drop(servers.remove(name)));
        if servers.is_empty() {
            table.remove(SERVERS);
        }
    }
    Some(table)
}

fn literal(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn append(text: &str, invocation: &Invocation, shapes: &mut Shapes) -> Option<String> {
    let (program, environment) = expected(invocation);
    let newline = newline(text);
    let gap = match text {
        "" => String::new(),
        _ if text.ends_with(&newline.repeat(2)) => String::new(),
        _ if text.ends_with('\n') => newline.to_owned(),
        _ => newline.repeat(2),
    };
    let mut lines =
        vec![format!("[{SERVERS}.{NAME}]"), format!("command = {}", literal(program)), format!("args = [{}]", literal(ARGUMENT))];
    if !environment.is_empty() {
        lines.extend([String::new(), format!("[{SERVERS}.{NAME}.env]")]);
        lines.extend(environment.iter().map(|(name, value)| format!("{name} = {}", literal(value))));
    }
    let added = format!("{text}{gap}{}{newline}", lines.join(newline));
    shapes.insert(GAP.to_owned(), gap);
    Some(added)
}

/// Brings ours up to date. What a person added to it stays. `None` where it is written in a way that is not edited.
fn update(text: &str, entry: (&Key<'_>, &Value<'_>), server: &McpServer, invocation: &Invocation) -> Option<String> {
    let (program, environment) = expected(invocation);
    let table = entry.1.get_ref().as_table()?;
    let mut edits = Vec::new();
    if !server.runs(program) {
        edits.push((table.get("command")?.span(), literal(program)));
    }
    let is_right = |(name, _): &(&str, _)| {
        let wanted = environment.iter().find(|(wanted, _)| wanted == name).map(|(_, value)| value);
        server.environment.get(*name) == wanted
    };
    if !LOCATION_VARIABLES.iter().all(is_right) {
        edits.extend(match table.get_key_value("env") {
            None => vec![new_variables(text, entry, &environment)?],
            Some((key, env)) if is_header(text, key) => variables_on_lines(text, key, env, &environment)?,
            Some((_, env)) => vec![variables_on_one_line(text, env, &environment)?],
        });
    }
    edits.sort_by_key(|(at, _)| (at.start, at.end));
    let mut updated = text.to_owned();
    edits.into_iter().rev().for_each(|(at, with)| updated.replace_range(at, &with));
    Some(updated)
}

/// A table with the variables, behind what the server has so far.
fn new_variables(text: &str, (key, value): (&Key<'_>, &Value<'_>), environment: &Variables) -> Option<Edit> {
    // In another form of a server the header would take what comes behind it.
    let (at, newline) = (end_of_line(text, end(text, key, value)), newline(text));
    let start = if text[..at].ends_with('\n') { "" } else { newline };
    let name = key.get_ref();
    let is_bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let name = if is_bare { name.to_string() } else { literal(name) };
    let set: String = environment.iter().map(|(name, value)| format!("{name} = {}{newline}", literal(value))).collect();
    is_header(text, key).then(|| (at..at, format!("{start}{newline}[{SERVERS}.{name}.env]{newline}{set}")))
}

/// Edits of a table of variables.
fn variables_on_lines(text: &str, key: &Key<'_>, env: &Value<'_>, environment: &Variables) -> Option<Vec<Edit>> {
    let all = env.get_ref().as_table()?;
    let edit = |name: &str| match (all.get_key_value(name), environment.iter().find(|(wanted, _)| *wanted == name)) {
        (Some((key, value)), None) => {
            Some((start_of_line(text, key.span().start)..end_of_line(text, value.span().end), String::new()))
        }
        (Some((_, value)), Some((_, wanted))) => Some((value.span(), literal(wanted))),
        (None, Some((_, wanted))) => {
            let at = end_of_line(text, key.span().end);
            let start = if text[..at].ends_with('\n') { "" } else { newline(text) };
            Some((at..at, format!("{start}{name} = {}{}", literal(wanted), newline(text))))
        }
        (None, None) => None,
    };
    Some(LOCATION_VARIABLES.iter().filter_map(|(name, _)| edit(name)).collect())
}

/// An edit of variables on one line.
fn variables_on_one_line(text: &str, env: &Value<'_>, environment: &Variables) -> Option<Edit> {
    let all = env.get_ref().as_table()?;
    let theirs = all.iter().filter(|(key, _)| LOCATION_VARIABLES.iter().all(|(ours, _)| ours != key.get_ref()));
    let theirs = theirs.map(|(key, value)| format!("{} = {}", &text[key.span()], &text[value.span()]));
    let ours = environment.iter().map(|(name, value)| format!("{name} = {}", literal(value)));
    Some((env.span(), format!("{{ {} }}", theirs.chain(ours).collect::<Vec<_>>().join(", "))))
}

/// The text without the lines of an entry, and without the gap before the first of them.
fn without(text: &str, (key, value): (&Key<'_>, &Value<'_>), gap: Option<&str>) -> String {
    let mut lines = Vec::new();
    collect(text, key, value, &mut lines);
    lines.sort_by_key(|lines| lines.start);
    let blocks = lines.into_iter().fold(Vec::<Range<usize>>::new(), |mut blocks, lines| {
        match blocks.last_mut() {
            Some(last) if lines.start <= last.end || text[last.end..lines.start].trim().is_empty() => {
                last.end = last.end.max(lines.end)
            }
            _ => blocks.push(lines),
        }
        blocks
    });
    let mut left = text.to_owned();
    for (at, block) in blocks.into_iter().enumerate().rev() {
        let (before, after) = (&left[..block.start], &left[block.end..]);
        let mut before = gap.filter(|_| at == 0).and_then(|gap| before.strip_suffix(gap)).unwrap_or(before).to_owned();
        if !(before.is_empty() || before.ends_with('\n') || after.is_empty() || after.starts_with(['\r', '\n'])) {
            before.push_str(newline(text));
        }
        left = before + after;
    }
    left
}

/// The lines of an entry: those with what stands below its key, and those of each header further down.
fn collect(text: &str, key: &Key<'_>, value: &Value<'_>, lines: &mut Vec<Range<usize>>) {
    lines.push(start_of_line(text, key.span().start)..end_of_line(text, end(text, key, value)));
    let below = value.get_ref().as_table().into_iter().flatten().filter(|(key, _)| is_header(text, key));
    below.for_each(|(key, value)| collect(text, key, value, lines));
}

/// Where what stands below a key ends, without the headers further down.
fn end(text: &str, key: &Key<'_>, value: &Value<'_>) -> usize {
    match value.get_ref() {
        DeValue::Table(table) if !text[value.span()].starts_with('{') => {
            let below = table.iter().filter(|(key, _)| !is_header(text, key));
            below.map(|(key, value)| end(text, key, value)).fold(key.span().end, usize::max)
        }
        _ => value.span().end.max(key.span().end),
    }
}

/// Does a key stand in the header of a table?
fn is_header(text: &str, key: &Key<'_>) -> bool {
    text[start_of_line(text, key.span().start)..].trim_start().starts_with('[')
}

fn start_of_line(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

fn end_of_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}

#[cfg(test)]
mod tests;
