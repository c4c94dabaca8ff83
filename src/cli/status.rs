//! `recall status`: what is stored, what is waiting, and why.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};

use crate::app::Completion;
use crate::app::doctor::{Depth, Severity, examine};
use crate::cli::args::StatusArgs;
use crate::config::Config;
use crate::privacy::View;
use crate::setup::Host;
use crate::source::mark;
use crate::store::Memory;
use crate::store::maintenance::backup;
use crate::store::pause;
use crate::store::pause::OffReason;
use crate::store::status::{IndexCounts, VectorCounts};
use crate::text::clean;

/// Bad lines that are listed; the others are only counted.
const MAX_LISTED: usize = 10;

pub(crate) fn run(args: &StatusArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    // Before the first digest there is no index, which is not an error.
    let store = Memory::open_if_there(&config.database(), &config.policy(View::Owner))?;
    let counts = store.as_ref().map(|store| store.index_counts(MAX_LISTED)).transpose()?.unwrap_or_default();
    let last = store.map(|store| store.last_run()).transpose()?.flatten();
    let marks = mark::pending(&config.data_dir).len();
    let size = std::fs::metadata(config.database()).map_or(0, |m| m.len());
    if args.json {
        let last = last.map(|(at, report)| json!({"at": at, "report": serde_json::from_str::<Value>(&report).unwrap_or_default()}));
        let mut all = as_json(&counts, size, marks, last);
        if let Some(OffReason::Paused(until)) = pause::reason(config) {
            all["paused_until"] = json!(until);
        }
        if let Some(copy) = backup::find(&config.database(), backup::COPY) {
            all["copy"] = json!({"at": copy.at, "bytes": copy.bytes});
        }
        writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
    } else {
        print(&counts, size, marks, last.map(|(at, _)| at), config, out)?;
        print_health(config, out)?;
    }
    Ok(Completion::Done)
}

/// One line per problem that `recall doctor` would report, as far as it can be found quickly.
fn print_health(config: &Config, out: &mut impl Write) -> Result<()> {
    let findings = examine(config, &Host::new(config)?, Depth::Quick, config.now());
    let bad: Vec<_> = findings.iter().filter(|f| f.alarm() != Severity::Ok).collect();
    for finding in &bad {
        writeln!(out, "{:<11} {}", finding.about, line(&finding.found))?;
    }
    if !bad.is_empty() {
        writeln!(out, "            `recall doctor` says what to do")?;
    }
    Ok(())
}

fn as_json(counts: &IndexCounts, size: u64, marks: usize, last_run: Option<Value>) -> Value {
    let mut all = json!({
        "files": counts.files,
        "transcript_bytes": counts.transcript_bytes,
        "database_bytes": size,
        "sessions": counts.sessions,
        "digests": counts.digests,
        "interim_digests": counts.interim,
        "waiting_for_model": counts.queued,
        "waiting_for_digest": counts.waiting,
        "skipped": counts.skipped.iter().map(|(why, n)| json!({"why": why, "sessions": n})).collect::<Vec<_>>(),
        "failing": counts.failing.iter().map(|(id, times, why)| json!({"session": id, "failures": times, "error": why})).collect::<Vec<_>>(),
        "bad_lines": counts.bad_lines,
        "bad_lines_at": counts.bad_at.iter().map(|(path, offset, why)| json!({"path": path, "offset": offset, "why": why})).collect::<Vec<_>>(),
        "unknown_rows": counts.unknown.iter().cloned().collect::<BTreeMap<_, _>>(),
        "spent_usd": counts.spent_usd,
        "notes": counts.notes,
        "marks_waiting": marks,
        "last_run": last_run,
    });
    if let Some(VectorCounts { space, embedded, of }) = &counts.vectors {
        all["vectors"] = json!({
            "model": space.model, "dims": space.dims, "checksum": space.checksum, "complete": space.complete, "embedded": embedded, "of": of,
        });
    }
    all
}

fn print(
    counts: &IndexCounts,
    size: u64,
    marks: usize,
    last_run: Option<i64>,
    config: &Config,
    out: &mut impl Write,
) -> Result<()> {
    let ran = last_run.map_or_else(|| "never".into(), |at| config.local_time(Some(at), "%Y-%m-%d %H:%M"));
    let so_far =
        if counts.interim > 0 { format!(", {} of them so far: the session goes on", counts.interim) } else { String::new() };
    writeln!(out, "data        {}", config.data_dir.display())?;
    writeln!(
        out,
        "index       {:.1} MB for {:.1} MB of transcripts in {} files",
        size as f64 / 1e6,
        counts.transcript_bytes as f64 / 1e6,
        counts.files
    )?;
    if let Some(copy) = backup::find(&config.database(), backup::COPY) {
        let made = config.local_time(Some(copy.at), "%Y-%m-%d %H:%M");
        writeln!(out, "copy        {:.1} MB, of {made}", copy.bytes as f64 / 1e6)?;
    }
    writeln!(
        out,
        "sessions    {}, {} with a digest ({} made by the model, {} without{so_far})",
        counts.sessions,
        counts.digests,
        counts.by_model,
        counts.digests - counts.by_model
    )?;
    if counts.notes > 0 {
        writeln!(
            out,
            "remembered  {} on request",
            if counts.notes == 1 { "1 note".into() } else { format!("{} notes", counts.notes) }
        )?;
    }
    writeln!(out, "waiting     {} for a digest, {} for the model, {marks} marks", counts.waiting, counts.queued)?;
    if let Some(VectorCounts { space, embedded, of }) = &counts.vectors {
        let (model, dims) = (line(&space.model), space.dims);
        writeln!(out, "vectors     {embedded} of {of} sessions and notes, by {model} ({dims} dimensions)")?;
    }
    writeln!(out, "spent       ${:.4} on the model in all, at list price", counts.spent_usd)?;
    writeln!(out, "last work   {ran}")?;
    print_skipped(counts, out)
}

/// What was not digested, not readable or of unknown type, and why.
fn print_skipped(counts: &IndexCounts, out: &mut impl Write) -> Result<()> {
    for (why, sessions) in &counts.skipped {
        writeln!(out, "skipped     {sessions}: {}", line(why))?;
    }
    for (id, times, why) in &counts.failing {
        writeln!(out, "failing     {}: {times} times, last: {}", line(id), line(why))?;
    }
    if counts.bad_lines > 0 {
        writeln!(out, "bad lines   {}", counts.bad_lines)?;
        for (path, offset, why) in &counts.bad_at {
            writeln!(out, "            {} at byte {offset}: {why}", line(path))?;
        }
    }
    for (name, rows) in &counts.unknown {
        writeln!(out, "unknown     {rows} rows of type {}", line(name))?;
    }
    Ok(())
}

/// The text on one line and without terminal escapes, so that it cannot fake a line of output.
fn line(text: &str) -> String {
    clean::one_line(&clean::without_controls(text))
}
