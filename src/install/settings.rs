//! Claude Code's settings: our hooks put in, mended and taken out. Pure text → text; every byte that is not ours stays.
//!
//! The client ignores a settings file that is not strict JSON as a whole, without a word (seen with 2.1.197: a comment, a comma too
//! many; a byte order mark is fine, and of two equal keys the last one counts). So such a file is never edited, only located.

mod parse;

use std::collections::BTreeMap;

use jsonc_parser::ast::{Array, Object, Value};

pub use self::parse::{Broken, located, read};
use super::command::{Call, EVENTS, Form as Command, TIMEOUT};
use super::splice::{Container, Edits, Form, Member, New, property, quoted, range_of};

const BOM: char = '\u{feff}';

/// A hook of ours in a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The event it stands under, as the client calls it.
    pub event: String,
    pub command: String,
    pub call: Call,
    /// In seconds.
    pub timeout: Option<u64>,
}

/// What a settings file says that concerns us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    pub hooks: Vec<Hook>,
    /// The user has switched all hooks off.
    pub disabled: bool,
    /// Our plugin is switched on here.
    pub plugin: bool,
}

impl State {
    /// The events we install that have no hook of ours.
    pub fn missing(&self) -> Vec<&'static str> {
        EVENTS.into_iter().filter(|(event, argument)| !self.has(event, argument)).map(|(event, _)| event).collect()
    }

    fn has(&self, event: &str, argument: &str) -> bool {
        self.hooks.iter().any(|h| h.event == event && h.call.argument == argument)
    }
}

/// Containers that were there and empty before we put something in: their name and the bytes they were.
pub type Empties = BTreeMap<String, String>;

/// The name of the outermost object, and of a file without any, among `Empties`.
const ROOT: &str = "";
const BLANK: &str = "file";
const HOOKS: &str = "hooks";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    pub text: String,
    pub empties: Empties,
}

/// What of ours a settings file holds.
///
/// # Errors
/// When it is not what the client reads.
pub fn state(text: &str) -> Result<State, Broken> {
    Ok(read(split(text).1)?.as_ref().map(state_of).unwrap_or_default())
}

fn state_of(root: &Object<'_>) -> State {
    let disabled = matches!(property(root, "disableAllHooks"), Some((_, Value::BooleanLit(lit))) if lit.value);
    let plugins = property(root, "enabledPlugins").and_then(|(_, plugins)| plugins.as_object());
    let is_ours = |name: &str, value: &Value<'_>| {
        name.split('@').next() == Some("recall") && matches!(value, Value::BooleanLit(lit) if lit.value)
    };
    let plugin = plugins.is_some_and(|all| all.properties.iter().any(|p| is_ours(p.name.as_str(), &p.value)));
    State { hooks: found(root).filter(|f| f.counts).map(|f| f.hook).collect(), disabled, plugin }
}

/// The byte order mark, if there is one, and the rest.
fn split(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BOM) { BOM.len_utf8() } else { 0 })
}

/// Puts in the hooks that are missing, and mends those of ours whose program or timeout is another.
///
/// # Errors
/// When the text is not what the client reads.
pub fn add(text: &str, command: &Command) -> Result<Added, Broken> {
    let (mark, text) = split(text);
    let added = match read(text)? {
        Some(root) => add_to(text, &root, command)?,
        None => {
            let all = New::Map(EVENTS.iter().map(|&event| (event.0.into(), New::List(vec![entry(command, event)]))).collect());
            let text_now = Form::usual().document(&[(Some(HOOKS.into()), all)]);
            Added { text: text_now, empties: [(BLANK.to_owned(), text.to_owned())].into() }
        }
    };
    Ok(Added { text: format!("{mark}{}", added.text), ..added })
}

/// A whole number among the settings.
///
/// # Errors
/// When the text is not what the client reads.
pub fn number(text: &str, key: &str) -> Result<Option<i64>, Broken> {
    let root = read(split(text).1)?;
    let value = root.as_ref().and_then(|root| property(root, key));
    Ok(value.and_then(|(_, value)| match value {
        Value::NumberLit(lit) => lit.value.parse().ok(),
        _ => None,
    }))
}

/// Puts a number into the settings, in the place of what is there under its name.
///
/// # Errors
/// When the text is not what the client reads.
pub fn set_number(text: &str, key: &'static str, number: u64) -> Result<String, Broken> {
    let (mark, text) = split(text);
    let member = || vec![(Some(key.into()), New::Number(number))];
    let Some(root) = read(text)? else { return Ok(format!("{mark}{}", Form::usual().document(&member()))) };
    let mut edits = Edits::default();
    match property(&root, key) {
        Some((_, value)) => edits.replace(range_of(value), number.to_string()),
        None => Form::of(text, &root).insert(text, &Container::from(&root), &member(), &mut edits),
    }
    Ok(format!("{mark}{}", edits.apply(text)))
}

