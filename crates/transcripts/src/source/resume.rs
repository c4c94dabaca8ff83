//! The command with which a client continues a session.

use super::source_of;
use crate::client::Client;
use text::clean::{one_line, without_controls};

/// How a program is told which session to take up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// By an option: `claude --resume ID`.
    Option(&'static str),
    /// By a command of its own: `codex resume ID`.
    Subcommand(&'static str),
}

/// Is there a command that takes up the session of this id?
pub fn can_resume(client: Client, session: &str) -> bool {
    source_of(client).resume(session).is_some()
}

/// With what the client is started; ids and folders come from transcripts, and may be anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeCommand<'a> {
    pub client: Client,
    pub program: &'a str,
    /// The session's id.
    pub session: &'a str,
    /// Where it began.
    pub folder: Option<&'a str>,
}

impl ResumeCommand<'_> {
    /// What the program is given. An id that begins with a hyphen would be parsed as an option.
    pub fn args(&self) -> Vec<String> {
        let given: &[&str] = match (self.resume(), self.session.starts_with('-')) {
            (Resume::Subcommand(command), false) => &[command, self.session],
            (Resume::Subcommand(command), true) => &[command, "--", self.session],
            (Resume::Option(option), false) => &[option, self.session],
            (Resume::Option(option), true) => &[&format!("{option}={}", self.session)],
        };
        given.iter().map(|word| (*word).to_owned()).collect()
    }

    /// The same as a line for a shell, safe to paste.
    pub fn line(&self) -> String {
        let session = quoted(self.session);
        let given = match (self.resume(), self.session.starts_with('-')) {
            (Resume::Subcommand(command), true) => format!("{command} -- {session}"),
            (Resume::Option(option), true) => format!("{option}={session}"),
            (Resume::Subcommand(word) | Resume::Option(word), false) => format!("{word} {session}"),
        };
        let resume = format!("{} {given}", quoted(self.program));
        match self.folder {
            Some(folder) if folder.starts_with('-') => format!("cd -- {} && {resume}", quoted(folder)),
            Some(folder) => format!("cd {} && {resume}", quoted(folder)),
            None => resume,
        }
    }

    /// Of a client without such a command nobody asks ([`can_resume`]): the usual one.
    fn resume(&self) -> Resume {
        source_of(self.client).resume(self.session).unwrap_or(Resume::Option("--resume"))
    }
}

fn quoted(text: &str) -> String {
    let is_plain =
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b)) && !text.starts_with('-');
    if is_plain { text.to_owned() } else { format!("'{}'", one_line(&without_controls(text)).replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_looks_like_an_option_is_none() {
        let command = ResumeCommand { client: Client::ClaudeCode, program: "claude", session: "--dangerous", folder: Some("-p") };
        assert_eq!(command.args(), ["--resume=--dangerous"]);
        assert_eq!(command.line(), "cd -- '-p' && claude --resume='--dangerous'");
        let command = ResumeCommand { client: Client::Codex, program: "codex", ..command };
        assert_eq!(
            (command.args().join(" ").as_str(), command.line().as_str()),
            ("resume -- --dangerous", "cd -- '-p' && codex resume -- '--dangerous'")
        );
    }
}
