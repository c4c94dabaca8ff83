//! Starting `claude`: the only file that does.
//!
//! The child gets no tools, no hooks, no MCP servers, no project, writes no transcript, and is bounded in time and output. A client that
//! does not know a flag is called without it.

use std::io;
use std::path::Path;

use subprocess::{Exec, ExitStatus, InputData, Redirection};

use super::{Claude, report};
use crate::child::{self, Bounds, Cut, Ran};
use crate::clean::{one_line, plain, shorten};
use crate::config::{Config, GUARD};
use crate::redact::Redactor;
use crate::stop;
use crate::summarize::{Failure, Request};

/// The most a child may print; a reply has a few kilobytes.
const MAX_OUTPUT: usize = 2 << 20;
/// How long a question about itself may take: starting the client takes a second on a slow machine.
const ASK_SECONDS: u64 = 20;

/// Over the user's own settings: no hooks, the answer as one object and not as a list of all that happened, no instructions of a style.
const SETTINGS: &str = r#"{"disableAllHooks":true,"verbose":false,"viewMode":"default","outputStyle":"default"}"#;

/// Flags that keep the request small and the child quiet, with their values. A client that does not know one goes without.
const FLAGS: &[(&str, Option<&str>)] = &[
    ("--setting-sources", Some("user")),
    ("--no-session-persistence", None),
    ("--settings", Some(SETTINGS)),
    ("--tools", Some("")),
    ("--strict-mcp-config", None),
    ("--max-turns", Some("1")),
];
/// Without these the client sends its own instructions and tools along.
pub const SIZE_FLAGS: [&str; 3] = ["--tools", "--system-prompt", "--setting-sources"];
/// Where `--tools` is not known, these are taken away by name.
const TOOLS: &str = "Bash,Edit,MultiEdit,Write,NotebookEdit,Read,Glob,Grep,LS,Task,Agent,WebFetch,WebSearch,TodoWrite";

impl Claude {
    pub(super) fn arguments(&self, system: &str) -> Vec<String> {
        let unknown = self.unknown();
        let known = |flag: &str| !unknown.iter().any(|u| u == flag);
        let mut all: Vec<String> = ["-p", "--output-format", "json", "--model", &self.model].map(str::to_owned).into();
        for (flag, value) in FLAGS.iter().filter(|(flag, _)| known(flag)) {
            all.push((*flag).to_owned());
            all.extend(value.map(str::to_owned));
        }
        if !known("--tools") && known("--disallowedTools") {
            all.extend(["--disallowedTools".to_owned(), TOOLS.to_owned()]);
        }
        let flag = ["--system-prompt", "--append-system-prompt"].into_iter().find(|f| known(f));
        all.extend(flag.into_iter().flat_map(|flag| [flag.to_owned(), system.to_owned()]));
        all
    }

    /// The instructions go in front of the record when the client has no flag for them.
    fn stdin(arguments: &[String], request: &Request) -> Vec<u8> {
        let told = arguments.iter().any(|a| a.ends_with("system-prompt"));
        let instructions = if told { String::new() } else { format!("{}\n\n", request.system) };
        format!("{instructions}{}", unmentioned(&request.stdin)).into_bytes()
    }

    /// Runs the child once, within its limits. Whatever happens, none of its process group is left.
    pub(super) fn run(&self, arguments: &[String], request: &Request) -> Result<Ran, Failure> {
        self.run_child(arguments, request).unwrap_or_else(|e| {
            let what = format!("cannot run {}: {e}", self.command.display());
            Err(Failure::Model { what, cost_usd: Some(0.0) })
        })
    }

    fn run_child(&self, arguments: &[String], request: &Request) -> io::Result<Result<Ran, Failure>> {
        crate::private::create_dir(&self.child_dir)?;
        let job = quiet(&self.command, &self.child_dir)
            .args(arguments)
            .env("MAX_THINKING_TOKENS", "0")
            // Models that think whatever they are told think little.
            .env("CLAUDE_CODE_EFFORT_LEVEL", "low")
            .env("CLAUDE_CODE_MAX_OUTPUT_TOKENS", self.most_answered().to_string())
            .env("CLAUDE_CODE_MAX_RETRIES", "0")
            .env("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")
            // What the user told Claude Code to keep in mind at work is no instruction for a digest.
            .env("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1")
            // What a session says of files is no wish to have them read.
            .env("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1")
            .stdin(InputData::from_bytes(Self::stdin(arguments, request)));
        let bounds = Bounds { time: self.timeout, output: MAX_OUTPUT, stop: stop::asked };
        let clean = |ran: Ran| Ran { stdout: report::redacted(&ran.stdout, &self.gate), stderr: self.plain(&ran.stderr), ..ran };
        Ok(match child::run(job, &bounds)? {
            // Who has answered and then does not end has been paid for it.
            Err(killed) if report::is_whole(&killed.ran.stdout) => Ok(clean(killed.ran)),
            ran => ran.map(clean).map_err(|killed| self.cut(killed.why)),
        })
    }