fn add_to(text: &str, root: &Object<'_>, command: &Command) -> Result<Added, Broken> {
    let mut empties = Empties::new();
    let mut edits = Edits::default();
    let form = Form::of(text, root);
    mend(text, root, command, &form, &mut edits);
    let present = state_of(root);
    let missing = EVENTS.into_iter().filter(|(event, argument)| !present.has(event, argument));
    let mut put = |name: String, container: &Container, members: &[Member]| {
        if container.members.is_empty() {
            empties.insert(name, text[container.range.clone()].to_owned());
        }
        form.insert(text, container, members, &mut edits);
    };
    let Some((_, hooks)) = property(root, HOOKS) else {
        let all = missing.map(|event| (event.0.into(), New::List(vec![entry(command, event)]))).collect();
        put(ROOT.into(), &root.into(), &[(Some(HOOKS.into()), New::Map(all))]);
        return Ok(Added { text: edits.apply(text), empties });
    };
    let hooks = hooks.as_object().ok_or_else(|| located(text, range_of(hooks).start, "`hooks` is no object".into()))?;
    let mut members = Vec::new();
    for event in missing {
        match property(hooks, event.0) {
            None => members.push((Some(event.0.into()), New::List(vec![entry(command, event)]))),
            Some((_, Value::Array(list))) => put(format!("{HOOKS}.{}", event.0), &list.into(), &[(None, entry(command, event))]),
            Some((_, other)) => return Err(located(text, range_of(other).start, format!("`hooks.{}` is no array", event.0))),
        }
    }
    if !members.is_empty() {
        put(HOOKS.into(), &hooks.into(), &members);
    }
    Ok(Added { text: edits.apply(text), empties })
}

fn entry(command: &Command, (_, argument): (&str, &str)) -> New {
    let hook = vec![
        ("type".into(), New::Text("command".into())),
        ("command".into(), New::Text(command.command(argument))),
        ("timeout".into(), New::Number(TIMEOUT)),
    ];
    New::Map(vec![("hooks".into(), New::List(vec![New::Map(hook)]))])
}

/// Brings what is there of ours up to date, and takes out what would run twice.
fn mend(text: &str, root: &Object<'_>, command: &Command, form: &Form, edits: &mut Edits) {
    let mut seen = Vec::new();
    let mut twice = Vec::new();
    for found in found(root).filter(|f| f.counts) {
        let key = (found.hook.event.clone(), found.hook.call.argument.clone(), found.matcher);
        if seen.contains(&key) && !found.hook.call.mixed {
            twice.push(found.at);
            continue;
        }
        seen.push(key);
        let mended = command.mend(&found.hook.command, &found.hook.call);
        if mended != found.hook.command {
            edits.replace(range_of(found.command), quoted(&mended));
        }
        match property(found.object, "timeout") {
            // How long somebody's own command may take is theirs to say.
            _ if found.hook.call.mixed => {}
            None => form.insert(text, &found.object.into(), &[(Some("timeout".into()), New::Number(TIMEOUT))], edits),
            Some(_) if found.hook.timeout == Some(TIMEOUT) => {}
            Some((_, value)) => edits.replace(range_of(value), TIMEOUT.to_string()),
        }
    }
    take_out(root, &twice, &Empties::new(), edits);
}

/// Takes out every hook of ours, and what is empty then: except for what was there and empty before.
///
/// # Errors
/// When the text is not what the client reads.
pub fn remove(text: &str, empties: &Empties) -> Result<String, Broken> {
    let (mark, text) = split(text);
    let Some(root) = read(text)? else { return Ok(format!("{mark}{text}")) };
    // A command that does something else as well is somebody's own, and stays.
    let ours: Vec<At> = found(&root).filter(|f| !f.hook.call.mixed).map(|f| f.at).collect();
    let mut edits = Edits::default();
    if take_out(&root, &ours, empties, &mut edits) {
        if let Some(blank) = empties.get(BLANK) {
            return Ok(format!("{mark}{blank}"));
        }
        edits.replace(range_of(&root), empties.get(ROOT).map_or("{}", String::as_str));
    }
    Ok(format!("{mark}{}", edits.apply(text)))
}

