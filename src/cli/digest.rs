//! `recall digest`.

use std::io::Write;

use anyhow::Result;

use super::day::newest_day;
use crate::app::Completion;
use crate::app::digest::{self, DigestRequest};
use crate::app::doctor::lacks_hooks;
use crate::cli::args::DigestArgs;
use crate::config::Config;
use crate::model::page_path::pages_folder;
use crate::setup::Host;
use crate::sys::pager;
use text::clean::{one_line, without_controls};

pub(crate) fn run(args: DigestArgs, config: Config, out: &mut impl Write) -> Result<Completion> {
    let (is_for_person, is_dry) = (!args.json && pager::terminal().is_some(), args.dry_run);
    let told = is_for_person.then(|| config.clone());
    let ended = digest::run(args.into(), config, out)?;
    if let Some(config) = told {
        print_next(&config, is_dry, out)?;
    }
    Ok(ended)
}

/// What there is to read now and what to type next.
fn print_next(config: &Config, is_dry: bool, out: &mut impl Write) -> Result<()> {
    match newest_day(config)? {
        _ if is_dry => writeln!(out, "next      `recall digest` without `--dry-run`")?,
        Some(day) => {
            let folder = pages_folder(&config.data_dir);
            writeln!(out, "pages     {}, the newest is of {day}", one_line(&without_controls(&folder.display().to_string())))?;
            writeln!(out, "next      `recall day` to read it, `recall search WORDS`, `recall todo`")?;
        }
        None => {}
    }
    if !is_dry && lacks_hooks(&Host::new(config)?) {
        writeln!(out, "          `recall install` adds hooks, which give context to new sessions,")?;
        writeln!(out, "          and a timer, which runs this digest")?;
    }
    Ok(())
}

impl From<DigestArgs> for DigestRequest {
    fn from(args: DigestArgs) -> Self {
        Self {
            since: args.since,
            project: args.project,
            session: args.session,
            limit: args.limit,
            newest: args.newest,
            max_cost: args.max_cost,
            jobs: args.jobs,
            ingest_only: args.ingest_only,
            in_background: args.in_background,
            summarizer: args.summarizer,
            settle: args.settle,
            dry_run: args.dry_run,
            verbose: args.verbose,
            rebuild_pages: args.rebuild_pages,
            json: args.json,
            claude_dirs: args.claude_dir,
        }
    }
}
