//! `recall import`: stores what `recall export` wrote, or what another tool remembers. What cannot be read is reported and skipped.

use std::fs::File;
use std::io::{BufRead, BufReader, Write, stdin};
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::app::Completion;
use crate::app::claude_mem::{self, ClaudeMemSummary};
use crate::app::transfer::import;
use crate::cli::args::{ImportArgs, OtherTool};
use crate::config::{Config, claude_mem_database};
use crate::sys::messages::Ui;
use text::clean::{counted, one_line, without_controls};

pub(crate) fn run(args: &ImportArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let ui = Ui::default();
    let file = args.file.as_deref();
    match args.from {
        None => export_of_recall(file, config, &ui, out)?,
        Some(OtherTool::ClaudeMem) => from_claude_mem(file, config, &ui, out)?,
    }
    writeln!(out, "`recall digest --rebuild-pages` writes their pages")?;
    ui.finish();
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}

fn export_of_recall(file: Option<&Path>, config: &Config, ui: &Ui, out: &mut impl Write) -> Result<()> {
    let input: Box<dyn BufRead> = match file.filter(|file| file.as_os_str() != "-") {
        None => Box::new(stdin().lock()),
        Some(file) => Box::new(BufReader::new(File::open(file).with_context(|| format!("cannot open {}", file.display()))?)),
    };
    let taken = import(input, config, ui)?;
    writeln!(out, "imported {}, {} were known", counted(taken.sessions, "session"), taken.known)?;
    if taken.notes > 0 {
        writeln!(out, "imported {}", counted(taken.notes, "note"))?;
    }
    Ok(())
}

fn from_claude_mem(file: Option<&Path>, config: &Config, ui: &Ui, out: &mut impl Write) -> Result<()> {
    ensure!(file.is_none_or(|file| file.as_os_str() != "-"), "a database cannot be read from stdin: name its file");
    let path = file.map_or_else(claude_mem_database, |file| Ok(file.to_owned()))?;
    ensure!(
        path.exists(),
        "there is no claude-mem database at {}: `recall import --from claude-mem FILE` reads one from elsewhere",
        path.display()
    );
    let taken = claude_mem::import(&path, config, ui)?;
    let ClaudeMemSummary { sessions, known, excluded, forgotten, empty, .. } = taken;
    writeln!(out, "imported {}, {known} were known", counted(sessions, "session"))?;
    let left_out = [
        (excluded, "of excluded projects"),
        (forgotten, "forgotten before, or too old to be kept"),
        (empty, "of which nothing was said"),
    ];
    for (count, what) in left_out.into_iter().filter(|(count, _)| *count > 0) {
        writeln!(out, "left out {} {what}", counted(count, "session"))?;
    }
    if !taken.named_only.is_empty() {
        let names: Vec<String> = taken.named_only.iter().map(|name| one_line(&without_controls(name))).collect();
        writeln!(out, "claude-mem knows only the names of these projects: {}", names.join(", "))?;
    }
    Ok(())
}