/// Takes out the hooks at these places, and what they leave empty. Is the root empty then? It is not edited in that case.
fn take_out(root: &Object<'_>, gone: &[At], empties: &Empties, edits: &mut Edits) -> bool {
    let Some((hooks_at, Value::Object(hooks))) = property(root, HOOKS) else { return false };
    let mut inner = Edits::default();
    let mut empty_events = Vec::new();
    for (event_at, event) in hooks.properties.iter().enumerate() {
        let Some(list) = event.value.as_array() else { continue };
        if !take_out_of_event(list, event_at, gone, &mut inner) {
            continue;
        }
        match empties.get(&format!("{HOOKS}.{}", event.name.as_str())) {
            Some(was) => inner.replace(range_of(list), was.as_str()),
            None => empty_events.push(event_at),
        }
    }
    let events = Container::from(hooks);
    if empty_events.len() < events.members.len() || empty_events.is_empty() {
        events.remove(&empty_events, &mut inner);
        edits.extend(inner);
        return false;
    }
    match empties.get(HOOKS) {
        Some(was) => edits.replace(range_of(hooks), was.as_str()),
        None if root.properties.len() == 1 => return true,
        None => Container::from(root).remove(&[hooks_at], edits),
    }
    false
}

/// Is the event's list left empty?
fn take_out_of_event(list: &Array<'_>, event_at: usize, gone: &[At], edits: &mut Edits) -> bool {
    let mut inner = Edits::default();
    let mut empty = Vec::new();
    for (entry_at, entry) in list.elements.iter().enumerate() {
        let Some(hooks) = entry.as_object().and_then(|e| property(e, HOOKS)).and_then(|(_, hooks)| hooks.as_array()) else {
            continue;
        };
        let here: Vec<usize> = gone.iter().filter(|at| at.event == event_at && at.entry == entry_at).map(|at| at.hook).collect();
        if here.is_empty() {
            continue;
        }
        if here.len() == hooks.elements.len() {
            empty.push(entry_at);
        } else {
            Container::from(hooks).remove(&here, &mut inner);
        }
    }
    if !empty.is_empty() && empty.len() == list.elements.len() {
        return true;
    }
    Container::from(list).remove(&empty, &mut inner);
    edits.extend(inner);
    false
}

/// Where a hook stands: the event's property, the entry of its list, the hook of that entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct At {
    event: usize,
    entry: usize,
    hook: usize,
}

/// A hook of ours in the parsed text.
struct Found<'a, 't> {
    hook: Hook,
    at: At,
    /// Is its event the last of that name? The client reads no other.
    counts: bool,
    matcher: String,
    object: &'a Object<'t>,
    command: &'a Value<'t>,
}

/// Every hook of ours, in the order of the text. What has another form than the client's is passed over.
fn found<'a, 't>(root: &'a Object<'t>) -> impl Iterator<Item = Found<'a, 't>> {
    let events =
        property(root, HOOKS).and_then(|(_, hooks)| hooks.as_object()).map(|h| h.properties.as_slice()).unwrap_or_default();
    events.iter().enumerate().flat_map(|(event_at, event)| {
        let counts = !events[event_at + 1..].iter().any(|later| later.name.as_str() == event.name.as_str());
        let list = event.value.as_array().map(|list| list.elements.as_slice()).unwrap_or_default();
        list.iter().enumerate().filter_map(|(at, e)| Some((at, e.as_object()?))).flat_map(move |(entry_at, entry)| {
            let matcher = match property(entry, "matcher") {
                Some((_, Value::StringLit(text))) if text.value != "*" => text.value.clone().into_owned(),
                _ => String::new(),
            };
            let hooks = property(entry, HOOKS).and_then(|(_, h)| h.as_array()).map(|h| h.elements.as_slice()).unwrap_or_default();
            hooks.iter().enumerate().filter_map(move |(hook_at, hook)| {
                let at = At { event: event_at, entry: entry_at, hook: hook_at };
                let object = hook.as_object()?;
                let (hook, command) = one(event.name.as_str(), object)?;
                Some(Found { hook, at, counts, matcher: matcher.clone(), object, command })
            })
        })
    })
}

fn one<'a, 't>(event: &str, object: &'a Object<'t>) -> Option<(Hook, &'a Value<'t>)> {
    let (_, value) = property(object, "command")?;
    let command = value.as_string_lit()?.value.to_string();
    let call = Call::find(&command)?;
    let timeout = match property(object, "timeout") {
        Some((_, Value::NumberLit(number))) => number.value.parse().ok(),
        _ => None,
    };
    Some((Hook { event: event.to_owned(), command, call, timeout }, value))
}

#[cfg(test)]
mod tests;
