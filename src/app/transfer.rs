//! Takes the memory out as lines of JSON, and such lines in: a header, then one object for every session and every remembered note.

use std::io::{BufRead, Write};

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};

use crate::app::digest::{accounts, alone, write_documents};
use crate::app::filter::ProjectFilter;
use crate::app::notes;
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::store::error::is_store_error;
use crate::store::transfer::{Exported, ExportedNote};
use crate::store::{Maintenance, Writer};
use crate::sys::messages::Ui;
use transcripts::privacy::Sanitizer;

/// Format of the export. Raised when an older program could no longer read it.
const FORMAT_VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
struct Header {
    recall_export: u64,
    #[serde(default)]
    program: String,
}

/// Writes what the memory holds of the projects that fit.
pub(crate) fn export(memory: &OpenMemory, project: &ProjectFilter, out: &mut impl Write) -> Result<()> {
    let store = &memory.0;
    let header = Header { recall_export: FORMAT_VERSION, program: env!("CARGO_PKG_VERSION").to_owned() };
    writeln!(out, "{}", serde_json::to_string(&header)?)?;
    for head in store.session_heads()?.into_iter().filter(|h| project.fits(&h.project)) {
        store.write_exported(&head, out)?;
        writeln!(out)?;
    }
    for note in store.notes()?.into_iter().filter(|note| project.fits(&note.project)) {
        serde_json::to_writer(&mut *out, &ExportedNote::of(note))?;
        writeln!(out)?;
    }
    Ok(())
}

/// What was imported.
#[derive(Debug, Default)]
pub(crate) struct ImportSummary {
    pub(crate) sessions: usize,
    /// Sessions that the memory had already.
    pub(crate) known: usize,
    pub(crate) notes: usize,
}

/// Stores what an export wrote. Lines that cannot be read are told and skipped.
///
/// # Errors
/// When the input is no export that this program reads, a run is under way, or the index cannot be written.
pub(crate) fn import(input: Box<dyn BufRead>, config: &Config, ui: &Ui) -> Result<ImportSummary> {
    // Split bytes, not text: an invalid line must not end the import.
    let mut lines = input.split(b'\n');
    check_header(&lines.next().context("there is nothing to import")??)?;
    into_memory(config, ui, |store, sanitizer| {
        let mut taken = ImportSummary::default();
        for (at, line) in lines.enumerate() {
            if let Err(e) = taken.line(&line?, store, sanitizer, config) {
                if is_store_error(&e) {
                    return Err(e);
                }
                ui.warn(&format!("line {}: {e:#}, skipped", at + 2));
            }
        }
        Ok(taken)
    })
}

/// Opens the memory for an import, and makes afterwards what follows from what came in.
///
/// # Errors
/// When a run is under way, the index cannot be written, or `take` fails.
pub(crate) fn into_memory<T>(config: &Config, ui: &Ui, take: impl FnOnce(&mut Maintenance, &Sanitizer) -> Result<T>) -> Result<T> {
    alone(config, ui, || {
        let sanitizer = config.sanitizer()?;
        let mut store = Maintenance::open(&config.database())?;
        // The checkpoint of the write-ahead log at the end syncs everything.
        store.relax_durability()?;
        let taken = take(&mut store, &sanitizer)?;
        accounts::make_missing(&store, ui)?;
        write_documents(&mut store, ui)?;
        store.vacuum()?;
        Ok(taken)
    })
}

impl ImportSummary {
    fn line(&mut self, line: &[u8], store: &mut Writer, sanitizer: &Sanitizer, config: &Config) -> Result<()> {
        if let Ok(note) = serde_json::from_slice::<ExportedNote>(line) {
            self.notes += usize::from(notes::import_note(note, sanitizer, store, config)?);
            return Ok(());
        }
        let mut session = serde_json::from_slice::<Exported>(line).map_err(|e| match e.is_eof() {
            true => anyhow!("it is cut short"),
            false => anyhow!("it is no exported session or note ({e})"),
        })?;
        session.pass(sanitizer);
        let new = store.import_session(session)?;
        self.sessions += usize::from(new);
        self.known += usize::from(!new);
        Ok(())
    }
}

fn check_header(line: &[u8]) -> Result<()> {
    match serde_json::from_slice(line) {
        Ok(Header { recall_export: FORMAT_VERSION, .. }) => Ok(()),
        Ok(Header { recall_export: other, .. }) => {
            bail!("the export has format {other}, this recall reads format {FORMAT_VERSION}")
        }
        Err(_) => bail!("this is not a recall export"),
    }
}
