//! `recall serve`: the memory in a browser, or as files.

use std::io::Write;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::app::Completion;
use crate::cli::args::ServeArgs;
use crate::config::Config;
use crate::model::time_spec::parse_duration;
use crate::web::{ServeRequest, export, serve};
use text::clean::counted;

pub(crate) fn run(args: &ServeArgs, config: Config, out: &mut impl Write) -> Result<Completion> {
    if let Some(folder) = &args.export {
        let written = export(&config, folder)?;
        let index = folder.join("index.html");
        let deleted = match written.deleted {
            0 => String::new(),
            files => format!(", deleted {} of earlier exports", counted(files, "file")),
        };
        writeln!(out, "wrote {}{deleted}: open {}", counted(written.pages, "page"), index.display())?;
        return Ok(Completion::Done);
    }
    let idle = parse_duration(&args.idle).context("--idle")?;
    let asked = ServeRequest {
        port: args.port,
        socket: args.socket.clone(),
        open: args.open,
        token_file: args.token_file.clone(),
        idle_end: (!args.no_idle_end).then(|| Duration::from_millis(idle.unsigned_abs())),
    };
    serve(config, &asked, out)?;
    Ok(Completion::Done)
}
