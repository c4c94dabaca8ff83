//! Starts `claude`; no other file does.
//!
//! The child has no tools, hooks, MCP servers or project, writes no transcript, and is limited in time and output. A client that does not
//! know a flag is called without it.

use std::io;
use std::path::Path;

use subprocess::{Exec, ExitStatus, InputData, Redirection};

use super::{Claude, report};
use crate::config::{CHILD_VARIABLE, Config};
use crate::summarize::{ModelRequest, SummaryFailure};
use crate::sys::child_process;
use crate::sys::child_process::{ChildLimits, ChildOutput, KillReason};
use crate::sys::shutdown;
use redact::Redactor;
use text::clean::{one_line, shorten, without_controls};
use transcripts::source::ACTING_TOOLS;

/// Output limit of a child, in bytes; a reply has a few kilobytes.
const MAX_OUTPUT_BYTES: usize = 2 << 20;
/// Time limit for questions about the client itself, in seconds: on a slow machine the client takes one to start.
const QUERY_TIMEOUT_SECONDS: u64 = 20;

/// Overrides the user's settings: no hooks, the output as one object rather than a list of all events, no output style.
const SETTINGS: &str = r#"{"disableAllHooks":true,"verbose":false,"viewMode":"default","outputStyle":"default"}"#;

/// Flags, with values, that keep the request small and the child quiet. A client that does not know one is called without it.
const FLAGS: &[(&str, Option<&str>)] = &[
    ("--setting-sources", Some("user")),
    ("--no-session-persistence", None),
    ("--settings", Some(SETTINGS)),
    ("--tools", Some("")),
    ("--strict-mcp-config", None),
    ("--max-turns", Some("1")),
];
/// Without these the client sends its own instructions and tools along.
pub(crate) const SIZE_FLAGS: [&str; 3] = ["--tools", "--system-prompt", "--setting-sources"];

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
            all.extend(["--disallowedTools".to_owned(), ACTING_TOOLS.to_owned()]);
        }
        let flag = ["--system-prompt", "--append-system-prompt"].into_iter().find(|f| known(f));
        all.extend(flag.into_iter().flat_map(|flag| [flag.to_owned(), system.to_owned()]));
        all
    }

    /// If the client has no flag for the instructions, they precede the record.
    fn stdin(arguments: &[String], request: &ModelRequest) -> Vec<u8> {
        let told = arguments.iter().any(|a| a.ends_with("system-prompt"));
        let instructions = if told { String::new() } else { format!("{}\n\n", request.system) };
        format!("{instructions}{}", escape_mentions(&request.stdin)).into_bytes()
    }

    /// Runs the child once, within its limits. Afterwards nothing of its process group is left, whatever happened.
    pub(super) fn run(&self, arguments: &[String], request: &ModelRequest) -> Result<ChildOutput, SummaryFailure> {
        self.run_child(arguments, request).unwrap_or_else(|e| {
            let what = format!("cannot run {}: {e}", self.command.display());
            Err(SummaryFailure::Unavailable { what, cost_usd: Some(0.0) })
        })
    }

    fn run_child(&self, arguments: &[String], request: &ModelRequest) -> io::Result<Result<ChildOutput, SummaryFailure>> {
        crate::sys::private_files::create_dir(&self.child_dir)?;
        let job = isolated_command(&self.command, &self.child_dir)
            .args(arguments)
            .env("MAX_THINKING_TOKENS", "0")
            // Limits thinking in models that always think.
            .env("CLAUDE_CODE_EFFORT_LEVEL", "low")
            .env("CLAUDE_CODE_MAX_OUTPUT_TOKENS", self.max_output_tokens().to_string())
            .env("CLAUDE_CODE_MAX_RETRIES", "0")
            .env("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")
            // The user's own instructions for Claude Code do not apply to a digest.
            .env("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1")
            // A file mentioned in a session must not be read.
            .env("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1")
            .stdin(InputData::from_bytes(Self::stdin(arguments, request)));
        let bounds = ChildLimits { time: self.timeout, output: MAX_OUTPUT_BYTES, stop: shutdown::requested };
        let clean = |ran: ChildOutput| ChildOutput {
            stdout: report::redacted(&ran.stdout, &self.sanitizer),
            stderr: self.plain(&ran.stderr),
            ..ran
        };
        Ok(match child_process::run(job, &bounds)? {
            // A child that answered but did not exit has been paid for.
            Err(killed) if report::is_whole(&killed.ran.stdout) => Ok(clean(killed.ran)),
            ran => ran.map(clean).map_err(|killed| self.cut(killed.why)),
        })
    }

    fn plain(&self, printed: &[u8]) -> Vec<u8> {
        self.sanitizer.redact(String::from_utf8_lossy(printed)).into_bytes()
    }

    fn cut(&self, cut: KillReason) -> SummaryFailure {
        let killed = |what: String| SummaryFailure::Session { what, cost_usd: None };
        match cut {
            KillReason::Stopped => SummaryFailure::Stopped,
            KillReason::TimedOut => killed(format!("claude took longer than {} s and was killed", self.timeout.as_secs())),
            KillReason::TooMuchOutput => killed(format!("claude printed more than {} MiB and was killed", MAX_OUTPUT_BYTES >> 20)),
        }
    }
}

