//! The commands of our hooks in Claude Code's settings: written, and recognised again. Pure.
//!
//! They are in shell form, because older clients ignore `args`. A command is recognised by the words `recall hook <event>` alone, so that
//! one of an older install, with another path, or written by hand is found too. What calls a program of another name has a variable of ours before
//! it, by which it is recognised: other programs have hooks of these names, too.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::quote::shell;
use crate::config::{LOCATION_VARIABLES, PROGRAM};

/// How the variables begin that only recall reads.
const OWN_VARIABLES: &str = "RECALL_";

/// An event that gets a hook.
#[derive(Debug, Clone, Copy)]
pub struct HookEvent {
    /// Its name in the settings.
    pub(crate) name: &'static str,
    /// Our argument for it.
    pub(crate) argument: &'static str,
    /// What the hook is for, of an event that has kinds; empty for all.
    pub(crate) matcher: &'static str,
}

/// The hooks of a client.
#[derive(Debug, Clone, Copy)]
pub struct HookForm {
    /// The hook at a prompt is installed whatever the config says: the config decides when it runs whether anything is injected.
    pub(crate) events: &'static [HookEvent],
    /// How long the client waits for one, in its unit.
    pub(crate) timeout: u64,
    pub(crate) layout: HookLayout,
}

/// How a client has its hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookLayout {
    /// In lists below a matcher, as Claude Code does.
    Nested,
    /// Directly below the event, by names of its own.
    Flat,
    /// Directly below the event, by the names of those below a matcher.
    FlatPlain,
    /// The same without a time, and with a word on whether the user sees what they print.
    FlatUntimed,
    /// In a plugin, which is a file of ours.
    Plugin(Plugin),
}

/// A client whose hooks are functions of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plugin {
    Cline,
    OpenCode,
    Pi,
}

impl HookForm {
    /// Claude Code's, which others have, too.
    pub const USUAL: Self = Self {
        events: &[
            HookEvent::of("SessionStart", "session-start"),
            HookEvent::of("UserPromptSubmit", "user-prompt-submit"),
            HookEvent::of("SessionEnd", "session-end"),
            HookEvent::of("PreCompact", "pre-compact"),
        ],
        timeout: TIMEOUT,
        layout: HookLayout::Nested,
    };
    /// Seen with Gemini CLI 0.61: milliseconds. Before each prompt it asks itself whether to compact, which is told as `auto`.
    pub const GEMINI: Self = Self {
        events: &[
            HookEvent::of("SessionStart", "session-start"),
            HookEvent::of("BeforeAgent", "user-prompt-submit"),
            HookEvent::of("SessionEnd", "session-end"),
            HookEvent { matcher: "manual", ..HookEvent::of("PreCompress", "pre-compact") },
        ],
        timeout: TIMEOUT * 1000,
        layout: HookLayout::Nested,
    };
    /// Seen with Copilot CLI 1.0.102.
    pub const COPILOT: Self = Self {
        events: &[
            HookEvent::of("sessionStart", "session-start"),
            HookEvent::of("userPromptSubmitted", "user-prompt-submit"),
            HookEvent::of("sessionEnd", "session-end"),
            HookEvent::of("preCompact", "pre-compact"),
        ],
        timeout: TIMEOUT,
        layout: HookLayout::Flat,
    };
    /// Cursor's documentation; not tried. At a prompt it takes nothing into the conversation.
    pub const CURSOR: Self = Self {
        events: &[HookEvent::of("sessionStart", "session-start"), HookEvent::of("sessionEnd", "session-end")],
        timeout: TIMEOUT,
        layout: HookLayout::FlatPlain,
    };
    /// Windsurf's documentation; not tried. It takes nothing into the conversation, and writes transcripts for whoever has this hook.
    pub const WINDSURF: Self = Self {
        events: &[HookEvent::of("post_cascade_response_with_transcript", "stop")],
        timeout: TIMEOUT,
        layout: HookLayout::FlatUntimed,
    };
    /// Seen with OpenCode 1.18.33, which tells of no end of a session, but when it has answered.
    pub const OPENCODE: Self = Self {
        events: &[
            HookEvent::of("experimental.chat.system.transform", "session-start"),
            HookEvent::of("chat.message", "user-prompt-submit"),
            HookEvent::of("session.idle", "stop"),
        ],
        timeout: TIMEOUT,
        layout: HookLayout::Plugin(Plugin::OpenCode),
    };
    /// Seen with Pi 0.73.1. It adds to its transcripts and rewrites none, so nothing has to be read before a compaction.
    pub const PI: Self = Self {
        events: &[
            HookEvent::of("session_start", "session-start"),
            HookEvent::of("before_agent_start", "user-prompt-submit"),
            HookEvent::of("session_shutdown", "session-end"),
        ],
        timeout: TIMEOUT,
        layout: HookLayout::Plugin(Plugin::Pi),
    };
    /// Seen with Cline 3.0.65, which tells its plugins of no end of a session, but when it has answered. Its hooks in files add nothing to a
    /// conversation when a session starts or at a prompt.
    pub const CLINE: Self = Self {
        events: &[
            HookEvent::of("rule", "session-start"),
            HookEvent::of("beforeRun", "user-prompt-submit"),
            HookEvent::of("afterRun", "stop"),
        ],
        timeout: TIMEOUT,
        layout: HookLayout::Plugin(Plugin::Cline),
    };

