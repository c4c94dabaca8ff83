//! The hooks in Claude Code's settings, and the rule that permits our server's tools: added, updated and removed. Pure text → text; see [`super::strict_json`] for what stays.
//!
//! A byte order mark at the start is fine for the client (seen with 2.1.197) and stays.

use std::path::Path;

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp};
use jsonc_parser::json;
use transcripts::client::Client;

use super::hook_command::{HookCall, HookEvent, HookForm, HookLayout, Invocation};
use super::plugin_file;
use super::strict_json::{Broken, Insertion, JsonDocument, ROOT, Shapes, property, remember, string, value, was_empty};

const BOM: char = '\u{feff}';
const HOOKS: &str = "hooks";
/// Of a file of flat hooks alone. Stands among the shapes of a file into which we wrote it.
const VERSION: &str = "version";
const PERMISSIONS: &str = "permissions";
const ALLOW: &str = "allow";
const ALLOW_PATH: &str = "permissions.allow";
/// Permits every tool of our server, as the client names it (docs; seen with 2.1.330).
pub(crate) const RULE: &str = "mcp__recall";
/// Stands among the shapes of a file into which we wrote the rule: one that the user wrote stays.
const PERMITTED: &str = "permitted";

/// A hook of ours in a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The event it stands under, as the client calls it.
    pub event: String,
    pub command: String,
    pub call: HookCall,
    /// In the client's unit.
    pub timeout: Option<u64>,
}

/// What a settings file says that concerns us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingsState {
    pub hooks: Vec<Hook>,
    /// The user has switched all hooks off.
    pub disabled: bool,
    /// Our plugin is switched on here.
    pub plugin: bool,
    /// The tools of our server may be called without a question.
    pub permitted: bool,
}

impl SettingsState {
    fn of(top: &CstObject) -> Self {
        let plugins = value(top, "enabledPlugins").and_then(|plugins| plugins.as_object());
        let is_ours = |plugin: &CstObjectProp| {
            plugin.decoded_name().is_some_and(|name| name.split('@').next() == Some("recall")) && is_true(plugin.value())
        };
        Self {
            hooks: found(top).into_iter().filter(|f| f.counts).map(|f| f.hook).collect(),
            disabled: is_true(value(top, "disableAllHooks")),
            plugin: plugins.is_some_and(|all| all.properties().iter().any(is_ours)),
            permitted: !rules(top).is_empty(),
        }
    }

    /// The events we install that have no hook of ours.
    pub fn missing(&self, form: HookForm) -> Vec<&'static str> {
        form.events.iter().filter(|event| !self.has(event)).map(|event| event.name).collect()
    }

    fn has(&self, event: &HookEvent) -> bool {
        self.hooks.iter().any(|h| h.event == event.name && h.call.argument == event.argument)
    }
}

fn is_true(node: Option<CstNode>) -> bool {
    node.and_then(|node| node.as_boolean_lit()).is_some_and(|lit| lit.value())
}

/// Our part of a settings file.
pub fn state(text: &str) -> Result<SettingsState, Broken> {
    if plugin_file::is_ours(text) {
        return Ok(SettingsState { hooks: plugin_file::hooks(text), ..SettingsState::default() });
    }
    Ok(JsonDocument::parse(split(text).1)?.map(|document| SettingsState::of(&document.top)).unwrap_or_default())
}

/// The same of the file in which a client has its hooks in this form: a plugin of somebody else's has none.
pub(crate) fn state_in(form: HookForm, text: &str) -> Result<SettingsState, Broken> {
    if matches!(form.layout, HookLayout::Plugin(_)) && !plugin_file::is_ours(text) {
        Ok(SettingsState::default())
    } else {
        state(text)
    }
}

/// Where a settings file is broken, and what Claude Code does then, if it is the one that reads it.
pub(crate) fn located(path: &Path, reader: Client, broken: &Broken) -> String {
    let located = broken.located(path);
    match reader {
        Client::ClaudeCode => format!("{located} (Claude Code ignores a settings file that is not strict JSON)"),
        _ => located,
    }
}

