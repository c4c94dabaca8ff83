//! `recall timeline`: a session among its neighbours in its project.

use std::io::Write;

use anyhow::Result;

use super::open_memory;
use crate::app::Completion;
use crate::cli::args::TimelineArgs;
use crate::config::Config;
use crate::render::timeline::{note_timeline, timeline};

pub(crate) fn run(args: &TimelineArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let store = open_memory(config)?;
    let told = match store.look_up_note(&args.id)? {
        Some(note) => note_timeline(&store, config, &note, args.before, args.after)?,
        None => timeline(&store, config, &store.find_session(&args.id)?, args.before, args.after)?,
    };
    match args.json {
        true => writeln!(out, "{}", serde_json::to_string_pretty(&told)?)?,
        false => out.write_all(told.render().as_bytes())?,
    }
    Ok(Completion::Done)
}