    fn plain(&self, printed: &[u8]) -> Vec<u8> {
        self.gate.redact(&String::from_utf8_lossy(printed)).into_bytes()
    }

    fn cut(&self, cut: Cut) -> Failure {
        let killed = |what: String| Failure::Session { what, cost_usd: None };
        match cut {
            Cut::Stopped => Failure::Stopped,
            Cut::TookTooLong => killed(format!("claude took longer than {} s and was killed", self.timeout.as_secs())),
            Cut::SaidTooMuch => killed(format!("claude printed more than {} MiB and was killed", MAX_OUTPUT >> 20)),
        }
    }
}

/// What `claude` says of itself, on stdout: its version, its login. Asks no model. `None` when it does not run or does not end.
pub fn ask(command: &Path, arguments: &[&str], config: &Config) -> Option<String> {
    // Before the first digest there is no such folder. In the root only root can put settings; in a folder for all anybody can.
    let folder = Some(config.child_dir()).filter(|dir| dir.is_dir()).unwrap_or_else(|| "/".into());
    let job = quiet(command, &folder).args(arguments).stdin(Redirection::Null);
    let ran = child::run(job, &Bounds::seconds(ASK_SECONDS)).ok()?.ok()?;
    Some(Redactor::shipped().redact(&String::from_utf8_lossy(&ran.stdout)).into_owned())
}

/// The command in a folder where no project's settings are in scope, knowing itself as our child, not as part of a session.
fn quiet(command: &Path, folder: &Path) -> Exec {
    Exec::cmd(command)
        .cwd(folder)
        .env(GUARD, "1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env_remove("CLAUDECODE")
        .env_remove("CLAUDE_CODE_SESSION_ID")
        .env_remove("CLAUDE_CODE_ENTRYPOINT")
}

/// Is a call possible without the flag? Then the next one is made without it, so that no flag is missed twice.
pub(super) fn can_go_without(flag: &str) -> bool {
    FLAGS.iter().any(|(known, _)| *known == flag)
        || ["--disallowedTools", "--system-prompt", "--append-system-prompt"].contains(&flag)
}

/// A text in which no `@path` makes the client read that file and send it along, as it does for what a user types. What parts the two
/// is not seen and does not come back: replies are cleaned of it.
fn unmentioned(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut before = None;
    for c in text.chars() {
        out.push(c);
        // Behind a letter or a sign it is an address or part of a path, for the client too.
        if c == '@' && !before.is_some_and(|b: char| b.is_ascii_graphic()) {
            out.push('\u{2060}');
        }
        before = Some(c);
    }
    out
}

/// `error: unknown option '--tools'`
pub(super) fn unknown_flag(stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    let (_, after) = text.split_once("unknown option '")?;
    after.split_once('\'').map(|(flag, _)| flag.split(['=', ' ']).next().unwrap_or(flag).to_owned())
}

pub(super) fn describe(status: &ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".into(),
    }
}

pub(super) fn first_line(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().find(|l| !l.trim().is_empty()).map(|l| shorten(&one_line(&plain(l)), 120));
    line.map_or_else(String::new, |l| format!(": {l}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_mention_of_a_file_is_left() {
        let text = "@/etc/passwd see @~/.ssh/id_rsa, (@x) \n@\"a b\" 。@../y me@example.org a/@types/b @@z";
        let given = unmentioned(text);
        assert_eq!(given.matches("@\u{2060}").count(), 5, "{given}");
        assert!(given.contains("me@example.org a/@types/b") && given.contains("(@x)"), "{given}");
        assert_eq!(plain(&given), text, "what comes back is as it was");
    }
}