/// The byte order mark, if there is one, and the rest.
pub(super) fn split(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BOM) { BOM.len_utf8() } else { 0 })
}

/// A whole number among the settings, however it is written: `365.0` and `1e6` are numbers to the client, too.
///
/// # Errors
/// Also when the setting is there and is no whole number.
pub(crate) fn number(text: &str, key: &str) -> Result<Option<i64>, Broken> {
    let Some(document) = JsonDocument::parse(split(text).1)? else { return Ok(None) };
    let Some(setting) = value(&document.top, key) else { return Ok(None) };
    let number = setting.as_number_lit().and_then(|number| number.to_string().parse::<f64>().ok());
    match number.filter(|number| number.fract() == 0.0) {
        // What is too large for an integer is the largest one.
        Some(whole) => Ok(Some(whole as i64)),
        None => Err(document.broken(&setting, format!("`{key}` is no whole number"))),
    }
}

/// The names of the variables that the settings give the client, by `env`; an empty one counts as none.
pub(crate) fn variables(text: &str) -> Result<Vec<String>, Broken> {
    let document = JsonDocument::parse(split(text).1)?;
    let env = document.as_ref().and_then(|document| value(&document.top, "env")?.as_object());
    let is_set =
        |variable: &CstObjectProp| variable.value().and_then(|value| string(&value)).is_some_and(|value| !value.is_empty());
    let set = env.iter().flat_map(|env| env.properties()).filter(is_set);
    Ok(set.filter_map(|variable| variable.decoded_name()).collect())
}

/// Sets a number among the settings.
pub(crate) fn set_number(text: &str, key: &str, number: u64) -> Result<String, Broken> {
    let (mark, text) = split(text);
    let document = JsonDocument::parse_or_new(text, &mut Shapes::new())?;
    match property(&document.top, key) {
        Some(property) => property.set_value(number.into()),
        None => drop(document.top.append(key, number.into())),
    }
    Ok(format!("{mark}{document}"))
}

/// Adds the hooks that are missing, and updates those of ours whose program or timeout is another. With `allow`, adds [`RULE`].
pub fn add(text: &str, invocation: &Invocation, form: HookForm, allow: bool) -> Result<Insertion, Broken> {
    if let HookLayout::Plugin(plugin) = form.layout {
        return plugin_file::written(text, plugin, invocation, form);
    }
    let (mark, body) = split(text);
    let mut shapes = Shapes::new();
    let document = JsonDocument::parse_or_new(body, &mut shapes)?;
    // Before the first edit, while places in the tree are those of the file.
    let (hooks, missing) = missing(&document, form)?;
    let permissions = if allow { Some(permissions(&document)?) } else { None };
    update(&document, invocation, (form.layout != HookLayout::FlatUntimed).then_some(form.timeout));
    match hooks {
        Some(hooks) => missing.into_iter().for_each(|missing| insert(form, &hooks, missing, invocation, &mut shapes)),
        None => {
            let of_event = |m: Missing| (m.event.name.to_owned(), json!([(entry(form, invocation, m.event))]));
            let all: Vec<_> = missing.into_iter().map(of_event).collect();
            remember(&mut shapes, ROOT, document.top.clone());
            if matches!(form.layout, HookLayout::Flat | HookLayout::FlatPlain) && document.top.properties().is_empty() {
                shapes.insert(VERSION.to_owned(), String::new());
                document.top.append(VERSION, 1_u64.into());
            }
            document.top.append(HOOKS, all.into());
        }
    }
    if let Some(permissions) = permissions.filter(|_| rules(&document.top).is_empty()) {
        permit(&document.top, permissions, &mut shapes);
    }
    Ok(Insertion { text: format!("{mark}{document}"), shapes }.with_needed_shapes(text, remove))
}

