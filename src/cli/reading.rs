//! Pages for whoever reads them: on a terminal they are laid out for it and go through the pager if they are longer; a pipe or a file gets the
//! markdown as it is.

use std::io::Write;

use anyhow::Result;

use crate::config;
use crate::render::terminal::{Look, for_terminal};
use crate::sys::pager::{self, TerminalSize};

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
