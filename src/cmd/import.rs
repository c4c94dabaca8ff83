//! `recall import`: takes in what `recall export` wrote. A line that cannot be read is reported and skipped.

use std::fs::File;
use std::io::{BufRead, BufReader, Write, stdin};

use anyhow::{Context, Result, bail};

use super::Ended;
use super::digest::{prepare_folder, run_lock};
use super::export::VERSION;
use crate::cli::ImportArgs;
use crate::config::Config;
use crate::redact::Use;
use crate::store::Store;
use crate::store::transfer::Exported;
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
    let (mut new, mut known) = (0, 0);
    for (at, line) in lines.enumerate() {
        let line = line?;
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
    writeln!(out, "`recall digest --rebuild-pages` writes their pages")?;
    ui.finish();
    Ok(if ui.warned() { Ended::Partly } else { Ended::Done })
}

fn check_head(line: &[u8]) -> Result<()> {
    let version = serde_json::from_slice::<serde_json::Value>(line).ok().and_then(|v| v.get("recall_export")?.as_u64());
    match version {
        Some(VERSION) => Ok(()),
        Some(other) => bail!("the export has form {other}, this recall reads form {VERSION}"),
        None => bail!("this is no export of recall's"),
    }
}