/// A hook that is to be added, and the list it goes into, if there is one.
struct Missing {
    event: &'static HookEvent,
    list: Option<CstArray>,
}

fn missing(document: &JsonDocument, form: HookForm) -> Result<(Option<CstObject>, Vec<Missing>), Broken> {
    let hooks = value(&document.top, HOOKS);
    let hooks = hooks.map(|hooks| hooks.as_object().ok_or_else(|| document.broken(&hooks, "`hooks` is no object"))).transpose()?;
    let present = SettingsState::of(&document.top);
    let missing = form.events.iter().filter(|event| !present.has(event));
    let missing = missing.map(|event| {
        let list = hooks.as_ref().and_then(|hooks| value(hooks, event.name));
        let list = list.map(|list| {
            list.as_array().ok_or_else(|| document.broken(&list, format!("`hooks.{event}` is no array", event = event.name)))
        });
        Ok(Missing { event, list: list.transpose()? })
    });
    let missing = missing.collect::<Result<_, _>>()?;
    Ok((hooks, missing))
}

/// The permissions, and the list of what is allowed, if there are any.
type Permissions = (Option<CstObject>, Option<CstArray>);

fn permissions(document: &JsonDocument) -> Result<Permissions, Broken> {
    let all = value(&document.top, PERMISSIONS);
    let all = all.map(|all| all.as_object().ok_or_else(|| document.broken(&all, "`permissions` is no object"))).transpose()?;
    let list = all.as_ref().and_then(|all| value(all, ALLOW));
    let list = list.map(|list| list.as_array().ok_or_else(|| document.broken(&list, "`permissions.allow` is no array")));
    Ok((all, list.transpose()?))
}

fn permit(top: &CstObject, permissions: Permissions, shapes: &mut Shapes) {
    shapes.insert(PERMITTED.to_owned(), String::new());
    match permissions {
        (_, Some(list)) => {
            remember(shapes, ALLOW_PATH, list.clone());
            list.append(RULE.into());
        }
        (Some(all), None) => {
            remember(shapes, PERMISSIONS, all.clone());
            all.append(ALLOW, json!([RULE]));
        }
        (None, None) => {
            remember(shapes, ROOT, top.clone());
            top.append(PERMISSIONS, json!({ "allow": [RULE] }));
        }
    }
}

/// Our rule among what is allowed, as often as it stands there.
fn rules(top: &CstObject) -> Vec<CstNode> {
    let list = value(top, PERMISSIONS).and_then(|all| value(&all.as_object()?, ALLOW)?.as_array());
    let is_ours = |node: &CstNode| string(node).is_some_and(|text| text == RULE);
    list.iter().flat_map(|list| list.elements()).filter(is_ours).collect()
}

/// Removes the rule, and what is empty then, except for what was empty before.
fn withdraw(top: &CstObject, shapes: &Shapes) {
    rules(top).into_iter().for_each(CstNode::remove);
    let Some(all) = property(top, PERMISSIONS) else { return };
    let Some(object) = all.object_value() else { return };
    if let Some(list) = property(&object, ALLOW)
        && list.array_value().is_some_and(|list| list.elements().is_empty())
        && !was_empty(shapes, ALLOW_PATH)
    {
        list.remove();
    }
    if object.properties().is_empty() && !was_empty(shapes, PERMISSIONS) {
        all.remove();
    }
}

fn insert(form: HookForm, hooks: &CstObject, missing: Missing, invocation: &Invocation, shapes: &mut Shapes) {
    let Missing { event, list } = missing;
    let Some(list) = list else {
        remember(shapes, HOOKS, hooks.clone());
        hooks.append(event.name, json!([(entry(form, invocation, event))]));
        return;
    };
    remember(shapes, &format!("{HOOKS}.{}", event.name), list.clone());
    if !list.elements().is_empty() {
        list.ensure_multiline();
    }
    list.append(entry(form, invocation, event));
}

