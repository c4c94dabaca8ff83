//! Our plugin of OpenCode's: a file of JavaScript that is all ours and calls our hooks. Pure text → text.

use std::collections::BTreeMap;

use super::hook_command::{HookCall, HookForm, Invocation};
use super::settings::Hook;
use super::strict_json::{Broken, Insertion, Shapes};

/// Seen with OpenCode 1.18.33.
const TEXT: &str = include_str!("opencode_plugin.js");
/// How the first line begins by which the file is known, and the line with the commands.
const FIRST: &str = "// Written by `recall install";
const COMMANDS: &str = "const COMMANDS = ";

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

/// The plugin in place of this text.
///
/// # Errors
/// When the text is somebody else's.
pub(super) fn written(text: &str, invocation: &Invocation, form: HookForm) -> Result<Insertion, Broken> {
    if !text.trim().is_empty() && !is_ours(text) {
        return Err(Broken { line: 1, column: 1, what: "a plugin of somebody else's".to_owned() });
    }
    let commands: BTreeMap<_, _> = form.events.iter().map(|event| (event.name, invocation.command(event.argument))).collect();
    let commands = serde_json::to_string(&commands).unwrap_or_default();
    let text = TEXT.replacen(&format!("{COMMANDS}{{}}"), &format!("{COMMANDS}{commands}"), 1);
    Ok(Insertion { text, shapes: Shapes::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::settings::{add, remove, state};

    #[test]
    fn a_plugin_is_written_known_again_brought_up_to_date_and_taken_away() {
        let own = |program: &str| Invocation::Own { program: program.into(), environment: Vec::new() };
        let new = add("", &own("/opt/it's/recall"), HookForm::OPENCODE, false).unwrap();
        let known = state(&new.text).unwrap();
        assert_eq!(known.missing(HookForm::OPENCODE), [""; 0]);
        assert!(known.hooks.iter().all(|hook| hook.call.program == "/opt/it's/recall" && hook.call.is_generated), "{known:?}");
        assert_eq!(add(&new.text, &own("/opt/it's/recall"), HookForm::OPENCODE, false).unwrap(), new);
        let moved = add(&new.text, &own("/new/recall"), HookForm::OPENCODE, false).unwrap();
        assert!(state(&moved.text).unwrap().hooks.iter().all(|hook| hook.call.program == "/new/recall"));
        assert_eq!(remove(&moved.text, &moved.shapes).unwrap(), "");
        assert!(add("export const Mine = async () => ({})\n", &own("/r"), HookForm::OPENCODE, false).is_err());
    }
}
