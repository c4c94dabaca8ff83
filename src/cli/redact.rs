//! `recall redact`: what redaction would do to a text. Reads stdin and touches nothing that is stored.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Read, Write};

use anyhow::{Context, Result, ensure};

use crate::app::Completion;
use crate::cli::args::RedactArgs;
use crate::config::Config;
use redact::Finding;
use text::clean::without_controls;

pub(crate) fn run(args: &RedactArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let mut stdin = io::stdin().lock();
    ensure!(!stdin.is_terminal(), "nothing to read: give a text, as in `recall redact < notes.txt`");
    let mut bytes = Vec::new();
    stdin.read_to_end(&mut bytes).context("cannot read stdin")?;
    // Terminal escapes are removed first, as from texts of a transcript: colour codes would separate a key from its value.
    let text = String::from_utf8_lossy(&bytes);
    let text = if text.contains('\x1b') { Cow::Owned(without_controls(&text).into_owned()) } else { text };
    let redactor = config.privacy.redactor()?;
    if args.list {
        list(&text, &redactor.findings(&text), out)?;
    } else {
        out.write_all(redactor.redact(&text).as_bytes())?;
    }
    Ok(Completion::Done)
}

/// Prints one line per finding: `line:column rule-id length`. Columns count characters, lengths bytes.
fn list(text: &str, findings: &[Finding], out: &mut impl Write) -> io::Result<()> {
    let (mut line, mut line_start, mut seen) = (1, 0, 0);
    for finding in findings {
        let start = finding.range.start;
        let skipped = &text[seen..start];
        line += skipped.matches('\n').count();
        line_start = skipped.rfind('\n').map_or(line_start, |n| seen + n + 1);
        seen = start;
        let column = text[line_start..start].chars().count() + 1;
        writeln!(out, "{line}:{column} {} {}", finding.rule, finding.range.len())?;
    }
    Ok(())
}