fn entry(form: HookForm, invocation: &Invocation, event: &HookEvent) -> CstInputValue {
    let (command, timeout) = (invocation.command(event.argument), form.timeout);
    match form.layout {
        HookLayout::Flat => return json!({ "type": "command", "bash": command, "timeoutSec": timeout }),
        HookLayout::FlatPlain => return json!({ "command": command, "timeout": timeout }),
        HookLayout::FlatUntimed => return json!({ "command": command, "show_output": false }),
        HookLayout::Nested | HookLayout::Plugin(_) => {}
    }
    let hooks = json!([{ "type": "command", "command": command, "timeout": timeout }]);
    if event.matcher.is_empty() { json!({ "hooks": (hooks) }) } else { json!({ "matcher": (event.matcher), "hooks": (hooks) }) }
}

/// Updates the program of our hooks, and the timeout where they have one, and removes duplicates, which would run twice.
fn update(document: &JsonDocument, invocation: &Invocation, timeout: Option<u64>) {
    let mut seen = Vec::new();
    let mut twice = Vec::new();
    for found in found(&document.top).into_iter().filter(|f| f.counts) {
        let key = (found.hook.event.clone(), found.hook.call.argument.clone(), found.matcher.clone());
        if seen.contains(&key) && !found.hook.call.does_more {
            twice.push(found);
            continue;
        }
        seen.push(key);
        let updated = invocation.update(&found.hook.command, &found.hook.call);
        if updated != found.hook.command {
            found.command.set_value(updated.into());
        }
        let (name, Some(timeout)) = (found.timeout_name, timeout) else { continue };
        match property(&found.object, name) {
            // How long a command of the user's own may take is theirs to say.
            _ if found.hook.call.does_more => {}
            None => drop(found.object.append(name, timeout.into())),
            Some(_) if found.hook.timeout == Some(timeout) => {}
            Some(other) => other.set_value(timeout.into()),
        }
    }
    take_out(&document.top, twice, &Shapes::new());
}

/// Removes every hook of ours, the rule if we wrote it, and what is empty then, except for what was empty before.
pub fn remove(text: &str, shapes: &Shapes) -> Result<String, Broken> {
    if plugin_file::is_ours(text) {
        return Ok(String::new());
    }
    let (mark, body) = split(text);
    let Some(document) = JsonDocument::parse(body)? else { return Ok(text.to_owned()) };
    // A command that does something else as well is the user's own, and stays.
    let ours: Vec<FoundHook> = found(&document.top).into_iter().filter(|f| !f.hook.call.does_more).collect();
    let permitted = shapes.contains_key(PERMITTED) && !rules(&document.top).is_empty();
    if ours.is_empty() && !permitted {
        return Ok(text.to_owned());
    }
    take_out(&document.top, ours, shapes);
    if shapes.contains_key(VERSION) && property(&document.top, HOOKS).is_none() {
        property(&document.top, VERSION).into_iter().for_each(CstObjectProp::remove);
    }
    if permitted {
        withdraw(&document.top, shapes);
    }
    let hooks = value(&document.top, HOOKS).and_then(|hooks| hooks.as_object());
    let lists = hooks
        .iter()
        .flat_map(|hooks| hooks.properties())
        .filter_map(|event| Some((format!("{HOOKS}.{}", event.decoded_name()?), event.array_value()?.into())));
    let mut paths: Vec<_> = lists.chain(hooks.clone().map(|hooks| (HOOKS.to_owned(), hooks.into()))).collect();
    if permitted && let Some(all) = value(&document.top, PERMISSIONS).and_then(|all| all.as_object()) {
        paths.extend(value(&all, ALLOW).and_then(|list| list.as_array()).map(|list| (ALLOW_PATH.to_owned(), list.into())));
        paths.push((PERMISSIONS.to_owned(), all.into()));
    }
    Ok(format!("{mark}{}", document.restore(paths, shapes)))
}

