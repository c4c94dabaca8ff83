//! What was said about something and overtaken since, with what stands: a chain of statements, of which each later one overtakes an earlier one.

use serde::Serialize;

use text::clean::{one_line, shorten, without_controls};
use transcripts::session::Millis;

/// The most characters of a statement.
const MAX_STATEMENT_CHARS: usize = 300;

#[derive(Debug, Serialize)]
pub(crate) struct Chain {
    /// The project's key.
    pub(crate) project: String,
    /// The project's name, if it is not that of whoever asks.
    #[serde(skip)]
    pub(crate) elsewhere: Option<String>,
    /// Newest first.
    pub(crate) statements: Vec<ChainLink>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ChainLink {
    pub(crate) day: String,
    /// Milliseconds since the Unix epoch.
    pub(crate) at: Millis,
    /// In words: `Claude in session 4b1c2d3e`.
    pub(crate) by: String,
    /// The whole id of the session, or of the note.
    pub(crate) id: String,
    /// Of a session: the turn in which it was said, if that is known.
    pub(crate) turn: Option<usize>,
    pub(crate) text: String,
    /// What says that it does not stand any more.
    pub(crate) overtaken: Option<OvertakenBy>,
}

/// The id by which the user can say that it is not so, and since when.
#[derive(Debug, Serialize)]
pub(crate) struct OvertakenBy {
    pub(crate) id: String,
    pub(crate) day: String,
}

impl Chain {
    /// What stands first, below it what it overtook, newest first. Lines, the last one ended.
    pub(crate) fn text(&self) -> String {
        self.lines(|overtaken, when, said| match overtaken {
            Some(one) => format!("  until {} (said {when}): {said} [{}]\n", one.day, one.id),
            None => format!("stands (said {when}): {said}\n"),
        })
    }

    /// Statements of which none is known to overtake another, or to stand. Lines, the last one ended.
    pub(crate) fn text_of_said(&self) -> String {
        self.lines(|_, when, said| format!("said {when}: {said}\n"))
    }

    fn lines(&self, line: impl Fn(Option<&OvertakenBy>, &str, &str) -> String) -> String {
        let mut text = self.elsewhere.as_ref().map(|project| format!("in {project}:\n")).unwrap_or_default();
        for ChainLink { day, by, turn, text: said, overtaken, .. } in &self.statements {
            let turn = turn.map(|turn| format!(", turn {turn}")).unwrap_or_default();
            let said = shorten(&one_line(&without_controls(said)), MAX_STATEMENT_CHARS);
            text += &line(overtaken.as_ref(), &format!("{day}, {by}{turn}"), &said);
        }
        text
    }
}
