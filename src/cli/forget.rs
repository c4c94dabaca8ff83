//! `recall forget`.

use std::io::Write;

use anyhow::Result;

use crate::app::Completion;
use crate::app::forget::{self, ForgetRequest, ForgetTarget};
use crate::cli::args::{ForgetArgs, ForgetWhat};
use crate::config::Config;

pub(crate) fn run(args: ForgetArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    forget::run(&ForgetRequest { what: args.what.into(), yes: args.yes, dry_run: args.dry_run }, config, out)
}

/// The command line lets exactly one of them through.
impl From<ForgetWhat> for ForgetTarget {
    fn from(what: ForgetWhat) -> Self {
        let text = what.text.map(Self::Matching);
        let before = what.before.map(Self::Before);
        let project = what.project.map(Self::Project);
        let note = what.note.map(Self::Note);
        if what.this {
            Self::This
        } else {
            text.or(before).or(project).or(note).unwrap_or(Self::Session(what.session.unwrap_or_default()))
        }
    }
}