fn take_out(top: &CstObject, gone: Vec<FoundHook>, shapes: &Shapes) {
    if gone.is_empty() {
        return;
    }
    for found in gone {
        found.object.remove();
        if let Some((entry, hooks)) = found.within {
            if !hooks.elements().is_empty() {
                continue;
            }
            entry.remove();
        }
        let path = format!("{HOOKS}.{}", found.hook.event);
        if found.list.elements().is_empty() && !was_empty(shapes, &path) {
            found.event.remove();
        }
    }
    if let Some(hooks) = property(top, HOOKS)
        && hooks.object_value().is_some_and(|events| events.properties().is_empty())
        && !was_empty(shapes, HOOKS)
    {
        hooks.remove();
    }
}

/// A hook of ours in a document, and the nodes that lead to it.
struct FoundHook {
    hook: Hook,
    event: CstObjectProp,
    /// Is its event the last property of that name? The client ignores earlier ones.
    counts: bool,
    list: CstArray,
    /// What it stands in within the list, and beside which others, where hooks are not flat.
    within: Option<(CstObject, CstArray)>,
    matcher: String,
    object: CstObject,
    command: CstObjectProp,
    /// What the time is called that the client waits for it.
    timeout_name: &'static str,
}

/// Every hook of ours, in the order of the text. What has not the structure that the client reads is skipped.
fn found(top: &CstObject) -> Vec<FoundHook> {
    let events = value(top, HOOKS).and_then(|hooks| hooks.as_object()).map(|hooks| hooks.properties()).unwrap_or_default();
    let names: Vec<String> = events.iter().map(|event| event.decoded_name().unwrap_or_default()).collect();
    let of_event = |(at, event): (usize, &CstObjectProp)| {
        let counts = !names[at + 1..].contains(&names[at]);
        let lists = event.array_value().into_iter();
        let entries = lists.flat_map(|list| list.elements().into_iter().map(move |entry| (list.clone(), entry)));
        entries.flat_map(|(list, entry)| of_entry(&names[at], event, counts, &list, &entry)).collect::<Vec<_>>()
    };
    events.iter().enumerate().flat_map(of_event).collect()
}

fn of_entry(name: &str, event: &CstObjectProp, counts: bool, list: &CstArray, entry: &CstNode) -> Vec<FoundHook> {
    let Some(entry) = entry.as_object() else { return Vec::new() };
    let matcher = value(&entry, "matcher").and_then(|node| string(&node)).filter(|text| text != "*").unwrap_or_default();
    let one = |object: CstObject, within: Option<(CstObject, CstArray)>| {
        let (command, timeout_name) = match property(&object, "bash").filter(|_| within.is_none()) {
            Some(command) => (command, "timeoutSec"),
            None if within.is_some() || is_flat_event(name) => (property(&object, "command")?, "timeout"),
            None => return None,
        };
        let text = string(&command.value()?)?;
        let call = HookCall::find(&text)?;
        let timeout = value(&object, timeout_name).and_then(|node| node.as_number_lit()?.to_string().parse().ok());
        let hook = Hook { event: name.to_owned(), command: text, call, timeout };
        let (event, list, matcher) = (event.clone(), list.clone(), matcher.clone());
        Some(FoundHook { hook, event, counts, list, within, matcher, object, command, timeout_name })
    };
    let Some(hooks) = value(&entry, HOOKS).and_then(|hooks| hooks.as_array()) else {
        return one(entry, None).into_iter().collect();
    };
    let nested = hooks.elements().into_iter().filter_map(|hook| hook.as_object());
    nested.filter_map(|hook| one(hook, Some((entry.clone(), hooks.clone())))).collect()
}

/// Is it an event of a client whose hooks stand directly below it? Claude Code's begin with a capital, and below them it reads none.
fn is_flat_event(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
}

#[cfg(test)]
mod tests;
