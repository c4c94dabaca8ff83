//! `recall import`: stores what `recall export` wrote. Unreadable lines are reported and skipped.

use std::fs::File;
use std::io::{BufRead, BufReader, Write, stdin};

use anyhow::{Context, Result, anyhow, bail};

use super::export::FORMAT_VERSION;
use crate::app::Completion;
use crate::app::digest::{accounts, prepare_folder, run_lock, write_documents};
use crate::app::notes;
use crate::cli::args::ImportArgs;
use crate::config::Config;
use crate::privacy::Sanitizer;
use crate::store::Store;
use crate::store::error::is_store_error;
use crate::store::transfer::{Exported, ExportedNote};
use crate::sys::messages::Ui;

pub(crate) fn run(args: &ImportArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let ui = Ui::default();
    let input: Box<dyn BufRead> = if args.file.as_os_str() == "-" {
        Box::new(stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(&args.file).with_context(|| format!("cannot open {}", args.file.display()))?))
    };
    // Split bytes, not text: an invalid line must not end the import.
    let mut lines = input.split(b'\n');
    check_header(&lines.next().context("there is nothing to import")??)?;
    prepare_folder(config, &ui)?;
    let mut lock = run_lock(config)?;
    let Ok(_held) = lock.try_write() else { bail!("a run is under way: try again when it has ended") };
    let gate = config.gate()?;
    let mut store = Store::open(&config.database())?;
    // The checkpoint of the write-ahead log at the end syncs everything.
    store.relax_durability()?;
    let mut taken = ImportSummary::default();
    for (at, line) in lines.enumerate() {
        if let Err(e) = taken.line(&line?, &mut store, &gate, config) {
            if is_store_error(&e) {
                return Err(e);
            }
            ui.warn(&format!("line {}: {e:#}, skipped", at + 2));
        }
    }
    accounts::make_missing(&store, &ui)?;
    write_documents(&mut store, &ui)?;
    store.tidy()?;
    taken.tell(out)?;
    ui.finish();
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}

/// What was imported.
#[derive(Default)]
struct ImportSummary {
    sessions: usize,
    known: usize,
    notes: usize,
}

impl ImportSummary {
    fn line(&mut self, line: &[u8], store: &mut Store, gate: &Sanitizer, config: &Config) -> Result<()> {
        if let Ok(note) = serde_json::from_slice::<ExportedNote>(line) {
            self.notes += usize::from(notes::import_note(note, gate, store, config)?);
            return Ok(());
        }
        let mut session = serde_json::from_slice::<Exported>(line).map_err(|e| match e.is_eof() {
            true => anyhow!("it is cut short"),
            false => anyhow!("it is no exported session or note ({e})"),
        })?;
        session.pass(gate);
        let new = store.import_session(session)?;
        self.sessions += usize::from(new);
        self.known += usize::from(!new);
        Ok(())
    }

    fn tell(&self, out: &mut impl Write) -> Result<()> {
        writeln!(out, "imported {} sessions, {} were known", self.sessions, self.known)?;
        if self.notes > 0 {
            writeln!(out, "imported {} notes", self.notes)?;
        }
        writeln!(out, "`recall digest --rebuild-pages` writes their pages")?;
        Ok(())
    }
}

fn check_header(line: &[u8]) -> Result<()> {
    let version = serde_json::from_slice::<serde_json::Value>(line).ok().and_then(|v| v.get("recall_export")?.as_u64());
    match version {
        Some(FORMAT_VERSION) => Ok(()),
        Some(other) => bail!("the export has form {other}, this recall reads form {FORMAT_VERSION}"),
        None => bail!("this is no export of recall's"),
    }
}
