//! `recall export`: a header line, then one JSON object per line for every session and remembered note.

use std::io::Write;

use anyhow::Result;
use serde_json::json;

use crate::app::Completion;
use crate::app::filter::ProjectFilter;
use crate::cli::args::ExportArgs;
use crate::config::Config;
use crate::privacy::View;
use crate::store::Memory;
use crate::store::transfer::ExportedNote;

/// Format of the export. Raised when an older program could no longer read it.
pub(crate) const FORMAT_VERSION: u64 = 1;

pub(crate) fn run(args: &ExportArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let store = Memory::open(&config.database(), &config.policy(View::Owner))?;
    let project = ProjectFilter::new(args.project.as_deref(), config)?;
    writeln!(out, "{}", json!({"recall_export": FORMAT_VERSION, "program": env!("CARGO_PKG_VERSION")}))?;
    for head in store.session_heads()?.into_iter().filter(|h| project.fits(&h.project)) {
        store.write_exported(&head, out)?;
        writeln!(out)?;
    }
    for note in store.notes()?.into_iter().filter(|note| project.fits(&note.project)) {
        serde_json::to_writer(&mut *out, &ExportedNote::of(note))?;
        writeln!(out)?;
    }
    Ok(Completion::Done)
}
