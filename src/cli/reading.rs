//! Texts for whoever reads them: on a terminal they are laid out for it, and pages go through the pager if they are longer; a pipe or a file
//! gets them as they are.

use std::io::Write;

use anyhow::Result;

use crate::config;
use crate::render::terminal::{Look, for_terminal};
use crate::sys::pager::{self, TerminalSize};
use text::wrap::hanging;

/// Prints markdown.
pub(super) fn print_page(markdown: &str, out: &mut impl Write) -> Result<()> {
    let Some(TerminalSize { rows, columns }) = pager::terminal() else { return Ok(out.write_all(markdown.as_bytes())?) };
    let text = for_terminal(markdown, Look { columns, styled: config::wants_styles() });
    // One row is the prompt's.
    let is_long = text.lines().count() >= rows;
    if is_long {
        out.flush()?;
        if pager::show(&text, &config::pager()) {
            return Ok(());
        }
    }
    Ok(out.write_all(text.as_bytes())?)
}

/// Prints lines; on a terminal each is wrapped, its further lines a little behind its own beginning.
pub(super) fn print_lines(text: &str, out: &mut impl Write) -> Result<()> {
    for line in text.lines() {
        let said = line.trim_start_matches(' ');
        let begins = &line[..line.len() - said.len()];
        print_hanging(begins, &format!("{begins}  "), said, out)?;
    }
    Ok(())
}

/// Prints a text behind `begins`; on a terminal it is wrapped, its further lines behind `rest`.
pub(super) fn print_hanging(begins: &str, rest: &str, text: &str, out: &mut impl Write) -> Result<()> {
    let Some(TerminalSize { columns, .. }) = pager::terminal() else { return Ok(writeln!(out, "{begins}{text}")?) };
    hanging(begins, rest, text, columns).iter().try_for_each(|line| Ok(writeln!(out, "{line}")?))
}
