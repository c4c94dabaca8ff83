//! The command with which a client continues a session. Pure.

use crate::model::client::Client;
use crate::text::clean::{one_line, without_controls};

/// Is there a command that takes up the session of this id?
pub(crate) fn can_resume(client: Client, session: &str) -> bool {
    match client {
        // Cursor's own command takes up what it began, and its editor the rest. Extensions list their tasks themselves.
        Client::Cowork | Client::Cursor | Client::RooCode | Client::KiloCode | Client::VscodeCopilot => false,
        // A task of the extension has the time alone for an id.
        Client::Cline => !session.bytes().all(|b| b.is_ascii_digit()),
        _ => true,
    }
}

/// With what the client is started; ids and folders come from transcripts, and may be anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResumeCommand<'a> {
    pub(crate) client: Client,
    pub(crate) program: &'a str,
    /// The session's id.
    pub(crate) session: &'a str,
    /// Where it began.
    pub(crate) folder: Option<&'a str>,
}

impl ResumeCommand<'_> {
    /// What the program is given. An id that begins with a hyphen would be parsed as an option.
    pub(crate) fn args(&self) -> Vec<String> {
        match (self.client, self.session) {
            (Client::Codex, id) if id.starts_with('-') => vec!["resume".to_owned(), "--".to_owned(), id.to_owned()],
            (Client::Codex, id) => vec!["resume".to_owned(), id.to_owned()],
            (client, id) if id.starts_with('-') => vec![format!("{}={id}", option_of(client))],
            (client, id) => vec![option_of(client).to_owned(), id.to_owned()],
        }
    }

    /// The same as a line for a shell, safe to paste.
    pub(crate) fn line(&self) -> String {
        let option = match (self.client, self.session.starts_with('-')) {
            (Client::Codex, true) => "resume -- ".to_owned(),
            (Client::Codex, false) => "resume ".to_owned(),
            (client, true) => format!("{}=", option_of(client)),
            (client, false) => format!("{} ", option_of(client)),
        };
        let resume = format!("{} {option}{}", quoted(self.program), quoted(self.session));
        match self.folder {
            Some(folder) if folder.starts_with('-') => format!("cd -- {} && {resume}", quoted(folder)),
            Some(folder) => format!("cd {} && {resume}", quoted(folder)),
            None => resume,
        }
    }
}

/// The option that takes a session up, of clients that have one.
fn option_of(client: Client) -> &'static str {
    match client {
        Client::Pi | Client::OpenCode => "--session",
        Client::Cline => "--id",
        _ => "--resume",
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