    /// Is a session told anything when it starts?
    pub(crate) fn tells_start(&self) -> bool {
        self.events.iter().any(|event| event.argument == "session-start")
    }
}

impl HookEvent {
    const fn of(name: &'static str, argument: &'static str) -> Self {
        Self { name, argument, matcher: "" }
    }
}

/// All arguments of `recall hook`; those of no [`HookForm`] are for users to add.
const ARGUMENTS: [&str; 7] =
    ["session-start", "user-prompt-submit", "session-end", "pre-compact", "stop", "subagent-stop", "post-compact"];
/// How long the client waits for a hook, in seconds. For SessionEnd it replaces the client's own limit, 1.5 s for all hooks together.
pub(crate) const TIMEOUT: u64 = 5;

/// How hooks and servers call the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invocation {
    /// By its absolute path, with the variables that a session would not have by itself. One of ours is among them if the program has another name.
    Own { program: String, environment: Vec<(&'static str, String)> },
    /// By its name, and only where it is found: a team can commit it.
    Shared,
}

impl Invocation {
    /// The command for one of our arguments.
    pub(crate) fn command(&self, argument: &str) -> String {
        match self {
            Invocation::Own { program, environment } => {
                let set: String = environment.iter().map(|(name, value)| format!("{name}={} ", shell(value))).collect();
                format!("{set}{} hook {argument}", shell(program))
            }
            Invocation::Shared => format!("command -v recall >/dev/null && recall hook {argument} || true"),
        }
    }

    /// A hook's command with this program in it. What a person has put around the call stays.
    pub(crate) fn update(&self, command: &str, call: &HookCall) -> String {
        if call.is_generated {
            return self.command(&call.argument);
        }
        match self {
            Invocation::Own { program, environment } if call.program.starts_with('/') && call.program != *program => {
                let mark = environment.iter().find(|(name, _)| !has_our_name(program) && !call.is_marked && is_our_variable(name));
                // An assignment alone would be no command where something like `nice` stands before it.
                let mark = mark.map(|(name, value)| format!("env {name}={} ", shell(value))).unwrap_or_default();
                format!("{}{mark}{}{}", &command[..call.at.start], shell(program), &command[call.at.end..])
            }
            _ => command.to_owned(),
        }
    }
}

/// A call of `recall hook` in a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCall {
    /// `session-end` …
    pub argument: String,
    /// The word that names the program: a path, or `recall`.
    pub program: String,
    /// Is the call the whole command, as some install would have written it?
    pub is_generated: bool,
    /// Does the command do something else as well?
    pub does_more: bool,
    /// Does a variable of ours stand before the program?
    is_marked: bool,
    /// The program's word in the command, in bytes.
    at: Range<usize>,
}

