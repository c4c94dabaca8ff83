//! What an agent may not do by itself: a person is asked on a terminal, and without one it is refused.
//!
//! No wall, but a door: an agent that runs commands of the user's can also change the variables by which it is known, or the files. It
//! keeps one that was talked into something by what it read from doing it in passing.

use std::io::{self, IsTerminal};

use anyhow::{Result, bail};

use crate::clean::{one_line, plain};
use crate::ui;

/// Asks a person whether an agent may do this. `what` is what would be done, as a command: `forget session 64b0b6d9`.
///
/// # Errors
/// When there is no terminal to ask on, or the answer is another than `yes`.
pub fn ask(agent: &str, what: &str) -> Result<()> {
    let (agent, what) = (one_line(&plain(agent)), one_line(&plain(what)));
    if !has_terminal() {
        bail!("only a person may {what}, and this runs inside {agent}: type the command in a terminal of your own");
    }
    confirm(&format!("This runs inside {agent}. Only a person may {what}: are you one, and shall it be done?"))
}

/// Can anybody be asked?
pub fn has_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks on the terminal.
///
/// # Errors
/// When it cannot be asked, or the answer is another than `yes`.
pub fn confirm(question: &str) -> Result<()> {
    if !ui::ask(format!("{} Type `yes`: ", one_line(&plain(question)))) {
        bail!("stderr, where you would be asked, cannot be written: nothing was changed");
    }
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if answer.trim().to_lowercase() != "yes" {
        bail!("nothing was changed");
    }
    Ok(())
}
