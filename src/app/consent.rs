//! Asks a person on the terminal before something is deleted, or an agent does what it may not do alone; refuses if there is no terminal.
//!
//! What keeps agents out is a safeguard, not a security boundary: an agent that runs the user's commands could also change the variables
//! that identify it, or the files. It stops an agent that was talked into something by text it read.

use std::io::{self, IsTerminal};

use anyhow::{Result, bail};

use crate::sys::{messages, shutdown};
use text::clean::{one_line, without_controls};

/// Asks a person to confirm an agent's action. `what` describes it as a command: `forget session 64b0b6d9`.
///
/// # Errors
/// When there is no terminal, or the answer is not `yes`.
pub(crate) fn ask(agent: &str, what: &str) -> Result<()> {
    let (agent, what) = (one_line(&without_controls(agent)), one_line(&without_controls(what)));
    if !has_terminal() {
        bail!("only a person may {what}, and this runs inside {agent}: run it in your own terminal");
    }
    confirm(&format!("This runs inside {agent}. Only a person may {what}. Are you a person, and do you want this?"))
}

/// Is there a person to ask?
pub(crate) fn has_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks on the terminal.
///
/// # Errors
/// When the terminal cannot be written or read, or the answer is not `yes`.
fn confirm(question: &str) -> Result<()> {
    if !messages::ask(format!("{} Type `yes`: ", one_line(&without_controls(question)))) {
        bail!("cannot ask you, because stderr is not writable: nothing was changed");
    }
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if answer.trim().to_lowercase() != "yes" {
        bail!("nothing was changed");
    }
    Ok(())
}

/// Offers something to a person on the terminal: Enter, `y` and `yes` take it. Anything else, and an end of the input, does not.
///
/// # Errors
/// When the terminal cannot be read.
pub(crate) fn accepts(question: &str) -> Result<bool> {
    if !messages::ask(format!("{} [Y/n] ", one_line(&without_controls(question)))) {
        return Ok(false);
    }
    let mut answer = String::new();
    let is_answered = io::stdin().read_line(&mut answer)? > 0;
    Ok(is_answered && !shutdown::requested() && matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes"))
}

/// Asks a person on the terminal: `y` and `yes` agree. Enter, anything else and an end of the input do not.
///
/// # Errors
/// When the terminal cannot be read.
pub(crate) fn agrees(question: &str) -> Result<bool> {
    if !messages::ask(format!("{} [y/N] ", one_line(&without_controls(question)))) {
        return Ok(false);
    }
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(!shutdown::requested() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Asks a person before something is deleted or overruled. `otherwise` says what is at stake and how it is done where nobody can be asked:
/// `… holds all pages: --yes deletes it without asking`.
///
/// # Errors
/// When there is no terminal, or the answer is neither `y` nor `yes`.
pub(crate) fn confirm_change(question: &str, otherwise: &str) -> Result<()> {
    if !has_terminal() {
        bail!("nothing was changed, as there is no terminal to ask on: {otherwise}");
    }
    if !messages::ask(format!("{question} [y/N] ")) {
        bail!("nothing was changed, as stderr is not writable and nobody can be asked: {otherwise}");
    }
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        bail!("nothing was changed");
    }
    Ok(())
}