impl HookCall {
    /// Finds the call in a command, if it is a hook of ours.
    pub(crate) fn find(command: &str) -> Option<Self> {
        let words = words(command);
        let is = |at: usize, text: &str| words.get(at).is_some_and(|w| w.text == text);
        let is_set = |word: &&Word| word.text.split_once('=').is_some_and(|(name, _)| is_name(name));
        let is_marked = |at: usize| {
            let mut before = words[..at].iter().rev().take_while(is_set);
            before.any(|word| word.text.split_once('=').is_some_and(|(name, _)| is_our_variable(name)))
        };
        let start = (0..words.len()).find(|&at| {
            (has_our_name(&words[at].text) || is_marked(at))
                && is(at + 1, "hook")
                && words.get(at + 2).is_some_and(|w| ARGUMENTS.contains(&w.text.as_str()))
        })?;
        let argument = words[start + 2].text.clone();
        let set = |word: &Word| {
            word.text.split_once('=').is_some_and(|(name, _)| LOCATION_VARIABLES.iter().any(|(carried, _)| *carried == name))
        };
        let alone = words.len() == start + 3 && words[..start].iter().all(set);
        let is_generated = alone || command.trim() == Invocation::Shared.command(&argument);
        // `2>&1` is no second command.
        let separates = |at: usize| is(at, ";") || is(at, "|") || is(at, "&") && !(at > 0 && (is(at - 1, ">") || is(at - 1, "<")));
        let does_more = !is_generated && (0..words.len()).any(separates);
        let Word { text: program, at } = &words[start];
        let is_marked = is_marked(start);
        Some(Self { argument, program: program.clone(), is_generated, does_more, is_marked, at: at.clone() })
    }
}

/// Is it our program by its name?
pub(crate) fn has_our_name(program: &str) -> bool {
    program.rsplit('/').next() == Some(PROGRAM)
}

/// Is it a variable that only recall reads?
pub(crate) fn is_our_variable(name: &str) -> bool {
    name.starts_with(OWN_VARIABLES)
}

/// Could a text hold a hook or a server of ours, in whatever form?
pub(crate) fn may_name_us(text: &str) -> bool {
    text.contains(PROGRAM) || text.contains(OWN_VARIABLES)
}

/// Can a variable have this name in a shell?
fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// A word or an operator of a command, unquoted, and where it stands.
struct Word {
    text: String,
    at: Range<usize>,
}

/// A word as it is written, with its quoted parts and escapes, or an operator.
static WORD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?s)(?:'[^']*'?|"(?:\\.|[^"\\])*"?|\\.|[^\s;|&()<>'"\\])+|[;|&()<>]"#).ok());

