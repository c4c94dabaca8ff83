//! Asks a person on the terminal before an agent does what it may not do alone; refuses if there is no terminal.
//!
//! This is a safeguard, not a security boundary: an agent that runs the user's commands could also change the variables that identify it,
//! or the files. It stops an agent that was talked into something by text it read.

use std::io::{self, IsTerminal};

use anyhow::{Result, bail};

use crate::sys::messages;
use crate::text::clean::{one_line, without_controls};

/// Asks a person to confirm an agent's action. `what` describes it as a command: `forget session 64b0b6d9`.
///
/// # Errors
/// When there is no terminal, or the answer is not `yes`.
pub(crate) fn ask(agent: &str, what: &str) -> Result<()> {
    let (agent, what) = (one_line(&without_controls(agent)), one_line(&without_controls(what)));
    if !has_terminal() {
        bail!("only a person may {what}, and this runs inside {agent}: type the command in a terminal of your own");
    }
    confirm(&format!("This runs inside {agent}. Only a person may {what}: are you one, and shall it be done?"))
}

/// Is there a person to ask?
pub(crate) fn has_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks on the terminal.
///
/// # Errors
/// When the terminal cannot be written or read, or the answer is not `yes`.
pub(crate) fn confirm(question: &str) -> Result<()> {
    if !messages::ask(format!("{} Type `yes`: ", one_line(&without_controls(question)))) {
        bail!("stderr, where you would be asked, cannot be written: nothing was changed");
    }
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if answer.trim().to_lowercase() != "yes" {
        bail!("nothing was changed");
    }
    Ok(())
}
