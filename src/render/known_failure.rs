//! An error that was met before, and the run that passed later.

use serde::Serialize;

use text::clean::{id8, shorten};
use transcripts::session::Millis;

/// The most characters of an error, and of each command.
const MAX_CHARS: usize = 240;

/// An error in a session.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct KnownFailure {
    /// The project's key.
    pub(crate) project: String,
    /// The project's name, if it is not that of whoever asks.
    #[serde(skip)]
    pub(crate) elsewhere: Option<String>,
    pub(crate) session: String,
    pub(crate) turn: usize,
    pub(crate) day: String,
    /// Milliseconds since the Unix epoch.
    pub(crate) at: Option<Millis>,
    /// How often the session met it, and in which turns first and last.
    pub(crate) times: usize,
    pub(crate) in_turns: (usize, usize),
    pub(crate) error: String,
    pub(crate) command: String,
    /// The next run of the same check that passed.
    pub(crate) passed: Option<PassedLater>,
    /// The turn in which it was met again after that, and not seen to pass.
    pub(crate) again_in_turn: Option<usize>,
    /// Where its check was not seen to pass after the last failure: a later session in which it was.
    pub(crate) passed_elsewhere: Option<PassedElsewhere>,
}

/// A run of the same check that passed in another session.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PassedElsewhere {
    pub(crate) session: String,
    pub(crate) day: String,
    pub(crate) command: String,
}

impl PassedElsewhere {
    fn text(&self) -> String {
        let Self { session, day, command } = self;
        format!("in a later session ({}, {day}) `{}` passed", id8(session), shorten(command, MAX_CHARS))
    }
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct PassedLater {
    pub(crate) command: String,
    pub(crate) turn: usize,
    pub(crate) at: Option<Millis>,
    /// The files that were changed in between.
    pub(crate) changed: String,
    /// The last command in between that may have had an effect.
    pub(crate) ran: String,
}

impl KnownFailure {
    /// Lines, the last one ended.
    pub(crate) fn text(&self) -> String {
        let Self {
            elsewhere, session, turn, day, times, in_turns, error, command, passed, again_in_turn, passed_elsewhere, ..
        } = self;
        let project = elsewhere.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
        let turn = if *turn > 0 { format!(", turn {turn}") } else { String::new() };
        let often = match in_turns {
            _ if *times < 2 => String::new(),
            (first, last) if first == last => format!(", {times} times"),
            (first, last) => format!(" ({times} times in turns {first} to {last})"),
        };
        let unseen = passed_elsewhere.as_ref().map_or_else(|| "no passing run seen since".to_owned(), PassedElsewhere::text);
        let then = match passed {
            Some(passed) => format!("then {}", passed.text(MAX_CHARS)),
            None => unseen.clone(),
        };
        let again = again_in_turn.map(|turn| format!("  the error occurred again (turn {turn}); {unseen}\n"));
        let error = shorten(error, MAX_CHARS);
        let again = again.unwrap_or_default();
        format!("{day}{project}, session {}{turn}{often}: {error}\n  by `{command}`\n  {then}\n{again}", id8(session))
    }
}

impl PassedLater {
    /// In words, behind "then": ``` `pytest` passed (turn 9); in between: `apt-get install libpq5` ```. Each part
    /// is cut to so many characters.
    pub(crate) fn text(&self, max: usize) -> String {
        let turn = self.turn;
        let [command, changed, ran] = [&self.command, &self.changed, &self.ran].map(|part| shorten(part, max));
        let turn = if turn > 0 { format!(" (turn {turn})") } else { String::new() };
        let changed = if changed.is_empty() { String::new() } else { format!("changes to {changed}") };
        let ran = if ran.is_empty() { String::new() } else { format!("`{ran}`") };
        let between: Vec<String> = [changed, ran].into_iter().filter(|part| !part.is_empty()).collect();
        let between = if between.is_empty() { String::new() } else { format!("; in between: {}", between.join("; ")) };
        format!("`{command}` passed{turn}{between}")
    }
}
