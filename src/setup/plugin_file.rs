//! Our plugins of clients whose hooks are functions: files of JavaScript that are all ours and call our hooks. Pure text → text.
//!
//! Each begins with `plugins/call.js`, which runs a hook, and goes on with the file of its client.

use std::collections::BTreeMap;

use super::hook_command::{HookCall, HookForm, Invocation, Plugin};
use super::settings::Hook;
use super::strict_json::{Broken, Insertion, Shapes};

/// What all have: how a hook is called.
const CALL: &str = include_str!("plugins/call.js");
/// What stands there for the agent as an option names it.
const AGENT: &str = "--agent AGENT`";
/// How the first line begins by which the file is known, and the line with the commands.
const FIRST: &str = "// Written by `recall install";
const COMMANDS: &str = "const COMMANDS = ";

/// A client's agent as an option names it, and what its plugin has of its own.
fn own(plugin: Plugin) -> (&'static str, &'static str) {
    match plugin {
        // Seen with OpenCode 1.18.33.
        Plugin::OpenCode => ("opencode", include_str!("plugins/opencode.js")),
        // Seen with Cline 3.0.65.
        Plugin::Cline => ("cline", include_str!("plugins/cline.js")),
        // Seen with Pi 0.73.1.
        Plugin::Pi => ("pi", include_str!("plugins/pi.js")),
    }
}

/// Is a text a plugin of ours, of whatever version?
pub(super) fn is_ours(text: &str) -> bool {
    text.starts_with(FIRST)
}

/// The hooks that it calls.
pub(super) fn hooks(text: &str) -> Vec<Hook> {
    let commands = text.lines().find_map(|line| line.strip_prefix(COMMANDS)).unwrap_or_default();
    let commands: BTreeMap<String, String> = serde_json::from_str(commands).unwrap_or_default();
    let hook = |(event, command): (String, String)| Some(Hook { event, call: HookCall::find(&command)?, command, timeout: None });
    commands.into_iter().filter_map(hook).collect()
}

/// The plugin of a client in place of this text.
///
/// # Errors
/// When the text is somebody else's.
pub(super) fn written(text: &str, plugin: Plugin, invocation: &Invocation, form: HookForm) -> Result<Insertion, Broken> {
    if !text.trim().is_empty() && !is_ours(text) {
        return Err(Broken { line: 1, column: 1, what: "a plugin of somebody else's".to_owned() });
    }
    let commands: BTreeMap<_, _> = form.events.iter().map(|event| (event.name, invocation.command(event.argument))).collect();
    let commands = serde_json::to_string(&commands).unwrap_or_default();
    let (agent, own) = own(plugin);
    let call = CALL.replacen(AGENT, &format!("--agent {agent}`"), 1);
    let call = call.replacen(&format!("{COMMANDS}{{}}"), &format!("{COMMANDS}{commands}"), 1);
    Ok(Insertion { text: call + own, shapes: Shapes::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::settings::{add, remove, state};

    #[test]
    fn a_plugin_is_written_known_again_brought_up_to_date_and_taken_away() {
        [HookForm::OPENCODE, HookForm::PI, HookForm::CLINE].into_iter().for_each(is_written_and_taken_away);
    }

    fn is_written_and_taken_away(form: HookForm) {
        let own = |program: &str| Invocation::Own { program: program.into(), environment: Vec::new() };
        let new = add("", &own("/opt/it's/recall"), form, false).unwrap();
        let known = state(&new.text).unwrap();
        assert_eq!(known.missing(form), [""; 0]);
        for event in form.events {
            assert!(new.text.contains(&format!("told(\"{}\"", event.name)), "{}: {}", event.name, new.text);
        }
        assert!(known.hooks.iter().all(|hook| hook.call.program == "/opt/it's/recall" && hook.call.is_generated), "{known:?}");
        assert_eq!(add(&new.text, &own("/opt/it's/recall"), form, false).unwrap(), new);
        let moved = add(&new.text, &own("/new/recall"), form, false).unwrap();
        assert!(state(&moved.text).unwrap().hooks.iter().all(|hook| hook.call.program == "/new/recall"));
        assert_eq!(remove(&moved.text, &moved.shapes).unwrap(), "");
        assert!(add("export const Mine = async () => ({})\n", &own("/r"), form, false).is_err());
    }
}
