//! `recall import`: stores what `recall export` wrote. Unreadable lines are reported and skipped.

use std::fs::File;
use std::io::{BufRead, BufReader, Write, stdin};

use anyhow::{Context, Result};

use crate::app::Completion;
use crate::app::transfer::import;
use crate::cli::args::ImportArgs;
use crate::config::Config;
use crate::sys::messages::Ui;
use crate::text::clean::counted;

pub(crate) fn run(args: &ImportArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let ui = Ui::default();
    let input: Box<dyn BufRead> = if args.file.as_os_str() == "-" {
        Box::new(stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(&args.file).with_context(|| format!("cannot open {}", args.file.display()))?))
    };
    let taken = import(input, config, &ui)?;
    writeln!(out, "imported {}, {} were known", counted(taken.sessions as usize, "session"), taken.known)?;
    if taken.notes > 0 {
        writeln!(out, "imported {}", counted(taken.notes as usize, "note"))?;
    }
    writeln!(out, "`recall digest --rebuild-pages` writes their pages")?;
    ui.finish();
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}
