//! The user's terminal and their pager, as git uses it: a text that is longer than the terminal goes through the pager.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use subprocess::{Exec, Redirection};

use super::terminal_escape::TerminalEscaper;

/// Shows what fits and ends, keeps colours, leaves the text on the screen: git's own choice.
const LESS: &str = "FRX";
/// Ends at once, so that whoever sets it has no pager.
const NONE: &str = "cat";
/// With these a shell tells that there is no such program, or that it may not be run.
const NOT_FOUND: u32 = 127;
const NOT_EXECUTABLE: u32 = 126;

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TerminalSize {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// Of the one on stdout; `None` if that is no terminal.
pub(crate) fn terminal() -> Option<TerminalSize> {
    terminal_on(io::stdout())
}

/// The same of another stream.
pub(crate) fn terminal_on(stream: impl IsTerminal + AsFd) -> Option<TerminalSize> {
    if !stream.is_terminal() {
        return None;
    }
    // A terminal that does not tell its size is taken for one of the usual size.
    let size = rustix::termios::tcgetwinsize(stream).ok().filter(|size| size.ws_row > 0 && size.ws_col > 0);
    Some(size.map_or(TerminalSize { rows: 24, columns: 80 }, |size| TerminalSize {
        rows: size.ws_row.into(),
        columns: size.ws_col.into(),
    }))
}

/// Shows a text through a pager, `command`. False if there is none that can be started: nothing was shown then.
pub(crate) fn show(text: &str, command: &str) -> bool {
    if command.trim().is_empty() || command.trim() == NONE {
        return false;
    }
    let mut pager = Exec::shell(format!("exec {command}")).stdin(Redirection::Pipe);
    if std::env::var_os("LESS").is_none() {
        pager = pager.env("LESS", LESS);
    }
    // Ctrl-C is the pager's to deal with.
    super::shutdown::ignore();
    let Ok(mut job) = pager.start() else { return false };
    if let Some(to) = job.stdin.take() {
        let mut to = TerminalEscaper::new(to, true);
        // A pager that is left before the end has read what was wanted.
        let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
    }
    job.wait().is_ok_and(|status| !matches!(status.code(), Some(NOT_FOUND | NOT_EXECUTABLE)))
}
