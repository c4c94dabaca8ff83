//! `recall export`: a header line, then one JSON object per line for every session and remembered note.

use std::io::Write;

use anyhow::Result;

use crate::app::Completion;
use crate::app::filter::ProjectFilter;
use crate::app::open_memory::OpenMemory;
use crate::app::transfer::export;
use crate::cli::args::ExportArgs;
use crate::config::Config;
use crate::policy::View;

pub(crate) fn run(args: &ExportArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let memory = OpenMemory::of(config, View::Owner)?;
    export(&memory, &ProjectFilter::new(args.project.as_deref(), config)?, out)?;
    Ok(Completion::Done)
}
