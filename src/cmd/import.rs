//! `recall import`: takes in what `recall export` wrote. A line that cannot be read is reported and skipped.

use std::fs::File;
use std::io::{BufRead, BufReader, Write, stdin};

use anyhow::{Context, Result, bail};

use super::Ended;
use super::digest::{prepare_folder, run_lock};
use super::export::VERSION;
use crate::cli::ImportArgs;
use crate::config::Config;
use crate::notes::Kind;
use crate::privacy::Gate;
use crate::redact::Use;
use crate::store::Store;
use crate::store::notes::NewNote;
use crate::store::transfer::{Exported, ExportedNote};
use crate::ui::Ui;

pub fn run(args: &ImportArgs, config: &Config, out: &mut impl Write) -> Result<Ended> {
    let ui = Ui::default();
    let input: Box<dyn BufRead> = if args.file.as_os_str() == "-" {
        Box::new(stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(&args.file).with_context(|| format!("cannot open {}", args.file.display()))?))
    };
    // Bytes, not text: one bad line must not end the import.
    let mut lines = input.split(b'\n');
    check_head(&lines.next().context("there is nothing to import")??)?;
    prepare_folder(config, &ui)?;
    let mut lock = run_lock(config)?;
    let Ok(_held) = lock.try_write() else { bail!("a run is under way: try again when it has ended") };
    let gate = config.gate(Use::Often)?;
    let mut store = Store::open(&config.database())?;
    let (mut new, mut known, mut notes) = (0, 0, 0);
    for (at, line) in lines.enumerate() {
        let line = line?;
        if let Ok(note) = serde_json::from_slice::<ExportedNote>(&line) {
            notes += usize::from(import_note(note, &gate, &mut store)?);
            continue;
        }
        let read = serde_json::from_slice::<Exported>(&line).map_err(anyhow::Error::new).and_then(|mut s| {
            s.pass(&gate);
            store.import_session(s)
        });
        match read {
            Ok(true) => new += 1,
            Ok(false) => known += 1,
            Err(e) => ui.warn(&format!("line {}: {e:#}, skipped", at + 2)),
        }
    }
    store.write_documents()?;
    store.tidy()?;
    writeln!(out, "imported {new} sessions, {known} were known")?;
    if notes > 0 {
        writeln!(out, "imported {notes} notes")?;
    }
    writeln!(out, "`recall digest --rebuild-pages` writes their pages")?;
    ui.finish();
    Ok(if ui.warned() { Ended::Partly } else { Ended::Done })
}

/// Takes in a note as far as it may be kept here. False when it may not, or is known.
fn import_note(note: ExportedNote, gate: &Gate, store: &mut Store) -> Result<bool> {
    let text = gate.clean(&note.text);
    let Some(kind) = Kind::named(&note.kind).filter(|_| !text.is_empty() && is_id(&note.note)) else { return Ok(false) };
    let new = NewNote { project: gate.redact(&note.project), kind: kind.name().to_owned(), text, at: note.at };
    store.import_note(&note.note, &new)
}

/// Is it the id of a note, and of nothing else?
fn is_id(id: &str) -> bool {
    id.strip_prefix('m').is_some_and(|rest| rest.len() == 8 && rest.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn check_head(line: &[u8]) -> Result<()> {
    let version = serde_json::from_slice::<serde_json::Value>(line).ok().and_then(|v| v.get("recall_export")?.as_u64());
    match version {
        Some(VERSION) => Ok(()),
        Some(other) => bail!("the export has form {other}, this recall reads form {VERSION}"),
        None => bail!("this is no export of recall's"),
    }
}