/// The words of a command, as a POSIX shell separates and unquotes them; nothing is expanded.
fn words(command: &str) -> Vec<Word> {
    let written = WORD.iter().flat_map(|word| word.find_iter(command));
    written.map(|raw| Word { text: shlex::split(raw.as_str()).unwrap_or_default().concat(), at: raw.range() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(program: &str) -> Invocation {
        Invocation::Own { program: program.into(), environment: Vec::new() }
    }

    #[test]
    fn a_command_names_the_program_and_what_a_session_would_not_have() {
        assert_eq!(own("/opt/it's/recall").command("stop"), r"'/opt/it'\''s/recall' hook stop");
        let moved = Invocation::Own { program: "/b/recall".into(), environment: vec![("RECALL_DATA_DIR", "/my data".into())] };
        assert_eq!(moved.command("session-end"), "RECALL_DATA_DIR='/my data' '/b/recall' hook session-end");
    }

    #[test]
    fn ours_is_known_however_it_is_written() {
        let cases = [
            ("'/opt/a b/recall' hook session-end", "/opt/a b/recall", true),
            ("RECALL_DATA_DIR='/d' RECALL_CONFIG='/c' '/x/recall' hook session-end", "/x/recall", true),
            ("command -v recall >/dev/null && recall hook session-end || true", "recall", true),
            ("recall hook session-end", "recall", true),
            ("\"$HOME/.cargo/bin/recall\" hook session-end", "$HOME/.cargo/bin/recall", true),
            ("/x/recall hook session-end 2>>/tmp/log", "/x/recall", false),
            ("nice /x/recall hook session-end&", "/x/recall", false),
            ("OTHER=1 /x/rec\\all hook session-end", "/x/recall", false),
            ("test -x /x/recall && /y/recall hook session-end", "/y/recall", false),
            ("RECALL_DATA_DIR='/d' '/x/recall-dev' hook session-end", "/x/recall-dev", true),
            ("RECALL_DATA_DIR='/d' XDG_CONFIG_HOME=/c /nix/.recall-wrapped hook session-end", "/nix/.recall-wrapped", true),
            ("nice env RECALL_CONFIG='/d' A=b '/x/memory' hook session-end 2>/dev/null", "/x/memory", false),
        ];
        for (command, program, plain) in cases {
            let call = HookCall::find(command).unwrap_or_else(|| panic!("{command}"));
            assert_eq!(
                (call.argument.as_str(), call.program.as_str(), call.is_generated),
                ("session-end", program, plain),
                "{command}"
            );
        }
    }

    #[test]
    fn a_command_that_does_something_else_as_well_is_told_apart() {
        let mixed = |command: &str| HookCall::find(command).map(|call| call.does_more);
        for command in [
            "mytool; recall hook stop", "umask 77 && '/x/recall' hook stop", "cat | /x/recall hook stop", "recall hook stop & wait",
        ] {
            assert_eq!(mixed(command), Some(true), "{command}");
        }
        let shared = Invocation::Shared.command("stop");
        for command in ["recall hook stop", "/x/recall hook stop >/dev/null 2>&1", "nice /x/recall hook stop", shared.as_str()] {
            assert_eq!(mixed(command), Some(false), "{command}");
        }
    }

    #[test]
    fn what_is_not_ours_is_left_alone() {
        for command in [
            "",
            "recall",
            "recall hook",
            "recall hook nothing",
            "echo 'recall hook stop'",
            "recall digest",
            "total-recall hook stop",
            "recall; hook stop",
            "recall > hook stop",
            "/x/recall/bin hook stop",
            "'recall hook stop'",
            "\"/x/rec\\all\" hook stop",
            "recall hook 'stop",
            "/x/recall-dev hook stop",
            "/x/.recall-wrapped hook stop",
            "XDG_DATA_HOME=/d /x/memory hook stop",
            "RECALL_DATA_DIR=/d nice /x/memory hook stop",
            "RECALL_DATA_DIR=/d; /x/memory hook stop",
        ] {
            assert_eq!(HookCall::find(command), None, "{command}");
        }
    }

    #[test]
    fn mending_changes_the_path_and_keeps_what_a_person_added() {
        let cases = [
            ("'/old/recall' hook stop", "'/new/recall' hook stop"),
            ("RECALL_DATA_DIR='/d' /old/recall hook stop", "'/new/recall' hook stop"),
            ("/old/recall hook stop 2>>/tmp/log", "'/new/recall' hook stop 2>>/tmp/log"),
            ("umask 77; '/o l/recall' hook stop", "umask 77; '/new/recall' hook stop"),
            ("recall hook stop 2>/dev/null", "recall hook stop 2>/dev/null"),
            ("/new/recall hook stop 2>/dev/null", "/new/recall hook stop 2>/dev/null"),
        ];
        for (before, after) in cases {
            let call = HookCall::find(before).unwrap();
            assert_eq!(own("/new/recall").update(before, &call), after);
        }
        let named = Invocation::Own { program: "/new/memory".into(), environment: vec![("RECALL_DATA_DIR", "/d".into())] };
        for (before, after) in [
            ("nice /old/recall hook stop 2>>/tmp/log", "nice env RECALL_DATA_DIR='/d' '/new/memory' hook stop 2>>/tmp/log"),
            ("nice env RECALL_DATA_DIR='/d' '/old/memory' hook stop", "nice env RECALL_DATA_DIR='/d' '/new/memory' hook stop"),
            ("'/old/recall' hook stop", "RECALL_DATA_DIR='/d' '/new/memory' hook stop"),
        ] {
            let updated = named.update(before, &HookCall::find(before).unwrap());
            assert_eq!(updated, after);
            assert_eq!(named.update(after, &HookCall::find(after).unwrap()), after);
        }
        let call = HookCall::find("'/old/recall' hook stop").unwrap();
        assert_eq!(Invocation::Shared.update("", &call), "command -v recall >/dev/null && recall hook stop || true");
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_known_again(folder in "[ -~ä]{0,12}", name in "recall|[ -~ä]{1,12}", data in "[ -~ä]{0,12}") {
            let program = format!("/{folder}/{name}");
            let form = Invocation::Own { program: program.clone(), environment: vec![("RECALL_DATA_DIR", data)] };
            let call = HookCall::find(&form.command("pre-compact")).unwrap();
            proptest::prop_assert_eq!((call.argument.as_str(), &call.program, call.is_generated), ("pre-compact", &program, true));
        }
    }
}