/// What `claude` prints about itself (its version, its login). Calls no model. `None` when it does not run or does not end in time.
pub(crate) fn query_client(command: &Path, arguments: &[&str], config: &Config) -> Option<String> {
    // The folder does not exist before the first digest. Falls back to `/`, where only root can place settings, rather than to a
    // world-writable folder.
    let folder = Some(config.child_dir()).filter(|dir| dir.is_dir()).unwrap_or_else(|| "/".into());
    let job = isolated_command(command, &folder).args(arguments).stdin(Redirection::Null);
    let ran = child_process::run(job, &ChildLimits::seconds(QUERY_TIMEOUT_SECONDS)).ok()?.ok()?;
    Some(Redactor::shipped().redact(&String::from_utf8_lossy(&ran.stdout)).into_owned())
}

/// The command in a folder outside any project, marked as our child and not as part of a session.
fn isolated_command(command: &Path, folder: &Path) -> Exec {
    Exec::cmd(command)
        .cwd(folder)
        .env(CHILD_VARIABLE, "1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env_remove("CLAUDECODE")
        .env_remove("CLAUDE_CODE_SESSION_ID")
        .env_remove("CLAUDE_CODE_ENTRYPOINT")
}

/// Can the client be called without this flag? It is then left out of all further calls.
pub(super) fn is_optional_flag(flag: &str) -> bool {
    FLAGS.iter().any(|(known, _)| *known == flag)
        || ["--disallowedTools", "--system-prompt", "--append-system-prompt"].contains(&flag)
}

/// Separates the `@` of an `@path` from its path, so that the client does not read the file and send it along as it does for what a user
/// types. The separator is invisible and is removed from replies.
fn escape_mentions(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut before = None;
    for c in text.chars() {
        out.push(c);
        // After a letter or sign it is an address or part of a path, for the client too.
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
    let line = text.lines().find(|l| !l.trim().is_empty()).map(|l| shorten(&one_line(&without_controls(l)), 120));
    line.map_or_else(String::new, |l| format!(": {l}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_mention_of_a_file_is_left() {
        let text = "@/etc/passwd see @~/.ssh/id_rsa, (@x) \n@\"a b\" 。@../y me@example.org a/@types/b @@z";
        let given = escape_mentions(text);
        assert_eq!(given.matches("@\u{2060}").count(), 5, "{given}");
        assert!(given.contains("me@example.org a/@types/b") && given.contains("(@x)"), "{given}");
        assert_eq!(without_controls(&given), text, "what comes back is as it was");
    }
}
