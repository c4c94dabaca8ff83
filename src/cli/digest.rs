//! `recall digest`.

use std::io::Write;

use anyhow::Result;

use crate::app::Completion;
use crate::app::digest::{self, DigestRequest};
use crate::cli::args::DigestArgs;
use crate::config::Config;

pub(crate) fn run(args: DigestArgs, config: Config, out: &mut impl Write) -> Result<Completion> {
    digest::run(args.into(), config, out)
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
            rebuild_pages: args.rebuild_pages,
            json: args.json,
            claude_dirs: args.claude_dir,
        }
    }
}
